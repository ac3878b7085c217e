# The kernels, then the fit.

test_that("forward and backward passes are the twin's, with missing observations", {
  with_seed(401, for (n_states in 1:4) {
    laws <- random_iohmm_laws(n_states)
    paths <- random_paths(40, longest = 5)
    tree <- kernel_tree(paths)
    expect_lt(tree$n_nodes, sum(vapply(paths, function(path) length(path$action), 0L)))
    mine <- .Call(ffi_iohmm_expect, tree, kernel_laws(laws))
    twin <- twin_iohmm_expect(laws, paths)
    expect_identical(mine$code, 0L)
    expect_close(mine$log_lik, twin$log_lik)
    for (law in names(laws)) expect_close(mine[[law]], twin$counts[[law]])
    # One root per trajectory: states of each.
    chains <- iohmm_chains(code_visits(paths_to_visits(paths), iohmm_words_of()))
    apart <- .Call(ffi_iohmm_expect, chains, kernel_laws(laws))
    expect_close(apart$log_lik, twin$log_lik)
    single <- lapply(paths, function(path) twin_iohmm_path(laws, path))
    expect_close(apart$filter, do.call(cbind, lapply(single, `[[`, "filter")))
    expect_close(apart$smooth, do.call(cbind, lapply(single, `[[`, "smooth")))
  })
})

test_that("the likelihood and the smoothed states are those of all hidden paths together", {
  with_seed(402, for (n_states in 2:3) {
    laws <- random_iohmm_laws(n_states)
    paths <- random_paths(12, longest = 6, missing = 0.3)
    expect_true(any(vapply(paths, function(path) length(path$action), 0L) == 6))
    expect_true(anyNA(unlist(lapply(paths, `[[`, "observation"))))
    every <- lapply(paths, function(path) brute_iohmm(laws, path))
    chains <- iohmm_chains(code_visits(paths_to_visits(paths), iohmm_words_of()))
    mine <- .Call(ffi_iohmm_expect, chains, kernel_laws(laws))
    expect_close(mine$log_lik, sum(log(vapply(every, function(all) sum(all$chance), 0))), 1e-9)
    smooth <- do.call(cbind, lapply(every, function(all) {
      vapply(seq_len(ncol(all$hidden)), function(t) {
        vapply(seq_len(n_states), function(s) sum(all$chance[all$hidden[, t] == s]), 0) / sum(all$chance)
      }, numeric(n_states))
    }))
    expect_close(mine$smooth, smooth, 1e-9)
    expect_close(.Call(ffi_iohmm_expect, kernel_tree(paths), kernel_laws(laws))$log_lik, mine$log_lik, 1e-9)
  })
})

one_em_step <- function(laws, paths, prior, possible, shared, steps = 1L, last = 0L) {
  words <- iohmm_words_of()
  prior <- prior_for_kernel(check_iohmm_prior(prior, words), possible, shared)
  at <- kernel_laws(laws)
  .Call(ffi_iohmm_em, kernel_tree(paths), at, prior, NA_real_, steps, last, 1e-6, 1L)
}

test_that("a step of EM is the twin's, with priors, structural zeros and a shared transition", {
  possible <- rbind(c(TRUE, TRUE, FALSE, FALSE), c(FALSE, TRUE, TRUE, TRUE))
  priors <- list(NULL, iohmm_prior(1, 0.5, 0.25, stay = 2),
                 iohmm_prior(emission = matrix(1:8 / 4, 2, 4)))
  with_seed(403, for (prior in priors) for (shared in c(FALSE, TRUE)) {
    laws <- random_iohmm_laws(3, possible = possible)
    if (shared) laws$transition[, , 2] <- laws$transition[, , 1]
    paths <- random_paths(30, possible = possible)
    mine <- one_em_step(laws, paths, prior, possible, shared)
    full <- check_iohmm_prior(prior, iohmm_words_of())
    twin <- twin_iohmm_maximise(twin_iohmm_expect(laws, paths)$counts, full, possible, shared)
    for (law in names(laws)) expect_close(mine[[law]], twin[[law]])
    expect_true(all(array(mine$emission, c(3, 4, 2))[, 3:4, 1] == 0))
    density <- sum(full$start * log(laws$start)) +
      sum((full$transition + full$stay * as.vector(diag(3))) * log(laws$transition)) / (1 + shared)
    for (u in 1:2) for (x in which(possible[u, ])) {
      density <- density + sum(full$emission[u, x] * log(laws$emission[, x, u]))
    }
    expect_close(mine$trace, twin_iohmm_expect(laws, paths)$log_lik + density, 1e-9)
  })
})

