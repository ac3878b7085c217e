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
