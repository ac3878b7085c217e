inverse <- people_inverse(list(optimism ~ arm + age + (1 | clinician)))
cells <- seq_along(inverse$histories)

# An interpolation of a function of the terms in place of log-likelihoods.
toy <- function(f, spacing = c(0.3, 0.2), frame = parent.frame()) {
  out <- new.env()
  out$inverse <- list(histories = as.list(1:2))
  out$spacing <- spacing
  forget_points(out)
  local_replacement("point_log_lik", function(interpolation, theta) f(theta), frame)
  out
}

test_that("weights are those of the polynomial through four points", {
  weights <- cubic_weights(c(0, 0.3, 1))
  expect_equal(rowSums(weights), rep(1, 3))
  expect_equal(weights[c(1, 3), ], rbind(c(0, 1, 0, 0), c(0, 0, 1, 0)))
  expect_equal(weights %*% (-1:2)^3, c(0, 0.3, 1)^3, ignore_attr = TRUE)
})

test_that("products of cubic polynomials are interpolated without error, cell by cell", {
  f <- function(theta) c(1, 2) * (2 + theta[1] - theta[1]^3) * (1 - theta[2]^2 + theta[2]^3)
  cubic <- toy(f)
  theta <- with_seed(1, matrix(stats::rnorm(40), 20))
  cell <- rep(1:2, 10)
  wanted <- vapply(1:20, function(i) f(theta[i, ])[cell[i]], 0)
  expect_equal(interpolated_log_lik(cubic, theta, cell), wanted, tolerance = 1e-12)
  # On a point, and on its lower edge.
  expect_equal(interpolated_log_lik(cubic, rbind(c(0.3, -0.2)), 2), f(c(0.3, -0.2))[2])
})

test_that("no log-likelihood is above 0, and what is not known stays so", {
  high <- toy(function(theta) c(0.5, -0.5))
  expect_equal(possible_log_lik(high, matrix(0.1, 2, 2), 1:2), c(0, -0.5))
  lost <- toy(function(theta) c(-Inf, -0.5))
  expect_identical(is.na(possible_log_lik(lost, matrix(0.1, 2, 2), 1:2)), c(TRUE, FALSE))
})

test_that("another function is off by the fourth power of the spacing", {
  frame <- environment()
  off <- vapply(c(0.4, 0.2), function(by) {
    smooth <- toy(function(theta) rep(sin(theta[1]) * exp(theta[2]), 2), c(by, by), frame)
    theta <- cbind(seq(-1, 1, length.out = 31), seq(0.5, -0.5, length.out = 31))
    max(abs(interpolated_log_lik(smooth, theta, rep(1, 31)) - sin(theta[, 1]) * exp(theta[, 2])))
  }, 0)
  expect_gt(off[1] / off[2], 8)
  expect_lt(off[2], 1e-3)
})

test_that("answers do not depend on what was asked before, nor on how much", {
  frame <- environment()
  smooth <- function() toy(function(theta) c(1, 2) * sin(sum(theta)), c(0.05, 0.05), frame)
  theta <- with_seed(2, matrix(stats::runif(120, -1, 1), 60))
  first <- smooth()
  one <- vapply(60:1, function(i) interpolated_log_lik(first, theta[i, , drop = FALSE], 1), 0)
  expect_gt(first$n, 64)
  expect_identical(rev(one), interpolated_log_lik(smooth(), theta, rep(1, 60)))
})

test_that("a new point is filled in without a copy of those known before", {
  where <- new.env()
  where$known <- matrix(0, 2, 4)
  fill_column(where, "known", 3, c(1, 2))
  expect_identical(where$known, cbind(0, 0, c(1, 2), c(0, 0)))
  # Eight megabytes, filled twenty times over: a copy on the way would be among the most that was held.
  where$known <- matrix(0, 1000, 1000)
  fill_column(where, "known", 1, 0)
  held <- function() gc(full = TRUE)["Vcells", "max used"]
  gc(reset = TRUE)
  before <- held()
  for (j in 1:20) fill_column(where, "known", j, j)
  expect_lt(held() - before, 5e5)
  expect_equal(where$known[1, 1:20], 1:20)
})

test_that("all visits in one tree are those of the cells' own trees", {
  pooled <- pooled_visits(inverse)
  expect_identical(tabulate(pooled$cell), lengths(inverse$actions))
  expect_identical(pooled$action, unlist(inverse$actions))
  interpolation <- new_interpolation(inverse, c(alpha = 0.2, optimism = 0.2))
  theta <- c(-0.4, 0.3)
  plan <- plan_at(inverse, prior_natural(inverse$prior, matrix(theta, 1)))
  apart <- vapply(cells, function(g) {
    law <- read_histories(plan, inverse$histories[[g]], beliefs = FALSE)$log_policy
    sum(scored_log_policy(law, inverse$histories[[g]], inverse$actions[[g]]))
  }, 0)
  expect_equal(point_log_lik(interpolation, theta), apart, tolerance = 1e-12)
})

