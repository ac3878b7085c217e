plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
visits <- simulate(plan, 40, seed = 1)
crossed <- cross_validate(visits, list("visit_number", "logistic", bad = function(v) stop("no")), folds = 2)

test_that("pictures show their data", {
  data <- accuracy_data(crossed, action = "monitor")
  expect_named(data, c("method", "action", "said", "seen", "visits"))
  expect_identical(levels(data$method), c("visit_number", "logistic"))
  each <- tapply(data$visits, data$method, sum)
  expect_identical(unname(c(each)), rep(sum(crossed$scored & crossed$visit >= 2) + 0, 2))
  curve <- accuracy_data(crossed, "precision_recall", action = "monitor")
  ends <- curve[!duplicated(curve$method, fromLast = TRUE), ]
  expect_identical(ends$recall, c(1, 1))
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
})
