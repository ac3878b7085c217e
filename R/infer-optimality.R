# When is what was done the best that could be done? Under a utility v [state, action] a policy that always takes a(s)
# in state s is worth V = (I - discount P_a)^-1 v_a, and it is optimal if in every state and for every other action u
#
#   v(s, a) - v(s, u) + discount (P_a - P_u)(s, .) V >= 0,
#
# All of this is linear in v: the inverse planners of optimal agents are programmes whose rows are these gaps.

# The action that was demonstrated in each state, NA where none was: the most frequent one, and if there are several,
# the first. Also what a reader must know about it.
demonstrated_choice <- function(demonstration, setting, where = "") {
  policy <- demonstration$policy
  known <- !is.na(policy[, 1])
  choice <- rep(NA_integer_, nrow(policy))
  # Shares that differ only by rounding are the same.
  best <- apply(policy[known, , drop = FALSE], 1, max)
  tied <- policy[known, , drop = FALSE] >= best - 1e-9
  choice[known] <- max.col(tied, "first")
  list(choice = choice, notes = choice_notes(demonstration, choice, setting$states[known][rowSums(tied) > 1], where))
}

choice_notes <- function(demonstration, choice, tied, where) {
  known <- which(!is.na(choice))
  taken <- demonstration$policy[cbind(known, choice[known])]
  mixed <- sum(taken < 1 - 1e-9)
  counts <- demonstration$counts
  share <- if (!is.null(counts)) sum(counts[cbind(known, choice[known])]) / sum(counts)
  c(
    if (mixed) {
      paste0("In ", plural(mixed, "state"), where, " more than one action was seen, and the most frequent was taken ",
             "as the demonstrated one",
             if (!is.null(share)) paste0(": ", percent_text(share), " of the visits show it"), ".")
    },
    if (length(tied)) {
      paste0("In ", plural(length(tied), "state"), where, " (", listing(tied), ") several actions were seen equally ",
             "often: the first of them was taken.")
    }
  )
}

# Rows over the entries of a utility [state, action] as a vector, one per state with a demonstrated action and per other
# action: the gap is rows %*% utility. `policy` [state, action] is what is done afterwards: `choice` where it is known.
gap_rows <- function(markov, choice, policy) {
  n <- markov$n_states
  refuse_many_gaps(markov)
  laws <- lapply(markov$transition, as.matrix)
  # The contribution of each entry of the utility to the value, [state, entry].
  chain <- Reduce(`+`, Map(function(law, u) law * policy[, u], laws, seq_along(laws)))
  reach <- solve(diag(n) - markov$discount * chain)
  worth <- do.call(cbind, lapply(seq_along(laws), function(u) reach * rep(policy[, u], each = n)))
  place <- expand.grid(state = which(!is.na(choice)), action = seq_len(markov$n_actions))
  place <- place[place$action != choice[place$state], ]
  taken <- choice[place$state]
  law <- function(action) {
    rows <- matrix(0, length(action), n)
    for (u in unique(action)) rows[action == u, ] <- laws[[u]][place$state[action == u], ]
    rows
  }
  rows <- markov$discount * (law(taken) - law(place$action)) %*% worth
  at <- seq_len(nrow(place))
  entry <- function(action) cbind(at, place$state + n * (action - 1L))
  rows[entry(taken)] <- rows[entry(taken)] + 1
  rows[entry(place$action)] <- rows[entry(place$action)] - 1
  list(rows = rows, state = place$state, action = place$action)
}

# There are about as many rows, and as many entries, as states times actions.
refuse_many_gaps <- function(markov) {
  size <- as.numeric(markov$n_states) * markov$n_actions
  refuse_too_large(40 * size^2, "setting", "A programme of ", plural(markov$n_states, "state"), " and ",
                   plural(markov$n_actions, "action"), " would have ", format_count(size^2), " numbers",
                   advice = "take fewer states")
}

# ---- states in which nobody was seen --------------------------------------------------------------------------------

# What is done afterwards: the choice where it is known, and elsewhere rows of `policy`, or all actions equally often.
completed_policy <- function(choice, n_actions, policy = NULL) {
  if (is.null(policy)) policy <- matrix(1 / n_actions, length(choice), n_actions)
  known <- which(!is.na(choice))
  policy[known, ] <- 0
  policy[cbind(known, choice[known])] <- 1
  unname(policy)
}

# The best that can be done in states without a choice, if the choice must be followed in the others: a process in
# which, where there is a choice, every action is that one.
best_completion <- function(markov, choice, utility) {
  if (!anyNA(choice)) return(completed_policy(choice, markov$n_actions))
  known <- which(!is.na(choice))
  laws <- lapply(markov$transition, as.matrix)
  followed <- markov_chain(list(transition = laws, n_actions = markov$n_actions),
                           completed_policy(choice, markov$n_actions))
  held <- markov
  held$problem <- NULL
  held$transition <- lapply(laws, function(law) {
    law[known, ] <- followed[known, ]
    law
  })
  utility[known, ] <- utility[cbind(known, choice[known])]
  completed_policy(choice, markov$n_actions, markov_hard(held, unname(utility))$policy)
}

