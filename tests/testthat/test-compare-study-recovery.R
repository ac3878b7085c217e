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

test_that("with formulas, truths are those that the fit speaks of", {
  design <- small_design(effect = list(optimism = 0), effects = list(optimism ~ group))
  drawn <- with_seed(1, replicate(200, level_truth(draw_agents(design), c("alpha", "optimism"))))
  # What the formula shares is shared, and the difference has the prior of its coefficient.
  expect_identical(drawn["alpha", "reference", ], drawn["alpha", "other", ])
  apart <- drawn["optimism", "other", ] - drawn["optimism", "reference", ]
  prior <- ibrc_mode(simulate(design, seed = 1), design$setting, design$models, design$prior, resolution = 5,
                     effects = list(optimism ~ group), starts = 1, conf.level = NULL)$effects$prior
  expect_gt(stats::ks.test(apart, "pnorm", 0, prior[["optimism[groupother]"]]$args[["sd"]])$p.value, 0.001)
  expect_lt(abs(stats::cor(apart, drawn["optimism", "reference", ])), 0.25)
  # Apart, groups have draws of their own.
  each <- with_seed(1, level_truth(draw_agents(small_design()), "alpha"))
  expect_false(each[1] == each[2])
})

test_that("levels of a fit with a confounder are where it is centred", {
  severity <- list(name = "severity", values = 1:3, chances = matrix(1 / 3, 2, 3), effect = list(optimism = 0.3))
  design <- small_design(effect = list(optimism = 0.4), confounder = severity,
                         effects = list(optimism ~ group + severity))
  study <- recovery_study(design, replicates = 4, truths = "agents")
  each <- as.data.frame(study)
  expect_true(all(is.na(each$failure)))
  optimism <- each[each$term == "optimism", ]
  # About 0.3 * 2, and the same mean in both groups of a study.
  expect_true(all(abs(optimism$truth - ifelse(optimism$group == "other", 1, 0.6)) < 0.1))
  expect_close(optimism$truth[optimism$group == "other"] - optimism$truth[optimism$group == "reference"], rep(0.4, 4))
  expect_true(all(each$truth[each$term == "alpha"] == log(0.5)))
  expect_true(all(is.na(tidy(study)$estimate[tidy(study)$measure == "correlation"])))
  # Zeros and ones are not centred, nor is what the formula does not have.
  visits <- simulate(design, seed = 1)
  centre <- function(visits, effects) {
    mode <- ibrc_mode(visits, design$setting, design$models, design$prior, resolution = 5, effects = effects,
                      starts = 1, conf.level = NULL)
    level_centres(mode$effects, design, visits)
  }
  mean <- mean(visits$severity[!duplicated(visits$id)])
  expect_close(centre(visits, list(optimism ~ group + severity)), mean)
  expect_length(centre(visits, list(optimism ~ group)), 0)
  expect_equal(centre(visits, list(optimism ~ log(severity))), mean, ignore_attr = TRUE)
  visits$severity <- pmin(visits$severity - 1, 1)
  expect_close(centre(visits, list(optimism ~ group + severity)), 0)
})

test_that("levels of other groups come from two coefficients, and profiles have none", {
  design <- small_design(effects = list(optimism ~ group))
  visits <- simulate(design, seed = 1)
  rows <- with_seed(1, analyse_visits(visits, design, FALSE))$rows
  expect_identical(paste(rows$term, rows$group), c("alpha reference", "alpha other", "optimism reference",
                                                   "optimism other"))
  # The same model with the other group first, whose level is then a coefficient.
  turned <- visits
  turned$group <- factor(turned$group, c("other", "reference"))
  mode <- ibrc_mode(turned, design$setting, design$models, design$prior, resolution = 10, starts = 1,
                    effects = list(optimism ~ group), conf.level = NULL, estimate = "mle", seed = 1)
  design$more$estimate <- "mle"
  rows <- with_seed(1, analyse_visits(visits, design, FALSE))$rows
  known <- tidy(mode)[tidy(mode)$term == "optimism", ]
  expect_equal(rows$estimate[4], known$estimate, tolerance = 1e-3)
  expect_equal((rows$conf.high - rows$conf.low)[4] / (2 * stats::qnorm(0.975)), known$std.error, tolerance = 1e-2)
  expect_identical(level_slots(small_design(fit = "profile", effects = list(optimism ~ group)))$group,
                   c("reference", "other", "reference"))
  expect_identical(nrow(level_slots(small_design(fit = "profile"))), 4L)
  # Nothing has to differ by group to be found again.
  shared <- recovery_study(small_design(effect = NULL, patients = 10, effects = list(optimism ~ severity),
                                        confounder = list(name = "severity", chances = 0.5,
                                                          effect = list(optimism = 0.2))), replicates = 1)
  expect_true(all(is.na(as.data.frame(shared)$failure)))
})
