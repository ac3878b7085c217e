#' What learned dynamics say about visits
#'
#' `predict()` gives the probabilities of the states at each visit, of what could be
#' seen after its action, or of the action itself. `simulate()` draws what could have been seen after the
#' actions of given visits.
#'
#' @section Actions:
#' Dynamics have no aims, and actions are their inputs. About the next action they only know how often each action
#' was taken in each state of the visits they were learned from (`choices` in the fit: the expected counts). With
#' `type = "action"` the probability of an action is its share among those taken in a state. It is averaged over the
#' states as far as they are known before the action, from what was done and *seen* until then, as in
#' `type = "filter"`. The actions taken are no evidence about the state. In each state, one more count is divided evenly
#' among all actions. This is a decision model like others ([predict.ibrc_plan()]), and the simplest with hidden states.
#' It is a standard of comparison for fits that claim to know why. The log-likelihood of actions is
#' [log_lik()]. That of what was seen, given the actions, is [`logLik()`][logLik.ibrc_iohmm].
#'
#' @param object A fit ([fit_iohmm()]).
#' @param visits Trajectories ([trajectories()]) with known actions and observations. By
#'   default all visits of the fit, in the order of their rows. For `predict()`, the last action of a
#'   trajectory may be missing. `simulate()` leaves such visits of the fit out, and refuses them in `visits`.
#' @param type `"filter"`: the state given what was done and seen until then;
#'   `"smooth"`: the state given the whole trajectory; `"observation"`: what is
#'   seen after the action of the visit, given all that came before it; `"action"`: the action, see below.
#' @param when For states: `"before"` the action of the visit, when it is chosen, or
#'   `"after"` it, with what was seen.
#' @param ... Not used.
#' @return `predict()`: a data frame with one row per visit, in the order of the rows of
#'   `visits`, and one column per state (or per observation, or per action). Rows sum to 1. Entries that depend on a
#'   missing action are `NA`. `simulate()`:
#'   trajectories ([trajectories()]) with columns `id` (numbered by first appearance),
#'   `time` (from 0), `action`, `observation` and, if asked for, `state`, the state that the
#'   observation comes from. With `start_by` ([fit_iohmm()]) they also have the columns that name the groups.
#' @family dynamics
#' @export
#' @examples
#' plan <- plan_agent(tiger_setting(), bounded_agent(alpha = 20))
#' visits <- simulate(plan, nsim = 100, seed = 1, horizon = 10)
#' iohmm <- fit_iohmm(visits, states = 2, starts = 4, sort_by = "hear_right", seed = 1)
#' head(cbind(visits, predict(iohmm, visits)))
#' head(predict(iohmm, type = "observation"))
#' simulate(iohmm, seed = 1)
predict.ibrc_iohmm <- function(object, visits = NULL, type = c("filter", "smooth", "observation", "action"),
                               when = c("before", "after"), ...) {
  check_unused(...)
  type <- check_choice(type, c("filter", "smooth", "observation", "action"), "type")
  when <- check_choice(when, c("before", "after"), "when")
  coded <- coded_visits(object, visits, "predict()")
  known <- with_some_action(coded)
  chains <- iohmm_chains(known)
  expected <- expect_states(object, chains, known)
  before <- expected$filter[, chains$visit, drop = FALSE]
  if (type == "observation") {
    out <- observation_chances(object, before, known$action + 1L)
  } else if (type == "action") {
    out <- action_chances(object, before)
  } else {
    # The node after a visit is its child, which comes directly after it.
    out <- t(expected[[type]][, chains$visit + (when == "after"), drop = FALSE])
    colnames(out) <- object$states
  }
  if (type == "observation" || type != "action" && when == "after") out[is.na(coded$action), ] <- NA
  out[coded$row, ] <- out
  as.data.frame(out, optional = TRUE)
}

# Chances [visit, observation], from the state probabilities before the visit [state, visit].
observation_chances <- function(iohmm, states, action) {
  out <- matrix(0, ncol(states), length(iohmm$observations), dimnames = list(NULL, iohmm$observations))
  for (u in unique(action)) {
    mine <- which(action == u)
    moves <- matrix(iohmm$transition[, , u], nrow(states))
    shows <- matrix(iohmm$emission[, , u], nrow(states))
    out[mine, ] <- t(states[, mine, drop = FALSE]) %*% moves %*% shows
  }
  out
}

