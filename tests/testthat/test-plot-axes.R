test_that("a logarithmic axis is marked at round values", {
  expect_equal(10^log_breaks(c(-2.2, 2.1)), 10^(-3:3))
  expect_equal(10^log_breaks(c(0.02, 0.3)), c(1, 1.2, 1.4, 1.6, 1.8, 2), tolerance = 1e-12)
  expect_true(all(c(1, 3, 10) %in% round(10^log_breaks(c(-1, 1)), 10)))
  expect_true(all(c(1, 2, 5) %in% round(10^log_breaks(c(0, 1)), 10)))
  expect_identical(log_breaks(c(1, 1)), c(1, 1))
  expect_identical(log_labels(c(-1, 0, log10(3))), c("0.1", "1", "3"))
})

test_that("beside other terms alpha has its own numbers on a logarithmic axis", {
  skip_if_not_installed("ggplot2")
  ticks <- function(picture, panel, axis = "x") {
    scale <- ggplot2::ggplot_build(picture)$layout$panel_params[[panel]][[axis]]
    at <- scale$get_breaks()
    list(at = at[!is.na(at)], label = scale$get_labels()[!is.na(at)])
  }
  for (picture in list(plot(clinic_fit()), plot_groups(clinic_fit()))) {
    alpha <- ticks(picture, 1)
    expect_equal(as.numeric(alpha$label), 10^alpha$at, tolerance = 0.01)
    optimism <- ticks(picture, 2)
    expect_equal(as.numeric(optimism$label), optimism$at)
  }
  trace <- ticks(plot(clinic_fit(), "trace"), 1, "y")
  expect_equal(as.numeric(trace$label), 10^trace$at, tolerance = 0.01)
  joint <- ticks(plot(clinic_fit(), "joint"), 1)
  expect_equal(as.numeric(joint$label), 10^joint$at, tolerance = 0.01)
})

test_that("lines at 0 are for terms that have two sides", {
  expect_identical(has_zero(c("alpha", "optimism", "discount", "habit")), c(FALSE, TRUE, FALSE, TRUE))
  rows <- zero_rows(c("alpha", "optimism"), c("alpha", "optimism"))
  expect_identical(as.character(rows$panel), "optimism")
  expect_identical(levels(rows$panel), c("alpha", "optimism"))
  expect_null(zero_words("alpha"))
  expect_identical(zero_words(c("alpha", "habit")), "Thin line: habit 0, no habit.")
})
