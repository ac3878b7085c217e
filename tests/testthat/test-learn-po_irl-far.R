# Three terms and one that is skewed: the first two are cheap, the third follows the first, and the fourth is the
# logarithm of an exponential, which no square is.
far_target <- function() {
  laws <- function(theta) -rowSums(theta[, 1:2, drop = FALSE]^2) / 2
  dear <- function(theta) -(theta[, 3] - theta[, 1])^2 / 2 + theta[, 4] - exp(theta[, 4])
  list(laws = laws, dear = dear, density = function(theta) cbind(laws(theta), dear(theta)))
}

far_run <- function(target, iter, warmup, until = iter, spoil = identity, chains = 4) {
  start <- with_seed(1, matrix(stats::rnorm(4 * chains), chains))
  streams <- streams_from_seed(5, 2L * chains)
  state <- walk_start(start, target$density, streams[seq_len(chains)], c(0, 0, 0, -0.5), diag(4), warmup, iter)
  state <- far_start(state, streams[-seq_len(chains)])
  while (state$iteration < until) {
    state <- far_step(state, target$density, target$laws)
    if (state$iteration == warmup) state$far$stand_in <- spoil(state$far$stand_in)
  }
  state
}

expect_far_law <- function(state) {
  draws <- walk_flush(state)$draws
  truth <- list(mean = c(0, 0, 0, digamma(1)), sd = sqrt(c(1, 1, 2, trigamma(1))))
  for (j in 1:4) {
    one <- draws[, , j]
    expect_lt(posterior::rhat(one), 1.03)
    expect_lt(abs(mean(one) - truth$mean[j]), 4 * truth$sd[j] / sqrt(posterior::ess_mean(one)))
    level <- mean(one < stats::quantile(log(stats::qexp(stats::ppoints(999))), 0.1))
    if (j == 4) expect_lt(abs(level - 0.1), 4 * 0.3 / sqrt(posterior::ess_tail(one)))
  }
  expect_lt(abs(stats::cor(as.vector(draws[, , 1]), as.vector(draws[, , 3])) - sqrt(0.5)), 0.06)
}

test_that("far steps leave the posterior as it is, and a poor stand-in is refused more often", {
  target <- far_target()
  good <- far_run(target, 800, 200)
  expect_far_law(good)
  far <- good$far$n_accepted / 600
  expect_gt(min(far), 0.5)
  poor <- far_run(target, 1100, 200, spoil = function(stand_in) {
    stand_in$slope <- stand_in$slope + c(0.3, -0.3, 0.3, 0.3)
    stand_in$bend[3, 3] <- stand_in$bend[3, 3] / 2
    stand_in
  })
  expect_far_law(poor)
  expect_lt(mean(poor$far$n_accepted) / 900, mean(far) - 0.1)
})

test_that("a stand-in of a square is that square, and says nothing where it was not learnt", {
  bend <- crossprod(matrix(c(1, 0.2, 0.1, 0.3, 0, 1.2, 0.4, 0, 0, 0, 0.9, 0.1, 0, 0, 0, 1), 4))
  square <- list(laws = function(theta) -rowSums(theta^2) / 8,
                 dear = function(theta) 3 + theta[, 2] / 2 - rowSums((theta %*% bend) * theta) / 2)
  square$density <- function(theta) cbind(square$laws(theta), square$dear(theta))
  state <- far_run(square, 200, 180, until = 170)
  points <- state$positions
  expect_close(stand_in_at(state$far$stand_in, points), square$dear(points), 1e-3)
  expect_identical(stand_in_at(state$far$stand_in, points + 1000), rep(-Inf, 4))
  # Nobody goes there by a far step, and who is there stays.
  away <- state
  away$positions[1, ] <- away$positions[1, ] + 1000
  away$log_density[1] <- sum(square$density(away$positions[1, , drop = FALSE]))
  expect_identical(go_far(away, square$density, square$laws)$positions[1, ], away$positions[1, ])
})

test_that("a run that was stopped goes on to the same draws, and nothing is learnt after warm-up", {
  target <- far_target()
  whole <- far_run(target, 150, 100)
  part <- far_run(target, 150, 100, until = 117)
  learnt <- part$far$stand_in
  expect_length(learnt$slope, 4)
  while (part$iteration < 150) part <- far_step(part, target$density, target$laws)
  expect_true(identical(part, whole))
  expect_identical(whole$far$stand_in, learnt)
  expect_length(whole$far$tried, 0)
})

test_that("without enough points, or with too many terms, it is an ordinary walk", {
  target <- far_target()
  short <- far_run(target, 10, 4)
  expect_null(short$far$stand_in)
  plain <- short
  plain$far <- NULL
  walk <- walk_start(with_seed(1, matrix(stats::rnorm(16), 4)), target$density, streams_from_seed(5, 8)[1:4],
                     c(0, 0, 0, -0.5), diag(4), 4, 10)
  while (walk$iteration < 10) walk <- walk_step(walk, target$density)
  expect_true(identical(plain, walk))
  local_replacement("most_far_terms", 3L)
  expect_null(far_run(target, 100, 90)$far$stand_in)
})
