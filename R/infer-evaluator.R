# The log posterior of many chains at once. An evaluator is a plain list that says
# what is evaluated; the values that solves start from travel beside it, so that
# a run can be stopped and resumed exactly.

new_evaluator <- function(problem, histories, group, prior, fixed, tolerance, cores, likelihood = TRUE,
                          recipe = NULL) {
  list(
    prior = prior, fixed = fixed, group = group, cores = cores, likelihood = likelihood,
    recipe = recipe, most_worlds = if (!is.null(recipe)) most_worlds(problem),
    # Where a setting of its own says what it is at each point.
    free_discount = is.null(fixed$discount) && !"discount" %in% names(prior),
    fast = fast_terms(prior), places = parameter_places(prior, fixed, problem$setting),
    entries = utility_terms(prior), n_values = values_per_chain(problem, prior, fixed),
    utility = problem$setting$utility, space = problem$space, belief_worth = belief_worth(problem),
    # Prices and discount stand there to be replaced, by those of each vector.
    batch = list(tables = problem$tables, models = stack_models(problem$models),
                 problem = agent_problem(problem, bounded_agent()), histories = histories, space = problem$space,
                 by_value = problem$by_value, merge = as.integer(problem$surprise == "belief"),
                 start = kernel_starts(problem$setting), tolerance = tolerance, max_backups = 10000L)
  )
}

# Values that solves start from: one per node, and with a habit that is not 0 one per node and last action.
values_per_chain <- function(problem, prior, fixed) {
  habit <- "habit" %in% names(prior) || !identical(as.numeric(c(fixed$habit, 0)[1]), 0)
  problem$space$n_nodes * if (habit) length(problem$setting$actions) else 1L
}

