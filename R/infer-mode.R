#' The most likely parameters
#'
#' Finds the parameters under which behaviour is likeliest, or the peak of their posterior, with intervals from the
#' profile. It is a quick look before [ibrc()], and a check on it after.
#'
#' The maximum is sought on the scale a sampler works on, the logarithm for `alpha`, `beta` and `eta` (see
#' [ibrc_prior()]). That does not matter to a maximum of the likelihood. A posterior density has its peak elsewhere on
#' another scale. The one meant here is that of the sampler's scale, which for `alpha ~ lognormal(0, 2)` without data is
#' at 1.
#'
#' An interval holds the values for which the best density, with all other terms free, lies less than half a chi-squared
#' quantile below the maximum. With `estimate = "mle"` it is a profile-likelihood interval, and with `"map"` the same of
#' the posterior density. The density may never fall so far, however far the term goes. The end is then open: 0, `-Inf`
#' or `Inf` (or a bound of the prior), and the data bound the term on one side only. Such a term has no standard error.
#' Of an `action_prior` the first probability has an interval from the profile. The others have one from the curvature
#' at the top, on the logit scale.
#'
#' @inheritParams ibrc
#' @param prior What is inferred, and its prior ([ibrc_prior()]); by default as in [ibrc()]. With `estimate = "mle"` it
#'   names what is inferred and where to begin looking. Its density is not used.
#' @param estimate `"map"`, the peak of the posterior, or `"mle"`, that of the likelihood.
#' @param by Names of columns: an estimate for each group of trajectories. With the column of identifiers, an
#'   estimate for each trajectory, numbered as in [ibrc()].
#' @param conf.level Confidence of the intervals; `NULL` leaves them out, which is
#'   quicker.
#' @param starts How many points, drawn from the prior, to climb from.
#' @param seed A number that makes those draws repeatable; `NULL` takes one from the
#'   session's generator.
#' @param control How it is computed: `tolerance`, `interpolate` and `surprise` of [ibrc_control()]. What else that has
#'   is for chains, and does not matter here.
#' @return An object of class `ibrc_mode`. `tidy()` gives a data frame with one row per term and group:
#'   * `term`, and `group` with groups.
#'   * `estimate`: the estimate.
#'   * `std.error`: the standard error, from the curvature.
#'   * `conf.low` and `conf.high`: the interval.
#'
#'   `coef()` gives the estimates. `logLik()` gives the log-likelihood there, all groups together. `glance()` gives one
#'   row:
#'   * `estimate`: `"map"` or `"mle"`.
#'   * `log_lik` and `n_parameters`.
#'   * `AIC` and `BIC`, of trajectories with a scored action. Both are `NA` with `estimate = "map"`.
#'   * `trajectories`, `visits` and `groups`: how many there are.
#'   * `reached`: how many climbs got to the top, in the group where they were fewest.
#'   * `starts` and `converged`.
#' @seealso [predict()][predict.ibrc_mode], [log_lik()] and [simulate()][simulate.ibrc_mode] for what a mode says of
#'   visits.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' optimist <- plan_agent(setting, bounded_agent(alpha = 0.5, beta = 1.25), diag_models())
#' visits <- simulate(optimist, nsim = 40, seed = 1)
#' mode <- ibrc_mode(visits, setting, diag_models(),
#'                   prior = ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)),
#'                   estimate = "mle", starts = 4, seed = 1)
#' mode
#' logLik(mode)
ibrc_mode <- function(visits, setting, models = NULL, prior = default_prior(setting), fixed = list(),
                      estimate = c("map", "mle"), by = NULL, conf.level = 0.95, resolution = 100,
                      cores = getOption("ibrc.cores", 1), starts = 8, seed = NULL, control = ibrc_control(),
                      effects = NULL, problem = NULL, ...) {
  refuse_others("ibrc_mode", names(formals()), c("tolerance", "interpolate", "surprise"), ...)
  check_given(visits, setting)
  stated <- if (missing(prior)) list() else split_prior(prior)
  if (length(stated)) prior <- stated$agent
  inverse <- read_inverse(visits, setting, models, prior, fixed, by, by_default = missing(prior), problem = problem)
  design <- if (is.null(effects)) refuse_effect_priors(stated$effects) else
    read_population(effects, visits, inverse, stated$effects, by)
  if (!is.null(design)) refuse_random(design$design$formulas)
  estimate <- check_choice(estimate, c("map", "mle"), "estimate")
  if (!is.null(conf.level)) conf.level <- check_level(conf.level)
  control <- as_control(control)
  cores <- check_count(cores, "cores")
  starts <- check_count(starts, "starts", most = most_at_once)
  # Eight draws from the prior for each start, and what becomes of them.
  n_terms <- length(inverse$prior)
  refuse_too_large(8 * as.numeric(starts) * (32 * n_terms + 64), "starts", "`starts` = ", format_count(starts),
                   " begin from the best of ", format_count(8 * as.numeric(starts)), " draws of ",
                   plural(n_terms, "term"), advice = "take fewer")
  inverse <- if (is.null(design)) group_inverse(inverse, visits, by) else group_by_cell(inverse, design)
  tell_inverse(inverse, cells = !is.null(design))
  inverse <- build_inverse(inverse, resolution, control, cores)
  if (!is.null(design)) {
    inverse$effects <- design$design
    found <- mode_of_effects(inverse, starts, estimate, conf.level, cores, streams_from_seed(seed)[[1]])
    mode <- new_ibrc_mode(found$cells, inverse, estimate, conf.level)
    mode$effects <- inverse$effects
    mode$population <- found[c("top", "prior")]
    return(mode)
  }
  evaluator <- inverse_evaluator(inverse, cores = cores)
  streams <- streams_from_seed(seed, length(inverse$histories))
  tops <- lapply(seq_along(inverse$histories), function(g) {
    pool <- with_stream(streams[[g]], prior_draw(inverse$prior, 8 * starts))
    mode_of_group(evaluator, g, pool, starts, estimate, conf.level)
  })
  new_ibrc_mode(tops, inverse, estimate, conf.level)
}

