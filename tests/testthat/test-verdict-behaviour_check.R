setting <- decision_setting(
  states = c("well", "ill"), actions = c("wait", "treat"), observations = c("negative", "positive"),
  transition = list(wait = rbind(c(0.9, 0.1), c(0.1, 0.9)), treat = rbind(c(0.95, 0.05), c(0.7, 0.3))),
  emission = rbind(c(0.8, 0.2), c(0.2, 0.8)), utility = cbind(wait = c(0, -4), treat = c(-2, -3)), discount = 0.9
)
plan <- plan_agent(setting, bounded_agent(alpha = 0.5), resolution = 20)
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
fit_to <- function(visits, ...) {
  ibrc(visits, setting, prior = prior, chains = 2, iter = 400, seed = 1, resolution = 20, ...)
}
right <- simulate(plan, 150, seed = 1, horizon = 6)

# The same agent, which half the time does again what it did last.
stubborn <- local({
  rows <- as.data.frame(right)
  with_seed(5, for (i in seq_len(nrow(rows))[-1]) {
    if (rows$time[i] > 0 && stats::runif(1) < 0.5) rows$action[i] <- rows$action[i - 1]
  })
  trajectories(rows, setting = setting)
})

test_that("an agent of the kind that was fitted behaves like its data", {
  tests <- behaviour_check(fit_to(right))
  expect_named(tests, c("statistic", "visits", "cells", "chi_square", "df", "p.value", "gap"))
  expect_identical(tests$statistic, c("visit", "belief", "last_action", "last_observation", "rare", "repeat"))
  expect_true(all(tests$p.value > 0.005, na.rm = TRUE))
  rows <- behaves_rows(tests)
  expect_identical(as.character(rows$verdict), "ok")
  expect_identical(rows$advice, "")
})

test_that("habit is seen, by last action and as repeats, and is not to be used", {
  fit <- fit_to(stubborn)
  tests <- behaviour_check(fit)
  expect_lt(tests$p.value[tests$statistic == "last_action"], 1e-6)
  expect_gt(tests$gap[tests$statistic == "repeat"], 0.05)
  expect_identical(as.character(behaves_rows(tests)$verdict), "do not use")
  habit <- habit_rows(tests)
  expect_identical(as.character(habit$verdict), "do not use")
  expect_match(habit$advice, "repeated more often .* Infer it with the rest")
  expect_match(habit_rows(tests, held = TRUE)$advice, "learned and then held: infer these first.$")
})

test_that("groups are looked at one by one and together", {
  rows <- rbind(cbind(as.data.frame(right), clinic = "north"),
                cbind(transform(as.data.frame(stubborn), id = id + 1000), clinic = "south"))
  fit <- fit_to(trajectories(rows, covariates = "clinic", setting = setting), by = "clinic")
  tests <- behaviour_check(fit)
  expect_identical(sum(is.na(tests$group)), 6L)
  habit <- tests[tests$statistic == "repeat", ]
  expect_equal(habit$gap[3], mean(habit$gap[1:2]), tolerance = 1e-6)
  said <- behaves_rows(tests)
  expect_identical(said$group, c("north", "south", NA))
  expect_identical(as.character(said$verdict), c("ok", "do not use", "do not use"))
})

test_that("statistics of the user's own are cells of visits", {
  fit <- fit_to(right)
  met <- NULL
  tests <- behaviour_check(fit, list(
    even = function(visits) {
      met <<- visits
      visits$trajectory %% 2
    },
    sure = function(visits) visits$belief_ill
  ))
  expect_identical(tests$statistic[5:6], c("even", "sure"))
  expect_true(all(tests$p.value[5:6] > 0.001))
  expect_identical(nrow(met), nrow(right))
  expect_identical(met$visit, right$time + 1L)
  expect_named(met, c("trajectory", "group", "visit", "last_action", "last_observation", "belief_well", "belief_ill"))
  # One that sees what was done would see through any fit.
  done <- fit$visit_actions[[1]]
  expect_lt(behaviour_check(fit, list(done = function(visits) done))$p.value[5], 1e-10)
})

test_that("statistics that are none are refused, and what fails in them is said", {
  fit <- fit_to(right)
  expect_error(behaviour_check(fit, 1), "named list of functions", class = "ibrc_error_input")
  expect_error(behaviour_check(fit, list(mean)), class = "ibrc_error_input")
  expect_error(behaviour_check(fit, list(visit = mean)), "names of their own", class = "ibrc_error_input")
  expect_error(behaviour_check(fit, list(a = mean, a = mean)), "names that differ", class = "ibrc_error_input")
  expect_error(behaviour_check(fit, list(mine = function(visits) stop("boom"))), "mine.*boom",
               class = "ibrc_error_input")
  expect_identical(statistic_cells(c(rep(0, 270), 1:30), 300, "x")[c(1, 300)], c("9", "10"))
  expect_error(behaviour_check(fit, list(one = function(visits) 1)), "one value per visit", class = "ibrc_error_input")
  expect_error(verdict(fit, list(one = function(visits) stop("no"))), "failed: no", class = "ibrc_error_input")
  expect_error(behaviour_check(fit_to(right, control = list(keep_data = FALSE))), "keep_data",
               class = "ibrc_error_input")
})

