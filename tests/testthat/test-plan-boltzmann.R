test_that("it is the softmax of the optimal planner's action values, at nodes and between", {
  with_seed(1, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    best <- plan_pomdp(setting, 5)
    plan <- plan_boltzmann(setting, 1.3, 5)
    expect_s3_class(plan, c("ibrc_planned", "ibrc_plan"), exact = TRUE)
    beliefs <- random_beliefs(40, n_states)
    for (where in list(NULL, beliefs)) {
      odds <- exp(action_value(best, where) / 1.3)
      expect_close(policy(plan, where), odds / rowSums(odds), 1e-9)
      expect_close(action_value(plan, where), action_value(best, where), 1e-9)
    }
  })
})

test_that("it differs from maximum entropy where the future counts, and not where it does not", {
  with_seed(2, for (i in 1:3) {
    setting <- random_markov(4)
    hidden <- random_setting(2)
    expect_gt(max(abs(policy(plan_boltzmann(setting, 1)) - policy(plan_agent(setting, max_entropy_agent(1))))), 0.01)
    setting$discount <- 0
    expect_close(policy(plan_boltzmann(setting, 1)), policy(plan_agent(setting, max_entropy_agent(1))), 1e-10)
    hidden$discount <- 0
    beliefs <- random_beliefs(20, 2)
    expect_close(policy(plan_boltzmann(hidden, 1, 6), beliefs),
                 policy(plan_agent(hidden, max_entropy_agent(1), resolution = 6), beliefs), 1e-10)
  })
})

test_that("its value is what its behaviour is worth: less than the best, and the best without noise", {
  with_seed(3, setting <- random_markov(4))
  markov <- as_markov(setting)
  best <- markov_hard(markov)
  for (temperature in c(0.01, 1, 100)) {
    plan <- plan_boltzmann(setting, temperature)
    expect_close(value(plan), markov_value(markov, policy(plan)), 1e-9)
    expect_true(all(value(plan) <= best$value + 1e-9))
  }
  expect_close(value(plan_boltzmann(setting, 1e-6)), best$value, 1e-8)
  expect_close(policy(plan_boltzmann(setting, 1e9)), 1 / 3 + numeric(12), 1e-7)
  tiger <- plan_boltzmann(tiger_setting(), 5, 20)
  expect_close(value(tiger), evaluate_policy(plan_pomdp(tiger_setting(), 20), policy(tiger)), 1e-7)
})

test_that("the unit of the utility does not matter", {
  setting <- tiger_setting()
  plain <- policy(plan_boltzmann(setting, 5, 20))
  for (unit in c(1e-6, 1e6)) {
    scaled <- setting
    scaled$utility <- setting$utility * unit
    expect_close(policy(plan_boltzmann(scaled, 5 * unit, 20)), plain, 1e-8)
  }
})

test_that("it takes a Boltzmann agent, and models", {
  expect_identical(plan_boltzmann(tiger_setting(), boltzmann_agent(5), 20), plan_boltzmann(tiger_setting(), 5, 20))
  plan <- plan_boltzmann(diag_setting(), 1, 20, diag_models())
  best <- plan_pomdp(diag_setting(), 20, diag_models())
  expect_close(action_value(plan), action_value(best), 1e-8)
  expect_output(print(plan), "temperature +1")
})

test_that("wrong arguments are refused by name", {
  expect_refused(plan_boltzmann(), "setting")
  expect_refused(plan_boltzmann(NULL, 1), "setting")
  expect_refused(plan_boltzmann(tiger_setting()), "temperature")
  for (wrong in list(NULL, NA, "x", 0, -1, Inf, c(1, 2), list(), function(x) x, bounded_agent())) {
    expect_refused(plan_boltzmann(tiger_setting(), wrong), "temperature")
  }
  expect_refused(plan_boltzmann(tiger_setting(), 1, Inf), "resolution")
  expect_refused(plan_boltzmann(tiger_setting(), 1, 4, matrix(1)), "models")
})
