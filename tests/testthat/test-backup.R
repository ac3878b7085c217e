# The backup, its fixed point and the value of given policies against the twin.

backup_of <- function(plan, V, cores = 1L) {
  .Call(ffi_backup, plan$tables, plan$problem, V, 0L, cores)
}

test_that("a backup equals the twin's for every sign and limit, with 2, 3 and 4 states", {
  with_seed(11, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    models <- random_models(setting)
    first <- plan_agent(setting, agents_to_try[[1]], models, resolution = 4)
    for (agent in agents_to_try) {
      plan <- update(first, agent)
      V <- stats::rnorm(plan$space$n_nodes, sd = 5)
      mine <- backup_of(plan, V)
      twin <- twin_backup_of(twin_of(plan), V)
      expect_close(mine$value, twin$V)
      expect_close(turned(mine$action_value), twin$Q)
      expect_close(turned(mine$model_value), twin$K)
      expect_close(turned(mine$policy), twin$policy)
      expect_close(turned(mine$sigma), twin$sigma)
      expect_identical(backup_of(plan, V, 2L), mine)
    }
  })
})

test_that("a backup contracts by the discount and moves by it with a constant", {
  with_seed(12, for (n_states in 2:3) {
    setting <- random_setting(n_states, discount = 0.8)
    first <- plan_agent(setting, agents_to_try[[1]], random_models(setting), resolution = 5)
    for (agent in agents_to_try) {
      plan <- update(first, agent)
      V <- stats::rnorm(plan$space$n_nodes)
      U <- stats::rnorm(plan$space$n_nodes)
      gap <- max(abs(backup_of(plan, V)$value - backup_of(plan, U)$value))
      expect_lte(gap, 0.8 * max(abs(V - U)) + 1e-12)
      expect_close(backup_of(plan, V + 3)$value, backup_of(plan, V)$value + 0.8 * 3, 1e-12)
    }
  })
})

test_that("the fixed point equals plain value iteration's", {
  with_seed(13, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    first <- plan_agent(setting, agents_to_try[[1]], random_models(setting), resolution = 3)
    for (agent in agents_to_try) {
      plan <- update(first, agent, tolerance = 1e-10)
      twin <- twin_of(plan)
      exact <- twin_solve(twin$tables, twin$reward, twin$agent, twin$action_prior, twin$weights,
                          twin$discount, tolerance = 1e-11)
      expect_close(value(plan), exact$V, 2e-10)
      expect_close(turned(plan$solution$action_value), exact$Q, 2e-10)
      expect_close(turned(plan$solution$model_value), exact$K, 2e-10)
      expect_lte(plan$report$bound, 1e-10)
      # What is returned is a backup of itself.
      expect_close(backup_of(plan, value(plan))$value, value(plan), 2e-10)
    }
  })
})

test_that("a solve meets its bound from any start and with any discount", {
  with_seed(14, for (discount in c(0, 0.5, 0.99, 0.9999)) {
    setting <- random_setting(2, discount = discount)
    plan <- plan_agent(setting, agents_to_try$pessimist, random_models(setting), resolution = 20, tolerance = 1e-7)
    expect_close(backup_of(plan, value(plan))$value, value(plan), 2e-7 * (1 - discount) + 1e-9)
    far <- plan
    far$solution$value <- stats::rnorm(21, sd = 1e4)
    expect_close(value(update(far, agents_to_try$pessimist)), value(plan), 2e-7)
  })
})

test_that("games between a maximiser and worst-case models are solved", {
  # Both extremes at once is where an unguarded Newton step could cycle.
  with_seed(15, for (i in 1:20) {
    setting <- random_setting(sample(2:3, 1), discount = 0.95)
    plan <- plan_agent(setting, bounded_agent(flexibility = Inf, optimism = -Inf), random_models(setting, 4),
                       resolution = 8)
    expect_close(backup_of(plan, value(plan))$value, value(plan), 1e-8)
  })
})

test_that("fully observed settings run on their states", {
  with_seed(16, {
    n <- 6
    setting <- decision_setting(
      letters[1:n], c("stay", "go"), letters[1:n], random_law(n, n, 2), "identity",
      matrix(stats::rnorm(2 * n), n), discount = 0.9
    )
  })
  expect_true(setting$fully_observed)
  plan <- plan_agent(setting, bounded_agent(alpha = 0.7), resolution = 100)
  expect_identical(plan$space$n_nodes, 6)
  # Soft value iteration on states, by hand.
  V <- numeric(n)
  for (i in 1:400) {
    Q <- sapply(1:2, function(u) setting$utility[, u] + 0.9 * setting$transition[, , u] %*% V)
    V <- 0.7 * log(rowMeans(exp(Q / 0.7)))
  }
  # Nodes are numbered from the first state to the last.
  expect_close(value(plan, diag(n)), V, 1e-8)
  expect_close(policy(plan, diag(n)), exp(Q / 0.7) / rowSums(exp(Q / 0.7)), 1e-8)
})

test_that("a budget too small is an error with the residual, and so are infinite values", {
  error <- expect_error(plan_agent(diag_setting(), bounded_agent(alpha = 1), max_backups = 1),
                        class = "ibrc_error_convergence")
  expect_gt(error$bound, 1e-8)
  expect_identical(error$backups, 1L)
  expect_match(conditionMessage(error), "stopped after 1 backup")
  expect_error(plan_agent(diag_setting(), bounded_agent(alpha = 1), tolerance = 1e-300),
               class = "ibrc_error_convergence")
  # Rounding is part of the promise: the closed form of an endless reward of 1.
  endless <- function(discount) {
    decision_setting(c("a", "b"), "go", "x", diag(2), matrix(1, 2, 1), cbind(c(1, 1)), discount = discount)
  }
  expect_error(plan_agent(endless(1 - 1e-7), bounded_agent()), class = "ibrc_error_convergence")
  rough <- plan_agent(endless(1 - 1e-7), bounded_agent(), tolerance = 1)
  expect_lte(abs(value(rough, c(1, 0)) - 1 / (1 - (1 - 1e-7))), 1)
  huge <- diag_setting()
  huge$utility[] <- 1e308
  expect_error(plan_agent(huge, bounded_agent()), class = "ibrc_error_convergence")
})

test_that("several backups in a call are as many calls of one", {
  plan <- with_seed(36, {
    setting <- random_setting(3)
    plan_agent(setting, agents_to_try$flexible, random_models(setting), resolution = 4)
  })
  value <- with_seed(37, stats::rnorm(plan$space$n_nodes))
  again <- function(value, times) .Call(ffi_backup, plan$tables, plan$problem, value, times, 1L)
  one_by_one <- value
  for (i in 1:3) one_by_one <- backup_of(plan, one_by_one)$value
  expect_identical(again(backup_of(plan, backup_of(plan, value)$value)$value, 0L)$value, one_by_one)
  expect_identical(again(value, 2L)$value, one_by_one)
})
