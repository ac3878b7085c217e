run_of <- function(...) {
  utils::modifyList(list(tolerance = 1e-10, max_iter = 2000L, cores = 1L, refresh = 0L), list(...))
}

# Minus the banana of Rosenbrock, which bends and is flat along its bottom; NaN beyond a wall.
banana <- function(x) {
  slope <- rbind(2 * (1 - x[1, ]) + 400 * x[1, ] * (x[2, ] - x[1, ]^2), -200 * (x[2, ] - x[1, ]^2))
  value <- -(1 - x[1, ])^2 - 100 * (x[2, ] - x[1, ]^2)^2
  beyond <- x[1, ] > 3
  list(objective = ifelse(beyond, -Inf, value), slope = slope * rep(!beyond, each = 2), code = ifelse(beyond, 2L, 0L))
}
begin <- cbind(c(-1.2, 1), c(2.9, -4), c(0, 0))

test_that("climbs reach the top, and no step falls", {
  found <- climb_by_slopes(banana, begin, run_of(), work = 1)
  expect_true(all(found$converged))
  expect_close(found$at, matrix(1, 2, 3), 1e-4)
  for (i in 1:3) {
    expect_identical(found$trace[[i]][1], banana(begin)$objective[i])
    expect_true(all(diff(found$trace[[i]]) >= 0))
    expect_length(found$trace[[i]], found$iterations[i] + 1)
  }
  expect_lt(max(found$iterations), 200)
})

test_that("a climb does not know of the others, nor of how they are cut", {
  found <- climb_by_slopes(banana, begin, run_of(), work = 1)
  expect_identical(climb_by_slopes(banana, begin, run_of(), work = 1e9), found)
  for (i in 1:3) {
    one <- climb_by_slopes(banana, begin[, i, drop = FALSE], run_of(), work = 1)
    expect_identical(one$trace[[1]], found$trace[[i]])
    expect_identical(one$at[, 1], found$at[, i])
  }
})

test_that("a budget ends a climb, level ground is rest, and what cannot be told does not begin", {
  short <- climb_by_slopes(banana, begin, run_of(max_iter = 3L), work = 1)
  expect_identical(short$iterations, c(3L, 3L, 3L))
  expect_false(any(short$converged))
  top <- climb_by_slopes(banana, cbind(c(1, 1), c(4, 4)), run_of(), work = 1)
  expect_identical(top$converged, c(TRUE, FALSE))
  expect_identical(top$objective, c(0, -Inf))
  expect_error(climb_by_slopes(banana, cbind(c(4, 4)), run_of(), work = 1), class = "ibrc_error_convergence")
})

test_that("climbs go straight up what is curved alike everywhere", {
  set.seed(1)
  curved <- crossprod(matrix(stats::rnorm(36), 6)) + diag(6)
  bowl <- function(x) list(objective = -colSums(x * (curved %*% x)) / 2, slope = -curved %*% x, code = integer(ncol(x)))
  found <- climb_by_slopes(bowl, matrix(stats::rnorm(12), 6), run_of(), work = 1)
  expect_close(found$at, matrix(0, 6, 2), 1e-4)
  expect_lt(max(found$iterations), 60)
})

test_that("it tells how far it has come, and an interrupt ends it", {
  said <- testthat::capture_messages(climb_by_slopes(banana, begin, run_of(refresh = 5L), work = 1, aloud = TRUE))
  expect_match(said[1], "step 5, 3 climbs under way")
  expect_gt(length(said), 3)
  expect_silent(climb_by_slopes(banana, begin, run_of(refresh = 0L), work = 1, aloud = TRUE))
  skip_without_signals()
  slow <- function(x) {
    if (max(x) > 0) send_interrupt()
    banana(x)
  }
  expect_true(is_interrupted(climb_by_slopes(slow, begin, run_of(), work = 1)))
})