test_that("rows without data spread over what is possible, or follow the prior", {
  possible <- rbind(c(TRUE, TRUE, FALSE, FALSE), c(FALSE, TRUE, TRUE, TRUE))
  paths <- list(list(action = c(1L, 1L), observation = c(1L, 2L)), list(action = 1L, observation = NA))
  laws <- with_seed(404, random_iohmm_laws(2, possible = possible))
  bare <- one_em_step(laws, paths, NULL, possible, FALSE)
  expect_close(array(bare$emission, c(2, 4, 2))[, , 2], rep(c(0, 1, 1, 1) / 3, each = 2), 1e-15)
  expect_close(array(bare$transition, c(2, 2, 2))[, , 2], rep(0.5, 4), 1e-15)
  sticky <- one_em_step(laws, paths, iohmm_prior(transition = 1, stay = 3, emission = 1), possible, FALSE)
  expect_close(array(sticky$transition, c(2, 2, 2))[, , 2], c(0.8, 0.2, 0.2, 0.8), 1e-15)
})

test_that("the objective never falls, and is appraised exactly where the climb ends", {
  possible <- matrix(TRUE, 2, 4)
  with_seed(405, for (prior in list(NULL, iohmm_prior(0.5, 0.5, 0.5))) for (i in 1:5) {
    laws <- random_iohmm_laws(3)
    paths <- random_paths(50)
    mine <- one_em_step(laws, paths, prior, possible, FALSE, steps = 200L, last = 1L)
    trace <- mine$trace[seq_len(mine$steps)]
    expect_gt(mine$steps, 10)
    expect_true(all(diff(trace) > -1e-10))
    expect_identical(mine$code, 0L)
    at <- list(start = mine$start, transition = mine$transition, emission = mine$emission)
    final <- .Call(ffi_iohmm_expect, kernel_tree(paths), c(kernel_laws(laws)[1:4], lapply(at, as.numeric)))
    expect_identical(final$log_lik, mine$log_lik)
  })
})

test_that("a fall of the objective is a status, and an error", {
  laws <- with_seed(406, random_iohmm_laws(2))
  paths <- with_seed(406, random_paths(20))
  prior <- prior_for_kernel(check_iohmm_prior(NULL, iohmm_words_of()), matrix(TRUE, 2, 4), FALSE)
  # As if the step before had been better than any can be.
  fell <- .Call(ffi_iohmm_em, kernel_tree(paths), kernel_laws(laws), prior, 1, 5L, 0L, 1e-6, 1L)
  expect_identical(fell$code, 4L)
  expect_identical(fell$steps, 1L)
  expect_error(refuse_failed_climb(fell$code), "likelihood fell", class = "ibrc_error_convergence")
})

test_that("without a trajectory or a prior, a step of EM spreads every law evenly", {
  laws <- with_seed(407, random_iohmm_laws(2))
  tree <- kernel_tree(with_seed(407, random_paths(5)))
  tree$through[] <- tree$ends[] <- 0
  prior <- prior_for_kernel(check_iohmm_prior(NULL, iohmm_words_of()), matrix(TRUE, 2, 4), FALSE)
  step <- .Call(ffi_iohmm_em, tree, kernel_laws(laws), prior, NA_real_, 1L, 0L, 1e-6, 1L)
  expect_identical(as.vector(step$start), c(0.5, 0.5))
  expect_identical(as.vector(step$transition), rep(0.5, 8))
  expect_identical(as.vector(step$emission), rep(0.25, 16))
})

