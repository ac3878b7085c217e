mdp_methods <- c("policy_iteration", "value_iteration", "linear_programme")

test_that("value iteration, policy iteration and the linear programme agree on random settings", {
  skip_if_not_installed("lpSolve")
  with_seed(1, for (discount in c(0, 0.5, 0.9, 0.99)) {
    for (n in c(2, 6, 12)) {
      setting <- random_markov(n, 3, discount)
      plans <- lapply(mdp_methods, plan_mdp, setting = setting, tolerance = 1e-11)
      for (plan in plans[-1]) {
        expect_close(value(plan), value(plans[[1]]), 1e-8)
        expect_close(action_value(plan), action_value(plans[[1]]), 1e-8)
        expect_close(policy(plan), policy(plans[[1]]), 1e-8)
      }
      # Nothing is better than what the best action is worth.
      backed_up <- twin_action_value(setting, value(plans[[1]]))
      expect_close(apply(backed_up, 1, max), value(plans[[1]]), 1e-8)
    }
  })
})

test_that("it is the plan of the agent without bounds", {
  setting <- with_seed(2, random_markov(8, 4, 0.95))
  plan <- plan_mdp(setting)
  agent <- plan_agent(setting, bounded_agent())
  expect_s3_class(plan, c("ibrc_planned", "ibrc_plan"), exact = TRUE)
  expect_close(value(plan), value(agent), 1e-8)
  expect_close(policy(plan), policy(agent), 1e-12)
})

test_that("values are as near as was asked, in the unit of the utility", {
  with_seed(3, for (scale in c(1e-6, 1e6)) {
    setting <- random_markov(5, 3, 0.95, scale = scale)
    exact <- value(plan_mdp(setting))
    size <- max(abs(setting$utility)) / 0.05
    for (tolerance in c(0.01, 1e-6)) {
      near <- plan_mdp(setting, "value_iteration", tolerance)
      expect_lte(max(abs(value(near) - exact)), tolerance * size)
      expect_lte(near$report$bound, tolerance * size)
    }
    expect_lt(plan_mdp(setting, "value_iteration", 0.01)$report$backups,
              plan_mdp(setting, "value_iteration", 1e-6)$report$backups)
  })
})

test_that("equal actions share the probability under every method", {
  skip_if_not_installed("lpSolve")
  one <- with_seed(4, random_markov(4, 2, 0.9))
  # The third action is the first.
  twice <- decision_setting(one$states, c("a", "b", "c"), one$states, unname(one$transition[, , c(1, 2, 1)]),
                            "identity", unname(one$utility[, c(1, 2, 1)]), discount = 0.9)
  for (method in mdp_methods) {
    law <- unname(policy(plan_mdp(twice, method)))
    expect_identical(law[, 1], law[, 3])
    expect_true(any(law == 0.5))
  }
  flat <- one
  flat$utility[] <- 0
  for (method in mdp_methods) expect_true(all(policy(plan_mdp(flat, method)) == 0.5))
  # Two ways to the same worth, by other states.
  split <- decision_setting(letters[1:3], c("left", "right"), letters[1:3],
                            list(rbind(c(0, 1, 0), c(0, 1, 0), c(0, 0, 1)), rbind(c(0, 0, 1), c(0, 1, 0), c(0, 0, 1))),
                            "identity", cbind(c(0, 1 / 3, 1 / 3), c(0, 1 / 3, 1 / 3)), discount = 0.99)
  for (method in mdp_methods) expect_true(all(policy(plan_mdp(split, method)) == 0.5))
})

test_that("ten thousand states are planned by rows", {
  skip_if_not_installed("Matrix")
  setting <- with_seed(5, sparse_markov(10000))
  by_policy <- plan_mdp(setting)
  by_value <- plan_mdp(setting, "value_iteration")
  expect_close(value(by_value), value(by_policy), 1e-6)
  expect_gt(mean(rowSums(abs(policy(by_value) - policy(by_policy))) < 1e-8), 0.999)
  expect_error(plan_mdp(setting, "linear_programme"), "policy_iteration", class = "ibrc_error_input")
})

