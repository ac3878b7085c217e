#' Plan where beliefs have a worth of their own
#'
#' The belief-aware planner works as [plan_pomdp()] does, for somebody to whom it matters what is believed, not only
#' what is true. A doctor may want to be sure; a patient may be afraid to know. The worth of a belief is added to the
#' expected utility of the state.
#'
#' The worth is evaluated at the nodes of the lattice and is linear between them. With a worth of 0 the plan is exactly
#' that of [plan_pomdp()]. The plan is also the same if the utility is given as a worth of beliefs instead, as its mean
#' over the states.
#'
#' @inheritParams plan_pomdp
#' @param setting A setting ([decision_setting()]).
#' @param belief_utility The worth of beliefs: a bonus for being sure ([certainty_bonus()]) or any function of a
#'   matrix of beliefs (one column per state) and the name of an action that returns one number per row.
#'   `NULL`: the setting's own, if it has one.
#'
#' @return A plan of class `ibrc_planned`. It is read in the same way as a plan of [plan_agent()].
#' @seealso [planners()] for the other planners.
#' @references Araya-Lopez, Buffet, Thomas and Charpillet (2010), A POMDP extension with belief-dependent rewards,
#'   *NeurIPS*. Fehr, Buffet, Thomas and Dibangoye (2018), rho-POMDPs have Lipschitz-continuous epsilon-optimal value
#'   functions, *NeurIPS*.
#' @family framework
#' @export
#' @examples
#' # Somebody who likes to be sure listens for longer.
#' sure <- plan_belief_aware(tiger_setting(), certainty_bonus(30, above = 0.9, full = 0.99),
#'                           resolution = 40)
#' plain <- plan_pomdp(tiger_setting(), resolution = 40)
#' policy(sure, c(0.97, 0.03))
#' policy(plain, c(0.97, 0.03))
plan_belief_aware <- function(setting, belief_utility = NULL, resolution = 100, models = NULL) {
  check_given(setting)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  if (!is.null(belief_utility)) {
    setting$belief_utility <- belief_utility
    setting <- validate_ibrc_setting(setting)
  }
  given <- setting$belief_utility
  words <- if (is.null(given)) "none" else belief_utility_words(given)
  plan_optimum(build_problem(setting, models, resolution), "belief_aware", list(worth_of_beliefs = words))
}