test_that("long trajectories neither underflow nor overflow", {
  laws <- clinic_laws()
  # Absorbed where it cannot have been: the futures of dead states grow without bound.
  laws$transition[, , 1] <- laws$transition[, , 2] <- diag(3)
  laws$start <- c(1, 0, 0)
  path <- list(list(action = rep(1L, 3000), observation = rep(2L, 3000)))
  mine <- .Call(ffi_iohmm_expect, kernel_tree(path, 2, 5), kernel_laws(laws))
  expect_close(mine$log_lik, 3000 * log(0.1), 1e-8)
  expect_close(mine$start, c(1, 0, 0), 1e-12)
  expect_close(array(mine$transition, c(3, 3, 2))[, , 1], c(3000, numeric(8)), 1e-8)
})

test_that("a chance too small for its inverse leaves the counts as they are", {
  laws <- with_seed(408, random_iohmm_laws(3))
  paths <- with_seed(408, random_paths(10))
  paths[[1]]$observation[1] <- 2L
  expect_at <- function(scale) {
    laws$emission[, 2, ] <- laws$emission[, 2, ] * scale
    .Call(ffi_iohmm_expect, kernel_tree(paths), kernel_laws(laws))
  }
  # How unlikely an observation is in all states alike says nothing about the states.
  usual <- expect_at(1)
  tiny <- expect_at(1e-310)
  for (count in c("filter", "smooth", "start", "transition", "emission")) {
    expect_close(tiny[[count]], usual[[count]], 1e-9)
  }
  expect_lt(tiny$log_lik, usual$log_lik - 700)
})

# The fit --------------------------------------------------------------------------------

test_that("twenty starts find a top at or above the truth, no further than chance allows", {
  fit <- clinic_iohmm()
  truth <- dressed_laws(clinic_laws())
  at_truth <- .Call(ffi_iohmm_expect, iohmm_tree(fit$coded, fit), iohmm_laws(truth))
  deviance <- 2 * (fit$log_lik - at_truth$log_lik)
  expect_gte(deviance, 0)
  expect_lte(deviance, stats::qchisq(0.999, fit$n_parameters))
  # Each entry within four posterior standard deviations (and a little, at the edge 0) of what made the data.
  expect_warning(draws <- model_draws(fit, 60, warmup = 100, thin = 3, seed = 1), class = "ibrc_warning_effective")
  for (law in c("transition", "emission")) {
    spread <- apply(simplify2array(lapply(draws$models, `[[`, law)), 1:3, stats::sd)
    expect_true(all(abs(fit[[law]] - truth[[law]]) <= 4 * spread + 0.02))
    expect_lt(max(abs(fit[[law]] - truth[[law]])), 0.12)
  }
  expect_gt(sum(fit$starts$objective > fit$objective - 0.01), 5)
})

test_that("structural zeros are exact, in the fit and in its draws", {
  fit <- clinic_iohmm()
  never <- rbind(c(FALSE, FALSE, TRUE, TRUE, TRUE), c(TRUE, TRUE, FALSE, FALSE, FALSE))
  models <- c(list(fit), model_draws(fit, 3, 5, 2, seed = 1)$models)
  for (model in models) {
    for (u in 1:2) {
      expect_true(all(model$emission[, never[u, ], u] == 0))
      expect_true(all(model$emission[, !never[u, ], u] > 0))
    }
    expect_close(apply(model$emission, c(1, 3), sum), rep(1, 6), 1e-12)
    expect_close(apply(model$transition, c(1, 3), sum), rep(1, 6), 1e-12)
  }
  visits <- clinic_iohmm_visits(60)
  # A pair that can be but was not seen, and none that cannot.
  can <- !never
  can[1, 3] <- TRUE
  rownames(can) <- c("u1", "u2")
  given <- fit_iohmm(visits, 2, starts = 2, zeros = can[2:1, ], prior = iohmm_prior(emission = 1), seed = 1)
  expect_true(all(given$emission[, "x3", "u1"] > 0))
  expect_true(all(given$emission[, c("x4", "x5"), "u1"] == 0))
  free <- fit_iohmm(visits, 2, starts = 2, zeros = "none", prior = 1, seed = 1)
  expect_true(all(free$emission > 0))
})

