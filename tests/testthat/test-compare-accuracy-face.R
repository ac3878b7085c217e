visits <- simulate(plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 10), 40, seed = 1)
crossed <- cross_validate(visits, c("frequencies", "logistic"), folds = 2)
found <- accuracy(crossed, action = "monitor", resamples = 20)

test_that("it says what is compared with what, and which way is better", {
  shown <- capture.output(print(found))
  expect_match(shown[1], "Predictions of [0-9]+ actions in 40 trajectories, from visit 2 on; in brackets 95% intervals")
  expect_match(shown, "minus frequencies: -?0", all = FALSE)
  expect_match(shown, "lower is better; differences below 0 are better than frequencies", all = FALSE, fixed = TRUE)
  expect_match(shown, "roc of \"monitor\": area under the ROC curve", all = FALSE, fixed = TRUE)
  expect_match(shown, "frequencies, roc of \"monitor\": the same probability", all = FALSE, fixed = TRUE)
  expect_false(any(grepl("less ", shown, fixed = TRUE)))
})

test_that("a table without notes ends with its last score", {
  shown <- capture.output(print(found[found$method == "logistic", ]))
  expect_false(any(grepl("NA, ", shown, fixed = TRUE)))
  expect_identical(utils::tail(shown, 1), "")
})

test_that("a line break in the name of a method breaks no line", {
  two <- found
  two$method[two$method == "logistic"] <- "two\nlines"
  expect_output(print(two), "  two\\nlines ", fixed = TRUE)
})

test_that("parts of a table print, or are plain data frames", {
  expect_output(print(found[found$score == "brier", ]), "from visit 2 on; in brackets 95%.*minus frequencies")
  expect_output(print(found[order(-found$estimate), ]), "in brackets 95%")
  expect_s3_class(found[c("method", "score", "estimate")], "data.frame", exact = TRUE)
  expect_s3_class(found[0, ], "data.frame", exact = TRUE)
  expect_output(print(found[, c("method", "score", "estimate")]), "estimate")
  expect_identical(found[["estimate"]], found$estimate)
})

test_that("what was not cross-validated has no accuracy, and a table no picture", {
  for (other in list(fit_baseline(visits), visits, data.frame(a = 1))) {
    expect_error(accuracy(other), "must come from cross_validate()", fixed = TRUE, class = "ibrc_error_input")
  }
  expect_error(plot(found), "draw what it was made from", class = "ibrc_error_input")
})

test_that("it is tidied and glanced at as everything else", {
  expect_s3_class(tidy(found), "data.frame", exact = TRUE)
  expect_identical(tidy(found)$estimate, found$estimate)
  expect_identical(dim(glance(found)), c(1L, 7L))
  expect_identical(glance(found)$reference, "frequencies")
})
