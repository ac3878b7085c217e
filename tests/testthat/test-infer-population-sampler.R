# Each move leaves the posterior as it is. Held against what can be known: people and data are drawn from the prior, a
# number of data for every cell that is normal about its terms, and moves are made given the data. Whatever is then
# where it was drawn from has not been moved away by them.

shape <- shape_of(visits = people_visits(per = 3, n = 4))
untied <- shape_of(list(optimism ~ arm + age + (1 | clinician)), visits = people_visits(per = 3, n = 6))
tau <- 1.5
n_people <- 200

# Draws of the prior, one row each.
prior_places <- function(shape, n) {
  b <- vapply(shape$coefficient_prior, function(entry) prior_draw(new_ibrc_prior(list(entry)), n)[, 1], numeric(n))
  s <- matrix(0, n, shape$n_spreads + shape$n_ties)
  for (j in seq_len(shape$n_spreads)) s[, j] <- prior_draw(new_ibrc_prior(list(shape$spread_prior[[j]])), n)[, 1]
  # Two terms: a correlation is a beta number from -1 to 1.
  for (j in shape$n_spreads + seq_len(shape$n_ties)) s[, j] <- atanh(2 * stats::rbeta(n, 2, 2) - 1)
  u <- matrix(0, n, shape$n_intercepts)
  for (k in seq_along(shape$at)) for (i in seq_len(n)) {
    at <- shape$at[[k]]
    u[i, at] <- from_units(matrix(stats::rnorm(length(at)), nrow(at)), covariance_factor(shape, k, s[i, ]))
  }
  list(b = unname(b), s = s, u = u)
}

# Log-likelihoods of cells as if their terms had been measured. `y`: [chain and cell, term].
measured <- function(y, n_cells = shape$n_cells) {
  function(evaluator, theta, values) {
    list(log_likelihood = matrix(rowSums(stats::dnorm(theta, y, tau, log = TRUE)), ncol = n_cells),
         value = values)
  }
}

# Chains at `places` with all that is learnt set to something, not shaped as the posterior is.
chains_at <- function(places, evaluator, warmup = 0) {
  n <- nrow(places$b)
  begun <- population_start(places, matrix(0, 0, n * shape$n_cells), evaluator, streams_from_seed(5L, n), warmup, 500L)
  for (block in names(begun$state$laws)) {
    width <- 4 * population_widths(shape)$v[population_blocks(shape)[[block]]]
    covariance <- outer(width, width) * (diag(length(width)) + 0.2)
    begun$state$laws[[block]] <- move_law(0.5 * width, covariance, 0.5, turn = 0.6)
  }
  begun$state$level_scale[] <- 1.2
  begun$state$spread_scale[] <- 0.7
  begun
}

# The worst of the tests that everything is as it was drawn: positions, units of intercepts, and errors of the data.
worst_p <- function(state, y) {
  theta <- cells_of(shape, state$b, state$u)
  units <- lapply(seq_along(shape$at), function(k) {
    out <- state$u[, shape$at[[k]]]
    for (i in seq_len(nrow(out))) {
      out[i, ] <- unit_intercepts(matrix(out[i, ], nrow(shape$at[[k]])), covariance_factor(shape, k, state$s[i, ]))
    }
    out
  })
  # One column of intercepts by level, and one error of each term by cell: these are independent.
  normal <- cbind(units[[1]][, c(1, 4, 5, 8)], units[[2]][, c(1, 3)])
  errors <- (y - theta) / tau
  errors <- cbind(matrix(errors[, 1], nrow(state$b))[, c(1, 7)], matrix(errors[, 2], nrow(state$b))[, c(2, 9)])
  p <- c(
    vapply(seq_along(shape$coefficient_prior), function(j) {
      # All of them normal on the scale of the sampler, with mean 0.
      stats::ks.test(state$b[, j], "pnorm", 0, utils::tail(shape$coefficient_prior[[j]]$args, 1))$p.value
    }, 0),
    vapply(seq_along(shape$spread_prior), function(j) {
      sd <- shape$spread_prior[[j]]$args[["sd"]]
      stats::ks.test(2 * stats::pnorm(exp(state$s[, j]), 0, sd) - 1, "punif")$p.value
    }, 0),
    stats::ks.test((tanh(state$s[, shape$n_spreads + 1]) + 1) / 2, "pbeta", 2, 2)$p.value,
    apply(cbind(normal, errors), 2, function(x) stats::ks.test(x, "pnorm")$p.value),
    vapply(units, function(x) stats::ks.test(as.vector(x), "pnorm")$p.value, 0)
  )
  min(p)
}

