test_that("rows of probabilities are rescaled, or the first that is none is named", {
  rows <- rbind(a = c(0.25, 0.75), b = c(1, 1e-9))
  checked <- check_probability_rows(rows, "beliefs")
  expect_equal(rowSums(checked), c(1, 1), tolerance = 1e-15)
  expect_null(dimnames(checked))
  refused <- function(at, value) {
    rows[at] <- value
    expect_error(check_probability_rows(rows, "beliefs"), class = "ibrc_error_input")
  }
  for (value in c(-0.1, NA, NaN, Inf)) {
    error <- refused(2, value)
    expect_match(conditionMessage(error), "`beliefs` must be probabilities: row 2 has", fixed = TRUE)
    expect_identical(unname(error$rows), 2L)
  }
  error <- refused(1:2, 0.5)
  expect_match(conditionMessage(error), "sum to 1: row 1 sums to 1.25.", fixed = TRUE)
  expect_identical(unname(error$rows), 1:2)
})
