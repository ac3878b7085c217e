setting <- diag_setting()
truth <- plan_agent(setting, bounded_agent(0.5, 1.25), diag_models())

# Two clinics, rows mixed, identifiers that are easy to find again.
both_clinics <- function() {
  north <- cbind(as.data.frame(simulate(truth, 25, seed = 1)), clinic = "north")
  south <- cbind(as.data.frame(simulate(update(truth, bounded_agent(3)), 25, seed = 2)), clinic = "south")
  south$id <- south$id + 25
  data <- rbind(north, south)
  data <- data[order(data$time, (data$id * 7) %% 50), ]
  data$id <- paste0("planted-identity-", data$id)
  trajectories(data, covariates = "clinic", setting = setting)
}
visits <- both_clinics()
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
pooled <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 200, seed = 1)
grouped <- ibrc(visits, setting, diag_models(), prior, by = "clinic", chains = 2, iter = 200, seed = 1)
bare <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 20, seed = 1, keep_data = FALSE)

natural_at <- function(fit, group, chosen, i) {
  matrix(fit$draws[[group]][chosen$.iteration[i], chosen$.chain[i], ], 1,
         dimnames = list(NULL, dimnames(fit$draws[[group]])[[3]]))
}

test_that("a row holds the log-likelihoods of the plan at its draw", {
  each <- log_lik(pooled, draws = 10)
  chosen <- spaced_draws(pooled, 10)
  expect_identical(dim(each), c(10L, 50L))
  expect_identical(rownames(each), as.character(chosen$.draw))
  for (i in c(1, 5, 10)) {
    expect_close(each[i, ], log_lik(plan_at(pooled, natural_at(pooled, 1, chosen, i)), visits), 1e-8)
  }
})

test_that("with groups each trajectory is judged by its own group, in order of first appearance", {
  each <- log_lik(grouped, draws = 8)
  chosen <- spaced_draws(grouped, 8)
  for (i in c(2, 7)) {
    lists <- lapply(1:2, function(g) log_lik(plan_at(grouped, natural_at(grouped, g, chosen, i)), visits))
    clinic <- visits$clinic[match(names(lists[[1]]), visits$id)]
    expect_close(each[i, ], ifelse(clinic == "north", lists[[1]], lists[[2]]), 1e-8)
  }
})

test_that("rows add up to the posterior that the sampler kept, less the prior", {
  for (fit in list(pooled, grouped)) {
    total <- rowSums(log_lik(fit, NULL))
    log_prior <- vapply(fit$draws, function(draws) {
      size <- dim(draws)
      flat <- matrix(draws, size[1] * size[2], size[3], dimnames = list(NULL, dimnames(draws)[[3]]))
      prior_log_density(fit$prior, prior_unconstrain(fit$prior, flat))
    }, numeric(length(total)))
    kept <- rowSums(matrix(fit$log_posterior, length(total)))
    expect_close(total, kept - rowSums(log_prior), 1e-6)
  }
})

test_that("inferred utilities and discounts are planned for", {
  free <- ibrc_prior(utility(healthy, monitor) ~ normal(-1, 1), discount ~ uniform(0.8, 0.99))
  fit <- ibrc(visits, setting, diag_models(), free, fixed = list(alpha = 0.5), chains = 2, iter = 40,
              seed = 2)
  each <- log_lik(fit, 6)
  chosen <- spaced_draws(fit, 6)
  for (i in c(1, 6)) {
    natural <- natural_at(fit, 1, chosen, i)
    other <- setting
    other$utility["healthy", "monitor"] <- natural[1, 1]
    other$discount <- natural[[1, 2]]
    expect_close(each[i, ], log_lik(plan_agent(other, bounded_agent(0.5), diag_models()), visits), 1e-6)
  }
})

test_that("draws are spread evenly, as many from every chain where that can be", {
  chosen <- spaced_draws(pooled, 10)
  expect_identical(as.vector(table(chosen$.chain)), c(5L, 5L))
  expect_identical(unique(diff(chosen$.draw)), 20L)
  expect_identical(spaced_draws(pooled, NULL)$.draw, 1:200)
  expect_identical(nrow(spaced_draws(pooled, 1e6)), 200L)
  long <- as.data.frame(pooled)
  same <- long[match(chosen$.draw, long$.draw), c(".iteration", ".chain")]
  expect_identical(chosen$.iteration, same$.iteration)
  expect_identical(chosen$.chain, same$.chain)
})

test_that("leave-one-out compares fits to the same data", {
  skip_if_not_installed("loo")
  found <- suppressWarnings(loo(pooled, draws = 101))
  each <- log_lik(pooled, 100)
  chain <- rep(1:2, each = 50)
  expected <- suppressWarnings(loo::loo(each, r_eff = loo::relative_eff(exp(each), chain_id = chain)))
  expect_s3_class(found, "psis_loo")
  expect_equal(found$estimates, expected$estimates)
  apart <- suppressWarnings(loo::loo(grouped))
  compared <- suppressWarnings(loo::loo_compare(list(pooled = found, grouped = apart)))
  expect_identical(rownames(compared)[1], "grouped")
  expect_equal(suppressWarnings(loo(each)), suppressWarnings(loo::loo(each)))
})

test_that("a fit keeps no identifier", {
  bytes <- serialize(grouped, NULL)
  expect_length(grepRaw("planted", bytes, fixed = TRUE), 0)
  expect_length(grepRaw("north", bytes, fixed = TRUE), 1)
  expect_null(bare$visit_actions)
  expect_null(bare$trajectory_group)
})

test_that("what cannot be worked out is refused", {
  expect_error(log_lik(bare), "keep_data", class = "ibrc_error_input")
  expect_error(log_lik(pooled, draws = 0), class = "ibrc_error_input")
  expect_error(log_lik(pooled, newdata = visits), class = "ibrc_error_input")
  skip_if_not_installed("loo")
  expect_error(loo(bare), "keep_data", class = "ibrc_error_input")
  expect_error(loo(pooled, draws = "all"), class = "ibrc_error_input")
})
