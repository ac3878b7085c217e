# Draws of a fit with the weights that they would have under another assumption: their likelihood and prior there, over
# those that the fit has.

# A function of a change, as mode_refitter() is.
weight_refitter <- function(fit, ask) {
  if (!inherits(fit, "ibrc_fit")) abort_input("method", "= \"reweight\" needs the draws of a fit: `fit` is a mode.")
  require_package("loo", "Weighing draws")
  chosen <- spaced_draws(fit, ask$draws)
  if (nrow(chosen) < least_loo_draws) {
    abort_input("fit", "has fewer than ", least_loo_draws, " draws: too few to weigh. Use method = \"mode\".")
  }
  draws <- lapply(fit$draws, function(draws) flat_draws(draws)[chosen$.draw, , drop = FALSE])
  own <- density_at_draws(fit, draws, ask$cores)
  function(change) {
    inverse <- changed_inverse(fit, change, ask$cores)
    if (reaches_beyond(inverse$prior, fit$prior)) {
      stop("this prior allows values that the fit's prior does not, where there are no draws: use method = \"mode\"")
    }
    there <- if (length(change)) density_at_draws(inverse, draws, ask$cores) else own
    weighed <- lapply(seq_along(draws), function(g) {
      pareto_weights(there$log_lik[[g]] + there$log_prior[[g]] - own$log_lik[[g]] - own$log_prior[[g]], chosen$.chain)
    })
    pareto_k <- max(vapply(weighed, `[[`, 0, "pareto_k"))
    # A value that cannot be computed cannot be trusted.
    if (is.na(pareto_k) || pareto_k > 0.7) {
      return(refused_weights(fit, draws, ask, pareto_k))
    }
    weight_piece(fit, draws, lapply(weighed, `[[`, "weight"), there$log_lik, pareto_k, ask)
  }
}

refused_weights <- function(fit, draws, ask, pareto_k, instead = "use method = \"mode\"",
                            why = pareto_words(pareto_k)) {
  equal <- lapply(draws, function(one) rep(1 / nrow(one), nrow(one)))
  out <- failed_piece(weight_piece(fit, draws, equal, equal, 0, ask),
                      paste0(why, ": draws of this fit cannot stand for it; ", instead))
  out$pareto_k <- pareto_k
  out
}

pareto_words <- function(pareto_k) {
  if (is.na(pareto_k)) return("no draw of this fit is possible under it")
  paste0("Pareto k is ", format_number(pareto_k, 2), ", above 0.7")
}

# Log-likelihood and log prior density, on the natural scale, of the same values; one vector per group.
density_at_draws <- function(inverse, draws, cores) {
  evaluator <- inverse_evaluator(inverse, cores = cores)
  log_lik <- lapply(seq_along(draws), function(g) {
    theta <- prior_unconstrain(inverse$prior, draws[[g]])
    possible <- rowSums(!is.finite(theta)) == 0
    out <- rep(-Inf, nrow(theta))
    for (rows in in_pieces(which(possible), max(1, floor(values_at_once / evaluator$n_values)))) {
      out[rows] <- log_likelihood_at(evaluator, theta[rows, , drop = FALSE], g)
    }
    out
  })
  list(log_lik = log_lik, log_prior = log_prior_at(inverse$prior, draws))
}

log_prior_at <- function(prior, draws) {
  unname(lapply(draws, function(values) {
    Reduce(`+`, lapply(seq_along(prior), function(j) natural_log_density(prior[[j]], values[, j])))
  }))
}

# Whether a prior allows what another rules out.
reaches_beyond <- function(prior, other) {
  any(unlist(Map(function(one, two) one$lower < two$lower || one$upper > two$upper, unclass(prior), unclass(other))))
}

# Pareto-smoothed, with sum 1. Ratios that are all the same need no smoothing.
pareto_weights <- function(log_ratio, chain) {
  n <- length(log_ratio)
  if (!any(is.finite(log_ratio))) return(list(weight = rep(NA_real_, n), pareto_k = NA_real_))
  if (all(is.finite(log_ratio)) && diff(range(log_ratio)) < 1e-10) return(list(weight = rep(1 / n, n), pareto_k = 0))
  ratio <- exp(log_ratio - max(log_ratio))
  efficiency <- loo::relative_eff(matrix(ratio, ncol = 1), chain_id = chain)
  if (!is.finite(efficiency)) efficiency <- 1
  # loo needs finite logarithms: a weight of 0 becomes one that rounds to it.
  log_ratio <- pmax(log_ratio - max(log_ratio), -700)
  found <- without_pareto_warnings(loo::psis(log_ratio, r_eff = efficiency))
  list(weight = as.vector(stats::weights(found, log = FALSE)), pareto_k = found$diagnostics$pareto_k)
}

