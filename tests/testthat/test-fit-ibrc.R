setting <- diag_setting()
models <- diag_models()
plan <- plan_agent(setting, bounded_agent(0.5, 1.25, 1e-3), models)
visits <- simulate(plan, 150, seed = 1)
two_terms <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
small_fit <- function(..., iter = 300, chains = 2, seed = 1, prior = two_terms, fixed = list(eta = 0)) {
  ibrc(visits, setting, models, prior, fixed, iter = iter, chains = chains, seed = seed, ...)
}

read_reference <- function(name) trajectories(utils::read.csv(reference_file(name)), setting = setting)

test_that("posteriors of the authors' data are the reference's", {
  fit <- ibrc(read_reference("diag_flexible.csv"), setting, models, ibrc_prior(alpha ~ lognormal(0, 3)),
              fixed = list(beta = 1e3, eta = 1e-3), seed = 1,
              control = ibrc_control(surprise = "observation", interpolate = "policy"))
  table <- tidy(fit)
  expect_lt(table$rhat, 1.01)
  draws <- as.vector(fit$draws$all)
  error <- 4 * table$std.error / sqrt(table$ess_bulk)
  expect_lte(abs(mean(draws) - 0.496), error + 5e-4)
  expect_lte(abs(stats::sd(draws) - 0.031), 0.003)

  fit <- ibrc(read_reference("diag_optimistic.csv"), setting, models,
              ibrc_prior(beta ~ lognormal(0, 3), eta ~ lognormal(0, 3)), fixed = list(alpha = 0.5), seed = 1,
              control = ibrc_control(surprise = "observation", interpolate = "policy"))
  table <- tidy(fit)
  expect_true(all(table$rhat < 1.01))
  logs <- log(matrix(fit$draws$all, ncol = 2))
  spread <- apply(logs, 2, stats::sd)
  error <- 4 * spread / sqrt(table$ess_bulk)
  expect_lte(abs(mean(logs[, 1]) - 0.36), error[1] + 5e-3)
  expect_lte(abs(mean(logs[, 2]) + 0.8), error[2] + 5e-2)
  expect_lte(abs(spread[1] - 0.10), 0.015)
  expect_lte(abs(spread[2] - 2.1), 0.25)
})

test_that("draws are the same for a seed, whatever the threads, and leave the generator alone", {
  set.seed(9)
  before <- .Random.seed
  fit <- small_fit()
  expect_identical(.Random.seed, before)
  expect_identical(small_fit(cores = 2)$draws, fit$draws)
  expect_false(identical(small_fit(seed = 2)$draws, fit$draws))
  set.seed(9)
  first <- small_fit(seed = NULL, iter = 20)
  set.seed(9)
  expect_identical(small_fit(seed = NULL, iter = 20)$draws, first$draws)
})