# `moves(chain, evaluator, noise, round)` some times, at people drawn from the prior.
p_after <- function(moves, rounds = 4) {
  places <- with_seed(11, prior_places(shape, n_people))
  theta <- cells_of(shape, places$b, places$u)
  y <- theta + with_seed(12, matrix(stats::rnorm(length(theta), 0, tau), nrow(theta)))
  local_replacement("cell_log_lik", measured(y))
  evaluator <- list(population = shape, likelihood = TRUE)
  chain <- chains_at(places, evaluator)
  before <- chain$state
  for (round in seq_len(rounds)) {
    noise <- sweep_noise(chain$state, shape)
    chain$state$streams <- noise$streams
    chain <- moves(chain, evaluator, noise, round)
  }
  # What is kept beside the positions is what it is there.
  found <- measured(y)(NULL, cells_of(shape, chain$state$b, chain$state$u), NULL)$log_likelihood
  expect_equal(chain$state$log_likelihood, found, tolerance = 1e-8)
  moved <- mean(rowSums(abs(cbind(chain$state$b - before$b, chain$state$s - before$s, chain$state$u - before$u))) > 0)
  list(p = worst_p(chain$state, y), moved = moved)
}

levels_move <- function(chain, evaluator, noise, round) level_step(chain, evaluator, 1 + round %% 2, noise)
block_move <- function(block) function(chain, evaluator, noise, round) move_step(chain, evaluator, block, noise)
shift_move <- function(chain, evaluator, noise, round) {
  n_b <- shape$n_coefficients
  chain$state <- shift_step(chain$state, shape, 1 + round %% 2, noise$normal$shift[, seq_len(n_b)],
                            noise$uniform$shift[, 1])
  chain
}
spread_move <- function(chain, evaluator, noise, round) {
  n_s <- seq_len(shape$n_spreads + shape$n_ties)
  chain$state <- spread_step(chain$state, shape, 1 + round %% 2, noise$normal$spread[, n_s],
                             noise$uniform$spread[, n_s])
  chain
}
sweep_move <- function(chain, evaluator, noise, round) population_step(chain, evaluator)

# Twenty-one tests each: one below 1e-4 would come up in one of 500 seeds. Stated before it was run.
least_p <- 1e-4

test_that("each move leaves the posterior as it is", {
  for (move in list(levels_move, block_move("free"), block_move("shared"), block_move("spreads"), shift_move,
                    spread_move, sweep_move)) {
    found <- p_after(move)
    expect_gt(found$p, least_p)
    expect_gt(found$moved, 0.5)
  }
})

test_that("a spread that has become tiny gets away, although its intercepts are as tiny", {
  n <- 40
  places <- with_seed(21, prior_places(untied, n))
  theta <- cells_of(untied, places$b, places$u)
  local_replacement("cell_log_lik", measured(theta, untied$n_cells))
  evaluator <- list(population = untied, likelihood = TRUE)
  begin <- function(places, warmup) {
    population_start(places, matrix(0, 0, n * untied$n_cells), evaluator, streams_from_seed(5L, n), warmup, 500L)
  }
  # What is proposed is what warm-up has learnt.
  learnt <- begin(places, 100L)
  for (sweep in 1:100) learnt <- population_step(learnt, evaluator)
  places$u <- places$u * exp(-12 - places$s[, 1])
  places$s[, 1] <- -12
  chain <- begin(places, 0L)
  kept <- c("laws", "level_scale", "level_shape", "spread_scale")
  chain$state[kept] <- learnt$state[kept]
  # Without moves of spreads alone one of these forty gets away.
  for (sweep in 1:180) chain <- population_step(chain, evaluator)
  expect_gt(mean(chain$state$s[, 1] > -5), 0.9)
})

