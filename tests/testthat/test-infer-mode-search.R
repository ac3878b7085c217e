# A surface with a known top: a normal density, its mean and covariance given.
normal_surface <- function(mean, covariance, limits = 50) {
  precision <- solve(covariance)
  list(
    density = function(theta) {
      away <- t(theta) - mean
      out <- -colSums(away * (precision %*% away)) / 2
      out[colSums(abs(t(theta)) > limits) > 0] <- -Inf
      out
    },
    limits = rbind(rep(-limits, length(mean)), rep(limits, length(mean))), spread = rep(5, length(mean))
  )
}

test_that("the top, curvature and profile of a normal density are its own", {
  covariance <- rbind(c(0.04, 0.05, 0), c(0.05, 0.25, -0.3), c(0, -0.3, 1))
  mean <- c(1, -2, 3)
  surface <- normal_surface(mean, covariance)
  top <- find_top(surface, rbind(c(0, 0, 0), c(5, 5, 5), c(-10, 1, 8)), 3)
  expect_close(top$theta, mean, 1e-4)
  expect_identical(top$reached, 3L)
  expect_close(finite_gradient(surface, c(0, 0, 0)), solve(covariance, mean), 1e-6)
  curvature <- finite_curvature(surface, mean)
  expect_close(curvature, -solve(covariance), 1e-6)
  expect_close(curvature_errors(curvature, matrix(0, 2, 3)), sqrt(diag(covariance)), 1e-6)
  # A narrow ridge, of which steps along the terms see little.
  ridge <- rbind(c(1, 0.9999), c(0.9999, 1))
  errors <- curvature_errors(finite_curvature(normal_surface(c(0, 0), ridge), c(0, 0)), matrix(0, 2, 2))
  expect_close(errors, c(1, 1), 1e-4)
  ends <- profile_ends(surface, top, stats::qchisq(0.95, 1) / 2)$ends
  half <- stats::qnorm(0.975) * sqrt(diag(covariance))
  expect_close(ends, rbind(mean - half, mean + half), 2e-3)
})

test_that("an end that never falls is open, and its term has no standard error", {
  shelf <- list(density = function(theta) -pmax(theta[, 1], 0)^2 - theta[, 2]^2 / 2,
                limits = rbind(c(-20, -20), c(20, 20)), spread = c(3, 3))
  top <- climb(shelf, c(-1, 0.5))
  ends <- profile_ends(shelf, top, 2)$ends
  expect_identical(ends[1, 1], -Inf)
  expect_close(ends[2, 1], sqrt(2), 1e-3)
  expect_close(ends[, 2], c(-2, 2), 1e-3)
  errors <- curvature_errors(finite_curvature(shelf, top$theta), ends)
  expect_identical(is.na(errors), c(TRUE, FALSE))
  expect_close(errors[2], 1, 1e-4)
  # Where nothing can be inverted there is no error to report.
  expect_identical(curvature_errors(matrix(c(1, 0, 0, -1), 2), matrix(0, 2, 2)), c(NA_real_, NA_real_))
})

test_that("a higher top met on the way is taken", {
  density <- function(theta) log(exp(-(theta[, 1] + 3)^2 * 2) + 3 * exp(-(theta[, 1] - 1)^2 * 2))
  hills <- list(density = density,
                limits = rbind(-20, 20), spread = 3)
  low <- climb(hills, -3.2)
  expect_close(low$theta, -3, 0.01)
  expect_close(profile_ends(hills, low, 10)$top$theta, 1, 0.01)
})

test_that("the curvature of terms in very different units is that of their product with these", {
  bend <- matrix(c(-4, 1, 1, -2), 2)
  for (unit in c(1, 1e-30, 1e30)) {
    scale <- c(1, unit)
    surface <- list(density = function(x) rowSums((x %*% diag(1 / scale)) %*% bend * (x %*% diag(1 / scale))) / 2,
                    spread = 3 * scale)
    expect_equal(finite_curvature(surface, c(0, 0)) * outer(scale, scale), bend, tolerance = 1e-6)
  }
})
