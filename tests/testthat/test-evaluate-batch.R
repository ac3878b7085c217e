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
