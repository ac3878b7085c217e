# A setting from lines of text.
setting_of <- function(..., discount = NULL) {
  path <- tempfile(fileext = ".POMDP")
  on.exit(unlink(path))
  writeLines(c(...), path)
  as_setting(path, discount = discount)
}

# Lines of a file with two states, two actions and two observations, to which each
# test adds what it is about.
opening <- c("discount: 0.5", "values: reward", "states: a b", "actions: u v", "observations: x y")
plain <- c("T: * identity", "O: * uniform")

expect_line <- function(lines, line, message = NULL, ...) {
  problem <- expect_error(setting_of(lines, ...), message, class = "ibrc_error_input")
  expect_equal(problem$argument, "x")
  expect_equal(problem$rows, line)
  expect_match(conditionMessage(problem), paste("line", line))
}
