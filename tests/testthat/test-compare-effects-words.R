made_effects <- function(...) {
  rows <- data.frame(quantity = "probability", at = "even odds", action = "monitor", detail = NA_character_,
                     group = c("under 75", "over 75", "over 75"), reference = c(NA, NA, "under 75"),
                     estimate = c(0.74, 0.62, -0.12), conf.low = c(0.7, 0.55, -0.2), conf.high = c(0.78, 0.7, -0.04),
                     probability = c(NA, NA, 0.01), rational = c(1, 1, 0), unit = "probability",
                     simulation_error = 0, verdict = "caution")
  rows[names(list(...))] <- list(...)
  structure(rows, class = c("ibrc_effects", "data.frame"),
            verdict = structure(verdict_rows("assumed", "seen", "asked", "caution", "Look again."), grouped = TRUE),
            of = list(draws = 200, conf.level = 0.95, nsim = 10, groups = c("under 75", "over 75"),
                      setting = list(stop_actions = "declare_healthy")))
}

test_that("an effect reads like a sentence", {
  expect_identical(format(made_effects()), paste0(
    "At even odds, monitor with probability 0.74 (0.70 to 0.78) in under 75; 0.62 (0.55 to 0.70) in over 75, 0.12 ",
    "lower than in under 75 (difference -0.20 to -0.04); a perfectly rational agent: 1.00."
  ))
  accuracy <- made_effects(quantity = "accuracy", detail = "all states", rational = c(0.7, 0.7, 0))
  expect_identical(format(accuracy), paste0(
    "At even odds, acts as if what is seen after monitor pointed to the state that is there 74% (70% to 78%) in under ",
    "75; 62% (55% to 70%) in over 75, 12 points lower than in under 75 (difference -20 to -4 points); in the setting: ",
    "70%."
  ))
  expect_match(format(made_effects(quantity = "cost_share", action = NA)), "^As a share of .*: 74% \\(70% to 78%\\)")
  expect_match(format(made_effects(quantity = "visits", at = "at most 50 visits")),
               "^Visits until a decision \\(at most 50 visits\\): 0.7 .*rational agent: 1.0[.]$")
  expect_match(format(made_effects(quantity = "count", at = "over 8 visits")), "^Monitor, times in a trajectory")
  expect_match(format(made_effects(quantity = "weight", detail = "good")), "weighs the model \"good\" with 0.74")
})

test_that("nothing has no sign, and one point is one", {
  expect_match(format(made_effects(conf.low = c(0.7, 0.55, -0.001))), "(difference 0.00 to -0.04)", fixed = TRUE)
  expect_identical(effect_number(-0.0001, "accuracy"), "0%")
  expect_identical(effect_number(-0.01, "visits"), "0.0")
  expect_identical(effect_number(-0.1, "visits"), "-0.1")
  accuracy <- made_effects(quantity = "accuracy", detail = "all states", rational = c(0.7, 0.7, 0),
                           estimate = c(0.74, 0.75, 0.01))
  expect_match(format(accuracy), "in over 75, 1 point higher than in under 75 (difference -20 to", fixed = TRUE)
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
