test_that("a file without observations shows the state, and rewards have three parts", {
  path <- test_path("pomdp", "mdp.POMDP")
  setting <- as_setting(path, discount = 0.9)
  expect_true(setting$fully_observed)
  expect_equal(setting$observations, c("left", "middle", "right"))
  expect_equal(setting$start, c(left = 0, middle = 1, right = 0))
  # Costs: go from left pays 10 or 2, from middle 4 or 6, from right -2 or -3.
  expect_equal(setting$utility[, "go"], c(left = -6, middle = -5, right = 2.5))
  expect_equal(setting$utility[, "stay"], c(left = -10, middle = 0, right = 0))

  problem <- expect_error(as_setting(path), "discount =", class = "ibrc_error_input")
  expect_equal(problem$rows, 3)
  mdp <- c("discount: 0.5", "values: reward", "states: 2", "actions: 1", "T: 0 identity")
  expect_line(c(mdp, "O: 0 uniform"), 6, "observations")
  expect_line(c(mdp, "R: 0 : 0 : 0 : 0 1"), 6, "at most")
  expect_line(c(mdp, "R: 0 : 0", "1 2 3"), 7, "2 numbers")
})

test_that("the start is read in all its forms", {
  start_of <- function(line) {
    unname(setting_of("discount: 0.5", "values: reward", "states: a b c", "actions: 1", "observations: 1",
                      line, plain)$start)
  }
  expect_equal(start_of(""), rep(1 / 3, 3))
  expect_equal(start_of("start: uniform"), rep(1 / 3, 3))
  expect_equal(start_of("start: 0.5 0.2 0.3"), c(0.5, 0.2, 0.3))
  expect_equal(start_of("start:\n1\n0 0"), c(1, 0, 0))
  expect_equal(start_of("start: b"), c(0, 1, 0))
  expect_equal(start_of("start: 2"), c(0, 0, 1))
  expect_equal(start_of("start: a c"), c(0.5, 0, 0.5))
  expect_equal(start_of("start include: a 2 a"), c(0.5, 0, 0.5))
  expect_equal(start_of("start exclude: a"), c(0, 0.5, 0.5))
  expect_equal(start_of("start include: *"), rep(1 / 3, 3))

  bad_start <- function(line, message) expect_line(c(opening, line, plain), 6, message)
  bad_start("start: 0.5 0.2", "sum to 1")
  bad_start("start: 0.5", "2 numbers")
  bad_start("start: 1 0 0", "2 numbers")
  bad_start("start: 1.5 -0.5", "from 0 to 1")
  bad_start("start: 2", "numbered from 0")
  bad_start("start: c", "not a state")
  bad_start("start: reset", "2 numbers")
  bad_start("start include: uniform", "expected a state")
  bad_start("start exclude: *", "no state")
  bad_start("start exclude:", "expected a state")
  bad_start("start include", "colon")
})

test_that("names, numbers, layout and comments are free", {
  named <- setting_of(opening, "T: * uniform", "T: u identity", "O: * uniform", "O: v : b 0.2 0.8",
                      "R: v : b : * : * 3")
  numbered <- setting_of(opening, "T:*uniform T:0 identity O:* uniform O:1:1 0.2 0.8 R:1:1:*:*+3 # done")
  expect_identical(numbered, named)
  expect_identical(setting_of(rev(opening), "", "# T: v identity", "T : *", "uniform", "T", ":", "u",
                              "identity", "O: *", "uniform", "O: v :", "b", "0.2", "0.8", "R: v : b", "3 3",
                              "3", "3"), named)

  path <- withr::local_tempfile()
  text <- paste(c(opening, "T: * uniform", "T: u identity", "O: * uniform", "O: v : b 0.2 0.8",
                  "R: v : b : * : * 3"), collapse = "\r\n")
  # A mark of UTF-8, lines that end as on Windows, and odd bytes in a comment.
  mark <- as.raw(c(0xef, 0xbb, 0xbf))
  writeBin(c(mark, charToRaw(text), charToRaw(" # "), as.raw(c(0xe9, 0x00, 0xff))), path)
  expect_identical(as_setting(path), named)
  writeBin(c(charToRaw(text), as.raw(0xe9)), path)
  expect_error(as_setting(path), "line 10: a character outside plain ASCII", class = "ibrc_error_input")
})