test_that("so they are where actions are missing or not scored, and where people start differently", {
  data <- as.data.frame(people_visits())
  data$action[data$time == 2 & seq_len(nrow(data)) %% 5 == 0] <- NA
  data$counts <- seq_len(nrow(data)) %% 4 > 0
  setting <- decision_setting(
    diag_setting()$states, diag_setting()$actions, diag_setting()$observations, diag_setting()$transition,
    diag_setting()$emission, utility = diag_setting()$utility, discount = 0.9,
    stop_actions = diag_setting()$stop_actions,
    start = rbind(a = c(0.5, 0.5), b = c(0.8, 0.2)), start_by = "arm"
  )
  visits <- suppressWarnings(trajectories(data, covariates = c("arm", "age", "clinician"), scored = "counts"))
  read <- read_inverse(visits, setting, diag_models(), people_prior(), list(), NULL, FALSE)
  design <- read_population(list(optimism ~ age + (1 | clinician)), visits, read, list(), NULL)
  lost <- build_inverse(group_by_cell(read, design), 10, ibrc_control(), 1L)
  interpolation <- new_interpolation(lost, c(0.2, 0.2))
  theta <- c(0.2, -0.3)
  evaluator <- inverse_evaluator(lost)
  n <- length(lost$histories)
  exact <- evaluate_batch(evaluator, matrix(theta, n, 2, byrow = TRUE), matrix(0, evaluator$space$n_nodes, n),
                          seq_len(n))
  expect_equal(point_log_lik(interpolation, theta), exact$log_likelihood, tolerance = 1e-6)
  expect_lt(sum(interpolation$pooled$tree$scored), length(interpolation$pooled$action))
})

test_that("log-likelihoods near the posterior are off by less than was asked for", {
  points <- with_seed(3, cbind(stats::rnorm(6, -0.6, 0.2), stats::rnorm(6, 0.5, 0.2)))
  found <- find_spacing(inverse, points, c(alpha = 0.5, optimism = 0.5))
  evaluator <- population_evaluator(replace(inverse, "effects", list(inverse$effects)), 1, 1L, TRUE, found$spacing)
  theta <- with_seed(4, cbind(stats::rnorm(length(cells), -0.6, 0.2), stats::rnorm(length(cells), 0.5, 0.3)))
  near <- cell_log_lik(evaluator, theta, matrix(0, 0, nrow(theta)))$log_likelihood
  exact <- cell_log_lik(population_evaluator(inverse, 1, 1L), theta,
                        matrix(0, evaluator$agent$space$n_nodes, nrow(theta)))$log_likelihood
  expect_lt(abs(sum(near) - sum(exact)), 3 * error_wanted)
  expect_equal(interpolation_error(evaluator, theta), sum(near - exact), tolerance = 1e-4)
  # Of a function that bends everywhere no spacing is fine enough.
  local_replacement("point_log_lik", function(interpolation, theta) rep(sin(1e4 * theta[1]), length(cells)))
  expect_null(find_spacing(inverse, points, c(0.5, 0.5), halvings = 2))
})

test_that("what cannot be interpolated is solved for, and what is impossible stays so", {
  evaluator <- population_evaluator(inverse, 1, 1L, TRUE, c(alpha = 0.1, optimism = 0.1))
  theta <- matrix(c(-0.6, 0.5), length(cells), 2, byrow = TRUE)
  exact <- cell_log_lik(population_evaluator(inverse, 1, 1L), theta,
                        matrix(0, evaluator$agent$space$n_nodes, nrow(theta)))$log_likelihood
  local_replacement("point_log_lik", function(interpolation, theta) rep(-Inf, length(cells)))
  expect_equal(interpolated_cells(evaluator, theta, 1), exact, tolerance = 1e-6)
  # Further out than there are points, too.
  fine <- population_evaluator(inverse, 1, 1L, TRUE, c(alpha = 1e-8, optimism = 0.1))
  expect_equal(interpolated_cells(fine, theta, 1), exact, tolerance = 1e-6)
  expect_identical(interpolated_cells(evaluator, theta * 1e9, 1)[1], -Inf)
  expect_identical(interpolated_cells(evaluator, theta * NaN, 1)[1], -Inf)
})

test_that("a wide term has a wide grid, beside a term that needs a fine one", {
  wide <- ibrc_prior(alpha ~ lognormal(0, 3), optimism ~ normal(0, 10))
  expect_equal(widest_spacing(wide), c(alpha = 0.5, optimism = 5))
  points <- with_seed(3, cbind(stats::rnorm(6, 0, 0.5), stats::rnorm(6, 0, 8)))
  each <- function(theta) (sin(2 * theta[1]) + sin(theta[2] / 10)) / length(cells) * 5 - 10
  local_replacement("point_log_lik", function(interpolation, theta) rep(each(theta), length(cells)))
  found <- find_spacing(inverse, points, widest_spacing(wide))
  expect_gt(found$spacing[["optimism"]], 1)
  expect_lt(found$spacing[["alpha"]], 0.5)
  # The error of both together is what was asked for.
  error <- vapply(1:6, function(p) {
    theta <- matrix(points[p, ], length(cells), 2, byrow = TRUE)
    sum(possible_log_lik(found, theta, cells)) - length(cells) * each(points[p, ])
  }, 0)
  expect_lt(max(abs(error)), error_wanted)
})

test_that("what is interpolated and not possible is the worst error", {
  evaluator <- population_evaluator(inverse, 1, 1L, TRUE, c(alpha = 0.1, optimism = 0.1))
  theta <- matrix(c(-0.6, 0.5), length(cells), 2, byrow = TRUE)
  error <- interpolation_error(evaluator, theta)
  local_replacement("evaluate_batch", function(evaluator, theta, values, group) {
    list(log_likelihood = c(-Inf, rep(-1, length(group) - 1)))
  })
  expect_true(is.finite(error))
  expect_identical(interpolation_error(evaluator, theta), Inf)
  # What cannot be interpolated is exact, and not off.
  local_replacement("point_log_lik", function(interpolation, theta) c(-Inf, rep(-1, length(cells) - 1)))
  forget_points(evaluator$interpolation)
  expect_equal(interpolation_error(evaluator, theta), 0)
})
