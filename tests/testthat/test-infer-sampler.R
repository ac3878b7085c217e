# Densities with known moments: `size`, `log_density`, `exact` draws from it by
# another way (n, size), and a `start` spread wider than the target.
known_targets <- list(
  normal = list(
    size = 2,
    log_density = function(x) -0.5 * (x[, 1]^2 - 1.8 * x[, 1] * x[, 2] + x[, 2]^2) / (1 - 0.81),
    exact = function(n) matrix(rnorm(2 * n), n) %*% chol(matrix(c(1, 0.9, 0.9, 1), 2))
  ),
  t = list(
    size = 2,
    log_density = function(x) dt((x[, 1] - 1) / 2, 7, log = TRUE) + dt(x[, 2] / 0.01, 7, log = TRUE),
    exact = function(n) cbind(1 + 2 * rt(n, 7), 0.01 * rt(n, 7))
  ),
  cliff = list(
    size = 2,
    log_density = function(x) {
      dnorm(x[, 1], 0, 3, log = TRUE) - exp(4 * x[, 1]) + dnorm(x[, 2], tanh(x[, 1]), 0.2, log = TRUE)
    },
    exact = function(n) {
      first <- rnorm(4 * n, 0, 3)
      first <- first[runif(4 * n) < exp(-exp(4 * first))][seq_len(n)]
      cbind(first, rnorm(n, tanh(first), 0.2))
    }
  ),
  bimodal = list(
    size = 2,
    log_density = function(x) log(exp(-0.5 * rowSums((x - 1.5)^2)) + exp(-0.5 * rowSums((x + 1.5)^2))),
    exact = function(n) matrix(rnorm(2 * n), n) + ifelse(runif(n) < 0.5, 1.5, -1.5)
  ),
  single = list(
    size = 1,
    log_density = function(x) dgamma(exp(x[, 1]), 3, 2, log = TRUE) + x[, 1],
    exact = function(n) matrix(log(rgamma(n, 3, 2)))
  )
)

# So bent that a run may miss its tail and look well mixed: of 24 runs of 4,500 steps, three were more than 4.5 of
# their own Monte Carlo errors away from a mean or a quantile's level. Several runs together know where it lies.
strong_curve <- list(
  size = 3,
  log_density = function(x) {
    dnorm(x[, 1], log = TRUE) + dnorm(x[, 2], x[, 1]^2, 0.5, log = TRUE) +
      dnorm(x[, 3], 0.5 * x[, 2], 0.5, log = TRUE)
  },
  exact = function(n) {
    first <- rnorm(n)
    second <- rnorm(n, first^2, 0.5)
    cbind(first, second, rnorm(n, 0.5 * second, 0.5))
  }
)

start_target <- function(target, seed = 1, n_chains = 4, warmup = 1000, iter = 2000, ...) {
  positions <- with_seed(seed, matrix(rnorm(n_chains * target$size), n_chains))
  sampler_start(positions, target$log_density, streams_from_seed(seed, n_chains), rep(1L, n_chains),
                warmup = warmup, iter = iter, ...)
}

# Means, mean squares and quantile levels, against their Monte Carlo errors.
expect_moments <- function(draws, exact, label, errors = 4.5) {
  for (j in seq_len(dim(draws)[3])) {
    levels <- stats::quantile(exact[, j], c(0.05, 0.25, 0.5, 0.75, 0.95), names = FALSE)
    values <- c(list(function(x) x, function(x) (x - mean(exact[, j]))^2),
                lapply(levels, function(level) function(x) (x <= level) + 0))
    for (value in values) {
      seen <- value(draws[, , j])
      error <- sqrt(posterior::mcse_mean(seen)^2 + var(value(exact[, j])) / nrow(exact))
      expect_lt(abs(mean(seen) - mean(value(exact[, j]))) / error, errors, label = paste(label, j))
    }
  }
}

smallest_ess <- function(state) {
  min(apply(state$draws, 3, posterior::ess_bulk)) / prod(dim(state$draws)[1:2])
}

test_that("known moments are found, cut off and split densities among them", {
  skip_if_not_installed("posterior")
  for (name in names(known_targets)) {
    target <- known_targets[[name]]
    state <- sampler_run(start_target(target, 1, warmup = 1500, iter = 4500), target$log_density)
    expect_lt(max(apply(state$draws, 3, posterior::rhat)), 1.03, label = name)
    expect_moments(state$draws, with_seed(2, target$exact(1e5)), name)
  }
})

