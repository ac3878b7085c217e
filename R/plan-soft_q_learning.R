#' Learn to act by trial, and stay random
#'
#' Q-learning ([plan_q_learning()]) for an agent to whom random choices are worth something: besides utility it gets
#' `alpha` for each nat of the entropy of its policy. This is soft Q-learning, the maximum-entropy learner of the
#' framework ([planners()]).
#'
#' The value of a pair that is tried moves towards
#'
#' \deqn{\upsilon(s, u) + \gamma V(s')}{utility(s, u) + discount * V(s')}
#' with
#' \deqn{V(s) = \alpha \log \sum_u e^{Q(s, u) / \alpha},}{V(s) = alpha * log(sum over u of exp(Q(s, u) / alpha)),}
#'
#' and actions are taken in proportion to `exp(Q / alpha)`. A nat is the unit of information, 1.44 bits.
#'
#' With more steps it comes arbitrarily near to soft value iteration. [plan_kl()] works that out in another form, in
#' which departing from a uniform prior has a price. Entropy is the logarithm of the number of actions, `log(n)`, less
#' that divergence. So policies are the same and values here are larger: `value()` by
#' `alpha * log(n) / (1 - discount)`, and `action_value()` by `discount` times that. [evaluate_policy()] and
#' [complexity()] count as [plan_kl()] does.
#'
#' @param alpha What a nat of entropy is worth, in the unit of the utility. Greater than 0.
#' @param exploration How likely an action is to be drawn at random, from 0 to 1; otherwise it follows the policy
#'   learned so far.
#' @inheritParams plan_q_learning
#'
#' @return A plan, of class `ibrc_planned` and `ibrc_plan`: see [plan_mdp()] and [plan_q_learning()].
#' @family framework
#' @export
#' @examples
#' ward <- decision_setting(
#'   states = c("well", "ill", "gone"), actions = c("wait", "treat"),
#'   observations = c("well", "ill", "gone"),
#'   transition = list(
#'     wait = rbind(c(0.9, 0.1, 0), c(0.2, 0.6, 0.2), c(0, 0, 1)),
#'     treat = rbind(c(0.9, 0.1, 0), c(0.7, 0.25, 0.05), c(0, 0, 1))
#'   ),
#'   emission = "identity", utility = cbind(wait = c(1, 0, -2), treat = c(0.5, -0.5, -2)),
#'   discount = 0.9, start = c(0.8, 0.2, 0)
#' )
#' learned <- plan_soft_q_learning(ward, alpha = 0.5, steps = 50000, seed = 1)
#' planned <- plan_kl(ward, alpha = 0.5)
#' policy(learned) - policy(planned)
#' value(learned) - value(planned)
#' 0.5 * log(2) / (1 - 0.9)
plan_soft_q_learning <- function(setting, alpha, steps = NULL, exploration = 0.5, patience = NULL,
                                 power = 1, episode = 10, seed = NULL) {
  check_given(setting, alpha)
  check_observed(setting)
  alpha <- check_positive(alpha, "alpha")
  schedule <- check_schedule(setting, steps, exploration, patience, power, episode)
  stream <- streams_from_seed(seed)[[1]]
  problem <- observed_problem(setting)
  n <- length(setting$actions)
  learned <- learn_values(problem, schedule, alpha, alpha * log(n), stream)
  value <- soft_choice(learned$action_value, alpha, rep(1 / n, n))$value + alpha * log(n)
  plan_with_values(problem, "soft_q_learning", alpha, learned$action_value, value,
                   parameters = c(list(alpha = alpha), schedule_words(schedule)),
                   report = learned_report(problem, learned, value, alpha, alpha * log(n) / (1 - setting$discount)))
}