test_that("a move that is wrong is seen", {
  # Intercepts that do not go along with their spreads.
  local({
    local_replacement("carried_intercepts", function(shape, u, s, to) u)
    wrong <- function(chain, evaluator, noise, round) {
      spread <- population_blocks(shape)$shared > shape$n_coefficients
      chain$state$laws$shared <- move_law(0 * spread, diag(ifelse(spread, 1, 1e-4)), 1)
      move_step(chain, evaluator, "shared", noise)
    }
    expect_lt(p_after(wrong, 24)$p, least_p)
  })
  # Turns about a centre of which the density of what they draw from is left out.
  local({
    wrong <- function(chain, evaluator, noise, round) {
      chain$state$laws$free$inverse <- chain$state$laws$free$inverse * 0
      noise$uniform$kind[] <- 0.1
      move_step(chain, evaluator, "free", noise)
    }
    expect_lt(p_after(wrong, 12)$p, least_p)
  })
  # Levels whose prior does not count.
  local({
    real <- log_levels
    local_replacement("log_levels", function(shape, k, u, s) 0 * real(shape, k, u, s))
    expect_lt(p_after(levels_move, 12)$p, least_p)
  })
  # Shifts that leave the intercepts where they are.
  wrong <- function(chain, evaluator, noise, round) {
    u <- chain$state$u
    chain <- shift_move(chain, evaluator, noise, round)
    chain$state$u <- u
    now <- get("cell_log_lik", asNamespace("ibrc"))
    chain$state$log_likelihood <- now(evaluator, cells_of(shape, chain$state$b, u), NULL)$log_likelihood
    chain
  }
  expect_lt(p_after(wrong, 25)$p, least_p)
})

test_that("shifts change no cell, and draw from the posterior of what levels share", {
  places <- with_seed(3, prior_places(shape, 2))
  evaluator <- list(population = shape, likelihood = FALSE)
  state <- chains_at(places, evaluator)$state
  noise <- sweep_noise(state, shape)
  n_b <- seq_len(shape$n_coefficients)
  after <- shift_step(state, shape, 1, noise$normal$shift[, n_b], c(0.5, 0.5))
  expect_equal(cells_of(shape, after$b, after$u), cells_of(shape, state$b, state$u))
  expect_true(all(after$b[, c(1, 3, 4)] != state$b[, c(1, 3, 4)]))
  # By regression: the sums of levels on what they share, with the prior as data.
  law <- shift_law(state, shape, 1, 1, covariance_factor(shape, 1, state$s[1, ]))
  n <- nrow(shape$at[[1]])
  x <- rbind(cbind(1, matrix(0, n, 2)), cbind(0, shape$within[[1]][[2]]$x))
  u <- state$u[1, shape$at[[1]]]
  total <- x %*% state$b[1, c(1, 3, 4)] + u
  covariance <- kronecker(crossprod(covariance_factor(shape, 1, state$s[1, ])), diag(n))
  precision <- t(x) %*% solve(covariance, x) + diag(1 / shape$normal_width[c(1, 3, 4)]^2)
  expect_equal(crossprod(law$factor), precision, ignore_attr = TRUE)
  centre <- shape$normal_centre[c(1, 3, 4)] / shape$normal_width[c(1, 3, 4)]^2
  expect_equal(law$mean, drop(solve(precision, t(x) %*% solve(covariance, total) + centre)), ignore_attr = TRUE)
})

test_that("intercepts that are carried keep their units", {
  places <- some_places(shape)
  to <- places$s + 0.3
  carried <- carried_intercepts(shape, places$u, places$s, to)
  for (k in 1:2) {
    units <- function(u, s) {
      unit_intercepts(matrix(u[2, shape$at[[k]]], nrow(shape$at[[k]])), covariance_factor(shape, k, s[2, ]))
    }
    expect_equal(units(carried, to), units(places$u, places$s))
  }
  expect_equal(carried_intercepts(shape, carried, to, places$s), places$u)
})

