test_that("a prior is summarised by its quantiles", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 2), optimism ~ normal(0, 1, lower = 0))
  table <- prior_summary(prior)
  expect_named(table, c("term", "distribution", "q2.5", "median", "q97.5"))
  expect_identical(table$term, c("alpha", "optimism"))
  expect_identical(table$distribution, c("lognormal(0, 2)", "normal(0, 1, lower = 0)"))
  p <- c(0.025, 0.5, 0.975)
  expect_close(unlist(table[1, 3:5]), stats::qlnorm(p, 0, 2), 1e-10)
  expect_close(unlist(table[2, 3:5]), stats::qnorm(0.5 + p / 2), 1e-10)
})

test_that("a fit's is that of its prior, the defaults and utility entries too", {
  fit <- structure(list(prior = default_prior(diag_setting())), class = "ibrc_fit")
  expect_identical(prior_summary(fit), prior_summary(default_prior(diag_setting())))
  expect_identical(prior_summary(irl_prior(diag_setting()))$distribution, rep("normal(0, 10)", 4))
  expect_error(prior_summary(fit, 2), class = "ibrc_error_input")
})

test_that("correlations of random intercepts have their rows", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), eta ~ lognormal(0, 1))
  summary_of <- function(effects) {
    design <- design_of(effects, prior = prior)$design
    prior_summary(structure(list(prior = prior, problem = list(setting = diag_setting()), effects = design),
                            class = "ibrc_fit"))
  }
  two <- summary_of(list(alpha ~ (1 | p | clinician), optimism ~ (1 | p | clinician)))
  expect_identical(two$term[6], "cor(alpha,optimism|clinician)")
  expect_identical(two$distribution[6], "lkj(2)")
  # The density of one correlation is proportional to 1 - r^2: below r, (2 + 3 r - r^3) / 4.
  r <- two$q97.5[6]
  expect_close((2 + 3 * r - r^3) / 4, 0.975, 1e-10)
  expect_identical(two$q2.5[6], -r)
  # Of three that are tied each has a density proportional to (1 - r^2)^(3 / 2).
  three <- summary_of(list(alpha ~ (1 | p | site), optimism ~ (1 | p | site), eta ~ (1 | p | site)))
  expect_identical(sum(three$distribution == "lkj(2)"), 3L)
  density <- function(r) (1 - r^2)^1.5
  below <- stats::integrate(density, -1, three$q97.5[7])$value / stats::integrate(density, -1, 1)$value
  expect_close(below, 0.975, 1e-6)
})

test_that("anything else is refused, or goes to the generic of the same name", {
  for (other in list(1, tiger_setting(), list(a = 1))) {
    expect_error(prior_summary(other), "ibrc\\(\\)", class = "ibrc_error_input")
    expect_error(prior_summary(other, digits = 3), "ibrc\\(\\)", class = "ibrc_error_input")
  }
  skip_if_not_installed("rstantools")
  known <- structure(list(prior.info = "normal"), class = "another_fit")
  expect_identical(prior_summary(known), "normal")
  expect_identical(prior_summary(known, digits = 3), "normal")
})

test_that("a mode has the prior that it was found with", {
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, bounded_agent(0.5), resolution = 10), 20, seed = 1)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1))
  find <- function(...) ibrc_mode(visits, setting, prior = prior, resolution = 10, starts = 1, seed = 1, ...)
  expect_identical(prior_summary(find()), prior_summary(prior))
  expect_error(prior_summary(find(estimate = "mle")), "without a prior", class = "ibrc_error_input")
})
