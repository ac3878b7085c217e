small_study <- function(...) {
  imitation_study(interpole_task("bias", resolution = 10), ..., trajectories = 40, nsim = 20, horizon = 60)
}

test_that("a study tells mean and spread over data sets, and keeps each of them", {
  study <- small_study(c("frequencies", "logistic"), runs = 3)
  each <- attr(study, "each")
  expect_identical(unique(study$method), c("truth", "frequencies", "logistic"))
  mine <- each$estimate[each$method == "logistic" & each$measure == "policy"]
  row <- study[study$method == "logistic" & study$measure == "policy", ]
  expect_length(unique(mine), 3)
  expect_close(c(row$estimate, row$sd, row$std.error), c(mean(mine), stats::sd(mine), stats::sd(mine) / sqrt(3)), 1e-12)
  expect_equal(study$estimate[study$method == "truth" & study$measure != "stopping_time"], c(0, 0))
  expect_output(print(study), "frequencies +[0-9.]+ \\([0-9.]+\\) .* -")
})

test_that("what a method gives does not depend on the others, nor on the session's random numbers", {
  noisy <- function(visits) fit_rnn(visits, units = c(2, 2), networks = 1, max_steps = 10)
  set.seed(1)
  before <- .Random.seed
  alone <- small_study(list("frequencies", mine = noisy), runs = 2)
  expect_identical(.Random.seed, before)
  set.seed(2)
  other <- small_study(list("logistic", mine = noisy), runs = 2)
  expect_identical(alone$estimate[alone$method == "mine"], other$estimate[other$method == "mine"])
  expect_false(identical(small_study(list("frequencies", mine = noisy), runs = 2, seed = 2)$estimate, alone$estimate))
})

test_that("a method that fails is counted and named, and the others go on", {
  calls <- 0
  sometimes <- function(visits) {
    calls <<- calls + 1
    if (calls == 2) stop("there is nothing to learn")
    fit_baseline(visits)
  }
  study <- small_study(list(mine = sometimes, "frequencies"), runs = 3)
  mine <- study[study$method == "mine", ]
  expect_equal(mine$failed, c(1, 1, 1))
  expect_equal(mine$runs, c(2, 2, 2))
  expect_equal(study$runs[study$method == "frequencies"], c(3, 3, 3))
  expect_output(print(study), "mine failed on 1 data set: .*there is nothing to learn")
})

test_that("an interrupt gives back what is finished", {
  calls <- 0
  slow <- function(visits) {
    calls <<- calls + 1
    if (calls == 3) interrupt_now()
    fit_baseline(visits)
  }
  interrupt_now <- function() signalCondition(structure(class = c("interrupt", "condition"), list()))
  expect_warning(study <- small_study(list(mine = slow), runs = 5), class = "ibrc_warning_interrupted")
  expect_true(all(study$runs == 2))
})

test_that("methods may not be called truth", {
  expect_error(small_study(list(truth = fit_baseline)), class = "ibrc_error", regexp = "methods")
})

test_that("an interrupt that a fit has answered by itself ends the study too", {
  calls <- 0
  answering <- function(visits) {
    calls <<- calls + 1
    model <- fit_baseline(visits)
    model$interrupted <- calls == 3
    model
  }
  expect_warning(study <- small_study(list(mine = answering), runs = 5), class = "ibrc_warning_interrupted")
  expect_true(all(study$runs == 2))
})

test_that("a study is tidied and glanced at as everything else", {
  study <- small_study(list("frequencies", bad = function(v) stop("no")), runs = 2)
  expect_s3_class(tidy(study), "data.frame", exact = TRUE)
  expect_identical(tidy(study)$estimate, study$estimate)
  expect_null(attr(as.data.frame(study), "each"))
  expect_identical(glance(study)[c("methods", "data_sets", "failed")],
                   data.frame(methods = 2L, data_sets = 2L, failed = 1L))
})

test_that("any part of a study prints under its own headings", {
  study <- small_study(c("frequencies", "logistic"), runs = 2)
  policy <- formatC(study$estimate[study$method == "logistic" & study$measure == "policy"], 3, format = "f")
  sorted <- measures_wide(study[order(study$estimate), ], 3)
  expect_identical(sorted[rownames(measures_wide(study, 3)), ], measures_wide(study, 3))
  expect_match(sorted["logistic", "policy"], policy, fixed = TRUE)
  expect_output(print(study[study$measure == "policy", ]), paste("logistic +", policy))
  expect_output(print(study[c("method", "measure", "estimate")]), "estimate")
})

test_that("an error of a fit is told as that, and warnings and verdicts are kept", {
  doubtful <- function(visits) {
    warning("odd")
    model <- fit_baseline(visits)
    model$verdict <- verdict_rows("settled", "a", "b", "do not use", "c")
    model
  }
  study <- small_study(list(bad = function(v) stop("no luck"), mine = doubtful), runs = 2)
  expect_identical(attr(study, "each")$failure[attr(study, "each")$method == "bad"][1], "no luck")
  shown <- capture.output(print(study))
  expect_match(shown, "bad failed on 2 data sets: no luck", all = FALSE, fixed = TRUE)
  expect_match(shown, "mine: verdict \"do not use\" in 2 of 2 data sets", all = FALSE, fixed = TRUE)
  expect_match(shown, "mine warned in 2 of 2 data sets: odd", all = FALSE, fixed = TRUE)
})
