recipe_fit <- function(...) {
  cached("recipe_fit", ibrc(recipe_visits(), diag_setting(), models_around, recipe_prior(), chains = 2, iter = 120,
                            seed = 1, resolution = 20, ...))
}

test_that("what is believed can be inferred, and everything that looks at a fit takes it", {
  fit <- recipe_fit()
  expect_identical(tidy(fit)$term, c("alpha", "accuracy"))
  expect_true(all(fit$draws$all[, , "accuracy"] > 0 & fit$draws$all[, , "accuracy"] < 1))
  visits <- recipe_visits()
  # Each draw has a problem of its own.
  one <- draws_at(fit, 7L)
  natural <- fit$draws$all[one$.iteration, one$.chain, ]
  plan <- plan_agent(diag_setting(), bounded_agent(natural[["alpha"]]), models_around(natural[["accuracy"]]), 20)
  found <- log_lik_at(fit, one, code_for_fit(visits, fit, "visits"))[1, ]
  expect_close(unname(found), unname(log_lik(plan, visits)), 1e-6)
  expect_identical(dim(log_lik(fit, draws = 5)), c(5L, 60L))
  shown <- predict(fit, visits, draws = 4)
  expect_close(rowSums(shown[diag_setting()$actions]), rep(1, nrow(shown)), 1e-9)
  expect_s3_class(project_behavior(fit), "ibrc_plan")
  expect_true(all(c(".belief_healthy", ".rational") %in% names(belief_paths(fit, visits))))
  expect_false(any(grepl("could not be looked at", verdict(fit)$seen)))
  expect_output(print(fit), "accuracy")
  expect_true("accuracy" %in% names(posterior::as_draws_df(fit)))
  expect_match(meaning_of("accuracy"), "quantity")
})

test_that("modes, profiles and cross-validation take recipes", {
  visits <- recipe_visits()
  mode <- ibrc_mode(visits, diag_setting(), models_around, recipe_prior(), resolution = 20, starts = 2, seed = 1,
                    conf.level = NULL)
  expect_identical(tidy(mode)$term, c("alpha", "accuracy"))
  profile <- profile_likelihood(mode, "accuracy", values = c(0.65, 0.75))
  natural <- cbind(alpha = profile$alpha, accuracy = profile$value)
  expect_close(profile$log_likelihood, one_by_one(mode, prior_unconstrain(mode$prior, natural)), 1e-5)
})

test_that("a tied cost is inferred, and held quantities and defaults are taken", {
  f <- function(cost, scale = 2) costly_clinic(cost / scale)
  inverse <- recipe_inverse(f, NULL, ibrc_prior(alpha ~ lognormal(0, 1)), list(cost = 3), 10)
  expect_identical(inverse$problem$setting$utility[1, "monitor"], -1.5)
  expect_identical(plan_at(inverse, cbind(alpha = 1))$setting$discount, 0.915)
  inverse <- recipe_inverse(f, NULL, ibrc_prior(alpha ~ lognormal(0, 1)), list(cost = 3, scale = 1), 10)
  expect_identical(inverse$problem$setting$utility[1, "monitor"], -3)
  # Arguments of functions of the package are quantities.
  inverse <- recipe_inverse(diag_setting, function(setting, step) perturb_models(setting, by = step),
                            ibrc_prior(alpha ~ lognormal(0, 1), accuracy ~ beta(14, 6), step ~ uniform(0.05, 0.2)),
                            list(), 10)
  expect_identical(inverse$recipe$inferred, c("accuracy", "step"))
})

test_that("groups have quantities of their own, on threads or not", {
  fit <- function(cores) {
    ibrc(clinic_visits(), diag_setting(), models_around, recipe_prior(), by = "clinic", chains = 1, iter = 40, seed = 1,
         resolution = 15, cores = cores, control = ibrc_control(check = FALSE))
  }
  one <- fit(1)
  expect_identical(fit(2)$draws, one$draws)
  expect_identical(names(one$draws), c("north", "south"))
})

test_that("what is wrong with a recipe is said before any work", {
  visits <- recipe_visits()
  refused <- function(setting, models, prior, argument, pattern, fixed = list()) {
    expect_refused(read_inverse(visits, setting, models, prior, fixed, NULL, FALSE), argument, pattern)
  }
  alpha <- ibrc_prior(alpha ~ lognormal(0, 1))
  refused(diag_setting(), models_around, alpha, "models", "`accuracy`, which is neither inferred nor held")
  refused(diag_setting(), function(alpha) models_around(alpha), alpha, "models", "parameter of the agent")
  refused(diag_setting(), diag_models(), recipe_prior(), "accuracy", "not a term")
  refused(diag_setting(), function(setting) diag_models(), recipe_prior(), "accuracy", "neither `setting` nor `models`")
  refused(diag_setting(), function(accuracy) 1, recipe_prior(), "models", "accuracy = 0.7.* returned 1")
  refused(function(accuracy) "x", NULL, recipe_prior(), "setting", "must return a setting")
  refused(diag_setting(), function(accuracy) stop("no such clinic"), recipe_prior(), "models",
          "failed at accuracy = 0.7.*no such clinic")
  refused(diag_setting(), sum, alpha, "models", "named arguments")
  refused(list(a = diag_setting()), models_around, recipe_prior(), "setting", "cannot be a list")
  refused(diag_setting(), models_around, alpha, "fixed", "finite numbers", list(accuracy = "high"))
  changing <- function(accuracy) if (accuracy > 0.7) models_around(accuracy) else own_model(diag_setting())
  refused(diag_setting(), changing, recipe_prior(), "models", "as many models")
  renamed <- function(accuracy) {
    setting <- diag_setting()
    if (accuracy < 0.7) setting$states <- c("well", "ill")
    setting
  }
  refused(renamed, diag_models(), recipe_prior(), "setting", "same states")
})