mode_of_group <- function(evaluator, group, pool, starts, estimate, conf.level) {
  surface <- new_surface(evaluator, group, with_prior = estimate == "map")
  top <- find_top(surface, pool, starts)
  if (is.null(top)) {
    abort_input("starts", "gave no point to begin from: the data are impossible under all ", nrow(pool),
                " draws from the prior. Raise it, or state a prior nearer to the behaviour.")
  }
  ends <- matrix(NA_real_, 2, length(top$theta))
  if (!is.null(conf.level)) {
    profile <- profile_ends(surface, top, stats::qchisq(conf.level, 1) / 2)
    top <- profile$top
    ends <- profile$ends
  }
  # A posterior always ends somewhere. Whether the data end it, only the likelihood can say.
  bounded <- if (estimate == "map" && !is.null(conf.level)) likelihood_ends(evaluator, group, top, conf.level) else ends
  curvature <- finite_curvature(surface, top$theta)
  at <- matrix(top$theta, 1)
  result <- evaluate_batch(evaluator, at, matrix(0, evaluator$n_values, 1), group)
  c(top, list(ends = ends, open = is.infinite(bounded), as_prior = as_wide_as_prior(evaluator$prior, ends),
              curvature = curvature, std_error = curvature_errors(curvature, ends),
              log_likelihood = result$log_likelihood, log_prior = result$log_prior))
}

