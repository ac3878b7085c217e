test_that("an effect is found, and its figures say so in plain sentences", {
  study <- power_study(small_design(), c(10, 30), replicates = 5, null = TRUE)
  table <- tidy(study)
  expect_named(table, c("patients", "effect", "term", "group", "truth", "measure", "estimate", "std.error", "conf.low",
                        "conf.high", "n"))
  # With an effect there is a share of wrong signs beside the power.
  expect_identical(nrow(table), 2L * 2L * 2L * 5L + 2L)
  power <- table[table$measure == "power", ]
  expect_identical(power$term, c("optimism", "optimism"))
  expect_equal(power$truth, c(-0.5, -0.5))
  expect_gt(power$estimate[2], 0.6)
  none <- table[table$measure == "false_positives" & table$effect == "none", ]
  # Of 20 intervals without an effect, more than 5 would leave out 0 by chance once in 1,000.
  expect_lte(sum(none$estimate * none$n), 5)
  # Four times the patients would halve it; three times leave 0.58.
  width <- table$estimate[table$measure == "width" & table$term == "optimism" & table$effect == "stated"]
  expect_lt(width[2], 0.85 * width[1])
  expect_identical(nrow(glance(study)), 4L)
  expect_true(all(glance(study)$finished == 5))
  said <- paste(trimws(format(study)), collapse = " ")
  expect_match(said, "With 30 patients per group an effect of -0.5 on optimism is found in [0-9]+% of studies \\(")
  expect_match(said, paste("With 30 patients per group the difference in optimism is estimated with bias .* cover the",
                           "truth in [0-9]+%"))
  expect_match(said, "Without any effect a difference in optimism that is not there is found in [0-9]+% \\([0-9]+ to ")
})

test_that("intervals of modes cover about as often as they promise", {
  # Size and mark before the run: 30 studies, 95% intervals of both terms cover in at least 24 of them, which
  # would be missed by chance less than once in 1,000.
  study <- power_study(small_design(effect = list(optimism = -0.2)), 60, replicates = 30)
  covered <- tidy(study)[tidy(study)$measure == "coverage", ]
  expect_true(all(covered$n == 30))
  expect_true(all(covered$estimate * 30 >= 24))
  # Intervals of half the length would be seen.
  each <- as.data.frame(study)
  each[c("conf.low", "conf.high")] <- each$estimate + (each[c("conf.low", "conf.high")] - each$estimate) / 2
  short <- contrast_measures(each)
  expect_lt(short$estimate[short$measure == "coverage"], 0.8)
})

test_that("clinicians that vary are taken for a difference between groups when they are ignored", {
  design <- small_design(effect = list(optimism = 0), patients = 200, clusters = c(clinician = 10),
                         spread = c(optimism = 0.3))
  study <- power_study(design, 200, replicates = 16)
  found <- tidy(study)[tidy(study)$measure == "false_positives", ]
  # Of 16 studies, 5% would be 0.8; 5 or more come by chance once in 1,000. About half are found.
  expect_gte(found$estimate[found$term == "optimism"] * 16, 5)
  said <- paste(trimws(format(study)), collapse = " ")
  expect_match(said, "knows nothing of the column clinician")
  expect_match(said, "Intervals of optimism are too short")
})

test_that("a confounder that is not in the fit is taken for a difference, too", {
  severity <- list(name = "severity", chances = c(0.1, 0.9), effect = list(optimism = 0.5))
  study <- power_study(small_design(effect = list(optimism = 0), confounder = severity), 60, replicates = 6)
  bias <- tidy(study)[tidy(study)$measure == "bias" & tidy(study)$term == "optimism", ]
  # 0.8 of the patients more have 0.5 more.
  expect_gt(bias$conf.low, 0)
  expect_lt(abs(bias$estimate - 0.4), 0.25)
})

test_that("an analysis that knows of clinicians may be given", {
  by_clinician <- function(visits, design) {
    long <- tapply(visits$id, visits$clinician, function(id) length(id) / length(unique(id)))
    arm <- visits$group[match(names(long), visits$clinician)]
    test <- stats::t.test(long[arm == "other"], long[arm == "reference"])
    data.frame(term = "optimism", estimate = test$estimate[[1]] - test$estimate[[2]], conf.low = test$conf.int[1],
               conf.high = test$conf.int[2])
  }
  design <- small_design(effect = list(optimism = 0), patients = 60, clusters = c(clinician = 6),
                         spread = c(optimism = 0.3), fit = by_clinician, prior = NULL)
  study <- power_study(design, 60, replicates = 30)
  # 5% of 30 are 1.5; 7 or more come by chance once in 1,000.
  expect_lt(tidy(study)$estimate[1] * 30, 7)
  expect_no_match(paste(format(study), collapse = " "), "knows nothing")
})

test_that("what an analysis leaves out is said before what it finds, with what to do", {
  said <- function(...) {
    paste(trimws(format(power_study(small_design(...), 10, replicates = 1))), collapse = " ")
  }
  words <- said(agents = bounded_agent(0.5, eta = 1), effect = list(eta = 0.5))
  expect_match(words, "Groups differ in log eta, which this analysis takes to be the same .* A difference in log alpha")
  expect_match(said(effects = list(alpha ~ group)), "Groups differ in optimism, which this analysis")
  expect_no_match(said(), "takes to be the same|knows nothing")
  severity <- list(name = "severity", chances = c(0, 1), effect = list(optimism = 0.1))
  expect_match(said(confounder = severity), "column severity, which shifts .* list\\(optimism ~ group \\+ severity")
  expect_match(said(clusters = c(site = 2), spread = c(optimism = 0.3)),
               "do not use these figures, .* = list\\(optimism ~ group \\+ \\(1 \\| site\\)\\)\\..* is found in")
})