test_that("too few visits tell nothing, and that is said", {
  tests <- behaviour_check(suppressWarnings(fit_to(right[1:6, ])))
  expect_true(all(is.na(tests$p.value)))
  expect_match(behaves_rows(tests)$advice, "too few visits")
})

test_that("a misfit that is spread over many small groups is seen in all of them together", {
  rows <- as.data.frame(stubborn)
  rows$site <- sprintf("s%02d", rows$id %% 30)
  fit <- suppressWarnings(ibrc(trajectories(rows, covariates = "site", setting = setting), setting, prior = prior,
                               by = "site", chains = 2, iter = 120, seed = 1, resolution = 10))
  said <- behaves_rows(behaviour_check(fit))
  expect_identical(as.character(said$verdict[is.na(said$group)]), "do not use")
  habit <- habit_rows(behaviour_check(fit))
  expect_identical(as.character(habit$verdict[is.na(habit$group)]), "do not use")
})

test_that("statistics that come to the same cells count once, and P and gap are of one statistic", {
  tests <- data.frame(statistic = c("visit", "belief", "rare"), visits = 100L, cells = 2L, chi_square = c(4, 4, 30),
                      df = 1L, p.value = c(0.0455, 0.0455, 1e-7), gap = c(0.08, 0.08, 0.01))
  row <- behaves_rows(tests)
  expect_match(row$seen, "corrected for 2 comparisons .worst by rare, shares off by 0.01")
  expect_identical(as.character(row$verdict), "caution")
  expect_match(row$advice, "see behaviour_check(fit)", fixed = TRUE)
  sure <- transform(tests, df = 0L, p.value = NA, chi_square = 0)
  expect_identical(as.character(behaves_rows(sure)$verdict), "ok")
})

test_that("actions to which the fit gives no chance are counted all together", {
  test <- rare_test(c(seen = 12, expected = 2), 1000)
  expect_equal(stats::pchisq(test$chi_square, 1, lower.tail = FALSE), stats::ppois(11, 2, lower.tail = FALSE))
  expect_equal(test$gap, 0.01)
  expect_identical(rare_test(c(seen = 0, expected = 2), 1000)$chi_square, 0)
  expect_identical(rare_test(c(seen = 0, expected = 0.2), 1000)$df, 0L)
  family <- list(taken = rbind(c(1, 9), c(0, 5)), n = c(10, 5))
  expect_equal(rare_events(family, rbind(c(0.01, 0.99), c(0.5, 0.5))), c(seen = 1, expected = 0.1))
})

test_that("habit is not offered as left out where it is inferred", {
  tests <- data.frame(statistic = "action", cells = 4, chi_square = 60, df = 3, p.value = 1e-10, gap = 0.2,
                      visits = 500)
  expect_match(behaves_rows(tests)$advice, "the models or habit leave out")
  expect_match(behaves_rows(tests, inferred = TRUE)$advice, "(including its `start`) or the models leave out",
               fixed = TRUE)
})

test_that("people who differ are looked at together, if they are one cell as well, and in each problem", {
  fit <- fit_to(stubborn, effects = list(alpha ~ 1), control = list(check = FALSE))
  tests <- behaviour_check(fit)
  expect_identical(tests$statistic, c("visit", "belief", "last_action", "last_observation", "rare", "repeat"))
  expect_identical(unique(tests$visits), as.integer(sum(fit$n_scored)))
  expect_identical(as.character(behaves_rows(tests)$verdict), "do not use")
  rows <- verdict(fit)$table
  expect_false(any(grepl("could not be looked at", rows$seen)))
  data <- as.data.frame(right)
  data$test <- ifelse(data$id %% 2 == 0, "easy", "hard")
  several <- suppressWarnings(ibrc(trajectories(data, covariates = "test"), list(easy = setting, hard = setting),
                                   prior = prior, problem = "test", effects = list(alpha ~ 1), chains = 2, iter = 60,
                                   seed = 1, resolution = 5, control = list(check = FALSE)))
  tests <- behaviour_check(several)
  expect_identical(unique(tests$problem), c("easy", "hard"))
  expect_identical(nrow(tests), 12L)
  # A check does not vanish.
  expect_error(behaves_rows(tests[0, names(tests) != "problem"]), "nothing was counted")
})
