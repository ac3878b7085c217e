#' Act on optimal values with noisy choices
#'
#' A Boltzmann-exploratory planner works out what each action would be worth if it acted optimally from then on. It
#' then takes better actions more often than worse ones, but not always. It does not foresee that it will err again: its
#' values are those of [plan_pomdp()]. An agent of maximum entropy ([max_entropy_agent()]) does foresee that. The two
#' differ unless the discount is 0.
#'
#' Between nodes of the lattice, values are interpolated first and then turned into probabilities.
#'
#' @inheritParams plan_pomdp
#' @param setting A setting ([decision_setting()]). If it has a worth of beliefs, that counts as well.
#' @param temperature How freely worse actions are taken, in the unit of the utility: a positive number, or a
#'   [boltzmann_agent()]. The probability of an action is proportional to `exp(action_value / temperature)`.
#'
#' @return A plan of class `ibrc_planned`. It is read in the same way as a plan of [plan_agent()]. [action_value()]
#'   gives the optimal action values that the planner acts on. [value()] is what its behaviour is really worth, which is
#'   less, because it errs.
#' @seealso [planners()] and [agents()] for the others.
#' @references Cesa-Bianchi, Gentile, Lugosi and Neu (2017), Boltzmann exploration done right, *NeurIPS*.
#' @family framework
#' @export
#' @examples
#' shaky <- plan_boltzmann(tiger_setting(), temperature = 5, resolution = 40)
#' shaky
#' value(plan_pomdp(tiger_setting(), resolution = 40), c(0.5, 0.5))
#' plan_boltzmann(diag_setting(), boltzmann_agent(0.5), resolution = 40)
plan_boltzmann <- function(setting, temperature, resolution = 100, models = NULL) {
  check_given(setting, temperature)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  if (inherits(temperature, "ibrc_boltzmann_agent")) temperature <- temperature$temperature
  temperature <- check_positive(temperature, "temperature")
  problem <- build_problem(setting, models, resolution)
  best <- solve_hard(problem)
  even <- rep(1 / length(setting$actions), length(setting$actions))
  worth <- worth_of_policy(problem, soft_choice(best$action_value, temperature, even)$policy)
  plan_with_values(problem, "boltzmann", temperature, best$action_value, worth, price = 0,
                   parameters = list(temperature = temperature), report = best$report)
}
