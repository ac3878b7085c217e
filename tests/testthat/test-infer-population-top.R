# The top of a population without random intercepts, and chains that begin about it.

fixed_effects <- list(optimism ~ arm + age, alpha ~ age)
inverse <- people_inverse(fixed_effects)
evaluator <- population_evaluator(inverse, 2, 1L)
shape <- evaluator$population
no_laws <- matrix(0, 2, 0)
values <- matrix(0, evaluator$agent$n_values, 2 * shape$n_cells)
first <- rbind(c(-0.7, 0, 0.5, 0, 0), c(0.5, 0.01, -1, 0.3, 0))

# Terms of cells as if they had been measured with this precision: a posterior that is normal.
measured_cells <- function(y, tau) {
  function(evaluator, theta, values) {
    each <- y[rep(seq_len(nrow(y)), each = 2), ]
    list(log_likelihood = matrix(rowSums(stats::dnorm(theta, each, tau, log = TRUE)), 2),
         value = values)
  }
}

test_that("of a normal posterior the top and the covariance are those of least squares", {
  y <- with_seed(1, cbind(stats::rnorm(shape$n_cells), stats::rnorm(shape$n_cells, 2)))
  local_replacement("cell_log_lik", measured_cells(y, 0.3))
  tops <- population_tops(evaluator, first, values, no_laws, 30)
  x <- matrix(0, 2 * shape$n_cells, shape$n_coefficients)
  for (t in 1:2) x[(t - 1) * shape$n_cells + seq_len(shape$n_cells), shape$own[[t]]] <- shape$design$matrices[[t]]
  precision <- crossprod(x) / 0.3^2 + diag(1 / shape$normal_width^2)
  wanted <- solve(precision, crossprod(x, c(y)) / 0.3^2 + shape$normal_centre / shape$normal_width^2)
  for (c in 1:2) {
    expect_equal(tops$b[c, ], as.vector(wanted), tolerance = 1e-4)
    expect_equal(tops$covariance[[c]], solve(precision), tolerance = 1e-4)
  }
  expect_equal(top_weights(tops, FALSE), c(1, 1), tolerance = 1e-4)
  law <- top_law(tops, c(1, 1))
  expect_equal(law, list(centre = tops$b[1, ], covariance = tops$covariance[[1]]), tolerance = 1e-4)
})

test_that("both climbs get to the top that a general search finds", {
  tops <- population_tops(evaluator, first, values, no_laws, 30)
  surface <- new_surface(effects_evaluator(inverse, 1L), 1L, with_prior = TRUE)
  found <- climb(surface, first[1, ])
  expect_gt(min(tops$density), found$density - 0.1)
  expect_close(tops$density, surface$density(tops$b), 1e-4)
  # Widths are those of the curvature there.
  width <- sqrt(diag(solve(-finite_curvature(surface, found$theta))))
  expect_lt(max(abs(log(sqrt(diag(tops$covariance[[which.max(tops$density)]])) / width))), log(1.5))
})

test_that("a posterior that is nowhere possible has no top, nor has one without any bend that is finite", {
  impossible <- function(evaluator, theta, values) list(log_likelihood = matrix(-Inf, 2, shape$n_cells), value = values)
  local_replacement("cell_log_lik", impossible)
  expect_null(population_tops(evaluator, first, values, no_laws, 5))
})

test_that("tops that are far below count for little, and all the same where every chain has its own posterior", {
  tops <- list(b = rbind(c(0, 0), c(4, 0)), density = c(-10, -30), covariance = list(diag(2), diag(2)))
  expect_equal(top_weights(tops, FALSE), c(1, exp(-20)))
  expect_equal(top_weights(tops, TRUE), c(0.5, 0.5))
  expect_equal(top_law(tops, c(1, 1)), list(centre = c(2, 0), covariance = diag(c(5, 1))))
})

test_that("chains begin about the highest top, wider than the posterior, and each by its stream", {
  local_replacement("coefficients_at", function(evaluator, b, value) list(density = ifelse(b[, 1] > 40, -Inf, 0)))
  n <- 400
  tops <- list(b = cbind(rep(c(0, 9), n / 2), 1), covariance = rep(list(diag(c(4, 0.25))), n))
  weights <- rep(c(1, exp(-20)), n / 2)
  begin <- function(tops, rows) {
    tops <- list(b = tops$b[rows, , drop = FALSE], covariance = tops$covariance[rows])
    about_tops(list(), tops, weights[rows], NULL, matrix(0, length(rows), 0), streams_from_seed(1L, n)[rows])
  }
  b <- begin(tops, seq_len(n))
  expect_lt(abs(mean(b[, 1])), 0.5)
  expect_equal(apply(b, 2, stats::sd), start_width * c(2, 0.5), tolerance = 0.15)
  expect_identical(begin(tops, 1:3), b[1:3, ])
  # What is not possible begins at the top.
  far <- replace(tops, "b", list(tops$b + 39.9))
  at <- begin(far, seq(1, n, by = 2))
  expect_true(all(at[, 1] <= 40) && sum(at[, 1] == 39.9) > 50)
})

test_that("a climb takes no more than half a warm-up, or five rounds", {
  expect_identical(climb_rounds(2, 10), 5)
  expect_lte(climb_rounds(3, 400) * round_cost(3), 200)
  expect_identical(climb_rounds(1, 1e5), 30)
})
