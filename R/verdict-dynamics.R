# What a verdict says about fits whose dynamics were inferred as well: together with the agents ("joint"), or drawn
# without the actions ("cut"). Rows: whole; assumed.

# ---- joint: did the chains see all of the posterior? ---------------------------------------------------------------

# Along a profile every point would need the best of all laws. Instead, chains are compared with each other, including
# their laws, and with the top of the posterior around which they began.
joint_whole_rows <- function(fit, cores = 1L) rbind(mixed_row(fit), apart_row(fit), top_row(fit, cores))

whole_of_fit <- function(...) verdict_rows("whole", ...)

# Laws that did not mix, whatever the agents' terms did.
mixed_row <- function(fit) {
  table <- tidy_dynamics(fit, 0.95)
  least <- pmin(table$ess_bulk, table$ess_tail)
  bad <- unmixed_laws(table)
  asked <- paste("R-hat of every law at most", most_law_rhat, "and", least_law_draws, "effective draws")
  if (!any(bad)) {
    return(whole_of_fit(paste0("laws of the dynamics: R-hat up to ", rhat_text(max(table$rhat)), ", ",
                               draws_text(min(least)), " effective draws or more"), asked, "ok"))
  }
  worst <- order(-bad, -table$rhat, na.last = FALSE)[1]
  others <- sum(bad) - 1
  said <- if (is.na(table$rhat[worst])) " never moves" else
    paste0(" has R-hat ", rhat_text(table$rhat[worst]), " and ", if (is.na(least[worst])) {
      "too few draws to tell more"
    } else {
      plural(floor(least[worst]), "effective draw")
    })
  more <- if (others) paste0("; and ", plural(others, "more law"))
  whole_of_fit(paste0("laws of the dynamics: ", table$term[worst], said, more), asked, "caution",
               paste0("The chains do not agree on the dynamics (", table$term[worst], " above all), and may not have ",
                      "seen all of them: ", go_on_words(fit), "."))
}

# A chain that stays on another level than the others is on another hill. `least_gap` is in log units, and in Monte
# Carlo errors of the difference.
least_gap <- c(units = 2, errors = 4)

apart_row <- function(fit) {
  density <- fit$log_posterior[, seq_len(fit$run$chains), drop = FALSE]
  asked <- paste0("chains whose mean log densities are within ", least_gap[["units"]], " of each other, or ",
                  least_gap[["errors"]], " Monte Carlo errors")
  if (ncol(density) < 2) {
    return(whole_of_fit("one chain, which cannot be compared with others", asked, "caution",
                        "One chain cannot show what it has not seen: fit with chains = 4."))
  }
  gap <- chain_gaps(density)
  apart <- abs(gap$gap) > least_gap[["units"]] & abs(gap$gap) > least_gap[["errors"]] * gap$error
  # Of two chains the lower one is named.
  worst <- order(-apart, -round(abs(gap$gap), 6), gap$gap)[1]
  said <- paste0("chain ", worst, " lies ", format_number(abs(gap$gap[worst]), 2), if (gap$gap[worst] < 0) " below" else
    " above", " the others in mean log density (Monte Carlo error ", format_number(gap$error[worst], 2), ")")
  whole_of_fit(said, asked, if (any(apart)) "do not use" else "ok",
               paste0("Chain ", worst, " stays apart from the others: the posterior has another hill, or the chain is ",
                      "stuck. Fit again with another `seed` and more chains, and do not report these draws."))
}

# By how much the mean log density of each chain lies above that of all others, with its Monte Carlo error.
chain_gaps <- function(density) {
  n <- ncol(density)
  centre <- colMeans(density)
  error <- apply(density, 2, function(x) posterior::mcse_mean(matrix(x)))
  # A chain that never moved has none.
  error[!is.finite(error)] <- 0
  others <- function(x, chain) sum(x[-chain]) / (n - 1)
  data.frame(gap = vapply(seq_len(n), function(chain) centre[chain] - others(centre, chain), 0),
             error = vapply(seq_len(n), function(chain) sqrt(error[chain]^2 + others(error^2, chain) / (n - 1)), 0))
}

