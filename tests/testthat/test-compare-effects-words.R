made_effects <- function(...) {
  rows <- data.frame(quantity = "probability", at = "even odds", action = "monitor", detail = NA_character_,
                     group = c("under 75", "over 75", "over 75"), reference = c(NA, NA, "under 75"),
                     estimate = c(0.74, 0.62, -0.12), conf.low = c(0.7, 0.55, -0.2), conf.high = c(0.78, 0.7, -0.04),
                     probability = c(NA, NA, 0.01), rational = c(1, 1, 0), rational_low = NA_real_,
                     rational_high = NA_real_, unit = "probability", simulation_error = 0, verdict = "caution")
  rows[names(list(...))] <- list(...)
  if (is.null(rows$gap)) {
    rows[c("gap", "gap_low", "gap_high")] <- rows[c("estimate", "conf.low", "conf.high")] - rows$rational
  }
  structure(rows, class = c("ibrc_effects", "data.frame"),
            verdict = structure(verdict_rows("assumed", "seen", "asked", "caution", "Look again."), grouped = TRUE),
            of = list(draws = 200, conf.level = 0.95, nsim = 10, groups = c("under 75", "over 75"),
                      setting = list(stop_actions = "declare_healthy")))
}

test_that("an effect reads like a sentence", {
  expect_identical(format(made_effects()), paste0(
    "At even odds, monitor with probability 0.74 (0.70 to 0.78) in under 75; 0.62 (0.55 to 0.70) in over 75, 0.12 ",
    "lower than in under 75 (difference within draws -0.20 to -0.04); a perfectly rational agent: 1.00."
  ))
  accuracy <- made_effects(quantity = "accuracy", detail = "all states", rational = c(0.7, 0.7, 0))
  expect_identical(format(accuracy), paste0(
    "At even odds, acts as if what is seen after monitor showed the true state this often: 74% (70% to 78%) in under ",
    "75; 62% (55% to 70%) in over 75, 12 points lower than in under 75 (difference within draws -20 to -4 points); in ",
    "the setting: 70%."
  ))
  expect_match(format(made_effects(quantity = "cost_share", action = NA)), "^As a share of .*: 74% \\(70% to 78%\\)")
  expect_match(format(made_effects(quantity = "visits", at = "at most 50 visits")),
               "^Visits until a decision \\(at most 50 visits\\): 0.7 .*rational agent: 1.0[.]$")
  expect_match(format(made_effects(quantity = "count", at = "over 8 visits")), "^Monitor, times in a trajectory")
  expect_match(format(made_effects(quantity = "weight", detail = "good")), "gives the model \"good\" the weight 0.74")
})

test_that("nothing has no sign, and one point is one", {
  expect_match(format(made_effects(conf.low = c(0.7, 0.55, -0.001))), "(difference within draws 0.00 to -0.04)",
               fixed = TRUE)
  expect_identical(effect_number(-0.0001, "accuracy"), "0%")
  expect_identical(effect_number(-0.01, "visits"), "0.0")
  expect_identical(effect_number(-0.1, "visits"), "-0.1")
  accuracy <- made_effects(quantity = "accuracy", detail = "all states", rational = c(0.7, 0.7, 0),
                           estimate = c(0.74, 0.75, 0.01))
  expect_match(format(accuracy), "in over 75, 1 point higher than in under 75 (difference within draws -20 to",
               fixed = TRUE)
  # Percentages and their differences have one digit after the point at most.
  share <- made_effects(quantity = "cost_share", action = NA, estimate = c(0.0741, 0.0674, -0.00674))
  expect_match(format(share), "7.4% (70% to 78%) in under 75; 6.7% (55% to 70%) in over 75, 0.7 points lower than",
               fixed = TRUE)
})

