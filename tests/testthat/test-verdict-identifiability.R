fit_small <- function(prior, fixed = list(), agent = bounded_agent(alpha = 0.5), n = 60, iter = 1000, chains = 2, ...) {
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, agent, diag_models()), n, seed = 1)
  ibrc(visits, setting, diag_models(), prior, fixed, chains = chains, iter = iter, seed = 1, ...)
}

# A fit whose draws are given: a named list of [iteration, chain] matrices.
fit_of_draws <- function(prior, draws) {
  all <- array(unlist(draws), c(dim(draws[[1]]), length(draws)), list(NULL, NULL, names(draws)))
  structure(list(draws = list(all = all), prior = prior, likelihood = TRUE, group_sizes = c(all = 100L), n_visits = 500,
                 n_scored = 500, run = list(iter = 2000L)), class = "ibrc_fit")
}

test_that("neutral behaviour does not identify beta, nor eta from 0", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), beta ~ lognormal(1, 3), eta ~ lognormal(0, 3))
  said <- identifiability(fit_small(prior, n = 100, iter = 1500, chains = 4))
  expect_identical(said$verdict, c("identified", "bounded from below", "bounded from above"))
  expect_identical(said$one_sided, c(NA, "below", "above"))
  expect_output(print(said), "beta is bounded from below only.*eta is bounded from above only")
  expect_close(said$prior.low[2], stats::qlnorm(0.025, 1, 3), 1e-10)
  expect_null(said$group)
  # A part of it prints as a table.
  expect_output(print(said[c("term", "verdict")]), "term +verdict")
})

test_that("optimism is identified near 0 there, and both by an optimist", {
  signed <- fit_small(ibrc_prior(optimism ~ normal(0, 1)), list(alpha = 0.5), iter = 600)
  expect_identical(identifiability(signed)$verdict, "identified")
  optimist <- fit_small(ibrc_prior(alpha ~ lognormal(0, 1), beta ~ lognormal(1, 3)),
                        agent = bounded_agent(alpha = 0.5, beta = 1.25))
  expect_identical(identifiability(optimist)$verdict, c("identified", "identified"))
})

test_that("draws from the prior identify nothing", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
  fit <- fit_small(prior, n = 20, sample_prior = "only")
  said <- identifiability(fit)
  expect_identical(said$verdict, rep("not identified", 2))
  expect_output(print(said), "alpha is not identified")
  # And by themselves, without being told so.
  fit$likelihood <- TRUE
  expect_identical(identifiability(fit)$verdict, rep("not identified", 2))
})

test_that("groups have verdicts of their own", {
  setting <- diag_setting()
  agents <- list(bounded_agent(alpha = 0.5), bounded_agent(alpha = 0.5, beta = 1.25))
  visits <- do.call(rbind, lapply(1:2, function(k) {
    own <- as.data.frame(simulate(plan_agent(setting, agents[[k]], diag_models()), 60, seed = 1))
    transform(own, id = id + 100 * k, kind = c("neutral", "optimist")[k])
  }))
  visits <- trajectories(visits, covariates = "kind", setting = setting)
  prior <- ibrc_prior(beta ~ lognormal(1, 3))
  fit <- ibrc(visits, setting, diag_models(), prior, list(alpha = 0.5), by = "kind",
              chains = 2, iter = 600, seed = 1)
  said <- identifiability(fit)
  expect_identical(said$group, c("neutral", "optimist"))
  expect_identical(said$verdict, c("bounded from below", "identified"))
  expect_output(print(said), "beta \\(neutral\\) is bounded")
})

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

test_that("terms that only their combination shows are said to be known jointly", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), eta ~ lognormal(0, 1), optimism ~ normal(0, 1))
  draws <- with_seed(7, {
    shared <- matrix(stats::rnorm(4000), 1000)
    noise <- function() matrix(stats::rnorm(4000, 0, 0.05), 1000)
    list(alpha = exp(0.95 * shared + noise()), eta = exp(-0.95 * shared + noise()), optimism = noise())
  })
  said <- identifiability(fit_of_draws(prior, draws))
  expect_identical(said$verdict, c("only jointly with eta", "only jointly with alpha", "identified"))
  expect_identical(said$ridge_with[1:2], c("eta", "alpha"))
  expect_lt(said$ridge[1], -0.95)
  expect_output(print(said), "alpha is identified only jointly with eta")
})

# Normal draws with this correlation, on the natural scale of two signed terms: the prior has standard deviation 1.
ridge_draws <- function(correlation, sd) {
  with_seed(8, {
    first <- matrix(stats::rnorm(4000), 1000)
    second <- correlation * first + sqrt(1 - correlation^2) * matrix(stats::rnorm(4000), 1000)
    list(optimism = sd * first, flexibility = sd * second)
  })
}

test_that("a ridge is looked at before a term is said to be identified", {
  prior <- ibrc_prior(optimism ~ normal(0, 1), flexibility ~ normal(0, 1))
  said <- function(...) identifiability(fit_of_draws(prior, ridge_draws(...)))$verdict
  expect_identical(said(-0.96, 0.2), c("only jointly with flexibility", "only jointly with optimism"))
  expect_identical(said(-0.5, 0.2), c("identified", "identified"))
  # Known to a hundredth of the prior's variance, a term is known, whatever goes with it.
  expect_identical(said(-0.96, 0.05), c("identified", "identified"))
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

test_that("few trajectories, chains that disagree and a tail that was missed are not called identified", {
  prior <- ibrc_prior(optimism ~ normal(0, 1), flexibility ~ normal(0, 1))
  fit <- fit_of_draws(prior, ridge_draws(0, 0.1))
  few <- fit
  few$group_sizes[] <- 5L
  few$n_scored <- 20
  expect_identical(identifiability(few)$verdict, rep("too few data", 2))
  expect_output(print(identifiability(few)), "too few visits")
  apart <- fit
  apart$draws$all[, 1, "optimism"] <- apart$draws$all[, 1, "optimism"] + 1
  expect_identical(identifiability(apart)$verdict, c("unsettled", "identified"))
  missed <- fit
  missed$checks <- verdict_rows("whole", "short", "long", "do not use", "", "flexibility", "all")
  expect_identical(identifiability(missed)$verdict, c("identified", "unsettled"))
})

test_that("a posterior away from its prior is a conflict", {
  prior <- ibrc_prior(optimism ~ normal(0, 1), flexibility ~ normal(0, 1))
  fit <- fit_of_draws(prior, Map(`+`, ridge_draws(0, 0.1), c(3, 0)))
  expect_identical(identifiability(fit)$prior_conflict, c(TRUE, FALSE))
  rows <- identified_rows(fit)
  expect_identical(as.character(rows$verdict), c("caution", "ok"))
  expect_match(rows$advice[1], "out of the central 95% of its prior")
})

test_that("anything but a fit is refused", {
  expect_error(identifiability(1), "ibrc\\(\\)", class = "ibrc_error_input")
})
