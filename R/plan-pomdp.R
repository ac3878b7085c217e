#' Plan where the state is hidden
#'
#' The model-based planner of a partially observable decision process: it knows the dynamics, keeps an unbiased belief
#' about the hidden state by Bayes' rule, and takes at each belief the action that is worth most now and later. This is
#' the yardstick of rationality: [plan_agent()] for the agent that deliberates perfectly and views the dynamics
#' neutrally ([optimal_agent()]).
#'
#' Values are worked out at the nodes of a lattice, beliefs that are multiples of `1 / resolution`, and are interpolated
#' between them. They are upper bounds of the exact ones, which fall as `resolution` doubles. Where the state is seen,
#' the states themselves are the nodes, `resolution` plays no part, and the plan is that of [plan_mdp()].
#'
#' @param setting A setting ([decision_setting()]). One that gives beliefs a worth of their own is for
#'   [plan_belief_aware()].
#' @param resolution Number of steps from 0 to 1 in each belief.
#' @param models What the planner believes about the dynamics ([model_prior()]), if that is not the setting's own; of
#'   several models each keeps its weight.
#'
#' @return A plan of class `ibrc_planned`, which is read as that of [plan_agent()] is: [value()], [policy()],
#'   [action_value()], [update_belief()], [occupancy()], [simulate()][simulate.ibrc_plan] and so on.
#' @seealso [planners()] for the others.
#' @references Smallwood and Sondik (1973), The optimal control of partially observable Markov processes over a finite
#'   horizon, *Operations Research*. Lovejoy (1991), Computationally feasible bounds for partially observed Markov
#'   decision processes, *Operations Research*.
#' @family framework
#' @export
#' @examples
#' # Behind one of two doors is a tiger; listening tells which, not surely.
#' plan <- plan_pomdp(tiger_setting(), resolution = 40)
#' plan
#' policy(plan, rbind(c(0.5, 0.5), c(0.97, 0.03)))
plan_pomdp <- function(setting, resolution = 100, models = NULL) {
  check_given(setting)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  if (!is.null(setting$belief_utility)) {
    abort_input("setting", "gives beliefs a worth of their own, which this planner does not look at: ",
                "plan with plan_belief_aware().", topic = "plan_belief_aware")
  }
  plan_optimum(build_problem(setting, models, resolution), "pomdp")
}

# The best that can be had of a problem whose models keep their weights; actions that are as good share what they get.
plan_optimum <- function(problem, planner, parameters = list()) {
  best <- solve_hard(problem)
  markov <- problem_markov(problem)
  near <- max(rough_width(markov, best$action_value), best$report$bound)
  found <- list(policy = near_best(best$action_value, 0 * best$action_value + near))
  # Close calls are settled to the last digit.
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
