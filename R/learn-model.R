# What models that learn behaviour without a stated problem have in common: the names in the visits, visits coded by
# them, and the methods of a decision model. For each class, action_law_of() says how likely each action is at coded
# visits.

# Names of what is done and seen: the part of a setting that is needed to code visits.
learned_words <- function(visits, actions = NULL, observations = NULL) {
  check_visits(visits)
  plain <- plain_visits(visits)
  roles <- attr(plain, "roles")
  names_of <- function(given, column, argument) {
    if (is.null(given)) levels_of(plain[[column]]) else check_names(given, argument)
  }
  words <- list(actions = names_of(actions, roles$action, "actions"),
                observations = names_of(observations, roles$observation, "observations"), stop_actions = character())
  if (length(words$actions) < 2) {
    abort("data", "`visits` have fewer than two actions: there is nothing to tell apart. Name all possible actions ",
          "in `actions`.", argument = "visits")
  }
  words
}

# Coded visits, with the place of each in its trajectory, counted from 1.
learned_visits <- function(visits, words, argument = "visits") {
  coded <- code_visits(visits, words, argument)
  coded$place <- sequence(rle(coded$trajectory)$lengths)
  coded
}

# Refuses visits from which nothing can be learned.
check_teaching <- function(coded) {
  if (any(coded$scored)) return(invisible())
  abort("data", "`visits` have no scored action: there is nothing to learn from.", argument = "visits")
}

# Probabilities [visit, action], in the order of coded visits.
action_law_of <- function(object, coded) UseMethod("action_law_of")

#' What learned behaviour says about visits
#'
#' Models that learn behaviour without a stated problem ([fit_baseline()], [fit_rnn()], [fit_iohmm_bc()],
#' [fit_po_irl()]) answer `predict()` and `log_lik()` like every other decision model, see [predict.ibrc_plan()].
#'
#' @param object A model of behaviour, from [fit_baseline()], [fit_rnn()], [fit_iohmm_bc()] or [fit_po_irl()].
#' @param visits Trajectories ([trajectories()]). The model must have a name for every action and observation.
#' @param type `"action"`, the probability of each action.
#' @param ... Not used.
#' @return `predict()`: a data frame with one row per visit, in the order of the rows of `visits`, and one column per
#'   action. Rows sum to 1. `log_lik()`: the log probability of the scored actions of each trajectory, see [log_lik()].
#' @family decision models
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, nsim = 50, seed = 1)
#' model <- fit_baseline(visits, "previous_action")
#' head(cbind(visits, round(predict(model, visits), 3)))
#' sum(log_lik(model, visits))
predict.ibrc_learned <- function(object, visits, type = "action", ...) {
  check_unused(...)
  check_choice(type, "action", "type")
  if (missing(visits)) abort_input("visits", "must be given: trajectories to predict the actions of.")
  coded <- learned_visits(visits, object$words)
  law <- matrix(0, length(coded$row), length(object$words$actions), dimnames = list(NULL, object$words$actions))
  law[coded$row, ] <- action_law_of(object, coded)
  as.data.frame(law, optional = TRUE)
}

#' @rdname predict.ibrc_learned
#' @rawNamespace S3method(rstantools::log_lik, ibrc_learned)
#' @export
log_lik.ibrc_learned <- function(object, visits, ...) {
  check_unused(...)
  if (missing(visits)) abort_input("visits", "must be given: trajectories to judge by the model.")
  coded <- learned_visits(visits, object$words)
  each <- log(action_law_of(object, coded)[cbind(seq_along(coded$action), coded$action + 1L)])
  each[!coded$scored] <- 0
  stats::setNames(trajectory_sums(each, coded$trajectory), trajectory_names(visits))
}

# If a model does not learn what is seen, observations cannot be drawn.
#' @export
simulate.ibrc_learned <- function(object, nsim = 1, seed = NULL, ...) {
  abort_input("object", "knows what is done after what was seen, not what is seen: trajectories cannot be drawn from ",
              "it. fit_iohmm_bc() and fit_po_irl() learn both.")
}

#' @export
print.ibrc_learned <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

# Counts of what was learned from, for print() and glance().
taught_by <- function(coded) {
  list(trajectories = max(coded$trajectory) + 1L, visits = length(coded$action), scored = sum(coded$scored))
}

taught_words <- function(taught) {
  paste0("  learned from ", plural(taught$scored, "action"), " of ",
         plural(taught$trajectories, "trajectory", "trajectories"))
}

# Codes of what was done and seen `back` visits before each visit, counted from 1. The code is 0 before the first visit,
# and one more than the number of words if the value is missing.
earlier <- function(code, place, back, n_words) {
  at <- seq_along(code) - back
  out <- integer(length(code))
  there <- place > back
  seen <- code[at[there]]
  out[there] <- ifelse(is.na(seen) | seen < 0, n_words + 1L, seen + 1L)
  out
}
