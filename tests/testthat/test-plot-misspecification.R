study <- misspecification_study(small_clinic(), n = Inf)

test_that("the picture shows its data", {
  data <- misspecification_data(study)
  expect_identical(nrow(data), 27L)
  expect_identical(data$value[data$measure == "regret"], study$regret)
  expect_identical(data$right, rep(study$right, 3))
  expect_error(misspecification_data(study, "nothing"), class = "ibrc_error_input")
  expect_error(misspecification_data(as.data.frame(study)), class = "ibrc_error_input")
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("lpSolve") # for the margin, without which a model has no point
  picture <- plot(study, c("distance", "divergence", "regret"))
  built <- ggplot2::ggplot_build(picture)
  expect_s3_class(built, "ggplot_built")
  points <- built$data[[2]]
  # What is without bound stands at the edge; what is 0 throughout has a panel from 0 up.
  expect_identical(sum(points$shape == 17), sum(is.infinite(study$divergence)))
  expect_true(all(is.finite(points$x)))
  expect_identical(built$layout$panel_params[[3]]$x$limits[1], 0)
  # Names are words in the picture, and in what is said of it.
  expect_identical(levels(picture$data$agent), c("max entropy", "boltzmann", "optimal"))
  expect_identical(levels(picture$data$model), c("optimal", "boltzmann", "max entropy"))
  expect_no_match(picture$labels$alt, "_", fixed = TRUE)
  expect_true("max_entropy" %in% data$model)
})
