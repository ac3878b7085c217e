# Fits of people who differ: what is refused before any work, going on, and recovery.

test_that("what cannot go with effects is refused before any work", {
  refused <- function(argument, pattern, ...) expect_refused(people_run(...), argument, pattern)
  refused("by", "two ways", by = "arm")
  refused("effects", "list of formulas", 7)
  refused("effects", "not inferred", list(eta ~ arm))
  refused("sampler", "adaptive", control = list(sampler = "paper"))
  refused("start", "cannot be given", control = list(start = data.frame(alpha = 1, optimism = 0)))
  expect_refused(ibrc_control(cells = "some"), "cells")
  with_effects <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), optimism[armb] ~ normal(0, 0.1))
  expect_refused(people_run(NULL, prior = with_effects), "prior", "say in `effects`")
  refused("prior", "no formula of `effects` has", list(optimism ~ age), prior = with_effects)
  # Many numbers are refused by the memory that they would take.
  withr::local_options(ibrc.memory = 0.01)
  expect_error(people_run(iter = 1e5), class = "ibrc_error_memory")
})

test_that("a run that goes on from any of its files is the run that was not stopped, on any number of threads", {
  for (cells in c("exact", "interpolated")) {
    go <- function(...) {
      people_run(tied_effects(), visits = people_visits(per = 4, n = 4), iter = 40, warmup = 20, ...,
                 control = list(cells = cells))
    }
    path <- withr::local_tempfile(fileext = ".ibrc")
    steps <- if (cells == "exact") c(6, 18, 30) else 18
    copies <- paste0(path, steps)
    # The file that is there when a step is shown is that of the step that was shown before.
    whole <- withCallingHandlers(go(file = path, refresh = 6), message = function(m) {
      now <- startsWith(conditionMessage(m), paste("step", steps + 6, ""))
      if (any(now)) file.copy(path, copies[now])
      invokeRestart("muffleMessage")
    })
    expect_identical(whole$control$cells, cells)
    expect_identical(is.null(whole$run$spacing), cells == "exact")
    for (i in seq_along(steps)) {
      again <- resume(copies[i], refresh = 0, check = FALSE, cores = 1 + (i == 1))
      for (part in c("draws", "population", "log_posterior", "acceptance", "effects", "start", "control", "seed")) {
        expect_identical(again[[part]], whole[[part]], label = paste(cells, steps[i], part))
      }
    }
    unlink(copies)
    # Without a file, and up to an interrupt.
    stopped <- stop_population_at(33, go())
    expect_true(stopped$interrupted)
    expect_identical(stopped$population$draws, whole$population$draws[1:13, , , drop = FALSE])
  }
})

test_that("an interrupt in warm-up is an error of its class, and its file goes on", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  whole <- people_run(iter = 24, warmup = 12)
  real <- population_step
  expect_error(local({
    local_replacement("population_step", function(chain, evaluator) {
      if (chain$state$iteration == 5) {
        stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
      }
      real(chain, evaluator)
    })
    suppressMessages(people_run(iter = 24, warmup = 12, file = path))
  }), class = "ibrc_error_interrupted")
  expect_identical(resume(path, check = FALSE)$population, whole$population)
  # A finished file gives the fit back, and is not written over.
  expect_identical(resume(path, check = FALSE)$draws, whole$draws)
  expect_error(people_run(iter = 24, warmup = 12, file = path), class = "ibrc_error_checkpoint")
  # No identifier is in it.
  expect_length(grepRaw("planted-identity", readBin(path, "raw", file.size(path))), 0)
})

test_that("another run's file is refused before the posterior is looked for", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  stop_population_at(5, people_run(iter = 24, warmup = 12, file = path))
  error <- expect_error(people_run(list(optimism ~ (1 | clinician)), iter = 24, warmup = 12, file = path),
                        class = "ibrc_error_checkpoint")
  expect_true("prior" %in% error$parts)
  expect_no_error(people_run(iter = 24, warmup = 12, file = path))
})