test_that("what is the same in no two draws has an interval, and so has the distance to it", {
  moving <- function(...) {
    made_effects(..., rational_low = c(0.6, 0.6, -0.1), rational_high = c(0.8, 0.8, 0.1), gap = c(0.025, -0.06, -0.1),
                 gap_low = c(-0.034, -0.2, -0.2), gap_high = c(0.07, 0.1, 0.1))
  }
  accuracy <- moving(quantity = "accuracy", detail = "all states", rational = c(0.7, 0.7, 0))
  expect_identical(format(accuracy), paste0(
    "At even odds, acts as if what is seen after monitor showed the true state this often: 74% (70% to 78%) in under ",
    "75, 2.5 points higher than in the setting (difference within draws -3.4 to 7 points); 62% (55% to 70%) in over ",
    "75, 12 points lower than in under 75 (difference within draws -20 to -4 points), 6 points lower than in the ",
    "setting (difference within draws -20 to 10 points); in the setting: 70% (60% to 80%)."
  ))
  agent <- format(moving(rational = c(0.7, 0.7, 0)))
  expect_match(agent, "in over 75, .*, 0.06 lower than a perfectly rational agent [(]difference within draws -0.20 to")
  expect_match(agent, "; a perfectly rational agent: 0.70 (0.60 to 0.80).", fixed = TRUE)
  # Medians that agree do not make intervals agree.
  apart <- moving(rational = c(0.7, 0.7, 0))
  apart$rational_low[2] <- 0.3
  expect_match(format(apart), "(a perfectly rational agent: 0.70 (0.30 to 0.80)).", fixed = TRUE)
  # What is told goes by the distance, not by medians that happen to be the same; costs are measured by themselves.
  same <- moving(quantity = "accuracy", detail = "all states", rational = c(0.74, 0.62, -0.12))
  same$gap[1] <- 0
  expect_match(format(same), "about as in the setting (difference within draws -3.4 to 7 points)", fixed = TRUE)
  expect_no_match(format(moving(quantity = "cost_share", action = NA)), "rational|setting")
})

test_that("the headline says what a difference is, and that one draw has no interval", {
  of <- list(draws = 200, conf.level = 0.95, differences = TRUE)
  expect_match(effects_headline(of), "95% interval; differences are medians of those within draws$")
  expect_match(effects_headline(replace(of, "differences", FALSE)), "95% interval$")
  expect_identical(effects_headline(replace(of, "draws", 1)), "What decision makers do, at one draw")
  expect_identical(effects_headline(of[-1]), "What decision makers do, at the estimates")
})

test_that("what there is nothing to say of is not said", {
  # One model: nothing leans.
  level <- c(0.7, 0.7, 0)
  expect_length(format(made_effects(quantity = "accuracy", detail = "all states", estimate = level,
                                    rational = level)), 0)
  expect_length(format(made_effects(quantity = "weight", detail = "only", estimate = level, rational = level)), 0)
  expect_length(format(made_effects(quantity = "decided", at = "within 50 visits", estimate = c(1, 1, 0))), 0)
  expect_match(format(made_effects(estimate = c(0.7, 0.7, 0.001))), "about as in under 75", fixed = TRUE)
  expect_length(format(made_effects(estimate = NA_real_)), 0)
  expect_match(format(made_effects(estimate = c(0.74, NA, NA))), "; not known in over 75; ", fixed = TRUE)
})

test_that("rational agents that differ stand with their group", {
  expect_match(format(made_effects(rational = c(1, 0.8, -0.2))),
               "in under 75 (a perfectly rational agent: 1.00); 0.62 (0.55 to 0.70) in over 75", fixed = TRUE)
})

test_that("printing carries the verdict, and takes what is left of a table", {
  expect_output(print(made_effects()), "What decision makers do, median over 200 draws and 95% interval")
  expect_output(print(made_effects()), "Verdict: caution (assumed)", fixed = TRUE)
  expect_output(print(made_effects()), "Look again", fixed = TRUE)
  expect_output(print(made_effects()[1:2, c("action", "estimate")]), "0.74", fixed = TRUE)
  expect_output(print(made_effects()[0, ]), "0 rows|<0 rows>")
  expect_s3_class(as.data.frame(made_effects()), "data.frame", exact = TRUE)
  expect_null(attr(as.data.frame(made_effects()), "verdict"))
})
