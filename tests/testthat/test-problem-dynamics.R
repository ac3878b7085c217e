test_that("a matrix serves every action, a list each its own", {
  one <- rbind(c(0.2, 0.8), c(1, 0))
  every <- as_transition(one, c("a", "b"), c("u", "v"))
  expect_identical(every[, , "u"], every[, , "v"])
  expect_identical(dimnames(every), list(from = c("a", "b"), to = c("a", "b"), action = c("u", "v")))
  each <- as_emission(list(v = one, u = diag(2)), c("a", "b"), c("u", "v"), c("x", "y"))
  expect_identical(unname(each[, , "u"]), diag(2))
  expect_identical(names(dimnames(each)), c("to", "observation", "action"))
})

test_that("other names for another action are refused", {
  named <- function(rows) matrix(0.5, 2, 2, dimnames = list(rows, NULL))
  expect_error(as_transition(list(named(c("a", "b")), named(c("b", "a"))), c("a", "b"), c("u", "v")),
               "action \"v\" .* the same names, or none", class = "ibrc_error_input")
})
