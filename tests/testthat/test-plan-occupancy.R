test_that("occupancy and complexities equal the twin's", {
  with_seed(21, for (n_states in 2:3) {
    setting <- random_setting(n_states)
    first <- plan_agent(setting, agents_to_try[[1]], random_models(setting), resolution = 5)
    for (agent in agents_to_try) {
      plan <- update(first, agent)
      twin <- twin_of(plan)
      process <- twin_process(twin$tables, twin$reward, turned(plan$solution$policy),
                              turned(plan$solution$sigma), twin$action_prior, twin$weights)
      start <- twin_interpolate(matrix(setting$start, 1), n_states, 5)[1, ]
      held <- twin_occupancy(process, start, setting$discount)
      mine <- occupancy(plan)
      expect_close(mine$occupancy, held)
      expect_true(all(mine$occupancy >= 0))
      expect_equal(sum(mine$occupancy), 1, tolerance = 1e-12)
      expect_close(complexity(plan)$nats, c(sum(held * process$decision), sum(held * process$specification),
                                            sum(held * process$recognition)))
    }
  })
})

# (1 - gamma) E V = E r - alpha I[pi] - beta I[sigma] - eta I[rho]
expect_account <- function(plan, tolerance = 1e-7) {
  account <- account(plan)
  expect_lte(abs(sum(account$amount[1:4]) - account$amount[5]), tolerance)
}

test_that("value is utility less complexity costs, on DIAG and for random settings", {
  plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 1e-3), diag_models())
  expect_account(plan)
  for (agent in c(agents_to_try, list(bounded_agent(0.5, -0.75, 1e-3), bounded_agent(0.5, 1e3, 75)))) {
    expect_account(update(plan, agent))
  }
  with_seed(22, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    plan <- plan_agent(setting, agents_to_try[[1]], random_models(setting), resolution = 7)
    for (agent in agents_to_try) expect_account(update(plan, agent))
  })
})

test_that("the account holds with priors of the agent's own", {
  prior <- bounded_agent(0.5, 2, 0.3, action_prior = c(0.7, 0.1, 0.2), belief_prior = function(z) exp(2 * z[, 2]))
  expect_account(plan_agent(diag_setting(), prior, diag_models()))
})

test_that("large prices multiply right divergences, not rounding", {
  plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25), diag_models())
  for (agent in list(bounded_agent(0.5, 1e12), bounded_agent(1e12, 2), bounded_agent(1e15, -1e15))) {
    one <- update(plan, agent)
    expect_account(one, 1e-8)
    expect_close(evaluate_policy(one), value(one), 1e-7)
    expect_true(all(complexity(one)$nats[1:2] >= 0))
  }
})

test_that("complexities are zero at the priors and divergences are not negative", {
  plan <- plan_agent(diag_setting(), bounded_agent(flexibility = 0, optimism = 0), diag_models())
  expect_close(complexity(plan)$nats[1:2], c(0, 0), 1e-12)
  expect_identical(complexity(plan)$cost[1:2], c(0, 0))
  sure <- plan_agent(diag_setting(), bounded_agent(), diag_models())
  expect_equal(complexity(sure)$nats[1], log(3), tolerance = 1e-10)
  expect_named(complexity(sure), c("complexity", "nats", "price", "cost"))
})

test_that("occupancy starts where it is told to", {
  plan <- plan_agent(diag_setting(discount = 0), bounded_agent(alpha = 1), diag_models())
  held <- occupancy(plan, start = c(0.2, 0.8))
  expect_equal(held$diseased[held$occupancy > 1e-12], 0.8)
  expect_error(occupancy(plan, start = c(0.2, 0.9)), class = "ibrc_error_input")
  expect_error(occupancy(1), class = "ibrc_error_input")
})

test_that("an occupancy begins at one belief", {
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), resolution = 10)
  expect_error(occupancy(plan, start = diag(2)), "one belief, not 2", class = "ibrc_error_input")
})

test_that("an occupancy that is no number, or does not settle, is an error", {
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), resolution = 10)
  plan$solution$policy[1] <- NaN
  expect_error(occupancy(plan), "did not settle", class = "ibrc_error_convergence")
})
