#' State a decision problem
#'
#' A decision setting says what there is to see, to do and to want: hidden states,
#' actions, observations, how states change, what is seen of them, what each
#' action is worth, and how strongly the future counts. It is the normative
#' side of an analysis: the investigator states everything here, and nothing
#' is inferred from behaviour.
#'
#' @param states,actions,observations Names, as character vectors without
#'   duplicates. Tables of a plan have columns such as `action` and `value` beside those of
#'   the states. A state cannot have one of these names.
#' @param transition Probabilities of the next state: an array
#'   `[from, to, action]`, a list of matrices (named by action, or in the order
#'   of `actions`), or one matrix for every action. Rows must sum to 1, with a tolerance of
#'   1e-8, and are then rescaled. Dimension names, if given, are matched.
#'   For a setting of many states in which the state is seen, see *Many states*.
#' @param emission Probabilities of what is seen after the action in the new
#'   state: an array `[to, observation, action]`, a list of matrices, one matrix
#'   for every action, or `"identity"`. With `"identity"` the state itself is seen, from the first
#'   observation on. (At the first visit the agent only knows `start`.)
#' @param utility A matrix `[state, action]`: the worth of taking an action in
#'   a state.
#' @param belief_utility Worth that depends on the belief itself rather than on
#'   the state: `NULL`, a bonus for being sure ([certainty_bonus()]), or any
#'   function of a matrix of beliefs (one column per state) and the name of an action
#'   that returns one number per row.
#' @param discount How much the next visit counts compared with this one, at least 0
#'   and less than 1.
#' @param start Probabilities of the first state. They are also the belief that an agent
#'   starts from. Uniform by default. If groups of trajectories start differently, give a matrix with one row per group
#'   and one column per state; see *Starts that differ*.
#' @param stop_actions Names of the actions that end a trajectory.
#' @param start_by With such a matrix, the names of the columns that say which group a trajectory is in. They are
#'   covariates of [trajectories()].
#'
#' @section Starts that differ:
#' Patients who are first examined at 80 are sicker than those first examined at 60, and doctors know it. If all
#' trajectories start with the same belief, this difference is mistaken for a difference between the doctors, above all
#' in optimism. Give `start` one row per group, and give `start_by` the columns. The rows have the names that `by` of
#' [ibrc()] gives to groups: the values of the column, or `"missing"`; the values of several columns are joined by a
#' comma and a space. [fit_iohmm()] learns such starts from visits. Everything else is shared, and so are the tables of
#' a plan. Each trajectory then begins with the belief of its own group of `start_by`, whether a fit is grouped `by` the
#' same columns, by others or not at all. This assumes that the decision maker knows the group and how its members
#' start. Some results belong to no trajectory: [occupancy()], and the value that [glance()][tidy.ibrc_plan] gives.
#' There each group has its share of the trajectories from which the dynamics were learned, or all weigh the same.
#' `plot()` of a plan starts from the mean of their beliefs.
#'
#' @section Many states:
#' If the state is seen (`emission = "identity"`) there may be thousands of states, and only
#' few can follow each of them. Give only the transitions that are possible: a list of sparse matrices of the
#' package \pkg{Matrix}, one per action (or one for every action), or a data frame with one row
#' per possible transition and the columns `from`, `to`, `action` and `probability`. States and
#' actions are given there by their names or by their numbers, counted from 1. Rows that agree in the
#' first three columns are added up. Such a setting is stored by rows: it is planned, simulated and fitted
#' without a number for each pair of states. [tidy()][tidy.ibrc_plan] and [occupancy()] of its
#' plans have one column `state`.
#'
#' @return An object of class `ibrc_setting`: a list with the elements above, where arrays have
#'   names, and `fully_observed`, which is `TRUE` if the emission is the identity.
#'   `summary()` prints its utility and laws.
#' @seealso [diag_setting()] and [tiger_setting()] for ready-made settings,
#'   [as_setting()] to import one, [plan_agent()] for what comes next.
#' @family problem statements
#' @aliases summary.ibrc_setting
#' @export
#' @examples
#' # A screening problem: wait, or treat. Either way a test of 80% accuracy follows.
#' screening <- decision_setting(
#'   states = c("well", "ill"),
#'   actions = c("wait", "treat"),
#'   observations = c("negative", "positive"),
#'   transition = list(
#'     wait = rbind(c(0.95, 0.05), c(0, 1)),
#'     treat = rbind(c(0.95, 0.05), c(0.7, 0.3))
#'   ),
#'   emission = rbind(c(0.8, 0.2), c(0.2, 0.8)),
#'   utility = cbind(wait = c(0, -4), treat = c(-2, -3)),
#'   discount = 0.9
#' )
#' screening
#'
#' # A walk through 1,000 rooms in a row. A step may fail. Only what is possible is given.
#' rooms <- 1000
#' here <- seq_len(rooms)
#' step <- function(action, by) {
#'   there <- pmin(pmax(here + by, 1), rooms)
#'   rbind(data.frame(from = here, to = there, action = action, probability = 0.9),
#'         data.frame(from = here, to = here, action = action, probability = 0.1))
#' }
#' walk <- decision_setting(
#'   states = paste("room", here), actions = c("back", "on"), observations = paste("room", here),
#'   transition = rbind(step("back", -1), step("on", 1)), emission = "identity",
#'   utility = cbind(back = rep(0, rooms), on = c(rep(-0.01, rooms - 1), 1)),
#'   discount = 0.99
#' )
#' walk
#' head(policy(plan_agent(walk, bounded_agent(alpha = 0.01))))
decision_setting <- function(states, actions, observations, transition, emission, utility,
                             belief_utility = NULL, discount, start = NULL,
                             stop_actions = character(), start_by = NULL) {
  check_given(states, actions, observations, transition, emission, utility)
  states <- check_names(states, "states")
  if (length(states) < 2) abort_input("states", "must name at least two states.")
  taken <- intersect(states, reserved_columns)
  if (length(taken)) {
    abort_input("states", "cannot be called ", enumerate(taken),
                ": tables have a column of that name beside the states.")
  }
  actions <- check_names(actions, "actions")
  observations <- check_names(observations, "observations")
  if (missing(discount)) {
    abort_input("discount", "must be given: how much the next visit counts compared with this one, such as 0.95.")
  }
  laws <- as_dynamics(transition, emission, states, actions, observations)
  if (!is.null(start_by)) start_by <- check_start_by(start_by)
  setting <- new_ibrc_setting(
    states = states,
    actions = actions,
    observations = observations,
    transition = laws$transition,
    emission = laws$emission,
    utility = as_utility(utility, states, actions),
    belief_utility = belief_utility,
    discount = check_discount(discount),
    start = if (is.null(start)) rep(1 / length(states), length(states)) else start,
    stop_actions = stop_actions
  )
  if (!is.null(start_by)) setting$start_by <- start_by
  validate_ibrc_setting(setting)
}

