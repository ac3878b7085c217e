# Learned dynamics as a decision model: how often each action is taken in each state. Actions stay inputs of the
# dynamics; nothing here changes what is learned about the dynamics.

# The expected number of times that each action was taken in each state, [state, action], by the laws of a fit. Actions
# that do not count are left out. If all count, the counts of transitions already contain this number.
expect_choices <- function(iohmm, coded) {
  if (all(coded$scored)) return(apply(iohmm$counts$transition, c(1, 3), sum))
  chains <- iohmm_chains(coded)
  smooth <- expect_states(iohmm, chains)$smooth[, chains$visit[coded$scored], drop = FALSE]
  action <- factor(iohmm$actions[coded$action[coded$scored] + 1L], levels = iohmm$actions)
  out <- vapply(split(seq_along(action), action), function(mine) rowSums(smooth[, mine, drop = FALSE]),
                numeric(nrow(smooth)))
  matrix(out, nrow(smooth), dimnames = list(from = iohmm$states, action = iohmm$actions))
}

# The law of the action in each state, [state, action]: its share, with one more count divided among all actions, so
# that an action that was never seen does not count as impossible.
choice_law <- function(iohmm) {
  count <- iohmm$choices + 1 / length(iohmm$actions)
  count / rowSums(count)
}

# Chances [visit, action], from the state probabilities before the visit [state, visit].
action_chances <- function(iohmm, states) {
  out <- crossprod(states, choice_law(iohmm))
  dimnames(out) <- list(NULL, iohmm$actions)
  out
}

#' @rdname log_lik
#' @rawNamespace S3method(rstantools::log_lik, ibrc_iohmm)
#' @export
log_lik.ibrc_iohmm <- function(object, visits = NULL, ...) {
  check_unused(...)
  coded <- coded_visits(object, visits, "log_lik()")
  known <- with_some_action(coded)
  chains <- iohmm_chains(known)
  before <- expect_states(object, chains, known)$filter[, chains$visit, drop = FALSE]
  each <- log(action_chances(object, before)[cbind(seq_along(coded$action), coded$action + 1L)])
  each[!coded$scored] <- 0
  stats::setNames(trajectory_sums(each, coded$trajectory), if (!is.null(visits)) trajectory_names(visits))
}
