#' Plan by a fixed number of soft backups, with derivatives
#'
#' A differentiable planner works out its policy by a fixed computation. Here it is a fixed number of soft backups that
#' start from values of 0. Therefore everything that the planner does has derivatives with respect to everything that it
#' wants and believes. Methods that learn utilities or dynamics from behaviour send gradients through such planners.
#'
#' Each backup adds the discounted mean value of the next state to the utility of an action. From these action values Q
#' it makes a value of the state, `alpha * log(mean(exp(Q / alpha)))`, as [plan_agent()] does for an agent without
#' preference among actions at the outset. The policy is the softmax of the last action values. With more and more steps
#' it approaches that of [plan_kl()] and of [plan_agent()]. With few steps, the planner looks only that many visits
#' ahead. `bound` of [glance()][tidy.ibrc_plan] says how far the values may still be from that limit.
#'
#' @param setting A setting in which the state is seen ([decision_setting()] with `emission = "identity"`).
#' @param alpha The temperature, greater than 0: the price of departing from the uniform choice, per nat, in the unit of
#'   the utility.
#' @param steps Number of backups.
#' @return A plan of class `ibrc_planned`. Every function that reads an `ibrc_plan` reads it: see [plan_agent()].
#' @seealso [plan_gradient()] for its derivatives.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)), treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -4), treat = c(-2, -3)), discount = 0.9
#' )
#' policy(plan_differentiable(setting, alpha = 0.5, steps = 1))
#' policy(plan_differentiable(setting, alpha = 0.5, steps = 200))
plan_differentiable <- function(setting, alpha, steps = 100) {
  check_given(setting, alpha)
  check_observed(setting)
  alpha <- check_positive(alpha, "alpha")
  steps <- check_count(steps, "steps", most = 1e6)
  problem <- observed_problem(setting)
  unrolled <- unroll_forward(unroll_inputs(problem, alpha), steps)
  if (!all(is.finite(unrolled$action_value))) {
    abort("convergence", "The values are not finite: utilities are too large for a double. Rescale them.",
          argument = "setting")
  }
  # Every later backup changes values by at most `discount` times as much as the one before it.
  still <- setting$discount / (1 - setting$discount) * max(abs(unrolled$value - unrolled$before))
  plan_with_values(problem, "differentiable", alpha, unrolled$action_value, unrolled$value,
                   parameters = list(alpha = alpha, steps = steps), report = list(bound = still, backups = steps))
}

# What both passes read. Transitions are given by rows. Those of an array include the zeros, because a probability of 0
# has a derivative too.
unroll_inputs <- function(problem, alpha) {
  list(dynamics = unroll_dynamics(problem$setting), utility = problem$reward, discount = problem$setting$discount,
       alpha = alpha)
}

unroll_dynamics <- function(setting) {
  law <- setting$transition
  if (is_by_rows(law)) return(stack_models(own_model(setting)))
  n_states <- dim(law)[1]
  n_rows <- n_states * dim(law)[3]
  list(n_states = n_states, n_actions = dim(law)[3], n_obs = n_states, n_models = 1L,
       row_start = as.integer(n_states * seq.int(0, n_rows)), to = rep.int(seq_len(n_states) - 1L, n_rows),
       chance = as.vector(aperm(unname(law), c(2, 1, 3))))
}

# Takes `n` steps from `value`. Returns values [state, n + 1], with `value` first, and the last action_value
# [state, action].
unroll_steps <- function(inputs, value, n) {
  .Call(ffi_unroll_forward, inputs$dynamics, inputs$utility, inputs$discount, inputs$alpha, value, as.integer(n))
}

# The steps are taken in pieces, and only the values at the beginning of each piece are kept. The backward pass then
# needs to hold only these and the values inside one piece. There are about as many pieces as steps in each.
unroll_forward <- function(inputs, steps) {
  in_piece <- ceiling(sqrt(steps))
  sizes <- rep(in_piece, steps %/% in_piece)
  if (steps %% in_piece) sizes <- c(sizes, steps %% in_piece)
  starts <- vector("list", length(sizes))
  value <- numeric(nrow(inputs$utility))
  for (piece in seq_along(sizes)) {
    starts[[piece]] <- value
    run <- unroll_steps(inputs, value, sizes[piece])
    value <- run$values[, sizes[piece] + 1]
  }
  list(value = value, before = run$values[, sizes[piece]], action_value = run$action_value, starts = starts,
       sizes = sizes)
}

# `slope` [state] is the derivative with respect to the last values. `weights` [state, action] are those of the log
# policy, or NULL.
unroll_reverse <- function(inputs, forward, slope, weights) {
  total <- NULL
  for (piece in rev(seq_along(forward$sizes))) {
    n <- forward$sizes[piece]
    values <- unroll_steps(inputs, forward$starts[[piece]], n)$values[, seq_len(n), drop = FALSE]
    back <- .Call(ffi_unroll_reverse, inputs$dynamics, inputs$utility, inputs$discount, inputs$alpha, values, slope,
                  if (is.null(total)) weights)
    slope <- back$slope
    parts <- back[c("utility", "transition", "discount", "alpha")]
    total <- if (is.null(total)) parts else Map(`+`, total, parts)
  }
  total
}

