test_that("the bound of a side is the contraction of a normal posterior", {
  entry <- ibrc_prior(optimism ~ normal(0, 1))$optimism
  for (share in c(0.9, 0.5, 0.1)) {
    draws <- matrix(sample(share * stats::qnorm(stats::ppoints(4000))), 1000)
    rank <- mean(tail_rank(entry, draws[draws > 0], 0, FALSE))
    expect_close(rank, 1 - 2 / pi * atan(share), 1e-3)
    sides <- side_bounds(entry, draws)
    expect_identical(sides$tight, rep(share < 0.7, 2))
    expect_true(all(sides$bound > 1 - share^2 - 0.02))
  }
})

test_that("a rank in the prior's tail counts from its bounds", {
  entry <- ibrc_prior(optimism ~ normal(0, 1, lower = -1, upper = 2))$optimism
  above <- function(x) (stats::pnorm(2) - stats::pnorm(x)) / (stats::pnorm(2) - stats::pnorm(0.5))
  expect_close(tail_rank(entry, c(0.5, 1, 2), 0.5, FALSE), above(c(0.5, 1, 2)), 1e-12)
  below <- function(x) (stats::pnorm(x) - stats::pnorm(-1)) / (stats::pnorm(0.5) - stats::pnorm(-1))
  expect_close(tail_rank(entry, c(-1, 0, 0.5), 0.5, TRUE), below(c(-1, 0, 0.5)), 1e-12)
})

test_that("a ridge counts on the scale on which it is straight", {
  prior <- ibrc_prior(optimism ~ normal(0, 1), eta ~ lognormal(0, 3))
  draws <- with_seed(9, {
    eta <- exp(matrix(stats::rnorm(4000, -1, 2), 1000))
    list(optimism = 0.8 - 0.01 * eta + matrix(stats::rnorm(4000, 0, 0.005), 1000), eta = eta)
  })
  flat <- cbind(optimism = as.vector(draws$optimism), eta = as.vector(draws$eta))
  found <- strongest_ridges(prior, fit_of_draws(prior, draws)$draws$all)
  expect_gt(abs(stats::cor(flat)[1, 2]), 0.95)
  expect_lt(abs(stats::cor(prior_unconstrain(prior, flat))[1, 2]), 0.9)
  expect_equal(found$correlation[1], stats::cor(flat)[1, 2])
})

test_that("a posterior away from its prior is a conflict", {
  prior <- ibrc_prior(optimism ~ normal(0, 1), flexibility ~ normal(0, 1))
  fit <- fit_of_draws(prior, Map(`+`, ridge_draws(0, 0.1), c(3, 0)))
  expect_identical(identifiability(fit)$prior_conflict, c(TRUE, FALSE))
  rows <- identified_rows(fit)
  expect_identical(as.character(rows$verdict), c("caution", "ok"))
  expect_match(rows$advice[1], "out of the central 95% of its prior")
})

test_that("a bound stays a bound where the data also pull the term out of its prior", {
  said <- identified_advice(c("bounded", "only jointly", "not identified", "identified", "too few data"),
                            c(TRUE, TRUE, TRUE, TRUE, TRUE))
  expect_match(said[1], "report a bound, not an estimate.*out of the central 95% of its prior")
  expect_match(said[2], "only jointly with another term.*out of the central 95% of its prior")
  expect_match(said[3:4], "^The data pull")
  expect_no_match(said[5], "central 95%")
  expect_no_match(identified_advice("bounded", FALSE), "central 95%")
})
