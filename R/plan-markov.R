# A setting in which the state is seen, as a Markov decision process in plain R. Planners and inverse planners of such
# settings compute with it. All matrices are [state, action]. V = alpha log sum prior exp(Q / alpha) in the soft
# case, and the maximum of Q in the hard one.

# The tables of such a setting. Any other setting is refused.
observed_problem <- function(setting) {
  check_observed(setting)
  build_problem(setting)
}

check_observed <- function(setting, argument = "setting") {
  check_class(setting, "ibrc_setting", argument, "decision_setting()")
  if (!is_identity(setting$emission)) {
    abort_input(argument, "must be one in which the state is seen (`emission = \"identity\"`). Where it is hidden, ",
                "use plan_pomdp() for the best plan, plan_agent() for somebody who pays for deciding (`alpha`), or ",
                "plan_history_q_learning() for somebody who learns by trial.", topic = "planners")
  }
  invisible(setting)
}

# Settings with more states than this are not solved as a dense system.
most_dense_states <- 300

# A list: n_states, n_actions, states, actions, discount, start [s], utility [s, a] (which includes the worth of sure
# beliefs), and transition, one [from, to] per action. These are plain matrices, or sparse ones of the package Matrix if
# there are many states and the setting is given by rows. With many states there are also the tables of the kernels,
# which then solve the problem.
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

# The Markov chain under a policy [s, a], as [from, to].
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

# The optimum, by policy iteration: value [s], action_value [s, a], and a policy in which ties share the probability.
# An action whose `prior` is 0 cannot be taken. `value`: values near the best ones to begin from, if there are any.
#
# The policy is changed according to the values of the last one. First only changes that gain more than `rough_width()`
# are made, which is quick. If some actions are closer to each other than that, values are refined, and each difference
# is compared with what rounding can do to it in that state. Large values in other states then play no part, unless
# those states are reached.
markov_hard <- function(markov, utility = markov$utility, prior = NULL, value = NULL) {
  prior <- markov_prior(markov, prior)
  ruled_out <- rep(prior == 0, each = markov$n_states)
  at <- seq_len(markov$n_states)
  first <- if (is.null(value)) utility else action_worth(markov, value, utility)
  choice <- max.col(replace(first, ruled_out, -Inf), "first")
  look <- rough_look
  for (round in seq_len(1000)) {
    seen <- look(markov, one_action_policy(choice, markov$n_actions), utility)
    open <- replace(seen$action_value, ruled_out, -Inf)
    better <- max.col(open, "first")
    # A difference due to rounding is no reason to change an action; otherwise ties would make the search cycle.
    moves <- open[cbind(at, better)] - open[cbind(at, choice)] >
      seen$error[cbind(at, better)] + seen$error[cbind(at, choice)]
    choice[moves] <- better[moves]
    if (any(moves)) next
    if (identical(look, close_look) || !any_close(open, seen$error)) break
    look <- close_look
  }
  tied <- near_best(open, seen$error)
  policy <- tied * rep(prior, each = markov$n_states)
  list(value = open[cbind(at, better)], action_value = seen$action_value, policy = policy / rowSums(policy))
}

one_action_policy <- function(choice, n_actions) {
  policy <- matrix(0, length(choice), n_actions)
  policy[cbind(seq_along(choice), choice)] <- 1
  policy
}

# What actions are worth if `value` [s] follows, as [s, a]. A problem without transitions has tables of kernels.
action_worth <- function(markov, value, utility) {
  if (!is.null(markov$transition)) return(utility + markov$discount * markov_next(markov, value))
  problem <- many_problem(markov, utility)
  t(.Call(ffi_backup, problem$tables, agent_problem(problem, bounded_agent()), value, 0L, 1L)$action_value)
}

# Action values [s, a] under a policy, and by how much each of them may be wrong.
rough_look <- function(markov, policy, utility) {
  action_value <- action_worth(markov, markov_value(markov, policy, utility), utility)
  list(action_value = action_value,
       error = matrix(rough_width(markov, action_value), nrow(action_value), ncol(action_value)))
}
rough_width <- function(markov, action_value) {
  max(1e-9, 16 * .Machine$double.eps / (1 - markov$discount)) * max(abs(action_value)) / 2
}

# The same to the last digit that rounding allows. The error of a policy's values solves a small problem of its own with
# the same dynamics. So does the effect of rounding, if its utility is made of roundings with different signs. Errors
# that all actions of a state share do not count, because they do not separate any two of them.
close_look <- function(markov, policy, utility) {
  value <- markov_value(markov, policy, utility)
  for (again in 1:2) value <- value + values_lacking(markov, policy, value, utility)
  summands <- action_worth(markov, abs(value), abs(utility))
  rounding <- .Machine$double.eps * (rowSums(policy * summands) + abs(value))
  parted <- lapply(1:4, function(trial) {
    # Signs that have no pattern but are the same at each call.
    sign <- ifelse(sin(seq_along(value)^2 * (trial + sqrt(trial))) < 0, -1, 1)
    off <- action_worth(markov, markov_value(markov, policy, everywhere(markov, sign * rounding)), 0 * utility)
    abs(off - rowSums(policy * off))
  })
  list(action_value = action_worth(markov, value, utility),
       error = rounded_digits * (do.call(pmax, parted) + .Machine$double.eps * summands))
}

values_lacking <- function(markov, policy, value, utility) {
  lacking <- rowSums(policy * action_worth(markov, value, utility)) - value
  markov_value(markov, policy, everywhere(markov, lacking))
}

# One number per state, the same for every action.
everywhere <- function(markov, x) matrix(x, markov$n_states, markov$n_actions)

# The factor by which such roundings are multiplied, to be safe.
rounded_digits <- 8

# Is any row's best action in doubt?
any_close <- function(action_value, error) any(rowSums(near_best(action_value, error)) > 1)

# The nodes of a problem as states. The models keep their weights.
problem_markov <- function(problem) {
  list(n_states = problem$space$n_nodes, n_actions = length(problem$setting$actions),
       discount = problem$setting$discount, utility = problem$reward, problem = problem)
}

# The same for an agent that pays `alpha` per nat by which it departs from the prior over actions (uniform by default),
# by Newton's method. Each step gives what the policy of the last values is worth, less what it costs.
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

# The soft maximum over actions, the policy that attains it, and what each action costs there:
# alpha log(policy / prior).
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
  refuse_unplanned(result, tolerance)
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
  solved <- solve_planned(problem, bounded_agent(alpha = alpha, action_prior = prior), solve_tolerance(problem))
  list(value = solved$solution$value, action_value = t(solved$solution$action_value),
       policy = t(solved$solution$policy))
}
