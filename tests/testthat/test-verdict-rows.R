test_that("rows that say the same are told once, the worst first", {
  rows <- rbind(verdict_rows("settled", "a", "b", "caution", "Few draws of {}.", c("alpha", "eta"), "all"),
                verdict_rows("whole", "a", "b", "do not use", "Short: {}.", "alpha", "all"),
                verdict_rows("assumed", "a", "b", "ok"))
  rows <- new_ibrc_verdict(rows, clinic_fit())
  expect_identical(verdict_advice(rows), c("Short: alpha (all).", "Few draws of alpha (all), eta (all)."))
  expect_identical(rows$advice, c("Few draws of alpha (all).", "Few draws of eta (all).", "Short: alpha (all).", ""))
  expect_identical(verdict_headline(rows), "Verdict: do not use (whole)")
  expect_identical(as.character(worst_of(rows$verdict)), "do not use")
  expect_identical(verdict_for(rows, "eta", "all"), "caution")
  expect_identical(verdict_for(rows, "discount", "all"), "ok")
  # Some columns of it are a data frame like any other.
  expect_output(print(rows[c("check", "verdict")]), "settled")
})

test_that("advice names its groups once, also where the name of a group is part of a word", {
  of <- function(group, advice = "The model may fit.") {
    verdict_rows("behaves", "a", "b", "caution", advice, group = group)
  }
  said <- function(rows) verdict_advice(new_ibrc_verdict(rows, clinic_fit()))
  expect_identical(said(of(c("f", "m"))), "f, m: The model may fit.")
  expect_identical(said(of("m")), "m: The model may fit.")
  # Of all groups together.
  expect_identical(said(of(c("f", "m", NA))), "The model may fit.")
  expect_identical(said(rbind(of("f"), of("m", "Do more."))), c("f: The model may fit.", "m: Do more."))
})

test_that("how many draws there are of each is told once, from the fewest to the most", {
  fit <- clinic_fit()
  labels <- expand.grid(term = c("alpha", "optimism"), group = c("north", "south"), stringsAsFactors = FALSE)
  few <- function(n, end = ".") {
    verdict_rows("settled", "a", "b", rep("caution", 4),
                 paste0("Few independent draws of {} (", n, "): go on before printing its interval", end), labels$term,
                 labels$group)
  }
  said <- function(rows) verdict_advice(new_ibrc_verdict(rows, fit))
  all <- "alpha (north), optimism (north), alpha (south), optimism (south)"
  expect_identical(said(few(c("101", "1,200", "99", "350"))),
                   paste0("Few independent draws of ", all, " (99 to 1,200): go on before printing their intervals."))
  expect_identical(said(few(c("99", "99", "99", "99"))),
                   paste0("Few independent draws of ", all, " (99): go on before printing their intervals."))
  expect_identical(said(few("7")[1, ]),
                   "Few independent draws of alpha (north) (7): go on before printing its interval.")
  # What is said otherwise stands by itself.
  expect_length(said(few(c("101", "120", "99", "350"), c(".", ".", ", and do not report.", "."))), 2)
})

test_that("rows are made of arguments of any length", {
  rows <- verdict_rows("settled", c("a", "b"), "x", "caution", c("one", "two"))
  expect_identical(rows$advice, c("one", "two"))
  expect_identical(verdict_rows("settled", "a", "x", c("ok", "caution"), "do")$advice, c("", "do"))
})

test_that("one standard deviation is one", {
  expect_identical(deviations_words(1), "1 standard deviation")
  expect_identical(deviations_words(1.004), "1 standard deviation")
  expect_identical(deviations_words(0.254), "0.25 standard deviations")
})