#' Derivatives of a differentiable plan
#'
#' How much the behaviour of a planner, or the worth of its visits, changes with the utility, the discount, the
#' temperature and each transition probability. Derivatives are worked out backwards through the planner's own steps
#' (reverse mode). This takes about as long as three plans, however many parameters there are.
#'
#' With `of = "policy"`, `sum(weights * log(policy))` is differentiated. If the weights count how often each action
#' was taken in each state, this is the log probability of those actions. Its gradient is then the direction in which
#' utilities explain the actions better. With `of = "value"`, `sum(weights * value)` is differentiated, by default the
#' value at the start.
#'
#' @param plan A plan by [plan_differentiable()].
#' @param weights For `"policy"`, a matrix `[state, action]` of any numbers. For `"value"`, one number per state; by
#'   default the probabilities of the first state.
#' @param of What is differentiated, `"policy"` or `"value"`.
#' @return An object of class `ibrc_gradient`, a list: `objective`, the number that is differentiated; its derivatives
#'   `utility` `[state, action]`, `discount` and `alpha`; and `transition`, an array `[from, to, action]`. If the
#'   setting was given by its possible transitions only (see *Many states* in [decision_setting()]), `transition` is a
#'   data frame with one row per possible transition and the columns `from`, `to`, `action` and `gradient`. Each
#'   probability is treated as a number of its own. The probabilities of a row sum to 1, so only differences within a
#'   row matter.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)), treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -4), treat = c(-2, -3)), discount = 0.9
#' )
#' plan <- plan_differentiable(setting, alpha = 0.5)
#' # The ill were treated 8 times out of 10.
#' counts <- rbind(well = c(wait = 9, treat = 1), ill = c(wait = 2, treat = 8))
#' plan_gradient(plan, counts)
#' plan_gradient(plan, of = "value")$utility
plan_gradient <- function(plan, weights = NULL, of = c("policy", "value")) {
  check_given(plan)
  if (!inherits(plan, "ibrc_planned") || !identical(plan$planner, "differentiable")) {
    abort_input("plan", "must come from plan_differentiable(), not ", describe(plan), ".",
                topic = "plan_differentiable")
  }
  of <- check_choice(of, c("policy", "value"), "of")
  setting <- plan$setting
  weights <- if (of == "policy") policy_weights(weights, setting) else value_weights(weights, setting)
  inputs <- unroll_inputs(plan, plan$parameters$alpha)
  forward <- unroll_forward(inputs, plan$parameters$steps)
  slope <- if (of == "value") unname(weights) else numeric(length(setting$states))
  found <- unroll_reverse(inputs, forward, slope, if (of == "policy") weights)
  log_policy <- (forward$action_value - forward$value) / inputs$alpha - log(length(setting$actions))
  objective <- if (of == "policy") sum(weights * log_policy) else sum(weights * forward$value)
  if (!all(is.finite(c(unlist(found), objective)))) {
    abort("convergence", "The derivatives are not finite: `alpha` is too small, or `weights` are too large, for the ",
          "utilities of the setting. Rescale them.", argument = "plan")
  }
  new_ibrc_gradient(of, objective, found, setting)
}

new_ibrc_gradient <- function(of, objective, found, setting) {
  named <- list(state = setting$states, action = setting$actions)
  structure(list(of = of, objective = objective, utility = matrix(found$utility, nrow(found$utility), dimnames = named),
                 discount = found$discount, alpha = found$alpha,
                 transition = transition_gradient(found$transition, setting)), class = "ibrc_gradient")
}

# In the form in which the setting has its transitions.
transition_gradient <- function(by_entry, setting) {
  law <- setting$transition
  if (!is_by_rows(law)) {
    turned <- aperm(array(by_entry, dim(law)[c(2, 1, 3)]), c(2, 1, 3))
    dimnames(turned) <- list(from = setting$states, to = setting$states, action = setting$actions)
    return(turned)
  }
  row <- entry_rows(law) - 1L
  name <- function(at, names) factor(names[at], levels = names)
  data.frame(from = name(row %% law$size[1] + 1L, setting$states), to = name(law$to, setting$states),
             action = name(row %/% law$size[1] + 1L, setting$actions), gradient = by_entry)
}

policy_weights <- function(weights, setting) {
  if (is.null(weights)) {
    abort_input("weights", "must be given: a matrix [state, action], such as how often each action was taken.")
  }
  unname(as_utility(weights, setting$states, setting$actions, "weights"))
}

value_weights <- function(weights, setting) {
  if (is.null(weights)) return(mean_start(setting))
  if (!is.numeric(weights) || !is.null(dim(weights)) || length(weights) != length(setting$states) ||
      !all(is.finite(weights))) {
    abort_input("weights", "must be one finite number per state (", length(setting$states), ") where `of` is ",
                "\"value\", not ", describe(weights), ".")
  }
  if (!is.null(names(weights))) {
    weights <- weights[match_names(names(weights), setting$states, "weights", "states")]
  }
  as.numeric(weights)
}

#' @export
format.ibrc_gradient <- function(x, ...) {
  number <- function(v) format_plain(v, digits = 4)
  law <- if (is.data.frame(x$transition)) x$transition$gradient else x$transition
  c(
    paste0("Derivatives of ", if (x$of == "policy") "weighted log policies" else "weighted values", ", which are ",
           number(x$objective), " in all"),
    paste0("  by the discount    ", number(x$discount)),
    paste0("  by alpha           ", number(x$alpha)),
    paste0("  by utilities       ", plural(length(x$utility), "number"), " from ", number(min(x$utility)), " to ",
           number(max(x$utility))),
    paste0("  by transitions     ", plural(length(law), "number"), " from ", number(min(law)), " to ", number(max(law)))
  )
}

#' @export
print.ibrc_gradient <- function(x, most = 12, ...) {
  writeLines(format(x))
  if (nrow(x$utility) <= most) {
    cat("\nby the utility of an action in a state\n")
    print(x$utility, digits = 4)
  }
  invisible(x)
}
