# The search for named parameters of any plan: by climbing from several starts, or by chains. The parameters have a law
# (an `ibrc_prior`). It says on which scale, how far and from where to search; it is used as a prior only where the user
# stated it.

# A law to search by where no prior is stated: around `start`, on the logarithmic scale where only one side is open.
search_law <- function(start, lower, upper) {
  entries <- lapply(names(start), function(term) {
    at <- start[[term]]
    sd <- if (at != 0) abs(at) else 1
    ends <- c(lower[[term]], upper[[term]])
    if (all(is.finite(ends))) return(new_prior_entry(term, "uniform", c(lower = ends[1], upper = ends[2])))
    if (ends[1] == 0 && at > 0) return(new_prior_entry(term, "lognormal", c(meanlog = log(at), sdlog = 1)))
    new_prior_entry(term, "normal", c(mean = at, sd = sd), lower = ends[1], upper = ends[2])
  })
  new_ibrc_prior(entries)
}

# The starting point must have a density under the law.
check_inside <- function(start, law) {
  for (term in names(start)) {
    entry <- law[[term]]
    if (!is.finite(to_unconstrained(entry, start[[term]]))) {
      abort_input("start", "must lie between ", format_plain(entry$lower), " and ", format_plain(entry$upper), " for ",
                  enumerate(term), "; it is ", format_plain(start[[term]]), ".")
    }
  }
}

# As in infer-mode-search.R. `height(theta)`: of one named vector of natural values; -Inf where there is none.
search_surface <- function(height, law, with_prior) {
  limits <- search_limits(law)
  density <- function(theta) {
    out <- rep(-Inf, nrow(theta))
    inside <- which(colSums(t(theta) < limits[1, ] | t(theta) > limits[2, ]) == 0)
    if (!length(inside)) return(out)
    out[inside] <- heights_at(height, law, theta[inside, , drop = FALSE])
    if (with_prior) out[inside] <- out[inside] + prior_log_density(law, theta[inside, , drop = FALSE])
    out[!is.finite(out)] <- -Inf
    out
  }
  list(density = density, limits = limits, spread = prior_sd_unconstrained(law))
}

heights_at <- function(height, law, theta) {
  natural <- prior_natural(law, theta)
  vapply(seq_len(nrow(natural)), function(i) {
    out <- height(stats::setNames(natural[i, ], names(law)))
    if (is.nan(out) || out == Inf) -Inf else out
  }, 0)
}

# The best of climbs from `start` (natural values) and from draws of the law; NULL where all heights are -Inf.
search_top <- function(surface, law, start, starts, seed) {
  pool <- with_stream(streams_from_seed(seed, 1)[[1]], prior_draw(law, 8 * starts))
  first <- prior_unconstrain(law, matrix(start, 1))
  if (all(is.finite(first))) pool[1, ] <- first
  # A climb's steps are fractions of 1, or of the spread where that is less: on the plain scale too, where 1 is nothing
  # to a weight of a million. So terms on that scale are climbed in units of their spread.
  plain <- vapply(unname(law), function(entry) entry$scale == "identity", NA)
  unit <- ifelse(plain, surface$spread, 1)
  top <- find_top(surface_in_units(surface, unit), t(t(pool) / unit), starts)
  if (!is.null(top)) top$theta <- top$theta * unit
  top
}

# The same surface of terms divided by these units.
surface_in_units <- function(surface, unit) {
  list(density = function(theta) surface$density(t(t(theta) * unit)), limits = t(t(surface$limits) / unit),
       spread = surface$spread / unit)
}

# Standard errors on the natural scale, and how many directions are flat: those along which the height hardly falls over
# the whole reach of the law. `least`: curvatures over that reach that count as 0, whatever the others are. For a
# log-likelihood this limit is known, as it has no unit.
search_errors <- function(surface, top, law, least = 1e-8) {
  n <- length(top$theta)
  bend <- -finite_curvature(surface, top$theta)
  none <- list(std_error = rep(NA_real_, n), flat = NA_integer_)
  if (any(!is.finite(bend))) return(none)
  scale <- surface$spread
  parts <- eigen(bend * outer(scale, scale), symmetric = TRUE)
  keep <- parts$values > max(1e-5 * parts$values, least)
  if (!any(keep)) return(list(std_error = none$std_error, flat = n))
  along <- parts$vectors[, keep, drop = FALSE]
  spread <- scale * sqrt(rowSums(along^2 * rep(1 / parts$values[keep], each = n)))
  known <- abs(rowSums(along^2) - 1) < 1e-4
  slope <- vapply(seq_len(n), function(j) natural_slope(law[[j]], top$theta[j]), 0)
  list(std_error = ifelse(known, slope * spread, NA), flat = sum(!keep))
}

# d natural / d theta, without its sign.
natural_slope <- function(entry, at) {
  switch(entry$scale, identity = 1, log = exp(at), logit = (entry$upper - entry$lower) * stats::dlogis(at))
}

