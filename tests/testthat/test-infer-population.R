shape <- shape_of()
places <- some_places(shape)

test_that("numbers stand where the shape says", {
  design <- shape$design
  expect_identical(shape$n_coefficients, 5L)
  expect_identical(c(shape$n_spreads, shape$n_ties), c(3L, 1L))
  expect_equal(shape$n_intercepts, 8 * 2 + 3)
  expect_identical(dim(shape$at[[1]]), c(8L, 2L))
  expect_equal(sort(unlist(shape$at)), seq_len(shape$n_intercepts))
  expect_identical(population_terms(shape),
                   c("alpha", "alpha[age]", "optimism", "optimism[armb]", "optimism[age]", "sd(alpha|clinician)",
                     "sd(optimism|clinician)", "sd(optimism|site)", "cor(alpha,optimism|clinician)"))
  expect_identical(intercept_terms(shape)[c(1, 9, 17)],
                   c("alpha{clinician c1}", "optimism{clinician c1}", "optimism{site east}"))
  expect_equal(population_size(shape), length(population_terms(shape)) + length(intercept_terms(shape)))
})

test_that("cells are their columns times the coefficients, and their intercepts", {
  found <- cells_of(shape, places$b, places$u)
  design <- shape$design
  for (chain in 1:3) for (cell in c(1, 5, shape$n_cells)) {
    row <- chain + 3 * (cell - 1)
    level <- vapply(design$factors, function(one) one$level[cell], 0L)
    alpha <- sum(design$matrices$alpha[cell, ] * places$b[chain, 1:2]) + places$u[chain, level[1]]
    optimism <- sum(design$matrices$optimism[cell, ] * places$b[chain, 3:5]) + places$u[chain, 8 + level[1]] +
      places$u[chain, 16 + level[2]]
    expect_equal(found[row, ], c(alpha, optimism))
  }
})

test_that("densities are those of their formulas", {
  b <- places$b
  # Terms as a sampler has them: the logarithm of alpha.
  slopes <- unclass(shape$design$prior)
  wanted <- stats::dnorm(b[, 1], 0, 1, log = TRUE) + stats::dnorm(b[, 3], 0, 1, log = TRUE) +
    stats::dnorm(b[, 2], 0, slopes[["alpha[age]"]]$args[["sd"]], log = TRUE) +
    stats::dnorm(b[, 4], 0, slopes[["optimism[armb]"]]$args[["sd"]], log = TRUE) +
    stats::dnorm(b[, 5], 0, slopes[["optimism[age]"]]$args[["sd"]], log = TRUE)
  expect_equal(log_coefficients(shape, b), wanted)
  s <- places$s
  sd <- exp(s[, 1:3])
  half <- rowSums(vapply(1:3, function(j) {
    scale <- slopes[[shape$design$spreads$label[j]]]$args[["sd"]]
    log(2) + stats::dnorm(sd[, j], 0, scale, log = TRUE) + s[, j]
  }, numeric(3)))
  r <- tanh(s[, 4])
  expect_equal(log_spreads(shape, s), half + 2 * log(1 - r^2))
  # Two normal numbers that are tied, and one by itself.
  for (chain in 1:3) {
    covariance <- outer(sd[chain, 1:2], sd[chain, 1:2]) * matrix(c(1, r[chain], r[chain], 1), 2)
    u <- matrix(places$u[chain, 1:16], 8)
    wanted <- -log(2 * pi) - log(det(covariance)) / 2 - rowSums((u %*% solve(covariance)) * u) / 2
    expect_equal(log_levels(shape, 1, places$u, s)[chain, ], wanted)
    expect_equal(log_levels(shape, 2, places$u, s)[chain, ],
                 stats::dnorm(places$u[chain, 17:19], 0, sd[chain, 3], log = TRUE))
  }
  expect_equal(log_population(shape, b, s, places$u),
               log_coefficients(shape, b) + log_spreads(shape, s) + rowSums(log_levels(shape, 1, places$u, s)) +
                 rowSums(log_levels(shape, 2, places$u, s)))
})

