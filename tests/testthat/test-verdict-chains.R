test_that("chains are settled by R-hat and by effective draws", {
  fit <- clinic_fit()
  rows <- settled_rows(fit)
  expect_identical(rows$term, rep(c("alpha", "optimism"), 2))
  expect_identical(rows$group, rep(c("north", "south"), each = 2))
  good <- fit
  good$draws <- lapply(good$draws, function(draws) {
    with_seed(1, array(stats::rnorm(8000), c(2000, 2, 2), dimnames(draws)))
  })
  expect_true(all(settled_rows(good)$verdict == "ok"))
  apart <- good
  apart$draws$south[, 1, "alpha"] <- apart$draws$south[, 1, "alpha"] + 1
  rows <- settled_rows(apart)
  expect_identical(as.character(rows$verdict), c("ok", "ok", "do not use", "ok"))
  expect_match(rows$advice[3], "do not agree on .*extend_fit.*iter = 600")
  # A little above the mark with draws enough is a caution: chance does it.
  near <- good
  near$draws$south[, 1, "alpha"] <- near$draws$south[, 1, "alpha"] + 0.35
  expect_lt(posterior::rhat(near$draws$south[, , "alpha"]), 1.05)
  expect_identical(as.character(settled_rows(near)$verdict)[3], "caution")
  short <- good
  short$draws$north <- short$draws$north[1:150, , ]
  expect_identical(as.character(settled_rows(short)$verdict)[1], "caution")
  short$draws$north <- short$draws$north[1:40, , ]
  expect_identical(as.character(settled_rows(short)$verdict)[1], "do not use")
})

test_that("an interval is judged on each side, and by more than chance", {
  draws <- stats::qnorm(((1:4000) - 0.5) / 4000)
  weight <- rep(1 / 4000, 4000)
  judge <- function(low, high, ess = 4000) judge_sides(c(low, high), draws, weight, ess, ess)$verdict
  expect_identical(judge(-1.96, 1.96), "ok")
  expect_identical(judge(-1.4, 1.96), "caution")
  expect_identical(judge(-1, 1.96), "do not use")
  expect_identical(judge(-1.96, 1), "do not use")
  # Longer is no fault, and so is what a few draws would do by chance.
  expect_identical(judge(-3, 3), "ok")
  expect_identical(judge(-1.4, 1.96, ess = 60), "ok")
  # Beside the posterior altogether.
  expect_identical(judge(1, 4), "do not use")
})

test_that("chains that miss a tail agree with each other, and not with the profile", {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(alpha = 0.5, optimism = 0.8), diag_models())
  visits <- simulate(plan, 200, seed = 1)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
  fit <- ibrc(visits, setting, diag_models(), prior, chains = 4, iter = 2000, seed = 1)
  whole <- function(fit) {
    rows <- verdict(fit)
    stats::setNames(as.character(rows$verdict[rows$check == "whole"]), rows$term[rows$check == "whole"])
  }
  expect_identical(whole(fit), c(alpha = "ok", optimism = "ok"))
  # The lower half of optimism is never visited.
  cut <- fit
  values <- cut$draws$all[, , "optimism"]
  cut$draws$all[, , "optimism"] <- ifelse(values < stats::quantile(values, 0.4), stats::quantile(values, 0.7), values)
  expect_identical(whole(cut)[["optimism"]], "do not use")
  expect_lt(posterior::rhat(cut$draws$all[, , "optimism"]), 1.01)
})
