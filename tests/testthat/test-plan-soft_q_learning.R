test_that("soft Q-learning comes to soft value iteration, values shifted from the KL form to that of entropy", {
  with_seed(1, for (n in c(3, 8)) {
    for (discount in c(0.8, 0.95)) {
      setting <- random_markov(n, 3, discount)
      alpha <- 0.5
      learned <- plan_soft_q_learning(setting, alpha, seed = 1)
      planned <- plan_kl(setting, alpha)
      shift <- alpha * log(3) / (1 - discount)
      size <- max(abs(value(planned)))
      expect_lte(max(abs(value(learned) - shift - value(planned))), 0.02 * size)
      expect_lte(max(abs(action_value(learned) - discount * shift - action_value(planned))), 0.02 * size)
      expect_close(policy(learned), policy(planned), 0.1)
    }
  })
})

test_that("the shift is exact where nothing is left to learn: soft values in either form solve their own equation", {
  setting <- with_seed(2, random_markov(5, 4, 0.9))
  alpha <- 0.7
  planned <- plan_kl(setting, alpha, tolerance = 1e-13)
  value <- value(planned) + alpha * log(4) / (1 - 0.9)
  backed_up <- twin_action_value(setting, value)
  expect_close(alpha * log(rowSums(exp(backed_up / alpha))), value, 1e-8)
  expect_close(backed_up, action_value(planned) + 0.9 * alpha * log(4) / (1 - 0.9), 1e-8)
  myopic <- with_seed(3, random_markov(4, 3, 0))
  learned <- plan_soft_q_learning(myopic, alpha, steps = 5000, seed = 1)
  expect_close(value(learned), value(plan_kl(myopic, alpha)) + alpha * log(3), 1e-10)
  expect_close(policy(learned), policy(plan_kl(myopic, alpha)), 1e-10)
})

test_that("with little worth in entropy it is Q-learning, and with much it plays at random", {
  setting <- with_seed(4, random_markov(4, 3, 0.8))
  expect_close(value(plan_soft_q_learning(setting, 1e-6, seed = 1)), value(plan_q_learning(setting, seed = 1)), 0.1)
  expect_close(policy(plan_soft_q_learning(setting, 1e6, steps = 20000, seed = 1)), rep(1 / 3, 12), 1e-3)
})

test_that("policies do not depend on the unit of the utility", {
  setting <- with_seed(5, random_markov(4, 3))
  other <- setting
  other$utility <- setting$utility * 2^-20
  expect_close(policy(plan_soft_q_learning(other, 0.5 * 2^-20, 5000, seed = 1)),
               policy(plan_soft_q_learning(setting, 0.5, 5000, seed = 1)), 1e-12)
})

test_that("the same seed gives the same plan, which is read like any other", {
  setting <- with_seed(6, random_markov(3, 2))
  plan <- plan_soft_q_learning(setting, 0.5, 20000, seed = 3)
  expect_identical(plan, plan_soft_q_learning(setting, 0.5, 20000, seed = 3))
  expect_match(format(plan), "soft Q-learning", all = FALSE)
  visits <- simulate(plan, nsim = 3, seed = 1, horizon = 4)
  expect_true(all(log_lik(plan, visits) < 0))
  # What it is worth in the KL form.
  expect_close(evaluate_policy(plan), value(plan_kl(setting, 0.5)), 0.1)
})

test_that("what cannot be learned from is refused before work starts", {
  setting <- with_seed(7, random_markov(3, 2))
  expect_error(plan_soft_q_learning(setting), "alpha", class = "ibrc_error_input")
  expect_error(plan_soft_q_learning(tiger_setting(), 1), "plan_pomdp", class = "ibrc_error_input")
  for (bad in list(0, -1, Inf, NA, "x", NULL, list(), c(1, 2), mean)) {
    expect_error(plan_soft_q_learning(setting, bad), "alpha", class = "ibrc_error_input")
  }
  expect_error(plan_soft_q_learning(setting, 1, steps = "x"), "steps", class = "ibrc_error_input")
})
