test_that("either form gives the same agent", {
  expect_identical(bounded_agent(alpha = 0.5, beta = -2, eta = 4),
                   bounded_agent(flexibility = 2, optimism = -0.5, adaptivity = 0.25))
  expect_identical(bounded_agent(), bounded_agent(flexibility = Inf, optimism = 0, adaptivity = Inf))
})

test_that("limits keep their sign", {
  expect_identical(1 / bounded_agent(flexibility = -Inf)$alpha, -Inf)
  expect_identical(1 / bounded_agent(alpha = -0)$alpha, -Inf)
  expect_identical(bounded_agent(flexibility = 0)$alpha, Inf)
  expect_identical(1 / bounded_agent(optimism = -Inf)$beta, -Inf)
})

test_that("what is no agent is refused", {
  refused <- function(..., argument) {
    error <- expect_error(bounded_agent(...), class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  refused(alpha = NA, argument = "alpha")
  refused(alpha = NaN, argument = "alpha")
  refused(alpha = "a", argument = "alpha")
  refused(alpha = c(1, 2), argument = "alpha")
  refused(optimism = NA_real_, argument = "optimism")
  refused(alpha = 1, flexibility = 1, argument = "alpha")
  refused(eta = Inf, argument = "eta")
  refused(adaptivity = 0, argument = "adaptivity")
  refused(action_prior = c(0, 0, 0), argument = "action_prior")
  refused(action_prior = c(0.5, 0.6), argument = "action_prior")
  refused(action_prior = c(-1, 2), argument = "action_prior")
  refused(action_prior = c(NA, 1), argument = "action_prior")
  refused(belief_prior = 1, argument = "belief_prior")
})

test_that("an action prior goes by name", {
  setting <- diag_setting()
  named <- bounded_agent(alpha = 1, action_prior = c(monitor = 0.6, declare_healthy = 0.3, declare_diseased = 0.1))
  expect_identical(action_prior_of(named, setting), c(declare_healthy = 0.3, declare_diseased = 0.1, monitor = 0.6))
  plan <- plan_agent(setting, bounded_agent(flexibility = 0, action_prior = c(0.3, 0.1, 0.6)))
  expect_close(policy(plan, c(0.2, 0.8)), c(0.3, 0.1, 0.6), 1e-15)
})

test_that("a belief prior enters the surprise as the twin has it", {
  # Log-linear in the belief, so that interpolating its logarithm is exact.
  agent <- bounded_agent(0.5, 2, 0.7, belief_prior = function(z) exp(1 + 3 * z[, 2]))
  plan <- plan_agent(diag_setting(), agent, diag_models(), resolution = 20, tolerance = 1e-10)
  twin <- twin_of(plan)
  exact <- twin_solve(twin$tables, twin$reward, twin$agent, twin$action_prior, twin$weights, twin$discount, 1e-11)
  expect_close(value(plan), exact$V, 1e-9)
})

test_that("agents print what they are like", {
  expect_snapshot(for (agent in agents_to_try) print(agent))
})
