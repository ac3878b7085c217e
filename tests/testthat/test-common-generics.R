test_that("what is not a fit goes to the generic of the same name, if that has a method for it", {
  expect_error(hand_on(tiger_setting(), "no.such.package", "posterior_predict"), class = "ibrc_error_input")
  skip_if_not_installed("bayesplot")
  other <- with_seed(1, pp_check(stats::rnorm(20), matrix(stats::rnorm(200), 10), bayesplot::ppc_stat))
  expect_s3_class(other, "ggplot")
  # There is a default method for what comes with further arguments, and none for what comes alone.
  expect_error(pp_check(stats::rnorm(20)), "ibrc\\(\\)", class = "ibrc_error_input")
  # Ours are never for the default of another.
  expect_error(pp_check(tiger_setting(), "length"), "ibrc\\(\\)", class = "ibrc_error_input")
  skip_if_not_installed("loo")
  expect_error(hand_on("text", "loo", "loo", 1), "ibrc\\(\\)", class = "ibrc_error_input")
})

test_that("a generic of another package is asked whether it knows the class", {
  expect_true(has_method(stats::lm(dist ~ speed, datasets::cars), "stats", "predict"))
  expect_false(has_method(tiger_setting(), "stats", "predict"))
  # The classes that R gives to numbers and matrices count, a default method where it is asked about.
  expect_true(has_method(1L, "base", "seq", default = TRUE))
  expect_false(has_method(1L, "base", "seq"))
  expect_true(has_method(matrix(1L), "base", "unique"))
})

test_that("all our methods are known to the generics of other packages that have the name of ours", {
  methods <- parseNamespaceFile("ibrc", dirname(system.file(package = "ibrc")))$S3methods
  shared <- intersect(getNamespaceExports("ibrc"), methods[!is.na(methods[, 4]), 1])
  expect_true(all(c("log_lik", "prior_summary", "posterior_predict", "loo", "kfold", "pp_check") %in% shared))
  for (generic in shared) {
    of_generic <- methods[methods[, 1] == generic, , drop = FALSE]
    ours <- setdiff(of_generic[is.na(of_generic[, 4]), 2], "default")
    expect_setequal(of_generic[!is.na(of_generic[, 4]), 2], if (length(ours)) ours else "ibrc_fit")
  }
})

test_that("generics of packages that are attached later find our methods", {
  skip_if_not_installed("rstantools")
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(0.5), diag_models(), resolution = 10)
  visits <- simulate(plan, 20, seed = 1)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1))
  mode <- ibrc_mode(visits, setting, diag_models(), prior, resolution = 10, starts = 2, seed = 1)
  expect_identical(rstantools::log_lik(plan, visits), log_lik(plan, visits))
  expect_identical(rstantools::log_lik(mode), log_lik(mode))
  expect_identical(rstantools::prior_summary(prior), prior_summary(prior))
  # Of what neither knows, ours say so.
  expect_error(log_lik("text", visits), "ibrc\\(\\)", class = "ibrc_error_input")
  expect_error(posterior_predict(list(1), draws = 2), "ibrc\\(\\)", class = "ibrc_error_input")
})