test_that("an extended fit is the one that a longer run makes", {
  for (cells in c("exact", "interpolated")) {
    go <- function(iter) {
      people_run(iter = iter, warmup = 20, visits = people_visits(per = 4, n = 4), control = list(cells = cells))
    }
    long <- go(60)
    longer <- extend_fit(go(40), iter = 20, control = list(check = FALSE))
    for (part in c("draws", "population", "acceptance", "log_posterior")) expect_identical(longer[[part]], long[[part]])
    expect_identical(longer$run$iter, 60L)
  }
  # One that was interrupted has fewer, or what it has left.
  stopped <- stop_population_at(45, go(60))
  expect_identical(extend_fit(stopped, iter = 5, control = list(check = FALSE))$population$draws,
                   long$population$draws[1:30, , , drop = FALSE])
  expect_identical(extend_fit(stopped, NULL, control = list(check = FALSE, max_iter = 60))$draws, long$draws)
  # One that was changed is refused.
  changed <- long
  changed$effects$matrices$optimism[, 2] <- 0
  expect_refused(extend_fit(changed, iter = 5), "fit", "not as ibrc\\(\\) left it")
})

test_that("a run without a number of steps goes on until coefficients, spreads and intercepts agree", {
  short <- people_run(list(alpha ~ arm), iter = 60, warmup = 30)
  counted <- 0
  local_replacement("are_settled", function(fit) {
    counted <<- counted + 1
    counted > 2
  })
  longer <- extend_fit(short, NULL, control = list(check = FALSE))
  expect_identical(counted, 3)
  expect_gt(longer$run$iter, 60)
})

test_that("intercepts that are not mixed are not settled", {
  fit <- people_run()
  fine <- data.frame(rhat = 1.001, ess_bulk = 900, ess_tail = 900)
  local_replacement("tidy_population", function(...) fine)
  local_replacement("intercept_mixing", function(...) as.matrix(fine))
  expect_true(are_settled(fit))
  local_replacement("intercept_mixing", function(...) as.matrix(replace(fine, "ess_tail", 60)))
  expect_false(are_settled(fit))
})

test_that("without data a fit keeps what its cells are, and nothing of the visits", {
  fit <- people_run(control = list(keep_data = FALSE))
  expect_null(fit$histories)
  expect_null(fit$chain)
  expect_refused(extend_fit(fit), "fit", "kept its data")
  expect_identical(nrow(tidy(fit)), 4L)
  expect_identical(dim(fit$population$draws)[3], 4L)
})

test_that("the draws of cells follow from those of the population", {
  fit <- people_run()
  shape <- population_shape(fit$effects, fit$prior)
  draws <- fit$population$draws
  u <- fit$population$intercepts
  cell <- 5
  level <- fit$effects$factors$clinician$level[cell]
  wanted <- draws[, , "optimism"] + fit$effects$matrices$optimism[cell, 2] * draws[, , "optimism[armb]"] + u[, , level]
  expect_equal(fit$draws[[cell]][, , "optimism"], wanted)
  expect_equal(fit$draws[[cell]][, , "alpha"], draws[, , "alpha"])
})

test_that("many cells are interpolated by themselves, few are not, and more terms than serve are refused", {
  job <- list(inverse = list(prior = people_prior(), histories = as.list(1:29)), evaluator = list(likelihood = TRUE))
  expect_null(spacing_for(job, NULL, "auto"))
  expect_null(spacing_for(job, NULL, "exact"))
  many <- job
  many$inverse$prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), eta ~ lognormal(0, 1),
                                   discount ~ beta(9, 1))
  expect_null(spacing_for(many, NULL, "auto"))
  expect_refused(spacing_for(many, NULL, "interpolated"), "cells", "up to 3 terms")
  local_replacement("find_spacing", function(...) NULL)
  expect_refused(spacing_for(job, NULL, "interpolated"), "cells", "bends too sharply")
  local_replacement("find_spacing", function(...) list(spacing = 0.25))
  job$inverse$histories <- as.list(1:30)
  expect_identical(spacing_for(job, NULL, "auto"), 0.25)
})

