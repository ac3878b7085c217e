# A correlated normal in six dimensions, and one with a heavier tail.
walk_target <- function(df = Inf) {
  size <- 6
  covariance <- 0.7^abs(outer(1:size, 1:size, "-")) * outer(1:size, 1:size)
  inverse <- solve(covariance)
  list(size = size, covariance = covariance, density = function(theta) {
    distance <- rowSums((theta %*% inverse) * theta)
    if (is.finite(df)) -(df + size) / 2 * log1p(distance / df) else -distance / 2
  })
}

walk_run <- function(target, iter = 3000, warmup = 1000, chains = 4, covariance = diag(target$size), until = iter) {
  start <- with_seed(1, matrix(stats::rnorm(chains * target$size), chains))
  state <- walk_start(start, target$density, streams_from_seed(3, chains), rep(0, target$size), covariance, warmup,
                      iter)
  while (state$iteration < until) state <- walk_step(state, target$density)
  state
}

test_that("walks and turns draw from a normal, whatever they began with", {
  target <- walk_target()
  draws <- walk_flush(walk_run(target))$draws
  flat <- matrix(draws, ncol = target$size)
  for (j in seq_len(target$size)) {
    one <- draws[, , j]
    expect_lt(posterior::rhat(one), 1.02)
    expect_lt(abs(mean(one)), 4 * stats::sd(one) / sqrt(posterior::ess_bulk(one)))
  }
  expect_close(stats::cov(flat) / target$covariance, matrix(1, 6, 6), 0.35)
})

test_that("what has a heavier tail than the turns is drawn as well", {
  target <- walk_target(df = 4)
  draws <- walk_flush(walk_run(target, 6000, 2000))$draws
  third <- draws[, , 3] / 3
  share <- mean(abs(third) > stats::qt(0.975, 4))
  expect_lt(abs(share - 0.05), 0.02)
})

test_that("a run that was stopped goes on to the same draws, and nothing is learnt after warm-up", {
  target <- walk_target()
  whole <- walk_run(target, 150, 60)
  part <- walk_run(target, 150, 60, until = 77)
  frozen <- part[c("centre", "factor", "scale", "turn", "axis", "points")]
  while (part$iteration < 150) part <- walk_step(part, target$density)
  expect_identical(part, whole)
  expect_identical(whole[c("centre", "factor", "scale", "turn", "axis", "points")], frozen)
  expect_identical(n_draws_kept(whole), 90L)
  expect_error(walk_step(whole, target$density), "all its steps")
})

test_that("draws are the steps after warm-up, however many are still fresh", {
  target <- walk_target()
  state <- walk_run(target, 4 * block_steps, 60, until = 60)
  steps <- list()
  while (state$iteration < state$iter) {
    state <- walk_step(state, target$density)
    steps <- c(steps, list(c(state$positions, state$log_density)))
    expect_identical(n_draws_kept(state), length(steps))
    expect_lt(length(state$fresh), block_steps)
    expect_identical(with_fresh(state)$kept, steps)
  }
  draws <- walk_flush(state)$draws
  expect_identical(dim(draws), c(length(steps), 4L, 6L))
  expect_identical(draws[length(steps), , ], state$positions)
})

test_that("two tops far apart are both visited, as often as they should", {
  # A third of the mass lies 12 standard deviations away.
  density <- function(theta) {
    first <- -rowSums(theta^2) / 2
    second <- -rowSums(sweep(theta, 2, c(12, 0, 0))^2) / 2
    log(2 / 3 * exp(first) + 1 / 3 * exp(second) + 1e-300)
  }
  start <- rbind(matrix(0, 2, 3), cbind(12, matrix(0, 2, 2)))
  state <- walk_start(start, density, streams_from_seed(4, 4), c(6, 0, 0), diag(3), 1000, 6000)
  while (state$iteration < 6000) state <- walk_step(state, density)
  share <- mean(walk_flush(state)$draws[, , 1] > 6)
  expect_lt(abs(share - 1 / 3), 0.1)
})

test_that("a start of no density is refused", {
  expect_refused(walk_start(matrix(0, 1, 2), function(theta) -Inf, streams_from_seed(1, 1), c(0, 0), diag(2), 5, 10),
                 "start")
})
