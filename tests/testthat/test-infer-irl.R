test_that("the entries of stop actions are free, by the same constructor", {
  setting <- diag_setting()
  prior <- irl_prior(setting, sd = 10)
  expect_identical(prior, ibrc_prior(
    utility(healthy, declare_healthy) ~ normal(0, 10), utility(diseased, declare_healthy) ~ normal(0, 10),
    utility(healthy, declare_diseased) ~ normal(0, 10), utility(diseased, declare_diseased) ~ normal(0, 10)
  ))
  expect_identical(irl_prior(setting), prior)
  # In other units of utility the default follows.
  cents <- setting
  cents$utility <- 100 * setting$utility
  expect_identical(irl_prior(cents)[[1]]$args[["sd"]], 1000)
})

test_that("entries can be given, and further terms added", {
  setting <- diag_setting()
  one <- data.frame(state = "healthy", action = "monitor")
  more <- irl_prior(setting, 5, alpha ~ lognormal(0, 1), entries = one)
  expect_named(more, c("utility[healthy,monitor]", "alpha"))
  expect_identical(irl_prior(setting, 5, mean = 2, entries = one)[[1]]$args, c(mean = 2, sd = 5))
  refused <- function(...) expect_error(irl_prior(...), class = "ibrc_error_input")
  refused(setting, 0)
  refused(setting, entries = data.frame(state = "ill", action = "monitor"))
  refused(setting, entries = data.frame(state = "healthy"))
  refused(setting, entries = rbind(one, one))
  refused(1)
  no_stop <- decision_setting(setting$states, setting$actions, setting$observations, setting$transition,
                              setting$emission, setting$utility, discount = 0.9, start = setting$start)
  refused(no_stop)
})

test_that("Bayesian inverse reinforcement learning hardly tells the optimist from the non-adaptive", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  ratio <- function(agent) {
    fit <- fit_irl(agent, irl_prior(diag_setting()), n = 1000, iter = 2000)
    cost_benefit(fit)
  }
  optimist <- ratio(bounded_agent(alpha = 0.5, beta = 1.25, eta = 1e-3))
  fixed_mind <- ratio(bounded_agent(alpha = 0.5, beta = 1e3, eta = 75))
  expect_close(optimist$estimate, -2.7, 0.15)
  expect_close(fixed_mind$estimate, -2.5, 0.15)
})

test_that("where the setting gives no scale or no stop action, the user is asked", {
  flat <- diag_setting()
  flat$utility[] <- 0
  error <- expect_error(irl_prior(flat), class = "ibrc_error_input")
  expect_identical(error$argument, "sd")
  expect_identical(irl_prior(flat, 3)[[1]]$args[["sd"]], 3)
  stated <- stated_entries(diag_setting())
  error <- expect_error(check_utility_terms(NULL, stated, rep(FALSE, nrow(stated)), "benefit"),
                        class = "ibrc_error_input")
  expect_identical(error$argument, "benefit")
})
