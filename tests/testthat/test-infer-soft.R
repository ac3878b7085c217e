random_policy <- function(n_states, n_actions) random_rows(n_states, n_actions)

test_that("shaping changes no soft policy, and the smallest utility has none of it left", {
  with_seed(1, for (discount in c(0, 0.5, 0.95)) {
    markov <- as_markov(random_markov(4, 3, discount))
    shaping <- shaping_matrix(markov)
    potential <- stats::rnorm(4)
    shaped <- markov$utility + as.vector(shaping %*% potential)
    expect_equal(markov_soft(markov, 0.7, utility = shaped)$policy, markov_soft(markov, 0.7)$policy, tolerance = 1e-9)
    small <- without_shaping(shaped, shaping)
    expect_equal(small, without_shaping(markov$utility, shaping), tolerance = 1e-9)
    expect_lt(max(abs(crossprod(shaping, as.vector(small)))), 1e-10)
  })
})

test_that("the flow of a policy's occupancies is right, and that of others is not", {
  with_seed(2, for (discount in c(0, 0.9)) {
    markov <- as_markov(random_markov(4, 3, discount))
    occupancy <- markov_occupancy(markov, random_policy(4, 3))
    expect_lt(flow_gap(occupancy, shaping_matrix(markov), markov), 1e-12)
    expect_gt(flow_gap(matrix(1 / 12, 4, 3), shaping_matrix(markov), markov), 1e-3)
  })
})

test_that("the slope of a soft policy's logarithm is that of finite differences", {
  with_seed(3, {
    markov <- as_markov(random_markov(3, 2, 0.8))
    log_policy <- function(utility) log(as.vector(markov_soft(markov, 1, utility = matrix(utility, 3))$policy))
    slope <- soft_policy_slope(markov_soft(markov, 1)$policy, markov, shaping_matrix(markov))
    at <- as.vector(markov$utility)
    for (k in 1:6) {
      step <- 1e-5 * (1:6 == k)
      expect_equal(slope[, k], (log_policy(at + step) - log_policy(at - step)) / 2e-5, tolerance = 1e-6)
    }
  })
})

test_that("settings of too many pairs are refused", {
  expect_error(refuse_many_pairs(list(n_states = 1000, n_actions = 2)), class = "ibrc_error_input")
})

test_that("systems that are not positive by rounding are solved still", {
  expect_equal(solve_positive(diag(c(4, 1e-8)), c(1, 1)), c(0.25, 1e8))
  expect_equal(sum(solve_positive(matrix(1, 2, 2), c(1, 1))), 1)
})
