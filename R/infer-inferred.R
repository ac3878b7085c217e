# What an inverse planner returns: what it inferred, and the plan that imitates what was demonstrated. It keeps no
# visits.

# `inverse`: the key of its row in inverse_planners(); `plan`: the imitating plan, or a list of them, one per setting;
# `estimates`: a data frame with columns `term` and `estimate`, and `state`, `action`, `std.error` and the like where
# they apply; `objective`: what was minimised or maximised, at the answer; `details`: anything to keep, and
# `n_trajectories`, `n_visits` and `left_out` of the demonstration, which glance() shows; `notes`: sentences that a
# reader must know.
new_ibrc_inferred <- function(inverse, setting, plan, estimates, objective = NULL, details = list(),
                              notes = character()) {
  structure(
    list(inverse = inverse, setting = setting, plan = plan, estimates = estimates, objective = objective,
         details = details, notes = as.character(notes)),
    class = "ibrc_inferred"
  )
}

# One row per entry of a utility [state, action].
utility_estimates <- function(utility, setting) {
  place <- expand.grid(state = setting$states, action = setting$actions, stringsAsFactors = FALSE)
  data.frame(term = utility_name(place$state, place$action), state = place$state, action = place$action,
             estimate = as.vector(utility))
}

# The part of a demonstration that is kept.
demonstration_details <- function(demonstration) demonstration[c("n_trajectories", "n_visits", "left_out", "source")]

# The plan that is meant; `setting`: a name or a number, where there are several.
imitating_plan <- function(object, setting = NULL) {
  plans <- object$plan
  if (inherits(plans, "ibrc_plan")) {
    if (!is.null(setting)) abort_input("setting", "has no meaning here: there is but one.")
    return(plans)
  }
  if (is.null(setting)) {
    abort_input("setting", "must say which of the ", length(plans), " settings is meant: ",
                enumerate(plan_labels(plans)), ".")
  }
  at <- if (is.character(setting) && length(setting) == 1) match(setting, names(plans)) else
    check_count(setting, "setting", most = length(plans))
  if (is.na(at)) abort_input("setting", "must be one of ", enumerate(plan_labels(plans)), ".")
  plans[[at]]
}

plan_labels <- function(plans) if (is.null(names(plans))) seq_along(plans) else names(plans)

#' What an inverse planner inferred
#'
#' Reads the answer of an inverse planner ([inverse_planners()]). It holds estimates and the plan that imitates what was
#' demonstrated. It is itself a decision model, with the predictions, likelihood and simulations of its plan.
#'
#' @param x,object,planner The answer of an inverse planner, such as [infer_margin()].
#' @param parm Which terms: names or numbers; all by default.
#' @param level The probability that an interval is to cover.
#' @param visits Trajectories ([trajectories()]).
#' @param type `"action"`, the probability of each action.
#' @param setting With several settings ([infer_experiments()]): which of them is meant, by name or by number.
#' @param beliefs,nsim,seed,... As for a plan: see [policy()], [simulate()][simulate.ibrc_plan].
#'
#' @return `tidy()` and `as.data.frame()`: a data frame with one row per estimate: `term`, `estimate`, and `state` and
#'   `action` where they apply. `coef()`: the estimates, named by term. `confint()`: a matrix with one row per term. It
#'   has normal intervals by the standard errors, `NA` where there is none (shares of actions are kept from 0 to 1), or
#'   quantiles of a posterior. It is an error of class `ibrc_error_input` where the inverse planner has no standard
#'   errors at all. `summary()`: all of it, to print. `plot()` is an error that says what to plot. `glance()`: one row
#'   with the `inverse` planner, its `objective`, what that is (`criterion`; objectives of different inverse planners
#'   cannot be compared), the numbers of `states`, `actions`, `trajectories` and `visits` that were used, and how many
#'   visits were `left_out` because their state was not known. `project_behavior()`: the imitating plan, or a list of
#'   them, one per setting. `predict()`, `log_lik()`, `simulate()` and `policy()` are those of that plan.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)), treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9
#' )
#' if (requireNamespace("lpSolve", quietly = TRUE)) {
#'   inferred <- infer_margin(rbind(c(1, 0), c(0, 1)), setting)
#'   print(inferred)
#'   tidy(inferred)
#'   coef(inferred)
#'   policy(inferred)
#' }
tidy.ibrc_inferred <- function(x, ...) {
  check_unused(...)
  x$estimates
}

