test_that("chances have as many digits as draws can speak for", {
  expect_identical(chance_text(c(0, 0.0005, 0.001, 0.5, 0.9994, 1)),
                   c("< 0.001", "< 0.001", "0.001", "0.500", "> 0.999", "> 0.999"))
})

test_that("cells are text with three digits, and nothing where there is no number", {
  expect_identical(cell_text(c(1234567, NA, 0.123456)), c("1,234,567", "", "0.123"))
  shown <- shown_cells(data.frame(a = c(1.23456, NA), b = c("x", NA), c = c("<5", "1,234")))
  expect_identical(shown$a, c("1.23", ""))
  expect_identical(shown$b, c("x", ""))
  expect_identical(cell_text(c(0.44, 0.4, 2)), c("0.440", "0.400", "2.00"))
  expect_identical(cell_text(c(1, 12345, NA)), c("1", "12,345", ""))
  expect_identical(unname(number_columns(data.frame(a = 1, b = "x", c = "<5", d = ""))), c(TRUE, FALSE, TRUE, FALSE))
})

test_that("what is next to 0 is called so in what decision makers do, except in costs", {
  table <- data.frame(What = effect_titles[c("probability", "count", "cost", "cost_share")], At = "x",
                      Median = c(3.54e-11, -2e-5, 4e-5, 0), Rational = c(NA, 0.001, 0.25, 1234.5))
  expect_identical(shown_cells(table)$Median, c("< 0.001", "> -0.001", "4e-05", "0"))
  expect_identical(shown_cells(table)$Rational, c("", "0.00100", "0.250", "1,234"))
  expect_identical(shown_cells(table[c("Median", "At")])$Median[1], "3.54e-11")
  expect_true(number_columns(table)[["Median"]])
})