# By how much the best action of a state beats the policy there, at most.
completion_regret <- function(markov, choice, policy, utility) {
  open <- which(is.na(choice))
  if (!length(open)) return(0)
  value <- markov_value(markov, policy, utility)
  worth <- unname(utility) + markov$discount * markov_next(markov, value)
  best <- apply(worth[open, , drop = FALSE], 1, max)
  max(best - value[open], 0) / largest(worth)
}

# If there are no more ways than this to act where nobody was seen, all are tried.
most_completions <- 64

# Solves a programme whose gaps depend on what is done where nobody was seen. `cases`: a list of list(markov, choice);
# `solve(gaps)` takes a list of gap_rows(), one per case, and returns a list with `utility` [state, action] and `cost`,
# which is better if it is smaller. Rows are marked by `shown`: where nobody was seen, what is done has to be optimal
# and no more, so that such a state does not influence margins. Adds `policies`: in each case the choice and, elsewhere,
# the best under the answer.
solve_completed <- function(cases, policies, solve) {
  cases <- lapply(cases, function(case) c(case, list(shown = which(!is.na(case$choice)))))
  ways <- count_completions(cases)
  solved <- if (ways == 1) c(solve(gaps_at(cases, policies)), way = "none open") else
    if (ways <= most_completions) try_completions(cases, solve) else
      settle_completions(cases, policies, solve)
  solved$policies <- complete_all(cases, solved$utility)
  solved
}

count_completions <- function(cases) {
  prod(vapply(cases, function(case) case$markov$n_actions^sum(is.na(case$choice)), 0))
}

gaps_at <- function(cases, policies) {
  Map(function(case, policy) {
    gaps <- gap_rows(case$markov, case$choice, policy)
    c(gaps, list(shown = gaps$state %in% case$shown))
  }, cases, policies)
}

complete_all <- function(cases, utility) {
  lapply(cases, function(case) best_completion(case$markov, case$choice, utility))
}

# The answer where all these choices are required to be optimal.
solve_held <- function(cases, solve) {
  solve(gaps_at(cases, lapply(cases, function(case) completed_policy(case$choice, case$markov$n_actions))))
}

# Calls `visit` with the cases under every way to act where nobody was seen.
each_completion <- function(cases, visit) {
  open <- lapply(cases, function(case) which(is.na(case$choice)))
  n_actions <- cases[[1]]$markov$n_actions
  owner <- rep(seq_along(open), lengths(open))
  for (way in seq_len(n_actions^length(owner)) - 1) {
    actions <- as.integer(way %/% n_actions^(seq_along(owner) - 1) %% n_actions) + 1L
    held <- cases
    for (i in seq_along(cases)) held[[i]]$choice[open[[i]]] <- actions[owner == i]
    visit(held)
  }
}

# Every one of them, required to be optimal: the best of the answers is the best there is.
try_completions <- function(cases, solve) {
  best <- NULL
  tell_next <- programme_teller(count_completions(cases), "what is done where nobody was seen")
  each_completion(cases, function(held) {
    tell_next()
    answer <- solve_held(held, solve)
    if (is.null(best) || answer$cost < best$cost - 1e-9 * abs(best$cost)) best <<- answer
  })
  c(best, way = "tried")
}

# Where they are too many: solve, do the best there under the answer, and solve again until this agrees with what was
# assumed. If that goes round in a circle, the last choice is required to be optimal, too: this always has an answer.
settle_completions <- function(cases, policies, solve, most_rounds = 20) {
  tell_next <- programme_teller(most_rounds, "what is done where nobody was seen")
  for (round in seq_len(most_rounds)) {
    tell_next()
    answer <- solve(gaps_at(cases, policies))
    regret <- mapply(function(case, policy) completion_regret(case$markov, case$choice, policy, answer$utility),
                     cases, policies)
    if (max(regret) <= 1e-7) return(c(answer, way = "settled"))
    policies <- complete_all(cases, answer$utility)
  }
  held <- Map(function(case, policy) {
    case$choice <- ifelse(is.na(case$choice), max.col(policy, "first"), case$choice)
    case
  }, cases, policies)
  c(solve_held(held, solve), way = "held")
}

completion_note <- function(solved) {
  switch(solved$way,
    tried = "Where nobody was seen, any action is allowed: the best answer over all of them is taken.",
    settled = paste("Where nobody was seen, any action is allowed: the best one under the answer is taken. There are",
                    "too many ways to act there to try them all, and another might have a better answer."),
    held = paste("What is done where nobody was seen did not settle: an action was chosen there, and the answer makes",
                 "it optimal as well. With another one the answer might be better.")
  )
}

# ---- the imitating plan ---------------------------------------------------------------------------------------------

# The plan of a policy in a setting where states and actions are worth this much, including the worth of sure beliefs.
# The demonstrated action is taken even where others are as good.
optimal_imitation <- function(problem, utility, policy) {
  plan_with_policy(with_utility(problem, unname(utility) - belief_worth(problem)), "mdp", policy,
                   list(imitates = "what was demonstrated"))
}
