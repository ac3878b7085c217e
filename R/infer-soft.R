# What the inverse planners of soft policies share, in settings where the state is seen. Such a policy is the softmax of
# Q / alpha, and shows a utility only in units of alpha and up to shaping: adding f(s) - discount E f(s') to the utility
# of each state and action changes no soft policy, whatever f is. Where matrices multiply them, pairs of a state and an
# action are in one vector, with states running fastest, as in a matrix [state, action].

# Systems with more pairs than this are not solved as dense ones.
most_soft_pairs <- 1500

refuse_many_pairs <- function(markov, argument = "setting") {
  n <- markov$n_states * markov$n_actions
  if (n <= most_soft_pairs) return(invisible(n))
  abort_input(argument, "has ", format_count(n), " pairs of a state and an action; at most ",
              format_count(most_soft_pairs), " can be solved for here. Join states that are alike.")
}

# The same setting with another worth of states. It includes what sure beliefs were worth by themselves.
setting_wanting <- function(setting, utility) {
  setting["belief_utility"] <- list(NULL)
  setting$utility[] <- utility
  setting
}

# What a soft agent does in it.
soft_plan <- function(setting, utility, alpha) {
  plan_by_solving(observed_problem(setting_wanting(setting, utility)), "kl", bounded_agent(alpha = alpha),
                  parameters = list(alpha = alpha))
}

# [pair, state]: what one unit of a potential in a state adds to the utility of each pair. Its transpose is the flow:
# occupancies [pair] are possible if, and only if, they are not negative and t(shaping) %*% occupancy is (1 - discount)
# start.
shaping_matrix <- function(markov) {
  do.call(rbind, lapply(markov$transition, function(law) diag(markov$n_states) - markov$discount * as.matrix(law)))
}

# The smallest of all utilities that differ by shaping from one: the sum of its squares is least.
without_shaping <- function(utility, shaping) {
  utility[] <- qr.resid(qr(shaping), as.vector(utility))
  utility
}

# How far occupancies [state, action] are from those of any policy: the largest gap in the flow.
flow_gap <- function(occupancy, shaping, markov) {
  max(abs(crossprod(shaping, as.vector(occupancy)) - (1 - markov$discount) * markov$start))
}

# d log policy / d utility [pair, pair] at a soft policy, with utility in units of alpha: the increase of an action's
# worth, less that of its state.
soft_policy_slope <- function(policy, markov, shaping) {
  n <- markov$n_states
  spread <- do.call(cbind, lapply(seq_len(markov$n_actions), function(u) diag(policy[, u], n)))
  value <- solve(diag(n) - markov$discount * as.matrix(markov_chain(markov, policy)), spread)
  diag(n * markov$n_actions) - shaping %*% value
}

# By Cholesky, in units in which the diagonal is 1. Where rounding spoils that, the smallest of the answers, by what can
# be told from rounding.
solve_positive <- function(matrix, rhs) {
  unit <- 1 / sqrt(pmax(diag(matrix), .Machine$double.xmin))
  scaled <- matrix * unit * rep(unit, each = length(unit))
  root <- tryCatch(chol(scaled), error = function(e) NULL)
  if (!is.null(root)) return(unit * backsolve(root, forwardsolve(t(root), unit * rhs)))
  parts <- eigen((scaled + t(scaled)) / 2, symmetric = TRUE)
  keep <- parts$values > 1e-13 * max(parts$values)
  along <- parts$vectors[, keep, drop = FALSE]
  unit * as.vector(along %*% (crossprod(along, unit * rhs) / parts$values[keep]))
}

# What the demonstration does in every state: where nobody was seen, all actions are equally likely.
filled_policy <- function(demonstration) {
  policy <- unname(demonstration$policy)
  policy[is.na(policy[, 1]), ] <- 1 / ncol(policy)
  policy
}

