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
