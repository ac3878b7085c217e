test_that("a problem has no agent, and one agent's plan of it is that of plan_agent()", {
  problem <- build_problem(diag_setting(), diag_models(), resolution = 20)
  expect_s3_class(problem, "ibrc_problem")
  expect_named(problem, problem_parts, ignore.order = TRUE)
  expect_identical(format(problem), paste("A problem on 21 belief nodes (resolution 20) with 3 actions and 3 models",
                                          "of the dynamics"))
  expect_output(print(problem), "A problem on 21 belief nodes")
  agent <- bounded_agent(0.5, 1.25, 0.1)
  plan <- plan_agent(diag_setting(), agent, diag_models(), resolution = 20)
  expect_identical(solve_problem(problem, agent), plan)
  # From a plan, too, with nothing of its agent left.
  expect_identical(solve_problem(update(plan, bounded_agent(2)), agent), plan)
})

test_that("states may be worth something else, and beliefs what they were", {
  setting <- diag_setting()
  setting$belief_utility <- certainty_bonus(2.5, above = 0.9)
  problem <- build_problem(setting, resolution = 10)
  other <- setting
  other$utility["healthy", "monitor"] <- -7
  expect_close(with_utility(problem, other$utility)$reward, build_problem(other, resolution = 10)$reward, 1e-12)
  expect_gt(max(belief_worth(problem)), 2)
  expect_close(belief_worth(with_utility(problem, other$utility)), belief_worth(problem), 1e-12)
})

test_that("a fit shows no agent that nobody inferred", {
  fit <- pooled_fit()
  expect_null(fit$plan)
  expect_null(fit$problem$agent)
  expect_output(print(fit$problem), "^A problem on")
})
