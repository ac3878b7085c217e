# A surface of a density that is known.
surface_of <- function(density, size, spread = 1) {
  list(density = density, limits = matrix(c(-50, 50), 2, size), spread = rep(spread, size))
}

test_that("a normal density is found again, with its quantiles", {
  cov <- rbind(c(1, 0.8, 0.1), c(0.8, 1, 0), c(0.1, 0, 0.25))
  precision <- solve(cov)
  surface <- surface_of(function(x) -0.5 * rowSums((x %*% precision) * x), 3)
  opinion <- second_opinion(surface, rbind(c(1, 0, 0), c(0, 1, 1)), streams_from_seed(1, 1)[[1]])
  expect_gt(opinion$ess, 300)
  expect_close(opinion$top$theta, rep(0, 3), 1e-3)
  for (j in 1:3) {
    expect_close(weighted_quantile(opinion$draws[, j], opinion$weight, c(0.025, 0.5, 0.975)),
                 stats::qnorm(c(0.025, 0.5, 0.975)) * sqrt(cov[j, j]), 0.25 * sqrt(cov[j, j]))
  }
})

test_that("the long tail of a bent ridge is found", {
  # eta is lognormal and wide; the other term follows it closely, straight in eta.
  density <- function(x) {
    stats::dnorm(x[, 1], 0, 1.5, log = TRUE) + stats::dnorm(x[, 2], 0.8 - 0.2 * exp(x[, 1]), 0.1, log = TRUE)
  }
  opinion <- second_opinion(surface_of(density, 2), rbind(c(-1, 0.7)), streams_from_seed(1, 1)[[1]])
  expect_gt(opinion$ess, 100)
  truth <- with_seed(1, 0.8 - 0.2 * stats::rlnorm(1e5, 0, 1.5) + stats::rnorm(1e5, 0, 0.1))
  found <- weighted_quantile(opinion$draws[, 2], opinion$weight, 0.025)
  side <- stats::median(truth) - stats::quantile(truth, 0.025)
  expect_lt(abs(found - stats::quantile(truth, 0.025)) / side, 0.35)
})

test_that("one term, and a density with an edge, will do", {
  density <- function(x) ifelse(x[, 1] > 0, stats::dgamma(x[, 1], 2, 1, log = TRUE), -Inf)
  opinion <- second_opinion(surface_of(density, 1), rbind(0.3, 2), streams_from_seed(1, 1)[[1]])
  expect_close(weighted_quantile(opinion$draws[, 1], opinion$weight, c(0.1, 0.9)), stats::qgamma(c(0.1, 0.9), 2), 0.3)
  expect_null(second_opinion(surface_of(function(x) rep(-Inf, nrow(x)), 1), matrix(0), streams_from_seed(1, 1)[[1]]))
})

test_that("slope and bend are those of a quadratic", {
  bend <- -rbind(c(2, 0.5, 0.1), c(0.5, 1, 0.2), c(0.1, 0.2, 3))
  surface <- surface_of(function(x) as.vector(x %*% c(1, 2, 3)) + 0.5 * rowSums((x %*% bend) * x), 3)
  at <- c(0.3, -0.2, 0.1)
  found <- local_quadratic(surface, at, 1:3, c(1, 0.5, 2))
  expect_close(found$bend, bend, 1e-9)
  expect_close(found$slope, as.vector(c(1, 2, 3) + bend %*% at), 1e-9)
  some <- local_quadratic(surface, at, c(1L, 3L), c(1, 1))
  expect_close(some$bend, bend[c(1, 3), c(1, 3)], 1e-9)
  expect_close(inverse_curvature(bend, c(1, 1, 1)), solve(-bend), 1e-9)
})

test_that("quantiles of weighted draws are those of as many draws", {
  expect_close(weighted_quantile(c(3, 1, 2), c(1, 1, 1) / 3, 0.5), 2, 1e-12)
  x <- with_seed(1, stats::rnorm(2000))
  weight <- stats::dnorm(x, 0.5) / stats::dnorm(x)
  expect_close(weighted_quantile(x, weight / sum(weight), 0.5), 0.5, 0.1)
})

test_that("a fit's second opinion draws from its own stream", {
  with_seed(3, {
    before <- .Random.seed
    surface <- surface_of(function(x) -0.5 * rowSums(x^2), 2)
    one <- second_opinion(surface, rbind(c(1, 0)), streams_from_seed(1, 1)[[1]])
    expect_identical(.Random.seed, before)
    expect_identical(second_opinion(surface, rbind(c(1, 0)), streams_from_seed(1, 1)[[1]])$draws, one$draws)
  })
})
