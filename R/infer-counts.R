# How often each trajectory had each state and action: this explains a score or a preference of whole trajectories.
# Where the state is not known it counts by how likely it was, given what had been done and seen until then.

# Returns a list of
#   counts          [trajectory, state and action], states fastest; visit t counts by the discount to the power of t,
#                   or by 1
#   offset          what the beliefs themselves were worth (`belief_utility` of the setting), summed in the same way
#   complete        whether all actions are known, except that of the last visit: such a visit is not counted
#   n_visits        [trajectory], how many were counted of each; `unsure`: those of them whose state was not known
trajectory_counts <- function(visits, setting, discounted = TRUE, argument = "visits") {
  coded <- code_visits(visits, setting, argument)
  believed <- visit_beliefs(coded, setting)
  n <- length(coded$trajectory)
  last <- c(coded$trajectory[-1] != coded$trajectory[-n], TRUE)
  n_trajectories <- max(coded$trajectory) + 1L
  gap <- is.na(coded$action) & !last
  complete <- tabulate(coded$trajectory[gap] + 1L, n_trajectories) == 0
  weight <- if (discounted) setting$discount^(sequence(tabulate(coded$trajectory + 1L)) - 1) else rep(1, n)
  used <- which(!is.na(coded$action) & complete[coded$trajectory + 1L])
  size <- c(length(setting$states), length(setting$actions))
  refuse_too_large(8 * as.numeric(n_trajectories) * prod(size), "visits", plural(n_trajectories, "trajectory",
                   "trajectories"), " counted at ", plural(size[1], "state"), " and ", plural(size[2], "action"),
                   advice = "take fewer of them")
  counts <- array(0, c(n_trajectories, size))
  for (action in seq_len(size[2])) {
    rows <- used[coded$action[used] == action - 1L]
    if (!length(rows)) next
    sums <- rowsum(weight[rows] * believed[rows, , drop = FALSE], coded$trajectory[rows] + 1L)
    counts[as.integer(rownames(sums)), , action] <- sums
  }
  list(counts = matrix(counts, n_trajectories), offset = belief_offset(coded, believed, weight, used, setting),
       complete = complete, n_visits = tabulate(coded$trajectory[used] + 1L, n_trajectories),
       unsure = tabulate(coded$trajectory[used[surest(believed, used) < 1 - 1e-12]] + 1L, n_trajectories))
}

# The belief in the likeliest state, at these visits.
surest <- function(believed, visits) do.call(pmax, split(believed, col(believed)))[visits]

# The belief at each visit, [visit, state], by the setting's own dynamics.
visit_beliefs <- function(coded, setting) {
  problem <- bare_problem(setting)
  tree <- build_histories(coded, setting)
  refuse_moves(coded, tree, problem)
  history_beliefs(tree, problem)[tree$visit, , drop = FALSE]
}

belief_offset <- function(coded, believed, weight, used, setting) {
  out <- numeric(max(coded$trajectory) + 1L)
  if (is.null(setting$belief_utility) || !length(used)) return(out)
  colnames(believed) <- setting$states
  worth <- belief_utility_at(setting, believed[used, , drop = FALSE])
  worth <- worth[cbind(seq_along(used), coded$action[used] + 1L)]
  sums <- rowsum(weight[used] * worth, coded$trajectory[used] + 1L)
  out[as.integer(rownames(sums))] <- sums
  out
}

# The directions of a matrix's columns that its rows show: `shown` [column, direction] and the `size` of each.
seen_directions <- function(design) {
  parts <- svd(design, nu = 0)
  keep <- parts$d > 1e-10 * max(parts$d, 0) & parts$d > 0
  list(shown = parts$v[, keep, drop = FALSE], size = parts$d[keep])
}

# Which entries the rows say something about by themselves, not only together with others.
entries_seen <- function(shown) abs(rowSums(shown^2) - 1) < 1e-8

# Sentences for the notes on what was not seen.
unseen_note <- function(n_terms, n_seen, answer, what = "utilities") {
  if (n_seen == n_terms) return(NULL)
  hidden <- n_terms - n_seen
  paste0("The data say nothing about ", plural(hidden, "direction"), " out of ", n_terms, ": ", what, " that differ ",
         "only there fit equally well. ", answer)
}

# `asked`: which trajectories have a score, or a part in a pair.
counts_notes <- function(counted, setting, asked) {
  lost <- sum(asked & !counted$complete)
  unsure <- sum(counted$unsure[asked & counted$complete])
  c(
    if (unsure > 0) {
      paste0("At ", plural(unsure, "visit"), " the state was not known: there each state counts by how likely ",
             "it was, given what had been done and seen before.")
    },
    if (lost > 0) {
      paste0(plural(lost, "trajectory", "trajectories"), if (lost == 1) " was" else " were", " left out: an action ",
             "in the middle is missing, so not everything can be counted.")
    },
    if (!is.null(setting$belief_utility)) {
      "What beliefs are worth by themselves is taken as the setting has it."
    }
  )
}

# The plan of an agent with this utility: optimal, or at a price `alpha` per nat of departing from even choices.
plan_for_utility <- function(setting, utility, alpha, resolution) {
  setting$utility[] <- utility
  problem <- build_problem(setting, resolution = resolution)
  planner <- if (alpha > 0) "agent" else if (setting$fully_observed) "mdp" else "pomdp"
  plan_by_solving(problem, planner, bounded_agent(alpha = alpha), list(alpha = alpha))
}

check_alpha <- function(alpha) {
  alpha <- check_finite_number(alpha, "alpha")
  if (alpha < 0) abort_input("alpha", "must be 0 or more; it is ", format(alpha), ".")
  alpha
}

# A price of information, of whose squares none overflows or vanishes.
check_moderate_price <- function(alpha) {
  alpha <- check_positive(alpha, "alpha")
  if (alpha < 1e-100 || alpha > 1e100) {
    abort_input("alpha", "must lie between 1e-100 and 1e100; it is ", format(alpha), ".")
  }
  alpha
}

# A utility that was found with standard errors, and what the data say about each entry.
estimates_with_errors <- function(utility, found, setting) {
  cbind(utility_estimates(utility, setting), std.error = found$std_error, identified = found$identified)
}