test_that("a fit is the same on any number of threads, however its steps are cut, and for a seed", {
  visits <- clinic_iohmm_visits(80)
  one <- fit_iohmm(visits, 2:3, starts = 5, seed = 4)
  two <- fit_iohmm(visits, 2:3, starts = 5, seed = 4, cores = 2)
  parts <- c("start", "transition", "emission", "log_lik", "trace", "starts", "candidates")
  expect_identical(unclass(two)[parts], unclass(one)[parts])
  local_replacement("steps_at_once", function(...) 7L)
  expect_identical(unclass(fit_iohmm(visits, 2:3, starts = 5, seed = 4))[parts], unclass(one)[parts])
  expect_identical(model_draws(one, 2, 3, 1, seed = 5), model_draws(two, 2, 3, 1, seed = 5))
  other <- fit_iohmm(visits, 2:3, starts = 5, seed = 5)
  expect_false(identical(other$starts$objective, one$starts$objective))
})

test_that("the generator is left as documented", {
  visits <- clinic_iohmm_visits(20)
  set.seed(8)
  before <- .Random.seed
  fit <- fit_iohmm(visits, 2, starts = 2, seed = 1)
  invisible(model_draws(fit, 1, 1, 1, seed = 1))
  invisible(simulate(fit, seed = 1))
  expect_identical(.Random.seed, before)
  fit_iohmm(visits, 2, starts = 2)
  moved <- .Random.seed
  set.seed(8)
  stats::runif(1)
  expect_identical(.Random.seed, moved)
})

test_that("BIC picks the number of states that made the data", {
  fit <- fit_iohmm(clinic_iohmm_visits(), states = 1:4, starts = 3, seed = 1, transitions = "shared", tolerance = 1e-3)
  table <- glance(fit)
  expect_identical(table$states[table$chosen], 3L)
  expect_identical(table$chosen, table$BIC == min(table$BIC))
  expect_identical(length(fit$states), 3L)
  expect_true(all(diff(table$log_lik) > -0.01))
  expect_equal(stats::BIC(fit), table$BIC[3])
  expect_equal(stats::AIC(fit), table$AIC[3])
  # 2 + 6 transitions, 3 * (1 + 2) emissions.
  expect_equal(table$n_parameters, c(3, 1 + 2 + 6, 2 + 6 + 9, 3 + 12 + 12))
  expect_equal(attr(stats::logLik(fit), "nobs"), 3200)
  expect_equal(fit$transition[, , "u1"], fit$transition[, , "u2"])
  # One state is frequencies.
  expect_close(fit$starts$log_lik[fit$starts$states == 1], {
    visits <- clinic_iohmm_visits()
    pairs <- table(visits$action, visits$observation)
    rep(sum(pairs[pairs > 0] * log((pairs / rowSums(pairs))[pairs > 0])), 3)
  }, 1e-8)
})