test_that("the density of a correlation is that of LKJ with shape 2, and stays a number far out", {
  z <- seq(-12, 12, length.out = 4001)
  s <- cbind(matrix(places$s[1, 1:3], length(z), 3, byrow = TRUE), z)
  density <- exp(log_spreads(shape, s) - log_spreads(shape, s[2001, , drop = FALSE]))
  # (1 - r^2) over its integral 4 / 3, and dr / dz.
  expect_equal(density * 3 / 4, 3 / 4 * (1 - tanh(z)^2)^2, tolerance = 1e-8)
  expect_equal(sum(density * 3 / 4) * diff(z[1:2]), 1, tolerance = 1e-6)
  # The share below a correlation is that of a beta distribution with 2 and 2.
  expect_equal(sum(density[z < atanh(0.3)] * 3 / 4) * diff(z[1:2]), stats::pbeta(0.65, 2, 2), tolerance = 2e-3)
  far <- log_spreads(shape, cbind(matrix(0, 2, 3), c(15, 1e6)))
  expect_true(is.finite(far[1]) && identical(far[2], -Inf))
})

test_that("three terms that are tied have a positive definite matrix, or density 0", {
  three <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), eta ~ lognormal(0, 1))
  effects <- list(alpha ~ (1 | p | clinician), optimism ~ (1 | p | clinician), eta ~ (1 | p | clinician))
  shape <- population_shape(design_of(effects, prior = three)$design, three)
  expect_identical(shape$n_ties, 3L)
  s <- rbind(c(0, 0, 0, 0.3, -0.2, 0.4), c(0, 0, 0, atanh(0.9), atanh(0.9), atanh(-0.9)))
  correlation <- diag(3)
  correlation[cbind(shape$design$ties$first, shape$design$ties$second)] <- tanh(s[1, 4:6])
  correlation[cbind(shape$design$ties$second, shape$design$ties$first)] <- tanh(s[1, 4:6])
  expect_equal(crossprod(correlation_factor(shape, 1, s[1, ])), correlation)
  flat <- cbind(s[1, , drop = FALSE][, 1:3, drop = FALSE], 0, 0, 0)
  expect_equal(log_spreads(shape, s[1, , drop = FALSE]) - log_spreads(shape, flat),
               log(det(correlation)) + sum(log(1 - tanh(s[1, 4:6])^2)))
  expect_identical(log_spreads(shape, s)[2], -Inf)
  expect_null(covariance_factor(shape, 1, s[2, ]))
  u <- matrix(stats::qnorm(stats::ppoints(shape$n_intercepts)), 1)
  one <- matrix(u[, shape$at[[1]]], 8)
  expect_equal(log_levels(shape, 1, u, s[1, , drop = FALSE])[1, ],
               -1.5 * log(2 * pi) - log(det(correlation)) / 2 - rowSums((one %*% solve(correlation)) * one) / 2)
  # So have spreads that are 0 or infinite to the machine, where levels have density 0.
  for (far in c(-1e9, 1e9)) {
    s[1, 2] <- far
    expect_null(covariance_factor(shape, 1, s[1, ]))
    expect_true(all(log_levels(shape, 1, matrix(0.1, 1, shape$n_intercepts), s[1, , drop = FALSE]) == -Inf))
  }
})

test_that("of three terms any two can be tied, and the third has its own density", {
  three <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), eta ~ lognormal(0, 1))
  terms <- c("alpha", "optimism", "eta")
  for (left in 1:3) {
    effects <- lapply(1:3, function(j) {
      stats::as.formula(paste(terms[j], if (j == left) "~ (1 | clinician)" else "~ (1 | p | clinician)"))
    })
    shape <- population_shape(design_of(effects, prior = three)$design, three)
    s <- matrix(c(-1, 0.2, 0.5, 0.6), 1)
    correlation <- diag(3)
    correlation[-left, -left][2:3] <- tanh(0.6)
    covariance <- correlation * outer(exp(s[1:3]), exp(s[1:3]))
    expect_equal(crossprod(covariance_factor(shape, 1, s[1, ])), covariance)
    u <- matrix(stats::qnorm(stats::ppoints(shape$n_intercepts)), 1)
    one <- matrix(u[, shape$at[[1]]], 8)
    expect_equal(log_levels(shape, 1, u, s)[1, ],
                 -1.5 * log(2 * pi) - log(det(covariance)) / 2 - rowSums((one %*% solve(covariance)) * one) / 2)
    flat <- replace(s, 4, 0)
    expect_equal(log_spreads(shape, s) - log_spreads(shape, flat), log(det(correlation)) + log(1 - tanh(0.6)^2))
    # Intercepts that keep their units.
    to <- matrix(c(0.3, -0.4, 0, -0.2), 1)
    carried <- matrix(carried_intercepts(shape, u, s, to)[, shape$at[[1]]], 8)
    expect_equal(unit_intercepts(carried, covariance_factor(shape, 1, to[1, ])),
                 unit_intercepts(one, covariance_factor(shape, 1, s[1, ])))
  }
})