#' @rdname tidy.ibrc_inferred
#' @export
glance.ibrc_inferred <- function(x, ...) {
  check_unused(...)
  kept <- function(name) if (is.null(x$details[[name]])) NA_integer_ else as.integer(sum(x$details[[name]]))
  setting <- if (inherits(x$setting, "ibrc_setting")) x$setting else x$setting[[1]]
  out <- data.frame(inverse = x$inverse, objective = if (is.null(x$objective)) NA_real_ else x$objective,
                    criterion = paste(criterion_words(x), collapse = "; "),
                    states = length(setting$states), actions = length(setting$actions),
                    trajectories = kept("n_trajectories"), visits = kept("n_visits"), left_out = kept("left_out"))
  # Numbers that an inverse planner adds about its own answer.
  out[names(x$details$glance)] <- x$details$glance
  out
}

# What the objective is, and whether it was minimised or maximised.
criterion_words <- function(x) {
  counted <- if (is.null(x$details$n_visits)) NA else sum(x$details$n_visits)
  likelihood <- paste0("log-likelihood ", if (is.na(counted)) "per visit" else paste("of", plural(counted, "visit")))
  least <- function(what) c(what, "minimised")
  most <- function(what) c(what, "maximised")
  gaps <- "sum of gaps over states, less the penalty"
  switch(x$inverse,
    perturbation = least("size of the change"), margin = , experiments = most(gaps),
    soft_margin = least("what a soft imitator gains, with the penalty"),
    scores = least(if (identical(x$details$p, 1)) "sum of absolute gaps to the scores" else
      "root of the summed squares of gaps to the scores"),
    soft_policies = least("sum of squares that the steps leave"),
    preferences = most(paste("log-likelihood of", plural(x$details$n_pairs, "pair"))),
    matching = most(likelihood),
    distribution = least("divergence, less the worth of entropy"), custom = least("discrepancy"),
    shared_utility = if (is.na(counted)) least("sum of squares that the equations leave") else
      most(paste0(likelihood, " with smoothing")),
    character()
  )
}

#' @rdname tidy.ibrc_inferred
#' @importFrom stats coef
#' @export
coef.ibrc_inferred <- function(object, ...) {
  check_unused(...)
  stats::setNames(object$estimates$estimate, object$estimates$term)
}

#' @rdname tidy.ibrc_inferred
#' @export
as.data.frame.ibrc_inferred <- function(x, ...) {
  check_unused(...)
  x$estimates
}

#' @rdname tidy.ibrc_inferred
#' @importFrom stats confint
#' @export
confint.ibrc_inferred <- function(object, parm, level = 0.95, ...) {
  check_unused(...)
  level <- check_number(level, "level")
  if (level <= 0 || level >= 1) abort_input("level", "must lie between 0 and 1.")
  estimates <- object$estimates
  chosen <- if (missing(parm)) seq_len(nrow(estimates)) else chosen_terms(parm, estimates$term)
  tails <- c((1 - level) / 2, (1 + level) / 2)
  draws <- object$details$draws
  error <- estimates$std.error
  if (is.null(draws) && (is.null(error) || all(is.na(error)))) {
    abort_input("object", "has no standard errors, so there are no intervals: ",
                if (is.null(error)) "this inverse planner gives none." else "none of its terms has one, see its notes.")
  }
  ends <- if (is.null(draws)) estimates$estimate + outer(error, stats::qnorm(tails)) else
    t(vapply(estimates$term, function(term) {
      stats::quantile(draws$value[draws$term == term], tails, names = FALSE)
    }, tails))
  # Shares of actions.
  if (identical(object$details$planner, "rule") && is.null(object$details$logits)) ends <- pmin(pmax(ends, 0), 1)
  dimnames(ends) <- list(estimates$term, paste(format(100 * tails, trim = TRUE, digits = 3), "%"))
  ends[chosen, , drop = FALSE]
}

# Positions of terms by name or by number.
chosen_terms <- function(parm, terms) {
  at <- if (is.character(parm)) match(parm, terms) else
    if (is.numeric(parm)) match(parm, seq_along(terms)) else NA
  if (!length(at) || anyNA(at)) {
    abort_input("parm", "must be names or numbers of terms: ", enumerate(terms), "; not ", describe(parm), ".")
  }
  at
}