test_that("runs on a strongly bent density find it together", {
  exact <- with_seed(2, strong_curve$exact(1e5))
  runs <- lapply(1:6, function(seed) sampler_run(start_target(strong_curve, seed), strong_curve$log_density)$draws)
  for (j in 1:3) {
    draws <- unlist(lapply(runs, function(run) run[, , j]))
    levels <- c(0.05, 0.25, 0.5, 0.75, 0.95)
    seen <- vapply(stats::quantile(exact[, j], levels), function(x) mean(draws <= x), 0)
    # Over 96 runs the share of draws below a quantile had a standard deviation of 0.017, and was 0.006 too large. The
    # limit is five standard deviations of the mean of six runs, and those 0.006.
    expect_lt(max(abs(seen - levels)), 0.04)
    expect_lt(abs(mean(draws) - mean(exact[, j])), 0.25)
  }
})

test_that("known moments are found by the paper's walk", {
  skip_if_not_installed("posterior")
  target <- list(size = 1, log_density = function(x) dnorm(x[, 1], 0.1, 0.1, log = TRUE),
                 exact = function(n) matrix(rnorm(n, 0.1, 0.1)))
  state <- sampler_run(start_target(target, 3, iter = 4000, sampler = "paper"), target$log_density)
  expect_moments(state$draws, with_seed(4, target$exact(1e5)), "paper")
})

test_that("draws are worth their evaluations", {
  skip_if_not_installed("posterior")
  mild <- list(size = 2, log_density = function(x) {
    dnorm(x[, 1], log = TRUE) + dnorm(x[, 2], 0.5 * x[, 1]^2, 0.6, log = TRUE)
  })
  ess <- function(target) {
    median(vapply(1:3, function(seed) {
      smallest_ess(sampler_run(start_target(target, seed), target$log_density))
    }, 1))
  }
  expect_gt(ess(mild), 0.2)
  expect_gt(ess(strong_curve), 0.1)
})

# From the stacked parameters of one group, one component after another.
stacked_log_density <- function(mixture, x, df = 5) {
  size <- ncol(x)
  weight <- diff(c(0, mixture$cumulative[, 1]))
  parts <- vapply(seq_along(weight), function(k) {
    scale <- crossprod(matrix(mixture$factor[, k], size))
    away <- c(x) - mixture$mean[k, ]
    weight[k] * exp(lgamma((df + size) / 2) - lgamma(df / 2)) / sqrt((df * pi)^size * det(scale)) *
      (1 + sum(away * solve(scale, away)) / df)^(-(df + size) / 2)
  }, 1)
  log(sum(parts))
}

test_that("early warm-up flattens the likelihood alone, and no draw after it", {
  skip_if_not_installed("posterior")
  # Prior normal(0, 2), likelihood that of 1 seen with an error of 0.5: normal(16 / 17, 4 / 17).
  parts <- function(x) cbind(dnorm(x[, 1], 0, 2, log = TRUE), dnorm(1, x[, 1], 0.5, log = TRUE))
  target <- list(size = 1, log_density = parts)
  state <- start_target(target, 3, warmup = 400, iter = 4400)
  weight <- away <- numeric(500)
  for (i in 1:500) {
    before <- state
    state <- sampler_step(state, parts)
    change <- parts(state$proposal) - parts(before$positions)
    mixture <- function(x) mixture_log_density(before$law$mixture, x, rep(1L, 4))
    extra <- if (any(state$independent)) mixture(before$positions) - mixture(state$proposal) else 0
    data <- state$log_ratio - change[, 1] - state$independent * extra
    # Chains of one step share the weight: a slope through all of them.
    weight[i] <- sum(data * change[, 2]) / sum(change[, 2]^2)
    away[i] <- max(abs(data - weight[i] * change[, 2]))
  }
  expect_lt(max(away), 1e-9)
  expect_close(weight[1:101], rep(0.1, 101), 1e-9)
  expect_true(all(diff(weight[101:201]) > 0))
  expect_close(weight[201:500], rep(1, 300), 1e-9)
  state <- sampler_run(state, parts)
  expect_moments(state$draws, with_seed(4, matrix(rnorm(1e5, 16 / 17, sqrt(4 / 17)))), "flattened")
})

test_that("a proposal without density is refused, flattened or not", {
  state <- list(log_density = c(-1, -1), log_likelihood = c(-1, -1), frozen = FALSE, warmup = 1000L, iteration = 0L)
  parts <- density_parts(rbind(c(-Inf, -Inf), c(0, -Inf)), 2)
  expect_identical(log_density_ratio(parts, state), c(-Inf, -Inf))
  expect_error(density_parts(cbind(0, NaN), 1), "number")
})

