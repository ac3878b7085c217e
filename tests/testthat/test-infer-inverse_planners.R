test_that("the table has a row for each of the paper's, in its order", {
  table <- inverse_planners()
  expect_identical(table$inverse, c("perturbation", "margin", "soft_margin", "experiments", "scores", "soft_policies",
                                    "preferences", "matching", "distribution", "custom"))
  expect_named(table, c("inverse", "title", "demonstrator", "helper", "objective", "function", "reference"))
  expect_false(anyNA(table))
  expect_true(all(vapply(table, is.character, NA)))
  expect_identical(anyDuplicated(table$title), 0L)
})

test_that("an inverse planner that is not in the table has a title too", {
  expect_identical(ibrc:::inverse_title("margin"), "Maximum margin")
  expect_identical(ibrc:::inverse_title("shared_utility"), "Shared utility")
})
