# A made-up analysis of two groups under three alternatives, one of them without numbers.
made_up <- function(difference = c(-1, -3, 0.5, NA), log_lik = c(-100, -39, -99, NA), verdict = NULL) {
  what <- c("as fitted", "step", "step", "discount")
  label <- c("", "0.2", "0.05", "0.9")
  pieces <- lapply(1:4, function(i) {
    table <- data.frame(group = c("old", "young", "old"), reference = c(NA, NA, "young"),
                        scale = c(NA, NA, "difference"), term = "optimism",
                        estimate = c(difference[i], 0, difference[i]), std.error = 0.1,
                        conf.low = difference[i] - 0.2, conf.high = difference[i] + 0.2)
    list(table = table, log_lik = log_lik[i], converged = i != 3, pareto_k = NA_real_, note = "")
  })
  pieces[[4]] <- failed_piece(pieces[[1]], "it is too large.")
  alternatives <- Map(function(what, label) list(what = what, label = label), what[-1], label[-1])
  new_ibrc_sensitivity(pieces, alternatives, "mode", verdict)
}

test_that("the sentence says how far, on which side, what fits better and what is not known", {
  said <- sensitivity_words(made_up())
  expect_identical(said[1], paste("The difference in optimism (old minus young) is -1 as fitted and goes from -3 to",
                                  "0.5 over these 2 alternatives; its sign turns in 1 of them."))
  expect_identical(said[2], "1 alternative fits better by more than 2 log units: step 0.2 by 61. Report it.")
  expect_identical(said[3], "No numbers for discount 0.9: it is too large.")
  expect_match(said[4], "stopped before it got to the top under step 0.05")
  expect_length(said, 4)
  calm <- sensitivity_words(made_up(c(-1, -3, -0.5, NA), c(-100, -99, -99, NA)))
  expect_match(calm[1], "its sign holds in all of them.$")
  near <- sensitivity_words(made_up(c(-1, -3, -0.1, NA), c(-100, -99, -99, NA)))
  expect_match(near[1], "its sign holds in all of them, but the interval covers 0 in 1 of them.$")
  open <- sensitivity_words(made_up(c(-0.1, -3, -2, NA), c(-100, -99, -99, NA)))
  expect_match(open[1], "its sign holds in all of them, though the interval covers 0 as fitted.$")
  expect_identical(calm[2], "No alternative fits better by more than 2 log units.")
})

test_that("each row has the verdict on its term and groups in the fit, and none is to be used that came to no end", {
  known <- verdict_rows("settled", "seen", "asked", c("ok", "caution", "do not use"), "Do this.",
                        term = c("optimism", "optimism", "alpha"), group = c("old", "young", "old"))
  table <- as.data.frame(made_up(verdict = known))
  # Levels of old and young, and their difference.
  fine <- c("ok", "caution", "caution")
  expect_identical(table$verdict, c(fine, fine, rep("do not use", 6)))
  # A mode has no verdict.
  expect_identical(made_up()$verdict, rep(NA_character_, 12))
})

test_that("levels of prices have no sign, and ratios have a side of 1", {
  row <- function(term, estimate, reference = NA, scale = NA) {
    data.frame(term = term, estimate = estimate, group = NA, reference = reference, scale = scale,
               baseline = seq_along(estimate) == 1)
  }
  expect_identical(movement_words(row("alpha", c(1, 2))),
                   "alpha is 1 as fitted and goes from 1 to 2 over this alternative.")
  expect_match(movement_words(row("optimism", c(1, 2, 3))), "sign holds in all of them")
  expect_match(movement_words(row("optimism", c(1, -2, -3))), "sign turns in all of them")
  ratio <- transform(row("alpha", c(0.5, 2, 3), "young", "ratio"), group = "old")
  expect_match(movement_words(ratio), "The ratio of alpha \\(old to young\\) .* it crosses 1 in all of them")
  expect_no_match(movement_words(row("discount", c(0.5, 0.7))), "sign")
})

test_that("printing shows one row per alternative, and rows alone print as they are", {
  moved <- made_up()
  shown <- wide_table(shown_rows(moved), 3)
  expect_named(shown, c("what", "alternative", "log_lik", "optimism, old - young"))
  expect_identical(shown[[4]][c(1, 4)], c("-1 (-1.2, -0.8)", "none"))
  expect_identical(shown$log_lik, c("-100.0", "-39.0 (+61)", "-99.0 (+1)", ""))
  expect_output(print(moved), "3 alternatives to what the fit assumes, by modes")
  expect_output(print(moved[moved$what == "step", ]), "log_lik_difference")
  expect_output(print(moved[c("what", "estimate")]), "estimate")
  plain <- as.data.frame(moved)
  expect_identical(class(plain), "data.frame")
  expect_null(attr(plain, "method"))
  expect_identical(signed_text(c(0.04, -0.44, 12.4, -61)), c("0", "-0.4", "+12", "-61"))
})
