solve_linear <- ibrc:::solve_linear
solve_quadratic <- ibrc:::solve_quadratic

test_that("a small linear programme has the answer that its corners give", {
  skip_if_not_installed("lpSolve")
  # Corners of x + y <= 4, x - y >= -2, y >= -1 with the best of them at (1, 3).
  answer <- solve_linear(c(-1, -2), rbind(c(1, 1), c(1, -1), c(0, 1)), c("<=", ">=", ">="), c(4, -2, -1))
  expect_equal(answer$x, c(1, 3))
  expect_equal(answer$objective, -7)
  # Free variables may be negative, others may not.
  expect_equal(solve_linear(1, rbind(1), ">=", -5)$x, -5)
  expect_equal(solve_linear(1, rbind(1), ">=", -5, free = FALSE)$x, 0)
  expect_equal(solve_linear(c(1, 1), rbind(c(1, 0), c(0, 1)), ">=", c(-5, -5), free = c(TRUE, FALSE))$x, c(-5, 0))
})

test_that("the unit of a programme does not matter", {
  skip_if_not_installed("lpSolve")
  skip_if_not_installed("quadprog")
  with_seed(1, for (i in 1:10) {
    constraints <- rbind(matrix(stats::rnorm(12), 3), diag(4), -diag(4))
    rhs <- c(stats::runif(3, -1, 0), rep(-1, 8))
    price <- stats::rnorm(4)
    linear <- solve_linear(price, constraints, ">=", rhs)
    quadratic <- solve_quadratic(price, constraints, ">=", rhs)
    for (unit in c(1e-6, 1e6)) {
      expect_equal(solve_linear(price, constraints, ">=", unit * rhs)$x / unit, linear$x, tolerance = 1e-8)
      expect_equal(solve_linear(unit * price, unit * constraints, ">=", rhs)$x * unit, linear$x, tolerance = 1e-8)
      expect_equal(solve_quadratic(unit * price, constraints, ">=", unit * rhs)$x / unit, quadratic$x,
                   tolerance = 1e-8)
    }
  })
})

test_that("a quadratic programme gives the nearest point", {
  skip_if_not_installed("quadprog")
  # The point of x + y = 2 that is nearest to (3, 0).
  expect_equal(solve_quadratic(c(-3, 0), rbind(c(1, 1)), "=", 2)$x, c(2.5, -0.5))
  # Equalities may stand anywhere, and "<=" is turned.
  both <- solve_quadratic(c(-3, 0), rbind(c(1, 0), c(1, 1)), c("<=", "="), c(2, 2))
  expect_equal(both$x, c(2, 0))
  expect_equal(both$objective, -4)
  # With a quadratic term of its own: the minimum of (x - 1)^2 + 2 (y - 1)^2 where x + y <= 0.
  weighed <- solve_quadratic(c(-2, -4), rbind(c(1, 1)), "<=", 0, quadratic = diag(c(2, 4)))
  expect_equal(weighed$x, c(-1 / 3, 1 / 3))
})

test_that("programmes without an answer are classed errors", {
  skip_if_not_installed("lpSolve")
  skip_if_not_installed("quadprog")
  expect_error(solve_linear(1, rbind(1, 1), c(">=", "<="), c(1, 0)), class = "ibrc_error_infeasible")
  expect_error(solve_linear(1, rbind(1), "<=", 0), class = "ibrc_error_unbounded")
  expect_error(solve_quadratic(0, rbind(1, 1), c(">=", "<="), c(1, 0)), class = "ibrc_error_infeasible")
  expect_error(solve_linear(1, rbind(1), "<=", 0), class = "ibrc_error_convergence")
})