test_that("the patients of unequal groups are all said", {
  uneven <- small_design(patients = c(5, 20), fit = count_visits, prior = NULL)
  said <- function(study) paste(trimws(format(study)), collapse = " ")
  study <- power_study(uneven, c(5, 10), replicates = 2, null = TRUE)
  expect_match(said(study), "With 5 patients in reference and 20 in other an effect of -0.5")
  expect_match(said(study), "With 10 patients in reference and 40 in other the difference in optimism")
  expect_match(said(study), "\\) with 5 patients in reference and 20 in other and .* with 10 patients in reference")
  expect_no_match(said(study), "per group")
  by_group <- small_design(patients = c(5, 20))
  expect_match(said(recovery_study(by_group, replicates = 1)), "1 study of 5 patients in reference and 20 in other, tr")
  skip_if_not_installed("ggplot2")
  expect_identical(plot(study)$labels$x, "Patients in reference")
})

test_that("studies that cannot be are refused", {
  expect_error(power_study(small_design(effect = NULL)), "one group", class = "ibrc_error_input")
  expect_error(power_study(small_design(), patients = c(10, 10)), "more than once", class = "ibrc_error_input")
  expect_error(power_study(small_design(clusters = 5), patients = c(10, 4)), "without patients",
               class = "ibrc_error_input")
})

test_that("three groups are each held against the first", {
  agents <- list(a = bounded_agent(0.5), b = bounded_agent(0.5), c = bounded_agent(2))
  study <- power_study(small_design(agents = agents, effect = NULL), 20, replicates = 2)
  expect_identical(unique(as.data.frame(study)$group), c("b", "c"))
  expect_match(paste(trimws(format(study)), collapse = " "), "an effect of 1.39 on log alpha \\(c\\)")
})

test_that("groups may be terms of a formula, beside clinicians who vary", {
  effects <- list(optimism ~ group + (1 | clinician))
  design <- small_design(patients = 24, clusters = c(clinician = 3), fit = "posterior", effects = effects, chains = 2,
                         iter = 60, control = list(check = FALSE), resolution = 5)
  found <- suppressWarnings(power_study(design, patients = 24, replicates = 1))
  rows <- as.data.frame(found)
  expect_identical(unique(as.character(rows$term)), "optimism")
  made <- draw_visits(design)
  fit <- suppressWarnings(do.call(ibrc, fit_call(made, design), quote = TRUE))
  table <- tidy(fit, effects = "population")
  rows <- population_rows(fit, design, TRUE)
  expect_identical(rows$term, "optimism")
  expect_close(unlist(rows[c("estimate", "conf.low", "conf.high")], use.names = FALSE),
               unlist(table[table$term == "optimism[groupother]", c("estimate", "conf.low", "conf.high")],
                      use.names = FALSE))
  levels <- population_rows(fit, design, FALSE)
  expect_identical(nrow(levels), 4L)
  alpha <- as.numeric(posterior::as_draws_matrix(fit)[, "alpha"])
  expect_close(levels$estimate[levels$term == "alpha"], rep(stats::median(log(alpha)), 2), 1e-8)
  # Of a mode, with fixed effects alone.
  fixed <- small_design(patients = 24, fit = "mode", effects = list(optimism ~ group), resolution = 5)
  mode <- suppressWarnings(do.call(ibrc_mode, fit_call(draw_visits(fixed), fixed), quote = TRUE))
  expect_close(mode_effect_rows(mode, fixed, TRUE)$estimate, coef(mode)[["optimism[groupother]"]])
  expect_identical(mode_effect_rows(mode, fixed, FALSE)$group, rep(c("reference", "other"), 2))
  expect_error(power_study(small_design(clusters = c(clinician = 3), effects = list(optimism ~ (1 | clinician)),
                                        fit = "posterior")), "must have `group` in a formula",
               class = "ibrc_error_input")
  expect_error(small_design(problem = "group"), "cannot be handed on", class = "ibrc_error_input")
})

test_that("a fit with formulas is called so, and what it does not know of is said", {
  design <- function(effects, spread = c(optimism = 0.3)) {
    small_design(clusters = c(clinician = 3), spread = spread, fit = "posterior", effects = effects)
  }
  known <- design(list(optimism ~ group + (1 | clinician)))
  expect_identical(fit_words(known), "posterior of optimism ~ group + (1 | clinician)")
  expect_identical(fit_words(small_design(fit = "profile", effects = optimism ~ group)),
                   "mode of optimism ~ group, with its profile")
  expect_identical(fit_words(small_design()), "mode by group")
  expect_null(cluster_lines(known))
  said <- function(design) paste(trimws(cluster_lines(design)), collapse = " ")
  expect_match(said(design(list(optimism ~ group))), "knows nothing of the column clinician, by which")
  expect_match(said(design(list(optimism ~ group + (1 | clinician)), c(optimism = 0.3, alpha = 0.2))),
               "decision makers vary in alpha: do not use these figures")
  expect_null(cluster_lines(design(list(optimism ~ group), c(optimism = 0))))
})
