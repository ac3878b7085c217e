#' How likely behaviour is
#'
#' The log probability of the actions of each trajectory under a plan, given what was done and seen
#' before them. The agent updates its beliefs by its own
#' recognition, and each action has the probability that the plan's policy gives
#' it there. Trajectories that begin alike are worked out together. For a mode, the plan at the estimates of
#' each group is used; for learned dynamics, how often actions were taken in each state (see
#' [predict()][predict.ibrc_iohmm]).
#'
#' Only actions that count are added up: those that are known, and not marked as forced or held out (`scored` in
#' [trajectories()]). A trajectory without any such action has 0. An action that counts and has prior probability 0
#' (`action_prior` of [bounded_agent()]) is an error that names its rows. So is an observation that none of the
#' models allows. Behaviour that only the plan rules out, by its policy or because its agent is sure of some models, has
#' `-Inf`.
#'
#' @param object A plan ([plan_agent()]), a mode ([ibrc_mode()]) or learned dynamics ([fit_iohmm()]); for a fit see
#'   [log_lik.ibrc_fit()].
#' @param visits Trajectories ([trajectories()] or
#'   [simulate()][simulate.ibrc_plan]), seen before or not. For a mode with groups they must have the columns that it
#'   was grouped by. By default a mode and learned dynamics take the visits that they were made from.
#' @param ... Not used.
#' @return A numeric vector with one number per trajectory, in order of first
#'   appearance. It is named by the identifiers if `visits` are given. Its `sum()` is the log probability of all.
#' @seealso [predict.ibrc_plan()] for the probability of each action at each visit.
#' @family decision models
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
#' @rawNamespace S3method(rstantools::log_lik, ibrc_plan)
#' @export
log_lik.ibrc_plan <- function(object, visits, ...) {
  check_unused(...)
  if (missing(visits)) abort_input("visits", "must be given: trajectories to judge by the plan.")
  coded <- code_visits(visits, object$setting)
  histories <- build_histories(coded, object$setting)
  refuse_impossible_visits(coded, histories, object)
  reading <- read_histories(object, histories, beliefs = FALSE)
  each <- scored_log_policy(reading$log_policy, histories, coded$action + 1L)
  stats::setNames(trajectory_sums(each, coded$trajectory), trajectory_names(visits))
}

#' @export
log_lik.default <- function(object, ...) hand_on(object, "rstantools", "log_lik", ...)

# Identifiers as text, in order of first appearance.
trajectory_names <- function(visits) {
  who <- plain_visits(visits)[[attr(visits, "roles")$id]]
  id_text(who[!duplicated(id_codes(who))])
}

# Sums over the visits of each trajectory, which stand together. -Inf stays -Inf.
trajectory_sums <- function(each, trajectory) {
  as.vector(rowsum(each, trajectory, reorder = FALSE))
}
