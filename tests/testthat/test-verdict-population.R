rows_of <- function(rows, check) as.data.frame(rows[rows$check == check, ])

test_that("chains that stand apart are told, and those that do not are not", {
  fit <- differing_fit()
  n <- nrow(fit$population$log_posterior)
  fit$population$log_posterior <- with_seed(1, cbind(stats::rnorm(n, -40), stats::rnorm(n, -40)))
  expect_identical(as.character(hill_rows(fit)$verdict), "ok")
  fit$population$log_posterior[, 2] <- fit$population$log_posterior[, 2] - 20
  expect_identical(as.character(hill_rows(fit)$verdict), "do not use")
  fit$population$log_posterior <- fit$population$log_posterior[, 1, drop = FALSE]
  expect_null(hill_rows(fit))
})

test_that("intercepts are held to R-hat and effective draws, one row per factor and term", {
  fit <- personal_fit()
  size <- dim(fit$population$intercepts)
  draws <- with_seed(1, array(stats::rnorm(1000 * 2 * size[3]), c(1000, 2, size[3]), list(
    NULL, NULL, dimnames(fit$population$intercepts)[[3]]
  )))
  fit$population$intercepts <- draws
  rows <- intercept_rows(fit)
  expect_identical(rows$term, c("alpha", "optimism"))
  expect_true(all(rows$verdict == "ok"))
  fit$population$intercepts[, 1, 2] <- draws[, 1, 2] + 3
  expect_identical(as.character(intercept_rows(fit)$verdict), c("do not use", "ok"))
})

test_that("spreads of few levels, and coefficients that stay at their prior, are told as such", {
  fit <- differing_fit()
  expect_match(spread_rows(fit)$seen, "^6 levels, contraction ")
  fit$effects$factors[[1]]$levels <- c("c1", "c2")
  expect_identical(as.character(spread_rows(fit)$verdict), "caution")
  expect_match(spread_rows(fit)$advice, "told by its prior")
  size <- dim(fit$population$draws)[1:2]
  fit$population$draws[, , "optimism[sexm]"] <- with_seed(1, stats::rnorm(prod(size), 0, 1.2))
  fit$population$draws[, , "optimism[armb]"] <- with_seed(1, stats::rnorm(prod(size), 0, 0.2))
  rows <- coefficient_rows(fit)
  expect_identical(as.character(rows$verdict[match(c("optimism[sexm]", "optimism[armb]"), rows$term)]), c("caution", "ok"))
})

test_that("what interpolation left out is judged by how far it differs from place to place", {
  fit <- differing_fit()
  fit$run["spacing"] <- list(NULL)
  expect_null(interpolation_rows(fit))
  fit$run$spacing <- c(0.5, 0.5)
  fit$population["errors"] <- list(NULL)
  expect_identical(as.character(interpolation_rows(fit)$verdict), "caution")
  fit$population$errors <- rep(0.2, 5)
  expect_identical(as.character(interpolation_rows(fit)$verdict), "ok")
  fit$population$errors <- c(0.2, 0.2, 40)
  expect_identical(as.character(interpolation_rows(fit)$verdict), "do not use")
})

test_that("the slow checks say what the numbers rest on, and the verdict has all rows", {
  fit <- add_verdict(differing_fit())
  rows <- verdict(fit)
  expect_setequal(unique(rows$check), c("settled", "whole", "behaves", "identified", "assumed"))
  expect_true(any(grepl("at twice the resolution (20)", rows$seen, fixed = TRUE)))
  expect_true(any(grepl("weight on the middle", rows$seen)))
  expect_setequal(stats::na.omit(rows$term[rows$check == "identified"]), tidy(fit)$term)
  # Where the log-likelihood does not change, nothing moves.
  evaluator <- inverse_evaluator(fit)
  still <- population_shift(fit, "as it is", "nothing", "advice", evaluator, evaluator, function(size) {
    if (size < 1e-12) "ok" else "caution"
  })
  expect_identical(as.character(still$verdict), "ok")
})
