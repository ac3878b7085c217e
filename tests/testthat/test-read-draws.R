test_that("draws come as a tidy data frame and as objects of posterior", {
  fit <- clinic_fit()
  data <- as.data.frame(fit)
  expect_named(data, c(".chain", ".iteration", ".draw", "group", "term", "value"))
  expect_identical(nrow(data), 2L * 300L * 2L * 2L)
  south <- data[data$group == "south" & data$term == "alpha" & data$.chain == 2, ]
  expect_identical(south$value, as.vector(fit$draws$south[, 2, "alpha"]))
  array <- posterior::as_draws_array(fit)
  expect_identical(posterior::variables(array), c("alpha[north]", "optimism[north]", "alpha[south]", "optimism[south]"))
  expect_equal(as.vector(array[, 2, "alpha[south]"]), south$value)
  expect_identical(posterior::variables(posterior::as_draws_df(pooled_fit())), c("alpha", "optimism"))
  for (as in list(posterior::as_draws, posterior::as_draws_matrix, posterior::as_draws_list,
                  posterior::as_draws_rvars)) {
    expect_identical(posterior::ndraws(as(fit)), 600L)
  }
})

test_that("a run stopped in warm-up has nothing to return", {
  chain <- run_interrupted(clinic_visits(), diag_setting(), diag_models(),
                           ibrc_prior(alpha ~ lognormal(0, 1)), after = 50)
  expect_identical(chain$state$iteration, 50L)
  expect_error(new_ibrc_fit(chain, list()), class = "ibrc_error_interrupted")
})

test_that("R-hat and effective draws are had as of other fits", {
  fit <- pooled_fit()
  table <- tidy(fit)
  expect_equal(unname(posterior::rhat(fit)), table$rhat)
  expect_equal(unname(posterior::ess_bulk(fit)), table$ess_bulk)
  expect_equal(unname(posterior::ess_tail(fit)), table$ess_tail)
  expect_named(posterior::rhat(fit), table$term)
})
