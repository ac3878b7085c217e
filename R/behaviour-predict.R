#' What a decision model says about each visit
#'
#' Everything in this package that predicts behaviour answers the same calls: a plan ([plan_agent()]), a fit
#' ([ibrc()]), a mode ([ibrc_mode()]) and learned dynamics ([fit_iohmm()]). They do so for the visits from which they
#' were made, and for others. `predict()` gives the probability of each action at each visit *before* the action was
#' seen, given what was done and seen in the same trajectory until then.
#'
#' @section The calls:
#' * `predict(object, visits, type = "action")`: one row per visit, and one column per action with its probability.
#' * [`log_lik(object, visits)`][log_lik]: the log probability of the actions of each trajectory. For a fit, it is given
#'   at draws from its posterior ([log_lik()][log_lik.ibrc_fit]).
#' * `simulate(object)`: new behaviour of a [plan][simulate.ibrc_plan], a [fit or a mode][simulate.ibrc_fit]. For
#'   [learned dynamics][simulate.ibrc_iohmm], what is seen after given actions.
#' * `print(object)`: what it is, on a console; `tidy(object)` and `glance(object)`: its numbers, and one row about it.
#'
#' The first two agree. Take the probabilities that `predict()` gives to the actions taken, at the visits of a
#' trajectory that count. The sum of their logarithms is `log_lik()`. For a fit this holds draw by draw
#' (`summary = FALSE`).
#'
#' @section What each of them predicts:
#' * A *plan*: the policy of its agent, at the belief that the agent holds after what was done and seen.
#' * A *mode*: the same for the agent at the estimates of the trajectory's group.
#' * A *fit*: the mean of that over draws from the posterior of the trajectory's group. All draws have the same weight.
#'   The earlier visits of a person who is new to the fit do not change the weights: such a person is treated as a
#'   member of the group, not as somebody whose bounds become known over time. For the visits from which a fit was made,
#'   the draws already know every action, including the predicted one. Such predictions are in sample, and score better
#'   than they would elsewhere.
#' * *Learned dynamics* ([predict()][predict.ibrc_iohmm]): how often each action was taken in each hidden state, for the
#'   state as far as it is known before the action. This involves no wishes and no plans.
#'
#' @section Holding out:
#' Visits that are not scored ([trajectories()]) stay in the data: they move beliefs, but their own actions do not
#' count. In this way a part of a trajectory can be held out. Fit with `scored` true only at the first visits of each
#' person. Then judge the same trajectories with `scored` true at the other visits. Every prediction of a later visit
#' then knows what came before it, and no later action has been fitted. [fit_iohmm()] learns dynamics also from what was
#' *seen* at visits that are not scored. To hold those out as well, learn the dynamics from the earlier rows only.
#'
#' @param object A plan ([plan_agent()]), a fit ([ibrc()]) or a mode ([ibrc_mode()]).
#' @param visits Trajectories ([trajectories()]), also of people who are new to the model. For a fit or a mode with
#'   groups they must have the columns that it was grouped by. If it was grouped by person, it knows nobody else. For a
#'   fit or a mode, `NULL` takes the visits from which it was made, trajectory by trajectory in order of first
#'   appearance. Actions may be missing, for example at the last visit of a trajectory, to ask what comes next. If
#'   starts differ ([decision_setting()]), they must have the columns in `start_by`, and no group whose start is not
#'   known.
#' @param type `"action"`, the probability of each action.
#' @param draws For a fit: how many draws to take, evenly spaced over the chains; `NULL` takes all of them.
#' @param summary For a fit: `TRUE` gives the mean over draws, `FALSE` each of them.
#' @param ... Not used.
#' @return A data frame with one row per visit, in the order of the rows of `visits`, and one column per action. Rows
#'   sum to 1. A row is `NA` if the agent has no belief there, because the plan itself rules out what came before. Then
#'   its agent is sure of models that do not allow what was seen, or an action is missing and no action that the agent
#'   would have taken leads to what was seen after it. (If a later action counts, [log_lik()] is then `-Inf`.) With
#'   `summary = FALSE` it is an array `[draw, visit, action]`, whose first dimension is named by the numbers of the
#'   draws (`.draw` in [as.data.frame()][as.data.frame.ibrc_fit]).
#' @seealso [augment()][augment.ibrc_fit] for beliefs, and for what a perfectly rational agent would have done;
#'   [kfold()], which fits again without the visits that it predicts.
#' @family decision models
#' @importFrom stats predict
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' visits <- simulate(plan, nsim = 40, seed = 1)
#' head(cbind(visits, round(predict(plan, visits, type = "action"), 3)))
#'
#' # Fit to the first three visits of each trajectory, and judge the rest.
#' data <- as.data.frame(visits)
#' data$early <- data$time < 3
#' data$late <- !data$early
#' mode <- ibrc_mode(trajectories(data, scored = "early"), setting, diag_models(),
#'                   ibrc_prior(alpha ~ lognormal(0, 1)), starts = 2, seed = 1)
#' sum(log_lik(mode, trajectories(data, scored = "late")))
predict.ibrc_plan <- function(object, visits, type = "action", ...) {
  check_unused(...)
  check_choice(type, "action", "type")
  if (missing(visits)) abort_input("visits", "must be given: trajectories to predict the actions of.")
  coded <- code_visits(visits, object$setting)
  tree <- build_histories(coded, object$setting)
  refuse_impossible_visits(coded, tree, object, taken = FALSE)
  law <- matrix(0, length(coded$row), length(object$setting$actions), dimnames = list(NULL, object$setting$actions))
  law[coded$row, ] <- action_law(object, tree)[tree$visit, , drop = FALSE]
  as.data.frame(law, optional = TRUE)
}

# The probability of each action at each history of a tree, [history, action]. NA if the agent has no belief there.
action_law <- function(plan, tree) {
  reading <- read_histories(plan, tree, beliefs = FALSE)
  law <- t(exp(reading$log_policy))
  law[impossible_histories(reading), ] <- NA
  law
}