test_that("a whole run, warm-up and all, draws from the prior where there are no data", {
  evaluator <- list(population = untied, likelihood = FALSE)
  places <- with_seed(3, prior_places(untied, 8))
  chain <- population_start(places, matrix(0, 0, 8 * untied$n_cells), evaluator, streams_from_seed(7L, 8), 100L, 500L)
  for (step in 1:500) chain <- population_step(chain, evaluator)
  draws <- population_draws(chain$state)
  share <- c(0.1, 0.25, 0.5, 0.75, 0.9)
  entries <- c(untied$coefficient_prior, untied$spread_prior)
  for (j in seq_along(entries)) {
    at <- unconstrained_quantile(entries[[j]], log(share), log1p(-share))
    for (i in seq_along(share)) {
      below <- (draws[, , j] < at[i]) + 0
      effective <- posterior::ess_mean(below)
      expect_gt(effective, 50)
      # Four standard errors, stated before it was run: one of 16,000 is beyond.
      expect_lt(abs(mean(below) - share[i]), 4 * sqrt(share[i] * (1 - share[i]) / effective),
                label = paste(names(entries)[j], share[i]))
    }
  }
  # Intercepts over their spread.
  unit <- draws[, , 7] / exp(draws[, , 5])
  expect_lt(abs(mean(unit < 0.5) - stats::pnorm(0.5)), 4 * sqrt(0.22 / posterior::ess_mean((unit < 0.5) + 0)))
})

test_that("the posterior of a spread is the one that integration gives", {
  # One term, eight levels that were measured: given the spread all is normal, so that its density is known.
  error <- 0.5
  one <- ibrc_prior(alpha ~ lognormal(0, 1))
  design <- design_of(list(alpha ~ (1 | clinician)), prior = one)$design
  flat <- population_shape(design, one)
  y <- c(-0.9, 1.3, 0.4, -1.6, 0.2, 0.9, -0.3, 1.8)
  local_replacement("cell_log_lik", function(evaluator, theta, values) {
    n <- nrow(theta) / 8
    list(log_likelihood = matrix(stats::dnorm(rep(y, each = n), theta[, 1], error, log = TRUE), n), value = values)
  })
  evaluator <- list(population = flat, likelihood = TRUE)
  places <- list(b = matrix(0, 6, 1), s = matrix(0, 6, 1), u = matrix(0, 6, 8))
  chain <- population_start(places, matrix(0, 0, 48), evaluator, streams_from_seed(7L, 6), 100L, 500L)
  for (step in 1:500) chain <- population_step(chain, evaluator)
  draws <- population_draws(chain$state)
  grid <- seq(-5, 3, length.out = 2000)
  density <- vapply(grid, function(s) {
    covariance <- diag(exp(2 * s) + error^2, 8) + 1
    log_spreads(flat, matrix(s)) - determinant(covariance)$modulus / 2 - sum(y * solve(covariance, y)) / 2
  }, 0)
  cumulative <- cumsum(exp(density - max(density)))
  for (share in c(0.1, 0.5, 0.9)) {
    below <- (draws[, , 2] < grid[which(cumulative >= share * cumulative[2000])[1]]) + 0
    effective <- posterior::ess_mean(below)
    expect_gt(effective, 100)
    expect_lt(abs(mean(below) - share), 4 * sqrt(share * (1 - share) / effective))
  }
})

