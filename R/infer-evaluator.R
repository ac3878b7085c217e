# The log posterior of many chains at once. An evaluator is a plain list that says
# what is evaluated; the values that solves start from travel beside it, so that
# a run can be stopped and resumed exactly.

new_evaluator <- function(problem, histories, group, prior, fixed, tolerance, cores, likelihood = TRUE) {
  list(
    prior = prior, fixed = fixed, group = group, cores = cores, likelihood = likelihood,
    fast = fast_terms(prior), places = parameter_places(prior, fixed, problem$setting),
    entries = utility_terms(prior),
    utility = problem$setting$utility, space = problem$space, belief_worth = belief_worth(problem),
    # Prices and discount stand there to be replaced, by those of each vector.
    batch = list(tables = problem$tables, models = stack_models(problem$models),
                 problem = agent_problem(problem, bounded_agent()), histories = histories, space = problem$space,
                 by_value = problem$by_value,
                 start = kernel_starts(problem$setting), tolerance = tolerance, max_backups = 10000L)
  )
}

# theta [chain, parameter] on the sampler's scale; values [node, chain] to start
# from; group: the tree of each row. Returns log prior and likelihood, and values.
evaluate_batch <- function(evaluator, theta, values, group = evaluator$group) {
  if (!is.null(evaluator$own)) return(evaluate_own(evaluator, theta, values, group))
  log_prior <- fast_log_density(evaluator$fast, theta)
  out <- list(log_prior = log_prior, log_likelihood = rep(0, length(log_prior)), value = values)
  if (!evaluator$likelihood) return(out)
  natural <- fast_natural(evaluator$fast, evaluator$prior, theta)
  parameters <- parameters_of(evaluator$places, natural)
  eta <- parameters[evaluator$places$eta, ]
  # A vector that the prior rules out is not worth a solve, nor one that left the doubles.
  if (all(is.finite(c(log_prior, eta))) && !anyNA(parameters)) {
    return(evaluate_possible(evaluator, out, parameters, natural, group))
  }
  possible <- is.finite(log_prior) & is.finite(eta) & colSums(is.na(parameters)) == 0
  out$log_likelihood[!possible] <- -Inf
  if (!any(possible)) return(out)
  some <- list(log_likelihood = numeric(sum(possible)), value = values[, possible, drop = FALSE])
  some <- evaluate_possible(evaluator, some, parameters[, possible, drop = FALSE],
                            natural[possible, , drop = FALSE], group[possible])
  out$log_likelihood[possible] <- some$log_likelihood
  out$value[, possible] <- some$value
  out
}

# Fills `log_likelihood` and `value` of a batch. Large batches go in slices, so that
# an interrupt need not wait for all of them; vectors do not know of each other.
evaluate_possible <- function(evaluator, out, parameters, natural, group) {
  n <- length(group)
  slice <- evaluator$cores * slice_size(nrow(out$value), evaluator$batch$histories)
  if (n <= slice) return(evaluate_slice(evaluator, out, parameters, natural, group))
  parts <- lapply(seq(1, n, by = slice), function(first) {
    these <- first:min(n, first + slice - 1)
    some <- list(log_likelihood = out$log_likelihood[these], value = out$value[, these, drop = FALSE])
    evaluate_slice(evaluator, some, parameters[, these, drop = FALSE], natural[these, , drop = FALSE], group[these])
  })
  out$log_likelihood <- unlist(lapply(parts, `[[`, "log_likelihood"))
  out$value <- do.call(cbind, lapply(parts, `[[`, "value"))
  out
}

# Vectors that one thread gets through in a moment: solves grow with the nodes, likelihoods with the largest tree.
slice_size <- function(n_nodes, histories) {
  largest <- max(vapply(histories, function(tree) tree$n_histories, 0L))
  max(1, min(8, 10000 %/% n_nodes, 50000 %/% largest))
}

# A failed solve leaves nothing to start from.
evaluate_slice <- function(evaluator, out, parameters, natural, group) {
  result <- .Call(ffi_evaluate, evaluator$batch, parameters, rewards_of(evaluator, natural), out$value, group - 1L,
                  evaluator$cores)
  failed <- result$code != 0L
  if (any(failed)) result$value[, failed] <- out$value[, failed]
  out$log_likelihood <- result$log_likelihood
  out$value <- result$value
  out
}