#' @rdname predict.ibrc_iohmm
#' @param nsim Number of copies of each trajectory. Copy `k` of the `i`-th of `n` trajectories
#'   has the `id` `(k - 1) * n + i`.
#' @param seed As in [stats::simulate()]: the generator's state is put back afterwards.
#'   `NULL` draws from the present state, and moves it on.
#' @param missing `"keep"`: what is missing in `visits` stays missing; `"fill"`: all observations are drawn.
#' @param states `TRUE` adds the column `state`.
#' @export
simulate.ibrc_iohmm <- function(object, nsim = 1, seed = NULL, visits = NULL, missing = c("keep", "fill"),
                                states = FALSE, ...) {
  check_unused(...)
  nsim <- check_count(nsim, "nsim", most = most_at_once)
  missing <- check_choice(missing, c("keep", "fill"), "missing")
  states <- check_flag(states, "states")
  coded <- coded_visits(object, visits, "simulate()", ends = FALSE)
  refuse_many_rows(nsim * as.numeric(length(coded$row)), 80, "nsim", "`nsim` = ", format_count(nsim), " times ",
                   plural(length(coded$row), "visit"), " would be ", format_count(nsim * as.numeric(length(coded$row))),
                   " visits", advice = "simulate fewer")
  n <- max(coded$trajectory) + 1L
  trajectory <- rep(coded$trajectory, nsim) + n * rep(seq_len(nsim) - 1L, each = length(coded$trajectory))
  action <- rep(coded$action, nsim) + 1L
  start <- rep(coded_starts(coded), nsim) + 1L
  drawn <- drawn_from(seed, draw_forwards(object, trajectory, action, start))
  if (missing == "keep") drawn$observation[rep(coded$observation < 0, nsim)] <- NA
  out <- data.frame(
    id = trajectory + 1L, time = drawn$visit - 1L, action = factor(object$actions[action], levels = object$actions),
    observation = factor(object$observations[drawn$observation], levels = object$observations)
  )
  if (states) out$state <- factor(object$states[drawn$state], levels = object$states)
  if (has_starts(object)) out <- add_group_columns(out, start_groups(object)[start], object$start_by)
  roles <- names(out)
  out <- new_ibrc_trajectories(out, roles[1], roles[2], roles[3], roles[4], roles[-(1:4)])
  attr(out, "seed") <- attr(drawn, "seed")
  out
}

# Draws all trajectories together, one visit at a time.
draw_forwards <- function(iohmm, trajectory, action, start = rep(1L, length(trajectory))) {
  first <- which(c(TRUE, diff(trajectory) != 0))
  visit <- sequence(diff(c(first, length(trajectory) + 1L)))
  choose <- function(law) {
    # One row per draw. It draws the first column whose cumulative probability exceeds a uniform number.
    law <- matrix(law, ncol = ncol(law))
    cumulated <- law
    for (k in seq_len(ncol(law))[-1]) cumulated[, k] <- cumulated[, k - 1] + law[, k]
    level <- stats::runif(nrow(law)) * cumulated[, ncol(law)]
    max.col(cumulated > level, "first")
  }
  n_states <- length(iohmm$states)
  state <- observation <- integer(length(trajectory))
  rows <- first
  now <- choose(start_matrix(iohmm)[start[first], , drop = FALSE])
  step <- aperm(iohmm$transition, c(1, 3, 2))
  show <- aperm(iohmm$emission, c(1, 3, 2))
  n_actions <- length(iohmm$actions)
  step <- matrix(step, n_states * n_actions)
  show <- matrix(show, n_states * n_actions)
  while (length(rows)) {
    at <- n_states * (action[rows] - 1L)
    now <- choose(step[at + now, , drop = FALSE])
    state[rows] <- now
    observation[rows] <- choose(show[at + now, , drop = FALSE])
    more <- rows < length(trajectory) & visit[pmin(rows + 1L, length(trajectory))] > 1L
    rows <- rows[more] + 1L
    now <- now[more]
  }
  list(visit = visit, state = state, observation = observation)
}