# One top of all coefficients, and what it makes of every cell, as new_ibrc_mode() has those of groups.
mode_of_effects <- function(inverse, starts, estimate, conf.level, cores, stream) {
  evaluator <- effects_evaluator(inverse, cores)
  pool <- with_stream(stream, prior_draw(evaluator$prior, 8 * starts))
  # Where people are much alike a start is worth more than where they are not.
  slopes <- which(!inverse$effects$coefficients$intercept)
  pool[, slopes] <- pool[, slopes] / 4
  top <- mode_of_group(evaluator, 1L, pool, starts, estimate, conf.level)
  theta <- cells_of(evaluator$cells, matrix(top$theta, 1), matrix(0, 1, 0))
  values <- matrix(0, evaluator$agent$n_values, nrow(theta))
  each <- evaluate_batch(evaluator$agent, theta, values, seq_len(nrow(theta)))
  cells <- lapply(seq_len(nrow(theta)), function(g) {
    none <- matrix(NA_real_, 2, ncol(theta))
    list(theta = theta[g, ], log_likelihood = each$log_likelihood[g], log_prior = each$log_prior[g], ends = none,
         open = none == 0, as_prior = rep(FALSE, ncol(theta)), std_error = none[1, ], reached = top$reached,
         climbs = top$climbs, converged = top$converged)
  })
  list(top = top, prior = evaluator$prior, cells = cells)
}

# Whether an interval is about as wide as the central 95% of the prior, on the sampler's scale.
as_wide_as_prior <- function(prior, ends) {
  p <- c(0.025, 0.975)
  wide <- vapply(prior, function(entry) diff(unconstrained_quantile(entry, log(p), log1p(-p))), 0)
  unname(is.finite(ends[2, ] - ends[1, ]) & ends[2, ] - ends[1, ] > 0.9 * abs(wide))
}

likelihood_ends <- function(evaluator, group, top, conf.level) {
  surface <- new_surface(evaluator, group, with_prior = FALSE)
  profile_ends(surface, climb(surface, top$theta), stats::qchisq(conf.level, 1) / 2)$ends
}

# Standard errors on the sampler's scale. Terms with an open end have none.
curvature_errors <- function(curvature, ends) {
  closed <- colSums(is.infinite(ends)) == 0
  errors <- sqrt(diag(curvature_covariance(curvature, closed)))
  errors[!closed] <- NA
  errors
}

# Covariances on the sampler's scale. Where the density is flat in terms that are not `closed`, so that the curvature
# cannot be inverted, they are held for the others'. NA where there are none.
curvature_covariance <- function(curvature, closed = rep(TRUE, nrow(curvature))) {
  out <- matrix(NA_real_, nrow(curvature), ncol(curvature))
  for (terms in list(seq_along(closed), which(closed))) {
    information <- -curvature[terms, terms, drop = FALSE]
    if (!length(terms) || any(!is.finite(information))) next
    root <- tryCatch(chol(information), error = function(e) NULL)
    if (is.null(root)) next
    out[terms, terms] <- chol2inv(root)
    break
  }
  out
}

new_ibrc_mode <- function(tops, inverse, estimate, conf.level) {
  names(tops) <- levels(inverse$group)
  structure(
    c(list(tops = tops), inverse[c("problem", "problems", "recipe", "histories", "prior", "fixed", "tolerance", "by",
                                 if (has_several(inverse)) "several")],
      list(visit_actions = inverse$actions, trajectory_group = as.integer(inverse$group),
           estimate = estimate, conf.level = conf.level, group_sizes = c(table(inverse$group)),
           n_visits = counts_of(inverse, visit_counts), n_scored = counts_of(inverse, scored_counts),
           control = control_of(inverse))),
    class = "ibrc_mode"
  )
}

is_grouped_mode <- function(mode) are_groups(names(mode$tops))

#' @rdname ibrc_mode
#' @param x,object A mode.
#' @param effects Formulas of fixed effects, such as `list(optimism ~ age + sex)`: see *People who differ* in [ibrc()].
#' @param ... Nothing.
#' @export
tidy.ibrc_mode <- function(x, ...) {
  check_unused(...)
  if (has_mode_effects(x)) x <- coefficient_mode(x)
  mode_table(x, function(top, rows) report_simplex(x, top, rows))
}