# Where the numbers of each parameter come from: a `column` of the natural values, inverted or not, or what is `held`.
# `sticks` are the columns of a simplex (infer-simplex.R).
parameter_places <- function(prior, fixed, setting) {
  single <- names(parameters)[parameter_column("per") == "agent"]
  inverse <- parameter_column("inverse")[single]
  column <- match(single, names(prior))
  inverted <- is.na(column) & !is.na(inverse) & inverse %in% names(prior)
  column[inverted] <- match(inverse[inverted], names(prior))
  prices <- vapply(names(price_inverses), price_from, 0, fixed)
  agent <- bounded_agent(action_prior = fixed$action_prior)
  list(column = column, inverted = unname(inverted), inferred = which(!is.na(column)),
       sticks = simplex_columns(prior, "action_prior"), n_single = length(single),
       eta = parameters$eta$slot,
       held = unname(c(prices, if (is.null(fixed$discount)) setting$discount else fixed$discount,
                       action_prior_of(agent, setting))))
}

# [slot, chain], as src/evaluator.h has it.
parameters_of <- function(places, natural) {
  n <- nrow(natural)
  out <- rep.int(places$held, n)
  dim(out) <- c(length(places$held), n)
  if (length(places$inferred)) {
    inferred <- t.default(natural[, places$column[places$inferred], drop = FALSE])
    inverted <- places$inverted[places$inferred]
    if (any(inverted)) inferred[inverted, ] <- 1 / inferred[inverted, ]
    out[places$inferred, ] <- inferred
  }
  if (length(places$sticks)) {
    out[-seq_len(places$n_single), ] <- t.default(from_sticks(natural[, places$sticks, drop = FALSE]))
  }
  out
}

# Rewards [cell, chain] where entries of the utility are inferred, else NULL.
rewards_of <- function(evaluator, natural) {
  if (!length(evaluator$entries$term)) return(NULL)
  vapply(seq_len(nrow(natural)), function(i) {
    utility <- utility_at(evaluator$utility, evaluator$entries, natural[i, ])
    as.vector(t(expect_at_nodes(evaluator$space, utility) + evaluator$belief_worth))
  }, numeric(length(evaluator$batch$problem$reward)))
}

utility_at <- function(utility, entries, natural) {
  at <- cbind(match(entries$state, rownames(utility)), match(entries$action, colnames(utility)))
  utility[at] <- natural[entries$column]
  utility
}

# The plan at one row of natural values, from the numbers that a likelihood there is worked out with.
plan_at <- function(inverse, natural, problem = inverse$problem, start = numeric(problem$space$n_nodes)) {
  places <- parameter_places(inverse$prior, inverse$fixed, problem$setting)
  numbers <- parameters_of(places, natural)[, 1]
  entries <- utility_terms(inverse$prior)
  if (length(entries$term)) problem <- with_utility(problem, utility_at(problem$setting$utility, entries, natural[1, ]))
  number <- function(name) numbers[[parameters[[name]]$slot]]
  problem$setting$discount <- number("discount")
  agent <- bounded_agent(number("alpha"), number("beta"), number("eta"),
                         action_prior = held_prior(numbers[-seq_len(places$n_single)]))
  solve_problem(problem, agent, inverse$tolerance, start = start)
}

# An agent whose action prior is uniform has none of its own.
held_prior <- function(probabilities) if (diff(range(probabilities)) > 0) probabilities

# The inferred entries of the utility: their terms, states and actions.
utility_terms <- function(prior) {
  entries <- Filter(function(entry) !is.null(entry$state) && !is.na(entry$state), unclass(prior))
  list(term = names(entries), column = match(names(entries), names(prior)), state = vapply(entries, `[[`, "", "state"),
       action = vapply(entries, `[[`, "", "action"))
}

# evaluate_batch() of chains whose groups have evaluators of their own.
evaluate_own <- function(evaluator, theta, values, group) {
  out <- list(log_prior = numeric(nrow(theta)), log_likelihood = numeric(nrow(theta)), value = values)
  for (g in unique(group)) {
    mine <- which(group == g)
    own <- evaluator$own[[g]]
    own$cores <- evaluator$cores
    part <- evaluate_batch(own, theta[mine, , drop = FALSE], values[, mine, drop = FALSE], rep(1L, length(mine)))
    out$log_prior[mine] <- part$log_prior
    out$log_likelihood[mine] <- part$log_likelihood
    out$value[, mine] <- part$value
  }
  out
}
