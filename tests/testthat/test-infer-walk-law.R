# A correlated normal away from nought.
shifted_normal <- function(size) {
  covariance <- 0.8^abs(outer(1:size, 1:size, "-")) * outer(1:size, 1:size)
  centre <- seq_len(size) / 2
  list(centre = centre, covariance = covariance, density = function(theta) {
    away <- theta - rep(centre, each = nrow(theta))
    -rowSums((away %*% solve(covariance)) * away) / 2
  })
}

test_that("the density of a normal at points tried gives its law, wherever they were tried", {
  truth <- shifted_normal(4)
  # Points of another shape, none of them a draw.
  theta <- with_seed(1, matrix(stats::rnorm(4000), ncol = 4) * rep(c(2, 2, 4, 4), each = 1000) + 0.5)
  tried <- list(theta = theta, density = truth$density(theta))
  begun <- list(centre = truth$centre + 0.3, covariance = diag(diag(truth$covariance)))
  # What a regression may change at a time is bounded.
  law <- begun
  for (round in 1:8) law <- density_law(tried, law$centre, law$covariance)
  expect_close(law$centre, truth$centre, 0.02)
  expect_close(law$covariance / truth$covariance, matrix(1, 4, 4), 0.05)
  # Far from it, or without a density, points say nothing.
  spoilt <- tried
  far <- 1:100
  spoilt$density[far] <- c(-Inf, -1e6)
  expect_equal(density_law(spoilt, law$centre, law$covariance), density_law(lapply(tried, function(x) {
    if (is.matrix(x)) x[-far, ] else x[-far]
  }), law$centre, law$covariance))
  few <- list(theta = theta[1:5, ], density = tried$density[1:5])
  expect_identical(density_law(few, begun$centre, begun$covariance), begun)
})

test_that("no regression makes a law that is much wider or narrower than the one it began with, or far from it", {
  size <- 3
  theta <- with_seed(2, matrix(stats::rnorm(900), ncol = size))
  hollow <- density_law(list(theta = theta, density = rowSums(theta^2)), rep(0, size), diag(size))
  expect_close(eigen(hollow$covariance)$values, rep(1 / least_bend, size), 1e-6)
  sharp <- density_law(list(theta = theta, density = -3 * rowSums((theta - 5)^2) + 200), rep(0, size), diag(size))
  expect_true(all(eigen(sharp$covariance)$values > 1 / most_bend - 1e-6))
  expect_lt(sqrt(sum(sharp$centre^2)), sqrt(size) / 2 + 1e-9)
})

test_that("steps are read back in their order", {
  steps <- list(c(1, 2, 10, 20, -1, -2), c(3, 4, 30, 40, -3, -4))
  found <- step_points(steps, 2L, 2L)
  expect_identical(found$theta, cbind(c(1, 2, 3, 4), c(10, 20, 30, 40)))
  expect_identical(found$density, c(-1, -2, -3, -4))
})

test_that("the law of many terms is known after a warm-up that is short for them", {
  truth <- shifted_normal(20)
  start <- with_seed(1, matrix(truth$centre, 4, 20, byrow = TRUE) + stats::rnorm(80))
  # How much wider or narrower a law is than the truth, along the axes on which they differ most.
  apart <- function(covariance) {
    ratio <- eigen(solve(truth$covariance, covariance), only.values = TRUE)$values
    exp(max(abs(log(Re(ratio)))))
  }
  seen <- vapply(1:8, function(seed) {
    state <- walk_start(start, truth$density, streams_from_seed(seed, 4), truth$centre,
                        diag(diag(truth$covariance)), 500, 1500)
    while (state$iteration < 1500) state <- walk_step(state, truth$density)
    c(law = apart(crossprod(state$factor)), ess = min(apply(walk_flush(state)$draws, 3, posterior::ess_bulk)))
  }, numeric(2))
  expect_gt(apart(diag(diag(truth$covariance))), 8)
  # Over 16 seeds it was 1.4 to 1.8.
  expect_lt(max(seen["law", ]), 2)
  expect_gt(min(seen["ess", ]), 300)
})