test_that("two terms that are tied have density 0 where spreads or their correlation have left the doubles", {
  for (far in list(c(1, -1e9), c(2, 1e9), c(4, 1e6), c(4, -1e6), c(1, NaN), c(4, NaN))) {
    s <- places$s
    s[2, far[1]] <- far[2]
    expect_null(covariance_factor(shape, 1, s[2, ]))
    levels <- log_levels(shape, 1, places$u, s)
    expect_true(all(levels[2, ] == -Inf))
    expect_identical(levels[-2, ], log_levels(shape, 1, places$u, places$s)[-2, ])
  }
})

test_that("intercepts go to units of their spread and back", {
  factor <- covariance_factor(shape, 1, places$s[1, ])
  u <- matrix(places$u[1, shape$at[[1]]], 8)
  unit <- unit_intercepts(u, factor)
  expect_equal(from_units(unit, factor), u)
  # Units of the intercepts' own covariance are uncorrelated.
  expect_equal(unit_intercepts(factor, factor), diag(2))
})

test_that("columns that levels share are those that do not change within them", {
  within <- shape$within[[1]]
  labels <- shape$design$coefficients$label
  expect_identical(labels[within[[1]]$column], "alpha")
  # Clinicians work in one arm, and see people of every age.
  expect_identical(labels[within[[2]]$column], c("optimism", "optimism[armb]"))
  expect_identical(unname(within[[2]]$x[, 2]), rep(0:1, 4) + 0)
  expect_identical(labels[shape$within[[2]][[1]]$column], "optimism")
})

test_that("an agent's own prior stands for the intercept, and a normal one for each in shifts", {
  expect_named(shape$coefficient_prior, shape$design$coefficients$label)
  expect_equal(shape$normal_centre, rep(0, 5), tolerance = 1e-6)
  expect_equal(shape$normal_width[c(1, 3)], c(1, 1), tolerance = 1e-4)
})

test_that("log-likelihoods of cells are those of their own trees", {
  inverse <- people_inverse(list(optimism ~ arm + (1 | site)))
  evaluator <- population_evaluator(inverse, 2, 1L)
  shape <- evaluator$population
  places <- some_places(shape, 2)
  theta <- cells_of(shape, places$b, places$u)
  values <- matrix(0, evaluator$agent$space$n_nodes, nrow(theta))
  found <- cell_log_lik(evaluator, theta, values)
  expect_identical(dim(found$log_likelihood), c(2L, shape$n_cells))
  for (cell in seq_len(shape$n_cells)) {
    natural <- prior_natural(inverse$prior, theta[2 * cell, , drop = FALSE])
    law <- read_histories(plan_at(inverse, natural), inverse$histories[[cell]], beliefs = FALSE)$log_policy
    wanted <- sum(scored_log_policy(law, inverse$histories[[cell]], inverse$actions[[cell]]))
    expect_equal(found$log_likelihood[2, cell], wanted, tolerance = 1e-6)
  }
  evaluator$likelihood <- FALSE
  expect_true(all(cell_log_lik(evaluator, theta, values)$log_likelihood == 0))
})

test_that("spreads and correlations are shown as such", {
  natural <- natural_spreads(shape, places$s)
  expect_equal(natural, cbind(exp(places$s[, 1:3]), tanh(places$s[, 4])))
})
