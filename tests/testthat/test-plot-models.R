test_that("the picture shows its data", {
  compared <- compare_models(small_visits(), small_clinic(), decision_models()[c(1, 3, 12), ], seed = 1,
                             replicates = 50)
  data <- model_comparison_data(compared)
  expect_identical(nrow(data), 9L)
  expect_identical(data$unbounded, data$model == "Det. DM-IL" & data$measure == "log_loss")
  expect_error(model_comparison_data(compared, "nothing"), class = "ibrc_error_input")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::ggplot_build(plot(compared)), "ggplot_built")
})