# Draws of a posterior of many terms lie well below its top; if it is normal, by half a chi-squared number. If all of
# them lie lower than 19 in 20 should, the chains have left the place where they began.
top_row <- function(fit, cores) {
  n_terms <- dim(fit$dynamics$draws)[3] + length(fit$draws) * length(fit$prior)
  allowed <- stats::qchisq(0.95, n_terms) / 2
  below <- begun_at(fit, cores) - max(fit$log_posterior)
  whole_of_fit(paste0("the best draw has a log density ", format_number(abs(below), 2),
                      if (below > 0) " below" else " above", " where the chains began"),
               paste0("one that is not below it by more than ", format_number(allowed, 2)),
               if (below > allowed) "caution" else "ok",
               paste0("No draw comes near to where the chains began: they went to where the posterior is lower, or ",
                      "are short. Fit again with another `seed`, and check that the answer stays."))
}

# Chains begin all around the top that the climb found: this is the highest of those points and of their middle.
begun_at <- function(fit, cores) {
  groups <- names(fit$draws)
  inverse <- c(fit[c("problem", "problems", "histories", "prior", "fixed", "tolerance", "recipe")],
               list(group = factor(groups[fit$trajectory_group], levels = groups)))
  evaluator <- joint_evaluator(inverse, fit$dynamics$tree, nrow(fit$start) + 1L, cores)
  theta <- prior_unconstrain(evaluator$prior, fit$start)
  theta <- rbind(theta, colMeans(theta))
  found <- evaluate_joint(evaluator, theta, matrix(0, evaluator$n_values, nrow(theta)))
  max(found$log_prior + found$log_likelihood)
}

# ---- cut: the same, draw by draw -----------------------------------------------------------------------------------

# Under each draw of the dynamics there is a posterior of the agents like any other. Weighted draws are taken along its
# ridges, pooled like the chains, and compared with them.
cut_whole_rows <- function(fit, streams, cores) {
  problems <- problems_of_cut(fit, cores)
  rows <- lapply(seq_along(fit$draws), function(g) {
    stream <- streams[[g]]
    opinions <- lapply(seq_along(problems), function(k) {
      stream <<- parallel::nextRNGSubStream(stream)
      one <- fit_of_draw(fit, problems[[k]], k)
      surface <- new_surface(inverse_evaluator(one, cores = cores), g, with_prior = TRUE)
      second_opinion(surface, profile_pool(one, g), stream, cut_opinion_draws)
    })
    opinion <- pooled_opinion(opinions)
    do.call(rbind, lapply(seq_along(fit$prior), function(j) whole_row(fit, g, j, opinion)))
  })
  do.call(rbind, rows)
}

cut_opinion_draws <- 200

# The part of a cut fit that one draw of the dynamics has.
fit_of_draw <- function(fit, problem, k) {
  mine <- which(dynamics_of_chain(fit, seq_len(dim(fit$dynamics$draws)[2])) == k)
  fit$draws <- lapply(fit$draws, function(draws) draws[, mine, , drop = FALSE])
  fit$problem <- problem
  fit["recipe"] <- list(NULL)
  fit
}

pooled_opinion <- function(opinions) {
  if (any(vapply(opinions, is.null, NA))) return(NULL)
  list(draws = do.call(rbind, lapply(opinions, `[[`, "draws")),
       weight = unlist(lapply(opinions, `[[`, "weight")) / length(opinions),
       ess = sum(vapply(opinions, `[[`, 0, "ess")))
}

# ---- what it rests on ----------------------------------------------------------------------------------------------

# Dynamics that were inferred with the agents, or drawn without them.
inferred_rows <- function(fit) {
  swapped <- fit$dynamics$swapped
  changed <- isTRUE(swapped > 0)
  # Fits of earlier versions may not have counted this.
  counted <- isTRUE(swapped >= 0)
  how <- if (is_cut(fit)) "drawn from what was seen, without the actions" else "inferred together with the agents"
  rbind(verdict_rows("assumed", paste0("dynamics: ", how, if (changed) {
    paste0("; states stand in another order in ", format(100 * swapped, digits = 2), "% of the draws")
  } else if (!counted) {
    "; whether states keep their order was not counted"
  }), "states that keep their order", if (changed) "do not use" else if (counted) "ok" else "caution", if (changed) {
    paste("States change places in some draws: learn dynamics whose states are easier to tell apart. If they change",
          "in nearly all draws, the utility may be at odds with what was done: look at it first.")
  } else if (!counted) {
    "States may change places from draw to draw: fit again, or look at tidy(fit, \"dynamics\")."
  } else {
    ""
  }),
  if (is_cut(fit)) between_row(fit))
}

# However long chains are, the variance between draws of the dynamics is known only from as many as there are.
most_between_error <- 0.1

