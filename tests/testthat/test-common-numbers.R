test_that("a column's values say how its numbers are written", {
  expect_identical(read_numbers(c("6642.1", "7", " 1e3 ", "-.5", "5.", "+3", NA)), c(6642.1, 7, 1000, -0.5, 5, 3, NA))
  expect_identical(read_numbers(c("6,642.1", "7,001", "6642", "1,234,567")), c(6642.1, 7001, 6642, 1234567))
  expect_identical(read_numbers(c("6642,1", "7001", "6.642,5", "0,642")), c(6642.1, 7001, 6642.5, 0.642))
  expect_identical(read_numbers(c("6 642,1", "6\u00a0642,1", "6'642", "6\u2019642")), c(6642.1, 6642.1, 6642, 6642))
  # R's own way is never in doubt.
  expect_identical(read_numbers(c("6.642", "7.001")), c(6.642, 7.001))
})

test_that("what could be read in two ways is not read, unless bounds tell", {
  expect_identical(read_numbers(c("6,642", "7,001", "12")), c(NA, NA, 12))
  expect_identical(read_numbers(c("6,642", "7,001", "12"), 100, 1e5), c(6642, 7001, NA))
  expect_identical(read_numbers(c("6,642", "7,001"), 0, 18), c(6.642, 7.001))
  expect_identical(read_numbers(c("6642,1", "6642.1")), c(NA_real_, NA))
})

test_that("words, dates, codes and half numbers are no numbers", {
  expect_identical(read_numbers(c("x", "0x10", "1d3", "Inf", "NaN", "1 2", "12%", "6642 mm3", "2020-01-01", "1,2,3",
                                  "TRUE", "", ".", ",")), rep(NA_real_, 14))
})

test_that("a few values that cannot be read are warned of, more are refused", {
  expect_silent(judge_unreadable(list(a = integer()), 0L, "file"))
  expect_warning(judge_unreadable(list(a = 3L, b = integer()), c(20L, 5L), "file"), "a \\(row 3\\)",
                 class = "ibrc_warning_unreadable")
  error <- expect_error(judge_unreadable(list(a = 3L, b = 4:5), c(100L, 8L), "file"),
                        "\"b\": 25% of its values, rows 4 and 5", class = "ibrc_error_data")
  expect_identical(error$rows, 4:5)
  expect_identical(error$columns, "b")
})
