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
