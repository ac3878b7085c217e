plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
visits <- simulate(plan, 40, seed = 1)
crossed <- suppressMessages(suppressWarnings(
  cross_validate(visits, list("visit_number", "logistic", bad = function(v) stop("no")), folds = 2)))

test_that("pictures show their data", {
  data <- accuracy_data(crossed, action = "monitor")
  expect_named(data, c("method", "action", "said", "seen", "visits", "conf.low", "conf.high"))
  expect_true(all(data$conf.low <= data$seen & data$seen <= data$conf.high, na.rm = TRUE))
  expect_true(any(!is.na(data$conf.low)))
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

test_that("intervals of a reliability curve are over patients, and rare actions have none", {
  # What each patient does is the same at all visits: 24 patients tell as much as 24 visits.
  data <- data.frame(id = rep(1:24, each = 6), time = 1:6, action = rep(c("a", "b"), each = 6), observation = "o")
  same <- cross_validate(trajectories(data), "frequencies", folds = rep(1:2, each = 12))
  found <- accuracy_data(same, action = "b", bins = 2)
  expect_gt(found$conf.high[1] - found$conf.low[1], 0.3)
  by_hand <- vapply(resampled_weights(rep(1:24, each = 5), 500, 1), function(w) {
    stats::weighted.mean(rep(rep(c(0, 1), each = 5), 12), w)
  }, 0)
  expect_equal(c(found$conf.low[1], found$conf.high[1]), stats::quantile(by_hand, c(0.025, 0.975), names = FALSE))
  data$action[data$id > 4] <- "a"
  rare <- accuracy_data(cross_validate(trajectories(data), "frequencies", folds = rep(1:2, 12)), action = "b", bins = 2)
  expect_true(all(is.na(rare$conf.low)))
  skip_if_not_installed("ggplot2")
  expect_match(plot(same, action = "b")$labels$caption, "over\\s+patients")
})

test_that("what cannot be drawn is refused", {
  expect_error(accuracy_data(crossed, action = "none"), class = "ibrc_error_input")
  expect_error(plot(crossed, action = crossed$words$actions), "must name one action", class = "ibrc_error_input")
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
