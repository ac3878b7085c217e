#' Behaviour of a plan that remembers visits
#'
#' The calls that every decision model answers ([predict()][predict.ibrc_plan], [log_lik()] and
#' [simulate()][simulate.ibrc_plan]), for a plan by [plan_history_q_learning()]. Actions have the probabilities that its
#' policy gives them after the last visits. The section *Histories* there says what is done with histories that it has
#' not met, or in which something is missing. Such a plan has no model, so no observation is impossible for it.
#'
#' @inheritParams predict.ibrc_plan
#' @inheritParams simulate.ibrc_plan
#' @param object A plan by [plan_history_q_learning()].
#' @param visits Trajectories ([trajectories()]). If starts differ ([decision_setting()]), they must have the columns
#'   in `start_by`.
#' @param cores Not used. It is there so that all plans can be called alike.
#' @return `predict()`: a data frame with one row per visit, in the order of the rows of `visits`, and one column per
#'   action. `log_lik()`: a numeric vector, one number per trajectory. It is `-Inf` if an action counts that the policy
#'   never takes; with `alpha = 0` these are all actions but the best. `simulate()`: trajectories.
#' @family framework
#' @export
#' @examples
#' plan <- plan_history_q_learning(diag_setting(), memory = 2, steps = 20000, alpha = 1, seed = 1)
#' visits <- simulate(plan, nsim = 20, seed = 1)
#' head(predict(plan, visits))
#' sum(log_lik(plan, visits))
predict.ibrc_history_plan <- function(object, visits, type = "action", ...) {
  check_unused(...)
  check_choice(type, "action", "type")
  if (missing(visits)) abort_input("visits", "must be given: trajectories to predict the actions of.")
  coded <- code_visits(visits, object$setting)
  law <- matrix(0, length(coded$row), length(object$setting$actions), dimnames = list(NULL, object$setting$actions))
  law[coded$row, ] <- recalled_law(object, coded)
  as.data.frame(law, optional = TRUE)
}

#' @rdname predict.ibrc_history_plan
#' @rawNamespace S3method(rstantools::log_lik, ibrc_history_plan)
#' @export
log_lik.ibrc_history_plan <- function(object, visits, ...) {
  check_unused(...)
  if (missing(visits)) abort_input("visits", "must be given: trajectories to judge by the plan.")
  coded <- code_visits(visits, object$setting)
  each <- log(recalled_law(object, coded)[cbind(seq_along(coded$row), coded$action + 1L)])
  each[!coded$scored] <- 0
  stats::setNames(trajectory_sums(each, coded$trajectory), trajectory_names(visits))
}

# The probability of each action at each coded visit, [visit, action].
recalled_law <- function(plan, coded) {
  n_actions <- length(plan$setting$actions)
  read_recalled(plan, visits_before(coded, plan$memory), plan$table$policy, rep(1 / n_actions, n_actions))
}

# What a plan with this `memory` remembers at each visit.
visits_before <- function(coded, memory) {
  n <- length(coded$trajectory)
  here <- seq_len(n)
  first <- match(coded$trajectory, coded$trajectory)
  length <- pmin(here - first, memory)
  seen <- ifelse(coded$observation < 0, NA, coded$observation + 1L)
  before <- function(x) {
    vapply(seq_len(memory), function(back) ifelse(length >= back, x[pmax(here - back, 1)], NA), numeric(n))
  }
  recalled_visits(matrix(before(as.numeric(coded$action + 1L)), n), matrix(before(as.numeric(seen)), n), length)
}

#' @rdname predict.ibrc_history_plan
#' @export
simulate.ibrc_history_plan <- function(object, nsim = 1, seed = NULL, horizon = 50, environment = NULL,
                                       cores = getOption("ibrc.cores", 1), start_group = NULL, ...) {
  check_unused(...)
  check_count(cores, "cores")
  setting <- object$setting
  table <- list(key = object$table$key, policy = t(object$table$policy),
                otherwise = rep(1 / length(setting$actions), length(setting$actions)))
  stops <- as.integer(setting$actions %in% setting$stop_actions)
  simulate_visits(setting, nsim, seed, horizon, environment, start_group, function(world, starts, begin, horizon) {
    law <- stack_models(own_model(world))
    roll_pieces(length(begin), horizon, function(these, noise) {
      .Call(ffi_recall_rollout, list(memory = object$memory), law, starts$world, table, begin[these] - 1L, stops,
            horizon, noise)
    })
  })
}
