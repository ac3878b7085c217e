# Draws of a fit whose dynamics were inferred, with the weights that they would have under another assumption. Each draw
# has its own laws. Groups share them, so a draw has one weight for all groups. Where the dynamics were drawn without
# the actions, no weight may go from one draw of the dynamics to another.

# A function of a change, as weight_refitter() returns it.
dynamics_refitter <- function(fit, ask) {
  require_package("loo", "Weighing draws")
  chosen <- weighed_draws(fit, ask$draws)
  draws <- lapply(fit$draws, function(draws) flat_draws(draws)[chosen$.draw, , drop = FALSE])
  laws <- laws_at(fit, chosen)
  own <- density_with_laws(fit, draws, laws, ask$cores)
  function(change) {
    inverse <- changed_inverse(fit, change, ask$cores)
    if (reaches_beyond(inverse$prior, fit$prior)) {
      stop("this prior allows values that the fit's prior does not, where there are no draws: fit again with it")
    }
    there <- if (length(change)) density_with_laws(inverse, draws, laws, ask$cores) else own
    ratio <- Reduce(`+`, there$log_lik) + Reduce(`+`, there$log_prior) - Reduce(`+`, own$log_lik) -
      Reduce(`+`, own$log_prior)
    weighed <- weights_with_dynamics(fit, ratio, chosen)
    if (is.na(weighed$pareto_k) || weighed$pareto_k > 0.7) {
      return(refused_weights(fit, draws, ask, weighed$pareto_k, "fit again"))
    }
    if (is_cut(fit) && weighed$effective < weighed$asked) {
      return(refused_weights(fit, draws, ask, weighed$pareto_k, "fit again", few_words(weighed)))
    }
    weight_piece(fit, draws, rep(list(weighed$weight), length(draws)), there$log_lik, weighed$pareto_k, ask,
                 paired = TRUE)
  }
}

# The same number from every chain.
weighed_draws <- function(fit, draws) {
  chains <- dim(fit$draws[[1]])[2]
  chosen <- spaced_draws(fit, if (!is.null(draws)) chains * max(1, draws %/% chains))
  if (nrow(chosen) < least_loo_draws) {
    abort_input("fit", "has fewer than ", least_loo_draws, " draws: too few to weigh. Run more iterations.")
  }
  chosen
}

# Like density_at_draws(), with each draw under its own laws.
density_with_laws <- function(inverse, draws, laws, cores) {
  evaluator <- inverse_evaluator(inverse, cores = cores)
  log_lik <- lapply(seq_along(draws), function(g) {
    theta <- prior_unconstrain(inverse$prior, draws[[g]])
    out <- rep(-Inf, nrow(theta))
    possible <- which(rowSums(!is.finite(theta)) == 0)
    for (rows in in_pieces(possible, max(1, floor(values_at_once / evaluator$n_values)))) {
      out[rows] <- log_likelihood_at(with_laws(evaluator, laws[rows, , drop = FALSE]), theta[rows, , drop = FALSE], g)
    }
    out
  })
  list(log_lik = log_lik, log_prior = log_prior_at(inverse$prior, draws))
}

# With sum 1; for a cut fit, with the same sum under each draw of the dynamics. Pareto k is of all weights together. It
# does not see that one draw of the dynamics may depend on one of its few draws: `effective` has the fewest effective
# draws under any of them, and `asked` says how many there must be.
weights_with_dynamics <- function(fit, ratio, chosen) {
  if (!is_cut(fit)) return(pareto_weights(ratio, chosen$.chain))
  draw <- dynamics_of_chain(fit, chosen$.chain)
  top <- stats::ave(ratio, draw, FUN = max)
  if (!all(is.finite(top))) return(list(weight = rep(NA_real_, length(ratio)), pareto_k = NA_real_))
  found <- pareto_weights(ratio - top - log(stats::ave(exp(ratio - top), draw)), chosen$.chain)
  within <- found$weight / stats::ave(found$weight, draw, FUN = sum)
  found$weight <- within / length(unique(draw))
  found$effective <- min(1 / rowsum(within^2, draw))
  found$asked <- min(least_effective_within, tabulate(draw) / 2)
  found
}

# Needed under each draw of the dynamics of a cut fit; if there are fewer than twice as many draws, half of them.
least_effective_within <- 10

few_words <- function(weighed) {
  paste0("under one draw of the dynamics the weights leave ", format_number(weighed$effective, 2),
         " effective draws, fewer than ", format_number(weighed$asked, 2))
}