test_that("a fit with functions is resumed with them, and with no others", {
  path <- tempfile(fileext = ".ibrc")
  on.exit(unlink(path))
  secret <- "planted-secret"
  own <- function(accuracy) if (nchar(secret)) models_around(accuracy)
  run <- function(...) {
    ibrc(recipe_visits(), diag_setting(), own, recipe_prior(), chains = 2, iter = 60, warmup = 30, seed = 1,
         resolution = 15, control = ibrc_control(check = FALSE), ...)
  }
  fit <- run(file = path)
  expect_identical(resume(path, models = models_around, check = FALSE)$draws, fit$draws)
  expect_refused(resume(path), "models", "must be given")
  expect_refused(resume(path, models = models_around, setting = diag_setting), "setting", "not needed")
  expect_refused(resume(path, models = function(accuracy) models_around(accuracy + 0.01)), "models", "not the function")
  # The same at the middle, something else where the chains stand.
  bent <- function(accuracy) models_around(accuracy + (abs(accuracy - 0.7) > 0.02) * 0.05)
  expect_error(resume(path, models = bent), class = "ibrc_error_checkpoint")
  # No function, nor what it closes over, is in the file.
  bytes <- readBin(path, "raw", 1e7)
  expect_false(grepl(secret, rawToChar(bytes[bytes != 0]), fixed = TRUE, useBytes = TRUE))
})

test_that("a fit without models, whose setting is a function, is resumed with the models that it had", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  own <- function(accuracy) diag_setting(accuracy = accuracy)
  fit <- ibrc(recipe_visits(), own, NULL, ibrc_prior(alpha ~ lognormal(0, 1), accuracy ~ beta(14, 6)), chains = 2,
              iter = 40, seed = 1, resolution = 15, file = path)
  expect_identical(resume(path, setting = own)$draws, fit$draws)
})

test_that("a function of the dynamics is asked at every point", {
  asked <- 0
  # Away from the estimate the bonus is worth the same at all beliefs that are easily looked at.
  moving <- function(dynamics) {
    asked <<- asked + 1
    out <- clinic_of(dynamics)
    out$belief_utility <- certainty_bonus(2, above = 0.45 + 0.6 * dynamics$start[[1]])
    out
  }
  capped <- function(dynamics) {
    dynamics$emission[1, , 2] <- c(0, 0, min(dynamics$emission[1, 3, 2], 0.97), max(dynamics$emission[1, 4, 2], 0.03))
    clinic_of(dynamics)
  }
  for (setting in list(moving, capped)) {
    inverse <- ward_inverse(by = NULL, setting = setting)
    expect_false(inverse$recipe$plain)
    evaluator <- joint_evaluator(inverse, dynamics_tree(ward_iohmm(transitions = "shared")), 1, 1L)
    codec <- evaluator$joint$codec
    # Farther from the estimate than functions are looked at before a run.
    fractions <- stats::plogis(outer(c(0.5, -0.5), stats::qlogis(codec$estimate), `+`))
    fractions[, 1] <- c(0.3, 0.85)
    theta <- cbind(stats::qlogis(fractions), log(0.5), 0.3)
    before <- asked
    found <- evaluate_joint(evaluator, theta, matrix(0, 7, 2))$log_likelihood
    if (identical(setting, moving)) expect_identical(asked - before, 2)
    by_hand <- vapply(1:2, function(i) {
      laws <- dynamics_at(codec, vectors_of(codec, fractions[i, , drop = FALSE])[1, ])
      made <- setting(laws)
      plan <- plan_agent(made, bounded_agent(0.5, optimism = 0.3, eta = 0), clinic_step(made), 6, 1e-11)
      .Call(ffi_iohmm_expect, evaluator$joint$tree, iohmm_laws(laws))$log_lik +
        read_histories(plan, inverse$histories[[1]], FALSE)$total
    }, 0)
    expect_close(found, by_hand, 1e-6)
  }
})

test_that("a setting that takes no dynamics, and a failure with much to say, are told in a few words", {
  iohmm <- ward_iohmm(transitions = "shared")
  run <- function(setting) ibrc(ward_visits(), setting, clinic_step, ward_prior(), dynamics = iohmm, resolution = 5)
  fixed <- clinic_of(iohmm)
  error <- expect_error(run(function() fixed), "first argument", class = "ibrc_error_input")
  expect_identical(error$argument, "setting")
  expect_lt(nchar(error$message), 300)
  error <- expect_error(run(function(dynamics) stop(strrep("much ", 1000))), "much", class = "ibrc_error_input")
  expect_lt(nchar(error$message), 400)
})

test_that("a prior whose middle R cannot work out is refused, once and without R's own warning", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), accuracy ~ beta(1e-8, 1e-8))
  expect_no_warning(expect_refused(ibrc(recipe_visits(), diag_setting(), models_around, prior, resolution = 5),
                                   "accuracy", "ends of its range"))
})
