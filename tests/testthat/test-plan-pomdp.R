test_that("Tiger is worth what it is worth, and the lattice's upper bounds fall to it", {
  values <- vapply(c(50, 100, 200, 400), function(n) value(plan_pomdp(tiger_setting(), n), c(0.5, 0.5)), 0)
  expect_close(values, c(19.473128, 19.374721, 19.371368, 19.371368), 1e-6)
  expect_identical(sprintf("%.4f", values[4]), "19.3714")
  # The exact value, worked out by hand: listen until one side was heard twice more often than the other.
  right <- 0.85^2 / (0.85^2 + 0.15^2)
  agree <- 0.85^2 + 0.15^2
  g <- 0.95
  exact <- (-1 - g + g^2 * agree * (10 * right - 100 * (1 - right))) / (1 - g^2 * (g * agree + 1 - agree))
  expect_close(values[4], exact, 1e-7)
  expect_true(all(diff(values[1:3]) < 0))
})

test_that("it is the agent without bounds, as a planned plan", {
  with_seed(1, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    plan <- plan_pomdp(setting, 5)
    agent <- plan_agent(setting, optimal_agent(), resolution = 5, tolerance = 1e-9)
    expect_s3_class(plan, c("ibrc_planned", "ibrc_plan"), exact = TRUE)
    expect_close(value(plan), value(agent), 1e-8)
    expect_close(action_value(plan), action_value(agent), 1e-8)
    expect_close(policy(plan), policy(agent), 0)
    beliefs <- random_beliefs(20, n_states)
    expect_close(policy(plan, beliefs), policy(agent, beliefs), 0)
    # No other policy does better.
    other <- evaluate_policy(plan, random_rows(plan$space$n_nodes, 3))
    expect_true(all(other <= value(plan) + 1e-8))
  })
})

test_that("what else the planner believes is its own, each model with its weight", {
  with_seed(2, {
    setting <- random_setting(2)
    models <- random_models(setting)
  })
  plan <- plan_pomdp(setting, 8, models)
  expect_close(value(plan), value(plan_agent(setting, bounded_agent(), models, 8)), 1e-7)
  expect_close(model_weights(plan, rbind(c(0.31, 0.69)), "u1"), models$weights, 1e-12)
})

test_that("where the state is seen there is no lattice", {
  with_seed(3, setting <- random_markov(4))
  plan <- plan_pomdp(setting, 50)
  expect_close(value(plan), markov_hard(as_markov(setting))$value, 1e-9)
  expect_identical(plan$space$n_nodes, 4)
})

test_that("actions that are as good share what they get, and the unit of utility does not matter", {
  setting <- tiger_setting()
  for (unit in c(1e-6, 1, 1e6)) {
    scaled <- setting
    scaled$utility <- setting$utility * unit
    # A second ear, no worse and no better but for rounding.
    twice <- decision_setting(
      setting$states, c(setting$actions, "listen_again"), setting$observations,
      unname(setting$transition[, , c(1:3, 1)]), unname(setting$emission[, , c(1:3, 1)]),
      unname(cbind(scaled$utility, scaled$utility[, 1] * (1 + 1e-15))), discount = 0.95
    )
    plan <- plan_pomdp(twice, 50)
    expect_close(policy(plan, c(0.5, 0.5)), c(0.5, 0, 0, 0.5), 1e-12)
    expect_equal(value(plan, c(0.5, 0.5)) / unit, 19.473128, tolerance = 1e-7)
  }
})

test_that("it plans for one visit alone, and for one action", {
  setting <- tiger_setting()
  setting$discount <- 0
  plan <- plan_pomdp(setting, 20)
  expect_close(value(plan), apply(plan$space$nodes %*% setting$utility, 1, max), 1e-12)
  with_seed(4, one <- random_setting(2, n_actions = 1))
  expect_true(all(policy(plan_pomdp(one, 10)) == 1))
})

test_that("its behaviour can be simulated, judged and predicted", {
  plan <- plan_pomdp(tiger_setting(), 40)
  visits <- simulate(plan, 30, seed = 1, horizon = 10)
  expect_true(all(log_lik(plan, visits) == 0))
  chances <- predict(plan, visits, type = "action")
  expect_true(all(as.matrix(chances) %in% c(0, 1)))
  expect_equal(sum(occupancy(plan)$occupancy), 1)
})

test_that("wrong arguments are refused by name", {
  expect_refused(plan_pomdp(), "setting")
  expect_refused(plan_pomdp(1), "setting")
  expect_refused(plan_pomdp(tiger_setting(), 0), "resolution")
  expect_refused(plan_pomdp(tiger_setting(), models = 1), "models")
  bonus <- tiger_setting()
  bonus$belief_utility <- certainty_bonus(1)
  expect_refused(plan_pomdp(bonus), "setting", "plan_belief_aware")
})

test_that("a dreadful state makes no ties elsewhere", {
  states <- c("well", "ill", "dead")
  for (discount in c(0.9, 0.999)) {
    setting <- decision_setting(states, c("a", "b"), states, diag(3), "identity",
                                rbind(c(0, 0.5), c(0.2, 0), c(-1e6, -1e6)), discount = discount)
    expect_identical(unname(policy(plan_pomdp(setting))), rbind(c(0, 1), c(1, 0), c(0.5, 0.5)))
  }
})
