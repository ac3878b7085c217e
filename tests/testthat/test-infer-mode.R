small_behaviour <- function(n = 40, ..., seed = 1) {
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5, ...), diag_models())
  simulate(plan, n, seed = seed)
}

small_surface <- function(visits, prior, fixed = list(), with_prior = FALSE) {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(alpha = 1), diag_models())
  histories <- list(build_histories(code_visits(visits, setting), setting))
  new_surface(new_evaluator(plan, histories, 1L, prior, fixed, 1e-8, 1L), 1L, with_prior)
}

test_that("the maximum of the likelihood is that of a grid", {
  setting <- diag_setting()
  visits <- small_behaviour()
  mode <- ibrc_mode(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 2)), estimate = "mle",
                    starts = 2, seed = 1)
  plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
  likelihood <- function(alpha) sum(log_lik(update(plan, bounded_agent(alpha = alpha)), visits))
  grid <- exp(seq(log(0.2), log(1.2), by = 0.02))
  height <- vapply(grid, likelihood, 0)
  best <- which.max(height)
  expect_close(log(coef(mode)), log(grid[best]), 0.02)
  expect_gte(as.numeric(logLik(mode)), height[best] - 1e-7)
  expect_close(logLik(mode), likelihood(coef(mode)), 1e-6)
  # The ends of the interval lie at the chi-squared cut, on either side.
  table <- tidy(mode)
  expect_lt(table$conf.low, table$estimate)
  expect_gt(table$conf.high, table$estimate)
  cut <- as.numeric(logLik(mode)) - stats::qchisq(0.95, 1) / 2
  expect_close(c(likelihood(table$conf.low), likelihood(table$conf.high)), c(cut, cut), 1e-3)
  # The standard error is the curvature's on the log scale, times alpha.
  fine <- stats::optimHess(log(table$estimate), function(t) likelihood(exp(t)), control = list(ndeps = 0.01))
  expect_close(table$std.error / table$estimate, 1 / sqrt(-fine), 0.02)
})

test_that("the batched gradient is that of plans solved one by one", {
  visits <- small_behaviour(beta = 1.25)
  surface <- small_surface(visits, ibrc_prior(alpha ~ lognormal(0, 2), optimism ~ normal(0, 1)))
  at <- c(log(0.7), 0.6)
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), tolerance = 1e-10)
  likelihood <- function(t) sum(log_lik(update(plan, bounded_agent(exp(t[1]), optimism = t[2])), visits))
  expect_close(surface$density(rbind(at)), likelihood(at), 1e-6)
  slope <- vapply(1:2, function(j) {
    step <- replace(c(0, 0), j, 1e-4)
    (likelihood(at + step) - likelihood(at - step)) / 2e-4
  }, 0)
  expect_close(finite_gradient(surface, at), slope, 1e-2)
})

test_that("without information the posterior mode is the prior's", {
  diag <- diag_setting()
  same <- decision_setting(diag$states, diag$actions, diag$observations, diag$transition, diag$emission,
                           utility = 0 * diag$utility, discount = 0.95, start = diag$start,
                           stop_actions = diag$stop_actions)
  mode <- ibrc_mode(small_behaviour(), same, diag_models(), starts = 2, seed = 1,
                    prior = ibrc_prior(alpha ~ lognormal(0.3, 0.5), optimism ~ normal(0.2, 1)))
  expect_close(coef(mode), c(exp(0.3), 0.2), 1e-4)
  table <- tidy(mode)
  ends <- log(c(table$conf.low[1], table$conf.high[1]))
  expect_close(ends, 0.3 + c(-1, 1) * stats::qnorm(0.975) * 0.5, 1e-3)
  expect_close(table$std.error, c(exp(0.3) * 0.5, 1), 1e-4)
})

test_that("the authors' optimist has its mode where its posterior is", {
  visits <- trajectories(utils::read.csv(reference_file("diag_optimistic.csv")), setting = diag_setting())
  mode <- ibrc_mode(visits, diag_setting(), diag_models(), fixed = list(alpha = 0.5), starts = 2, seed = 1,
                    prior = ibrc_prior(beta ~ lognormal(0, 3), eta ~ lognormal(0, 3)),
                    control = ibrc_control(interpolate = "policy", surprise = "observation"))
  table <- tidy(mode)
  expect_close(log(table$estimate[1]), 0.36, 0.05)
  # The reference's posterior standard deviation of log beta is 0.10.
  expect_close(diff(log(unlist(table[1, c("conf.low", "conf.high")]))), 4 * 0.1, 0.1)
})

