planned_setting <- with_seed(1, random_markov(4, 3, 0.9))

by_values <- function(alpha, setting = planned_setting, ...) {
  problem <- observed_problem(setting)
  soft <- markov_soft(as_markov(setting), alpha)
  plan_with_values(problem, "kl", alpha, soft$action_value, soft$value, ...)
}

test_that("a plan of values is the plan of the agent whose values they are", {
  for (alpha in c(0, 0.5)) {
    plan <- by_values(alpha)
    agent <- plan_agent(planned_setting, bounded_agent(alpha = alpha))
    expect_s3_class(plan, c("ibrc_planned", "ibrc_plan"), exact = TRUE)
    mixed <- rbind(c(0.5, 0.5, 0, 0), c(0.1, 0.2, 0.3, 0.4))
    for (read in list(value, policy, action_value)) {
      expect_close(read(plan), read(agent), 1e-8)
      expect_close(read(plan, mixed), read(agent, mixed), 1e-8)
    }
    expect_close(evaluate_policy(plan), value(plan), 1e-8)
    expect_equal(occupancy(plan), occupancy(agent), tolerance = 1e-8)
    expect_equal(complexity(plan), complexity(agent), tolerance = 1e-8)
    expect_equal(tidy(plan), tidy(agent), tolerance = 1e-8)
    visits <- simulate(agent, nsim = 5, seed = 1, horizon = 10)
    expect_identical(as.data.frame(simulate(plan, nsim = 5, seed = 1, horizon = 10)), as.data.frame(visits))
    expect_close(log_lik(plan, visits), log_lik(agent, visits), 1e-6)
    expect_equal(predict(plan, visits), predict(agent, visits), tolerance = 1e-8)
    expect_identical(update_belief(plan, c(0.5, 0.5, 0, 0), "u1", "s1"),
                     update_belief(agent, c(0.5, 0.5, 0, 0), "u1", "s1"))
  }
})

test_that("ties are shared, also where values differ by rounding", {
  action_value <- cbind(c(1, 2, 3, 4), c(1, 1, 3, 0) * (1 + 1e-14), 0)
  plan <- plan_with_values(observed_problem(planned_setting), "mdp", 0, action_value, c(1, 2, 3, 4))
  expect_equal(unname(policy(plan)), cbind(c(0.5, 1, 0.5, 1), c(0.5, 0, 0.5, 0), 0))
})

test_that("choices may be noisier than what deciding costs", {
  problem <- observed_problem(planned_setting)
  hard <- markov_hard(as_markov(planned_setting))
  plan <- plan_with_values(problem, "boltzmann", 2, hard$action_value, hard$value, price = 0)
  expect_close(policy(plan), soft_choice(hard$action_value, 2, rep(1 / 3, 3))$policy)
  expect_close(evaluate_policy(plan), markov_value(as_markov(planned_setting), policy(plan)), 1e-8)
  expect_identical(complexity(plan)$cost[1], 0)
  expect_identical(glance(plan)$alpha, 2)
})

test_that("a plan of a policy has its worth in the setting as values", {
  law <- with_seed(2, random_rows(4, 3))
  plan <- plan_with_policy(observed_problem(planned_setting), "rule", law)
  markov <- as_markov(planned_setting)
  expect_close(policy(plan), law, 1e-12)
  expect_close(value(plan), markov_value(markov, law), 1e-9)
  expect_close(action_value(plan), markov$utility + 0.9 * markov_next(markov, value(plan)), 1e-9)
  expect_close(policy(plan, c(0.25, 0.25, 0.5, 0)), colSums(c(0.25, 0.25, 0.5, 0) * law), 1e-12)
  expect_close(evaluate_policy(plan), value(plan), 1e-9)
  expect_close(sum(occupancy(plan)$occupancy * rowSums(law * planned_setting$utility)),
               0.1 * sum(planned_setting$start * value(plan)), 1e-9)
  expect_error(plan_with_policy(observed_problem(planned_setting), "rule", 2 * law), class = "ibrc_error_input")
})

