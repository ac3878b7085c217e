plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 1e-3), diag_models())
other <- update(plan, bounded_agent(0.5))

test_that("the data behind the picture are the policy and the belief path", {
  data <- plans_data(list(a = plan, b = other), rep("positive", 3))
  expect_named(data, c("panel", "part", "visit", "healthy", "diseased", "action", "probability"))
  lines <- data[data$panel == "b" & data$part == "policy" & data$action == "monitor", ]
  expect_equal(lines$probability, unname(policy(other)[, "monitor"]))
  path <- data[data$panel == "a" & data$part == "path", ]
  belief <- c(0.5, 0.5)
  for (i in 1:3) belief <- update_belief(plan, belief, "monitor", "positive")
  expect_identical(path$visit, 0:3)
  expect_equal(path$diseased[4], belief[["diseased"]])
  expect_identical(nrow(plans_data(plan)), 303L)
})

test_that("pictures are drawn for one plan and for several", {
  skip_if_not_installed("ggplot2")
  one <- plot(plan, observations = rep("positive", 3))
  expect_s3_class(one, "ggplot")
  built <- ggplot2::ggplot_build(one)
  expect_length(built$data, 3)
  expect_identical(nrow(built$data[[3]]), 4L)
  several <- plot_plans(list(optimist = plan, neutral = other), rep("positive", 2), columns = 1)
  expect_identical(nrow(ggplot2::ggplot_build(several)$layout$layout), 2L)
  expect_length(ggplot2::ggplot_build(plot(plan, state = "healthy"))$data, 1)
})

test_that("the path takes the actions it is given", {
  tiger <- plan_agent(tiger_setting(), bounded_agent(alpha = 1))
  free <- path_data(tiger, c("hear_left", "hear_left"), NULL)
  expect_identical(as.character(free$action), c(NA, "listen", "listen"))
  told <- path_data(tiger, c("hear_left", "hear_left"), c("listen", "open_left"))
  expect_equal(told$tiger_left[3], 0.5)
})

test_that("what cannot be drawn is refused", {
  expect_error(plot_plans(1), class = "ibrc_error_input")
  expect_error(plot_plans(list(plan, plan_agent(tiger_setting(), bounded_agent()))), class = "ibrc_error_input")
  expect_error(plot(plan, observations = "maybe"), class = "ibrc_error_input")
  expect_error(plot(plan, observations = c("positive", "negative", "positive"), actions = c("monitor", "monitor")),
               class = "ibrc_error_input")
  expect_error(plot(plan, colour = 3), class = "ibrc_error_input")
  four <- plan_agent(with_seed(1, random_setting(4)), bounded_agent(), resolution = 3)
  expect_error(plot(four), "two or three states", class = "ibrc_error_input")
  skip_if_not_installed("ggplot2")
  expect_error(plot(plan, state = "ill"), class = "ibrc_error_input")
})

test_that("a path needs an action that goes on, or actions", {
  setting <- decision_setting(c("a", "b"), c("u", "v"), c("x", "y"), diag(2), matrix(0.5, 2, 2), diag(2),
                              discount = 0.5, stop_actions = c("u", "v"))
  plan <- plan_agent(setting, bounded_agent(alpha = 1), resolution = 4)
  error <- expect_error(path_data(plan, "x", NULL), class = "ibrc_error_input")
  expect_identical(error$argument, "actions")
  expect_null(usual_observations(plan))
})
