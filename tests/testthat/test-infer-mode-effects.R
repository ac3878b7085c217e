setting <- diag_setting()
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
visits <- local({
  plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
  each <- lapply(c(a = 0.2, b = 0.8), function(optimism) {
    as.data.frame(simulate(update(plan, bounded_agent(alpha = 0.5, optimism = optimism)), 40, seed = 1))
  })
  both <- rbind(cbind(each$a, arm = "a"), cbind(each$b, arm = "b"))
  both$id <- paste(both$arm, both$id)
  trajectories(both, id = "id", time = "time", action = "action", observation = "observation", covariates = "arm")
})
top <- function(...) ibrc_mode(visits, setting, diag_models(), prior, resolution = 10, starts = 2, seed = 1, ...)

test_that("coefficients of every term by group are the modes of groups by themselves", {
  apart <- top(by = "arm", estimate = "mle")
  joined <- top(effects = list(alpha ~ arm, optimism ~ arm), estimate = "mle")
  a <- coef(apart)
  b <- coef(joined)
  expect_equal(b[["alpha"]], a[["alpha[a]"]], tolerance = 1e-3)
  expect_equal(b[["alpha[armb]"]], log(a[["alpha[b]"]] / a[["alpha[a]"]]), tolerance = 1e-2)
  expect_equal(b[["optimism[armb]"]], a[["optimism[b]"]] - a[["optimism[a]"]], tolerance = 1e-2)
  expect_equal(as.numeric(logLik(joined)), as.numeric(logLik(apart)), tolerance = 1e-6)
  expect_identical(attr(logLik(joined), "df"), 4L)
  expect_equal(sum(log_lik(joined)), as.numeric(logLik(joined)), tolerance = 1e-6)
  expect_equal(rowSums(predict(joined)), rep(1, nrow(visits)), ignore_attr = TRUE)
  expect_identical(glance(joined)$groups, 2L)
  expect_output(print(joined), "people who differ (2 cells)", fixed = TRUE)
})

test_that("a mode of random intercepts is refused, with what to do", {
  expect_refused(top(effects = list(optimism ~ (1 | arm))), "effects", "ibrc()")
})

test_that("the density is that of the cells, and the prior that of the coefficients", {
  read <- top(effects = list(optimism ~ arm), conf.level = NULL)
  inverse <- c(unclass(read)[c("problem", "problems", "recipe", "histories", "prior", "fixed", "tolerance", "effects")])
  evaluator <- effects_evaluator(inverse, 1L)
  theta <- rbind(c(log(0.5), 0.1, 0.3), c(log(0.4), 0.5, -0.2))
  found <- evaluate_batch(evaluator, theta, matrix(0, evaluator$n_values, 2))
  cells <- evaluate_batch(evaluator$agent, rbind(c(log(0.5), 0.1), c(log(0.5), 0.4)),
                          matrix(0, evaluator$agent$n_values, 2), 1:2)
  expect_equal(found$log_likelihood[1], sum(cells$log_likelihood), tolerance = 1e-8)
  slope <- inverse$effects$prior[[1]]$args[["sd"]]
  wanted <- dnorm(theta[, 1], 0, 1, TRUE) + dnorm(theta[, 2], 0, 1, TRUE) + dnorm(theta[, 3], 0, slope, TRUE)
  expect_equal(found$log_prior, wanted, tolerance = 1e-8)
})
