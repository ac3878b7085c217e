# Behaviour as kernels read it: coded visits and their tree of distinct histories,
# without identifiers.

# Visits in the order of trajectories, coded from 0; `row` is where each came from. A missing action is NA, a missing
# observation -1; `scored`: whether the action counts; `start`: in a setting with several, which its trajectory has.
# `rows`: those that are of this setting, whole trajectories; NULL are all.
code_visits <- function(visits, setting, argument = "visits", rows = NULL) {
  visits <- checked_visits(visits, argument)
  validate_against_setting(visits, setting, rows)
  roles <- attr(visits, "roles")
  order <- trajectory_rows(visits, rows)
  row <- order$row
  seen <- match(as_utf8(visits[[roles$observation]]), setting$observations) - 1L
  seen[is.na(seen)] <- -1L
  coded <- list(
    row = row,
    trajectory = order$trajectory,
    action = match(as_utf8(visits[[roles$action]]), setting$actions)[row] - 1L,
    observation = seen[row],
    scored = order$scored
  )
  if (has_starts(setting)) coded$start <- start_codes(visits, setting, coded, argument)
  coded
}

# A data frame may have been changed since it was checked: rows in another order, an id taken away.
checked_visits <- function(visits, argument = "visits") {
  check_visits(visits, argument)
  validate_ibrc_trajectories(plain_visits(visits))
}

# What coded visits have of any setting: `row`, `trajectory` from 0 and `scored`. `visits`: from checked_visits().
trajectory_rows <- function(visits, rows = NULL) {
  who <- id_codes(visits[[attr(visits, "roles")$id]])
  # Rows stand in order of time within an id: a stable sort keeps it.
  row <- order(who)
  if (!is.null(rows)) row <- row[row %in% rows]
  list(row = row, trajectory = match(who[row], unique(who[row])) - 1L, scored = scored_rows(visits)[row])
}

# Of visits that all have the same start, nothing says which.
coded_starts <- function(coded) if (is.null(coded$start)) integer(length(coded$trajectory)) else coded$start

# The tree, with the `scored` of the visits. For a missing action it says which actions cannot have been taken, because
# they end a trajectory.
build_histories <- function(coded, setting) {
  action <- coded$action
  action[is.na(action)] <- -1L
  scored <- if (is.null(coded$scored)) action >= 0L else coded$scored
  tree <- .Call(ffi_history_build, coded$trajectory, action, coded$observation, as.integer(scored),
                coded_starts(coded), length(setting$actions))
  tree$scored <- scored
  if (any(tree$action[-seq_along(tree$start)] < 0)) tree$stops <- as.integer(setting$actions %in% setting$stop_actions)
  tree
}

# The log probability of the action of each visit, or 0 if it does not count. `action` is counted from 1.
scored_log_policy <- function(log_policy, tree, action) {
  out <- log_policy[cbind(action, tree$visit)]
  out[!tree$scored] <- 0
  out
}

# What is done and believed where nothing is weighed: the action prior, and the weights of the models. It is nobody's
# plan, and nothing is solved for it. What is read off histories with it depends on dynamics alone.
unweighed <- function(problem, action_prior = NULL) {
  numbers <- agent_problem(problem, list(alpha = Inf, beta = Inf, eta = 0, action_prior = action_prior))
  n_actions <- length(numbers$action_prior)
  n_models <- length(numbers$model_weights)
  n_nodes <- problem$space$n_nodes
  c(unclass(problem)[problem_parts], list(
    problem = numbers,
    solution = list(action_value = matrix(0, n_actions, n_nodes),
                    model_value = array(0, c(n_models, n_actions, n_nodes)),
                    policy = matrix(numbers$action_prior, n_actions, n_nodes),
                    sigma = array(numbers$model_weights, c(n_models, n_actions, n_nodes)))
  ))
}

# A tolerance that no solve can meet is an error. It is tried where nothing is weighed, before any chain starts.
refuse_tolerance <- function(problem, tolerance, action_prior = NULL) {
  solve_problem(problem, bounded_agent(flexibility = 0, action_prior = action_prior), tolerance)
  invisible()
}