between_row <- function(fit) {
  n <- n_cut_draws(fit)
  worth <- min(n, fit$dynamics$effective, na.rm = TRUE)
  table <- cut_variance(fit)
  worst <- which.max(table$share_between)
  error <- sqrt(table$share_between[worst] / worth)
  label <- row_labels(table[worst, ], is_grouped(fit) && !has_population(fit))
  verdict_rows("assumed", paste0("dynamics: ", plural(n, "draw"), if (worth < n / 2) {
    paste0(" worth ", plural(max(1, floor(worth)), "independent one"))
  }, ", between which ", round(100 * table$share_between[worst]), "% of the variance of ", label, " lies"),
  paste("an error of medians of at most", most_between_error, "standard deviations by that"),
  if (error > most_between_error) "caution" else "ok",
  paste0("Estimates rest on ", plural(n, "draw"), " of the dynamics: medians are uncertain by about ",
         format_number(error, 1), " standard deviations, interval ends by up to twice as much, and intervals are a ",
         "little short. Round them, or infer the dynamics together with the agents (uncertainty = \"joint\")."))
}

# For a fit with the actions cut off from the dynamics: how much of the variance of each term lies within draws of the
# dynamics and how much between them, on the natural scale.
cut_variance <- function(fit) {
  each <- fit$dynamics$chains_per_draw
  all <- if (has_population(fit)) list(all = reported_population(fit)$population$draws) else as_reported(fit)$draws
  rows <- lapply(names(all), function(group) {
    draws <- all[[group]]
    size <- dim(draws)
    of_draw <- rep(seq_len(size[2] / each), each = size[1] * each)
    data.frame(term = dimnames(draws)[[3]], group = group, t(apply(draws, 3, function(x) {
      within <- as.vector(tapply(x, of_draw, stats::var))
      # Means of finite chains differ by chance as well.
      error <- function(one) suppressWarnings(posterior::mcse_mean(matrix(one, size[1])))
      chance <- mean(tapply(x, of_draw, error)^2, na.rm = TRUE)
      between <- stats::var(as.vector(tapply(x, of_draw, mean))) - if (is.finite(chance)) chance else 0
      c(within = mean(within), between = max(0, between))
    })))
  })
  out <- do.call(rbind, rows)
  rownames(out) <- NULL
  out$share_between <- out$between / (out$within + out$between)
  out
}

# ---- how far posterior means move ----------------------------------------------------------------------------------

# One list(theta, moved) per group: draws on the sampler's scale, and by how much their means move when the
# log-likelihood changes by `change(theta, group)`, every draw with its own laws, in the order of moving_draws(). Groups
# share the laws: a change in one group moves all groups through the laws. Draws of the dynamics that are held stay as
# they are, and the agents move under each of them.
moves_with_laws <- function(fit, change) {
  chosen <- moving_draws(fit)
  theta <- lapply(fit$draws, function(draws) {
    prior_unconstrain(fit$prior, flat_draws(draws)[chosen$.draw, , drop = FALSE])
  })
  by <- matrix(vapply(seq_along(theta), function(g) change(theta[[g]], g), numeric(nrow(chosen))), nrow(chosen))
  known <- which(rowSums(!is.finite(by)) == 0)
  if (length(known) <= nrow(chosen) / 2) stop("the draws are impossible there")
  together <- split(known, if (is_cut(fit)) dynamics_of_chain(fit, chosen$.chain[known]) else rep(1L, length(known)))
  lapply(seq_along(theta), function(g) {
    total <- if (is_cut(fit)) by[, g] else rowSums(by)
    moved <- vapply(together, function(mine) moved_mean(theta[[g]][mine, , drop = FALSE], total[mine]),
                    numeric(length(fit$prior)))
    list(theta = theta[[g]][known, , drop = FALSE], moved = rowMeans(matrix(moved, length(fit$prior))))
  })
}

# Enough for weights, for a posterior that has more terms than agents have.
moving_draws <- function(fit) spaced_draws(fit, if (is_cut(fit)) 20 * n_cut_draws(fit) else 400)

# By weights, cut off where one draw would stand for all, while enough of them count. Otherwise by their covariance with
# the change, as if it were a straight line: that exaggerates, but then there is a change to report.
moved_mean <- function(theta, change) {
  n <- nrow(theta)
  weight <- exp(change - max(change))
  weight <- pmin(weight, sqrt(n) * mean(weight))
  weight <- weight / sum(weight)
  if (1 / sum(weight^2) >= max(5, n / 20)) return(colSums(theta * weight) - colMeans(theta))
  if (n > 1) as.vector(stats::cov(theta, change)) else numeric(ncol(theta))
}
