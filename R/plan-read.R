#' Read a plan at any belief
#'
#' @param object A plan ([plan_agent()]).
#' @param beliefs A matrix or data frame with one column per state and one row per belief,
#'   or a vector for a single belief. By default the nodes of the plan's lattice.
#' @param last For `value()` and `policy()` of an agent with a habit ([bounded_agent()]), what was done at the visit
#'   before: the name of an action, or one per belief, with `NA` for none. `NULL` is a first visit, without one.
#' @param action For `model_weights()`, the action taken: one name, or one per
#'   belief.
#' @param ... Not used.
#'
#' @return `value()`: a numeric vector, the discounted worth that the agent expects from each belief
#'   on. `policy()`: a matrix `[belief, action]` of probabilities.
#'   `action_value()`: a matrix `[belief, action]`, the discounted worth of each action now and
#'   later. It does not depend on what was done before.
#'   `model_weights()`: a matrix `[belief, model]`, what the agent believes about
#'   the dynamics when it takes the action.
#' @family planning
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5, optimism = 0.8), diag_models())
#' beliefs <- rbind(c(0.5, 0.5), c(0.1, 0.9))
#' value(plan, beliefs)
#' policy(plan, beliefs)
#' action_value(plan, beliefs)
#' model_weights(plan, beliefs, "monitor")
#' @name read_plan
NULL

# The last action as kernels read it: counted from 0, and -1 if there is none. Without a habit any action will do.
last_positions <- function(plan, last, n) {
  if (is.null(last)) return(rep(-1L, n))
  last <- as_positions(last, plan$setting$actions, "last", "action", missing_ok = TRUE)
  last <- match_length(last, n, "last", "belief") - 1L
  last[is.na(last)] <- -1L
  last
}

n_read <- function(plan, beliefs) if (is.null(beliefs)) plan$space$n_nodes else nrow(beliefs)

#' @rdname read_plan
#' @export
value <- function(object, beliefs = NULL, ...) {
  check_given(object)
  UseMethod("value")
}

#' @rdname read_plan
#' @export
policy <- function(object, beliefs = NULL, ...) {
  check_given(object)
  UseMethod("policy")
}

#' @rdname read_plan
#' @export
action_value <- function(object, beliefs = NULL, ...) {
  check_given(object)
  UseMethod("action_value")
}

#' @rdname read_plan
#' @export
model_weights <- function(object, beliefs = NULL, action, ...) {
  check_given(object)
  UseMethod("model_weights")
}

#' @export
value.default <- function(object, beliefs = NULL, ...) not_a_plan(object)

#' @export
policy.default <- function(object, beliefs = NULL, ...) not_a_plan(object)

#' @export
action_value.default <- function(object, beliefs = NULL, ...) not_a_plan(object)

#' @export
model_weights.default <- function(object, beliefs = NULL, action, ...) not_a_plan(object)

not_a_plan <- function(object) check_belief_plan(object, "object")

# Refuses a plan that holds no beliefs.
check_belief_plan <- function(plan, argument = "plan") {
  if (inherits(plan, "ibrc_history_plan")) {
    abort_input(argument, "remembers its last visits and holds no beliefs, which are needed here. Read it with ",
                "policy(), predict(), log_lik() and simulate().", topic = "plan_history_q_learning")
  }
  check_class(plan, "ibrc_plan", argument, "plan_agent()")
}

# NULL stands for the nodes.
beliefs_of <- function(plan, beliefs) if (!is.null(beliefs)) as_beliefs(beliefs, plan$setting$states)

# Beliefs as kernels read them, [state, belief].
by_column <- function(beliefs) if (!is.null(beliefs)) t(beliefs)

#' @rdname read_plan
#' @export
value.ibrc_plan <- function(object, beliefs = NULL, last = NULL, ...) {
  check_unused(...)
  beliefs <- beliefs_of(object, beliefs)
  last <- last_positions(object, last, n_read(object, beliefs))
  first <- interpolate_at(object$space, object$solution$value, beliefs)
  if (is.null(object$solution$after) || all(last < 0)) return(first)
  after <- interpolate_at(object$space, t(object$solution$after), beliefs)
  ifelse(last < 0, first, after[cbind(seq_along(first), pmax(last, 0) + 1)])
}

#' @rdname read_plan
#' @export
policy.ibrc_plan <- function(object, beliefs = NULL, last = NULL, ...) {
  check_unused(...)
  beliefs <- beliefs_of(object, beliefs)
  last <- last_positions(object, last, n_read(object, beliefs))
  out <- t(.Call(ffi_policy, object, by_column(beliefs), last))
  colnames(out) <- object$setting$actions
  out
}

#' @export
action_value.ibrc_plan <- function(object, beliefs = NULL, ...) {
  check_unused(...)
  out <- interpolate_at(object$space, object$solution$action_value, beliefs_of(object, beliefs))
  colnames(out) <- object$setting$actions
  out
}

#' @export
model_weights.ibrc_plan <- function(object, beliefs = NULL, action, ...) {
  check_unused(...)
  beliefs <- beliefs_of(object, beliefs)
  if (missing(action)) abort_input("action", "must name the action taken; there are ",
                                   enumerate(object$setting$actions), ".")
  action <- as_positions(action, object$setting$actions, "action", "action")
  action <- match_length(action, n_read(object, beliefs), "action", "belief")
  out <- t(.Call(ffi_sigma, object, by_column(beliefs), action - 1L))
  colnames(out) <- names(object$models$weights)
  out
}

match_length <- function(x, n, argument, what) {
  if (length(x) == n) return(x)
  if (length(x) != 1) abort_input(argument, "has length ", length(x), " for ", plural(n, what), ".")
  rep(x, n)
}

