test_that("a start that is no table and a thinning that keeps nothing are refused by name", {
  run <- function(...) ibrc(clinic_visits(), diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), ...)
  for (start in list(mean, alpha ~ 1, globalenv(), list(1, 1:2))) {
    expect_error(run(control = list(start = start)), "start", class = "ibrc_error_input")
  }
  expect_error(run(iter = 100, warmup = 50, control = list(thin = 40)), "thin", class = "ibrc_error_input")
  expect_error(run(iter = 2e9), "iter", class = "ibrc_error_input")
  expect_error(run(chains = 2e9), "chains", class = "ibrc_error_input")
})
