test_that("tidy, glance and coef say what the draws say", {
  fit <- clinic_fit()
  table <- tidy(fit)
  expect_named(table, c("term", "group", "estimate", "std.error", "conf.low", "conf.high", "rhat", "ess_bulk",
                        "ess_tail", "contraction",
                        "verdict"))
  draws <- fit$draws$south[, , "alpha"]
  row <- table[table$group == "south" & table$term == "alpha", ]
  expect_identical(row$estimate, stats::median(draws))
  expect_equal(row$conf.low, stats::quantile(draws, 0.025, names = FALSE))
  expect_identical(row$rhat, posterior::rhat(draws))
  half <- tidy(fit, conf.level = 0.5)
  expect_true(all(half$conf.low > table$conf.low & half$conf.high < table$conf.high))
  expect_identical(unname(coef(fit)), table$estimate)
  expect_identical(names(coef(fit)), posterior::variables(posterior::as_draws_array(fit)))
  one <- glance(fit)
  expect_identical(one$trajectories, 160L)
  expect_equal(one$visits, nrow(clinic_visits()))
  expect_identical(one$groups, 2L)
  expect_null(tidy(pooled_fit())$group)
  expect_error(tidy(fit, conf.level = 2), class = "ibrc_error_input")
})

test_that("contraction is 0 without data and near 1 with plenty", {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(0.5), diag_models())
  visits <- simulate(plan, 300, seed = 2)
  prior <- ibrc_prior(alpha ~ lognormal(0, 2))
  without <- ibrc(visits, setting, diag_models(), prior, sample_prior = "only", chains = 2, iter = 2000, seed = 1)
  expect_lt(abs(tidy(without)$contraction), 0.2)
  with <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 400, seed = 1)
  expect_gt(tidy(with)$contraction, 0.95)
})

test_that("what the data do not say is said", {
  fit <- pooled_fit()
  fit$draws$all[, , "optimism"] <- with_seed(1, stats::rnorm(length(fit$draws$all[, , "optimism"])))
  expect_match(verdict_advice(standing_verdict(fit)), "little about optimism", all = FALSE)
  # As wide as the prior, but elsewhere: that says something.
  fit$draws$all[, , "optimism"] <- fit$draws$all[, , "optimism"] + 5
  advice <- verdict_advice(standing_verdict(fit))
  expect_no_match(advice, "little about optimism")
  expect_match(advice, "pull optimism out of", all = FALSE)
  expect_no_match(verdict_advice(standing_verdict(pooled_fit())), "little about")
})

test_that("chains that disagree are not to be reported", {
  fit <- pooled_fit()
  fit$draws$all[, 1, "alpha"] <- fit$draws$all[, 1, "alpha"] + 5
  expect_match(verdict_advice(standing_verdict(fit)), "do not agree on alpha", all = FALSE)
})

test_that("a fit prints a table and advice", {
  expect_output(print(clinic_fit()), "A fit to 160 trajectories with .* in 2 groups")
  expect_output(print(clinic_fit()), "term group +median +2.5% +97.5% +verdict")
  expect_output(print(pooled_fit()), "Acceptance")
})

test_that("tidy() keeps all digits, and prints those of the chains as summary() does", {
  table <- tidy(clinic_fit())
  one <- table[1, c("term", "rhat", "ess_bulk", "ess_tail", "contraction")]
  expect_s3_class(one, "ibrc_terms")
  shown <- withr::with_options(list(width = 120), capture.output(expect_identical(print(one), one)))
  expect_identical(strsplit(shown[2], " +")[[1]][-(1:2)],
                   c(rhat_text(one$rhat), draws_text(one$ess_bulk), draws_text(one$ess_tail),
                     contraction_text(one$contraction)))
  expect_output(print(table["estimate"]), "estimate")
})

test_that("the table of a fit with groups stays on one line, as wide as the console is", {
  fit <- clinic_fit()
  heading <- function(width) {
    withr::local_options(width = width)
    lines <- utils::capture.output(print(fit))
    grep("^ +term ", lines, value = TRUE)
  }
  expect_match(heading(120), "ess_bulk ess_tail contraction")
  expect_match(heading(80), "ess contraction")
  table <- data.frame(ess_bulk = c(10, 30), ess_tail = c(20, 5), contraction = 1)
  withr::local_options(width = 20)
  expect_identical(on_one_line(table), data.frame(ess = c(10, 5), contraction = 1))
  withr::local_options(width = 80)
  expect_identical(on_one_line(table), table)
})
