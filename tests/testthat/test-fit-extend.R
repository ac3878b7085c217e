setting <- diag_setting()
models <- diag_models()
prior <- ibrc_prior(alpha ~ lognormal(0, 1.5), optimism ~ normal(0, 1))
quick <- function(iter, ...) {
  ibrc(clinic_visits(), setting, models, prior, by = "clinic", chains = 2, iter = iter, warmup = 120, seed = 2,
       resolution = 20, ...)
}

test_that("an extended fit is the fit that a longer run makes", {
  long <- quick(420)
  short <- quick(250)
  extended <- extend_fit(short, iter = 170)
  for (part in c("draws", "log_posterior", "acceptance", "start", "seed", "group_sizes")) {
    expect_identical(extended[[part]], long[[part]], label = part)
  }
  expect_identical(extended$run$iter, 420L)
  expect_equal(tidy(extended), tidy(long))
  # Twice, and on two threads.
  expect_identical(extend_fit(extend_fit(short, iter = 1), iter = 169, cores = 2)$draws, long$draws)
  # What it came from is as it was.
  expect_identical(short$draws, quick(250)$draws)
})

test_that("it can be interrupted, and resumed from its file", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  short <- quick(250)
  long <- extend_fit(short, iter = 300)
  real <- sampler_step
  stop_at <- function(step) {
    local_replacement("sampler_step", function(state, log_density) {
      if (state$iteration == step) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
      real(state, log_density)
    })
    suppressMessages(extend_fit(short, iter = 300, file = path))
  }
  stopped <- stop_at(400)
  expect_true(stopped$interrupted)
  expect_identical(resume(path)$draws, long$draws)
  # A finished file is not written over unasked.
  expect_error(extend_fit(short, iter = 300, file = path), class = "ibrc_error_checkpoint")
})

test_that("what cannot be extended is refused, before any work", {
  bare <- quick(250, control = ibrc_control(keep_data = FALSE))
  expect_refused(extend_fit(bare), "fit", "kept its data")
  expect_refused(extend_fit(1), "fit")
  expect_refused(extend_fit(quick(250), iter = 0), "iter")
  expect_refused(extend_fit(quick(250), iter = 10, cores = 0), "cores")
})

test_that("without a number of steps a run goes on until its chains agree, and no longer", {
  few <- ibrc(clinic_visits(), setting, models, ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, seed = 1,
              resolution = 20)
  expect_true(are_settled(few))
  expect_identical(few$run$iter, 2000L)
  # Chains that never agree stop at the most steps that they may make.
  local_replacement("are_settled", function(fit) FALSE)
  most <- ibrc(clinic_visits(), setting, models, ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, seed = 1,
               resolution = 20, control = ibrc_control(max_iter = 3000))
  expect_identical(most$run$iter, 3000L)
  expect_identical(most$draws$all[1:1000, , ], few$draws$all[, , ])
  # A number of steps that was asked for is what is made.
  expect_identical(quick(250)$run$iter, 250L)
})

test_that("a run that grew resumes exactly, from before and after it grew", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  run <- function(file = NULL) {
    ibrc(clinic_visits(), setting, models, ibrc_prior(alpha ~ lognormal(0, 1)), chains = 1, seed = 1, resolution = 20,
         file = file, control = ibrc_control(max_iter = 2600))
  }
  never <- function(fit) FALSE
  local_replacement("are_settled", never)
  unbroken <- run()
  expect_identical(unbroken$run$iter, 2600L)
  real <- sampler_step
  for (step in c(1999, 2000, 2499, 2500, 2501)) {
    unlink(path)
    local({
      local_replacement("sampler_step", function(state, log_density) {
        if (state$iteration == step) {
          stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
        }
        real(state, log_density)
      })
      suppressMessages(run(path))
    })
    expect_identical(resume(path)$draws, unbroken$draws)
  }
})

# Interrupts a run before it makes the step after this one.
stopped_at <- function(step, code) {
  real <- sampler_step
  local_replacement("sampler_step", function(state, log_density) {
    if (state$iteration == step) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    real(state, log_density)
  })
  suppressMessages(code)
}

