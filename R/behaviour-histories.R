# Behaviour as kernels read it: coded visits and their tree of distinct histories,
# without identifiers.

# Visits in the order of trajectories, coded from 0; `row` is where each came from.
code_visits <- function(visits, setting, argument = "visits") {
  check_visits(visits, argument)
  # A data frame may have been changed since it was checked: rows in another order, an id taken away.
  visits <- validate_ibrc_trajectories(plain_visits(visits))
  validate_against_setting(visits, setting)
  roles <- attr(visits, "roles")
  trajectory <- id_codes(visits[[roles$id]])
  # Rows stand in order of time within an id: a stable sort keeps it.
  row <- order(trajectory)
  seen <- match(as_utf8(visits[[roles$observation]]), setting$observations) - 1L
  seen[is.na(seen)] <- -1L
  list(
    row = row,
    trajectory = trajectory[row] - 1L,
    action = match(as_utf8(visits[[roles$action]]), setting$actions)[row] - 1L,
    observation = seen[row]
  )
}

build_histories <- function(coded, setting) {
  .Call(ffi_history_build, coded$trajectory, coded$action, coded$observation, length(setting$actions))
}

# An observation that no model can produce, or an action that the prior rules out,
# has likelihood 0 whatever the parameters: refuse it, naming its rows. A tolerance that no solve can meet is an
# error here, before any chain starts.
refuse_impossible_visits <- function(coded, histories, problem, tolerance = 1e-8,
                                     action_prior = problem$agent$action_prior) {
  neutral <- solve_problem(problem, bounded_agent(flexibility = 0, action_prior = action_prior), tolerance)
  reading <- read_histories(neutral, histories)
  lost <- is.nan(reading$belief[1, histories$visit])
  # A visit whose history is impossible stands after the observation at fault.
  first <- which(lost & !c(FALSE, lost[-length(lost)]))
  if (length(first)) {
    rows <- sort(coded$row[first - 1])
    abort_rows(rows, "observation", "`observation` cannot happen after its action under any model of the prior")
  }
  taken <- cbind(coded$action + 1L, histories$visit)
  never <- which(neutral$problem$action_prior[taken[, 1]] == 0)
  if (length(never)) {
    abort_rows(sort(coded$row[never]), "action", "`action` has prior probability 0 but was taken")
  }
}

read_histories <- function(plan, histories) {
  .Call(ffi_loglik, plan, stack_models(plan$models), histories, unname(plan$setting$start))
}
