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

test_that("programmes with equal corners in plenty come to an end at once", {
  skip_if_not_installed("lpSolve")
  # Goes round in a circle for as long as it is let, by one way of scaling.
  setting <- with_seed(1, seen_setting(50, 4))
  took <- system.time(inferred <- infer_margin(plan_mdp(setting), setting, bound = 1))
  expect_s3_class(inferred, "ibrc_inferred")
  expect_lt(took[["elapsed"]], 10)
})

test_that("sizes are refused with the arithmetic", {
  expect_identical(ibrc:::refuse_long_programme(400, 1000, "visits", "so many", advice = "Less."), 4e5)
  expect_refused(ibrc:::refuse_long_programme(401, 1000, "visits", "so many", advice = "Less."), "visits",
                 "so many are 401 constraints on 1,000 unknowns, 401,000 numbers")
})

test_that("long loops say how far they are", {
  tell_next <- ibrc:::programme_teller(3, "limits", every = 0)
  expect_message(tell_next(), "Limits: 0 of at most 3 programmes")
  expect_message(tell_next(), "Limits: 1 of at most 3 programmes")
  expect_no_message(ibrc:::programme_teller(3, "limits", every = Inf)())
})