test_that("every step of a short run can be recomputed", {
  target <- strong_curve
  state <- start_target(target, 5, warmup = 120, iter = 200)
  ratio_of <- function(before, proposal, independent) {
    vapply(1:4, function(i) {
      from <- before$positions[i, , drop = FALSE]
      to <- proposal[i, , drop = FALSE]
      ratio <- target$log_density(to) - target$log_density(from)
      if (!independent[i]) return(ratio)
      straight <- function(x) straighten(before$law$shear, x, 1L)
      ratio + stacked_log_density(before$law$mixture, straight(from)) -
        stacked_log_density(before$law$mixture, straight(to))
    }, 1)
  }
  n_independent <- 0
  away <- numeric(200)
  right <- matrix(FALSE, 200, 3)
  while (state$iteration < 200) {
    before <- state
    state <- sampler_step(state, target$log_density)
    i <- state$iteration
    log_ratio <- ratio_of(before, state$proposal, state$independent)
    moved <- before$positions
    moved[state$log_uniform < log_ratio, ] <- state$proposal[state$log_uniform < log_ratio, ]
    away[i] <- max(abs(state$log_ratio - log_ratio), abs(state$log_density - target$log_density(moved)))
    right[i, ] <- c(identical(state$accepted, state$log_uniform < log_ratio),
                    identical(state$positions, moved),
                    i <= 120 || identical(sampler_flush(state)$draws[i - 120, , ], moved))
    n_independent <- n_independent + sum(state$independent)
  }
  expect_lt(max(away), 1e-9)
  expect_true(all(right))
  expect_gt(n_independent, 200)
  expect_identical(sampler_run(start_target(target, 5, warmup = 120, iter = 200), target$log_density), state)
})

test_that("stopping after any step and going on gives identical draws", {
  target <- known_targets$cliff
  for (sampler in c("adaptive", "paper")) {
    state <- start_target(target, 6, warmup = 110, iter = 170, thin = 3, sampler = sampler)
    whole <- sampler_run(state, target$log_density)
    while (state$iteration < 170) {
      state <- unserialize(serialize(state, NULL))
      state <- sampler_run(state, target$log_density, until = state$iteration + 1)
    }
    expect_identical(state, whole)
    expect_identical(dim(whole$draws), c(20L, 4L, 2L))
    expect_false(anyNA(whole$draws))
    expect_close(whole$log_density_draws[7, ], target$log_density(whole$draws[7, , ]))
    half <- sampler_run(start_target(target, 6, warmup = 110, iter = 170, thin = 3, sampler = sampler),
                        target$log_density, until = 131)
    expect_identical(half$draws[1:7, , ], whole$draws[1:7, , ])
    expect_true(all(is.na(half$draws[8:20, , ])))
  }
})

test_that("the state is plain data", {
  target <- known_targets$normal
  state <- sampler_run(start_target(target, 7, warmup = 100, iter = 101), target$log_density)
  plain <- function(x) if (is.list(x)) all(vapply(x, plain, NA)) else is.null(x) || is.atomic(x)
  expect_true(plain(state))
})

test_that("chains do not meet each other's noise, nor groups each other's proposals", {
  target <- known_targets$normal
  positions <- with_seed(8, matrix(rnorm(12), 6))
  streams <- streams_from_seed(8, 6)
  run <- function(chains, group, ...) {
    state <- sampler_start(positions[chains, , drop = FALSE], target$log_density, streams[chains], group, ...)
    sampler_run(state, target$log_density)
  }
  paper <- run(1:4, rep(1, 4), 50, 250, sampler = "paper")
  expect_identical(run(1, 1, 50, 250, sampler = "paper")$draws[, 1, ], paper$draws[, 1, ])
  both <- run(1:6, c(5, 9, 5, 9, 9, 5), 150, 250)
  one <- run(c(1, 3, 6), rep(2, 3), 150, 250)
  expect_equal(both$draws[, c(1, 3, 6), ], one$draws)
  expect_equal(both$scale[1], one$scale)
})

test_that("one call per step, with one row per chain", {
  calls <- list()
  log_density <- function(x) {
    calls[[length(calls) + 1]] <<- dim(x)
    -rowSums(x^2)
  }
  state <- start_target(list(size = 3, log_density = log_density), 9, warmup = 100, iter = 150)
  expect_length(calls, 1)
  sampler_run(state, log_density)
  expect_length(calls, 151)
  expect_identical(unique(calls), list(c(4L, 3L)))
})