test_that("states stand in the order of the marker asked for, and have the names given", {
  visits <- clinic_iohmm_visits(150)
  fit <- fit_iohmm(visits, 3, 2, seed = 1, sort_by = c(x3 = 0, x4 = 1, x5 = 2))
  score <- fit$emission[, c("x3", "x4", "x5"), "u2"] %*% 0:2
  expect_true(all(diff(score) > 0))
  down <- fit_iohmm(visits, 3, 2, seed = 1, sort_by = function(x) -match(x, c("x1", "x2", "x3", "x4", "x5")),
                    names = c("late", "middle", "early"))
  expect_identical(down$states, c("late", "middle", "early"))
  expect_equal(unname(down$transition), unname(fit$transition)[3:1, 3:1, ])
  expect_equal(unname(down$emission), unname(fit$emission)[3:1, , ])
  expect_equal(unname(down$start), unname(fit$start)[3:1])
  by_one <- fit_iohmm(visits, 3, 2, seed = 1, sort_by = "x5")
  expect_equal(by_one$emission, fit$emission)
  free <- fit_iohmm(visits, 3, 2, seed = 1)
  share <- rowSums(apply(free$counts$emission, c(1, 2), sum))
  expect_false(is.unsorted(-share))
})

test_that("a prior moves the fit to it, and the fit is the peak of the posterior", {
  visits <- clinic_iohmm_visits(60)
  heavy <- fit_iohmm(visits, 2, 3, prior = iohmm_prior(1e7, 1e7, 1e7), seed = 1)
  expect_close(heavy$transition, rep(0.5, 8), 1e-3)
  expect_close(heavy$emission[, 1:2, 1], rep(0.5, 4), 1e-3)
  fit <- fit_iohmm(visits, 2, 4, prior = iohmm_prior(1, 1, 1, stay = 1), seed = 1, tolerance = 1e-10)
  objective <- function(laws) {
    laws <- lapply(laws[c("start", "transition", "emission")], unname)
    expected <- .Call(ffi_iohmm_expect, iohmm_tree(fit$coded, fit), kernel_laws(laws))
    expected$log_lik + sum(log(laws$start)) + sum((1 + as.vector(diag(2))) * log(laws$transition)) +
      sum(log(laws$emission[laws$emission > 0]))
  }
  top <- objective(fit)
  expect_close(top, fit$objective, 1e-7)
  with_seed(421, for (i in 1:20) {
    near <- fit
    tilt <- function(law, over) {
      law <- law * exp(stats::rnorm(length(law), sd = 0.02))
      sweep(law, over, apply(law, over, sum), "/")
    }
    near$start <- near$start * exp(stats::rnorm(2, sd = 0.02))
    near$start <- near$start / sum(near$start)
    near$transition <- tilt(near$transition, c(1, 3))
    near$emission <- tilt(near$emission, c(1, 3))
    expect_lt(objective(near), top)
  })
})

test_that("unknown actions and empty cells leave whole laws", {
  visits <- clinic_iohmm_visits(30)
  fit <- fit_iohmm(visits, 2, 3, actions = c("u1", "u2", "u3"), observations = paste0("x", 1:6), seed = 1)
  expect_close(fit$emission[, , "u3"], rep(1 / 6, 12), 1e-15)
  expect_close(fit$transition[, , "u3"], rep(0.5, 4), 1e-15)
  expect_true(all(fit$emission[, "x6", 1:2] == 0))
  expect_identical(fit$n_parameters, fit_iohmm(visits, 2, 1, seed = 1)$n_parameters)
  expect_output(print(fit), "Never taken: u3")
  expect_s3_class(as_setting(fit, matrix(0, 2, 3), 0.9), "ibrc_setting")
})

test_that("a climb cut short is said to be", {
  expect_warning(fit <- fit_iohmm(clinic_iohmm_visits(40), 3, 2, max_iter = 5, seed = 1), "max_iter",
                 class = "ibrc_warning_convergence")
  expect_false(fit$converged)
  expect_identical(fit$starts$iterations, c(5L, 5L))
  expect_equal(fit$log_lik, max(fit$starts$log_lik))
  expect_output(print(fit), "was still rising")
})

