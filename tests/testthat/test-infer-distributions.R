# One of every distribution, whole and cut, with its density in base R before cutting.
tried <- list(
  normal = list(optimism ~ normal(1, 2), function(x) dnorm(x, 1, 2)),
  normal_below = list(optimism ~ normal(1, 2, lower = 0), function(x) dnorm(x, 1, 2)),
  normal_above = list(optimism ~ normal(1, 2, upper = 3), function(x) dnorm(x, 1, 2)),
  normal_between = list(optimism ~ normal(1, 2, lower = -1, upper = 2), function(x) dnorm(x, 1, 2)),
  normal_tail = list(optimism ~ normal(0, 1, lower = 6), function(x) dnorm(x)),
  student_t = list(optimism ~ student_t(4, 1, 2), function(x) dt((x - 1) / 2, 4) / 2),
  student_t_above = list(optimism ~ student_t(4, 1, 2, upper = -2), function(x) dt((x - 1) / 2, 4) / 2),
  student_t_positive = list(alpha ~ student_t(3, 0, 1, lower = 0), function(x) dt(x, 3)),
  lognormal = list(alpha ~ lognormal(0.5, 1), function(x) dlnorm(x, 0.5, 1)),
  lognormal_below = list(alpha ~ lognormal(0.5, 1, lower = 2), function(x) dlnorm(x, 0.5, 1)),
  lognormal_above = list(alpha ~ lognormal(0.5, 1, upper = 2), function(x) dlnorm(x, 0.5, 1)),
  half_normal = list(eta ~ half_normal(3), function(x) 2 * dnorm(x, 0, 3)),
  half_normal_between = list(eta ~ half_normal(3, lower = 1, upper = 4), function(x) 2 * dnorm(x, 0, 3)),
  exponential = list(eta ~ exponential(0.5), function(x) dexp(x, 0.5)),
  exponential_above = list(eta ~ exponential(0.5, upper = 1), function(x) dexp(x, 0.5)),
  gamma = list(beta ~ gamma(2.5, 0.5), function(x) dgamma(x, 2.5, 0.5)),
  gamma_below = list(beta ~ gamma(2.5, 0.5, lower = 1), function(x) dgamma(x, 2.5, 0.5)),
  gamma_peaked = list(beta ~ gamma(0.7, 2), function(x) dgamma(x, 0.7, 2)),
  uniform = list(discount ~ uniform(0.5, 0.9), function(x) dunif(x, 0.5, 0.9)),
  uniform_signed = list(optimism ~ uniform(-3, 2), function(x) dunif(x, -3, 2))
)
entry_of <- function(formula) ibrc_prior(formula)[[1]]
middle <- c(0.001, 0.05, 0.3, 0.5, 0.8, 0.95, 0.999)
unconstrained_at <- function(entry, p) unconstrained_quantile(entry, log(p), log1p(-p))

# Equal steps of s in t = centre + width * sinh(s): reaches far tails, and is exact for smooth functions.
integral <- function(f, centre, width) {
  s <- seq(-9, 9, by = 0.005)
  sum(f(centre + width * sinh(s)) * width * cosh(s)) * 0.005
}

test_that("densities are those of base R, cut and rescaled", {
  for (case in names(tried)) {
    entry <- entry_of(tried[[case]][[1]])
    plain <- tried[[case]][[2]]
    mass <- stats::integrate(plain, entry$lower, entry$upper, rel.tol = 1e-10)$value
    x <- natural_quantile(entry, log(middle), log1p(-middle))
    expect_equal(natural_density(entry, x), plain(x) / mass, tolerance = 1e-7, info = case)
    outside <- c(entry$lower - 1, entry$upper + 1)
    expect_identical(natural_density(entry, outside[is.finite(outside)]),
                     numeric(sum(is.finite(outside))), info = case)
  }
})

test_that("densities integrate to 1 on both scales", {
  for (case in names(tried)) {
    entry <- entry_of(tried[[case]][[1]])
    whole <- stats::integrate(function(x) natural_density(entry, x), entry$lower, entry$upper, rel.tol = 1e-8)
    expect_equal(whole$value, 1, tolerance = 1e-6, info = case)
    t <- unconstrained_at(entry, middle)
    whole <- integral(function(t) exp(unconstrained_log_density(entry, t)), t[4], abs(t[7] - t[1]) / 12)
    expect_equal(whole, 1, tolerance = 1e-6, info = case)
  }
})

test_that("the density of the unconstrained scale has the Jacobian of the transformation", {
  for (case in names(tried)) {
    entry <- entry_of(tried[[case]][[1]])
    t <- unconstrained_at(entry, middle)
    step <- 1e-5
    slope <- abs(to_natural(entry, t + step) - to_natural(entry, t - step)) / (2 * step)
    expect_equal(unconstrained_log_density(entry, t),
                 log(natural_density(entry, to_natural(entry, t))) + log(slope),
                 tolerance = 1e-6, info = case)
  }
})

test_that("the scale follows the bounds", {
  scales <- vapply(tried, function(case) entry_of(case[[1]])$scale, "")
  expect_identical(names(scales)[scales == "identity"], c("normal", "student_t"))
  expect_identical(names(scales)[scales == "logit"],
                   c("normal_between", "lognormal_above", "half_normal_between", "exponential_above",
                     "uniform", "uniform_signed"))
  expect_setequal(scales, c("identity", "log", "logit"))
  # The plain logarithm where the bound is 0, the distance to the bound elsewhere.
  expect_identical(to_natural(entry_of(alpha ~ gamma(2, 1)), log(3)), exp(log(3)))
  expect_identical(to_natural(entry_of(optimism ~ normal(0, 1, lower = -2)), 0), -1)
  expect_identical(to_natural(entry_of(optimism ~ normal(0, 1, upper = 5)), 0), 4)
})

