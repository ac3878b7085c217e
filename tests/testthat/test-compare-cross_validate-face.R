visits <- simulate(plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 10), 20, seed = 1)

test_that("an action may have the name of a column", {
  data <- as.data.frame(visits)
  data$action <- ifelse(data$action == "monitor", "visit", "scored")
  table <- tidy(cross_validate(trajectories(data), "frequencies", folds = 2))
  expect_identical(anyDuplicated(names(table)), 0L)
  expect_close(table$probability_visit + table$probability_scored, rep(1, nrow(data)), 1e-12)
  expect_true(is.numeric(table$visit) && is.logical(table$scored))
  data$action <- ifelse(data$action == "visit", "fold", "probability_fold")
  table <- tidy(cross_validate(trajectories(data), "frequencies", folds = 2))
  expect_identical(anyDuplicated(names(table)), 0L)
  expect_identical(ncol(table), 8L)
})

test_that("it counts the trajectories that are in folds, and says how many are not", {
  data <- as.data.frame(visits)
  data$free <- data$id > 5
  expect_message(crossed <- cross_validate(trajectories(data, scored = "free"), "frequencies", folds = 2),
                 "cross_validate() leaves 5 trajectories of 20 aside", fixed = TRUE)
  expect_output(print(crossed), "2 folds of 15 trajectories", fixed = TRUE)
})

test_that("it says from which visit on actions count", {
  expect_output(print(cross_validate(visits, "frequencies", folds = 2)), "scored, from visit 2 on")
  crossed <- cross_validate(visits, "frequencies", folds = 2, from = 1)
  expect_false(any(grepl("from visit", format(crossed))))
  expect_identical(summary(crossed), accuracy(crossed))
})
