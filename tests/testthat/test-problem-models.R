test_that("a prior needs models and matching weights", {
  one <- list(transition = diag(2), emission = diag(2))
  expect_identical(n_models(model_prior(list(one, one))), 2L)
  expect_identical(model_prior(one)$weights, c(model_1 = 1))
  expect_identical(names(model_prior(list(a = one, b = one), c(b = 0.3, a = 0.7))$weights), c("a", "b"))
  refused <- function(..., argument) {
    error <- expect_error(model_prior(...), class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  refused(list(), argument = "models")
  refused(1, argument = "models")
  refused(list(list(transition = diag(2))), argument = "models")
  refused(list(one, one), c(0.5, 0.4, 0.1), argument = "weights")
  refused(list(one, one), c(0.5, 0.4), argument = "weights")
  refused(list(one, one), c(1.5, -0.5), argument = "weights")
  refused(list(one, one), c(NA, 1), argument = "weights")
  refused(list(a = one, a = one), argument = "models")
  refused(list(one), setting = 1, argument = "setting")
  refused(list(list(transition = diag(3), emission = diag(2))), setting = diag_setting(),
          argument = "models[[1]]$transition")
})

test_that("model priors print their weights", {
  expect_snapshot(diag_models())
  expect_snapshot(perturb_models(diag_setting(), vary = "both", apart = TRUE))
})
