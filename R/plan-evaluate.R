#' The value of any given behaviour
#'
#' What an agent's visits would be worth, including its complexity costs, if it acted by
#' another policy or weighed the models differently. For the plan's own policies this
#' is the plan's value. For positive `alpha` and `beta` no others do better.
#'
#' @param plan A plan ([plan_agent()]): its setting, agent, models and lattice.
#' @param policy Probabilities `[node, action]`, or a function of a matrix of
#'   beliefs that returns them. They do not depend on what was done before. The plan's own by default.
#' @param sigma Model weights `[node, action, model]`. The plan's own by default.
#' @param beliefs Where to read the value; the nodes by default.
#' @return A numeric vector with one value per belief. For an agent with a habit, these are values at a first visit.
#' @family planning
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5, optimism = 0.8), diag_models())
#' always_monitor <- function(beliefs) {
#'   cbind(declare_healthy = rep(0, nrow(beliefs)), declare_diseased = 0, monitor = 1)
#' }
#' value(plan, c(0.5, 0.5))
#' evaluate_policy(plan, always_monitor, beliefs = c(0.5, 0.5))
evaluate_policy <- function(plan, policy = NULL, sigma = NULL, beliefs = NULL) {
  check_given(plan)
  check_belief_plan(plan)
  where <- beliefs_of(plan, beliefs)
  policy <- as_node_policy(policy, plan)
  sigma <- as_node_sigma(sigma, plan)
  refuse_infinite_cost(plan, policy, sigma)
  numbers <- plan$problem
  # For planners this is the price of deliberating, which may differ from the temperature of their choices.
  numbers$alpha <- plan$agent$alpha
  result <- .Call(ffi_policy_value, plan$tables, numbers, policy, sigma, plan$report$tolerance, 10000L, 1L)
  refuse_unsolved(result, plan$report$tolerance)
  interpolate_at(plan$space, result$value[seq_len(plan$space$n_nodes)], where)
}

# A policy as kernels read it, [action, node].
as_node_policy <- function(policy, plan) {
  if (is.null(policy)) return(policies_of(plan))
  if (is.function(policy)) {
    by_belief <- policy
    policy <- at_nodes(plan$space, function(beliefs) call_user(by_belief, beliefs, argument = "policy"))
  }
  size <- c(plan$tables$n_nodes, length(plan$setting$actions))
  if (!is.numeric(policy) || !identical(dim(policy), size)) {
    abort_input("policy", "must be a matrix of ", size[1], " nodes by ", size[2], " actions, not ",
                describe(policy), ".")
  }
  if (!is.null(colnames(policy))) {
    policy <- policy[, match_names(colnames(policy), plan$setting$actions, "policy", "actions"), drop = FALSE]
  }
  t(check_probability_rows(policy, "policy"))
}

# [model, action, node]
as_node_sigma <- function(sigma, plan) {
  if (is.null(sigma)) return(plan$solution$sigma)
  size <- c(plan$tables$n_nodes, length(plan$setting$actions), n_models(plan$models))
  if (!is.numeric(sigma) || !identical(dim(sigma), size)) {
    abort_input("sigma", "must be an array of ", paste(size, c("nodes", "actions", "models"), collapse = " by "),
                ", not ", describe(sigma), ".")
  }
  flat <- matrix(sigma, size[1] * size[2], size[3])
  aperm(array(check_probability_rows(flat, "sigma"), size), c(3, 2, 1))
}

# If a prior is 0, or a price is infinite, departing from the prior has no finite cost.
refuse_infinite_cost <- function(plan, policy, sigma) {
  prior <- plan$problem$action_prior
  # By node, or by node and last action (policies_of()).
  by_place <- matrix(policy, length(prior))
  if (any(by_place[prior == 0, ] > 0)) {
    abort_input("policy", "takes an action whose prior probability is 0, at infinite cost.")
  }
  weights <- plan$problem$model_weights
  if (any(sigma[weights == 0, , ] > 0)) {
    abort_input("sigma", "believes a model whose prior weight is 0, at infinite cost.")
  }
  own <- length(dim(policy)) > 2
  departs <- max(abs(by_place - prior)) > 1e-10 || habit_of(plan$agent) != 0
  if (is.infinite(plan$agent$alpha) && !own && departs) {
    abort_input("policy", "differs from the action prior, at infinite cost: the agent has flexibility 0.")
  }
  if (is.infinite(plan$agent$beta) && max(abs(sigma - as.vector(weights))) > 1e-10) {
    abort_input("sigma", "differs from the prior weights, at infinite cost: the agent has optimism 0.")
  }
}
