# A ridge: the second and third terms follow exp() of the first.
ridge <- function(n, sign = 1) {
  with_seed(3, {
    t <- rnorm(n, -1, 2)
    cbind(first = t, second = 0.8 - 0.05 * exp(sign * t) + rnorm(n, 0, 0.02), third = 0.1 * t + rnorm(n, 0, 0.1))
  })
}

test_that("a bend is learnt, with the term that drives it and its sign", {
  for (sign in c(1, -1)) {
    shear <- learn_shear(ridge(2000, sign))
    expect_identical(shear$driver, 1L)
    expect_identical(shear$sign, sign)
    slope <- shear$bend[2] / exp(sign * shear$centre)
    expect_equal(slope, -0.05, tolerance = 0.02)
    stacked <- stack_shears(list(shear))
    straight <- straighten(stacked, ridge(2000, sign), rep(1L, 2000))
    expect_lt(stats::sd(straight[, "second"]), 0.03)
    expect_lt(abs(stats::cor(straight[, "third"], straight[, "first"])), 0.05)
  }
})

test_that("straight or few points have no bend", {
  straight <- with_seed(4, {
    t <- rnorm(2000)
    cbind(t, 2 * t + rnorm(2000, 0, 0.1))
  })
  expect_null(stack_shears(list(learn_shear(straight))))
  expect_null(stack_shears(list(learn_shear(ridge(20)))))
  expect_null(stack_shears(list(learn_shear(ridge(2000)[, 1, drop = FALSE]))))
  # Points that do not differ in a term.
  expect_no_error(still <- learn_shear(cbind(ridge(2000), 1)))
  expect_false(4L == still$driver)
})

test_that("there and back is the same place, groups each by their own, and no volume changes", {
  shear <- stack_shears(list(learn_shear(ridge(2000)), no_shear(3), learn_shear(ridge(2000, -1))))
  theta <- with_seed(5, matrix(rnorm(30), 10))
  group <- rep(1:3, length.out = 10)
  straight <- straighten(shear, theta, group)
  expect_equal(bend_back(shear, straight, group), theta, tolerance = 1e-14)
  expect_identical(straight[group == 2, ], theta[group == 2, ])
  expect_identical(straighten(NULL, theta, group), theta)
  jacobian <- function(x, g) {
    step <- 1e-6
    vapply(1:3, function(j) {
      move <- step * (1:3 == j)
      drop(straighten(shear, rbind(x + move), g) - straighten(shear, rbind(x - move), g)) / (2 * step)
    }, numeric(3))
  }
  for (g in 1:3) expect_equal(det(jacobian(theta[1, ], g)), 1, tolerance = 1e-6)
})

test_that("far out nothing runs away", {
  shear <- stack_shears(list(learn_shear(ridge(2000))))
  far <- rbind(c(500, 0, 0), c(-500, 0, 0))
  expect_true(all(is.finite(straighten(shear, far, c(1L, 1L)))))
  expect_equal(bend_back(shear, straighten(shear, far, c(1L, 1L)), c(1L, 1L)), far, tolerance = 1e-12)
})
