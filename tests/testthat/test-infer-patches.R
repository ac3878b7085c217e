# Nine tenths of the posterior are a wide normal, the rest a thin ridge aside, which bends.
ridge_mass <- 0.1
ridge_parts <- function(theta) {
  # Rows of theta as draws from the ridge: along it from 5 to 7, across it sd 0.1.
  across <- theta[, 2] - (theta[, 1] - 6)^2
  aside <- stats::dnorm(theta[, 1], 6, 0.4, log = TRUE) + stats::dnorm(across, 0, 0.1, log = TRUE)
  wide <- stats::dnorm(theta[, 1], 0, 1, log = TRUE) + stats::dnorm(theta[, 2], 0, 1, log = TRUE)
  prior <- stats::dnorm(theta[, 1], 0, 4, log = TRUE) + stats::dnorm(theta[, 2], 0, 4, log = TRUE)
  cbind(prior, log((1 - ridge_mass) * exp(wide) + ridge_mass * exp(aside)) - prior)
}
ridge_density <- function(theta, value) {
  parts <- ridge_parts(theta)
  list(log_prior = parts[, 1], log_likelihood = parts[, 2], value = value)
}

send_to_ridge <- function(seed, n = 300) {
  stream <- streams_from_seed(seed, 1)[[1]]
  points <- with_stream(stream, matrix(stats::rnorm(2 * n, 0, 4), n))
  scout(ridge_density, points, 1L, parallel::nextRNGSubStream(stream))
}

test_that("a component is the same again from its points, in its own coordinates and in others", {
  part <- list(weight = 1, mean = matrix(c(1, -2), 1), factor = array(chol(matrix(c(1, 0.3, 0.3, 0.5), 2)), c(2, 2, 1)))
  again <- patch_mixture(patch_points(part, NULL), NULL, 1L, 0)
  expect_equal(again, part, tolerance = 1e-12)
  bent <- stack_shears(list(list(driver = 1, sign = 1, centre = 0, most = 2, along = c(0, 0.5), bend = c(0, 0.3))))
  expect_equal(patch_mixture(patch_points(part, bent), bent, 1L, 0), part, tolerance = 1e-12)
  # In other coordinates by the slope of the change, near enough for a small component.
  small <- within(part, factor <- factor / 100)
  moved <- patch_mixture(patch_points(small, NULL), bent, 1L, 0)
  slope <- rbind(c(1, 0), c(-(0.5 + 0.3 * exp(1)), 1))
  expect_equal(crossprod(moved$factor[, , 1]), slope %*% crossprod(small$factor[, , 1]) %*% t(slope), tolerance = 1e-3)
  expect_equal(moved$mean, straighten(bent, small$mean, 1L), tolerance = 1e-12)
  expect_null(patch_mixture(NULL, NULL, 1L, 0))
  expect_null(patch_mixture(matrix(0, 0, 2), NULL, 1L, 0))
})

test_that("patches take a share of the proposals, and the weights stay a distribution", {
  one <- list(weight = c(0.7, 0.3), mean = matrix(0, 2, 2), factor = array(diag(2), c(2, 2, 2)))
  patches <- function(n) list(weight = rep(1 / n, n), mean = matrix(1, n, 2), factor = array(diag(2), c(2, 2, n)))
  expect_identical(with_patches(one, NULL), one)
  for (n in c(1, 3, 12)) {
    both <- with_patches(one, patches(n))
    expect_equal(sum(both$weight), 1)
    expect_equal(sum(both$weight[-(1:2)]), min(0.3, 0.05 * n))
  }
})

test_that("a thin ridge is patched, a normal posterior is not", {
  scouted <- lapply(1:4, send_to_ridge)
  n_patches <- vapply(scouted, function(one) NROW(one$patches) / 5, 0)
  expect_gt(min(n_patches), 0)
  expect_lte(max(n_patches), most_patches)
  # The middles lie on the ridge, or near it.
  middles <- do.call(rbind, lapply(scouted, function(one) one$patches[seq(1, nrow(one$patches), 5), , drop = FALSE]))
  expect_gt(mean(abs(middles[, 2] - (middles[, 1] - 6)^2) < 0.2), 0.9)
  normal <- function(theta, value) {
    list(log_prior = rowSums(stats::dnorm(theta, 0, 4, log = TRUE)), value = value,
         log_likelihood = rowSums(stats::dnorm(theta, 1, 1, log = TRUE)))
  }
  stream <- streams_from_seed(1, 1)[[1]]
  plain <- scout(normal, with_stream(stream, matrix(stats::rnorm(800, 0, 4), 400)), 1L,
                 parallel::nextRNGSubStream(stream))
  expect_null(plain$patches)
})

test_that("chains go to a thin ridge as often as they should because of the patches", {
  run <- function(seed, patched) {
    scouted <- send_to_ridge(seed)
    if (!patched) scouted["patches"] <- list(NULL)
    state <- sampler_start(scouted$theta[c(40, 110, 190, 260), ], ridge_parts, streams_from_seed(seed, 4), warmup = 500,
                           iter = 1500, scouts = scouts_array(list(scouted)))
    (sampler_run(state, ridge_parts)$draws[, , 1] > 4) + 0
  }
  effective <- function(patched) {
    vapply(1:4, function(seed) {
      there <- run(seed, patched)
      c(mean(there), suppressWarnings(posterior::ess_mean(there)))
    }, c(0, 0))
  }
  with <- effective(TRUE)
  error <- sqrt(ridge_mass * (1 - ridge_mass) / with[2, ])
  expect_lt(max(abs(with[1, ] - ridge_mass) / error), 4.5)
  expect_gt(min(with[2, ]), 200)
  # Without them passages are rarer.
  without <- effective(FALSE)
  expect_gt(mean(with[2, ]), 1.5 * mean(without[2, ], na.rm = TRUE))
})

test_that("no more patches are kept than the scouts' array has room for", {
  few <- send_to_ridge(1, n = 30)
  expect_lte(NROW(few$patches), 30)
  expect_identical(dim(scouts_array(list(few))), c(30L, 2L, 3L, 1L))
})
