# Written to be read: the density of one point under one mixture.
plain_log_mixture <- function(mixture, x, df = 5) {
  size <- length(x)
  parts <- vapply(seq_along(mixture$weight), function(k) {
    scale <- crossprod(matrix(mixture$factor[, , k], size))
    distance <- sum((x - mixture$mean[k, ]) * solve(scale, x - mixture$mean[k, ]))
    mixture$weight[k] * gamma((df + size) / 2) / gamma(df / 2) / sqrt((df * pi)^size * det(scale)) *
      (1 + distance / df)^(-(df + size) / 2)
  }, 1)
  log(sum(parts))
}

random_mixture <- function(n_parts, size) {
  weight <- stats::rexp(n_parts)
  factor <- replicate(n_parts, chol(crossprod(matrix(rnorm(4 * size^2), 4 * size)) / size))
  list(weight = weight / sum(weight), mean = matrix(rnorm(n_parts * size, sd = 2), n_parts),
       factor = array(factor, c(size, size, n_parts)))
}

test_that("mixtures of several groups have the densities of each", {
  with_seed(41, for (size in c(1, 2, 4)) {
    mixtures <- lapply(c(3, 1, 5), random_mixture, size = size)
    stacked <- stack_mixtures(mixtures)
    theta <- matrix(rnorm(20 * size, sd = 5), 20)
    group <- sample(3, 20, replace = TRUE)
    expected <- vapply(1:20, function(i) plain_log_mixture(mixtures[[group[i]]], theta[i, ]), 1)
    expect_close(mixture_log_density(stacked, theta, group), expected)
    expect_close(mixture_log_density(stacked, theta[3, , drop = FALSE], group[3]), expected[3])
    one <- stack_mixtures(mixtures[3])
    alone <- vapply(1:20, function(i) plain_log_mixture(mixtures[[3]], theta[i, ]), 1)
    expect_close(mixture_log_density(one, theta, rep(1L, 20)), alone)
  })
})

test_that("a density integrates to one", {
  mixture <- with_seed(42, random_mixture(4, 1))
  stacked <- stack_mixtures(list(mixture))
  density <- function(x) exp(mixture_log_density(stacked, matrix(x), rep(1L, length(x))))
  expect_equal(integrate(density, -Inf, Inf, rel.tol = 1e-8)$value, 1, tolerance = 1e-6)
})

test_that("draws come from the mixture of their group", {
  with_seed(43, {
    mixtures <- list(random_mixture(3, 2), random_mixture(2, 2))
    stacked <- stack_mixtures(mixtures)
    n <- 20000
    group <- rep(1:2, n)
    stretch <- sqrt(5 / rchisq(2 * n, 5))
    draws <- mixture_draw(stacked, matrix(rnorm(4 * n), 2 * n), stretch, runif(2 * n), group)
    for (g in 1:2) {
      mixture <- mixtures[[g]]
      # Marginally a mixture of t distributions.
      for (j in 1:2) {
        scale <- apply(mixture$factor, 3, function(f) sqrt(crossprod(f)[j, j]))
        p <- vapply(draws[group == g, j], function(x) {
          sum(mixture$weight * pt((x - mixture$mean[, j]) / scale, 5))
        }, 1)
        expect_gt(ks.test(p, "punif")$p.value, 1e-3)
      }
      middle <- c(mixture$weight %*% mixture$mean)
      expected <- -tcrossprod(middle)
      for (k in seq_along(mixture$weight)) {
        expected <- expected + mixture$weight[k] *
          (crossprod(mixture$factor[, , k]) * 5 / 3 + tcrossprod(mixture$mean[k, ]))
      }
      expect_equal(cov(draws[group == g, ]), expected, tolerance = 0.1)
    }
  })
})