test_that("without random intercepts chains begin about the top and know how to move, or else where people are alike", {
  run <- list(chains = 3L, cores = 1L, warmup = 60L, iter = 80L, thin = 1L, refresh = 0L, seed = 4L)
  inverse <- people_inverse(list(optimism ~ arm + age, alpha ~ age))
  begin <- function(cells = "exact") {
    begin_population(list(inverse = inverse, evaluator = list(likelihood = TRUE), run = run), cells)$chain$state
  }
  for (cells in c("exact", "interpolated")) {
    state <- begin(cells)
    law <- state$laws$free
    expect_true(state$known)
    expect_gt(law$turn, 0)
    surface <- new_surface(effects_evaluator(inverse, 1L), 1L, with_prior = TRUE)
    top <- climb(surface, law$centre)
    expect_gt(surface$density(rbind(law$centre)), top$density - 0.2)
    # Not all at one place, and none of them far out: a squared distance is 1.5^2 times a chi-squared number.
    distance <- rowSums((sweep(state$b, 2, law$centre) %*% law$inverse)^2) / start_width^2
    expect_true(all(distance > 0.01 & distance < stats::qchisq(1 - 1e-6, 5)))
    expect_identical(begin(cells)[c("b", "laws")], state[c("b", "laws")])
  }
  local_replacement("population_tops", function(...) NULL)
  state <- begin()
  expect_false(state$known)
  expect_identical(state$laws$free$turn, 0)
  slopes <- which(!inverse$effects$coefficients$intercept)
  expect_true(all(abs(state$b[, slopes]) < 0.05 * 6 * rep(inverse$effects$coefficients$scale[slopes], each = 3)))
})

test_that("a climb is told of where progress is, and can be interrupted", {
  go <- function(refresh) people_run(list(optimism ~ arm), iter = 8, warmup = 4, refresh = refresh)
  told <- testthat::capture_messages(go(4))
  expect_true(any(startsWith(told, "climbing: log posterior")))
  expect_length(testthat::capture_messages(go(0)), 0)
  local_replacement("climb_once", function(...) {
    stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  })
  expect_error(go(0), class = "ibrc_error_interrupted")
})

test_that("clinicians who differ are found to, and arms that do not are not", {
  # Ten clinicians with a spread of 0.6 and 25 trajectories each: marks stated before it was run.
  visits <- people_visits(per = 25, n = 10, sd = 0.6, seed = 3)
  fit <- people_run(visits = visits, iter = 500, warmup = 250, resolution = 20)
  table <- tidy(fit)
  inside <- function(term, value) with(table[table$term == term, ], conf.low < value && value < conf.high)
  expect_true(inside("sd(optimism|clinician)", 0.6))
  expect_true(inside("optimism[armb]", 0))
  expect_true(inside("alpha", 0.5))
  people <- tidy(fit, effects = "people")
  truth <- attr(visits, "optimism")[as.integer(sub("c", "", people$level))]
  expect_gt(stats::cor(people$estimate, truth), 0.8)
})

test_that("quantities of a recipe, and habit, may differ from person to person", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), accuracy ~ beta(14, 6), habit ~ normal(0, 1))
  models <- function(accuracy) perturb_models(diag_setting(accuracy = accuracy), by = 0.1)
  visits <- people_visits(per = 4, n = 4)
  fit <- suppressWarnings(ibrc(visits, diag_setting(), models, prior, effects = list(accuracy ~ arm, habit ~ arm),
                               chains = 2, iter = 24, warmup = 12, seed = 1, resolution = 5,
                               control = list(check = FALSE)))
  at <- fit$population$draws[6, 1, ]
  expect_identical(names(at)[1:3], c("alpha", "accuracy", "accuracy[armb]"))
  accuracy <- stats::plogis(stats::qlogis(at[["accuracy"]]) + c(0, at[["accuracy[armb]"]]))
  habit <- at[["habit"]] + c(0, at[["habit[armb]"]])
  arm <- as.data.frame(visits)$arm
  total <- vapply(1:2, function(i) {
    expect_equal(unname(fit$draws[[i]][6, 1, ]), c(at[["alpha"]], accuracy[i], habit[i]))
    agent <- bounded_agent(alpha = at[["alpha"]], habit = habit[i])
    plan <- plan_agent(diag_setting(), agent, models(accuracy[i]), 5)
    own <- as.data.frame(visits)[arm == c("a", "b")[i], ]
    sum(log_lik(plan, trajectories(own, setting = diag_setting())))
  }, 0)
  shape <- population_shape(fit$effects, fit$prior)
  b <- rbind(c(log(at[[1]]), stats::qlogis(at[[2]]), at[3:5]))
  expect_close(sum(total) + log_population(shape, b, matrix(0, 1, 0), matrix(0, 1, 0)),
               fit$population$log_posterior[6, 1], 1e-5)
})
