test_that("held dynamics are the fit in two steps", {
  iohmm <- ward_iohmm(transitions = "shared")
  run <- function(setting, models, ...) {
    ibrc(ward_visits(), setting, models, ward_prior(), list(eta = 0), chains = 1, iter = 30, seed = 1, resolution = 6,
         control = ibrc_control(check = FALSE), ...)
  }
  setting <- clinic_of(iohmm)
  held <- run(clinic_of, clinic_step, dynamics = iohmm, uncertainty = "none")
  expect_identical(held$draws, run(setting, clinic_step(setting))$draws)
  # They were learned, whoever made the setting of them.
  for (fit in list(held, run(setting, clinic_step(setting), dynamics = iohmm, uncertainty = "none"))) {
    expect_identical(as.character(dynamics_rows(fit)$verdict), "caution")
  }
})

# A run of one group, 20 steps of which 10 are warm-up.
small_run <- function(..., iter = 20, warmup = 10, control = ibrc_control()) {
  suppressWarnings(ibrc(ward_visits(), clinic_of, clinic_step, ibrc_prior(alpha ~ lognormal(0, 1)),
                        list(eta = 0, optimism = 0.5), chains = 2, iter = iter, warmup = warmup, seed = 1,
                        resolution = 5, dynamics = ward_iohmm(transitions = "shared"), control = control, ...))
}

# The top of these runs is climbed to once, by the first of them.
recall_climb <- function(frame = parent.frame()) {
  short_climb(frame)
  real <- joint_top
  local_replacement("joint_top", function(...) cached("small_top", real(...)), frame)
}

small_joint <- function() {
  recall_climb()
  cached("small_joint", small_run())
}

go_on <- function(path, ...) {
  suppressWarnings(suppressMessages(resume(path, setting = clinic_of, models = clinic_step, ...)))
}

# All that a fit is made of.
expect_same_fit <- function(fit, like) {
  for (part in names(like)) {
    same <- identical(fit[[part]], like[[part]], ignore.environment = TRUE, ignore.bytecode = TRUE,
                      ignore.srcref = TRUE)
    testthat::expect_true(same, label = part)
  }
}

# A run that keeps the checkpoints of these steps.
keep_checkpoints <- function(steps, run = small_run, frame = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = frame)
  path <- file.path(folder, "fit.ibrc")
  fit <- withCallingHandlers(run(file = path, refresh = 1), message = function(m) {
    at <- steps[startsWith(conditionMessage(m), paste("step", steps + 1, ""))]
    if (length(at)) file.copy(path, file.path(folder, paste0(at, ".ibrc")))
    invokeRestart("muffleMessage")
  })
  list(fit = fit, last = path, path = file.path(folder, paste0(steps, ".ibrc")))
}

# Interrupts chains after a step, as Ctrl-C would.
interrupt_after <- function(name, step, frame = parent.frame()) {
  real <- get(name, asNamespace("ibrc"))
  local_replacement(name, function(state, log_density) {
    if (state$iteration == step) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    real(state, log_density)
  }, frame)
}

test_that("joint draws do not depend on threads, nor on a plan for processes, and repeat", {
  one <- small_joint()
  short_climb()
  local_replacement("can_spread", function() TRUE)
  two <- small_run(cores = 2)
  expect_identical(two$draws, one$draws)
  expect_identical(two$dynamics$draws, one$dynamics$draws)
})

test_that("a joint run that was stopped after any step goes on to the same fit", {
  unbroken <- small_joint()
  recall_climb()
  kept <- keep_checkpoints(c(0, 1, 9, 10, 11, 19))
  expect_identical(kept$fit$draws, unbroken$draws)
  copy <- withr::local_tempfile(fileext = ".ibrc")
  for (path in kept$path) {
    file.copy(path, copy, overwrite = TRUE)
    fit <- go_on(copy, refresh = 0)
    expect_identical(fit$draws, unbroken$draws, label = basename(path))
    expect_identical(fit$dynamics, unbroken$dynamics)
  }
  expect_same_fit(go_on(kept$last, refresh = 0)[names(unbroken) != "run"],
                  unbroken[names(unbroken) != "run"])

  # Interrupted again on its way: in warm-up there are no draws yet, later there are some.
  local({
    interrupt_after("walk_step", 5)
    expect_error(go_on(kept$path[2]), "in warm-up, at step 5", class = "ibrc_error_interrupted")
  })
  expect_identical(iteration_of(read_checkpoint(kept$path[2])$contents$chain), 5L)
  part <- local({
    interrupt_after("walk_step", 16)
    go_on(kept$path[2])
  })
  expect_true(part$interrupted)
  expect_identical(part$draws$all, unbroken$draws$all[1:6, , , drop = FALSE])
  expect_identical(go_on(kept$path[2])$draws, unbroken$draws)
})