test_that("arguments and rows out of order are refused before any work", {
  visits <- clinic_iohmm_visits(10)
  refused <- function(..., argument, kind = "input", data = visits) {
    error <- expect_error(fit_iohmm(data, ..., seed = 1), class = paste0("ibrc_error_", kind))
    expect_identical(error$argument, argument)
    error
  }
  refused(data = as.data.frame(visits), argument = "visits")
  for (states in list(0, 2.5, "three", NA, numeric(), 11, c(2, 2))) refused(states, argument = "states")
  refused(2, starts = 0, argument = "starts")
  refused(2, tolerance = 0, argument = "tolerance")
  refused(2, max_iter = 1, argument = "max_iter")
  refused(2, cores = 0, argument = "cores")
  refused(2, keep_data = NA, argument = "keep_data")
  refused(2, transitions = "none", argument = "transitions")
  refused(2, zeros = "some", argument = "zeros")
  refused(2, zeros = matrix(TRUE, 2, 2), argument = "zeros")
  refused(2, zeros = matrix(1, 2, 5), argument = "zeros")
  refused(2, zeros = rbind(rep(TRUE, 5), FALSE), argument = "zeros")
  refused(2, prior = "flat", argument = "prior")
  refused(2, prior = -1, argument = "prior")
  refused(2, prior = iohmm_prior(emission = matrix(1, 3, 3)), argument = "prior")
  refused(2, names = "a", argument = "names")
  refused(2, names = c("a", "action"), argument = "names")
  refused(2:3, names = c("a", "b"), argument = "names")
  refused(2, sort_by = "x9", argument = "sort_by")
  refused(2, sort_by = 1:3, argument = "sort_by")
  refused(2, sort_by = c(x9 = 1), argument = "sort_by")
  refused(2, sort_by = c(x1 = Inf), argument = "sort_by")
  refused(2, sort_by = function(x) "a", argument = "sort_by")
  refused(2, sort_by = function(x) stop("no"), argument = "sort_by")
  refused(2, actions = c("u1", "u1"), argument = "actions")
  wrong <- refused(2, actions = "u1", argument = "action", kind = "data")
  expect_identical(wrong$rows, which(visits$action == "u2"))
  can <- matrix(TRUE, 2, 5)
  can[2, 3] <- FALSE
  wrong <- refused(2, zeros = can, argument = "observation", kind = "data")
  expect_identical(wrong$rows, which(visits$action == "u2" & visits$observation == "x3"))
  nothing <- visits
  nothing$observation[] <- NA
  refused(2, data = nothing, argument = "visits", kind = "data")
  expect_error(iohmm_prior(transition = -1), class = "ibrc_error_input")
  expect_error(iohmm_prior(emission = matrix(NA, 1, 1)), class = "ibrc_error_input")
})

# A clinic whose old patients start later in the disease.
aged_clinic <- function(n = 300, seed = 33) {
  visits <- as.data.frame(clinic_iohmm_visits(n, 6, seed = seed))
  visits$age <- ifelse(visits$id %% 3 == 0, "old", "young")
  laws <- clinic_laws()
  world <- dressed_laws(laws)
  world$start <- rbind(old = c(0.1, 0.3, 0.6), young = c(0.8, 0.15, 0.05))
  colnames(world$start) <- world$states
  world$start_by <- "age"
  simulate(world, seed = seed, visits = trajectories(visits, covariates = "age"), missing = "fill")
}

