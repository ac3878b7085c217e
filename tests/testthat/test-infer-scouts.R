# A prior and a likelihood whose posterior is known: normal by normal.
conjugate <- function(mean = 3, sd = 0.2) {
  list(density = function(theta, value) {
    list(log_prior = rowSums(stats::dnorm(theta, 0, 2, log = TRUE)),
         log_likelihood = rowSums(stats::dnorm(theta, mean, sd, log = TRUE)), value = value)
  }, mean = mean * 4 / (4 + sd^2), sd = sqrt(4 * sd^2 / (4 + sd^2)))
}

send <- function(density, n = 400, size = 2, seed = 1, sd = 2) {
  stream <- streams_from_seed(seed, 1)[[1]]
  points <- with_stream(stream, matrix(stats::rnorm(n * size, 0, sd), n))
  scout(density, points, 1L, parallel::nextRNGSubStream(stream))
}

test_that("scouts end as draws from the posterior", {
  known <- conjugate()
  scouted <- lapply(1:10, function(seed) send(known$density, seed = seed)$theta)
  # Independent between seeds, if not quite within one.
  means <- vapply(scouted, colMeans, numeric(2))
  expect_lt(max(abs(rowMeans(means) - known$mean) / (apply(means, 1, stats::sd) / sqrt(10))), 4.5)
  expect_equal(mean(vapply(scouted, stats::sd, 0)), known$sd, tolerance = 0.1)
})

test_that("the data count more and more, and once as much as the wide points need", {
  scouted <- send(conjugate()$density)
  expect_false(is.unsorted(scouted$weights, strictly = TRUE))
  expect_true(all(c(wide_weight, 1) %in% scouted$weights))
  expect_equal(stats::sd(scouted$wide[, 1]), 0.2 / sqrt(wide_weight), tolerance = 0.2)
  expect_identical(dim(scouted$wide), c(400L, 2L))
  expect_gt(scouted$acceptance, 0.3)
  expect_identical(scouted$evaluations %% 400, 0)
})

test_that("the same stream sends the same scouts, and the session's generator stays", {
  set.seed(1)
  before <- .Random.seed
  one <- send(conjugate()$density, seed = 5)
  expect_identical(.Random.seed, before)
  expect_identical(send(conjugate()$density, seed = 5), one)
  expect_false(identical(send(conjugate()$density, seed = 6)$theta, one$theta))
})

test_that("places without a density are left behind, and a density of 0 everywhere sends nobody", {
  half <- function(theta, value) {
    list(log_prior = stats::dnorm(theta[, 1], 0, 2, log = TRUE), value = value,
         log_likelihood = ifelse(theta[, 1] > 0, -theta[, 1], -Inf))
  }
  scouted <- send(half, size = 1)
  expect_true(all(scouted$theta > 0))
  nowhere <- function(theta, value) {
    list(log_prior = numeric(nrow(theta)), log_likelihood = rep(-Inf, nrow(theta)), value = value)
  }
  expect_null(send(nowhere, size = 1))
})

# The likelihood knows the size of the first term, not its sign: two modes that are exactly alike, far apart.
two_modes <- function(theta) {
  cbind(stats::dnorm(theta[, 1], 0, 3, log = TRUE) + stats::dnorm(theta[, 2], 0, 3, log = TRUE),
        stats::dnorm(abs(theta[, 1]), 4, 0.05, log = TRUE) + stats::dnorm(theta[, 2], 0, 0.1, log = TRUE))
}

test_that("two exact modes are both found by every seed, with half of the draws each", {
  both <- function(theta, value) {
    parts <- two_modes(theta)
    list(log_prior = parts[, 1], log_likelihood = parts[, 2], value = value)
  }
  seeds <- if (Sys.getenv("IBRC_EXTENDED_TESTS") == "1") 1:20 else 1:5
  shares <- vapply(seeds, function(seed) {
    scouted <- send(both, n = 300, seed = seed, sd = 3)
    state <- sampler_start(scouted$theta[c(40, 110, 190, 260), ], two_modes, streams_from_seed(seed, 4), warmup = 500,
                           iter = 1000, scouts = scouts_array(list(scouted)))
    mean(sampler_run(state, two_modes)$draws[, , 1] > 0)
  }, 0)
  expect_gt(min(shares), 0.35)
  expect_lt(max(shares), 0.65)
})
