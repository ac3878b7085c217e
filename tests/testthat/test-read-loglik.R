setting <- diag_setting()
visits <- marked_visits()
pooled <- marked_fit()
grouped <- marked_fit("clinic")
bare <- marked_fit(iter = 20, control = list(keep_data = FALSE))

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

test_that("a fit keeps no identifier", {
  bytes <- serialize(grouped, NULL)
  expect_length(grepRaw("planted", bytes, fixed = TRUE), 0)
  expect_length(grepRaw("north", bytes, fixed = TRUE), 1)
  expect_null(bare$visit_actions)
  expect_null(bare$trajectory_group)
})

test_that("trajectories that the fit has not seen are judged by the draws of their group", {
  who <- unique(visits$id)
  whole <- log_lik(grouped, draws = 8)
  expect_null(colnames(whole))
  again <- log_lik(grouped, draws = 8, newdata = visits)
  expect_identical(colnames(again), who)
  expect_identical(unname(again), unname(whole))
  expect_identical(log_lik(pooled, visits), log_lik(pooled, newdata = visits))
  # Some of them, of one group only, and by a fit that kept nothing.
  some <- sample(who[visits$clinic[match(who, visits$id)] == "south"], 5)
  few <- log_lik(grouped, draws = 8, newdata = marked_part(some))
  expect_setequal(colnames(few), some)
  expect_close(few, whole[, match(colnames(few), who)], 1e-7)
  expect_identical(dim(log_lik(bare, draws = 4, newdata = marked_part(who[1:3]))), c(4L, 3L))
})

test_that("a matrix that does not fit into memory is refused, with the arithmetic", {
  withr::local_options(ibrc.memory = 1e-4)
  error <- expect_error(log_lik(pooled, NULL), "200 draws of 50 trajectories are 10,000 numbers",
                        class = "ibrc_error_memory")
  expect_identical(error$argument, "draws")
  expect_identical(dim(log_lik(pooled, 10)), c(10L, 50L))
})

test_that("new trajectories are checked as the fitted ones were", {
  changed <- as.data.frame(visits)
  changed$clinic <- "planted-elsewhere"
  error <- expect_error(log_lik(grouped, newdata = trajectories(changed, covariates = "clinic")), "has not met",
                        class = "ibrc_error_input")
  expect_identical(error$argument, "newdata")
  expect_no_match(conditionMessage(error), "planted")
  error <- expect_error(log_lik(grouped, newdata = changed), "trajectories()", class = "ibrc_error_input")
  expect_identical(error$argument, "newdata")
  sure <- decision_setting(c("a", "b"), c("u", "w"), c("x", "y"), diag(2),
                           list(u = cbind(c(1, 1), 0), w = matrix(0.5, 2, 2)), matrix(1:4, 2), discount = 0.5)
  table <- data.frame(id = rep(1:2, each = 2), time = 1:2, action = c("w", "u"), observation = "x")
  fit <- suppressWarnings(ibrc(trajectories(table), sure, prior = ibrc_prior(alpha ~ lognormal(0, 1)), chains = 1,
                               iter = 10, seed = 1, resolution = 5))
  table$action <- "u"
  table$observation[3] <- "y"
  error <- expect_error(log_lik(fit, newdata = trajectories(table)), class = "ibrc_error_data")
  expect_identical(error$rows, 3L)
})
