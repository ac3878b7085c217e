test_that("draws are weighed with their own laws, one weight for all groups, and contrasts are within draws", {
  skip_if_not_installed("loo")
  fit <- ward_fit()
  found <- suppressWarnings(sensitivity_analysis(fit, list(prior = "narrower"), draws = NULL))
  expect_identical(attr(found, "method"), "reweight")
  chosen <- spaced_draws(fit, NULL)
  draws <- lapply(fit$draws, flat_draws)
  each <- log_lik(fit, NULL)
  own <- density_with_laws(fit, draws, laws_at(fit, chosen), 1L)
  for (g in 1:2) expect_close(own$log_lik[[g]], rowSums(each[, fit$trajectory_group == g]), 1e-5)
  # As it is: medians of the draws, and of what they differ by.
  table <- as.data.frame(found)
  fitted <- table[table$baseline & !is.na(table$reference), ]
  contrast <- draws$west[, "optimism"] - draws$east[, "optimism"]
  middle <- weighted_quantile(contrast, rep(1 / length(contrast), length(contrast)), 0.5)
  expect_close(fitted$estimate[fitted$term == "optimism"], middle, 1e-12)
  expect_close(fitted$std.error[fitted$term == "alpha"], sd(log(draws$west[, 1] / draws$east[, 1])), 0.01)
  # Half as wide: the ratio of the priors of both groups, smoothed as the package loo does it.
  ratio <- rowSums(vapply(draws, function(x) {
    stats::dlnorm(x[, 1], 0, 0.5, TRUE) - stats::dlnorm(x[, 1], 0, 1, TRUE) +
      stats::dnorm(x[, 2], 0, 0.5, TRUE) - stats::dnorm(x[, 2], 0, 1, TRUE)
  }, numeric(120)))
  weighed <- pareto_weights(ratio, chosen$.chain)
  other <- table[!table$baseline & is.na(table$reference), ]
  if (weighed$pareto_k > 0.7) {
    expect_match(other$note, "fit again", fixed = TRUE)
  } else {
    expect_close(other$estimate[2], weighted_quantile(draws$east[, 2], weighed$weight, 0.5), 1e-9)
  }
})

test_that("no weight goes from one draw of the dynamics to another where they know nothing of the actions", {
  skip_if_not_installed("loo")
  fit <- ward_cut()
  chosen <- spaced_draws(fit, NULL)
  ratio <- with_seed(1, stats::rnorm(180)) + rep(c(-20, 0, 30), each = 60)
  found <- weights_with_dynamics(fit, ratio, chosen)
  expect_close(rowsum(found$weight, rep(1:3, each = 60)), rep(1 / 3, 3), 1e-12)
  expect_gt(stats::cor(log(found$weight[1:60]), ratio[1:60]), 0.95)
  expect_identical(weights_with_dynamics(fit, replace(ratio, 1:60, -Inf), chosen)$pareto_k, NA_real_)
  moved <- suppressWarnings(sensitivity_analysis(fit, list(resolution = 7), draws = NULL))
  expect_true(all(is.finite(moved$log_lik[moved$baseline])))
})

test_that("the draw of the dynamics that the weights leave the least of decides", {
  skip_if_not_installed("loo")
  fit <- ward_cut()
  chosen <- spaced_draws(fit, NULL)
  # Even under two draws of the dynamics; under the third a single draw has next to all the weight.
  uneven <- replace(rep(0, 180), 7, 6)
  found <- weights_with_dynamics(fit, uneven, chosen)
  by_hand <- exp(uneven[1:60]) / sum(exp(uneven[1:60]))
  expect_lt(found$effective, 2)
  expect_close(found$weight[8:60] / found$weight[7], by_hand[8:60] / by_hand[7], 0.1)
  expect_close(weights_with_dynamics(fit, rep(3, 180), chosen)$effective, 60, 1e-9)
  expect_identical(found$asked, 10)
  local_replacement("weights_with_dynamics", function(...) {
    replace(list(weight = rep(1 / 180, 180), pareto_k = 0.5), c("effective", "asked"), list(1.2, 10))
  }, environment())
  moved <- sensitivity_analysis(fit, list(prior = "narrower"), draws = NULL)
  expect_true(all(is.na(moved$estimate[!moved$baseline])))
  expect_match(moved$note[!moved$baseline], "leave 1.2 effective draws, fewer than 10: .* fit again")
})

test_that("what would hold the dynamics is refused", {
  expect_refused(sensitivity_analysis(ward_fit(), list(resolution = 7), method = "mode"), "method", "reweight")
  expect_refused(sensitivity_analysis(ward_fit(), list(step = 0.2)), "over", "made anew for every draw of the dynamics")
})
