test_that("the bonus is paid where a belief exceeds the bound", {
  bonus <- certainty_bonus(2.5, above = 0.9)
  beliefs <- rbind(c(0.95, 0.05, 0), c(0.9, 0.1, 0), c(0, 0.05, 0.95), c(0.4, 0.3, 0.3), c(0, 1, 0))
  expect_identical(bonus(beliefs, "any"), c(2.5, 0, 2.5, 0, 2.5))
  # 0.9 by way of rounding is no more than 0.9.
  expect_identical(bonus(rbind(c(0.3 + 0.6, 1 - 0.3 - 0.6)), "any"), 0)
  expect_identical(bonus(rbind(c(1 - 0.1 + 2e-16, 0.1)), "any"), 0)
  expect_identical(certainty_bonus(-1, 0)(beliefs, "any"), rep(-1, 5))
})

test_that("it rises from the bound to where all of it is paid", {
  rises <- certainty_bonus(2, above = 0.8, full = 0.9)
  at <- function(p) rises(cbind(p, 1 - p), "any")
  expect_close(at(c(0.5, 0.8, 0.85, 0.9, 0.95, 1)), c(0, 0, 1, 2, 2, 2), 1e-12)
  # Where nothing lies between, it is the jump.
  expect_identical(certainty_bonus(2.5, 0.9, 0.9)(rbind(c(0.91, 0.09), c(0.9, 0.1)), "any"), c(2.5, 0))
  expect_identical(format(rises), "from 0 to 2 as the surest belief rises from 0.8 to 0.9")
  for (bad in list(0.7, 1.1, NA, "a")) {
    expect_identical(expect_error(certainty_bonus(1, 0.8, bad), class = "ibrc_error_input")$argument, "full")
  }
  # Another worth or bound leaves the way as long, while there is room.
  moved <- attributes(changed_bonus(rises, above = 0.85))
  expect_equal(c(moved$worth, moved$above, moved$full), c(2, 0.85, 0.95))
  expect_equal(attr(changed_bonus(rises, worth = 3, above = 0.95), "full"), 1)
  # At resolution 20 a rise from 0.9 to 0.95 is the jump, node by node, and at another resolution it is not.
  truth <- adni_like_truth()$setting
  parts <- truth[c("states", "actions", "observations", "transition", "emission", "start")]
  worth <- function(setting, resolution) build_problem(setting, own_model(setting), resolution)$reward
  risen <- adni_setting(parts, full = 0.95)
  expect_close(worth(risen, 20), worth(adni_setting(parts), 20), 1e-12)
  expect_gt(max(abs(worth(risen, 100) - worth(adni_setting(parts), 100))), 1)
})

test_that("it is the same as the function that it stands for", {
  setting <- function(worth) {
    decision_setting(c("well", "ill"), c("wait", "look"), c("neg", "pos"), diag(2),
                     list(wait = matrix(0.5, 2, 2), look = rbind(c(0.8, 0.2), c(0.3, 0.7))),
                     cbind(c(0, 0), c(-1, -1)), worth, discount = 0.9)
  }
  by_hand <- function(beliefs, action) 2.5 * (apply(beliefs, 1, max) > 0.9 + 1e-12)
  native <- plan_agent(setting(certainty_bonus(2.5, 0.9)), bounded_agent(alpha = 0.4))
  general <- plan_agent(setting(by_hand), bounded_agent(alpha = 0.4))
  expect_identical(value(native), value(general))
  expect_gt(max(abs(value(native) - value(plan_agent(setting(NULL), bounded_agent(alpha = 0.4))))), 1)
})

test_that("it says what it pays", {
  bonus <- certainty_bonus(2.5, above = 0.9)
  expect_identical(format(bonus), "2.5 while any belief exceeds 0.9")
  expect_output(print(bonus), "2.5 while any belief exceeds 0.9", fixed = TRUE)
  setting <- adni_like_truth()$setting
  expect_output(print(setting), "belief worth  2.5 while any belief exceeds 0.9", fixed = TRUE)
  expect_output(print(summary(setting)), "of the belief itself: 2.5 while any belief exceeds 0.9", fixed = TRUE)
  setting$belief_utility <- function(beliefs, action) 0
  expect_output(print(setting), "belief worth  a function of the belief", fixed = TRUE)
  setting["belief_utility"] <- list(NULL)
  expect_no_match(paste(format(setting), collapse = ""), "belief worth")
})

test_that("worth and bound are checked", {
  for (bad in list(NA, Inf, "a", c(1, 2), NULL)) {
    expect_identical(expect_error(certainty_bonus(bad), class = "ibrc_error_input")$argument, "worth")
  }
  for (bad in list(NA, 1, -0.1, 2, "a", NULL)) {
    expect_identical(expect_error(certainty_bonus(1, bad), class = "ibrc_error_input")$argument, "above")
  }
})