# One row per term and group; `report` makes of the rows of a group what is shown of them.
mode_table <- function(mode, report = function(top, rows) rows) {
  rows <- lapply(names(mode$tops), function(group) {
    top <- mode$tops[[group]]
    terms <- lapply(seq_along(mode$prior), function(j) mode_row(mode$prior[[j]], top, j, group))
    report(top, do.call(rbind, terms))
  })
  without_lone_group(do.call(rbind, rows), names(mode$tops))
}

# Probabilities in the place of fractions of a simplex. The first has its profile; the others have an interval from
# the curvature, on the logit scale.
report_simplex <- function(mode, top, rows) {
  columns <- simplex_columns(mode$prior, "action_prior")
  if (!length(columns)) return(rows)
  over <- mode$prior[[columns[1]]]$over
  logits <- function(theta) stats::qlogis(from_sticks(matrix(stats::plogis(theta[columns]), 1))[1, ])
  at <- logits(top$theta)
  slope <- vapply(seq_along(top$theta), function(j) {
    step <- replace(numeric(length(top$theta)), j, 1e-5)
    (logits(top$theta + step) - logits(top$theta - step)) / 2e-5
  }, at)
  spread <- tryCatch(sqrt(diag(slope %*% solve(-top$curvature, t(slope)))), error = function(e) at * NA,
                     warning = function(w) at * NA)
  reach <- if (is.null(mode$conf.level)) NA else stats::qnorm((1 + mode$conf.level) / 2)
  shown <- data.frame(term = simplex_terms("action_prior", over), group = rows$group[1], estimate = stats::plogis(at),
                      std.error = stats::dlogis(at) * spread, conf.low = stats::plogis(at - reach * spread),
                      conf.high = stats::plogis(at + reach * spread))
  shown[1, -1] <- rows[columns[1], -1]
  first <- seq_len(columns[1] - 1)
  out <- rbind(rows[first, ], shown, rows[-c(first, columns), ])
  rownames(out) <- NULL
  out
}

# On the natural scale; the standard error by the slope of the transformation.
mode_row <- function(entry, top, j, group) {
  at <- top$theta[j]
  slope <- switch(entry$scale, identity = 1, log = exp(at),
                  logit = (entry$upper - entry$lower) * stats::dlogis(at))
  ends <- to_natural(entry, top$ends[, j])
  # Infinity on the sampler's scale is a bound itself.
  if (entry$scale == "logit") ends[which(top$ends[, j] == Inf)] <- entry$upper
  data.frame(term = entry$term, group = group, estimate = to_natural(entry, at),
             std.error = slope * top$std_error[j], conf.low = min(ends), conf.high = max(ends))
}

#' @rdname ibrc_mode
#' @export
glance.ibrc_mode <- function(x, ...) {
  check_unused(...)
  found <- logLik(x)
  n_groups <- length(x$tops)
  if (has_mode_effects(x)) x$tops <- list(x$population$top)
  part <- function(name) vapply(x$tops, function(top) as.numeric(top[[name]]), 0)
  # Criteria are those of a maximum of the likelihood.
  at_top <- x$estimate == "mle"
  data.frame(estimate = x$estimate, log_lik = as.numeric(found), n_parameters = attr(found, "df"),
             AIC = if (at_top) stats::AIC(found) else NA_real_, BIC = if (at_top) stats::BIC(found) else NA_real_,
             trajectories = sum(x$group_sizes), visits = sum(x$n_visits), groups = n_groups,
             reached = min(part("reached")), starts = max(part("climbs")), converged = all(part("converged") == 1))
}

#' @rdname ibrc_mode
#' @export
coef.ibrc_mode <- function(object, ...) {
  check_unused(...)
  table <- tidy(object)
  names <- if (is.null(table$group)) table$term else paste0(table$term, "[", table$group, "]")
  stats::setNames(table$estimate, names)
}

