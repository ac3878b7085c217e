# The log posterior of many chains at once. An evaluator is a plain list that says
# what is evaluated; the values that solves start from travel beside it, so that
# a run can be stopped and resumed exactly.

new_evaluator <- function(plan, histories, group, prior, fixed, tolerance, cores, likelihood = TRUE) {
  list(
    prior = prior, fixed = fixed, group = group, cores = cores, likelihood = likelihood,
    discount = plan$setting$discount, utility = plan$setting$utility, nodes = unname(plan$nodes),
    belief_worth = plan$reward - plan$nodes %*% plan$setting$utility,
    batch = list(tables = plan$tables, models = stack_models(plan$models), problem = plan$problem,
                 histories = histories, resolution = plan$resolution, by_value = plan$by_value,
                 start = unname(plan$setting$start), tolerance = tolerance, max_backups = 10000L)
  )
}

# theta [chain, parameter] on the sampler's scale; values [node, chain] to start
# from; group: the tree of each row. Returns log prior and likelihood, and values.
evaluate_batch <- function(evaluator, theta, values, group = evaluator$group) {
  log_prior <- prior_log_density(evaluator$prior, theta)
  out <- list(log_prior = log_prior, log_likelihood = rep(0, length(log_prior)), value = values)
  if (!evaluator$likelihood) return(out)
  natural <- prior_natural(evaluator$prior, theta)
  possible <- is.finite(log_prior)
  # A vector that the prior rules out is not worth a solve, nor one that left the doubles.
  parameters <- parameters_of(evaluator, natural)
  possible <- possible & is.finite(parameters[3, ]) & !is.na(colSums(parameters))
  out$log_likelihood[!possible] <- -Inf
  if (!any(possible)) return(out)
  rewards <- rewards_of(evaluator, natural[possible, , drop = FALSE])
  result <- .Call(ffi_evaluate, evaluator$batch, parameters[, possible, drop = FALSE], rewards,
                  values[, possible, drop = FALSE], group[possible] - 1L, evaluator$cores)
  out$log_likelihood[possible] <- result$log_likelihood
  # A failed solve leaves nothing to start from.
  solved <- which(possible)[result$code == 0]
  out$value[, solved] <- result$value[, result$code == 0]
  out
}

# alpha, beta, eta, discount [4, chain].
parameters_of <- function(evaluator, natural) {
  prices <- prior_agent_values(evaluator$prior, natural, evaluator$fixed)
  discount <- if ("discount" %in% colnames(natural)) natural[, "discount"] else
    if (!is.null(evaluator$fixed$discount)) evaluator$fixed$discount else evaluator$discount
  unname(rbind(t(prices), discount))
}

# Rewards [cell, chain] where entries of the utility are inferred, else NULL.
rewards_of <- function(evaluator, natural) {
  entries <- utility_terms(evaluator$prior)
  if (!length(entries$term)) return(NULL)
  at <- cbind(match(entries$state, rownames(evaluator$utility)), match(entries$action, colnames(evaluator$utility)))
  vapply(seq_len(nrow(natural)), function(i) {
    utility <- evaluator$utility
    utility[at] <- natural[i, entries$term]
    as.vector(t(evaluator$nodes %*% utility + evaluator$belief_worth))
  }, numeric(length(evaluator$batch$problem$reward)))
}

# The inferred entries of the utility: their terms, states and actions.
utility_terms <- function(prior) {
  entries <- Filter(function(entry) !is.null(entry$state) && !is.na(entry$state), unclass(prior))
  list(term = names(entries), state = vapply(entries, `[[`, "", "state"),
       action = vapply(entries, `[[`, "", "action"))
}

prior_terms <- function(prior) names(prior)

# Runs code on a stream of its own; the caller's generator is put back.
with_stream <- function(stream, code) {
  keep_random_state({
    assign(".Random.seed", stream, envir = globalenv())
    force(code)
  })
}