# The belief of each history, [history, state], in a bare problem.
history_beliefs <- function(tree, problem) t(read_histories(unweighed(problem), tree)$belief)

# A problem with the setting's own dynamics and nothing to want. With one model an agent has nothing to weigh: neither
# utilities nor nodes play a part.
bare_problem <- function(setting) {
  setting$utility[] <- 0
  setting["belief_utility"] <- list(NULL)
  build_problem(setting, resolution = 1)
}

# An observation that no model can produce, or an action that the prior rules out,
# has likelihood 0 whatever the parameters. It is refused, and the error names its rows. (`taken`: whether actions are
# judged at all. For predictions it does not matter which action was taken.) `tolerance`: of solves that are to come.
refuse_impossible_visits <- function(coded, histories, problem, tolerance = NULL,
                                     action_prior = problem$agent$action_prior, taken = TRUE) {
  if (!is.null(tolerance)) refuse_tolerance(problem, tolerance, action_prior)
  free <- unweighed(problem, action_prior)
  lost <- impossible_histories(read_histories(free, histories, beliefs = FALSE))[histories$visit]
  # The first visit with an impossible history comes directly after the observation that is at fault.
  first <- which(lost & !c(FALSE, lost[-length(lost)]))
  if (length(first)) {
    rows <- sort(coded$row[first - 1])
    abort_rows(rows, "observation", "`observation` cannot happen after its action under any model of the prior")
  }
  if (!taken) return(invisible())
  never <- which(coded$scored & free$problem$action_prior[coded$action + 1L] == 0)
  if (length(never)) {
    abort_rows(sort(coded$row[never]), "action", "`action` has prior probability 0 but was taken")
  }
}

# What a plan says about a tree: the log-likelihood in `total`, `log_policy` [action, history], the `likeliest` state at
# each history and how much the agent believes in it (`surest`) and, if asked for, `belief` [state, history].
read_histories <- function(plan, histories, beliefs = TRUE) {
  if (beliefs) refuse_many_beliefs(histories$n_histories, length(plan$setting$states))
  .Call(ffi_loglik, plan, stack_models(plan$models), histories, kernel_starts(plan$setting), as.integer(beliefs))
}

refuse_many_beliefs <- function(n_histories, n_states) {
  refuse_too_large(16 * as.numeric(n_histories) * n_states, "visits", plural(n_histories, "history", "histories"),
                   " with a belief about each of ", plural(n_states, "state"), " would be ",
                   format_count(as.numeric(n_histories) * n_states), " numbers", advice = "take fewer visits")
}

# Histories to which no model of the plan can lead. No action has a probability there.
impossible_histories <- function(reading) colSums(reading$log_policy > -Inf) == 0

# The number of visits in each tree, and the number of those whose action counts.
visit_counts <- function(histories) vapply(histories, function(tree) as.numeric(length(tree$visit)), 0)
scored_counts <- function(histories) vapply(histories, function(tree) sum(tree$count), 0)

# Does any action of a trajectory count? If none does, there is nothing to predict in it. `group`: the number of the
# group of each trajectory. `histories`: one tree per group.
counted_trajectories <- function(histories, group) {
  out <- logical(length(group))
  for (g in seq_along(histories)) {
    tree <- histories[[g]]
    out[group == g] <- tabulate(trajectory_of(tree)[tree$scored], sum(group == g)) > 0
  }
  out
}

# " (3 of them not scored)", for a fit or a mode that has such visits. `suppress`: the smallest count that may be shown.
unscored_words <- function(object, suppress = NULL) {
  unscored <- sum(object$n_visits) - sum(object$n_scored)
  if (unscored == 0) return("")
  count <- if (unscored < max(0, suppress)) paste0("<", suppress) else format_count(unscored)
  paste0(" (", count, " of them not scored)")
}

# The number of the trajectory of each visit. Only first visits are at a root, and roots come first.
trajectory_of <- function(histories) cumsum(histories$visit <= length(histories$start))

# The start with which each trajectory begins, counted from 1.
starts_of <- function(histories) {
  first <- histories$visit[histories$visit <= length(histories$start)]
  histories$start[first] + 1L
}
