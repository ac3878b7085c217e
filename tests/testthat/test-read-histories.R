test_that("visits that a fit was made from are known as such, in their order and with their actions alone", {
  fit <- clinic_fit()
  visits <- clinic_visits()
  seen <- function(visits) {
    coded <- code_visits(visits, fit$problem$setting)
    group_histories(coded, fit_groups(fit, visits, coded), fit)
  }
  expect_true(is_fitted_data(seen(visits), fit))
  expect_true(is_fitted_data(seen(visits), fit, scored = TRUE))
  expect_false(is_fitted_data(seen(visits[visits$id != 1, ]), fit))
  other <- as.data.frame(visits)
  other$action[other$id == 1][1] <- setdiff(diag_setting()$actions, other$action[other$id == 1][1])[1]
  other <- trajectories(other[!duplicated(other$id) | other$id != 1, ], covariates = "clinic")
  expect_false(is_fitted_data(seen(other), fit))
})
