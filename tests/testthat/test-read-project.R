test_that("a projection plans for the medians", {
  plan <- project_behavior(pooled_fit())
  middle <- coef(pooled_fit())
  expect_equal(plan$agent$alpha, middle[["alpha"]])
  expect_equal(1 / plan$agent$beta, middle[["optimism"]])
  plans <- project_behavior(clinic_fit())
  expect_named(plans, c("north", "south"))
  expect_gt(plans$south$agent$alpha, plans$north$agent$alpha)
  expect_error(project_behavior(1), class = "ibrc_error_input")
})

test_that("a point estimate projects to the plan at that point, one plan per group", {
  run <- function(...) {
    ibrc_mode(clinic_visits(), diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1.5)), starts = 2,
              conf.level = NULL, resolution = 10, seed = 1, ...)
  }
  mode <- run()
  expect_equal(project_behavior(mode)$agent$alpha, tidy(mode)$estimate)
  grouped <- run(by = "clinic")
  plans <- project_behavior(grouped)
  expect_named(plans, c("north", "south"))
  expect_equal(c(plans$north$agent$alpha, plans$south$agent$alpha), tidy(grouped)$estimate)
})