test_that("the caller's generator is left alone", {
  target <- known_targets$normal
  with_seed(10, {
    before <- .GlobalEnv$.Random.seed
    sampler_run(start_target(target, 1, warmup = 100, iter = 150), target$log_density)
    expect_identical(.GlobalEnv$.Random.seed, before)
  })
})

test_that("after warm-up what is proposed no longer changes", {
  target <- strong_curve
  for (warmup in c(0, 60, 100)) {
    state <- start_target(target, 11, warmup = warmup, iter = warmup + 100)
    state <- sampler_run(state, target$log_density, until = warmup)
    expect_true(state$frozen)
    expect_null(state$history)
    expect_identical(is.null(state$law$mixture), warmup < 100)
    last <- sampler_run(state, target$log_density)
    expect_identical(last[c("law", "scale")], state[c("law", "scale")])
  }
  paper <- start_target(target, 11, sampler = "paper", step = 0.3)
  expect_identical(sampler_run(paper, target$log_density)[c("law", "scale")], paper[c("law", "scale")])
})

test_that("a warm-up of any length will do, for a single chain as well", {
  target <- known_targets$single
  for (warmup in c(1, 2, 15, 16, 33, 99, 100, 101)) {
    state <- start_target(target, 17, n_chains = 1, warmup = warmup, iter = warmup + 3, thin = 2)
    state <- sampler_run(state, target$log_density)
    expect_true(state$frozen)
    expect_identical(dim(state$draws), c(1L, 1L, 1L))
    expect_false(anyNA(state$draws))
  }
})

test_that("the paper's walk has its step", {
  flat <- list(size = 2, log_density = function(x) numeric(nrow(x)))
  state <- sampler_run(start_target(flat, 12, warmup = 0, iter = 3000, sampler = "paper"), flat$log_density)
  steps <- apply(state$draws, 2:3, diff)
  expect_gt(ks.test(as.vector(steps) / 0.1, "pnorm")$p.value, 1e-3)
  expect_identical(state$n_accepted, rep(3000L, 4))
})

test_that("a walk alone learns its scale", {
  narrow <- list(size = 1, log_density = function(x) dnorm(x[, 1], 0, 100, log = TRUE))
  state <- sampler_run(start_target(narrow, 13, warmup = 99, iter = 600), narrow$log_density)
  expect_gt(mean(state$n_accepted) / 501, 0.25)
  expect_lt(mean(state$n_accepted) / 501, 0.7)
})

test_that("a place without density is refused as a start, and left alone later", {
  log_density <- function(x) ifelse(x[, 1] > 0, dexp(x[, 1], log = TRUE), -Inf)
  start <- function(positions) {
    sampler_start(positions, log_density, streams_from_seed(1, 3), rep(1L, 3), warmup = 100, iter = 600)
  }
  refused <- expect_error(start(matrix(c(1, -1, 2))), class = "ibrc_error_input")
  expect_identical(refused$argument, "start")
  expect_identical(refused$rows, 2L)
  state <- sampler_run(start(matrix(c(1, 3, 2))), log_density)
  expect_true(all(state$draws > 0))
})

test_that("a log density that is no number is an error, not a refusal", {
  good <- function(x) -rowSums(x^2)
  state <- start_target(list(size = 1, log_density = good), 14)
  expect_error(sampler_step(state, function(x) rep(NaN, 4)), "log density")
  expect_error(sampler_step(state, function(x) rep(Inf, 4)), "log density")
  expect_error(sampler_step(state, function(x) 0), "log density")
  done <- sampler_run(start_target(list(size = 1, log_density = good), 14, warmup = 1, iter = 2), good)
  expect_error(sampler_step(done, good), "all its steps")
})

test_that("a run can be watched and ended", {
  target <- known_targets$normal
  seen <- integer()
  state <- sampler_run(start_target(target, 15), target$log_density, each_step = function(state) {
    seen <<- c(seen, state$iteration)
    state$iteration < 7
  })
  expect_identical(seen, 1:7)
  expect_identical(state$iteration, 7L)
})

test_that("moments hold for several seeds", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  skip_if_not_installed("posterior")
  for (name in names(known_targets)) for (seed in 21:24) {
    target <- known_targets[[name]]
    state <- sampler_run(start_target(target, seed, warmup = 2000, iter = 12000), target$log_density)
    expect_moments(state$draws, with_seed(seed, target$exact(1e6)), paste(name, seed), errors = 5)
  }
})