test_that("another run's file is refused before the climb, and an interrupt there is said by its class", {
  recall_climb()
  kept <- keep_checkpoints(8)
  file.rename(kept$path, kept$last)
  local_replacement("joint_top", function(...) {
    stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  })
  error <- expect_error(small_run(file = kept$last, control = ibrc_control(tolerance = 1e-7)),
                        class = "ibrc_error_checkpoint")
  expect_identical(error$parts, "model")
  expect_error(small_run(file = kept$last), "before its first step", class = "ibrc_error_interrupted")
  expect_identical(iteration_of(read_checkpoint(kept$last)$contents$chain), 8L)
})

test_that("a joint run without a number of steps grows, and is taken up from before and after it grew", {
  recall_climb()
  local_replacement("least_iter", 20L)
  local_replacement("are_settled", function(fit) FALSE)
  grown <- function(...) small_run(iter = NULL, control = ibrc_control(max_iter = 28), ...)
  kept <- keep_checkpoints(c(15, 19, 20, 24, 26), grown)
  expect_identical(kept$fit$run$iter, 28L)
  expect_identical(kept$fit$draws$all[1:10, , , drop = FALSE], small_joint()$draws$all)
  for (path in c(kept$path, kept$last)) expect_identical(go_on(path, refresh = 0)$draws, kept$fit$draws)
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
  expect_match(paste(standing_verdict(fit)$seen, collapse = " "), "without the actions")
  # Its chains are those of several fits: nothing that could be gone on with.
  expect_refused(extend_fit(fit), "fit", "fit again with more steps")
  expect_refused(update(fit), "object", "extend_fit")
})

test_that("the seed of a pooled fit that was given none gives its draws again", {
  local_replacement("cut_draws", 2L)
  run <- function(seed = NULL) {
    suppressWarnings(ibrc(ward_visits(), clinic_of, clinic_step, ibrc_prior(alpha ~ lognormal(0, 1)), list(eta = 0),
                          chains = 1, iter = 8, warmup = 4, resolution = 4, seed = seed, uncertainty = "cut",
                          dynamics = ward_iohmm(transitions = "shared"), control = ibrc_control(check = FALSE)))
  }
  withr::local_seed(7)
  first <- run()
  # The session's generator moves on by one draw.
  after <- stats::runif(1)
  expect_identical(after, with_seed(7, stats::runif(2))[2])
  again <- run(first$seed)
  expect_identical(again$draws, first$draws)
  expect_identical(again$dynamics$draws, first$dynamics$draws)
})

test_that("what does not go with learned dynamics is refused", {
  iohmm <- ward_iohmm(transitions = "shared")
  run <- function(...) ibrc(ward_visits(), ..., prior = ward_prior(), fixed = list(eta = 0), resolution = 5)
  expect_refused(run(clinic_of, clinic_step, dynamics = 1), "dynamics")
  expect_refused(run(function(dynamics) clinic_of(dynamics), clinic_step), "dynamics", "dynamics = fit_iohmm")
  expect_refused(run(clinic_of, clinic_step, dynamics = iohmm, uncertainty = "both"), "uncertainty")
  expect_refused(run(list(a = clinic_of(iohmm)), clinic_step, dynamics = iohmm), "setting", "cannot be a list")
  expect_refused(run(diag_setting(), NULL, dynamics = iohmm), "dynamics", "states of the setting")
  expect_refused(run(clinic_of, clinic_step, dynamics = iohmm, control = list(sampler = "paper")), "sampler")
  expect_refused(run(clinic_of, clinic_step, dynamics = iohmm, control = list(start = small_joint())), "start",
                 "the top")
  for (uncertainty in c("joint", "cut")) {
    expect_refused(run(clinic_of, clinic_step(clinic_of(iohmm)), dynamics = iohmm, uncertainty = uncertainty), "models",
                   "a function of the setting")
  }
  bare <- iohmm
  bare["coded"] <- list(NULL)
  # Before any table is built.
  local_replacement("build_inverse", function(...) stop("work was begun"))
  for (uncertainty in c("joint", "cut")) {
    expect_refused(run(clinic_of, clinic_step, dynamics = bare, uncertainty = uncertainty), "dynamics", "keep_data")
  }
})

