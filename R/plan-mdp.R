#' Plan where the state is seen
#'
#' The rational plan for a setting in which the state is seen (a Markov decision process). Of all ways to act, it is the
#' one that is worth most from every state. This is the model-based planner of the framework ([planners()]). It is also
#' what [plan_agent()] works out for an agent without bounds.
#'
#' Three ways lead to the same plan:
#' * `"policy_iteration"` works out what a policy is worth, changes to actions that are better by these values, and
#'   repeats this until no action is better.
#' * `"value_iteration"` begins with values of 0. Again and again it works out what each action is worth if these values
#'   follow (each round is a *backup*), until bounds on the remaining error are within `tolerance`.
#' * `"linear_programme"` looks for the smallest values that no action can exceed, with the package \pkg{lpSolve}. It is
#'   meant for settings of up to a few hundred states.
#'
#' The last two are finished by policy iteration, so that all three end with the same plan. If several actions are
#' best, they share the probability. Two actions count as equal only if they differ by less than the rounding of
#' their values in that state. Bad states to which neither of them leads play no part. Stop actions only end
#' recorded trajectories: planning goes on after them, as in [plan_agent()].
#'
#' @param setting A setting in which the state is seen (`emission = "identity"` in [decision_setting()]).
#' @param method Which of the three ways to use.
#' @param tolerance How far values may be from the exact ones, as a share of the largest possible value: the
#'   largest absolute utility, divided by 1 - discount. If rounding is coarser than that, rounding decides.
#'
#' @return A plan, of class `ibrc_planned` and `ibrc_plan`. Read it with [value()], [policy()], [action_value()],
#'   [occupancy()], [tidy()][tidy.ibrc_plan] and [simulate()][simulate.ibrc_plan], and judge visits by it with
#'   [log_lik()] and [predict()][predict.ibrc_plan].
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
#' plan <- plan_mdp(ward)
#' plan
#' policy(plan)
#' value(plan_mdp(ward, method = "value_iteration")) - value(plan)
plan_mdp <- function(setting, method = c("policy_iteration", "value_iteration", "linear_programme"),
                     tolerance = 1e-8) {
  check_given(setting)
  check_observed(setting)
  method <- check_choice(method, c("policy_iteration", "value_iteration", "linear_programme"), "method")
  tolerance <- check_positive(tolerance, "tolerance")
  problem <- observed_problem(setting)
  wanted <- solve_tolerance(problem, tolerance)
  near <- switch(method,
                 value_iteration = iterate_values(problem, wanted),
                 linear_programme = list(value = programme_values(setting)))
  found <- markov_hard(as_markov(setting), value = near$value)
  hard_plan(problem, found, list(method = gsub("_", " ", method)), wanted, near$backups)
}

# The plan that markov_hard() found, with a bound on how far its values are from the right ones.
hard_plan <- function(problem, found, parameters, wanted, backups = NULL) {
  step <- back_up(problem, found$value)
  bound <- max(abs(step$gain)) + rounding_of_values(problem, step$value)
  if (bound > wanted) {
    refuse_unplanned(list(code = 1, backups = sum(1L, backups), bound = bound), wanted, "loosen `tolerance`, or ")
  }
  plan_with_values(problem, "mdp", 0, found$action_value, found$value, parameters = parameters,
                   report = list(bound = bound, tolerance = wanted,
                                 backups = if (is.null(backups)) NA_integer_ else backups),
                   best = found$policy > 0)
}

# Makes `repeats` + 1 backups in one call. The right values are the last ones plus something between the two numbers of
# `gain` (MacQueen's bounds). So they are within `width` of the last ones plus `shift`.
back_up <- function(problem, value, repeats = 0L) {
  numbers <- agent_problem(problem, bounded_agent())
  if (repeats > 0L) value <- .Call(ffi_backup, problem$tables, numbers, value, repeats - 1L, 1L)$value
  step <- .Call(ffi_backup, problem$tables, numbers, value, 0L, 1L)
  gain <- range(step$value - value) * problem$setting$discount / (1 - problem$setting$discount)
  list(value = step$value, gain = gain, shift = mean(gain), width = diff(gain) / 2)
}

rounding_of_values <- function(problem, value) {
  2 * .Machine$double.eps * max(abs(value)) / (1 - problem$setting$discount)
}

# Values with an error of at most `wanted`. Between calls of the kernel an interrupt is answered.
iterate_values <- function(problem, wanted) {
  value <- numeric(problem$space$n_nodes)
  backups <- 0L
  repeat {
    step <- back_up(problem, value, repeats = 9L)
    backups <- backups + 10L
    value <- step$value + step$shift
    close <- max(wanted / 4, rounding_of_values(problem, value))
    if (step$width <= close) return(list(value = value, backups = backups))
  }
}

# A programme with more states than this would take minutes.
most_programme_states <- 500

# The smallest values that are at least what each action is worth under them. Utilities are shifted to be positive, so
# that values are positive too.
programme_values <- function(setting) {
  n <- length(setting$states)
  if (n > most_programme_states) {
    abort_input("method", "= \"linear_programme\" is for up to ", most_programme_states, " states; this setting has ",
                format_count(n), ". Use \"policy_iteration\".")
  }
  markov <- as_markov(setting)
  worth <- do.call(rbind, lapply(markov$transition, function(law) diag(n) - markov$discount * as.matrix(law)))
  lowest <- min(markov$utility)
  found <- solve_linear(rep(1, n), worth, ">=", as.vector(markov$utility - lowest), free = FALSE)$x
  found + lowest / (1 - markov$discount)
}
