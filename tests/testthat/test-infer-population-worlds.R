# Populations under laws that differ from chain to chain.

iohmm <- ward_iohmm(transitions = "shared")
inverse <- doctor_inverse()
tree <- dynamics_tree(iohmm)
evaluator <- population_evaluator(inverse, 3, 1L, tree = tree)
shape <- evaluator$population
n_nodes <- evaluator$agent$n_values

# Random places, not far from what was learned.
places_near <- function(n, seed = 1) {
  with_seed(seed, list(
    b = cbind(log(0.5) + stats::rnorm(n, 0, 0.2), stats::rnorm(n, 0.5, 0.3), stats::rnorm(n, 0, 0.3)),
    s = matrix(stats::rnorm(n, -1, 0.3), n), u = matrix(stats::rnorm(n * shape$n_intercepts, 0, 0.4), n),
    d = matrix(stats::qlogis(pmin(inverse$recipe$codec$estimate, 0.95)), n, 7, byrow = TRUE) +
      stats::rnorm(7 * n, 0, 0.3)
  ))
}

density_at <- function(evaluator, at, values = matrix(0, n_nodes, nrow(at$b) * shape$n_cells)) {
  seen <- seen_log_lik(evaluator, at$d)
  found <- cell_log_lik(at_laws(evaluator, at$d, is.finite(seen)), cells_of(shape, at$b, at$u), values)
  log_population(shape, at$b, at$s, at$u) + log_laws(shape, at$d) + seen + rowSums(found$log_likelihood)
}

test_that("the density is that of laws, people, what was seen and what was done, worked out in plain R", {
  at <- places_near(2)
  expect_identical(dim(at$d), c(2L, length(shape$codec$prior)))
  found <- density_at(replace(evaluator, "group", list(c(1L, 1L))), at)
  by_hand <- vapply(1:2, function(i) doctor_by_hand(iohmm, at$b[i, ], at$s[i, ], at$u[i, ], at$d[i, ]), 0)
  expect_close(found / by_hand, c(1, 1), 1e-10)
})

test_that("chains do not know of each other, of threads, nor of the tables that are kept", {
  at <- places_near(3, 2)
  whole <- density_at(evaluator, at)
  for (i in 1:3) {
    one <- lapply(at, function(x) x[i, , drop = FALSE])
    expect_identical(density_at(population_evaluator(inverse, 1, 1L, tree = tree), one), whole[i])
  }
  expect_identical(density_at(replace(evaluator, "cores", list(2L)), at), whole)
  withr::local_options(ibrc.max_bytes = 3 * plan_bytes(inverse$problem$models, inverse$problem$space)$bytes)
  forgetful <- population_evaluator(inverse, 3, 1L, tree = tree)
  expect_identical(forgetful$worlds$most, 0L)
  expect_identical(density_at(forgetful, at), whole)
  expect_length(forgetful$worlds$known, 0)
})

test_that("tables are built once for all cells, and again only for laws that a chain has not been at", {
  built <- 0
  real <- evaluator$worlds$make
  counted <- population_evaluator(inverse, 3, 1L, tree = tree)
  counted$worlds$make <- function(fractions) {
    built <<- built + 1
    real(fractions)
  }
  at <- places_near(3, 3)
  first <- density_at(counted, at)
  expect_identical(built, 3)
  # What agents are like changes no table; going back to laws of a moment ago does not either.
  density_at(counted, replace(at, "b", list(at$b + 0.1)))
  density_at(counted, replace(at, "d", list(at$d + 0.1)))
  expect_identical(built, 6)
  expect_identical(density_at(counted, at), first)
  expect_identical(built, 6)
})

test_that("at other laws the evaluator is the one that their problem has", {
  at <- places_near(1, 6)
  fractions <- stats::plogis(at$d[1, ])
  problem <- problems_at_laws(inverse$recipe, matrix(fractions, 1), inverse$problem)[[1]]
  cells <- seq_along(inverse$histories)
  whole <- new_evaluator(problem, inverse$histories, cells, inverse$prior, inverse$fixed, inverse$tolerance, 1L)
  theta <- cells_of(shape, at$b, at$u)
  value_of <- function(agent) evaluate_batch(agent, theta, matrix(0, n_nodes, length(cells)), cells)
  expect_identical(value_of(maker_of_agents(inverse, 1L)(fractions)), value_of(whole))
  expect_gt(max(abs(value_of(whole)$log_likelihood - value_of(evaluator$agent)$log_likelihood)), 1e-3)
})

test_that("impossible laws are no error, and leave values as they were", {
  at <- places_near(3, 4)
  whole <- density_at(evaluator, at)
  at$d[2, 1] <- 1e4
  expect_identical(seen_log_lik(evaluator, at$d)[2], -Inf)
  expect_identical(density_at(evaluator, at), c(whole[1], -Inf, whole[3]))
  values <- matrix(0.25, n_nodes, 3 * shape$n_cells)
  found <- cell_log_lik(at_laws(evaluator, at$d, c(TRUE, FALSE, TRUE)), cells_of(shape, at$b, at$u), values)
  expect_true(all(found$value[, 2 + 3 * (0:5)] == 0.25))
  expect_false(any(found$value[, 1 + 3 * (0:5)] == 0.25))
  # Without data there is nothing to be seen.
  prior <- population_evaluator(inverse, 3, 1L, FALSE, tree = tree)
  expect_identical(seen_log_lik(prior, at$d), c(0, 0, 0))
})

test_that("quantities that are inferred beside the laws have tables of their own", {
  priced <- function(dynamics, bonus) clinic_of(dynamics, bonus)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), bonus ~ lognormal(0.7, 0.3))
  own <- doctor_inverse(list(bonus ~ ward), priced, prior = prior)
  with_bonus <- population_evaluator(own, 2, 1L, tree = tree)
  expect_null(with_bonus$worlds)
  at <- places_near(2, 5)
  b <- cbind(at$b[, 1:2], c(0.5, 0.9), c(0.2, -0.1))
  theta <- cells_of(with_bonus$population, b, matrix(0, 2, 0))
  values <- matrix(0, n_nodes, nrow(theta))
  found <- cell_log_lik(at_laws(with_bonus, at$d), theta, values)$log_likelihood
  for (i in 1:2) for (cell in 1:2) {
    bonus <- exp(theta[i + 2 * (cell - 1), 3])
    held <- doctor_inverse(list(optimism ~ ward), function(dynamics) clinic_of(dynamics, bonus))
    alone <- chain_agent(population_evaluator(held, 1, 1L, tree = tree)$worlds, 1L, at$d[i, ])
    other <- evaluate_batch(alone, rbind(b[i, 1:2]), matrix(0, n_nodes, 1), cell)
    expect_close(found[i, cell], other$log_likelihood, 1e-8)
  }
})