test_that("models that do not differ with the laws are refused where laws are inferred, and taken where held", {
  iohmm <- ward_iohmm(transitions = "shared")
  run <- function(models, uncertainty = "joint", prior = ward_prior()) {
    ibrc(ward_visits(), clinic_of, models, prior, list(eta = 0), chains = 1, iter = 4, warmup = 2, seed = 1,
         resolution = 4, dynamics = iohmm, uncertainty = uncertainty, control = ibrc_control(check = FALSE))
  }
  stated <- clinic_step(clinic_of(iohmm))
  still <- list(function(setting) stated, function() stated, function(setting, step = 0.2) {
    perturb_models(clinic_of(clinic_truth()), by = step)
  })
  for (models in still) {
    for (uncertainty in c("joint", "cut")) expect_refused(run(models, uncertainty), "models", "under other laws")
    expect_s3_class(run(models, "none"), "ibrc_fit")
  }
  # A quantity moves models, and laws do not.
  priced <- ibrc_prior(alpha ~ lognormal(0, 1), step ~ beta(8, 32))
  expect_refused(run(still[[3]], prior = priced), "models", "under other laws")
  # One law of several is enough.
  follows <- function(models) {
    read_inverse(ward_visits(), clinic_of, models, priced, list(eta = 0, optimism = 0), NULL, FALSE, iohmm,
                 TRUE)$recipe$follows
  }
  expect_true(follows(function(setting, step) {
    emission <- clinic_truth()$emission
    model_prior(list(list(transition = setting$transition, emission = emission), setting[c("transition", "emission")]))
  }))
  expect_false(follows(function(setting, step) still[[3]](setting, step)))
})

test_that("states that go by the wrong names are told", {
  iohmm <- ward_iohmm(transitions = "shared")
  stated <- clinic_of(clinic_truth())
  expect_silent(check_dynamics(iohmm, stated))
  # The same laws, called the other way round.
  turned <- iohmm
  turned[c("transition", "emission", "start")] <- relabel(iohmm, iohmm_laws(iohmm), 2:1)
  warning <- expect_warning(check_dynamics(turned, stated), class = "ibrc_warning_states")
  expect_match(conditionMessage(warning), "what it calls \"ill\" shows what \"well\" does")
  expect_match(conditionMessage(warning), "`sort_by`")
  expect_warning(ibrc(ward_visits(), stated, clinic_step, ward_prior(), list(eta = 0), chains = 1, iter = 4, warmup = 2,
                      seed = 1, resolution = 4, dynamics = turned, uncertainty = "none",
                      control = ibrc_control(check = FALSE)), "another order", class = "ibrc_warning_states")
  # Laws that say nothing about which state is which are no reason to warn.
  vague <- stated
  vague$emission[] <- rep(colMeans(stated$emission), each = 2)
  vague$transition[] <- 0.5
  expect_silent(check_dynamics(turned, vague))
})

test_that("three states in a circle are told by what they show", {
  laws <- list(states = c("a", "b", "c"), transition = array(diag(3), c(3, 3, 1)),
               emission = array(0.1 + 0.7 * diag(3), c(3, 3, 1)))
  learned <- c(laws, list(counts = laws["transition"]))
  learned$emission <- laws$emission[c(2, 3, 1), , , drop = FALSE]
  expect_identical(best_matching(-state_distances(learned, laws)), c(3L, 1L, 2L))
  expect_warning(warn_other_states(learned, laws), "what it calls \"c\" shows what \"a\"")
  laws$emission <- learned$emission
  expect_silent(warn_other_states(learned, laws))
})

test_that("what differs from the setting is named, with what to do", {
  stated <- clinic_of(clinic_truth())
  told <- function(dynamics) {
    conditionMessage(expect_error(check_dynamics(dynamics, stated), class = "ibrc_error_input"))
  }
  learn <- function(...) fit_iohmm(ward_visits(), 2, starts = 1, seed = 1, transitions = "shared", ...)
  text <- told(learn())
  for (part in c("it has \"state1\" and \"state2\"", "and the setting has \"well\" and \"ill\"", "`names`",
                 "`sort_by`")) {
    expect_match(text, part, fixed = TRUE)
  }
  text <- told(learn(names = c("well", "ill"), actions = c("test", "wait")))
  expect_match(text, "it has \"test\" and \"wait\", and the setting has \"wait\" and \"test\". Learn it with `actions`",
               fixed = TRUE)
})

