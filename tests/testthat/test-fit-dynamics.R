test_that("held dynamics are the fit in two steps", {
  iohmm <- ward_iohmm(transitions = "shared")
  run <- function(setting, models, ...) {
    ibrc(ward_visits(), setting, models, ward_prior(), list(eta = 0), chains = 1, iter = 30, seed = 1, resolution = 6,
         control = ibrc_control(check = FALSE), ...)
  }
  setting <- clinic_of(iohmm)
  expect_identical(run(clinic_of, clinic_step, dynamics = iohmm, uncertainty = "none")$draws,
                   run(setting, clinic_step(setting))$draws)
})

test_that("joint draws do not depend on threads, and repeat", {
  run <- function(cores) {
    suppressWarnings(ibrc(ward_visits(), clinic_of, clinic_step, ibrc_prior(alpha ~ lognormal(0, 1)),
                          list(eta = 0, optimism = 0.5), chains = 2, iter = 20, warmup = 10, seed = 1, resolution = 5,
                          cores = cores, dynamics = ward_iohmm(transitions = "shared"),
                          control = ibrc_control(check = FALSE)))
  }
  one <- run(1)
  two <- run(2)
  expect_identical(two$draws, one$draws)
  expect_identical(two$dynamics$draws, one$dynamics$draws)
})

test_that("draws of the dynamics without the actions are pooled", {
  expect_identical(cut_draws, 20L)
  fit <- ward_cut()
  expect_identical(names(fit$draws), c("east", "west"))
  expect_identical(dim(fit$draws$east), c(30L, 6L, 2L))
  # Chains of one draw share their dynamics.
  laws <- fit$dynamics$draws
  expect_identical(laws[1, 1, ], laws[30, 2, ])
  expect_false(identical(laws[1, 1, ], laws[1, 3, ]))
  variance <- cut_variance(fit)
  expect_identical(variance$term, rep(c("alpha", "optimism"), 2))
  expect_true(all(variance$within > 0 & variance$between > 0))
  expect_output(print(fit), "Variance within draws of the dynamics")
  expect_match(format(fit), "2 chains of 60 steps, 30 of them warm-up, under each of 3 draws of the dynamics")
  expect_identical(dim(log_lik(fit, draws = 3)), c(3L, 60L))
  expect_match(paste(verdict(fit)$seen, collapse = " "), "without the actions")
  # Its chains are those of several fits: nothing that could be gone on with.
  expect_refused(extend_fit(fit), "fit", "fit again with more steps")
  expect_refused(update(fit), "object", "extend_fit")
})

test_that("what does not go with learned dynamics is refused", {
  iohmm <- ward_iohmm(transitions = "shared")
  run <- function(...) ibrc(ward_visits(), ..., prior = ward_prior(), fixed = list(eta = 0), resolution = 5)
  expect_refused(run(clinic_of, clinic_step, dynamics = 1), "dynamics")
  expect_refused(run(clinic_of, clinic_step, dynamics = iohmm, uncertainty = "both"), "uncertainty")
  expect_refused(run(list(a = clinic_of(iohmm)), clinic_step, dynamics = iohmm), "setting", "cannot be a list")
  expect_refused(run(diag_setting(), NULL, dynamics = iohmm), "dynamics", "states of the setting")
  expect_refused(run(clinic_of, clinic_step, dynamics = iohmm, file = tempfile()), "file", "yet")
  expect_refused(run(clinic_of, clinic_step, dynamics = iohmm, control = list(sampler = "paper")), "sampler")
  expect_refused(run(clinic_of, clinic_step, dynamics = iohmm, control = list(start = ward_fit())), "start", "the top")
  bare <- iohmm
  bare["coded"] <- list(NULL)
  expect_refused(run(clinic_of, clinic_step, dynamics = bare), "dynamics", "keep_data")
})

test_that("a joint fit goes on where it stands", {
  run <- function(iter) {
    suppressWarnings(ibrc(ward_visits(), clinic_of, clinic_step, ibrc_prior(alpha ~ lognormal(0, 1)),
                          list(eta = 0, optimism = 0.5), chains = 2, iter = iter, warmup = 10, seed = 1, resolution = 5,
                          dynamics = ward_iohmm(transitions = "shared"), control = ibrc_control(check = FALSE)))
  }
  longer <- suppressWarnings(extend_fit(run(20), 15, control = ibrc_control(check = FALSE)))
  whole <- run(35)
  expect_identical(longer$draws, whole$draws)
  expect_identical(longer$dynamics$draws, whole$dynamics$draws)
  expect_refused(extend_fit(longer, 5, file = tempfile()), "file", "yet")
})
