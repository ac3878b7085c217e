#' How likely behaviour is
#'
#' The log probability of the actions of each trajectory, given what was seen
#' before them, under a plan: the agent's beliefs are carried along by its own
#' recognition, and each action has the probability that the plan's policy gives
#' it there. Trajectories that begin alike are worked out together.
#'
#' @param object A plan ([plan_agent()]).
#' @param visits Trajectories ([trajectories()] or
#'   [simulate()][simulate.ibrc_plan]).
#' @param ... Not used.
#' @return For a plan: a numeric vector, one per trajectory in order of first
#'   appearance, named by its identifier. `sum()` it for the whole.
#' @family inference
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models())
#' visits <- simulate(plan, nsim = 5, seed = 1)
#' log_lik(plan, visits)
#' sum(log_lik(update(plan, bounded_agent(alpha = 5)), visits))
log_lik <- function(object, ...) {
  check_given(object)
  UseMethod("log_lik")
}

#' @rdname log_lik
#' @export
log_lik.ibrc_plan <- function(object, visits, ...) {
  check_unused(...)
  if (missing(visits)) abort_input("visits", "must be given: trajectories to judge by the plan.")
  coded <- code_visits(visits, object$setting)
  histories <- build_histories(coded, object$setting)
  refuse_impossible_visits(coded, histories, object)
  reading <- read_histories(object, histories)
  each <- reading$log_policy[cbind(coded$action + 1L, histories$visit)]
  who <- visits[[attr(visits, "roles")$id]]
  stats::setNames(trajectory_sums(each, coded$trajectory), id_text(who[!duplicated(id_codes(who))]))
}

#' @export
log_lik.default <- function(object, ...) hand_on(object, "rstantools", "log_lik", ...)

# Sums over trajectories that stand together; -Inf stays -Inf.
trajectory_sums <- function(each, trajectory) {
  as.vector(rowsum(each, trajectory, reorder = FALSE))
}
