plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
visits <- simulate(plan, 40, seed = 1)
crossed <- suppressMessages(suppressWarnings(
  cross_validate(visits, list("visit_number", "logistic", bad = function(v) stop("no")), folds = 2)))

test_that("pictures show their data", {
  data <- accuracy_data(crossed, action = "monitor")
  expect_named(data, c("method", "action", "said", "seen", "visits", "conf.low", "conf.high"))
  expect_true(all(data$conf.low <= data$seen & data$seen <= data$conf.high))
  one <- stats::prop.test(round(data$seen[1] * data$visits[1]), data$visits[1], correct = FALSE)
  expect_equal(c(data$conf.low[1], data$conf.high[1]), as.numeric(one$conf.int))
  expect_identical(levels(data$method), c("visit_number", "logistic"))
  each <- tapply(data$visits, data$method, sum)
  expect_identical(unname(c(each)), rep(sum(crossed$scored & crossed$visit >= 2) + 0, 2))
  curve <- accuracy_data(crossed, "precision_recall", action = "monitor")
  ends <- curve[!duplicated(curve$method, fromLast = TRUE), ]
  expect_identical(ends$recall, c(1, 1))
  # Whoever takes all visits has the share of the action among them.
  expect_equal(ends$precision, curve$base[1:2])
  skip_if_not_installed("ggplot2")
  for (type in c("reliability", "precision_recall")) {
    drawn <- ggplot2::ggplot_build(plot(crossed, type, action = "monitor"))
    points <- drawn$data[[if (type == "reliability") 3 else 1]]
    expect_identical(nrow(points), nrow(accuracy_data(crossed, type, action = "monitor")))
  }
})

test_that("what cannot be drawn is refused", {
  expect_error(accuracy_data(crossed, action = "none"), class = "ibrc_error_input")
  expect_error(accuracy_data(crossed, from = 100), class = "ibrc_error_input")
  expect_error(plot(crossed, type = "other"), class = "ibrc_error_input")
  expect_error(accuracy_data(crossed, from = 1), class = "ibrc_error_input")
  data <- as.data.frame(visits)
  data$action <- factor(data$action, c(levels(factor(data$action)), "operate"))
  never <- cross_validate(trajectories(data), "frequencies", folds = 2)
  expect_error(plot(never, "precision_recall", action = "operate"), "never taken", class = "ibrc_error_input")
})

test_that("the curve has the area of the table, and a constant is a line", {
  both <- cross_validate(visits, c("frequencies", "logistic"), folds = 3)
  curve <- accuracy_data(both, "precision_recall", action = "monitor")
  said <- accuracy(both, action = "monitor", resamples = 0)
  for (method in c("frequencies", "logistic")) {
    mine <- curve[curve$method == method, ][-202, ]
    area <- sum(diff(mine$recall) * (mine$precision[-1] + mine$precision[-201]) / 2)
    expect_lt(abs(area - said$estimate[said$method == method & said$score == "prc"]), 0.003)
  }
})

test_that("methods are told apart without colour, and what guessing gets is drawn", {
  skip_if_not_installed("ggplot2")
  drawn <- ggplot2::ggplot_build(plot(crossed, "precision_recall", action = "monitor"))
  expect_length(unique(drawn$data[[1]]$linetype), 2)
  expect_equal(drawn$data[[2]]$yintercept, accuracy_data(crossed, "precision_recall", action = "monitor")$base[1])
  panels <- ggplot2::ggplot_build(plot(crossed, action = "monitor"))$layout$layout
  expect_identical(as.character(panels$method), c("visit_number", "logistic"))
})