# `paired`: whether draws of two groups with the same number were drawn together.
weight_piece <- function(fit, draws, weight, log_lik, pareto_k, ask, paired = FALSE) {
  shown <- lapply(draws, function(values) reported_values(fit$prior, values, fit$problem$setting$actions))
  groups <- names(draws)
  levels <- do.call(rbind, lapply(seq_along(shown), function(g) {
    values <- shown[[g]]
    numbers <- t(apply(values, 2, weighted_summary, weight[[g]], ask$conf.level))
    colnames(numbers) <- sensitivity_numbers
    data.frame(term = colnames(values), group = if (is_grouped(fit)) groups[g] else NA_character_, numbers)
  }))
  # Groups are independent, and each draw of one goes with each draw of the other, unless they share their dynamics.
  contrasts <- contrast_table(levels$term, ask$pairs, function(term, pair, scale) {
    at <- match(pair, groups)
    one <- shown[[at[1]]][, term]
    other <- shown[[at[2]]][, term]
    if (paired) {
      numbers <- weighted_summary(if (scale == "ratio") one / other else one - other, weight[[at[1]]], ask$conf.level)
      if (scale == "ratio") numbers[2] <- weighted_sd(log(one / other), weight[[at[1]]])
      return(numbers)
    }
    ratio <- scale == "ratio"
    spread <- function(of) sqrt(weighted_sd(of(one), weight[[at[1]]])^2 + weighted_sd(of(other), weight[[at[2]]])^2)
    quantiles <- pair_quantiles(one, weight[[at[1]]], other, weight[[at[2]]], ask$conf.level, ratio)
    c(quantiles[1], spread(if (ratio) log else identity), quantiles[2:3])
  })
  mean_of <- function(weight, value) sum((weight * value)[weight > 0])
  list(table = rbind(level_table(levels), contrasts), log_lik = sum(unlist(Map(mean_of, weight, log_lik))),
       converged = TRUE, pareto_k = pareto_k, note = "")
}

weighted_summary <- function(x, weight, conf.level) {
  tail <- (1 - conf.level) / 2
  quantiles <- weighted_quantile(x, weight, c(0.5, tail, 1 - tail))
  c(quantiles[1], weighted_sd(x, weight), quantiles[2:3])
}

# Median and ends of the interval of the difference, or ratio, of two independent quantities, each draw of one with each
# draw of the other. If there are few pairs, all are made. Otherwise their number is a square: the share of pairs below
# a value is counted without making them, and the value with the wanted share is searched for.
pair_quantiles <- function(one, weight, other, other_weight, conf.level, ratio, most_pairs = 1e6) {
  tail <- (1 - conf.level) / 2
  p <- c(0.5, tail, 1 - tail)
  if (as.numeric(length(one)) * length(other) <= most_pairs) {
    both <- as.vector(outer(one, other, if (ratio) `/` else `-`))
    return(weighted_quantile(both, as.vector(outer(weight, other_weight)), p))
  }
  if (ratio) return(exp(difference_quantile(log(one), weight, log(other), other_weight, p)))
  difference_quantile(one, weight, other, other_weight, p)
}

difference_quantile <- function(one, weight, other, other_weight, p) {
  other_order <- order(other)
  other <- other[other_order]
  from <- rev(cumsum(rev(c(other_weight[other_order], 0))))
  share_below <- function(x) sum(weight * from[findInterval(one - x, other, left.open = TRUE) + 1])
  vapply(p, function(p) {
    ends <- c(min(one) - max(other), max(one) - min(other))
    for (step in 1:60) {
      half <- mean(ends)
      ends[if (share_below(half) < p) 1 else 2] <- half
    }
    ends[2]
  }, 0)
}

weighted_sd <- function(x, weight) {
  middle <- sum(weight * x)
  sqrt(sum(weight * (x - middle)^2))
}
