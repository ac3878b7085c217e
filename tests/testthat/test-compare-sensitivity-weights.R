setting <- diag_setting()
models <- perturb_models(setting, by = 0.1)
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
visits <- simulate(plan_agent(setting, bounded_agent(0.5, 2), models, resolution = 10), 60, seed = 3)
fit_with <- function(prior, iter = 2000, ...) {
  ibrc(visits, setting, models, prior, chains = 4, iter = iter, seed = 1, resolution = 10, ...)
}

test_that("draws with the weights of another prior are draws of that posterior, but for Monte Carlo error", {
  skip_if_not_installed("loo")
  fit <- fit_with(prior)
  tight <- ibrc_prior(alpha ~ lognormal(-0.5, 0.5), optimism ~ normal(-0.3, 0.4))
  moved <- sensitivity_analysis(fit, list(prior = list(tight = tight), discount = 0.94), method = "reweight",
                                draws = NULL)
  rows <- moved[moved$what == "prior", ]
  expect_lt(rows$pareto_k[1], 0.7)
  again <- fit_with(tight)
  for (term in rows$term) {
    row <- rows[rows$term == term, ]
    draws <- again$draws$all[, , term]
    error <- posterior::mcse_quantile(draws, c(0.025, 0.5, 0.975))
    away <- (c(row$conf.low, row$estimate, row$conf.high) - stats::quantile(draws, c(0.025, 0.5, 0.975))) / error
    # Both have such an error, that with weights a larger one.
    expect_lt(max(abs(away)), 8, label = term)
    own <- moved[moved$baseline & moved$term == term, ]
    expect_equal(own$estimate, stats::median(fit$draws$all[, , term]), tolerance = 1e-3)
  }
  # The prior moved it: what agrees is not what stood still.
  expect_gt(abs(rows$estimate[2] - moved$estimate[2]), 0.02)
})

test_that("where the draws cannot stand for it, there are no numbers, and a reason", {
  skip_if_not_installed("loo")
  fit <- fit_with(prior, 600)
  far <- ibrc_prior(alpha ~ lognormal(4, 0.1), optimism ~ normal(5, 0.1))
  beyond <- ibrc_prior(alpha ~ lognormal(0, 1, lower = 0.01), optimism ~ normal(0, 1))
  narrow <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1, lower = 0))
  moved <- sensitivity_analysis(fit, list(prior = list(far = far, same = beyond)), method = "reweight")
  lost <- moved[moved$alternative == "far", ]
  expect_true(all(is.na(lost$estimate)) && all(lost$pareto_k > 0.7))
  expect_match(lost$note, "Pareto k is .* above 0.7")
  expect_output(print(moved), "No numbers for prior far")
  # From a prior that is cut to one that is not, no weights lead.
  cut <- fit_with(narrow, 600)
  moved <- sensitivity_analysis(cut, list(prior = list(whole = prior)), method = "reweight")
  expect_match(moved$note[moved$alternative == "whole"], "allows values that the fit's prior does not")
})

test_that("weights are the ratios of densities, in groups as well", {
  skip_if_not_installed("loo")
  fit <- clinic_fit()
  moved <- sensitivity_analysis(fit, list(discount = 0.949), method = "reweight", draws = 100)
  rows <- as.data.frame(moved)[!moved$baseline, ]
  expect_true(all(rows$pareto_k < 0.7))
  chosen <- spaced_draws(fit, 100)$.draw
  north <- flat_draws(fit$draws$north)[chosen, ]
  inverse <- changed_inverse(fit, list(discount = 0.949))
  there <- density_at_draws(inverse, lapply(fit$draws, function(draws) flat_draws(draws)[chosen, ]), 1L)
  here <- density_at_draws(fit, lapply(fit$draws, function(draws) flat_draws(draws)[chosen, ]), 1L)
  expect_equal(here$log_lik[[1]] + prior_log_density(fit$prior, prior_unconstrain(fit$prior, north)),
               rowSums(matrix(aperm(fit$log_posterior, c(1, 2))[, 1:2], ncol = 1))[chosen], tolerance = 1e-6)
  expect_equal(here$log_prior[[1]], dlnorm(north[, 1], 0, 1.5, log = TRUE) + dnorm(north[, 2], 0, 1, log = TRUE))
  weight <- pareto_weights(there$log_lik[[1]] - here$log_lik[[1]], spaced_draws(fit, 100)$.chain)$weight
  expect_equal(sum(weight), 1)
  level <- rows[rows$group == "north" & rows$term == "alpha" & is.na(rows$reference), ]
  expect_equal(level$estimate, weighted_quantile(north[, "alpha"], weight, 0.5))
})

test_that("quantiles with equal weights are quantiles, and with whole weights those of repeated values", {
  x <- with_seed(1, stats::rnorm(1001))
  p <- c(0.1, 0.5, 0.9)
  expect_equal(weighted_quantile(x, rep(1 / 1001, 1001), p), unname(stats::quantile(x, p, type = 5)))
  expect_equal(weighted_sd(x, rep(1 / 1001, 1001)), stats::sd(x) * sqrt(1000 / 1001))
  expect_equal(weighted_quantile(c(1, 2, 3), c(0.25, 0.5, 0.25), 0.5), 2)
})

test_that("contrasts of many draws are those of all pairs, which are not made", {
  drawn <- with_seed(1, list(one = rexp(300), other = rexp(200), weight = runif(300), other_weight = runif(200)))
  drawn$weight <- drawn$weight / sum(drawn$weight)
  drawn$other_weight <- drawn$other_weight / sum(drawn$other_weight)
  for (ratio in c(TRUE, FALSE)) {
    of <- function(most_pairs) with(drawn, pair_quantiles(one, weight, other, other_weight, 0.9, ratio, most_pairs))
    expect_equal(of(1), of(1e6), tolerance = 1e-3)
  }
  both <- with(drawn, outer(one, other, "-"))
  share <- with(drawn, outer(weight, other_weight))
  at <- with(drawn, difference_quantile(one, weight, other, other_weight, c(0.1, 0.7)))
  expect_equal(vapply(at, function(x) sum(share[both <= x + 1e-9]), 0), c(0.1, 0.7), tolerance = 1e-3)
  # As many pairs as these cannot be made.
  many <- seq(0, 1, length.out = 1e5)
  even <- rep(1e-5, 1e5)
  expect_equal(pair_quantiles(many, even, many, even, 0.5, FALSE), c(0, sqrt(0.5) - 1, 1 - sqrt(0.5)), tolerance = 1e-4)
})

test_that("too few draws are refused", {
  skip_if_not_installed("loo")
  fit <- suppressWarnings(fit_with(prior, 40))
  expect_error(sensitivity_analysis(fit, list(discount = 0.9), method = "reweight"), "too few",
               class = "ibrc_error_input")
})
