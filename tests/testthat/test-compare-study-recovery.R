test_that("truths drawn from the prior are found again", {
  study <- recovery_study(small_design(effect = NULL, patients = 80, resolution = 20), replicates = 30)
  each <- as.data.frame(study)
  expect_null(each$group)
  expect_gt(length(unique(each$truth)), 50)
  table <- tidy(study)
  expect_named(table, c("term", "truth", "measure", "estimate", "std.error", "conf.low", "conf.high", "n"))
  of <- function(measure) table[table$measure == measure, ]
  expect_identical(of("bias")$term, c("alpha", "optimism"))
  expect_true(all(of("correlation")$estimate > 0.8))
  expect_true(all(abs(of("shrinkage")$estimate) < 0.5))
  # 24 of 30 at 95% are missed by chance once in 1,000.
  expect_true(all(of("coverage")$estimate * of("coverage")$n >= 24))
  said <- paste(trimws(format(study)), collapse = " ")
  expect_match(said, "30 studies of 80 patients per group, truths from the prior")
  expect_match(said, "the correlation with the truth is 0.9")
})

test_that("stated agents are the truth every time, group by group", {
  agents <- list(a = bounded_agent(0.5), b = bounded_agent(2, optimism = 0.4))
  study <- recovery_study(small_design(agents = agents, effect = NULL), replicates = 5, truths = "agents")
  table <- tidy(study)
  bias <- table[table$measure == "bias", ]
  expect_identical(paste(bias$term, bias$group), c("alpha a", "alpha b", "optimism a", "optimism b"))
  expect_equal(bias$truth, c(log(0.5), log(2), 0, 0.4))
  expect_true(all(is.na(table$estimate[table$measure %in% c("correlation", "shrinkage")])))
  expect_output(print(study), "Estimates of log alpha \\(b\\)")
  expect_error(recovery_study(small_design(prior = NULL, fit = count_visits)), "truths", class = "ibrc_error_input")
})