test_that("laws whose names clash are refused where they are told apart by name", {
  data <- as.data.frame(ward_visits())
  data$age <- ifelse(data$id %% 2 == 0, "a", "a,b")
  visits <- trajectories(data, covariates = "age", setting = clinic_of(clinic_truth()))
  learn <- function(names, ...) {
    fit_iohmm(visits, 2, starts = 1, prior = 1, seed = 1, names = names, actions = c("wait", "test"),
              observations = c("calm", "bad", "neg", "pos"), transitions = "shared", ...)
  }
  clash <- learn(c("b,c", "c"), start_by = "age")
  run <- function(dynamics, uncertainty) {
    ibrc(visits, clinic_of, clinic_step, ward_prior(), list(eta = 0), chains = 1, iter = 4, warmup = 2, seed = 1,
         resolution = 4, dynamics = dynamics, uncertainty = uncertainty, control = ibrc_control(check = FALSE))
  }
  for (uncertainty in c("joint", "cut")) expect_refused(run(clash, uncertainty), "dynamics", "start\\[a,b,c\\]")
  expect_s3_class(run(clash, "none"), "ibrc_fit")
  expect_refused(run(learn(c("well", "well|rest")), "joint"), "dynamics", "without commas")
  # Commas alone do no harm.
  expect_silent(refuse_same_names(learn(c("b,c", "c"))))
})

test_that("a joint fit goes on where it stands, with a file as well", {
  short <- small_joint()
  path <- withr::local_tempfile(fileext = ".ibrc")
  more <- function(...) suppressWarnings(suppressMessages(extend_fit(short, 15, ...)))
  longer <- more()
  recall_climb()
  whole <- small_run(iter = 35)
  expect_identical(longer$draws, whole$draws)
  expect_identical(longer$dynamics$draws, whole$dynamics$draws)
  part <- local({
    interrupt_after("walk_step", 28)
    more(file = path)
  })
  expect_true(part$interrupted)
  expect_identical(go_on(path)$draws, whole$draws)
})

test_that("draws of the dynamics are pooled to the same fit after a stop, whoever ran the groups", {
  local_replacement("cut_draws", 3L)
  cut <- function(...) small_run(uncertainty = "cut", by = "ward", ...)
  unbroken <- cut()
  path <- withr::local_tempfile(fileext = ".ibrc")
  stopped <- local({
    interrupt_after("sampler_step", 15)
    suppressMessages(cut(file = path))
  })
  expect_true(stopped$interrupted)
  expect_identical(dim(stopped$draws$east), c(5L, 6L, 1L))
  expect_same_fit(go_on(path), unbroken)
  # In processes, as if there were some.
  unlink(path)
  local_replacement("can_spread", function() TRUE)
  local_replacement("spread", function(pieces, work, over) lapply(pieces, work))
  local_replacement("cores_of_piece", function(cores, over) cores)
  apart <- suppressMessages(cut(file = path, refresh = 7, control = ibrc_control(keep_data = FALSE)))
  expect_identical(apart$draws, unbroken$draws)
  expect_null(apart$histories)
  again <- go_on(path)
  expect_identical(again$draws, unbroken$draws)
  expect_null(again$histories)
  expect_refused(extend_fit(unbroken, 5), "fit", "pooled")
})

test_that("a setting whose laws are replaced, models of its own and quantities come back from a file", {
  iohmm <- ward_iohmm(transitions = "shared")
  path <- withr::local_tempfile(fileext = ".ibrc")
  run <- function(setting, models, uncertainty, prior = ibrc_prior(alpha ~ lognormal(0, 1))) {
    unlink(path)
    suppressWarnings(ibrc(ward_visits(), setting, models, prior, list(eta = 0, optimism = 0.5), chains = 1, iter = 8,
                          warmup = 4, seed = 1, resolution = 4, dynamics = iohmm, uncertainty = uncertainty,
                          file = path))
  }
  local_replacement("cut_draws", 2L)
  # Nothing to ask for: models are the setting's own, wherever its laws are.
  fit <- run(clinic_of(iohmm), NULL, "joint")
  expect_identical(suppressWarnings(resume(path))$draws, fit$draws)
  fit <- run(clinic_of(iohmm), clinic_step, "cut")
  expect_identical(resume(path, models = clinic_step)$draws, fit$draws)
  expect_refused(resume(path), "models", "must be given")
  priced <- ibrc_prior(alpha ~ lognormal(0, 1), bonus ~ lognormal(0.7, 0.3))
  fit <- run(clinic_of, clinic_step, "none", priced)
  expect_identical(go_on(path)$draws, fit$draws)
})
