test_that("the default covers the paper's agents and follows the utility's units", {
  setting <- diag_setting()
  prior <- default_prior(setting)
  expect_identical(validate_ibrc_prior(prior, setting), prior)
  limits <- prior_quantile(prior, c(0.025, 0.975))
  inside <- function(term, x) all(x > limits[1, term] & x < limits[2, term])
  expect_true(inside("alpha", c(1e-3, 0.5, 10, 46)))
  expect_true(inside("optimism", 1 / c(1.25, -0.75, 1000)))
  expect_true(inside("eta", c(1e-3, 75)))
  scaled <- setting
  scaled$utility <- 10 * setting$utility + 3
  expect_equal(prior_quantile(default_prior(scaled), 0.9), prior_quantile(prior, 0.9) * c(10, 0.1, 10))
  scaled$utility[] <- 1
  expect_refused(default_prior(scaled), "prior", "worth the same")
})

test_that("the default leaves out what is held, and optimism where there is one model", {
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, bounded_agent(0.5), resolution = 5), 20, seed = 1)
  terms <- function(models, ..., fit = ibrc) {
    extra <- if (identical(fit, ibrc)) list(chains = 1, iter = 4) else list(starts = 1, conf.level = NULL)
    prior_terms(do.call(fit, c(list(visits, setting, models, seed = 1, resolution = 5, ...), extra))$prior)
  }
  expect_silent(many <- terms(diag_models()))
  expect_identical(many, c("alpha", "optimism", "eta"))
  expect_silent(held <- terms(diag_models(), fixed = list(adaptivity = Inf)))
  expect_identical(held, c("alpha", "optimism"))
  expect_message(one <- terms(NULL), "perturb_models")
  expect_identical(one, c("alpha", "eta"))
  expect_message(one <- terms(NULL, fit = ibrc_mode), "perturb_models")
  expect_identical(one, c("alpha", "eta"))
  expect_silent(stated <- terms(NULL, fixed = list(optimism = 0)))
  expect_identical(stated, c("alpha", "eta"))
  expect_refused(ibrc(visits, setting, fixed = list(alpha = 1, eta = 0)), "prior", "held by `fixed`")

  asked <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
  expect_warning(terms(NULL, prior = asked), "posterior of optimism will be its prior",
                 class = "ibrc_warning_one_model")
  expect_warning(terms(NULL, prior = asked, fit = ibrc_mode), class = "ibrc_warning_one_model")
  expect_silent(terms(diag_models(), prior = asked))
  both <- list(a = diag_models(), b = diag_models(0.7))
  expect_false(is_one_model(both))
  expect_true(is_one_model(both["b"]))
})