test_that("factors are applied row by row", {
  with_seed(44, {
    z <- matrix(rnorm(12), 4)
    factors <- replicate(2, chol(crossprod(matrix(rnorm(30), 10))))
    group <- c(2, 1, 1, 2)
    expected <- t(vapply(1:4, function(i) c(z[i, ] %*% factors[, , group[i]]), numeric(3)))
    expect_close(times_factors(z, matrix(factors, 9), group), expected)
  })
})

test_that("a fitted mixture finds clusters and covers the rest", {
  with_seed(45, {
    n <- 600
    points <- matrix(rnorm(2 * n), n) %*% chol(matrix(c(1, 0.8, 0.8, 1), 2)) + 8 * (runif(n) < 0.3)
    mixture <- fit_mixture(points, 1e-4)
  })
  expect_lte(length(mixture$weight), most_components + 1)
  expect_equal(sum(mixture$weight), 1)
  density <- function(x) plain_log_mixture(mixture, x)
  expect_gt(density(c(0, 0)), density(c(4, 4)) + 2)
  expect_gt(density(c(8, 8)), density(c(4, 4)) + 1)
  expect_gt(density(c(0, 0)), density(c(1, -1)) + 1)
  expect_gt(density(c(40, -40)), -35)
})

test_that("a fit survives points that say little", {
  still <- matrix(2, 400, 3)
  on_a_line <- outer(seq(-1, 1, length.out = 400), c(1, 2, -1))
  few <- with_seed(46, matrix(rnorm(15), 5)[rep(1:5, 80), ])
  for (points in list(still, on_a_line, few)) {
    stacked <- stack_mixtures(list(fit_mixture(points, 1e-4)))
    density <- mixture_log_density(stacked, rbind(points[1:3, ], points[1, ] + 100), rep(1L, 4))
    expect_true(all(is.finite(density)))
    expect_true(all(is.finite(walk_factor(points, 1e-4))))
  }
})

test_that("a fit draws no random numbers", {
  with_seed(47, {
    points <- matrix(rnorm(900), 300)
    before <- .GlobalEnv$.Random.seed
    first <- fit_mixture(points, 1e-4)
    expect_identical(.GlobalEnv$.Random.seed, before)
    expect_identical(fit_mixture(points, 1e-4), first)
  })
})

test_that("a walk has the points' shape and no size", {
  covariance <- matrix(c(4, 1.9, 1.9, 1), 2)
  points <- with_seed(48, matrix(rnorm(20000), ncol = 2) %*% chol(covariance))
  factor <- walk_factor(points, 1e-4)
  expect_equal(det(factor), 1)
  expect_equal(crossprod(factor), covariance / sqrt(det(covariance)), tolerance = 0.05)
})

# Ranks of a true value among draws from its posterior are uniform: many conjugate
# problems in a run, a group of chains for each.
calibration_levels <- function(n_groups, seed) {
  truth <- with_seed(seed, rnorm(n_groups))
  seen <- with_seed(seed + 1, rnorm(n_groups, truth, 0.5))
  group <- rep(seq_len(n_groups), each = 2)
  log_density <- function(x) dnorm(x[, 1], log = TRUE) + dnorm(seen[group], x[, 1], 0.5, log = TRUE)
  positions <- with_seed(seed + 2, matrix(rnorm(2 * n_groups)))
  streams <- streams_from_seed(seed, 2 * n_groups)
  state <- sampler_start(positions, log_density, streams, group, 300, 900, thin = 10)
  draws <- sampler_run(state, log_density)$draws[, , 1]
  vapply(seq_len(n_groups), function(g) mean(draws[, group == g] < truth[g]), 1)
}

expect_uniform <- function(levels, n_bins) {
  counts <- tabulate(pmin(floor(levels * n_bins) + 1, n_bins), n_bins)
  expect_gt(chisq.test(counts)$p.value, 1e-3)
}

test_that("posteriors of a conjugate normal are calibrated", {
  expect_uniform(calibration_levels(50, 16), 5)
})

test_that("they are over many runs", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  levels <- unlist(lapply(1:10, function(i) calibration_levels(150, 100 * i)))
  expect_uniform(levels, 20)
})
