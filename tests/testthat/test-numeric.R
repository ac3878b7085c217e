soft <- function(x, prior, temperature) {
  .Call(ffi_soft_mean, x, as.numeric(prior), as.numeric(temperature))
}

test_that("soft means and weights equal the twin's over signs and sizes", {
  with_seed(1, for (i in 1:200) {
    n <- sample(1:6, 1)
    x <- stats::rnorm(n, sd = 10^stats::runif(1, -4, 3))
    prior <- as.vector(random_rows(1, n, zeros = 0.3))
    temperature <- sample(c(-1, 1), 1) * 10^stats::runif(1, -6, 8)
    mine <- soft(x, prior, temperature)
    scale <- max(1, abs(x))
    expect_close(mine$mean, twin_soft_mean(x, prior, temperature), 1e-12 * scale)
    expect_close(mine$weights, twin_soft_weights(x, prior, temperature), 1e-12)
    expect_equal(sum(mine$weights), 1, tolerance = 1e-14)
  })
})

test_that("many soft means at once are those one by one, and do not depend on what stands beside them", {
  with_seed(2, for (i in 1:200) {
    n <- sample(1:6, 1)
    count <- sample(c(1:9, 63:67, 130), 1)
    prior <- as.vector(random_rows(1, n, zeros = 0.3))
    x <- matrix(stats::rnorm(n * count, sd = 10^stats::runif(count, -8, 4)), count)
    temperature <- sample(c(-1, 1), 1) * sample(c(0, Inf, 10^stats::runif(1, -6, 8)), 1, prob = c(1, 1, 8))
    mine <- soft(x, prior, temperature)
    alone <- apply(x, 1, soft, prior, temperature)
    scale <- pmax(1, apply(abs(x), 1, max))
    # A logarithm of a sum that is not close to 1 loses that much at most, in the one and in the other.
    expect_close(mine$mean / scale, vapply(alone, `[[`, 0, "mean") / scale, 2e-14)
    expect_close(mine$weights, matrix(vapply(alone, `[[`, numeric(n), "weights"), count, byrow = TRUE), 1e-14)
    last <- soft(x[count, , drop = FALSE], prior, temperature)
    expect_identical(last$mean, mine$mean[count])
    expect_identical(drop(last$weights), mine$weights[count, ])
  })
})

test_that("many soft means keep their limits, their digits and what cannot be finite", {
  both <- function(x, prior, temperature) {
    one <- soft(x, prior, temperature)
    many <- soft(matrix(x, 5, length(x), byrow = TRUE), prior, temperature)
    expect_close(many$mean, rep(one$mean, 5), 2e-14 * max(1, abs(one$mean)))
    expect_close(many$weights, matrix(one$weights, 5, length(x), byrow = TRUE), 1e-14)
    many
  }
  # Large and small temperatures beside the spread, and a prior that gives the best next to nothing.
  for (temperature in c(1e-3, 0.01, 1, 50, 1e3, -1e-3, -0.7, -1e6, 1e12, 1e120, 1e300)) {
    both(c(0, 1e-3, 2e-3), rep(1 / 3, 3), temperature)
    both(c(-3, 700, 2), c(0.5, 0.25, 0.25), temperature)
    both(c(0, 1), c(1 - 1e-12, 1e-12), temperature)
  }
  expect_identical(both(c(-1e300, 0, 1e300), c(0.5, 0.25, 0.25), 1)$weights[5, ], c(0, 0, 1))
  # Exponentials below the smallest normal number.
  expect_close(both(c(0, -740), c(1e-300, 1), 1)$mean, rep(log(1e-300), 5), 1e-12)
  expect_gt(both(c(0, -740), c(1e-300, 1), 1)$weights[1, 2], 0)
  for (temperature in c(1e300, -1e300, 1e307)) {
    expect_close(both(c(0, 1e-15, 2e-15), rep(1 / 3, 3), temperature)$mean, rep(1e-15, 5), 1e-30)
  }
  expect_true(all(is.nan(soft(matrix(c(1, NaN), 4, 2, byrow = TRUE), c(0.5, 0.5), 1)$mean)))
  expect_identical(soft(matrix(c(1, -Inf), 4, 2, byrow = TRUE), c(0.5, 0.5), 1)$mean, rep(1 + log(0.5), 4))
})

test_that("limits are exact and ties are shared in proportion to the prior", {
  x <- c(1, 3, 3, -2, 99)
  prior <- c(0.2, 0.1, 0.3, 0.4, 0)
  expect_identical(soft(x, prior, 0)$mean, 3)
  expect_close(soft(x, prior, 0)$weights, c(0, 0.25, 0.75, 0, 0), 1e-15)
  expect_identical(soft(x, prior, -0)$mean, -2)
  expect_identical(soft(x, prior, -0)$weights, c(0, 0, 0, 1, 0))
  expect_close(soft(x, prior, Inf)$mean, 0.6, 1e-15)
  expect_identical(soft(x, prior, -Inf), soft(x, prior, Inf))
  expect_identical(soft(x, prior, Inf)$weights, prior)
  # A temperature too small to invert is its limit.
  expect_identical(soft(x, prior, 1e-310), soft(x, prior, 0))
})

test_that("precision holds where a plain log-sum-exp loses it", {
  x <- c(0, 1e-3, 2e-3)
  prior <- rep(1 / 3, 3)
  for (temperature in c(1e3, 1e6, 1e9, -1e6)) {
    # Two cumulants: mean + variance / (2 t); the third is far below.
    expect_close(soft(x, prior, temperature)$mean, 1e-3 + (2 / 3 * 1e-6) / (2 * temperature), 1e-18)
  }
  # Exponents below the smallest normal number.
  for (temperature in c(1e300, -1e300, 1e307)) {
    expect_close(soft(x * 1e-12, prior, temperature)$mean, 1e-15, 1e-30)
    expect_identical(soft(x * 1e-12, prior, temperature)$weights, prior)
  }
})

test_that("nothing overflows", {
  x <- c(-1e300, 0, 1e300)
  prior <- c(0.5, 0.25, 0.25)
  for (temperature in c(1e-200, -1e-200, 1, -1, 1e305)) {
    out <- soft(x, prior, temperature)
    expect_true(is.finite(out$mean))
    expect_true(all(is.finite(out$weights)))
  }
  expect_identical(soft(x, prior, 1)$weights, c(0, 0, 1))
})

test_that("the soft mean falls between the extremes and rises with its sign", {
  x <- c(-1, 0.5, 2)
  prior <- c(0.3, 0.3, 0.4)
  temperatures <- c(-0, -0.1, -1, -100, Inf, 100, 1, 0.1, 0)
  means <- vapply(temperatures, function(t) soft(x, prior, t)$mean, 0)
  expect_false(is.unsorted(means))
  expect_equal(range(means), range(x))
})
