test_that("text is marked with what it is", {
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  bytes <- c("caf\xe9", "caf\xc3\xa9")
  expect_identical(Encoding(as_utf8(c(latin, bytes, "a", NA))), c(rep("UTF-8", 3), "unknown", "unknown"))
  expect_identical(as_utf8(c(latin, bytes, "a", NA)), c(rep("caf\u00e9", 3), "a", NA))
  expect_identical(sorted_text(c("b", "B", "a", "b")), c("B", "a", "b"))
  withr::local_options(OutDec = ",")
  expect_identical(as_text(0.5), "0.5")
  expect_identical(getOption("OutDec"), ",")
})

test_that("what cannot be seen does not count, and letters keep their case in every locale", {
  expect_identical(bare_text(c(" a  b ", "a\u00a0b", "\u200ba\ufeff", "a\tb\n", NA, "caf\u00e9")),
                   c("a b", "a b", "a", "a b", NA, "caf\u00e9"))
  expect_identical(lower_case(c("MCI", "\u0130I", NA)), c("mci", "\u0130i", NA))
  expect_identical(upper_case("title"), "TITLE")
  expect_identical(is_lost(c("", " ", "\u00a0", NA, "a", "NA")), c(TRUE, TRUE, TRUE, TRUE, FALSE, FALSE))
  expect_identical(is_lost(factor(c("", "a", NA))), c(TRUE, FALSE, TRUE))
  expect_identical(lookalike_rows(c("a", "b", "a ", "b", " a", "A")), c(3L, 5L))
  expect_identical(lookalike_rows(factor(c("a", "b"), c("a", "b", "a "))), integer())
})

test_that("what steers a terminal is written out, and nothing else is", {
  expect_identical(safe_text(c("\033[31mred", "a\nb\tc", "\u009b1m", "x\u202ey", "\x7f")),
                   c("\\033[31mred", "a\\nb\\tc", "\\u009b1m", "x\\u202ey", "\\177"))
  plain <- c("a\\b \"c\" 'd'", "\u00e4\u4e2d", NA, "")
  expect_identical(safe_text(plain), plain)
  expect_identical(safe_text(safe_text("\033")), safe_text("\033"))
  expect_identical(enumerate("\033[1m"), "\"\\033[1m\"")
  expect_identical(listing(c("\033[1m", "b")), "\\033[1m, b")
})
