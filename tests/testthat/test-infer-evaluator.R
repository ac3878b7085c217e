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

test_that("a large batch in slices is what its vectors are by themselves", {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(alpha = 1), diag_models())
  visits <- simulate(plan, 50, seed = 1)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), adaptivity ~ normal(0, 1))
  tree <- list(build_histories(code_visits(visits, setting), setting))
  evaluator <- new_evaluator(plan, tree, rep(1L, 19), prior, list(), 1e-9, 1L)
  theta <- cbind(seq(-1, 1, length.out = 19), seq(-0.9, 0.9, length.out = 19))
  values <- matrix(plan$solution$value, 101, 19)
  whole <- evaluate_batch(evaluator, theta, values)
  # The tenth has no adaptivity at all, and is left out.
  expect_identical(which(whole$log_likelihood == -Inf), 10L)
  for (i in 1:19) {
    one <- evaluate_batch(evaluator, theta[i, , drop = FALSE], values[, i, drop = FALSE], 1L)
    expect_identical(one$log_likelihood, whole$log_likelihood[i])
    expect_identical(one$value[, 1], whole$value[, i])
  }
})

test_that("prices and the discount come from where they are inferred or held", {
  prior <- ibrc_prior(discount ~ uniform(0.5, 0.9), optimism ~ normal(0, 1))
  places <- parameter_places(prior, list(flexibility = 2, eta = 0.3), diag_setting())
  natural <- cbind(discount = c(0.6, 0.7), optimism = c(-2, 0.5))
  expect_equal(parameters_of(places, natural), rbind(0.5, c(-0.5, 2), 0.3, c(0.6, 0.7), 0, 1 / 3, 1 / 3, 1 / 3))
  places <- parameter_places(ibrc_prior(alpha ~ lognormal(0, 1)), list(discount = 0.8, action_prior = c(0.2, 0.3, 0.5)),
                             diag_setting())
  expect_equal(parameters_of(places, cbind(alpha = 3)), rbind(3, Inf, 0, 0.8, 0, 0.2, 0.3, 0.5))
})

test_that("a slice has fewer vectors the more nodes or histories there are, one at least", {
  trees <- function(...) lapply(c(...), function(n) list(n_histories = as.integer(n)))
  expect_identical(slice_size(100, trees(50, 200)), 8)
  expect_identical(slice_size(5000, trees(50)), 2)
  expect_identical(slice_size(1e6, trees(50)), 1)
  expect_identical(slice_size(100, trees(50, 25000)), 2)
  expect_identical(slice_size(100, trees(1e6, 1)), 1)
})

test_that("agents take what is inferred, then what is fixed, then what is rational", {
  numbers <- function(prior, natural, fixed) {
    t(parameters_of(parameter_places(prior, fixed, diag_setting()), natural))[, 1:4, drop = FALSE]
  }
  prior <- ibrc_prior(discount ~ uniform(0.5, 0.9), optimism ~ normal(0, 1), alpha ~ lognormal(0, 1))
  natural <- cbind(c(0.6, 0.7), c(0.5, -2), c(3, 4))
  expect_identical(numbers(prior, natural, list()), cbind(c(3, 4), c(2, -0.5), c(0, 0), c(0.6, 0.7)))
  expect_identical(numbers(prior, natural, list(adaptivity = 4))[, 3], c(0.25, 0.25))
  only <- ibrc_prior(adaptivity ~ normal(0, 1))
  expect_identical(numbers(only, matrix(-4), list(flexibility = 2, beta = 5)), cbind(0.5, 5, -0.25, 0.95))
  expect_identical(numbers(only, matrix(2), list(discount = 0.5)), cbind(0, Inf, 0.5, 0.5))
})