#' @rdname ibrc_mode
#' @importFrom stats logLik
#' @export
logLik.ibrc_mode <- function(object, ...) {
  check_unused(...)
  refuse_part(object, "object", "the log-likelihood of its estimates")
  structure(sum(vapply(object$tops, function(top) top$log_likelihood, 0)),
            df = if (has_mode_effects(object)) length(object$population$prior) else
              length(object$tops) * length(object$prior),
            nobs = sum(counted_of(object)), class = "logLik")
}

#' @export
format.ibrc_mode <- function(x, ...) {
  paste0(if (x$estimate == "map") "The posterior mode" else "The maximum of the likelihood", " for ",
         plural(sum(x$group_sizes), "trajectory", "trajectories"), " with ", plural(sum(x$n_visits), "visit"),
         unscored_words(x), problem_words(x),
         if (has_mode_effects(x)) paste0(" of people who differ (", plural(length(x$tops), "cell"), ")") else
           if (is_grouped_mode(x)) paste0(" in ", plural(length(x$tops), "group")))
}

#' @export
print.ibrc_mode <- function(x, digits = 3, ...) {
  check_unused(...)
  cat(format(x), "\n\n", sep = "")
  table <- tidy(x)
  numbers <- c("estimate", "std.error", "conf.low", "conf.high")
  shown <- table
  shown[numbers] <- lapply(table[numbers], signif, digits)
  if (is.null(x$conf.level)) shown[c("conf.low", "conf.high")] <- NULL
  print(shown, row.names = FALSE)
  found <- sum(vapply(x$tops, function(top) top$log_likelihood, 0))
  cat("\nLog-likelihood ", format(found, nsmall = 2, digits = 7), if (!is.null(x$part)) ", of all problems",
      if (length(x$fixed)) paste0("; held: ", fixed_words(x$fixed)), "\n", sep = "")
  if (has_mode_effects(x)) x <- coefficient_mode(x)
  for (line in mode_advice(x, mode_table(x))) writeLines(strwrap(line, prefix = "  ", initial = "* "))
  invisible(x)
}

mode_advice <- function(mode, table) {
  label <- if (is.null(table$group)) table$term else paste0(table$term, " (", table$group, ")")
  open <- colSums(do.call(cbind, lapply(mode$tops, function(top) top$open)))
  rough <- !vapply(mode$tops, function(top) top$converged, NA)
  alone <- vapply(mode$tops, function(top) top$climbs > 1 && top$reached == 1, NA)
  few <- unlist(Map(few_data, mode$group_sizes, mode$n_scored))
  alike <- mode$estimate == "map" & unlist(lapply(mode$tops, function(top) top$as_prior)) & open < 2
  by_prior <- mode$estimate == "map"
  c(
    if (any(open == 1, na.rm = TRUE)) {
      paste0("The data bound ", listing(label[which(open == 1)]), " on one side only: ",
             if (by_prior) "the other end of the interval is the prior's." else "read the interval, not the estimate.")
    },
    if (any(open == 2, na.rm = TRUE)) {
      paste0("The data do not bound ", listing(label[which(open == 2)]), " at all",
             if (by_prior) ": estimate and interval are the prior's. Report it as not identified", ".")
    },
    if (any(alike, na.rm = TRUE)) {
      paste0("The interval of ", listing(label[which(alike)]),
             " is about as wide as the prior's: report it as not identified.")
    },
    if (any(few)) "There are too few visits to report an estimate: it rests on chance and on the prior.",
    if (is.null(mode$conf.level)) "Whether the data bound the terms was not looked at (conf.level = NULL).",
    if (any(rough)) "The search stopped before it got to the top: do not report this estimate.",
    if (any(alone)) "Only one of the climbs got this high: there may be a higher top. Raise `starts`."
  )
}