# Where demonstrated occupancies come from. "policy": those that the shown policy has in the setting, which are always
# possible. "visits": the discounted time of the visits themselves, which need not be possible. After what was seen of
# each trajectory, they continue with those of the policy from there: discounted time has no end, though follow-up has.
# Returns `occupancy` and `policy` [state, action], `markov` with the start that they count from, and `beyond`, the
# share that was not seen.
demonstrated_shares <- function(demonstration, markov, occupancies) {
  policy <- filled_policy(demonstration)
  if (occupancies == "policy") {
    return(list(occupancy = markov_occupancy(markov, policy), policy = policy, markov = markov))
  }
  if (demonstration$source != "visits") {
    abort_input("occupancies", "can be \"visits\" only where `visits` are trajectories: a policy has none to count.")
  }
  flow <- demonstration$flow
  led <- lapply(seq_len(markov$n_actions), function(u) as.vector(flow$after[, u] %*% markov$transition[[u]]))
  ahead <- flow$ahead + Reduce(`+`, led)
  beyond <- sum(ahead)
  occupancy <- (1 - markov$discount) * flow$seen
  if (beyond > 0) occupancy <- occupancy + beyond * markov_occupancy(markov, policy, ahead / beyond)
  markov$start <- demonstration$start
  list(occupancy = occupancy, policy = policy, markov = markov, beyond = beyond)
}

# Sentences about it.
share_notes <- function(demonstration, shares, setting) {
  reached <- rowSums(shares$occupancy) > 0
  unseen <- is.na(demonstration$policy[, 1])
  lost <- setting$states[!reached & !unseen]
  c(
    demonstration_notes(demonstration, setting),
    if (isTRUE(shares$beyond > 0)) {
      paste0(percent_text(shares$beyond), " of the discounted time lies beyond what was seen of trajectories: there ",
             "the policy that the visits show continues their shares.")
    },
    if (any(unseen & reached)) {
      paste0("Where nobody was seen, all actions are assumed to be equally likely (",
             listing(setting$states[unseen & reached]), ").")
    },
    if (length(lost)) {
      paste0("What was demonstrated spends no discounted time in ", plural(length(lost), "state"), " (", listing(lost),
             "): the answer there is not constrained.")
    }
  )
}

# Demonstrations in order; data frames and plans are lists as well, but not of this kind.
check_batches <- function(visits, argument = "visits") {
  if (!is.list(visits) || is.object(visits) || length(visits) < 2) {
    abort_input(argument, "must be a list of at least two trajectories, plans or policies, in order, not ",
                if (is.list(visits) && !is.object(visits)) paste("of", length(visits)) else describe(visits), ".")
  }
  invisible(visits)
}

# Shares of actions [state, action] in counts, with `smoothing` added to each action where anybody was seen; NA where
# nobody was. A policy is returned unchanged.
smoothed_policy <- function(demonstration, smoothing) {
  if (is.null(demonstration$counts)) return(unname(demonstration$policy))
  counts <- smoothed_counts(demonstration, smoothing)
  policy <- counts / rowSums(counts)
  policy[rowSums(counts) == 0, ] <- NA
  policy
}

smoothed_counts <- function(demonstration, smoothing) {
  counts <- unname(demonstration$counts)
  counts + smoothing * (rowSums(counts) > 0)
}

check_smoothing <- function(smoothing) {
  smoothing <- check_finite_number(smoothing, "smoothing")
  if (smoothing < 0) abort_input("smoothing", "must be at least 0; it is ", format(smoothing), ".")
  smoothing
}

# A soft policy takes every action: an action never taken has no logarithm.
refuse_never_taken <- function(policy, setting, argument, where) {
  never <- which(!is.na(policy) & policy <= 0, arr.ind = TRUE)
  if (!nrow(never)) return(invisible(policy))
  abort_input(argument, "must take every action, as a soft policy does: in ", where, ", ",
              enumerate(setting$actions[never[1, 2]]), " is never taken in state ",
              enumerate(setting$states[never[1, 1]]), ". For visits, `smoothing` above 0 allows for it.")
}