# theta [chain, parameter] on the sampler's scale; values [value, chain] to start
# from; group: the tree of each row. Returns log prior and likelihood, and values.
evaluate_batch <- function(evaluator, theta, values, group = evaluator$group) {
  if (!is.null(evaluator$joint)) return(evaluate_joint(evaluator, theta, values))
  # One that knows itself what it is asked (infer-mode-effects.R).
  if (!is.null(evaluator$evaluate)) return(evaluator$evaluate(evaluator, theta, values))
  if (!is.null(evaluator$parts)) return(evaluate_sum(evaluator, theta, values, group))
  if (!is.null(evaluator$own)) return(evaluate_own(evaluator, theta, values, group))
  log_prior <- fast_log_density(evaluator$fast, theta)
  out <- list(log_prior = log_prior, log_likelihood = rep(0, length(log_prior)), value = values)
  if (!evaluator$likelihood) return(out)
  natural <- fast_natural(evaluator$fast, evaluator$prior, theta)
  # Which dynamics are whose goes along with what is inferred.
  if (!is.null(evaluator$recipe$codec)) natural <- cbind(natural, rep_len(evaluator$recipe$which, nrow(natural)))
  parameters <- parameters_of(evaluator$places, natural)
  finite <- parameters[evaluator$places$finite, , drop = FALSE]
  # A vector that the prior rules out is not worth a solve, nor one that left the doubles.
  if (all(is.finite(c(log_prior, finite))) && !anyNA(parameters)) {
    return(evaluate_possible(evaluator, out, parameters, natural, group))
  }
  possible <- is.finite(log_prior) & colSums(!is.finite(finite)) == 0 & colSums(is.na(parameters)) == 0
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
  slice <- min(evaluator$cores * slice_size(nrow(out$value), evaluator$batch$histories), evaluator$most_worlds)
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

# Tables that fit into memory at once; one does, or else there were no problem.
most_worlds <- function(problem) {
  max(1, floor(getOption("ibrc.max_bytes", 2e9) / plan_bytes(problem$models, problem$space)$bytes))
}

# A failed solve leaves nothing to start from.
evaluate_slice <- function(evaluator, out, parameters, natural, group) {
  asked <- batch_of(evaluator, parameters, natural)
  result <- .Call(ffi_evaluate, asked$batch, asked$parameters, asked$rewards, out$value, group - 1L, evaluator$cores)
  failed <- result$code != 0L
  if (any(failed)) result$value[, failed] <- out$value[, failed]
  out$log_likelihood <- result$log_likelihood
  out$value <- result$value
  out
}

# What C is asked: with a recipe, vectors bring laws, rewards and discounts of their own.
batch_of <- function(evaluator, parameters, natural) {
  out <- list(batch = evaluator$batch, parameters = parameters, rewards = NULL)
  recipe <- evaluator$recipe
  if (is.null(recipe) || !setting_varies(recipe)) out["rewards"] <- list(rewards_of(evaluator, natural))
  if (is.null(recipe)) return(out)
  worlds <- worlds_of(recipe, natural, evaluator$prior, evaluator$space, inferred_utility(evaluator, natural))
  out$batch[c("laws", "law")] <- worlds[c("laws", "law")]
  if (!setting_varies(recipe)) return(out)
  out$rewards <- worlds$rewards
  if (evaluator$free_discount) out$parameters[evaluator$places$discount, ] <- worlds$discount
  out
}

# How inferred entries stand in the utility at a row of natural values, or NULL where there are none.
inferred_utility <- function(evaluator, natural) {
  if (!length(evaluator$entries$term)) return(NULL)
  function(utility, row) utility_at(utility, evaluator$entries, natural[row, ])
}

# Where the numbers of each parameter come from: a `column` of the natural values, inverted or not, or what is `held`.
# `sticks` are the columns of a simplex (infer-simplex.R).
parameter_places <- function(prior, fixed, setting) {
  single <- names(parameters)[parameter_column("per") == "agent"]
  inverse <- parameter_column("inverse")[single]
  column <- match(single, names(prior))
  inverted <- is.na(column) & !is.na(inverse) & inverse %in% names(prior)
  column[inverted] <- match(inverse[inverted], names(prior))
  list(column = column, inverted = unname(inverted), inferred = which(!is.na(column)),
       sticks = simplex_columns(prior, "action_prior"), n_single = length(single),
       finite = c(parameters$eta$slot, parameters$habit$slot), discount = parameters$discount$slot,
       held = unname(c(vapply(single, held_number, 0, fixed, setting), action_prior_of(fixed, setting))))
}

# The value at which a parameter is held: as fixed, or else rational, or the setting's own.
held_number <- function(name, fixed, setting) {
  if (name %in% names(price_inverses)) return(price_from(name, fixed))
  if (!is.null(fixed[[name]])) return(fixed[[name]])
  rational <- parameters[[name]]$rational
  if (is.na(rational)) setting[[name]] else rational
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
  if (!is.null(inverse$recipe)) problem <- recipe_problem(inverse$recipe, natural, inverse$prior, problem)
  places <- parameter_places(inverse$prior, inverse$fixed, problem$setting)
  numbers <- parameters_of(places, natural)[, 1]
  entries <- utility_terms(inverse$prior)
  if (length(entries$term)) problem <- with_utility(problem, utility_at(problem$setting$utility, entries, natural[1, ]))
  number <- function(name) numbers[[parameters[[name]]$slot]]
  problem$setting$discount <- number("discount")
  own <- setdiff(names(parameters)[seq_len(places$n_single)], "discount")
  agent <- do.call(bounded_agent, c(lapply(stats::setNames(nm = own), number),
                                    list(action_prior = held_prior(numbers[-seq_len(places$n_single)]))))
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

# Several problems, one agent: `parts` are evaluators of each, with the `place` of every group among their trees (NA:
# it has none). Values stand one problem after the other.
new_sum_evaluator <- function(parts, group) {
  n_values <- vapply(parts, `[[`, 0, "n_values")
  c(parts[[1]][c("prior", "fixed", "cores", "likelihood", "fast")],
    list(group = group, parts = parts, n_values = sum(n_values),
         values = unname(split(seq_len(sum(n_values)), rep(seq_along(parts), n_values)))))
}

evaluate_sum <- function(evaluator, theta, values, group) {
  out <- list(log_prior = fast_log_density(evaluator$fast, theta), log_likelihood = numeric(nrow(theta)),
              value = values)
  for (k in seq_along(evaluator$parts)) {
    part <- evaluator$parts[[k]]
    part[c("cores", "likelihood")] <- evaluator[c("cores", "likelihood")]
    # Where one problem has ruled it out, there is nothing to add.
    mine <- which(!is.na(part$place[group]) & out$log_likelihood > -Inf)
    if (!length(mine)) next
    own <- evaluator$values[[k]]
    found <- evaluate_batch(part, theta[mine, , drop = FALSE], values[own, mine, drop = FALSE], part$place[group[mine]])
    out$log_likelihood[mine] <- out$log_likelihood[mine] + found$log_likelihood
    out$value[own, mine] <- found$value
  }
  out
}

# The same of one group, without any other's trees.
sum_of_group <- function(evaluator, g) {
  evaluator$group <- rep(1L, sum(evaluator$group == g))
  evaluator$parts <- lapply(evaluator$parts, function(part) {
    at <- part$place[g]
    part$batch$histories <- part$batch$histories[at[!is.na(at)]]
    part$place <- if (is.na(at)) NA else 1L
    part
  })
  evaluator
}

# Dynamics and agents together (infer-joint.R): theta [chain, term] are the logits of the laws' fractions, then the
# terms of each group's agent. A chain has one world and as many solves as there are groups; `values` are
# [value * group, chain].
evaluate_joint <- function(evaluator, theta, values) {
  joint <- evaluator$joint
  codec <- joint$codec
  n_groups <- joint$n_groups
  n_laws <- length(codec$prior)
  agents <- agents_of(theta, n_laws, n_groups)
  own <- .rowSums(fast_log_density(evaluator$agent$fast, agents), nrow(theta), n_groups)
  log_prior <- log_law_density(codec, theta[, seq_len(n_laws), drop = FALSE]) + own
  log_prior[!is.finite(log_prior)] <- -Inf
  out <- list(log_prior = log_prior, log_likelihood = numeric(nrow(theta)), value = values)
  if (!evaluator$likelihood) return(out)
  out$log_likelihood[] <- -Inf
  some <- which(is.finite(log_prior))
  if (!length(some)) return(out)
  vectors <- vectors_of(codec, stats::plogis(theta[some, seq_len(n_laws), drop = FALSE]))
  seen <- observation_log_lik(codec, joint$tree, vectors, evaluator$cores)
  some <- some[is.finite(seen)]
  if (!length(some)) return(out)
  agent <- evaluator$agent
  agent$cores <- evaluator$cores
  agent$recipe$vectors <- vectors[is.finite(seen), , drop = FALSE]
  agent$recipe$which <- rep(seq_along(some), n_groups)
  n_values <- agent$n_values
  rows <- some + rep(nrow(theta) * (seq_len(n_groups) - 1L), each = length(some))
  from <- aperm(array(values[, some], c(n_values, n_groups, length(some))), c(1, 3, 2))
  found <- evaluate_batch(agent, agents[rows, , drop = FALSE], matrix(from, n_values),
                          rep(seq_len(n_groups), each = length(some)))
  out$log_likelihood[some] <- seen[is.finite(seen)] + .rowSums(found$log_likelihood, length(some), n_groups)
  out$value[, some] <- aperm(array(found$value, c(n_values, length(some), n_groups)), c(1, 3, 2))
  out
}

# The agents' part of theta, [chain and group, term], chains fastest.
agents_of <- function(theta, n_laws, n_groups) {
  n_terms <- (ncol(theta) - n_laws) / n_groups
  matrix(aperm(array(theta[, -seq_len(n_laws)], c(nrow(theta), n_terms, n_groups)), c(1, 3, 2)), ncol = n_terms)
}
