# Demonstrated behaviour in the form that inverse planners read where the state is seen: how often each action was taken
# in each state, whatever form the demonstration was given in.

# `x`: trajectories, a plan, an `ibrc_inferred` or a policy [state, action]. Returns a list of
#   policy          [state, action]; NA in states that were never seen
#   counts          [state, action], how many visits; NULL for a policy
#   occupancy       [state, action], discounted and summing to 1, for a policy without gaps; else NULL
#   flow            for visits: discounted_flow(), from which their occupancies are made
#   start           [state], the law of the state that occupancies are counted from: for visits, that of the first
#                   whose state is known
#   n_trajectories, n_visits   how many there were to count; NA for a policy
#   left_out        visits whose action counts but whose state is not known; `left_first`: those of them that are first
#                   visits
#   source          "visits" or "policy"
demonstrated <- function(x, setting, argument = "visits") {
  check_seen_states(setting)
  if (inherits(x, "ibrc_trajectories")) return(demonstrated_visits(x, setting, argument))
  if (inherits(x, "ibrc_inferred")) x <- x$plan
  if (inherits(x, "ibrc_plan")) return(demonstrated_policy(plan_policy(x, setting, argument), setting))
  if (!is.numeric(x) || !is.matrix(x)) {
    abort_input(argument, "must be trajectories, a plan or a matrix of probabilities with one row per state and one ",
                "column per action, not ", describe(x), ".", topic = "trajectories")
  }
  demonstrated_policy(check_policy_matrix(x, setting, argument), setting)
}

# Inverse planners that ask which action was taken in which state.
check_seen_states <- function(setting, argument = "setting") {
  check_class(setting, "ibrc_setting", argument, "decision_setting()")
  if (!setting$fully_observed) {
    abort_input(argument, "must be one in which the state is seen (`emission = \"identity\"`). If states are hidden, ",
                "nobody can say what was done in which state. For hidden states infer_matching() infers utilities ",
                "(planner = \"boltzmann\", terms = \"utility\"), rules and agents; inverse_planners() says which ",
                "others can.", topic = "infer_matching")
  }
  invisible(setting)
}

# ---- a policy -------------------------------------------------------------------------------------------------------

demonstrated_policy <- function(policy, setting) {
  start <- unname(mean_start(setting))
  list(policy = policy, counts = NULL, occupancy = policy_occupancy(policy, setting), start = start,
       n_trajectories = NA_integer_, n_visits = NA_integer_, left_out = 0L, left_first = 0L, source = "policy")
}

policy_occupancy <- function(policy, setting) {
  if (!anyNA(policy)) unname(markov_occupancy(as_markov(setting), unname(policy)))
}

# What a plan does in each state, provided that its setting has these states and actions.
plan_policy <- function(plan, setting, argument) {
  for (part in c("states", "actions")) {
    if (!identical(plan$setting[[part]], setting[[part]])) {
      abort_input(argument, "must be a plan with the ", part, " of `setting`, in the same order.")
    }
  }
  if (habit_of(plan$agent) != 0) {
    abort_input(argument, "has a habit: what it does in a state depends on what it did last. Give the visits that it ",
                "makes (simulate()).")
  }
  # The states are the nodes of a plan that sees them; a matrix of all corners would be large for many states.
  out <- if (is_vertices(plan$space)) policy(plan) else policy(plan, diag(length(setting$states)))
  dimnames(out) <- list(state = setting$states, action = setting$actions)
  out
}

# Rows that are NA throughout stand for states in which nobody was seen.
check_policy_matrix <- function(policy, setting, argument) {
  size <- c(length(setting$states), length(setting$actions))
  if (!identical(dim(policy), size)) {
    abort_input(argument, "must be a matrix of ", plural(size[1], "state"), " by ", plural(size[2], "action"),
                ", not ", describe(policy), ".")
  }
  if (!is.null(rownames(policy))) {
    policy <- policy[match_names(rownames(policy), setting$states, argument, "states"), , drop = FALSE]
  }
  if (!is.null(colnames(policy))) {
    policy <- policy[, match_names(colnames(policy), setting$actions, argument, "actions"), drop = FALSE]
  }
  known <- rowSums(is.na(policy)) < size[2]
  if (!any(known)) abort_input(argument, "must say what was done in at least one state.")
  out <- matrix(NA_real_, size[1], size[2], dimnames = list(state = setting$states, action = setting$actions))
  given <- policy
  given[!known, ] <- 1 / size[2]
  out[known, ] <- check_probability_rows(given, argument)[known, ]
  out
}

# ---- visits ---------------------------------------------------------------------------------------------------------

demonstrated_visits <- function(visits, setting, argument) {
  coded <- code_visits(visits, setting, argument)
  problem <- build_problem(setting)
  refuse_moves(coded, build_histories(coded, setting), problem, solve_tolerance(problem))
  state <- visit_states(coded, setting)
  used <- which(coded$scored & !is.na(state))
  if (!length(used)) {
    abort("data", "`", argument, "` have no visit whose action counts and whose state is known. ",
          first_visit_remedy, argument = argument)
  }
  cell <- state[used] + length(setting$states) * coded$action[used]
  names <- list(state = setting$states, action = setting$actions)
  fill <- function(total) matrix(total, length(names$state), dimnames = names)
  counts <- fill(tabulate(cell, prod(lengths(names))))
  policy <- counts / rowSums(counts)
  policy[rowSums(counts) == 0, ] <- NA
  since <- visits_since_known(coded$trajectory, state)
  lost <- coded$scored & is.na(state)
  list(policy = policy, counts = counts, flow = discounted_flow(coded, state, since, setting),
       start = tabulate(state[which(since == 0)], length(setting$states)) / sum(since == 0, na.rm = TRUE),
       n_trajectories = length(unique(coded$trajectory)), n_visits = length(used), left_out = sum(lost),
       left_first = sum(lost & !duplicated(coded$trajectory)), source = "visits")
}