test_that("every step is what the plain-R twin would have done", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), beta ~ lognormal(0, 2))
  few <- simulate(plan, 25, seed = 3)
  rows <- data.frame(trajectory = few$id, action = as.integer(few$action), observation = as.integer(few$observation))
  coarse <- plan_agent(setting, bounded_agent(alpha = 1), models, resolution = 10)
  twin <- twin_of(coarse)
  twin_log_posterior <- function(theta) {
    agent <- bounded_agent(alpha = exp(theta[1]), beta = exp(theta[2]))
    solved <- twin_solve(twin$tables, twin$reward, agent, twin$action_prior, twin$weights, 0.95, 1e-11)
    at <- function(values, z) as.vector(twin_interpolate(matrix(z, 1), 2, 10) %*% values)
    policy <- function(z) twin_soft_weights(at(solved$Q, z), twin$action_prior, agent$alpha)
    sigma <- function(z, u) twin_soft_weights(at(solved$K[, u, ], z), twin$weights, agent$beta)
    sum(twin_log_likelihood(rows, models$models, policy, sigma, c(0.5, 0.5))) +
      stats::dnorm(theta[1], 0, 1, log = TRUE) + stats::dnorm(theta[2], 0, 2, log = TRUE)
  }
  evaluator <- new_evaluator(coarse, list(build_histories(code_visits(few, setting), setting)), c(1L, 1L), prior,
                             list(), 1e-10, 1L)
  value <- matrix(0, 11, 2)
  start <- rbind(c(0, 0), c(0.5, 0.3))
  log_density <- function(theta) {
    out <- evaluate_batch(evaluator, theta, value)
    out$log_prior + out$log_likelihood
  }
  state <- sampler_start(start, log_density, streams_from_seed(4, 2), c(1L, 1L), 0, 12, sampler = "paper")
  for (step in 1:12) {
    from <- state$positions
    state <- sampler_step(state, log_density)
    for (chain in 1:2) {
      ratio <- twin_log_posterior(state$proposal[chain, ]) - twin_log_posterior(from[chain, ])
      expect_close(state$log_ratio[chain], ratio, 1e-6)
      expect_identical(state$accepted[chain], state$log_uniform[chain] < state$log_ratio[chain])
      moved <- if (state$accepted[chain]) state$proposal[chain, ] else from[chain, ]
      expect_identical(state$positions[chain, ], moved)
    }
  }
})

test_that("with the prior alone, the prior comes back", {
  fit <- small_fit(sample_prior = "only", iter = 3000, chains = 4, prior = ibrc_prior(
    alpha ~ lognormal(0.5, 1), optimism ~ normal(-1, 2)), fixed = list())
  table <- tidy(fit)
  draws <- matrix(fit$draws$all, ncol = 2)
  expect_lte(abs(mean(log(draws[, 1])) - 0.5), 4 / sqrt(table$ess_bulk[1]))
  expect_lte(abs(mean(draws[, 2]) + 1), 8 / sqrt(table$ess_bulk[2]))
  expect_lte(abs(stats::sd(draws[, 2]) - 2), 0.25)
  expect_match(summary(fit)$advice, "draws from the prior", all = FALSE)
})

test_that("utility entries and the discount can be inferred", {
  prior <- ibrc_prior(utility(healthy, declare_diseased) ~ normal(-30, 10), discount ~ uniform(0.8, 0.99))
  fit <- ibrc(visits, setting, models, prior, fixed = list(alpha = 0.5, beta = 1.25), chains = 2, iter = 300, seed = 1)
  expect_identical(dimnames(fit$draws$all)[[3]], c("utility[healthy,declare_diseased]", "discount"))
  draw <- matrix(fit$draws$all[5, 1, ], 1, dimnames = list(NULL, names(prior)))
  again <- plan_at(fit, draw)
  expect_equal(again$setting$utility["healthy", "declare_diseased"], draw[[1]])
  expect_equal(again$setting$discount, draw[[2]])
  total <- sum(log_lik(again, visits)) + prior_log_density(prior, prior_unconstrain(prior, draw))
  expect_close(total, fit$log_posterior[5, 1], 1e-5)
})