#' @rdname tidy.ibrc_inferred
#' @export
summary.ibrc_inferred <- function(object, ...) {
  check_unused(...)
  structure(list(inferred = object, estimates = object$estimates, glance = glance(object), notes = object$notes),
            class = "summary.ibrc_inferred")
}

#' @export
print.summary.ibrc_inferred <- function(x, ...) {
  writeLines(format(x$inferred, most = Inf, ...))
  seen <- x$glance[setdiff(names(x$glance), c("inverse", "objective", "criterion"))]
  writeLines(paste0("  ", paste(gsub("_", " ", names(seen)), vapply(seen, format_plain, ""), collapse = ", ")))
  invisible(x)
}

#' @rdname tidy.ibrc_inferred
#' @importFrom graphics plot
#' @export
plot.ibrc_inferred <- function(x, ...) {
  one <- inherits(x$plan, "ibrc_plan")
  abort_input("x", "is what was inferred, and has no picture. plot(project_behavior(x)", if (!one) "[[1]]",
              ") draws what the imitator does, plot(compare_models(...)) compares it with others, and tidy(x) has the ",
              "estimates.")
}

#' @rdname tidy.ibrc_inferred
#' @export
project_behavior.ibrc_inferred <- function(planner, ...) {
  check_unused(...)
  planner$plan
}

#' @rdname tidy.ibrc_inferred
#' @export
predict.ibrc_inferred <- function(object, visits, type = "action", setting = NULL, ...) {
  check_unused(...)
  check_choice(type, "action", "type")
  if (missing(visits)) abort_input("visits", "must be given: trajectories whose actions are to be predicted.")
  predict(imitating_plan(object, setting), visits, type)
}

#' @rdname tidy.ibrc_inferred
#' @rawNamespace S3method(rstantools::log_lik, ibrc_inferred)
#' @export
log_lik.ibrc_inferred <- function(object, visits, setting = NULL, ...) {
  check_unused(...)
  if (missing(visits)) abort_input("visits", "must be given: trajectories to judge by what was inferred.")
  log_lik(imitating_plan(object, setting), visits)
}

#' @rdname tidy.ibrc_inferred
#' @export
simulate.ibrc_inferred <- function(object, nsim = 1, seed = NULL, setting = NULL, ...) {
  simulate(imitating_plan(object, setting), nsim = nsim, seed = seed, ...)
}

#' @rdname tidy.ibrc_inferred
#' @export
policy.ibrc_inferred <- function(object, beliefs = NULL, setting = NULL, ...) {
  check_unused(...)
  plan <- imitating_plan(object, setting)
  out <- policy(plan, beliefs)
  # Where the state is seen there is one row per state.
  seen <- is.null(beliefs) && is_vertices(plan$space)
  if (seen) rownames(out) <- plan$setting$states
  out
}

#' @export
format.ibrc_inferred <- function(x, digits = 4, most = 12, ...) {
  estimates <- x$estimates
  shown <- utils::head(estimates, most)
  numbers <- names(shown)[vapply(shown, is.numeric, NA)]
  columns <- c(list(format(c("", safe_text(shown$term)))), lapply(numbers, function(column) {
    # A value that differs from 0 only by rounding is 0.
    values <- replace(shown[[column]], abs(shown[[column]]) < 1e-12 * largest(finite(estimates[[column]])), 0)
    format(c(column, formatC(values, digits = digits, format = "g")), justify = "right")
  }))
  seen <- glance(x)
  c(
    paste0(inverse_title(x$inverse), ": what was inferred",
           if (!is.na(seen$visits)) paste0(" from ", plural(seen$visits, "visit"), " of ",
                                           plural(seen$trajectories, "trajectory", "trajectories"))),
    if (nrow(shown)) do.call(paste, c(list("  "), columns)),
    if (nrow(estimates) > most) paste("  ... and", plural(nrow(estimates) - most, "more estimate")),
    if (!is.na(seen$objective)) paste0("  objective  ", format_number(seen$objective, digits),
                                       if (nzchar(seen$criterion)) paste0("  (", seen$criterion, ")")),
    unlist(lapply(x$notes, strwrap, width = 0.9 * getOption("width"), prefix = "    ", initial = "  * "))
  )
}

finite <- function(x) x[is.finite(x)]

#' @export
print.ibrc_inferred <- function(x, ...) {
  writeLines(format(x, ...))
  invisible(x)
}
