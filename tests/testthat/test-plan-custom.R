worth_from <- function(start) function(plan) value(plan, start)
# Utility per visit less prices of straying from the priors.
priced <- function(plan, alpha, beta = 0) {
  setting <- plan$setting
  (1 - setting$discount) * value(plan, setting$start) - sum(c(alpha, beta) * complexity(plan)$nats[1:2])
}

test_that("for expected utility it finds what the model-based planner does", {
  with_seed(1, for (n_states in 2:4) {
    setting <- random_markov(n_states)
    plan <- plan_custom(setting, worth_from(setting$start), starts = 2, seed = 1)
    expect_s3_class(plan, c("ibrc_planned", "ibrc_plan"), exact = TRUE)
    expect_close(value(plan, setting$start), value(plan_mdp(setting), setting$start), 1e-8)
    expect_close(plan$report$objective, value(plan, setting$start), 1e-10)
  })
})

test_that("with a price of deciding it finds what the KL-regularised planner does", {
  with_seed(2, for (n_states in 2:3) {
    setting <- random_markov(n_states)
    plan <- plan_custom(setting, priced, list(alpha = 0.4), starts = 1)
    soft <- plan_kl(setting, 0.4)
    expect_close(plan$report$objective, (1 - setting$discount) * value(soft, setting$start), 1e-8)
    expect_close(policy(plan), policy(soft), 1e-4)
  })
})

test_that("with a price of leaving the neutral view it finds the optimist's weights", {
  with_seed(3, {
    setting <- random_markov(2, 2)
    models <- model_prior(replicate(2, simplify = FALSE, list(transition = random_law(2, 2, 2), emission = "identity")),
                          c(0.3, 0.7))
  })
  plan <- plan_custom(setting, priced, list(alpha = 0.5, beta = 0.4), starts = 1, models = models, recognition = TRUE)
  agent <- plan_agent(setting, bounded_agent(0.5, 0.4), models)
  expect_close(plan$report$objective, (1 - setting$discount) * value(agent, setting$start), 1e-8)
  expect_close(policy(plan), policy(agent), 1e-4)
  expect_close(model_weights(plan, action = "u1"), model_weights(agent, action = "u1"), 1e-4)
})

test_that("hidden states, one action and units are fine", {
  setting <- tiger_setting()
  plan <- plan_custom(setting, worth_from(setting$start), starts = 1, resolution = 4)
  expect_close(value(plan, setting$start), value(plan_pomdp(setting, 4), setting$start), 1e-6)
  with_seed(4, one <- random_markov(2, 1))
  expect_true(all(policy(plan_custom(one, worth_from(one$start))) == 1))
  with_seed(5, small <- random_markov(2))
  large <- small
  large$utility <- small$utility * 1e6
  expect_equal(value(plan_custom(large, worth_from(small$start), starts = 1)),
               1e6 * value(plan_custom(small, worth_from(small$start), starts = 1)), tolerance = 1e-8)
})

test_that("its plan of a behaviour is what evaluating that behaviour gives", {
  with_seed(6, {
    setting <- random_setting(2)
    rule <- random_rows(2, 3)
  })
  problem <- build_problem(setting, resolution = 6)
  law <- unname(expect_at_nodes(problem$space, rule))
  exact <- custom_plan(custom_frame(problem, list()), list(policy = law))
  usual <- plan_rule(setting, rule, 6)
  expect_close(value(exact), value(usual), 1e-8)
  expect_close(action_value(exact), action_value(usual), 1e-8)
})

test_that("drawn starts are the same again, and the user's generator is kept", {
  with_seed(7, setting <- random_markov(2))
  run <- function() plan_custom(setting, worth_from(setting$start), starts = 2, seed = 3)
  set.seed(1)
  first <- run()
  after <- stats::runif(1)
  set.seed(1)
  expect_identical(after, stats::runif(1))
  expect_identical(run()$report$starts, first$report$starts)
  expect_message(plan_custom(setting, worth_from(setting$start), starts = 1, refresh = 1), "start 1 of 1")
})

test_that("a search that is cut short says so", {
  with_seed(8, setting <- random_markov(3))
  expect_warning(plan_custom(setting, priced, list(alpha = 0.4), starts = 1, max_steps = 1),
                 class = "ibrc_warning_unsettled")
})

test_that("wrong arguments are refused by name", {
  with_seed(9, setting <- random_markov(2))
  good <- worth_from(setting$start)
  expect_refused(plan_custom(), "setting")
  expect_refused(plan_custom(1, good), "setting")
  for (wrong in list(NULL, 1, "x", function(...) stop("called"), function(...) NULL, function(plan) NaN)) {
    expect_refused(plan_custom(setting, wrong), "objective")
  }
  for (wrong in list(NULL, 1, "x", list(1), list(nobody = 1), data.frame(a = 1))) {
    expect_refused(plan_custom(setting, good, wrong), "parameters")
  }
  expect_refused(plan_custom(setting, good, start = "x"), "start")
  expect_refused(plan_custom(setting, good, start = function(beliefs) NULL), "start")
  expect_refused(plan_custom(setting, good, starts = 0), "starts")
  expect_refused(plan_custom(setting, good, resolution = 0), "resolution")
  expect_refused(plan_custom(setting, good, models = 1), "models")
  expect_refused(plan_custom(setting, good, recognition = NA), "recognition")
  expect_refused(plan_custom(setting, good, max_steps = 0), "max_steps")
  expect_refused(plan_custom(setting, good, seed = "x"), "seed")
  expect_refused(plan_custom(setting, good, refresh = -1), "refresh")
  expect_refused(plan_custom(tiger_setting(), good, resolution = 100), "resolution", "101 belief nodes by 2 free")
  with_seed(10, many <- random_markov(60))
  expect_refused(plan_custom(many, good), "setting", "60 states by 2 free")
})