#' Carry a belief over a visit
#'
#' The agent's own update: what it believes after an action and an observation,
#' averaged over the models with the weights that it gives them there. With a
#' missing observation (`NA`), the belief moves by prediction alone.
#'
#' @param plan A plan ([plan_agent()]).
#' @param belief One belief as a vector, or several as a matrix with one column per
#'   state.
#' @param action,observation Names, one for all beliefs or one per belief.
#' @return The next belief: a vector named by state if one belief was given, otherwise a
#'   matrix. An observation that no model can produce is an error.
#' @family planning
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5, optimism = 0.8), diag_models())
#' belief <- c(0.5, 0.5)
#' for (test in c("positive", "positive", "positive")) {
#'   belief <- update_belief(plan, belief, "monitor", test)
#'   print(belief)
#' }
update_belief <- function(plan, belief, action, observation) {
  check_given(plan, belief, action, observation)
  check_belief_plan(plan)
  beliefs <- as_beliefs(belief, plan$setting$states, "belief")
  action <- as_positions(action, plan$setting$actions, "action", "action")
  action <- match_length(action, nrow(beliefs), "action", "belief")
  seen <- as_positions(observation, plan$setting$observations, "observation", "observation", missing_ok = TRUE)
  seen <- match_length(seen, nrow(beliefs), "observation", "belief")
  seen[is.na(seen)] <- 0L
  step <- .Call(ffi_recognise, plan, stack_models(plan$models), t(beliefs), action - 1L, seen - 1L)
  bad <- which(step$code != 0)
  if (length(bad)) {
    abort("observation", "`observation` ", enumerate(plan$setting$observations[seen[bad[1]]]),
          " cannot follow action ", enumerate(plan$setting$actions[action[bad[1]]]),
          " from belief ", bad[1], " under any model that the agent holds possible.",
          argument = "observation", rows = bad)
  }
  out <- t(step$belief)
  colnames(out) <- plan$setting$states
  if (is.null(dim(belief))) out[1, ] else out
}

#' @importFrom generics tidy
#' @export
generics::tidy

#' A plan as a data frame
#'
#' @param x A plan ([plan_agent()]).
#' @param last For an agent with a habit, the action at the visit before. `NULL` is a first visit.
#' @param ... Not used.
#' @return `tidy()`: a data frame with one row for each node of the lattice and each action. It has one
#'   column per state with the belief, then `action`, `probability`,
#'   `action_value` and `value`. If the setting was given by its possible transitions only (see *Many
#'   states* in [decision_setting()]), nodes are states and the first column is `state`.
#'   `glance()`: one row about the plan. It has the number of `states`, `actions`, `observations`,
#'   `models` and `nodes`; the agent's `alpha`, `beta`, `eta` and `habit`; the `discount`; `value`, what the agent
#'   expects from the start on; `bound`, how near values are to the right ones; and `backups`, how many the solve took.
#' @family planning
#' @export
#' @examples
#' plan <- plan_agent(tiger_setting(), bounded_agent(alpha = 1), resolution = 10)
#' head(tidy(plan))
#' glance(plan)
tidy.ibrc_plan <- function(x, last = NULL, ...) {
  check_unused(...)
  n <- x$space$n_nodes
  if (length(last) > 1) abort_input("last", "must be the name of one action, or NULL.")
  law <- if (is.null(last)) x$solution$policy else t(policy(x, last = last))
  actions <- x$setting$actions
  node <- rep(seq_len(n), each = length(actions))
  data.frame(
    node_columns(x)[node, , drop = FALSE],
    action = factor(rep(actions, n), levels = actions),
    probability = as.vector(law),
    action_value = as.vector(x$solution$action_value),
    value = value(x, last = last)[node],
    check.names = FALSE, row.names = NULL
  )
}

#' @importFrom generics glance
#' @export
generics::glance

#' @rdname tidy.ibrc_plan
#' @export
glance.ibrc_plan <- function(x, ...) {
  check_unused(...)
  data.frame(states = length(x$setting$states), actions = length(x$setting$actions),
             observations = length(x$setting$observations), models = n_models(x$models), nodes = x$tables$n_nodes,
             alpha = x$agent$alpha, beta = x$agent$beta, eta = x$agent$eta, habit = habit_of(x$agent),
             discount = x$setting$discount,
             value = start_value(x), bound = x$report$bound, backups = x$report$backups)
}

# Beliefs to begin with, one per row, and how much each counts. It is the belief that is given, that of a group, or
# those of the setting.
begin_from <- function(plan, start) {
  setting <- plan$setting
  if (is.null(start)) return(list(beliefs = unname(start_matrix(setting)), share = start_shares(setting)))
  if (has_starts(setting) && is.character(start)) {
    at <- as_positions(start, start_groups(setting), "start", "group")
    start <- setting$start[at, , drop = FALSE]
  }
  start <- matrix(as_beliefs(start, setting$states, "start"), ncol = length(setting$states))
  if (nrow(start) != 1) abort_input("start", "must be one belief, not ", nrow(start), ".")
  list(beliefs = start, share = 1)
}

# The value at the start of a setting, on average over its groups.
start_value <- function(plan, start = NULL) {
  from <- begin_from(plan, start)
  sum(from$share * value(plan, from$beliefs))
}

# The belief of each node, for tables: one column per state or, if there may be thousands of states, the state.
node_columns <- function(plan) {
  states <- plan$setting$states
  if (is_vertices(plan$space) && is_by_rows(plan$setting$transition)) {
    return(data.frame(state = factor(states, levels = states)))
  }
  nodes <- node_beliefs(plan$space)
  colnames(nodes) <- states
  nodes
}