test_that("what cannot be fitted is refused before any work", {
  refused <- function(..., argument) {
    error <- expect_error(ibrc(...), class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  refused(as.data.frame(visits), setting, models, two_terms, argument = "visits")
  refused(visits, 1, models, two_terms, argument = "setting")
  refused(visits, setting, models, NULL, argument = "prior")
  refused(visits, setting, models, "flat", argument = "prior")
  refused(visits, setting, models, two_terms, fixed = list(alpha = 1), argument = "fixed")
  refused(visits, setting, models, two_terms, fixed = list(beta = 1), argument = "fixed")
  refused(visits, setting, models, two_terms, fixed = list(gamma = 1), argument = "fixed")
  refused(visits, setting, models, two_terms, fixed = 3, argument = "fixed")
  refused(visits, setting, models, ibrc_prior(optimism ~ normal(0, 1)), argument = "prior")
  refused(visits, setting, models, two_terms, iter = 100, warmup = 100, argument = "iter")
  refused(visits, setting, models, two_terms, chains = 0, argument = "chains")
  refused(visits, setting, models, two_terms, by = "clinic", argument = "by")
  refused(visits, setting, models, two_terms, control = list(start = data.frame(alpha = 1)), argument = "start")
  refused(visits, setting, models, two_terms, control = list(start = data.frame(alpha = -1, optimism = 0)),
          argument = "start")
  refused(visits, setting, models, two_terms, control = list(sampler = "gibbs"), argument = "sampler")
  wrong <- transform(as.data.frame(visits), action = "wait")
  expect_error(ibrc(trajectories(wrong), setting, models, two_terms), class = "ibrc_error_data")
})

test_that("the paper's protocol runs, and no identifier is kept", {
  marked <- transform(as.data.frame(visits), id = paste0("SECRET-", id))
  fit <- ibrc(trajectories(marked), setting, models, ibrc_prior(alpha ~ lognormal(0, 3)), fixed = list(beta = 1.25),
              chains = 1, iter = 220, warmup = 100,
              control = ibrc_control(thin = 10, sampler = "paper", start = data.frame(alpha = 1)),
              seed = 1)
  expect_identical(dim(fit$draws$all), c(12L, 1L, 1L))
  bytes <- rawToChar(serialize(fit, NULL, ascii = TRUE))
  expect_no_match(bytes, "SECRET")
})

test_that("identifiers are no names of groups, and an empty name is a missing one", {
  visits <- clinic_visits()
  run <- function(visits, by, ...) {
    ibrc(visits, diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), by = by, chains = 1, seed = 1, ...)
  }
  few <- visits[visits$id %in% unique(visits$id)[3:4], ]
  expect_named(suppressWarnings(run(few, "id", iter = 20))$draws, c("trajectory 1", "trajectory 2"))
  visits$clinic[visits$clinic == "south"] <- ""
  expect_identical(names(run(visits, "clinic", iter = 20)$draws), c("north", "missing"))
})

test_that("chains start where the posterior is above 0, or say that they cannot", {
  visits <- clinic_visits()
  run <- function(prior, ...) {
    ibrc(visits, diag_setting(), NULL, prior, chains = 2, iter = 4, warmup = 2, seed = 1, resolution = 5, ...)
  }
  wide <- ibrc_prior(alpha ~ lognormal(0, 1))
  error <- expect_error(run(wide, control = list(start = data.frame(alpha = c(1, 1e-310)))),
                        "chain 2 starts where the posterior is 0",
                        class = "ibrc_error_input")
  expect_identical(error$rows, 2L)
  expect_error(run(wide, control = list(start = data.frame(alpha = "one"))), "must be numbers",
               class = "ibrc_error_input")
  expect_error(run(wide, control = list(start = data.frame(alpha = 1:3))), "3 rows for 2 chains",
               class = "ibrc_error_input")
  expect_error(run(ibrc_prior(alpha ~ lognormal(-720, 1))), "could not be drawn", class = "ibrc_error_input")
  # Half of the draws are impossible: others take their place.
  fit <- suppressWarnings(run(ibrc_prior(alpha ~ lognormal(-200, 300))))
  expect_true(all(is.finite(fit$log_posterior)))
})

test_that("a discount that is held is a discount", {
  error <- expect_error(ibrc(clinic_visits(), diag_setting(), NULL, ibrc_prior(alpha ~ lognormal(0, 1)),
                             fixed = list(discount = 2)), class = "ibrc_error_input")
  expect_identical(error$argument, "fixed")
})

test_that("what is left of a run is told in seconds, minutes or hours", {
  expect_identical(vapply(c(0.2, 59.5, 61, 3600, 5400), format_seconds, ""), c("1 s", "60 s", "2 min", "1 h", "1.5 h"))
})