test_that("one action, belief utilities and several starts are no trouble", {
  one <- with_seed(6, random_markov(3, 1))
  expect_true(all(policy(plan_mdp(one)) == 1))
  paid <- with_seed(7, random_markov(3, 2))
  paid$belief_utility <- function(beliefs, action) if (action == "u2") 100 else 0
  expect_true(all(policy(plan_mdp(paid))[, "u2"] == 1))
  groups <- decision_setting(one$states, "u1", one$states, one$transition, "identity", one$utility, discount = 0.9,
                             start = rbind(young = c(1, 0, 0), old = c(0, 0.5, 0.5)), start_by = "age")
  expect_match(format(plan_mdp(groups)), "from the start of young", all = FALSE)
})

test_that("what cannot be planned is refused before work starts", {
  setting <- with_seed(8, random_markov(3, 2))
  expect_error(plan_mdp(), class = "ibrc_error_input")
  expect_error(plan_mdp(3), class = "ibrc_error_input")
  expect_error(plan_mdp(tiger_setting()), "plan_pomdp", class = "ibrc_error_input")
  expect_error(plan_mdp(setting, "guess"), class = "ibrc_error_input")
  for (bad in list(0, -1, NA, "x", Inf, NULL, c(1, 2))) {
    expect_error(plan_mdp(setting, tolerance = bad), "tolerance", class = "ibrc_error_input")
  }
})

test_that("a plan prints how it was made", {
  plan <- plan_mdp(with_seed(9, random_markov(3, 2)), "value_iteration")
  expect_match(format(plan), "value iteration", all = FALSE)
  expect_match(format(plan), "solved to .* in [0-9]+ backups", all = FALSE)
})

# Nobody comes to the third state from the others; in it all is dreadful.
dreadful <- function(discount) {
  states <- c("well", "ill", "dead")
  decision_setting(states, c("a", "b"), states, diag(3), "identity", rbind(c(0, 0.5), c(0.2, 0), c(-1e6, -1e6)),
                   discount = discount)
}

test_that("a dreadful state makes no ties elsewhere, by any method", {
  skip_if_not_installed("lpSolve")
  for (discount in c(0.9, 0.999, 0.9999)) {
    for (method in mdp_methods) {
      expect_identical(unname(policy(plan_mdp(dreadful(discount), method))), rbind(c(0, 1), c(1, 0), c(0.5, 0.5)))
    }
  }
})

test_that("a small loss is seen beside a dreadful state, and policy iteration goes on to the end", {
  skip_if_not_installed("lpSolve")
  states <- c("well", "ill", "dead")
  for (discount in c(0.99, 0.999, 0.9999)) {
    # A gain of 0.001 now, for one chance in a million of -100 for ever.
    setting <- decision_setting(states, c("a", "b"), states,
                                list(diag(3), rbind(c(1 - 1e-6, 1e-6, 0), c(0, 1, 0), c(0, 0, 1))), "identity",
                                rbind(c(0, 1e-3), c(-100, -100), c(-1e6, -1e6)), discount = discount)
    for (method in mdp_methods) {
      plan <- plan_mdp(setting, method)
      expect_identical(unname(policy(plan)[1, ]), c(1, 0))
      expect_close(value(plan)[1], 0, 1e-9)
    }
  }
})

test_that("where utility is counted from does not matter, however far away", {
  setting <- with_seed(10, random_markov(4, 3, 0.99))
  far <- setting
  far$utility <- setting$utility + 1e8
  expect_identical(policy(plan_mdp(far)), policy(plan_mdp(setting)))
})

test_that("the advice of an error names an argument that there is", {
  setting <- with_seed(11, random_markov(3, 2))
  error <- expect_error(hard_plan(observed_problem(setting), list(value = c(0, 1, 2)), list(), 1e-9),
                        class = "ibrc_error_convergence")
  expect_match(error$message, "loosen `tolerance`")
  expect_no_match(error$message, "max_backups")
  expect_gt(error$bound, 1e-9)
})
