# Projections: an inverse planner reads behaviour, a planner acts on what it inferred (R/compare-pairs.R).

# Its usage is written by hand: roxygen2 puts the class `function` in quotes, which pkgdown cannot read.

#' @rdname project_behavior
#' @usage
#' \method{project_behavior}{function}(
#'   planner,
#'   inverse,
#'   visits,
#'   setting,
#'   ...,
#'   newdata = NULL,
#'   replicates = 1000,
#'   conf.level = 0.95,
#'   seed = NULL
#' )
#' @param inverse The inverse planner: a function such as [infer_soft_margin()], or its key in [inverse_planners()],
#'   such as `"soft_margin"`. Then `planner` is a planner, such as [plan_kl()] or `"kl"` (see [planners()]). For
#'   `"matching"` and `"custom"` it may also be your own function(setting, theta) that returns a plan. Of the planners
#'   with names, `"custom"` takes those that [infer_custom()] knows.
#' @param visits Trajectories ([trajectories()]) that were demonstrated; for [infer_soft_policies()] a list of them, in
#'   order.
#' @param setting A setting ([decision_setting()]).
#' @param newdata Trajectories of other patients, on which the projection is scored; by default `visits` themselves (the
#'   last of several).
#' @param replicates How many times patients are drawn anew for intervals.
#' @param conf.level Confidence of the intervals.
#' @param seed A number that makes it repeatable; `NULL` draws from the session's generator.
#'
#' @section Pairs:
#' With `inverse`, behaviour is projected onto the behaviour that the planner can produce. The inverse planner infers
#' from visits what the planner needs, and the planner acts on it. Arguments in `...` go to the function that takes
#' them, or to both. An argument that would replace what is inferred is refused. So is a pair that does not go
#' together, with the reason. (A matched agent takes the arguments of [ibrc_mode()].) The planner uses the price or
#' temperature (`alpha`) that the inverse planner assumed or inferred; [plan_history_q_learning()], which takes the
#' best action by default, that which you give or which is inferred.
#'
#' [infer_matching()] uses the planner itself, and all that it infers is acted on. In place of a planner that it does
#' not know, it matches one with the same wishes. It infers the utility, unless `terms`, `features`, `start` or `prior`
#' say otherwise. For a bounded agent it infers the prices. Utilities are then in the unit of `alpha`, by default the
#' range of the setting's utility (infer_matching() by itself has 1). With [plan_rule()] and [infer_distribution()],
#' `deterministic = TRUE` looks for the nearest policy, in total variation, that always does the same in a state.
#' Imitating behaviour need not agree with the demonstrated one, for example that of a planner without noise. The
#' divergence says how far apart they are.
#'
#' The divergence has these rows:
#' * `log_loss`: minus the log probability of the action taken (minus the `log_score` of [accuracy()]).
#' * `brier`: half the squared distance of the probabilities from the action taken, summed over actions. It goes from 0
#'   to 1, as in [accuracy()].
#' * `agreement`: the probability of the action taken. It is not a proper score, as it is higher for a model that is too
#'   sure.
#' * `divergence`, where the state is seen: that of action frequencies in each state from the imitating law, on average
#'   over visits.
#'
#' Frequencies scatter. That alone would make the divergence (k - 1) / (2n) in a state with n visits and k actions. This
#' is subtracted, except for free parameters fitted to the same visits (probabilities of a state sum to 1, utilities
#' count up to a function of the state). Intervals are over patients drawn anew with replacement, and hold what was
#' inferred fixed.
#' @return With `inverse`: an object of class `ibrc_projection`, a list:
#'   * `plan`: the plan.
#'   * `inferred`: what was inferred.
#'   * `divergence`: a data frame with the columns `measure`, `estimate`, `conf.low` and `conf.high`.
#'
#'   It can be used like its plan to predict, to simulate and for a likelihood. [tidy()][tidy.ibrc_projection] reads it.
#' @export
#' @examples
#'
#' # A pair: what utility would explain these visits, if they were those of a soft planner?
#' clinic <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0.2, 0.8)),
#'                     treat = rbind(c(0.9, 0.1), c(0.6, 0.4))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)),
#'   discount = 0.9, start = c(1, 0)
#' )
#' visits <- simulate(plan_kl(clinic, alpha = 1), 40, seed = 1, horizon = 6)
#' project_behavior(plan_kl, infer_soft_margin, visits, setting = clinic, penalty = 0.01, seed = 1)
project_behavior.function <- function(planner, inverse, visits, setting, ..., newdata = NULL, replicates = 1000,
                                      conf.level = 0.95, seed = NULL) {
  check_given(inverse, visits, setting)
  pair <- check_pair(planner, inverse)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  scored <- if (is.null(newdata)) last_visits(visits) else newdata
  check_visits(scored, if (is.null(newdata)) "visits" else "newdata")
  code_scored(scored, setting, if (is.null(newdata)) "visits" else "newdata")
  replicates <- check_count(replicates, "replicates", least = 10, most = 1e6)
  conf.level <- check_level(conf.level)
  seed <- settle_seed(seed)
  made <- project_pair(planner, inverse, visits, setting, list(...), seed)
  new_ibrc_projection(pair, made, scored, setting, is.null(newdata), replicates, conf.level, seed)
}

#' @rdname project_behavior
#' @export
project_behavior.character <- function(planner, inverse, visits, setting, ...) {
  check_given(inverse, visits, setting)
  pair <- check_pair(planner, inverse)
  project_behavior.function(pair$plan_with, inverse, visits, setting, ...)
}

last_visits <- function(visits) {
  if (is.list(visits) && !is.object(visits) && length(visits)) visits[[length(visits)]] else visits
}

