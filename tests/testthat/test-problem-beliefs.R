test_that("beliefs come as matrices, data frames and vectors", {
  states <- c("a", "b")
  expect_identical(as_beliefs(c(0.25, 0.75), states), cbind(a = 0.25, b = 0.75))
  expect_identical(as_beliefs(cbind(b = 0.75, a = 0.25), states), cbind(a = 0.25, b = 0.75))
  expect_identical(as_beliefs(data.frame(x = 1, b = 0.75, a = 0.25), states), cbind(a = 0.25, b = 0.75))
  expect_equal(sum(as_beliefs(c(1, 1e-9), states)), 1, tolerance = 1e-15)
})

test_that("positions are found, or the first that is unknown is named", {
  known <- c("u", "v")
  expect_identical(as_positions(c("v", "u"), known, "action", "action"), 2:1)
  expect_identical(as_positions(factor("v"), known, "action", "action"), 2L)
  expect_identical(as_positions(NA, known, "observation", "observation", missing_ok = TRUE), NA_integer_)
  error <- expect_error(as_positions(c("u", "w"), known, "action", "action"), "position 2", class = "ibrc_error_input")
  expect_identical(error$rows, 2L)
  expect_error(as_positions(1, known, "action", "action"), class = "ibrc_error_input")
})