test_that("rows off by rounding are rescaled, others are not", {
  third <- c("discount: 0.5", "values: reward", "states: 3", "actions: 1", "observations: 1", "O: * uniform")
  setting <- setting_of(third, "T: * : *", "0.33333 0.33333 0.33333")
  expect_equal(as.vector(setting$transition), rep(1 / 3, 9))
  expect_line(c(third, "T: * : *", "0.333 0.333 0.333"), 7, "sum to 1")
})

test_that("a preamble that does not follow the format names its line", {
  without <- function(i) c(opening[-i], plain)
  instead <- function(i, line) c(replace(opening, i, line), plain)
  expect_line(without(1), 5, "\"discount:\"")
  expect_equal(setting_of(without(1), discount = 0.25)$discount, 0.25)
  expect_line(without(2), 5, "\"values:\"")
  expect_line(without(3), 5, "\"states:\"")
  expect_line(without(4), 5, "\"actions:\"")
  expect_line(opening[1:2], 2, "\"states:\"")
  expect_line(opening, 5, "ends without end state probabilities")
  expect_line(c(opening, "T: * identity"), 6, "ends without observation probabilities")
  expect_line(instead(1, "discount: 1.5"), 1, "from 0 to 1")
  expect_line(instead(1, "discount: high"), 1, "1 number")
  expect_line(instead(1, "discount: 1.0"), 1, "discount =")
  expect_line(instead(2, "values: money"), 2, "\"reward\" or \"cost\"")
  expect_line(instead(3, "states:"), 3, "expected names")
  expect_line(instead(3, "states: 0"), 3, "at least 1")
  expect_line(instead(3, "states: 1"), 3, "at least two")
  expect_line(instead(3, "states: 2.5"), 3, "whole")
  expect_line(instead(3, "states: 2 b"), 3, "nothing more")
  expect_line(instead(3, "states: a 2"), 3, "cannot be a name")
  expect_line(instead(3, "states: a a"), 3, "twice")
  expect_line(instead(3, "states: a T"), 3, "cannot be a name")
  expect_line(c(opening[1:3], opening), 4, "already given in line 1")
  expect_line(c("", "# nothing"), 2, "without any content")
  expect_line("hello", 1, "begins with")
  path <- withr::local_tempfile()
  file.create(path)
  expect_error(as_setting(path), "without any content", class = "ibrc_error_input")
})

test_that("a file cannot ask for more memory than there is", {
  vast <- c(replace(opening, 3, "states: 99999999999"), plain)
  problem <- expect_error(setting_of(vast), class = "ibrc_error_memory")
  expect_equal(problem$rows, 3)
})

test_that("a damaged file gives a setting or a classed error, never anything else", {
  skip_on_cran()
  text <- readLines(test_path("pomdp", "forms.POMDP"))
  tokens <- strsplit(paste(sub("#.*", "", text), collapse = " \n "), "[ \t]+")[[1]]
  outcome <- function(tokens) {
    result <- tryCatch(setting_of(paste(tokens, collapse = " ")), error = identity)
    if (inherits(result, "ibrc_setting")) {
      return(!anyNA(unlist(result[c("transition", "emission", "utility", "start")])))
    }
    inherits(result, "ibrc_error") && identical(result$argument, "x") && length(result$rows) == 1
  }
  swapped <- function(i) replace(tokens, i, tokens[rev(i)])
  set.seed(1)
  n <- length(tokens)
  fine <- c(
    vapply(seq_len(n), function(i) outcome(tokens[seq_len(i)]), NA),
    vapply(seq_len(n), function(i) outcome(tokens[-i]), NA),
    replicate(100, outcome(swapped(sample(n, 2)))),
    replicate(100, outcome(sample(tokens)))
  )
  expect_true(all(fine))
  path <- withr::local_tempfile()
  for (i in 1:50) {
    bytes <- charToRaw(paste(text, collapse = "\n"))
    bytes[sample(length(bytes), 3)] <- as.raw(sample(0:255, 3))
    writeBin(bytes, path)
    result <- tryCatch(as_setting(path), error = identity)
    expect_true(inherits(result, c("ibrc_setting", "ibrc_error")))
  }
})