# By climbing or by chains: `theta`, named natural values, and notes about them.
searched <- function(height, law, start, with_prior, method, run) {
  if (method == "bayesian") {
    draws <- sample_law(height, law, run$chains, run$iter, run$warmup, run$seed)
    estimates <- draws_summary(draws)
    theta <- stats::setNames(estimates$estimate, estimates$term)
    notes <- draws_notes(estimates)
    return(list(theta = theta, estimates = estimates, log_lik = height(theta), converged = is.null(notes),
                details = list(draws = draws_table(draws)), notes = notes))
  }
  surface <- search_surface(height, law, with_prior)
  top <- search_top(surface, law, start, run$starts, run$seed)
  if (is.null(top)) refuse_impossible_behaviour(if (with_prior) "prior" else "start")
  theta <- stats::setNames(prior_natural(law, matrix(top$theta, 1))[1, ], names(law))
  errors <- search_errors(surface, top, law, least = 1e-4)
  list(theta = theta, log_lik = height(theta), converged = top$converged,
       estimates = data.frame(term = names(theta), estimate = unname(theta), std.error = errors$std_error),
       details = list(reached = top$reached, climbs = top$climbs, unseen = errors$flat),
       notes = search_notes(top, errors))
}

search_notes <- function(top, errors) {
  c(
    if (is.na(errors$flat)) "The curvature at the top could not be computed: there are no standard errors.",
    if (isTRUE(errors$flat > 0)) {
      paste0("The information is singular: along ", plural(errors$flat, "direction"), " the height hardly changes. ",
             "Terms that depend on them have no standard error: other estimates fit equally well.")
    },
    if (!top$converged) "The search stopped before it got to the top: do not report these estimates.",
    if (top$climbs > 1 && top$reached == 1) {
      "Only one of the climbs got this high: there may be a higher top. Raise `starts`."
    }
  )
}

# ---- chains ---------------------------------------------------------------------------------------------------------

# Draws [iteration, chain, term] of natural values by the package's Metropolis-Hastings sampler.
sample_law <- function(height, law, chains, iter, warmup, seed) {
  streams <- streams_from_seed(seed, chains + 1L)
  density <- function(theta) cbind(prior_log_density(law, theta), heights_at(height, law, theta))
  pool <- with_stream(streams[[chains + 1L]], prior_draw(law, 8L * chains))
  at <- rowSums(density(pool))
  part <- rep_len(seq_len(chains), nrow(pool))
  first <- vapply(split(seq_along(at), part), function(rows) rows[which.max(at[rows])], 0L)
  lost <- at[first] == -Inf
  if (all(lost)) refuse_impossible_behaviour("prior")
  first[lost] <- first[which.max(at[first])]
  state <- sampler_start(unname(pool[first, , drop = FALSE]), density, streams[seq_len(chains)], warmup = warmup,
                         iter = iter)
  state <- sampler_run(state, density)
  draws <- state$draws
  for (j in seq_along(law)) draws[, , j] <- to_natural(law[[j]], draws[, , j])
  dimnames(draws) <- list(NULL, NULL, names(law))
  draws
}

# One row per term: median, spread, interval, and whether chains agree.
draws_summary <- function(draws, conf.level = 0.95) {
  tail <- (1 - conf.level) / 2
  rows <- lapply(dimnames(draws)[[3]], function(term) {
    x <- term_draws(draws, term)
    ends <- stats::quantile(x, c(tail, 1 - tail), names = FALSE)
    data.frame(term = term, estimate = stats::median(x), std.error = stats::sd(x), conf.low = ends[1],
               conf.high = ends[2], rhat = posterior::rhat(x), ess = posterior::ess_bulk(x))
  })
  do.call(rbind, rows)
}

# Tidy: one row per draw and term.
draws_table <- function(draws) {
  size <- dim(draws)
  at <- rep(seq_len(size[1]), size[2] * size[3])
  chain <- rep(rep(seq_len(size[2]), each = size[1]), size[3])
  data.frame(.chain = chain, .iteration = at, .draw = (chain - 1L) * size[1] + at,
             term = rep(dimnames(draws)[[3]], each = size[1] * size[2]), value = as.vector(draws))
}

draws_notes <- function(summary) {
  rough <- summary$term[is.na(summary$rhat) | summary$rhat > 1.01 | summary$ess < 400]
  if (length(rough)) {
    paste0("The chains have not settled in ", listing(rough), " (R-hat above 1.01 or an effective size below 400): ",
           "raise `iter`.")
  }
}

refuse_impossible_behaviour <- function(argument) {
  abort(c("impossible", "data"), "What was done has probability 0 wherever the search began. The planner rules some ",
        "of it out, as a planner does that always takes the best action. Let it depart from the best (a price `alpha` ",
        "above 0), or begin nearer to the behaviour.", argument = argument)
}
