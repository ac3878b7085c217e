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

test_that("every function in the table is there to be called, and names what it lacks", {
  for (name in inverse_planners()[["function"]]) {
    f <- get0(name, asNamespace("ibrc"), mode = "function")
    if (is.null(f)) skip(paste0(name, "() is not there yet"))
    expect_true(name %in% getNamespaceExports("ibrc"))
    expect_error(f(), class = "ibrc_error_input")
  }
})