test_that("what is learnt is frozen with warm-up, and lengths come to the acceptance that is wanted", {
  places <- with_seed(3, prior_places(untied, 4))
  local_replacement("cell_log_lik", measured(0, untied$n_cells))
  evaluator <- list(population = untied, likelihood = TRUE)
  chain <- population_start(places, matrix(0, 0, 4 * untied$n_cells), evaluator, streams_from_seed(7L, 4), 120L, 160L)
  learnt <- c("level_scale", "level_shape", "laws", "spread_scale")
  for (step in 1:120) chain <- population_step(chain, evaluator)
  expect_true(chain$state$frozen)
  expect_identical(chain$state$recent, list())
  after <- chain
  for (step in 121:160) after <- population_step(after, evaluator)
  expect_identical(after$state[learnt], chain$state[learnt])
  expect_error(population_step(after, evaluator), "all its steps")
  rate <- mean(after$state$n_accepted) / 40
  expect_true(rate > 0.25 && rate < 0.6)
  expect_identical(dim(population_draws(after$state)), c(40L, 4L, as.integer(population_size(untied) + 1)))
  # The last draw is where the chains are.
  expect_identical(population_draws(after$state)[40, , ],
                   unname(cbind(after$state$b, after$state$s, after$state$u, after$state$log_density)))
})

test_that("a start with posterior 0 is refused", {
  local_replacement("cell_log_lik", function(evaluator, theta, values) {
    list(log_likelihood = matrix(-Inf, 1, shape$n_cells))
  })
  places <- some_places(shape, 1)
  expect_refused(population_start(places, NULL, list(population = shape), list(1L), 1, 2), "start", "posterior is 0")
})

test_that("a law that was known is kept where points say little, and gives way to many that do", {
  law <- move_law(c(0, 0), diag(c(4, 1)), turn = 0.1)
  learnt <- list(centre = c(1, 1), covariance = diag(2) * 0.01)
  little <- join_laws(law, learnt, 40)
  expect_equal(little$covariance, diag(c(4, 1)), tolerance = 0.03)
  expect_lt(max(little$centre), 0.03)
  much <- join_laws(replace(law, "turn", 0.9), learnt, 4000)
  expect_equal(much$centre, c(1, 1), tolerance = 0.01)
})

test_that("chains are the same whatever the unit of utility is", {
  visits <- people_visits(per = 3, n = 4)
  unit <- 1e4
  run_in <- function(unit) {
    setting <- diag_setting()
    setting$utility <- setting$utility * unit
    prior <- eval(bquote(ibrc_prior(alpha ~ lognormal(.(log(unit)), 1), optimism ~ normal(0, .(1 / unit)))))
    read <- read_inverse(visits, setting, diag_models(), prior, list(eta = 0), NULL, FALSE)
    effects <- list(alpha ~ (1 | clinician), optimism ~ age + (1 | clinician))
    design <- read_population(effects, visits, read, list(), NULL)
    inverse <- build_inverse(group_by_cell(read, design), 5, ibrc_control(), 1L)
    inverse$effects <- design$design
    evaluator <- population_evaluator(inverse, 3, 1L)
    shape <- evaluator$population
    places <- some_places(shape, 3)
    # Coefficients are alpha, optimism and its slope; spreads and intercepts those of alpha, then of optimism.
    places$b <- places$b * rep(c(1, 0.5, 0.01), each = 3) / rep(c(1, unit, unit), each = 3)
    places$b[, 1] <- places$b[, 1] + log(unit)
    places$s[, 2] <- places$s[, 2] - log(unit)
    places$u <- places$u / rep(c(1, unit), each = 12)
    chain <- population_start(places, matrix(0, evaluator$agent$n_values, 3 * shape$n_cells), evaluator,
                              streams_from_seed(5L, 3), 60L, 70L)
    for (step in 1:70) chain <- population_step(chain, evaluator)
    chain$state
  }
  here <- run_in(1)
  there <- run_in(unit)
  expect_gt(stats::sd(here$u), 0.01)
  expect_equal(there$b[, -1] * unit, here$b[, -1], tolerance = 1e-6)
  expect_equal(there$b[, 1] - log(unit), here$b[, 1], tolerance = 1e-6)
  expect_equal(there$u[, 5:8] * unit, here$u[, 5:8], tolerance = 1e-6)
  expect_equal(there$s[, 2] + log(unit), here$s[, 2], tolerance = 1e-6)
  for (k in 1:2) expect_equal(there$level_shape[[1]][k, 2, ] * unit, here$level_shape[[1]][k, 2, ], tolerance = 1e-6)
})