test_that("natural and unconstrained scales are each other's inverse", {
  for (case in names(tried)) {
    entry <- entry_of(tried[[case]][[1]])
    t <- seq(-8, 8, by = 0.5)
    expect_close(to_unconstrained(entry, to_natural(entry, t)), t, 1e-10)
    x <- natural_quantile(entry, log(middle), log1p(-middle))
    expect_close(to_natural(entry, to_unconstrained(entry, x)), x, 1e-10)
    outside <- c(entry$lower - 1, entry$upper + 1)
    expect_silent(gone <- to_unconstrained(entry, outside[is.finite(outside)]))
    expect_true(all(is.nan(gone)))
  }
})

test_that("quantiles invert the distribution function", {
  for (case in names(tried)) {
    entry <- entry_of(tried[[case]][[1]])
    x <- natural_quantile(entry, log(middle), log1p(-middle))
    below <- vapply(x, function(end) {
      stats::integrate(function(x) natural_density(entry, x), entry$lower, end, rel.tol = 1e-9)$value
    }, 0)
    expect_equal(below, middle, tolerance = 1e-6, info = case)
    expect_close(to_natural(entry, unconstrained_at(entry, middle)), x, 1e-9)
    ends <- natural_quantile(entry, c(-Inf, 0), c(0, -Inf))
    expect_equal(ends, c(entry$lower, entry$upper), tolerance = 1e-12, info = case)
    expect_true(all(ends >= entry$lower & ends <= entry$upper), info = case)
  }
})

test_that("bounds far in a tail cut exactly", {
  # Beyond 38 the upper tail of a normal distribution is no longer a number above 0.
  entry <- entry_of(optimism ~ normal(0, 1, lower = 40))
  x <- natural_quantile(entry, log(0.5), log(0.5))
  tail <- function(x) pnorm(x, lower.tail = FALSE, log.p = TRUE)
  expect_close(tail(x), tail(40) - log(2), 1e-8)
  # Mirrored, the other tail.
  mirrored <- natural_quantile(entry_of(optimism ~ normal(0, 1, upper = -40)), log(0.5), log(0.5))
  expect_close(mirrored, -x, 1e-10)
  # Exponential distributions forget where they were cut.
  expect_close(natural_quantile(entry_of(eta ~ exponential(2, lower = 900)), log(0.3), log(0.7)) - 900,
               qexp(0.3, 2), 1e-10)
})

test_that("probability below the smallest number is kept on the log scale", {
  entry <- entry_of(eta ~ gamma(0.001, 1))
  p <- c(1e-6, 0.1, 0.4, 0.6, 0.9, 0.99)
  t <- unconstrained_at(entry, p)
  expect_true(all(is.finite(t)) && !is.unsorted(t))
  expect_lt(t[2], log(.Machine$double.xmin))
  expect_close(pgamma(exp(t[4:6]), 0.001, 1), p[4:6], 1e-10)
  # x^shape below, so that the logarithm of p is linear in t there.
  expect_close(diff(log(p[1:3])) / diff(t[1:3]), c(0.001, 0.001), 1e-12)
  expect_true(all(is.finite(unconstrained_log_density(entry, t))))
  cut <- entry_of(eta ~ gamma(0.001, 1, upper = 5))
  expect_true(all(is.finite(unconstrained_at(cut, p))))
})

test_that("a quantile that rounds to its bound stays finite", {
  for (formula in list(discount ~ uniform(0, 1), optimism ~ uniform(1e6, 1e6 + 1e-3),
                       optimism ~ normal(0, 1, lower = 0), optimism ~ normal(0, 1e-12, upper = 1))) {
    t <- unconstrained_at(entry_of(formula), c(1e-300, 1e-17, 1 - 1e-16))
    expect_true(all(is.finite(t)))
  }
  discount <- entry_of(discount ~ uniform(0.9, 1))
  expect_true(all(to_natural(discount, c(30, 40, 1000, Inf)) < 1))
})

test_that("standard deviations of the unconstrained scale are right", {
  expect_close(unconstrained_sd(entry_of(alpha ~ lognormal(1, 3))), 3)
  expect_close(unconstrained_sd(entry_of(optimism ~ normal(1, 2))), 2)
  expect_close(unconstrained_sd(entry_of(eta ~ exponential(4))), pi / sqrt(6))
  expect_close(unconstrained_sd(entry_of(eta ~ gamma(2.5, 3))), sqrt(trigamma(2.5)))
  expect_close(unconstrained_sd(entry_of(eta ~ gamma(0.001, 3))) / sqrt(trigamma(0.001)), 1)
  expect_close(unconstrained_sd(entry_of(eta ~ half_normal(4))), pi / sqrt(8))
  expect_close(unconstrained_sd(entry_of(optimism ~ normal(0, 4, lower = 0))), pi / sqrt(8))
  expect_close(unconstrained_sd(entry_of(discount ~ uniform(0.2, 0.7))), pi / sqrt(3))
  expect_close(unconstrained_sd(entry_of(optimism ~ student_t(5, 1, 2))), 2 * sqrt(5 / 3))
  expect_true(is.finite(unconstrained_sd(entry_of(optimism ~ student_t(0.5, 0, 1, lower = 100)))))
  # A Cauchy distribution has none: the normal one with its quartiles stands in.
  expect_close(unconstrained_sd(entry_of(optimism ~ student_t(1, 0, 1))), 1 / qnorm(0.75))
})
