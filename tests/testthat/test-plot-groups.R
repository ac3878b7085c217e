test_that("the data are the densities, and intervals of the draws", {
  fit <- clinic_fit()
  data <- groups_data(fit, conf.level = 0.8)
  expect_named(data, c("part", "group", "term", "value", "density", "scale", "conf.low", "conf.high",
                       "trajectories"))
  curves <- data[data$part != "interval", ]
  expect_equal(curves[names(fit_plot_data(fit))], fit_plot_data(fit))
  intervals <- data[data$part == "interval", ]
  expect_identical(nrow(intervals), 4L)
  row <- intervals[intervals$term == "alpha" & intervals$group == "south", ]
  draws <- fit$draws$south[, , "alpha"]
  expect_equal(unlist(row[c("value", "conf.low", "conf.high")], use.names = FALSE),
               stats::quantile(draws, c(0.5, 0.1, 0.9), names = FALSE))
  expect_identical(unique(intervals$trajectories), "80")
  expect_identical(as.character(unique(groups_data(fit, "optimism")$term)), "optimism")
  expect_identical(nrow(groups_data(pooled_fit())[groups_data(pooled_fit())$part == "interval", ]), 2L)
})

test_that("small groups are hidden, unless told otherwise", {
  fit <- clinic_fit()
  fit$group_sizes[] <- c(157L, 3L)
  size <- function(...) {
    data <- groups_data(fit, "alpha", ...)
    data$trajectories[data$part == "interval"]
  }
  expect_identical(size(), c(">=5", "<5"))
  expect_identical(size(suppress = NULL), c("157", "3"))
})

test_that("groups are drawn a row each", {
  skip_if_not_installed("ggplot2")
  built <- expect_silent(ggplot2::ggplot_build(plot_groups(clinic_fit())))
  expect_identical(as.character(built$layout$layout$panel), c("alpha", "optimism"))
  expect_match(plot_groups(clinic_fit(), conf.level = 0.8)$labels$caption, "80% interval", fixed = TRUE)
  labels <- built$layout$panel_params[[1]]$y$get_labels()
  expect_identical(labels[!is.na(labels)], c("north\n80 trajectories", "south\n80 trajectories"))
  # The prior is behind both groups, and no height reaches the next row.
  expect_identical(sort(unique(built$data[[1]]$ymin)), c(1, 2))
  expect_true(all(built$data[[2]]$ymax - built$data[[2]]$ymin < 1))
  median <- stats::median(clinic_fit()$draws$north[, , "alpha"])
  point <- built$data[[4]]
  expect_equal(point$x[point$PANEL == 1 & point$y == 2], log10(median))
  expect_silent(ggplot2::ggplot_build(plot_groups(pooled_fit(), "alpha")))
})

test_that("what cannot be drawn is refused", {
  expect_error(plot_groups(1), class = "ibrc_error_input")
  expect_error(groups_data(1), class = "ibrc_error_input")
  expect_error(plot_groups(clinic_fit(), "beta"), class = "ibrc_error_input")
  expect_error(plot_groups(clinic_fit(), conf.level = 1), class = "ibrc_error_input")
  expect_error(plot_groups(clinic_fit(), suppress = 0), class = "ibrc_error_input")
  expect_error(plot_groups(clinic_fit(), colour = "red"), class = "ibrc_error_input")
})
