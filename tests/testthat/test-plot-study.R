study <- power_study(small_design(fit = count_visits, prior = NULL, patients = 10), c(5, 10), replicates = 4,
                     null = TRUE)
again <- recovery_study(small_design(effect = NULL, patients = 20), replicates = 6)

test_that("the data behind pictures of studies are their tables", {
  data <- power_data(study)
  expect_identical(levels(data$panel), c("power", "false positives", "coverage"))
  expect_identical(unique(data$nominal[data$measure == "coverage"]), 0.95)
  expect_equal(unique(data$nominal[data$measure == "false_positives"]), 0.05)
  expect_true(all(is.na(data$nominal[data$measure == "power"])))
  expect_identical(levels(data$line), c("optimism", "optimism, no effect"))
  expect_identical(levels(power_data(study, "rmse")$panel), "root mean squared error")
  expect_error(power_data(study, "luck"), "luck", class = "ibrc_error_input")
  expect_error(power_data(again), "power_study", class = "ibrc_error_input")
  points <- recovery_data(again)
  expect_identical(nrow(points), 12L)
  expect_identical(levels(points$panel), c("log alpha", "optimism"))
  expect_identical(points$covered, points$conf.low <= points$truth & points$truth <= points$conf.high)
  expect_error(recovery_data(study), "recovery_study", class = "ibrc_error_input")
})

test_that("a study of one size is drawn in silence, without lines", {
  skip_if_not_installed("ggplot2")
  one <- power_study(small_design(fit = count_visits, prior = NULL, patients = 10), 10, replicates = 4)
  expect_silent(drawn <- ggplot2::ggplotGrob(plot(one)))
  is_line <- function(picture) vapply(picture$layers, function(layer) inherits(layer$geom, "GeomLine"), NA)
  expect_false(any(is_line(plot(one))))
  expect_true(any(is_line(plot(study))))
  # Nor is there one where a measure is there for one size only.
  part <- study
  part$each[part$each$patients == 5, c("conf.low", "conf.high")] <- NA
  expect_silent(ggplot2::ggplotGrob(plot(part)))
})

test_that("pictures show their data", {
  skip_if_not_installed("ggplot2")
  data <- power_data(study)
  built <- ggplot2::ggplot_build(plot(study))
  expect_setequal(built$data[[4]]$y, data$estimate)
  expect_setequal(built$data[[1]]$yintercept, c(0.95, 1 - 0.95))
  expect_match(plot(study)$labels$alt, "What a planned study would find, by power")
  points <- recovery_data(again)
  built <- ggplot2::ggplot_build(plot(again))
  # Natural logarithms of alpha stand at its own numbers, on an axis in powers of ten.
  unit <- ifelse(points$term == "alpha", log(10), 1)
  expect_setequal(built$data[[3]]$y, points$estimate / unit)
  expect_setequal(built$data[[3]]$x, points$truth / unit)
  expect_identical(as.character(built$layout$layout$panel), c("alpha", "optimism"))
  ticks <- built$layout$panel_params[[1]]$x
  at <- ticks$get_breaks()
  expect_equal(as.numeric(ticks$get_labels()[!is.na(at)]), 10^at[!is.na(at)], tolerance = 0.01)
  expect_match(plot(again)$labels$alt, "of 12 intervals cover the truth")
})