test_that("what a rule never does has log likelihood -Inf", {
  problem <- observed_problem(planned_setting)
  never <- plan_with_policy(problem, "rule", cbind(rep(0, 4), 0.5, 0.5))
  visits <- simulate(plan_agent(planned_setting, bounded_agent(flexibility = 0)), nsim = 20, seed = 1, horizon = 3)
  taken <- tapply(visits$action == "u1", visits$id, any)
  expect_identical(unname(log_lik(never, visits) == -Inf), as.vector(taken))
  expect_true(any(taken) && !all(taken))
  expect_true(all(predict(never, visits)$u1 == 0))
})

test_that("plans on a lattice of beliefs are plans too", {
  problem <- build_problem(diag_setting(), resolution = 20)
  solved <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), resolution = 20)
  plan <- plan_with_values(problem, "pomdp", 0.5, action_value(solved), value(solved))
  beliefs <- cbind(1:9, 9:1) / 10
  expect_close(policy(plan, beliefs), policy(solved, beliefs), 1e-12)
  rule <- plan_with_policy(problem, "iohmm_rule", policy(solved))
  again <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), resolution = 20, interpolate = "policy")
  expect_close(policy(rule, beliefs), policy(again, beliefs), 1e-8)
  expect_close(value(rule), evaluate_policy(update(solved, bounded_agent()), policy(solved)), 1e-7)
  visits <- simulate(rule, nsim = 3, seed = 1)
  expect_close(log_lik(rule, visits), log_lik(again, visits), 1e-7)
})

test_that("utilities of any size and a discount of 0 are no trouble", {
  with_seed(3, for (scale in c(1e-6, 1e6)) {
    for (discount in c(0, 0.99)) {
      setting <- random_markov(3, 2, discount, scale = scale)
      rule <- plan_with_policy(observed_problem(setting), "rule", random_rows(3, 2))
      visits <- simulate(rule, nsim = 3, seed = 1, horizon = 5)
      expect_true(all(is.finite(log_lik(rule, visits))))
      expect_close(evaluate_policy(rule) / scale, value(rule) / scale, 1e-8)
    }
  })
})

test_that("a plan says which planner made it, and is not updated", {
  plan <- by_values(0.5, parameters = list(alpha = 0.5, action_prior = c(u1 = 0.2, u2 = 0.3, u3 = 0.5)))
  text <- format(plan)
  expect_match(text[1], "A plan by a KL-regularised planner that sees the state, on 4 states", fixed = TRUE)
  expect_match(text[2], "alpha +0.5")
  expect_match(text[3], "action prior +u1 0.2, u2 0.3, u3 0.5")
  expect_match(text[4], "from the start")
  expect_output(print(plan), "KL-regularised")
  expect_output(print(summary(plan)), "nats")
  expect_identical(glance(plan)$planner, "kl")
  expect_error(update(plan, bounded_agent()), "plan_kl", class = "ibrc_error_input")
})

test_that("plans of planners are drawn", {
  skip_if_not_installed("ggplot2")
  setting <- with_seed(5, random_markov(2, 3))
  expect_s3_class(plot(by_values(0.5, setting)), "ggplot")
  expect_s3_class(plot(by_values(0, setting)), "ggplot")
  problem <- build_problem(diag_setting(), resolution = 20)
  expect_s3_class(plot(plan_with_policy(problem, "iohmm_rule", matrix(1 / 3, 21, 3)), rep("positive", 2)), "ggplot")
})

test_that("a solve that fails names no argument that the planner lacks", {
  failed <- list(code = 1, bound = 2, backups = 10L)
  error <- expect_error(refuse_unplanned(failed, 1), class = "ibrc_error_convergence")
  expect_no_match(error$message, "max_backups|tolerance")
  expect_identical(error$bound, 2)
  expect_error(refuse_unplanned(failed, 1, "loosen `tolerance`, or "), "tolerance", class = "ibrc_error_convergence")
  expect_error(refuse_unplanned(list(code = 2, backups = 1L), 1), "not finite", class = "ibrc_error_convergence")
  expect_null(refuse_unplanned(list(code = 0), 1))
  error <- expect_error(solve_planned(observed_problem(planned_setting), bounded_agent(), 1e-300),
                        class = "ibrc_error_convergence")
  expect_no_match(error$message, "max_backups|tolerance")
})
