test_that("the bonus is paid where a belief exceeds the bound", {
  bonus <- certainty_bonus(2.5, above = 0.9)
  beliefs <- rbind(c(0.95, 0.05, 0), c(0.9, 0.1, 0), c(0, 0.05, 0.95), c(0.4, 0.3, 0.3), c(0, 1, 0))
  expect_identical(bonus(beliefs, "any"), c(2.5, 0, 2.5, 0, 2.5))
  # 0.9 by way of rounding is no more than 0.9.
  expect_identical(bonus(rbind(c(0.3 + 0.6, 1 - 0.3 - 0.6)), "any"), 0)
  expect_identical(bonus(rbind(c(1 - 0.1 + 2e-16, 0.1)), "any"), 0)
  expect_identical(certainty_bonus(-1, 0)(beliefs, "any"), rep(-1, 5))
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
