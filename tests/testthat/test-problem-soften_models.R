test_that("softening mixes with equal chances", {
  soft <- soften_models(diag_setting(), mix = c(0, 0.5, 1))
  expect_equal(vapply(soft$models, function(m) m$emission["healthy", "negative", "monitor"], 0),
               c(softened_0.0 = 0.7, softened_0.5 = 0.6, softened_1.0 = 0.5))
  expect_equal(unname(soft$models[[3]]$transition[, , "monitor"]), diag(2))
})

test_that("mixes out of range are refused", {
  setting <- diag_setting()
  expect_error(soften_models(setting, mix = 2), class = "ibrc_error_input")
  expect_error(soften_models(setting, mix = NA), class = "ibrc_error_input")
})
