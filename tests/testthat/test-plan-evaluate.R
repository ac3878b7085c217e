test_that("at the optimum the value comes back", {
  with_seed(31, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    first <- plan_agent(setting, agents_to_try[[1]], random_models(setting), resolution = 4)
    for (agent in agents_to_try) {
      plan <- update(first, agent, tolerance = 1e-9)
      expect_close(evaluate_policy(plan), value(plan), 1e-8)
    }
  })
})

test_that("any policies equal the twin's linear solve", {
  with_seed(32, for (n_states in 2:3) {
    setting <- random_setting(n_states)
    plan <- plan_agent(setting, agents_to_try$pessimist, random_models(setting), resolution = 4, tolerance = 1e-11)
    n <- plan$space$n_nodes
    policy <- random_rows(n, 3)
    sigma <- array(random_rows(3 * n, 3), c(n, 3, 3))
    twin <- twin_of(plan)
    process <- twin_process(twin$tables, twin$reward, policy, sigma, twin$action_prior, twin$weights)
    expect_close(evaluate_policy(plan, policy, sigma), twin_evaluate(process, plan$agent, setting$discount))
  })
})

test_that("200 other policies never do better where both prices are positive", {
  with_seed(33, for (n_states in 2:3) {
    setting <- random_setting(n_states)
    plan <- plan_agent(setting, bounded_agent(alpha = 0.4, beta = 0.8, eta = 0.1), random_models(setting),
                       resolution = 4)
    best <- value(plan)
    own_policy <- turned(plan$solution$policy)
    own_sigma <- turned(plan$solution$sigma)
    n <- plan$space$n_nodes
    mix <- function(p, share) {
      last <- dim(p)[length(dim(p))]
      (1 - share) * p + share * array(random_rows(length(p) / last, last), dim(p))
    }
    for (i in 1:100) {
      share <- 10^stats::runif(1, -3, 0)
      expect_lte(max(evaluate_policy(plan, policy = mix(own_policy, share)) - best), 1e-7)
      expect_lte(max(evaluate_policy(plan, sigma = mix(own_sigma, share)) - best), 1e-7)
    }
  })
})

test_that("a policy may be a function, named in any order", {
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models())
  monitor <- function(beliefs) {
    cbind(monitor = rep(1, nrow(beliefs)), declare_healthy = 0, declare_diseased = 0)
  }
  # For ever paying 1 and log 3 nats of deliberation.
  expect_close(evaluate_policy(plan, monitor, beliefs = c(0.3, 0.7)), (-1 - 0.5 * log(3)) / 0.05, 1e-7)
})

test_that("policies that are none, or cost infinitely much, are refused", {
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models())
  n <- plan$space$n_nodes
  expect_error(evaluate_policy(plan, matrix(1, n, 2)), class = "ibrc_error_input")
  expect_error(evaluate_policy(plan, matrix(0.5, n, 3)), "row 1 sums to 1.5", class = "ibrc_error_input")
  bad <- matrix(1 / 3, n, 3)
  bad[7, 2] <- NA
  error <- expect_error(evaluate_policy(plan, bad), class = "ibrc_error_input")
  expect_identical(error$rows, 7L)
  sure <- array(rep(c(1, 0, 0), each = 3 * n), c(n, 3, 3))
  expect_error(evaluate_policy(plan, sigma = sure), "optimism 0", class = "ibrc_error_input")
  habit <- update(plan, bounded_agent(flexibility = 0))
  expect_error(evaluate_policy(habit, matrix(rep(c(1, 0, 0), each = n), n)), "flexibility 0",
               class = "ibrc_error_input")
  never <- update(plan, bounded_agent(alpha = 1, action_prior = c(0.5, 0.5, 0)))
  expect_error(evaluate_policy(never, matrix(1 / 3, n, 3)), "prior probability is 0", class = "ibrc_error_input")
})

test_that("a model that is ruled out cannot be believed", {
  setting <- diag_setting()
  one <- setting[c("transition", "emission")]
  plan <- plan_agent(setting, bounded_agent(alpha = 1, beta = 1), model_prior(list(one, one), c(1, 0)), resolution = 4)
  policy <- matrix(1 / 3, plan$space$n_nodes, 3)
  sigma <- array(0.5, c(plan$space$n_nodes, 3, 2))
  expect_error(evaluate_policy(plan, policy, sigma), "prior weight is 0", class = "ibrc_error_input")
})
