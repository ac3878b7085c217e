compared <- compare_models(small_visits(), small_clinic(), decision_models()[c(1, 3, 12), ], seed = 1,
                           replicates = 50)

test_that("the picture shows its data", {
  data <- model_comparison_data(compared)
  expect_identical(nrow(data), 6L)
  expect_identical(data$unbounded, data$model == "Det. DM-IL" & data$measure == "log_loss")
  expect_error(model_comparison_data(compared, "nothing"), class = "ibrc_error_input")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::ggplot_build(plot(compared)), "ggplot_built")
})

test_that("strips say which way is better, and nothing runs together", {
  data <- model_comparison_data(compared, c("log_loss", "brier", "agreement", "divergence"))
  expect_match(levels(data$panel)[-3], "lower is better", all = TRUE)
  expect_match(levels(data$panel)[3], "improper score")
  # No line of a strip is longer than a quarter of 900 px holds.
  expect_lte(max(nchar(unlist(strsplit(levels(data$panel), "\n")))), 19)
  expect_lte(max(lengths(strsplit(vapply(decision_models()$title, wrapped_title, ""), "\n"))), 2)
  skip_if_not_installed("ggplot2")
  built <- ggplot2::ggplot_build(plot(compared, c("log_loss", "brier", "agreement", "divergence")))
  labels <- lapply(built$layout$panel_params, function(panel) panel$x$get_labels())
  expect_lte(max(vapply(labels, function(label) sum(nchar(label[!is.na(label)])), 0)), 20)
})
