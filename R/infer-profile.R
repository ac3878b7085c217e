#' The likelihood of one term, with the others at their best
#'
#' For each of a range of values of one term, the highest log-likelihood that the other terms can reach. A peak means
#' that the data inform about the term. A shelf that goes on to one side means that they bound it only from the other.
#'
#' For a fit whose dynamics were inferred ([ibrc()] with `dynamics`), the dynamics are held at their posterior medians,
#' and the likelihood is that of the actions. The uncertainty of the dynamics would make the profile wider. The printed
#' profile and the picture say so. The posterior itself allows for it ([identifiability()],
#' [summary()][summary.ibrc_fit]).
#'
#' @param object A fit ([ibrc()]) without `effects`, or a mode ([ibrc_mode()]).
#' @param term The term; the first by default.
#' @param n How many values.
#' @param values The values themselves. By default `n` of them, evenly spaced on the
#'   scale a sampler works on, over the range in which the profile lies within 5.4 of
#'   its maximum (99.9%), and not beyond the central 99.8% of the prior.
#' @param cores Threads to use.
#' @return A data frame of class `ibrc_profile` with one row per value: `group` (with groups), `value`,
#'   `log_likelihood`, `below_maximum` and a column for every other term at its conditional maximum. Its attribute
#'   `"held"` says what else was held, `NULL` if nothing was. Its `plot()` is a ggplot; the line marks the 95% cut.
#'   `profile_data()` returns the data frame behind that picture: `term`, `group` (with groups), `value`, `height` (the
#'   log-likelihood less its maximum), `cut` (where the line is) and `scale` (`"log10"` or `"linear"`, of the axis).
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' neutral <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' visits <- simulate(neutral, nsim = 40, seed = 1)
#' mode <- ibrc_mode(visits, setting, diag_models(), starts = 4, seed = 1, conf.level = NULL,
#'                   prior = ibrc_prior(alpha ~ lognormal(0, 1), beta ~ lognormal(2, 2)))
#' profile <- profile_likelihood(mode, "beta", n = 9)
#' profile
#' head(profile_data(profile), 3)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(profile)
profile_likelihood <- function(object, term = NULL, n = 21, values = NULL,
                               cores = getOption("ibrc.cores", 1)) {
  check_given(object)
  if (!inherits(object, c("ibrc_fit", "ibrc_mode"))) {
    abort_input("object", "must come from ibrc() or ibrc_mode(), not ", describe(object), ".")
  }
  refuse_part(object, "object", "profile_likelihood()")
  if (is.null(object$histories)) {
    abort_input("object", "keeps no data to look back at: fit with control = ibrc_control(keep_data = TRUE).")
  }
  if (!is.null(object$effects)) {
    abort_input("object", "is a fit of people who differ (`effects` of ibrc()), where a term has no one likelihood: ",
                "tidy() has intervals of its coefficients. To get a profile, fit without `effects`, or with `by`.")
  }
  terms <- prior_terms(object$prior)
  term <- if (is.null(term)) terms[1] else check_choice(term, terms, "term")
  n <- check_count(n, "n", least = 2, most = most_at_once)
  refuse_too_large(as.numeric(n) * length(object$histories) * (length(terms) + 4) * 24, "n", "`n` = ", format_count(n),
                   " values in ", plural(length(object$histories), "group"), " of ", plural(length(terms), "term"),
                   advice = "take fewer")
  j <- match(term, terms)
  if (!is.null(values)) values <- profile_values(object$prior[[j]], values)
  groups <- names(if (inherits(object, "ibrc_fit")) object$draws else object$tops)
  evaluator <- inverse_evaluator(object, cores = check_count(cores, "cores"))
  pieces <- lapply(seq_along(groups), function(g) {
    surface <- new_surface(evaluator, g, with_prior = FALSE)
    pool <- profile_pool(object, g)
    top <- find_top(surface, pool, min(4, nrow(pool)))
    if (is.null(top)) abort("convergence", "No starting point has a likelihood above 0.")
    profile <- profile_ends(surface, top, stats::qchisq(0.999, 1) / 2, j)
    at <- if (is.null(values)) profile_grid(object$prior[[j]], profile, j, n) else values
    piece <- profile_piece(surface, profile$top, j, at, object$prior)
    cbind(data.frame(group = factor(groups[g], levels = groups)), piece)
  })
  out <- without_lone_group(do.call(rbind, pieces), groups)
  structure(out, term = term, scale = object$prior[[j]]$scale, held = profile_held(object),
            class = c("ibrc_profile", "data.frame"))
}

# What a profile holds besides what the user held.
profile_held <- function(object) {
  if (is.null(object$dynamics)) return(NULL)
  paste("The dynamics, which were inferred, are held at their posterior medians: their uncertainty would make this",
        "profile wider.")
}

