rows <- data.frame(truth = 1, estimate = c(1, 2, 3, 4, NA), conf.low = c(-1, 0.5, 2, 3, NA),
                   conf.high = c(3, 3, 4, Inf, NA))

test_that("measures and their errors are what they are by hand", {
  table <- contrast_measures(rows)
  of <- function(measure) table[table$measure == measure, ]
  # Nothing is found without an interval; three of five exclude 0.
  expect_equal(of("power")$estimate, 3 / 5)
  expect_equal(of("power")$std.error, (of("power")$conf.high - of("power")$conf.low) / (2 * stats::qnorm(0.975)))
  expect_equal(unlist(of("power")[c("conf.low", "conf.high")], use.names = FALSE),
               suppressWarnings(stats::prop.test(3, 5, correct = FALSE))$conf.int[1:2])
  expect_equal(c(of("bias")$estimate, of("bias")$std.error, of("bias")$n), c(1.5, stats::sd(0:3) / 2, 4))
  expect_equal(of("rmse")$estimate, sqrt(mean((0:3)^2)))
  expect_equal(of("rmse")$std.error, stats::sd((0:3)^2) / 2 / (2 * sqrt(mean((0:3)^2))))
  expect_equal(c(of("coverage")$estimate, of("coverage")$n), c(0.5, 4))
  expect_equal(c(of("width")$estimate, of("width")$n), c(mean(c(4, 2.5, 2)), 3))
  expect_identical(contrast_measures(transform(rows, truth = 0))$measure[1], "false_positives")
  lost <- contrast_measures(rows[5, ])
  expect_identical(lost$n, c(1L, 0L, 0L, 0L, 0L, 0L))
  expect_identical(lost$estimate, c(0, NA, NA, NA, NA, NA))
})

test_that("a difference of the wrong sign is not the one that is there, and none of few is not never", {
  both <- data.frame(truth = 0.2, estimate = c(1, -1, -1, 0, 1), conf.low = c(0.1, -2, -2, -1, 0.3),
                     conf.high = c(2, -0.1, -0.3, 1, 2))
  table <- contrast_measures(both)
  expect_equal(table$estimate[1:2], c(2 / 5, 2 / 4))
  expect_identical(table$measure[1:2], c("power", "wrong_sign"))
  expect_identical(table$n[1:2], 5:4)
  expect_equal(contrast_measures(transform(both, truth = -0.2))$estimate[1:2], c(2 / 5, 2 / 4))
  expect_equal(contrast_measures(transform(both, truth = 0))$estimate[1], 4 / 5)
  never <- contrast_measures(rows[1, ])
  expect_identical(never$estimate[1], 0)
  expect_gt(never$std.error[1], 0.1)
  power <- cbind(patients = 30, effect = "stated", term = "optimism", group = "other", truth = 0.2, table)
  both <- c(reference = 9, other = 9)
  expect_match(found_words(power, FALSE, both),
               "found in 40% of studies .*; of the differences found 50% .* wrong sign[.]$")
  power$estimate[2] <- 0
  expect_no_match(found_words(power, FALSE, both), "wrong")
})

test_that("correlation and shrinkage compare truths that differ", {
  truth <- seq(-2, 2, length.out = 30)
  noise <- with_seed(1, stats::rnorm(30, sd = 0.2))
  table <- agreement_rows(data.frame(truth = truth, estimate = 0.5 * truth + noise))
  line <- stats::lm(I(0.5 * truth + noise) ~ truth)
  expect_equal(table$estimate[2], 1 - unname(stats::coef(line)[2]))
  expect_equal(table$std.error[2], summary(line)$coefficients[2, 2])
  test <- stats::cor.test(truth, 0.5 * truth + noise)
  expect_equal(unlist(table[1, c("estimate", "conf.low", "conf.high")], use.names = FALSE),
               c(test$estimate[[1]], test$conf.int[1:2]))
  expect_true(all(is.na(agreement_rows(rows)$estimate)))
})

test_that("intervals are called too short or too long beyond chance only", {
  said <- function(hits, n) {
    coverage_lines(data.frame(measure = "coverage", term = "alpha", estimate = hits / n, n = n), 0.95)
  }
  expect_null(said(9, 10))
  expect_null(said(190, 200))
  expect_match(paste(said(100, 200), collapse = " "), "alpha are too short: they cover the truth in 50%")
  expect_match(paste(said(1000, 1000), collapse = " "), "too long")
})

test_that("what went wrong is counted and said", {
  odd <- function(visits, design) {
    n <- options(ibrc.test.calls = getOption("ibrc.test.calls", 0) + 1)[[1]]
    if (n == 0) stop("no luck with `visits`")
    if (n == 1) warning("hmm")
    if (n == 2) return(data.frame(term = "optimism", estimate = 1, conf.low = 0.5, conf.high = Inf, settled = FALSE))
    data.frame(term = "optimism", estimate = 1, conf.low = if (n == 3) NaN else 0.5, conf.high = 2)
  }
  withr::local_options(ibrc.test.calls = 0)
  study <- power_study(small_design(effect = list(optimism = 0.5), fit = odd, prior = NULL, patients = 5), 5,
                       replicates = 5)
  expect_identical(unlist(glance(study)[c("failed", "unsettled", "open", "warned")]),
                   c(failed = 2L, unsettled = 1L, open = 1L, warned = 1L))
  expect_equal(tidy(study)$estimate[1], 3 / 5)
  said <- paste(trimws(format(study)), collapse = " ")
  expect_match(said, "2 studies of 5 gave no answer, or not all: no")
  # As the analysis said it, and with one full stop.
  study$each$failure <- c("not run: `effects` has nothing in column `x`.", rep(NA, 4))
  said_of <- function(study) paste(trimws(format(study)), collapse = " ")
  expect_match(said_of(study), "not all: `effects` has nothing in column `x`. What is missing counts", fixed = TRUE)
  study$each$failure[2:3] <- "no interval of alpha"
  expect_match(said_of(study), "not all: no interval of alpha (and others). What is missing", fixed = TRUE)
  expect_match(said, "1 study of 5 did not settle")
  expect_match(said, "1 study of 5 had an interval without an end")
  expect_match(said, "1 study of 5 came with a warning: hmm")
})