# Columns that stand beside those of the states in tables that the package returns.
reserved_columns <- c("action", "probability", "action_value", "value", "occupancy", "panel", "part", "visit",
                      "agent", "piece")

new_ibrc_setting <- function(states, actions, observations, transition, emission, utility,
                             belief_utility, discount, start, stop_actions) {
  structure(
    list(states = states, actions = actions, observations = observations,
         transition = transition, emission = emission, utility = utility,
         belief_utility = belief_utility, discount = discount, start = start,
         stop_actions = stop_actions, fully_observed = is_identity(emission)),
    class = "ibrc_setting"
  )
}

# Marks a setting whose dynamics were learned from visits: a fit that holds them fixed has to say so.
mark_learned <- function(setting) {
  setting$dynamics <- "learned"
  setting
}

validate_ibrc_setting <- function(setting) {
  setting$start <- check_start(setting$start, setting$states, setting$start_by)
  stops <- setting$stop_actions
  if (!is.null(stops) && !is.character(stops) && !is.factor(stops)) {
    abort_input("stop_actions", "must be names of actions, not ", describe(stops), ".")
  }
  if (length(stops)) {
    setting$stop_actions <- check_names(setting$stop_actions, "stop_actions")
    unknown <- setdiff(setting$stop_actions, setting$actions)
    if (length(unknown)) {
      abort_input("stop_actions", "names unknown actions ", enumerate(unknown), ".")
    }
  } else {
    setting$stop_actions <- character()
  }
  if (!is.null(setting$belief_utility)) {
    if (!is.function(setting$belief_utility)) {
      abort_input("belief_utility", "must be NULL, a certainty_bonus() or a function(beliefs, action), not ",
                  describe(setting$belief_utility), ".")
    }
    space <- open_space(vertices_space(length(setting$states)), setting$states)
    at_nodes(space, function(corners) belief_utility_at(setting, corners))
  }
  setting
}

as_utility <- function(x, states, actions, argument = "utility") {
  if (is.data.frame(x)) x <- as.matrix(x)
  if (!is.numeric(x) || length(dim(x)) != 2) {
    abort_input(argument, "must be a numeric matrix [state, action], not ", describe(x), ".")
  }
  size <- c(length(states), length(actions))
  if (!is.null(rownames(x)) && setequal(rownames(x), actions) && !setequal(actions, states)) {
    abort_input(argument, "has actions in its rows: rows are states and columns are actions. t() turns it round.")
  }
  if (!identical(dim(x), size)) {
    abort_input(argument, "is ", paste(dim(x), collapse = " by "), "; it must be ",
                size[1], " states by ", size[2], " actions.")
  }
  x <- order_by_names(x, list(state = states, action = actions), c("states", "actions"), argument)
  bad <- which(!is.finite(x), arr.ind = TRUE)
  if (nrow(bad)) {
    abort_input(argument, "is ", x[bad[1, , drop = FALSE]], " for state ", enumerate(states[bad[1, 1]]),
                " and action ", enumerate(actions[bad[1, 2]]), "; it must be finite.",
                rows = unique(bad[, 1]))
  }
  storage.mode(x) <- "double"
  x
}

