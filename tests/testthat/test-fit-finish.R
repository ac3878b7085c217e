test_that("an interrupt returns the draws so far", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1))
  chain <- run_interrupted(clinic_visits(), diag_setting(), diag_models(), prior, after = 180)
  expect_true(chain$interrupted)
  expect_identical(chain$state$iteration, 180L)
})