test_that("an interrupted run is gone on with from where it stands", {
  whole <- quick(400)
  first <- function(draws, n) lapply(draws, function(one) one[seq_len(n), , , drop = FALSE])
  part <- stopped_at(219, quick(400))
  expect_match(format(part), "2 chains of 219 steps (interrupted: 400 were asked for), 120 of them warm-up",
               fixed = TRUE)
  expect_match(format(whole), "2 chains of 400 steps, 120 of them warm-up", fixed = TRUE)
  few <- extend_fit(part, iter = 5)
  expect_identical(few$run$iter, 224L)
  expect_false(few$interrupted)
  expect_identical(few$draws, first(whole$draws, 104))
  expect_match(format(few), "2 chains of 224 steps, 120 of them warm-up", fixed = TRUE)
  # As many as it had left, more, and what it had left unless said otherwise.
  expect_identical(extend_fit(part, iter = 181)$draws, whole$draws)
  expect_identical(extend_fit(few, iter = 176)$draws, whole$draws)
  expect_identical(first(extend_fit(part, iter = 200)$draws, 280), whole$draws)
  local_replacement("are_settled", function(fit) TRUE)
  expect_identical(extend_fit(part, iter = NULL)$draws, whole$draws)
  # With a file, interrupted again, and taken up.
  path <- withr::local_tempfile(fileext = ".ibrc")
  again <- stopped_at(222, extend_fit(part, iter = 5, file = path))
  expect_true(again$interrupted)
  expect_identical(again$draws, first(whole$draws, 102))
  expect_identical(resume(path)$draws, few$draws)
  # Without its data a fit still knows how far it came.
  bare <- stopped_at(219, quick(400, control = ibrc_control(keep_data = FALSE, thin = 9)))
  expect_match(format(bare), "2 chains of 219 steps", fixed = TRUE)
})

test_that("groups that ran in processes are gone on with alike", {
  chain <- list(parts = lapply(1:2, function(i) {
    state <- sampler_start(matrix(0, 1, 1), function(theta) 0, streams_from_seed(i, 1), warmup = 2, iter = 20, thin = 2)
    list(state = sampler_run(state, function(theta) -theta[, 1]^2 / 2, until = 7), value = matrix(0))
  }))
  fewer <- with_steps(chain, 10)
  for (i in 1:2) {
    state <- fewer$parts[[i]]$state
    expect_identical(dim(state$draws), c(4L, 1L, 1L))
    made <- sampler_run(state, function(theta) -theta[, 1]^2 / 2)
    long <- sampler_run(chain$parts[[i]]$state, function(theta) -theta[, 1]^2 / 2)
    expect_identical(made$draws, long$draws[1:4, , , drop = FALSE])
    expect_identical(made$log_density_draws, long$log_density_draws[1:4, , drop = FALSE])
  }
})

test_that("a limit to the steps is kept", {
  fit <- quick(250)
  local_replacement("are_settled", function(fit) FALSE)
  limited <- function(iter, most) extend_fit(fit, iter, control = ibrc_control(max_iter = most, check = FALSE))
  expect_identical(limited(NULL, 300)$run$iter, 300L)
  expect_identical(limited(10, 280)$run$iter, 280L)
  expect_identical(limited(30, 280)$run$iter, 280L)
  for (most in c(200, 250)) expect_refused(limited(NULL, most), "max_iter", "take 251 or more")
  expect_refused(limited(10, 259), "max_iter", "take 260 or more")
  # Less than an interrupted run was to make.
  part <- stopped_at(200, quick(250))
  expect_identical(extend_fit(part, NULL, control = ibrc_control(max_iter = 210, check = FALSE))$run$iter, 210L)
})

test_that("what is no argument, and a fit that was changed by hand, are refused before any work", {
  fit <- quick(250)
  joint <- ward_fit()
  local_replacement("finish_job", function(...) stop("work was begun"))
  expect_refused(extend_fit(fit, 10, thin = 2), "thin", "not an argument of extend_fit")
  expect_refused(extend_fit(fit, 10, max_iter = 20), "max_iter", "ibrc_control\\(max_iter = 20\\)")
  changes <- list(
    function(fit) replace(fit, "chain", list(list())),
    function(fit) replace(fit, "chain", list(1)),
    function(fit) {
      fit$chain$state$positions[1] <- NA
      fit
    },
    function(fit) {
      fit$histories <- fit$histories[1]
      fit
    },
    function(fit) {
      fit$run$warmup <- 3
      fit
    }
  )
  for (change in changes) {
    expect_refused(extend_fit(change(fit), 10), "fit", "changed")
    expect_refused(extend_fit(change(joint), 10), "fit", "changed")
  }
  joint$dynamics$tree <- NULL
  expect_refused(extend_fit(joint, 10), "fit", "changed")
})
