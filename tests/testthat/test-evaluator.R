test_that("the batch adds prior and likelihood, and rules out what cannot be", {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(alpha = 1), diag_models())
  visits <- simulate(plan, 50, seed = 1)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), adaptivity ~ normal(0, 1))
  tree <- list(build_histories(code_visits(visits, setting), setting))
  evaluator <- new_evaluator(plan, tree, c(1L, 1L, 1L), prior, list(beta = 2), 1e-9, 1L)
  theta <- rbind(c(0, 1), c(log(0.7), -0.5), c(0.2, 0))
  out <- evaluate_batch(evaluator, theta, matrix(0, 101, 3))
  for (i in 1:2) {
    agent <- bounded_agent(alpha = exp(theta[i, 1]), beta = 2, adaptivity = theta[i, 2])
    expect_close(out$log_likelihood[i], sum(log_lik(update(plan, agent), visits)), 1e-6)
    expect_close(out$value[, i], value(update(plan, agent)), 1e-7)
  }
  # No adaptivity at all has no plan: a proposal to refuse.
  expect_identical(out$log_likelihood[3], -Inf)
  expect_identical(out$value[, 3], rep(0, 101))
})

test_that("streams of their own leave the generator alone", {
  set.seed(1)
  before <- .Random.seed
  a <- with_stream(streams_from_seed(3, 1)[[1]], stats::runif(2))
  expect_identical(with_stream(streams_from_seed(3, 1)[[1]], stats::runif(2)), a)
  expect_identical(.Random.seed, before)
})
