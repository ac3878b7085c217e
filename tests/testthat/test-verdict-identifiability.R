fit_small <- function(prior, fixed = list(), agent = bounded_agent(alpha = 0.5), n = 60, iter = 1000, chains = 2, ...) {
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, agent, diag_models()), n, seed = 1)
  ibrc(visits, setting, diag_models(), prior, fixed, chains = chains, iter = iter, seed = 1, ...)
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

test_that("a ridge is looked at before a term is said to be identified", {
  prior <- ibrc_prior(optimism ~ normal(0, 1), flexibility ~ normal(0, 1))
  said <- function(...) identifiability(fit_of_draws(prior, ridge_draws(...)))$verdict
  expect_identical(said(-0.96, 0.2), c("only jointly with flexibility", "only jointly with optimism"))
  expect_identical(said(-0.5, 0.2), c("identified", "identified"))
  # Known to a hundredth of the prior's variance, a term is known, whatever goes with it.
  expect_identical(said(-0.96, 0.05), c("identified", "identified"))
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

test_that("anything but a fit is refused", {
  expect_error(identifiability(1), "ibrc\\(\\)", class = "ibrc_error_input")
})
