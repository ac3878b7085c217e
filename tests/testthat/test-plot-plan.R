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
  expect_length(built$data, 4)
  expect_identical(nrow(built$data[[3]]), 4L)
  # Triangles have the number of their visit, and the caption says what was seen.
  expect_identical(as.integer(built$data[[4]]$label), 0:3)
  expect_match(gsub("\n", " ", one$labels$caption), "after each observation: 1 positive, 2 positive, 3 positive.")
  expect_null(plot(plan)$labels$caption)
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

seen_setting <- function(states) {
  n <- length(states)
  decision_setting(states, c("wait", "treat"), states, list(diag(n), matrix(1 / n, n, n)), "identity",
                   cbind(c(1, numeric(n - 1)), 0.3), discount = 0.5)
}

test_that("where the state is seen there is a bar for each state, and no belief that nobody holds", {
  for (states in list(c("well", "ill"), c("well", "ill", "dead"), letters[1:5])) {
    plan <- plan_mdp(seen_setting(states))
    data <- plans_data(plan)
    n <- length(states)
    expect_identical(nrow(data), 2L * n)
    expect_equal(as.matrix(data[states]), rbind(diag(n), diag(n)), ignore_attr = TRUE)
    expect_equal(data$probability, as.vector(policy(plan)))
    skip_if_not_installed("ggplot2")
    drawn <- ggplot2::ggplot_build(plot(plan))
    bars <- drawn$data[[1]]
    expect_equal(nrow(bars), 2 * n)
    expect_equal(sort(bars$xmax - bars$xmin), sort(data$probability))
    expect_length(unique(bars$y), n)
  }
})

test_that("what was seen is drawn beside the bars", {
  skip_if_not_installed("ggplot2")
  states <- c("well", "ill", "dead")
  plan <- plan_kl(seen_setting(states), 1)
  picture <- plot_plans(list(a = plan, b = plan), observations = c("ill", "dead"), actions = "treat")
  points <- ggplot2::ggplot_build(picture)$data[[4]]
  # The start may be any state: only what was seen has a place.
  expect_identical(nrow(points), 4L)
  expect_equal(as.numeric(points$y[1:2]), c(2, 1))
  expect_error(plot(plan, state = "ill"), "no effect", class = "ibrc_error_input")
  many <- plan_mdp(seen_setting(paste0("s", 1:41)))
  expect_error(plot(many), "up to 40 states", class = "ibrc_error_input")
})

test_that("plans where the state is seen are not mixed with others", {
  states <- c("a", "b")
  hidden <- decision_setting(states, c("wait", "treat"), states, diag(2), matrix(0.5, 2, 2), diag(2), discount = 0.5)
  plans <- list(plan_mdp(seen_setting(states)), plan_agent(hidden, bounded_agent(), resolution = 4))
  expect_error(plot_plans(plans), "must not mix", class = "ibrc_error_input")
})

test_that("a plan by history has a bar for each of the commonest histories", {
  plan <- plan_history_q_learning(tiger_setting(), memory = 2, steps = 20000, seed = 1)
  expect_error(plot_plans(plan), "plot()", class = "ibrc_error_input", fixed = TRUE)
  skip_if_not_installed("ggplot2")
  bars <- ggplot2::ggplot_build(plot(plan))$data[[1]]
  expect_length(unique(bars$y), 12)
  expect_equal(sum(bars$xmax - bars$xmin), 12)
  expect_error(plot(plan, colour = 3), class = "ibrc_error_input")
  green <- plan_history_q_learning(tiger_setting(), steps = 1, seed = 1)
  expect_error(plot(green), "steps", class = "ibrc_error_input")
})