new_ibrc_projection <- function(pair, made, scored, setting, in_sample, replicates, conf.level, seed) {
  laws <- list(projection = predict(made$plan, scored, type = "action"))
  scores <- collect_scores(laws, code_scored(scored, setting), setting)
  n_fitted <- if (in_sample) made$n_free else 0
  boot <- bootstrap_scores(scores, list(n_fitted), replicates, conf.level, seed)
  table <- score_table(boot, "projection")
  if (is.null(scores$by_state)) table <- table[table$measure != "divergence", ]
  structure(
    list(planner = pair$planner, inverse = pair$inverse, plan = made$plan, inferred = made$inferred,
         divergence = table, conf.level = conf.level, in_sample = in_sample,
         n_trajectories = scores$n_patients, n_visits = scores$n_visits,
         ruled_out = sum(scores$ruled_out$projection), notes = score_notes(scores)),
    class = "ibrc_projection"
  )
}

# ---- reading it ---------------------------------------------------------------------------------------------------

#' Read a projection
#'
#' @param x,object A projection: [project_behavior()] of a planner and an inverse planner.
#' @param what `"estimates"`, what was inferred, or `"divergence"`, how far the imitating behaviour is from the
#'   demonstrated one.
#' @param visits Trajectories ([trajectories()]).
#' @param type `"action"`, the probability of each action.
#' @param beliefs,last,nsim,seed,... As for a plan: see [policy()], [simulate()][simulate.ibrc_plan].
#' @return `tidy()`: a data frame. Estimates have the columns `term` and `estimate`, the divergence has `measure`,
#'   `estimate`, `conf.low` and `conf.high`. `glance()`: one row with the `planner`, the `inverse` planner, how many
#'   `parameters` were inferred, each measure, and the `trajectories` and `visits` that it was scored on. `predict()`,
#'   `log_lik()`, `simulate()` and `policy()` are those of its plan.
#' @family framework
#' @export
#' @examples
#' clinic <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0.2, 0.8)),
#'                     treat = rbind(c(0.9, 0.1), c(0.6, 0.4))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)),
#'   discount = 0.9, start = c(1, 0)
#' )
#' visits <- simulate(plan_kl(clinic, alpha = 1), 40, seed = 1, horizon = 6)
#' projection <- project_behavior("rule", "distribution", visits, setting = clinic, seed = 1)
#' tidy(projection)
#' tidy(projection, "divergence")
#' glance(projection)
tidy.ibrc_projection <- function(x, what = c("estimates", "divergence"), ...) {
  check_unused(...)
  what <- check_choice(what, c("estimates", "divergence"), "what")
  if (what == "estimates") x$inferred$estimates else x$divergence
}

#' @rdname tidy.ibrc_projection
#' @export
glance.ibrc_projection <- function(x, ...) {
  check_unused(...)
  found <- stats::setNames(as.list(x$divergence$estimate), x$divergence$measure)
  data.frame(planner = x$planner, inverse = x$inverse, parameters = nrow(x$inferred$estimates), found,
             trajectories = x$n_trajectories, visits = x$n_visits, in_sample = x$in_sample)
}

#' @rdname tidy.ibrc_projection
#' @export
predict.ibrc_projection <- function(object, visits, type = "action", ...) {
  check_unused(...)
  check_choice(type, "action", "type")
  if (missing(visits)) abort_input("visits", "must be given: trajectories whose actions are to be predicted.")
  predict(object$plan, visits, type)
}

#' @rdname tidy.ibrc_projection
#' @rawNamespace S3method(rstantools::log_lik, ibrc_projection)
#' @export
log_lik.ibrc_projection <- function(object, visits, ...) {
  check_unused(...)
  if (missing(visits)) abort_input("visits", "must be given: trajectories to judge by the projection.")
  log_lik(object$plan, visits)
}

#' @rdname tidy.ibrc_projection
#' @export
simulate.ibrc_projection <- function(object, nsim = 1, seed = NULL, ...) simulate(object$plan, nsim, seed, ...)

#' @rdname tidy.ibrc_projection
#' @export
policy.ibrc_projection <- function(object, beliefs = NULL, last = NULL, ...) {
  check_unused(...)
  policy(object$plan, beliefs, last)
}

#' @rdname tidy.ibrc_projection
#' @export
coef.ibrc_projection <- function(object, ...) coef(object$inferred, ...)

#' @export
format.ibrc_projection <- function(x, digits = 3, ...) {
  number <- function(v) formatC(v, digits = digits, format = "f")
  table <- x$divergence
  range <- ifelse(is.na(table$conf.low), "", paste0("  [", number(table$conf.low), ", ", number(table$conf.high), "]"))
  c(
    paste0("A projection: ", inverse_title(x$inverse), ", then ", pair_words(x$planner)),
    format(x$inferred)[-1],
    paste0("How far the imitating behaviour is from the demonstrated one, over ", plural(x$n_visits, "visit"), " of ",
           plural(x$n_trajectories, "patient")),
    paste0("  ", format(measure_titles[table$measure]), "  ", format(number(table$estimate), justify = "right"), range),
    if (x$ruled_out > 0) {
      bullet(paste0("It rules out what was done at ", plural(x$ruled_out, "visit"), "."))
    },
    if (x$in_sample) bullet("It is scored on the visits that it was inferred from: see `newdata`."),
    unlist(lapply(x$notes, bullet))
  )
}

pair_words <- function(planner) if (planner == "own") "a planner of your own" else planner_words[[planner]]

#' @export
print.ibrc_projection <- function(x, ...) {
  writeLines(format(x, ...))
  invisible(x)
}
