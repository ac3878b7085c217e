test_that("where the future does not count, actions follow the prior times exp(utility / alpha)", {
  with_seed(1, for (alpha in c(0.2, 1, 5)) {
    setting <- random_markov(5, 3, discount = 0)
    prior <- as.vector(random_rows(1, 3))
    weight <- rep(prior, each = 5) * exp(setting$utility / alpha)
    plan <- plan_kl(setting, alpha, prior)
    expect_close(policy(plan), weight / rowSums(weight), 1e-12)
    expect_close(value(plan), alpha * log(rowSums(weight)), 1e-10)
  })
})

test_that("it is the agent that pays for deciding alone, exactly", {
  setting <- with_seed(2, random_markov(6, 4, 0.95))
  prior <- c(0.1, 0.2, 0.3, 0.4)
  plan <- plan_kl(setting, 0.7, prior)
  agent <- plan_agent(setting, bounded_agent(alpha = 0.7, action_prior = prior), tolerance = plan$report$tolerance)
  expect_identical(plan$solution, agent$solution)
  expect_s3_class(plan, c("ibrc_planned", "ibrc_plan"), exact = TRUE)
  soft <- markov_soft(as_markov(setting), 0.7, prior)
  expect_close(value(plan), soft$value, 1e-7)
  expect_close(policy(plan), soft$policy, 1e-7)
  expect_close(evaluate_policy(plan), value(plan), 1e-7)
  costs <- complexity(plan)
  expect_close(account(plan)$amount[5], account(plan)$amount[1] - costs$cost[1], 1e-7)
})

test_that("limits are exact: no price takes the best action, an infinite one plays the prior", {
  setting <- with_seed(3, random_markov(5, 3))
  expect_close(value(plan_kl(setting, 0)), value(plan_mdp(setting)), 1e-7)
  expect_close(policy(plan_kl(setting, -0)), policy(plan_mdp(setting)), 1e-12)
  expect_close(policy(plan_kl(setting, Inf, c(0.5, 0.5, 0))), matrix(c(0.5, 0.5, 0), 5, 3, byrow = TRUE), 0)
  expect_true(all(policy(plan_kl(setting, 1, c(u1 = 0.5, u3 = 0.5, u2 = 0)))[, "u2"] == 0))
})

test_that("policies do not depend on the unit of the utility", {
  setting <- with_seed(4, random_markov(5, 3, 0.99))
  plan <- plan_kl(setting, 0.5)
  for (unit in c(1e-6, 1e6)) {
    other <- setting
    other$utility <- setting$utility * unit
    expect_close(policy(plan_kl(other, 0.5 * unit)), policy(plan), 1e-6)
  }
})

test_that("thousands of states are planned", {
  setting <- with_seed(5, sparse_markov(3000, near = TRUE, discount = 0.95))
  plan <- plan_kl(setting, 0.3)
  step <- .Call(ffi_backup, plan$tables, plan$problem, plan$solution$value, 0L, 1L)
  expect_close(step$value, value(plan), 1e-8)
})

test_that("what cannot be planned is refused before work starts", {
  setting <- with_seed(6, random_markov(3, 2))
  expect_error(plan_kl(), class = "ibrc_error_input")
  expect_error(plan_kl(setting), "alpha", class = "ibrc_error_input")
  expect_error(plan_kl(diag_setting(), 1), "plan_pomdp", class = "ibrc_error_input")
  for (bad in list(-1, NA, "x", NULL, c(1, 2), list(), mean)) {
    expect_error(plan_kl(setting, bad), "alpha", class = "ibrc_error_input")
  }
  for (bad in list(c(1, 1), c(-1, 2), "x", NA, 1, list(), c(a = 0.5, b = 0.5))) {
    expect_error(plan_kl(setting, 1, bad), "action_prior", class = "ibrc_error_input")
  }
  expect_error(plan_kl(setting, 1, tolerance = 0), "tolerance", class = "ibrc_error_input")
})

# States on a line or on a square, of which only neighbours follow: a solver goes there behind incomplete factors.
grid_setting <- function(wide, high, discount, n_actions = 3) {
  n <- wide * high
  across <- rep(c(0, 1, -1, 0, 0), times = n * n_actions)
  along <- rep(c(0, 0, 0, 1, -1), times = n * n_actions)
  from <- rep(seq_len(n), each = 5, times = n_actions)
  x <- pmin(pmax((from - 1) %% wide + across, 0), wide - 1)
  y <- pmin(pmax((from - 1) %/% wide + along, 0), high - 1)
  weight <- stats::rexp(length(from))^3
  action <- rep(seq_len(n_actions), each = 5 * n)
  names <- paste0("s", seq_len(n))
  decision_setting(names, letters[seq_len(n_actions)], names,
                   data.frame(from = from, to = y * wide + x + 1, action = action,
                              probability = weight / stats::ave(weight, from, action, FUN = sum)),
                   "identity", matrix(stats::rnorm(n * n_actions), n), discount = discount)
}

test_that("where next states lie within a band, factors are whole: a step takes one product", {
  with_seed(8, for (setting in list(grid_setting(300, 1, 0.99), grid_setting(500, 1, 0.95, n_actions = 2))) {
    report <- plan_kl(setting, 0.3)$report
    expect_lt(report$products, report$backups)
  })
  # On a square the band is wide, and products are more than steps.
  report <- with_seed(8, plan_kl(grid_setting(20, 16, 0.95), 0.3)$report)
  expect_gt(report$products, report$backups)
})

test_that("where next states lie near by, plans are those of a dense solve, in few steps", {
  skip_if_not_installed("Matrix")
  with_seed(7, for (setting in list(grid_setting(300, 1, 0.99), grid_setting(20, 16, 0.95),
                                    sparse_markov(400, near = TRUE, discount = 0.99))) {
    plan <- plan_kl(setting, 0.3)
    expect_lt(plan$report$backups, 25)
    markov <- as_markov(setting)
    markov$problem <- NULL
    markov$transition <- lapply(markov$transition, as.matrix)
    soft <- markov_soft(markov, 0.3)
    expect_close(value(plan), soft$value, 1e-7)
    expect_close(policy(plan), soft$policy, 1e-7)
    hard <- plan_kl(setting, 0)
    expect_close(value(hard), markov_hard(markov)$value, 1e-7)
    law <- random_rows(length(setting$states), length(setting$actions))
    rule <- plan_with_policy(observed_problem(setting), "rule", law)
    expect_close(value(rule), markov_value(markov, law), 1e-7)
  })
})
