# A setting in which the state is seen, as a Markov decision process in plain R: what planners and inverse planners of
# such settings compute with. Matrices [state, action] throughout; V = alpha log sum prior exp(Q / alpha) in the soft
# case, and the maximum of Q in the hard one.

# The tables of such a setting; any other is refused.
observed_problem <- function(setting) {
  check_observed(setting)
  build_problem(setting)
}

check_observed <- function(setting, argument = "setting") {
  check_class(setting, "ibrc_setting", argument, "decision_setting()")
  if (!is_identity(setting$emission)) {
    abort_input(argument, "must be one in which the state is seen (`emission = \"identity\"`). Where it is hidden, ",
                "plan with plan_pomdp().", topic = "plan_pomdp")
  }
  invisible(setting)
}

# More states than that are not solved as a dense system.
most_dense_states <- 300

# A list: n_states, n_actions, states, actions, discount, start [s], utility [s, a] (the worth of sure beliefs in it),
# and transition, one [from, to] per action: plain matrices, or sparse ones of the package Matrix where the states are
# many and the setting is given by rows. Many states have the tables of kernels as well, which solve them.
as_markov <- function(setting) {
  check_observed(setting)
  check_discount(setting$discount)
  n <- length(setting$states)
  many <- n > most_dense_states
  markov <- list(n_states = n, n_actions = length(setting$actions), states = setting$states, actions = setting$actions,
                 discount = setting$discount, start = unname(mean_start(setting)),
                 transition = transition_matrices(setting$transition, many),
                 utility = sure_utility(setting))
  if (many) markov$problem <- build_problem(setting)
  markov
}

sure_utility <- function(setting) {
  space <- open_space(vertices_space(length(setting$states)), setting$states)
  utility <- reward_at_nodes(setting, space)
  dimnames(utility) <- list(state = setting$states, action = setting$actions)
  utility
}

transition_matrices <- function(transition, many) {
  if (!is_by_rows(transition)) {
    return(lapply(seq_len(dim(transition)[3]), function(u) matrix(transition[, , u], dim(transition)[1])))
  }
  n <- transition$size[1]
  if (!many || !requireNamespace("Matrix", quietly = TRUE)) {
    refuse_too_large(8 * as.numeric(n)^2 * transition$size[2], "setting", plural(n, "state"),
                     " as plain matrices would be ", format_count(as.numeric(n)^2 * transition$size[2]), " numbers",
                     advice = "install the package 'Matrix'")
    dense <- array_of_rows(transition, NULL, NULL)
    return(lapply(seq_len(transition$size[2]), function(u) matrix(dense[, , u], n)))
  }
  row <- entry_rows(transition) - 1L
  lapply(seq_len(transition$size[2]), function(u) {
    these <- which(row %/% n == u - 1L)
    Matrix::sparseMatrix(i = row[these] %% n + 1L, j = transition$to[these], x = transition$probability[these],
                         dims = c(n, n))
  })
}

# What the next state is worth on average, [s, a], for value [s].
markov_next <- function(markov, value) {
  out <- vapply(markov$transition, function(law) as.vector(law %*% value), numeric(markov$n_states))
  matrix(out, markov$n_states, markov$n_actions)
}

# The chain that a policy [s, a] makes of it, [from, to].
markov_chain <- function(markov, policy) {
  Reduce(`+`, lapply(seq_len(markov$n_actions), function(u) markov$transition[[u]] * policy[, u]))
}

# V [s] of a policy [s, a].
markov_value <- function(markov, policy, utility = markov$utility) {
  if (!is.null(markov$problem)) return(many_value(markov, policy, utility))
  solve_chain(markov, markov_chain(markov, policy), rowSums(policy * utility))
}

solve_chain <- function(markov, chain, gain) {
  as.vector(solve(diag(markov$n_states) - markov$discount * chain, gain))
}

# The discounted share of visits at each state and action, [s, a]; sums to 1.
markov_occupancy <- function(markov, policy, start = markov$start) {
  if (!is.null(markov$problem)) {
    share <- many_occupancy(markov, policy, start)
  } else {
    share <- (1 - markov$discount) * solve_chain(markov, t(markov_chain(markov, policy)), start)
  }
  out <- pmax(share, 0) * policy
  out / sum(out)
}

