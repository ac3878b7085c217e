setting <- diag_setting()
models <- diag_models()
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
visits <- simulate(plan_agent(setting, bounded_agent(0.5), models, resolution = 10), 10, seed = 1)

fit_briefly <- function(..., iter = 20) {
  suppressWarnings(ibrc(visits, setting, models, prior, chains = 2, iter = iter, seed = 1, resolution = 10, ...))
}

refused <- function(code, message, argument) {
  error <- expect_error(code, message, class = "ibrc_error_input")
  expect_identical(error$argument, argument)
  error
}

test_that("a control has an entry for each argument, and the defaults that the help page names", {
  control <- ibrc_control()
  expect_s3_class(control, "ibrc_control", exact = TRUE)
  expect_named(control, names(formals(ibrc_control)))
  expect_identical(unclass(control)[names(control) != "check"],
                   list(tolerance = 1e-8, interpolate = "value", surprise = "belief", sampler = "adaptive", thin = 1L,
                        start = NULL, keep_data = TRUE, overwrite = FALSE, max_iter = NULL, cells = "auto"))
  withr::local_options(ibrc.check = TRUE)
  expect_true(ibrc_control()$check)
  withr::local_options(ibrc.check = FALSE)
  expect_false(ibrc_control()$check)
})

test_that("a wrong value is refused by the name of its argument", {
  wrong <- list(tolerance = 0, interpolate = "linear", surprise = NA, sampler = "gibbs", thin = 0.5, start = "here",
                keep_data = 1, overwrite = NA, check = "yes", max_iter = 1, cells = "few")
  expect_named(wrong, names(formals(ibrc_control)))
  for (name in names(wrong)) {
    expect_identical(refused(do.call(ibrc_control, wrong[name]), name, name)$topic, "ibrc_control")
    refused(fit_briefly(control = wrong[name]), name, name)
    refused(ibrc_mode(visits, setting, models, prior, control = wrong[name]), name, name)
  }
  refused(ibrc_control(start = mean), "must be a data frame", "start")
})

test_that("a control is printed in words, with nothing of the data that chains may start from", {
  expect_snapshot(ibrc_control(check = TRUE))
  expect_snapshot(ibrc_control(1e-6, "policy", "observation", "paper", 10, data.frame(alpha = 1), FALSE, TRUE, FALSE))
  expect_match(format(ibrc_control(start = data.frame(alpha = 1:2)))[7], "start +given +one row per chain")
  expect_match(format(ibrc_control(start = fit_briefly()))[7],
               "start +a fit +chains start where those of the fit ended")
})

test_that("a list of some entries means the same, and an altered control is looked at again", {
  whole <- fit_briefly(control = ibrc_control(thin = 2, sampler = "paper"))
  expect_identical(fit_briefly(control = list(thin = 2, sampler = "paper")), whole)
  expect_identical(dim(whole$draws$all), c(5L, 2L, 1L))
  expect_identical(fit_briefly(control = NULL)$draws, fit_briefly()$draws)
  expect_identical(fit_briefly(control = list())$draws, fit_briefly()$draws)
  altered <- ibrc_control()
  altered$thin <- -1
  refused(fit_briefly(control = altered), "whole number", "thin")
  refused(fit_briefly(control = list(thinn = 2)), "no entry `thinn`. Did you mean `thin`?", "control")
  refused(fit_briefly(control = list(nobody = 2)), "no entry `nobody`[.]\nSee [?]ibrc_control", "control")
  refused(fit_briefly(control = list(2)), "without a name", "control")
  refused(fit_briefly(control = list(thin = 2, thin = 3)), "twice", "control")
  refused(fit_briefly(control = 10), "must come from ibrc_control\\(\\)", "control")
  refused(fit_briefly(control = data.frame(thin = 2)), "must come from ibrc_control\\(\\)", "control")
})

test_that("an argument that has moved says what to write instead, and nothing given is evaluated", {
  said <- refused(ibrc(thin = 10), "control = ibrc_control\\(thin = 10\\)", "thin")
  expect_identical(said$topic, "ibrc_control")
  moved <- names(formals(ibrc_control))
  for (name in moved) {
    call <- as.call(stats::setNames(list(quote(ibrc), quote(stop("evaluated"))), c("", name)))
    refused(eval(call), paste0("write control = ibrc_control\\(", name, " = stop\\(\"evaluated\"\\)\\)[.]"), name)
  }
  refused(fit_briefly(sampler = "paper", start = data.frame(alpha = 1)),
          "ibrc_control\\(sampler = \"paper\", start = data.frame\\(alpha = 1\\)\\)", "sampler")
  for (name in c("tolerance", "interpolate", "surprise")) {
    refused(do.call(ibrc_mode, stats::setNames(list(1), name)), sprintf("not of ibrc_mode.*[(]%s = 1[)]", name), name)
  }
  # Long code, and what code has made, is not repeated.
  refused(do.call(ibrc, list(start = data.frame(alpha = 123456))), "ibrc_control\\(start = \\)", "start")
  refused(ibrc(start = data.frame(alpha = c(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))),
          "ibrc_control\\(start = \\)", "start")
})

test_that("what was never an argument is refused, with the one that was meant if that is near", {
  refused(fit_briefly(itter = 10), "`itter` is not an argument of ibrc\\(\\). Did you mean `iter`?", "itter")
  refused(fit_briefly(tol = 1), "Did you mean `tolerance` of ibrc_control\\(\\)?", "tol")
  refused(fit_briefly(nobody = 1), "`nobody` is not an argument of ibrc\\(\\)[.]\nSee [?]ibrc[.]", "nobody")
  refused(ibrc_mode(visits, setting, models, prior, thin = 1), "is not an argument of ibrc_mode", "thin")
  many <- c(list(visits, setting, models, prior), rep(list(NULL), length(formals(ibrc)) - 4))
  refused(do.call(ibrc, many), "must be empty", "...")
})

test_that("a fit and a mode have the control that another can be computed alike with", {
  control <- ibrc_control(1e-6, "policy", "observation", "paper", 2, data.frame(alpha = 1), keep_data = FALSE)
  path <- withr::local_tempfile(fileext = ".ibrc")
  fit <- fit_briefly(control = control, file = path)
  kept <- fit$control
  expect_identical(kept[names(kept) != "start"], control[names(control) != "start"])
  expect_null(kept$start)
  expect_identical(resume(path)$control, kept)
  kept$start <- fit$start
  expect_identical(fit_briefly(control = kept)$draws, fit$draws)
  mode <- suppressWarnings(ibrc_mode(visits, setting, models, prior, resolution = 10, starts = 1, conf.level = NULL,
                                     seed = 1, control = control))
  same <- c("tolerance", "interpolate", "surprise")
  expect_identical(mode$control[same], unclass(control)[same])
})