#' @rdname profile_likelihood
#' @export
print.ibrc_profile <- function(x, ...) {
  table <- x
  class(table) <- "data.frame"
  print(table, ...)
  if (!is.null(attr(x, "held"))) writeLines(c("", strwrap(attr(x, "held"))))
  invisible(x)
}

profile_values <- function(entry, values) {
  if (!is.numeric(values) || length(values) == 0) {
    abort_input("values", "must be numbers, not ", describe(values), ".")
  }
  at <- to_unconstrained(entry, as.numeric(values))
  bad <- which(!is.finite(at))
  if (length(bad)) {
    abort_input("values", "must lie inside the bounds of the prior of ", entry$term, ".", rows = bad)
  }
  sort(at)
}

# Where to begin: at the mode itself, or at draws from the whole of the posterior.
profile_pool <- function(object, g) {
  if (inherits(object, "ibrc_mode")) return(matrix(object$tops[[g]]$theta, 1))
  flat <- flat_draws(object$draws[[g]])
  rows <- unique(round(seq(1, nrow(flat), length.out = 32)))
  prior_unconstrain(object$prior, flat[rows, , drop = FALSE])
}

profile_grid <- function(entry, profile, j, n) {
  p <- c(0.001, 0.999)
  far <- sort(unconstrained_quantile(entry, log(p), log1p(-p)))
  top <- profile$top$theta[j]
  ends <- profile$ends[, j]
  ends[is.na(ends)] <- far[is.na(ends)]
  # Wide enough to show the top, wherever it lies in the prior.
  low <- min(max(ends[1], far[1]), top)
  high <- max(min(ends[2], far[2]), top)
  seq(low, high, length.out = n)
}

# Outwards from the top on both sides, each value from its neighbour's maxima.
profile_piece <- function(surface, top, j, at, prior) {
  theta <- matrix(0, length(at), length(prior))
  density <- numeric(length(at))
  for (side in c(-1, 1)) {
    rows <- which(if (side < 0) at < top$theta[j] else at >= top$theta[j])
    from <- top
    for (row in if (side < 0) rev(rows) else rows) {
      from <- profile_at(surface, j, at[row], rbind(from$theta, top$theta))
      theta[row, ] <- from$theta
      density[row] <- from$density
    }
  }
  natural <- prior_natural(prior, theta)
  out <- data.frame(value = natural[, j], log_likelihood = density,
                    below_maximum = max(top$density, density) - density)
  cbind(out, as.data.frame(natural[, -j, drop = FALSE], optional = TRUE))
}

#' @rdname profile_likelihood
#' @param x,profile A profile.
#' @param ... Not used.
#' @export
plot.ibrc_profile <- function(x, ...) {
  check_unused(...)
  require_package("ggplot2", "Drawing a profile")
  draw_profile(profile_data(x), in_lines(paste(c("Dashed: the 95% cut.", attr(x, "held")), collapse = " ")))
}

#' @rdname profile_likelihood
#' @export
profile_data <- function(profile) {
  check_given(profile)
  check_class(profile, "ibrc_profile", "profile", "profile_likelihood()")
  logarithmic <- identical(attr(profile, "scale"), "log") && all(profile$value > 0)
  out <- data.frame(term = rep(attr(profile, "term"), nrow(profile)))
  out$group <- profile$group
  out$value <- profile$value
  out$height <- -profile$below_maximum
  out$cut <- rep(-stats::qchisq(0.95, 1) / 2, nrow(profile))
  out$scale <- rep(if (logarithmic) "log10" else "linear", nrow(profile))
  out
}

# A picture keeps the frame that it was made in, and the frame of a method knows that of its caller, with everything in
# it. So pictures are made in functions of their own.
draw_profile <- function(data, caption = NULL) {
  picture <- ggplot2::ggplot(data, ggplot2::aes(.data$value, .data$height)) +
    ggplot2::geom_hline(yintercept = data$cut[1], linetype = "dashed", colour = "grey50") +
    ggplot2::geom_line(colour = action_colours[1]) +
    ggplot2::geom_point(colour = action_colours[1], size = 1) +
    ggplot2::labs(x = as_label(data$term[1]), y = "Log-likelihood\nbelow its maximum", caption = caption) +
    theme_ibrc()
  if (data$scale[1] == "log10") picture <- picture + ggplot2::scale_x_log10()
  if (data$term[1] == "optimism") picture <- picture + ggplot2::geom_vline(xintercept = 0, colour = "grey30",
                                                                           linewidth = 0.3)
  if (!is.null(data$group)) picture <- picture + ggplot2::facet_wrap("group", scales = "free_y")
  picture
}