# Moves that the dynamics rule out are most often due to a column that was not moved: the message says so.
refuse_moves <- function(coded, histories, problem, tolerance = NULL) {
  tryCatch(
    refuse_impossible_visits(coded, histories, problem, tolerance),
    ibrc_error_data = function(error) {
      if (!identical(error$argument, "observation")) stop(error)
      abort_rows(error$rows, "observation", "`observation` cannot happen after the action of its row in this setting",
                 advice = paste("A row has an action and what was seen after it: where your rows have a state and the",
                                "action that was taken in it, the states have to move up by one visit. If they do not,",
                                "`transition` rules these moves out."),
                 topic = "trajectories")
    }
  )
}

# The state at each visit, from 1, NA where it is not known. It is what was seen after the action before. Where nothing
# was seen, it is still known if the state and the action before leave only one possibility.
visit_states <- function(coded, setting) {
  n <- length(coded$trajectory)
  first <- c(TRUE, diff(coded$trajectory) != 0)
  state <- c(NA, coded$observation[-n] + 1L)
  state[!first & state == 0] <- NA
  start <- start_matrix(setting)
  sure <- apply(start, 1, function(law) if (max(law) >= 1 - 1e-12) which.max(law) else NA)
  state[first] <- sure[coded_starts(coded)[first] + 1L]
  for (visit in which(!first & is.na(state))) {
    before <- visit - 1L
    if (!is.na(state[before]) && !is.na(coded$action[before])) {
      state[visit] <- only_next(setting$transition, state[before], coded$action[before] + 1L)
    }
  }
  as.integer(state)
}

# The one state that can follow, or NA.
only_next <- function(transition, state, action) {
  if (is_by_rows(transition)) {
    row <- (action - 1L) * transition$size[1] + state
    entries <- seq.int(transition$start[row] + 1L, length.out = transition$start[row + 1L] - transition$start[row])
    return(if (length(entries) == 1) transition$to[entries] else NA_integer_)
  }
  possible <- which(transition[state, , action] > 0)
  if (length(possible) == 1) unname(possible) else NA_integer_
}

# The number of visits between each visit and its trajectory's first with a known state; NA before that one.
visits_since_known <- function(trajectory, state) {
  at <- seq_along(trajectory)
  known <- which(!is.na(state))
  first <- known[!duplicated(trajectory[known])]
  since <- at - first[match(trajectory, trajectory[first])]
  since[since < 0] <- NA
  since
}

# How the discounted time of trajectories is spent, on average, counted from the first visit whose state is known. A
# trajectory is followed as long as states and actions that count are known. What comes then was not seen, though
# planning goes on: at the end of follow-up, after an action that stops it, or where an action was forced or is missing.
#   seen    [state, action], what was followed
#   ahead   [state], where the unseen part begins; for `after` [state, action], where these lead by the dynamics
discounted_flow <- function(coded, state, since, setting) {
  size <- c(length(setting$states), length(setting$actions))
  begin <- which(since == 0)
  whose <- match(coded$trajectory, coded$trajectory[begin])
  from <- begin[whose]
  broken <- cumsum(!(coded$scored & !is.na(state)))
  # There is no gap from the first known visit to this one.
  followed <- which(!is.na(since) & broken == c(0, broken)[from])
  length <- tabulate(whose[followed], length(begin))
  none <- length == 0
  # Any visit, if a trajectory is not followed at all.
  last <- pmax(begin + length - 1L, 1L)
  observed <- coded$observation[last] + 1L
  known <- none | !is.na(observed) & observed > 0
  weight <- setting$discount^length / length(begin)
  at_pairs <- function(visit, weight) {
    out <- matrix(0, size[1], size[2])
    sums <- rowsum(weight, state[visit] + size[1] * coded$action[visit])
    out[as.integer(rownames(sums))] <- sums
    out
  }
  beyond <- ifelse(none, state[begin], observed)
  ahead <- numeric(size[1])
  sums <- rowsum(weight[known], beyond[known])
  ahead[as.integer(rownames(sums))] <- sums
  list(seen = at_pairs(followed, setting$discount^since[followed] / length(begin)), ahead = ahead,
       after = at_pairs(last[!known], weight[!known]))
}

# ---- what a reader must know of it ----------------------------------------------------------------------------------

# How to give the state of a first visit where it is on record.
first_visit_remedy <- paste(
  "At a first visit it is known only where `start` puts all its weight on one state. If your data have this state,",
  "make it a covariate of trajectories(), say `first`. Then give decision_setting() start_by = \"first\" and a `start`",
  "with one row per state, named by the state, with all its weight on that state."
)

# Sentences for the notes of an inferred object. `where`: words for one of several settings.
demonstration_notes <- function(demonstration, setting, where = "") {
  unseen <- setting$states[is.na(demonstration$policy[, 1])]
  c(
    left_out_note(demonstration$left_out, demonstration$left_first, where),
    if (length(unseen)) {
      paste0("Nobody was seen in ", plural(length(unseen), "state"), where, " (", listing(unseen), "): what was ",
             "wanted there is known only through its effect on other states.")
    }
  )
}

left_out_note <- function(left_out, first, where = "") {
  if (left_out == 0) return(NULL)
  later <- left_out - first
  paste0(plural(left_out, "visit"), where, if (left_out == 1) " was" else " were", " left out because the state ",
         "was not known",
         if (first == 0) ": nothing was seen after the action before." else
           if (later > 0) paste0(": ", first, " of them first visits, and at ", later, " nothing was seen after the ",
                                 "action before.") else ".",
         if (first > 0) paste0(" ", first_visit_remedy))
}