is_identity <- function(emission) {
  if (identical(emission, "identity")) return(TRUE)
  size <- dim(emission)
  size[1] == size[2] && all(emission == rep(diag(size[1]), size[3]))
}

# [belief, action]: what the belief itself is worth.
belief_utility_at <- function(setting, beliefs) {
  out <- matrix(0, nrow(beliefs), length(setting$actions), dimnames = list(NULL, setting$actions))
  if (is.null(setting$belief_utility)) return(out)
  for (action in setting$actions) {
    worth <- call_user(setting$belief_utility, beliefs, action, argument = "belief_utility")
    if (!is.numeric(worth) || !length(worth) %in% c(1, nrow(beliefs)) || any(!is.finite(worth))) {
      abort_input("belief_utility", "must return one finite number per belief; for action ",
                  enumerate(action), " it returned ", describe(worth), ".")
    }
    out[, action] <- worth
  }
  out
}

# r(z, u) [node, action]: expected utility plus the worth of the belief.
reward_at_nodes <- function(setting, space) {
  mean <- expect_at_nodes(space, setting$utility)
  if (is.null(setting$belief_utility)) return(unname(mean))
  unname(mean + at_nodes(space, function(beliefs) belief_utility_at(setting, beliefs)))
}

#' @export
format.ibrc_setting <- function(x, ...) {
  c(
    paste0("A decision setting with ", plural(length(x$states), "state"), ", ",
           plural(length(x$actions), "action"), " and ", plural(length(x$observations), "observation"),
           if (x$fully_observed) " (the state is seen)"),
    paste0("  states        ", listing(x$states)),
    paste0("  actions       ", listing(ifelse(x$actions %in% x$stop_actions,
                                              paste0(x$actions, " (ends)"), x$actions))),
    if (!x$fully_observed) paste0("  observations  ", listing(x$observations)),
    if (is_by_rows(x$transition)) paste0("  transitions   ", format_rows(x$transition)),
    if (!is.null(x$belief_utility)) paste0("  belief worth  ", belief_utility_words(x$belief_utility)),
    paste0("  discount      ", format(x$discount)),
    if (has_starts(x)) c(paste0("  start         by ", listing(x$start_by)), paste0("    ", start_texts(x$start))) else
      paste0("  start         ", listing(paste(x$states, format(x$start, digits = 3, trim = TRUE))))
  )
}

#' @export
print.ibrc_setting <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

#' @export
summary.ibrc_setting <- function(object, ...) {
  structure(list(setting = object), class = "summary.ibrc_setting")
}

#' @export
print.summary.ibrc_setting <- function(x, digits = 3, ...) {
  setting <- x$setting
  print(setting)
  if (is_by_rows(setting$transition)) return(invisible(print_rows_summary(x, digits)))
  cat("\nUtility of an action in a state\n")
  print(setting$utility, digits = digits)
  if (!is.null(setting$belief_utility)) {
    cat("and a utility of the belief itself: ", belief_utility_words(setting$belief_utility), "\n", sep = "")
  }
  cat("\nNext state (rows: from)\n")
  for (action in setting$actions) {
    cat(" after ", action, "\n", sep = "")
    print(matrix_of(setting$transition, action), digits = digits)
  }
  if (!setting$fully_observed) {
    cat("\nWhat is seen (rows: the new state)\n")
    for (action in setting$actions) {
      cat(" after ", action, "\n", sep = "")
      print(matrix_of(setting$emission, action), digits = digits)
    }
  }
  invisible(x)
}

# A setting by rows may have thousands of rows. The first ones show what they look like.
print_rows_summary <- function(x, digits, most = 6) {
  setting <- x$setting
  shown <- seq_len(min(most, length(setting$states)))
  cat("\nUtility of an action in a state\n")
  print(setting$utility[shown, , drop = FALSE], digits = digits)
  if (length(setting$states) > most) cat("and", format_count(length(setting$states) - most), "more states\n")
  rows <- setting$transition
  at <- utils::head(entry_rows(rows), most) - 1L
  cat("\nNext states that are possible\n")
  print(data.frame(action = setting$actions[at %/% rows$size[1] + 1L], from = setting$states[at %% rows$size[1] + 1L],
                   to = setting$states[rows$to[seq_along(at)]], probability = rows$probability[seq_along(at)]),
        digits = digits, row.names = FALSE)
  if (length(rows$to) > most) cat("and", format_count(length(rows$to) - most), "more\n")
  x
}

matrix_of <- function(x, action) {
  matrix(x[, , action], dim(x)[1], dim(x)[2], dimnames = dimnames(x)[1:2])
}

name_actions <- function(action, setting) factor(setting$actions[action], levels = setting$actions)