test_that("starts are learned by group, and all else together", {
  visits <- aged_clinic()
  learn <- function(...) fit_iohmm(visits, 3, starts = 3, seed = 1, sort_by = c(x3 = 0, x4 = 1, x5 = 2), ...)
  fit <- learn(start_by = "age")
  one <- learn()
  expect_identical(dimnames(fit$start), list(group = c("old", "young"), state = fit$states))
  expect_close(fit$start, rbind(c(0.1, 0.3, 0.6), c(0.8, 0.15, 0.05)), 0.15)
  expect_identical(fit$n_parameters, one$n_parameters + 2)
  expect_identical(fit$candidates$BIC, log(fit$n_seen) * fit$n_parameters - 2 * fit$log_lik)
  expect_gt(fit$log_lik, one$log_lik + 20)
  expect_true(all(diff(fit$trace) > -1e-9))
  expect_equal(fit$start_share, c(old = 1 / 3, young = 2 / 3))
  expect_equal(rowSums(fit$counts$start), c(old = 100, young = 200))
  expect_null(one$start_by)
  # The laws of a fit of one group alone, held: the likelihood adds up over groups.
  data <- as.data.frame(visits)
  apart <- vapply(c("old", "young"), function(age) {
    laws <- fit
    laws$start <- fit$start[age, ]
    laws$start_by <- NULL
    coded <- code_visits(trajectories(data[data$age == age, ]), iohmm_setting_words(laws))
    expect_states(laws, iohmm_chains(coded))$log_lik
  }, 0)
  expect_close(sum(apart), fit$log_lik, 1e-8)
  shown <- utils::capture.output(print(summary(fit)))
  expect_match(shown, "first states   by age", all = FALSE)
  expect_match(shown, "old +state1 0", all = FALSE)
  table <- tidy(fit)
  expect_identical(table$group[1:7], c(rep(c("old", "young"), each = 3), NA))
  expect_equal(table$count[c(1, 4)], c(100, 200))
  expect_identical(unname(coef(fit)["start[young,state1]"]), fit$start["young", "state1"])
  expect_identical(names(coef(fit)), entry_names(fit))
  expect_identical(names(coef(one)), entry_names(one))
})

test_that("groups of starts are those of by: missing is a level, columns combine, rows stand in any order", {
  data <- as.data.frame(aged_clinic(60))
  data$age[data$id %% 5 == 0] <- NA
  data$sex <- c("f", "m")[data$id %% 2 + 1]
  visits <- trajectories(data, covariates = c("age", "sex"))
  learn <- function(visits, start_by) fit_iohmm(visits, 2, starts = 1, seed = 1, start_by = start_by, max_iter = 2000)
  fit <- learn(visits, "age")
  expect_identical(rownames(fit$start), c("old", "young", "missing"))
  expect_match(utils::capture.output(print(fit)), "fewer than 20 trajectories", all = FALSE)
  both <- learn(visits, c("age", "sex"))
  expect_identical(rownames(both$start)[1], "old, f")
  turned <- data[order(-data$id, data$time), ]
  again <- learn(trajectories(turned, covariates = c("age", "sex")), "age")
  expect_close(again$log_lik, fit$log_lik, 1e-3)
  refused <- function(start_by, message, class = "ibrc_error_input") {
    e <- expect_error(learn(visits, start_by), message, class = class)
    expect_identical(e$argument, "start_by")
  }
  refused("nobody", "not a column")
  refused("id", "one start for each of them")
  refused(c("age", "age"), "more than once")
  data$age[2] <- "old"
  data$age[1] <- "young"
  visits <- trajectories(data, covariates = c("age", "sex"))
  refused("age", "changes within a trajectory", "ibrc_error")
  expect_error(fit_iohmm(visits, 2, start_by = sex), "in quotes", class = "ibrc_error_input")
})

test_that("a setting of learned dynamics has the starts of the groups, or one that is given", {
  fit <- fit_iohmm(aged_clinic(90), 2, starts = 1, seed = 1, start_by = "age", max_iter = 2000)
  utility <- matrix(0, 2, 2, dimnames = list(fit$states, fit$actions))
  setting <- as_setting(fit, utility, 0.9)
  expect_identical(setting$start, fit$start)
  expect_identical(setting$start_by, "age")
  expect_identical(setting$start_share, fit$start_share)
  own <- as_setting(fit, utility, 0.9, start = c(0.5, 0.5))
  expect_null(own$start_by)
  expect_null(own$start_share)
})
