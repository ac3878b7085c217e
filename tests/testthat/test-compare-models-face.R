visits <- small_visits()
compared <- compare_models(visits, small_clinic(), decision_models()[decision_models()$model %in% c("BC-IL", "ME-IRL"), ],
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
