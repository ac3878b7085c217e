# The batch that a sampler calls, against one plan at a time.

test_that("a batch equals single plans, from any start, on any number of threads", {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(0.5, 1.25, 1e-3), diag_models())
  visits <- simulate(plan, 200, seed = 1)
  coded <- code_visits(visits, setting)
  trees <- list(build_histories(coded, setting), build_histories(lapply(coded, utils::head, 300), setting))
  evaluation <- list(tables = plan$tables, models = stack_models(plan$models), problem = plan$problem,
                     histories = trees, space = plan$space, by_value = 1L,
                     start = unname(setting$start), tolerance = 1e-10, max_backups = 10000L)
  parameters <- cbind(c(0.5, 1.25, 1e-3, 0.95), c(0.5, -0.75, 1e-3, 0.95), c(2, Inf, 0, 0.9), c(0, 0.5, 1, 0.95))
  parameters <- rbind(parameters, 0, cbind(c(1, 1, 1) / 3, c(0.2, 0.3, 0.5), c(0.6, 0.3, 0.1), c(1, 1, 1) / 3))
  which <- c(0L, 1L, 1L, 0L)
  from <- matrix(0, 101, 4)
  mine <- .Call(ffi_evaluate, evaluation, parameters, NULL, from, which, 1L)
  for (i in 1:4) {
    p <- parameters[, i]
    one <- plan_agent(diag_setting(discount = p[4]), bounded_agent(p[1], p[2], p[3], action_prior = p[6:8]),
                      diag_models(), tolerance = 1e-10)
    expect_close(mine$value[, i], value(one), 1e-9)
    total <- read_histories(one, trees[[which[i] + 1]])$total
    if (is.finite(total)) {
      expect_close(mine$log_likelihood[i], total, 1e-6)
    } else {
      expect_identical(mine$log_likelihood[i], total)
    }
  }
  expect_identical(.Call(ffi_evaluate, evaluation, parameters, NULL, from, which, 2L), mine)
  expect_identical(.Call(ffi_evaluate, evaluation, parameters[, 2, drop = FALSE], NULL, from[, 2, drop = FALSE],
                         which[2], 1L)$log_likelihood, mine$log_likelihood[2])
  warm <- .Call(ffi_evaluate, evaluation, parameters, NULL, mine$value, which, 1L)
  expect_close(warm$log_likelihood[1:3], mine$log_likelihood[1:3], 1e-6)
  # Rewards of a vector's own.
  rewards <- matrix(plan$problem$reward, 303, 4)
  expect_identical(.Call(ffi_evaluate, evaluation, parameters, rewards, from, which, 1L), mine)
  # A solve that fails is a proposal to reject, not an error.
  evaluation$max_backups <- 1L
  failed <- .Call(ffi_evaluate, evaluation, parameters, NULL, from, which, 1L)
  expect_identical(failed$log_likelihood, rep(-Inf, 4))
})

test_that("tables built inside the batch give what separate problems give", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), accuracy ~ beta(14, 6),
                      cost ~ lognormal(0, 0.3))
  for (surprise in c("belief", "observation")) {
    inverse <- recipe_inverse(costly_clinic, models_around, prior, list(eta = 0.1), surprise = surprise)
    theta <- with_seed(1, prior_draw(inverse$prior, 5))
    for (cores in 1:2) {
      evaluator <- inverse_evaluator(inverse, rep(1L, 5), cores)
      found <- evaluate_batch(evaluator, theta, matrix(0, 26, 5))
      expect_close(found$log_likelihood, one_by_one(inverse, theta), 1e-10)
    }
  }
})

test_that("a table made in one pass is the one of two passes, in any order of worlds", {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(alpha = 1), diag_models(), 40)
  tree <- list(build_histories(code_visits(recipe_visits(), setting), setting))
  plain <- new_evaluator(plan, tree, rep(1L, 3), ibrc_prior(alpha ~ lognormal(0, 1)), list(), 1e-9, 1L)
  theta <- matrix(c(-0.5, 0, 0.5))
  values <- matrix(0, 41, 3)
  parameters <- parameters_of(plain$places, exp(theta))
  law <- list(models = stack_models(plan$models), weights = unname(plan$models$weights), start = c(0.5, 0.5))
  other <- list(models = stack_models(models_around(0.8)), weights = law$weights, start = c(0.4, 0.6))
  batch <- plain$batch
  without <- .Call(ffi_evaluate, batch, parameters, NULL, values, rep(0L, 3), 1L)
  batch$laws <- list(other, law)
  batch$law <- c(1L, 1L, 1L)
  expect_identical(.Call(ffi_evaluate, batch, parameters, NULL, values, rep(0L, 3), 2L), without)
  batch$law <- c(1L, 0L, 1L)
  mixed <- .Call(ffi_evaluate, batch, parameters, NULL, values, rep(0L, 3), 1L)
  expect_identical(mixed$log_likelihood[-2], without$log_likelihood[-2])
  expect_gt(abs(mixed$log_likelihood[2] - without$log_likelihood[2]), 0.1)
  # The package's own mistakes are refused.
  batch$law <- c(0L, 2L, 0L)
  expect_error(.Call(ffi_evaluate, batch, parameters, NULL, values, rep(0L, 3), 1L), "no such law")
  batch$law <- integer(3)
  batch$laws[[1]]$models <- stack_models(own_model(setting))
  expect_error(.Call(ffi_evaluate, batch, parameters, NULL, values, rep(0L, 3), 1L), "another size")
})

test_that("a setting in which the state is seen has worlds as well", {
  seen <- function(stay) {
    decision_setting(c("a", "b"), c("wait", "go"), c("a", "b"), list(wait = rbind(c(stay, 1 - stay), c(0, 1)),
                                                                      go = diag(2)[2:1, ]), "identity",
                     cbind(c(0, 1), c(-0.2, -0.2)), discount = 0.9)
  }
  visits <- simulate(plan_agent(seen(0.6), bounded_agent(0.5)), 30, seed = 1, horizon = 6)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), stay ~ beta(2, 2))
  inverse <- read_inverse(visits, seen, NULL, prior, list(), NULL, FALSE)
  inverse <- build_inverse(group_inverse(inverse, visits, NULL), 10, ibrc_control(1e-11), 1L)
  theta <- with_seed(2, prior_draw(inverse$prior, 4))
  found <- evaluate_batch(inverse_evaluator(inverse, rep(1L, 4)), theta, matrix(0, 2, 4))
  expect_close(found$log_likelihood, one_by_one(inverse, theta), 1e-10)
})