test_that("neutral behaviour bounds beta from below and eta from above", {
  prior <- ibrc_prior(beta ~ lognormal(1, 3), eta ~ lognormal(0, 3))
  mode <- ibrc_mode(small_behaviour(100), diag_setting(), diag_models(), prior, list(alpha = 0.5), "mle",
                    starts = 2, seed = 1)
  table <- tidy(mode)
  expect_identical(table$conf.high[1], Inf)
  expect_gt(table$conf.low[1], 5)
  expect_identical(table$conf.low[2], 0)
  expect_lt(table$conf.high[2], 10)
  expect_identical(table$std.error, c(NA_real_, NA_real_))
  expect_output(print(mode), "bound beta, eta on one side only")
})

test_that("groups have modes of their own, whatever the cores", {
  hopeful <- as.data.frame(small_behaviour(optimism = 0.8, seed = 2))
  visits <- rbind(cbind(as.data.frame(small_behaviour()), clinic = "north"),
                  transform(hopeful, id = id + 40, clinic = "south"))
  visits <- trajectories(visits, covariates = "clinic", setting = diag_setting())
  prior <- ibrc_prior(optimism ~ normal(0, 1))
  run <- function(cores) {
    ibrc_mode(visits, diag_setting(), diag_models(), prior, list(alpha = 0.5), by = "clinic", starts = 2,
              seed = 3, conf.level = NULL, cores = cores)
  }
  both <- run(1)
  expect_named(coef(both), c("optimism[north]", "optimism[south]"))
  expect_gt(coef(both)[[2]], coef(both)[[1]] + 0.3)
  expect_identical(coef(run(2)), coef(both))
  expect_true(all(is.na(tidy(both)$conf.low)))
  expect_identical(attr(logLik(both), "df"), 2L)
  south <- trajectories(subset(as.data.frame(visits), clinic == "south"), setting = diag_setting())
  alone <- ibrc_mode(south, diag_setting(), diag_models(), prior, list(alpha = 0.5), starts = 2, seed = 1,
                     conf.level = NULL)
  expect_close(coef(alone), coef(both)[2], 1e-4)
  expect_output(print(both), "posterior mode for 80 trajectories")
})

test_that("bounded terms stay within their bounds, open ends are the bounds themselves", {
  visits <- small_behaviour()
  mode <- ibrc_mode(visits, diag_setting(), diag_models(), fixed = list(alpha = 0.5), starts = 2, seed = 1,
                    prior = ibrc_prior(beta ~ uniform(1, 500)), estimate = "mle")
  table <- tidy(mode)
  expect_gt(table$conf.low, 1)
  expect_identical(table$conf.high, 500)
})

test_that("what cannot be is refused", {
  visits <- small_behaviour()
  refused <- function(argument, ...) {
    error <- expect_error(ibrc_mode(visits, diag_setting(), diag_models(), ...), class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  refused("estimate", estimate = "mean")
  refused("conf.level", conf.level = 1)
  refused("starts", starts = 0)
  refused("prior", prior = NULL)
  refused("fixed", fixed = list(alpha = 1), prior = ibrc_prior(alpha ~ lognormal(0, 1)))
})

test_that("data that no point of the prior can explain are refused", {
  error <- expect_error(ibrc_mode(clinic_visits(), diag_setting(), NULL, ibrc_prior(alpha ~ lognormal(-600, 1)),
                                  starts = 2, resolution = 5, seed = 1), "no point to begin from",
                        class = "ibrc_error_input")
  expect_identical(error$argument, "starts")
})

test_that("a mode is glanced at in one row, with criteria where they hold", {
  visits <- clinic_visits()
  prior <- ibrc_prior(alpha ~ lognormal(0, 1))
  find <- function(estimate) {
    ibrc_mode(visits, diag_setting(), diag_models(), prior, estimate = estimate, by = "clinic", resolution = 20,
              starts = 2, conf.level = NULL, seed = 1)
  }
  best <- find("mle")
  row <- glance(best)
  expect_identical(nrow(row), 1L)
  expect_equal(c(row$log_lik, row$n_parameters, row$trajectories, row$visits, row$groups),
               c(as.numeric(logLik(best)), 2, 160, nrow(visits), 2))
  expect_equal(c(row$AIC, row$BIC), c(AIC(best), BIC(best)))
  expect_true(row$converged)
  peak <- glance(find("map"))
  expect_true(is.na(peak$AIC) && is.na(peak$BIC))
  expect_lte(peak$log_lik, row$log_lik)
})