# The best that can be had, by policy iteration: value [s], action_value [s, a], and a policy in which ties are shared.
# An action whose `prior` is 0 is not to be had.
markov_hard <- function(markov, utility = markov$utility, prior = NULL) {
  prior <- markov_prior(markov, prior)
  ruled_out <- rep(prior == 0, each = markov$n_states)
  at <- seq_len(markov$n_states)
  choice <- max.col(replace(utility, ruled_out, -Inf), "first")
  for (round in seq_len(1000)) {
    policy <- matrix(0, markov$n_states, markov$n_actions)
    policy[cbind(at, choice)] <- 1
    action_value <- utility + markov$discount * markov_next(markov, markov_value(markov, policy, utility))
    open <- replace(action_value, ruled_out, -Inf)
    better <- max.col(open, "first")
    # What differs by rounding is no reason to move, or ties would go round in a circle.
    moves <- open[cbind(at, better)] - open[cbind(at, choice)] > tie_width(action_value)
    if (!any(moves)) break
    choice[moves] <- better[moves]
  }
  open <- replace(share_ties(open, tie_width(action_value)), ruled_out, -Inf)
  value <- open[cbind(at, max.col(open, "first"))]
  policy <- (open == value) * rep(prior, each = markov$n_states)
  list(value = value, action_value = action_value, policy = policy / rowSums(policy))
}

# The same for an agent that pays `alpha` per nat by which it strays from the prior over actions (uniform by default),
# by Newton's method: each step is what the policy of the last values is worth, less what it costs.
markov_soft <- function(markov, alpha, prior = NULL, utility = markov$utility) {
  prior <- markov_prior(markov, prior)
  if (alpha == 0) return(markov_hard(markov, utility, prior))
  if (!is.null(markov$problem)) return(many_soft(markov, alpha, prior, utility))
  value <- numeric(markov$n_states)
  change <- Inf
  for (round in seq_len(500)) {
    action_value <- utility + markov$discount * markov_next(markov, value)
    choice <- soft_choice(action_value, alpha, prior)
    last <- value
    value <- markov_value(markov, choice$policy, utility - choice$cost)
    before <- change
    change <- max(abs(value - last))
    # Newton's steps shrink until rounding is all that is left.
    if (round > 1 && (change <= 1e-15 * max(abs(value)) || change >= before && change <= 1e-10 * max(abs(value)))) break
  }
  action_value <- utility + markov$discount * markov_next(markov, value)
  choice <- soft_choice(action_value, alpha, prior)
  list(value = choice$value, action_value = action_value, policy = choice$policy)
}

# The soft maximum over actions, the policy that attains it, and what each action costs there: alpha log(policy /
# prior).
soft_choice <- function(action_value, alpha, prior) {
  n <- nrow(action_value)
  each <- rep(prior, each = n)
  if (is.infinite(alpha)) {
    policy <- matrix(each, n)
    return(list(value = as.vector(action_value %*% prior), policy = policy, cost = 0 * policy))
  }
  open <- replace(action_value, each == 0, -Inf)
  best <- open[cbind(seq_len(n), max.col(open, "first"))]
  weight <- each * exp((open - best) / alpha)
  value <- best + alpha * log(unname(rowSums(weight)))
  list(value = value, policy = weight / rowSums(weight), cost = replace(action_value - value, each == 0, 0))
}

markov_prior <- function(markov, prior) {
  if (is.null(prior)) rep(1 / markov$n_actions, markov$n_actions) else unname(prior)
}

# ---- many states: by kernels --------------------------------------------------------------------------------------

many_problem <- function(markov, utility) {
  markov$problem$reward <- unname(utility)
  markov$problem
}

many_value <- function(markov, policy, utility) {
  problem <- many_problem(markov, utility)
  tolerance <- solve_tolerance(problem)
  result <- .Call(ffi_policy_value, problem$tables, agent_problem(problem, bounded_agent()), t(unname(policy)),
                  neutral_sigma(problem), tolerance, 10000L, 1L)
  refuse_unsolved(result, tolerance)
  result$value
}

many_occupancy <- function(markov, policy, start) {
  problem <- markov$problem
  result <- .Call(ffi_occupancy, problem$tables, t(unname(policy)), neutral_sigma(problem), markov$discount,
                  as.numeric(start), 1e-12)
  if (result$code != 0) abort("convergence", "The occupancy did not settle: the discount may be too close to 1.")
  result$occupancy
}

many_soft <- function(markov, alpha, prior, utility) {
  problem <- many_problem(markov, utility)
  solved <- solve_problem(problem, bounded_agent(alpha = alpha, action_prior = prior), solve_tolerance(problem))
  list(value = solved$solution$value, action_value = t(solved$solution$action_value),
       policy = t(solved$solution$policy))
}
