#' Plan where the state is hidden
#'
#' The model-based planner of a partially observable decision process. It knows the dynamics and keeps an unbiased
#' belief about the hidden state by Bayes' rule. At each belief it takes the action that is worth most now and later.
#' This is the standard of rationality: it is [plan_agent()] for the agent that deliberates perfectly and views the
#' dynamics neutrally ([optimal_agent()]).
#'
#' Values are worked out at the nodes of a lattice, which are beliefs in multiples of `1 / resolution`, and are
#' interpolated between them. They are upper bounds of the exact values, and these bounds fall as `resolution` doubles.
#' If the state is seen, the states themselves are the nodes, `resolution` plays no part, and the plan is that of
#' [plan_mdp()].
#'
#' @param setting A setting ([decision_setting()]). If it gives beliefs a worth of their own, use
#'   [plan_belief_aware()].
#' @param resolution Number of steps from 0 to 1 in each belief.
#' @param models What the planner believes about the dynamics ([model_prior()]), if not the setting's own. Each of
#'   several models keeps its weight.
#'
#' @return A plan of class `ibrc_planned`. It is read in the same way as a plan of [plan_agent()]: [value()],
#'   [policy()], [action_value()], [update_belief()], [occupancy()], [simulate()][simulate.ibrc_plan] and so on.
#' @seealso [planners()] for the other planners.
#' @references Smallwood and Sondik (1973), The optimal control of partially observable Markov processes over a finite
#'   horizon, *Operations Research*. Lovejoy (1991), Computationally feasible bounds for partially observed Markov
#'   decision processes, *Operations Research*.
#' @family framework
#' @export
#' @examples
#' # A tiger is behind one of two doors. Listening tells which, but not with certainty.
#' plan <- plan_pomdp(tiger_setting(), resolution = 40)
#' plan
#' policy(plan, rbind(c(0.5, 0.5), c(0.97, 0.03)))
plan_pomdp <- function(setting, resolution = 100, models = NULL) {
  check_given(setting)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  if (!is.null(setting$belief_utility)) {
    abort_input("setting", "gives beliefs a worth of their own, which this planner does not consider: ",
                "plan with plan_belief_aware().", topic = "plan_belief_aware")
  }
  plan_optimum(build_problem(setting, models, resolution), "pomdp")
}

# The optimum of a problem whose models keep their weights. Actions that are equally good share the probability.
plan_optimum <- function(problem, planner, parameters = list()) {
  best <- solve_hard(problem)
  markov <- problem_markov(problem)
  near <- max(rough_width(markov, best$action_value), best$report$bound)
  found <- list(policy = near_best(best$action_value, 0 * best$action_value + near))
  # If several actions are close, they are compared to the last digit.
  if (any(rowSums(found$policy) > 1)) found <- markov_hard(markov, value = best$value)
  best[names(found)] <- found
  plan_with_values(problem, planner, 0, best$action_value, best$value, parameters = parameters, report = best$report,
                   best = best$policy > 0)
}

# Its value [node] and action values [node, action].
solve_hard <- function(problem) {
  solved <- solve_planned(problem, bounded_agent(), solve_tolerance(problem))
  list(value = solved$solution$value, action_value = t(solved$solution$action_value), report = solved$report)
}

# What acting by probabilities [node, action] is worth at each node.
worth_of_policy <- function(problem, policy) plan_with_policy(problem, "rule", policy)$solution$value
