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

test_that("a problem with something changed is the one built so", {
  paid <- diag_setting()
  paid$belief_utility <- certainty_bonus(2, above = 0.8)
  models <- perturb_models(paid, by = 0.1)
  problem <- build_problem(paid, models, resolution = 10)
  same <- function(change, setting = paid, models = perturb_models(paid, by = 0.1), resolution = 10) {
    made <- changed_problem(problem, change)
    built <- build_problem(setting, models, resolution)
    parts <- c("tables", "reward", "models", "resolution")
    expect_equal(made[parts], built[parts])
    expect_identical(made$setting$utility, built$setting$utility)
    expect_identical(made$setting$belief_utility, built$setting$belief_utility, ignore_function_env = TRUE)
  }
  same(list())
  same(list(resolution = 7), resolution = 7)
  same(list(step = 0.2), models = perturb_models(paid, by = 0.2))
  same(list(models = diag_models()), models = diag_models())
  other <- paid
  other$utility <- 2 * paid$utility
  same(list(utility = other$utility), other)
  other <- paid
  other$belief_utility <- certainty_bonus(3, above = 0.8)
  same(list(bonus = 3), other)
  other$belief_utility <- certainty_bonus(3, above = 0.6)
  same(list(bonus = 3, above = 0.6, resolution = 5), other, resolution = 5)
  # A worth of beliefs that is known at the nodes alone stays what it is there.
  problem$setting["belief_utility"] <- list(NULL)
  expect_equal(changed_problem(problem, list(step = 0.2))$reward, problem$reward)
  expect_equal(changed_problem(problem, list(utility = 2 * paid$utility))$reward,
               build_problem(replace(paid, "utility", list(2 * paid$utility)), models, 10)$reward)
})
