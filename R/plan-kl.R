#' Plan where leaving an action prior has a price
#'
#' The plan of an agent that sees the state and pays `alpha` for each nat (the unit of information, 1.44 bits) by which
#' its choices depart from a prior over actions. This is a KL-regularised Markov decision process.
#'
#' Action values Q and values V of states are those that satisfy both
#'
#' \deqn{Q(s, u) = \upsilon(s, u) + \gamma \sum_{s'} \tau(s' | s, u) V(s')}{
#'   Q(s, u) = utility(s, u) + discount * sum over s' of P(s' | s, u) V(s')}
#' and
#' \deqn{V(s) = \alpha \log \sum_u \tilde\pi(u) e^{Q(s, u) / \alpha},}{
#'   V(s) = alpha * log(sum over u of prior(u) * exp(Q(s, u) / alpha)),}
#'
#' and actions are taken in proportion to `prior * exp(Q / alpha)`. If the future does not count (discount 0), that is
#' `prior * exp(utility / alpha)`, a softmax of the utility.
#'
#' This is bounded rational control ([plan_agent()]) in a setting in which the state is seen and only deciding has a
#' price. The same kernels work it out. [plan_soft_q_learning()] rewards entropy instead. This shifts its values by
#' `alpha * log(number of actions) / (1 - discount)`. Its policy is the same as here under a uniform prior.
#'
#' @param setting A setting in which the state is seen (`emission = "identity"` in [decision_setting()]).
#' @param alpha The price of a nat, in the unit of the utility. 0 always takes the best action, `Inf` follows the prior.
#' @param action_prior What is done without deliberating: probabilities over the actions, by name or in their order.
#'   Uniform by default.
#' @param tolerance How far values may be from the exact ones, as a share of the largest possible value: the
#'   largest absolute utility, divided by 1 - discount. If rounding is coarser than that, rounding decides.
#'
#' @return A plan, of class `ibrc_planned` and `ibrc_plan`: see [plan_mdp()].
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
#' plan <- plan_kl(ward, alpha = 0.5, action_prior = c(wait = 0.7, treat = 0.3))
#' plan
#' policy(plan)
#' complexity(plan)
plan_kl <- function(setting, alpha, action_prior = NULL, tolerance = 1e-10) {
  check_given(setting, alpha)
  check_observed(setting)
  alpha <- check_price(alpha)
  prior <- check_action_prior(action_prior, setting)
  tolerance <- check_positive(tolerance, "tolerance")
  problem <- observed_problem(setting)
  parameters <- list(alpha = alpha)
  if (!is.null(action_prior)) parameters$action_prior <- prior
  plan_by_solving(problem, "kl", bounded_agent(alpha = alpha, action_prior = prior), parameters,
                  solve_tolerance(problem, tolerance))
}

# A price is at least 0 and may be infinite. A zero has no sign here.
check_price <- function(alpha, argument = "alpha") {
  alpha <- check_number(alpha, argument)
  if (alpha < 0) abort_input(argument, "must be at least 0; it is ", format(alpha), ".")
  abs(alpha)
}

# Probabilities over the actions of a setting, named; NULL stays what it is.
check_action_prior <- function(action_prior, setting) {
  if (!is.null(action_prior)) check_distribution(action_prior, setting$actions, "action_prior", of = "actions")
}
