test_that("what is not a fit goes to the generic of the same name", {
  expect_error(hand_on(tiger_setting(), "no.such.package", "posterior_predict"), class = "ibrc_error_input")
  skip_if_not_installed("bayesplot")
  other <- with_seed(1, pp_check(stats::rnorm(20), matrix(stats::rnorm(200), 10), bayesplot::ppc_stat))
  expect_s3_class(other, "ggplot")
})

test_that("a generic of another package is asked whether it knows the class", {
  expect_true(has_method(stats::lm(dist ~ speed, datasets::cars), "stats", "predict"))
  expect_false(has_method(tiger_setting(), "stats", "predict"))
})
