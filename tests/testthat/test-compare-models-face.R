visits <- small_visits()
few_models <- decision_models()[decision_models()$model %in% c("BC-IL", "ME-IRL"), ]
compared <- compare_models(visits, small_clinic(), few_models,
                           seed = 1, replicates = 50)

test_that("scores have one row per model and measure, with those of the table", {
  scores <- tidy(compared)
  expect_named(scores, c("model", "title", "measure", "estimate", "conf.low", "conf.high"))
  expect_identical(nrow(scores), 2L * length(divergence_measures))
  brier <- scores[scores$measure == "brier", ]
  expect_identical(brier$estimate, compared$brier)
  expect_identical(brier$conf.low, compared$brier_low)
  expect_error(tidy(compared, "x"), class = "ibrc_error_input", regexp = "what")
})

test_that("one row says what was compared, and a data frame is plain", {
  expect_identical(glance(compared)[c("models", "run", "visits")],
                   data.frame(models = 2L, run = 2L, visits = nrow(visits)))
  plain <- as.data.frame(compared)
  expect_identical(class(plain), "data.frame")
  expect_null(attr(plain, "made"))
})

test_that("the best stands first in print, and the reference is named as such", {
  lines <- format(compared)
  best <- compared$title[which.min(compared$log_loss)]
  expect_match(lines[3], best, fixed = TRUE)
  expect_match(lines[3], "reference$")
  # Columns that were taken out leave a plain data frame to print.
  expect_no_error(utils::capture.output(print(compared[c("model", "brier")])))
})

test_that("a loss without bound is told in words", {
  ruled <- compared
  other <- ruled$model != attr(ruled, "reference")
  ruled[other, c("log_loss", "difference", "difference_low", "difference_high")] <- Inf
  lines <- paste(format(ruled), collapse = "\n")
  expect_match(lines, "infinite +0[.][0-9]+ +0[.][0-9]+ +infinite\n")
  expect_no_match(lines, "Inf", fixed = TRUE)
  ruled$difference[other] <- NA
  expect_match(paste(format(ruled), collapse = "\n"), "not defined\n")
  ruled$difference[other] <- Inf
  ruled$difference_low[other] <- 0.5
  expect_match(paste(format(ruled), collapse = "\n"), "infinite [0.500, infinite]", fixed = TRUE)
})
