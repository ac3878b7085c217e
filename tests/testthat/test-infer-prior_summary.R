test_that("a prior is summarised by its quantiles", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 2), optimism ~ normal(0, 1, lower = 0))
  table <- prior_summary(prior)
  expect_named(table, c("term", "distribution", "q2.5", "median", "q97.5"))
  expect_identical(table$term, c("alpha", "optimism"))
  expect_identical(table$distribution, c("lognormal(0, 2)", "normal(0, 1, lower = 0)"))
  p <- c(0.025, 0.5, 0.975)
  expect_close(unlist(table[1, 3:5]), stats::qlnorm(p, 0, 2), 1e-10)
  expect_close(unlist(table[2, 3:5]), stats::qnorm(0.5 + p / 2), 1e-10)
})

test_that("a fit's is that of its prior, the defaults and utility entries too", {
  fit <- structure(list(prior = default_prior(diag_setting())), class = "ibrc_fit")
  expect_identical(prior_summary(fit), prior_summary(default_prior(diag_setting())))
  expect_identical(prior_summary(irl_prior(diag_setting()))$distribution, rep("normal(0, 10)", 4))
  expect_error(prior_summary(fit, 2), class = "ibrc_error_input")
})

test_that("anything else is refused, or goes to the generic of the same name", {
  skip_if(requireNamespace("rstantools", quietly = TRUE))
  expect_error(prior_summary(1), "ibrc\\(\\)", class = "ibrc_error_input")
})
