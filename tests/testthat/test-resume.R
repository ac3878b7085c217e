setting <- diag_setting()
models <- diag_models()
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
visits <- clinic_visits()
whole <- function(file = NULL, ...) {
  ibrc(visits, setting, models, prior, by = "clinic", chains = 2, iter = 260, warmup = 130, seed = 3, file = file, ...)
}

# Interrupts a run after a step, as Ctrl-C would.
stop_after <- function(file, step) {
  real <- sampler_step
  local_replacement("sampler_step", function(state, log_density) {
    if (state$iteration == step) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    real(state, log_density)
  })
  tryCatch(suppressMessages(whole(file)), ibrc_error_interrupted = function(e) NULL)
}

test_that("stopping after any step and resuming gives identical draws", {
  unbroken <- whole()
  for (step in c(1, 63, 64, 65, 129, 130, 131, 200, 259)) {
    path <- withr::local_tempfile(fileext = ".ibrc")
    stop_after(path, step)
    again <- resume(path)
    expect_identical(again$draws, unbroken$draws)
    expect_identical(again$log_posterior, unbroken$log_posterior)
  }
})

test_that("a finished file gives the fit back, on any number of threads", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  fit <- whole(path)
  again <- resume(path, cores = 2)
  expect_identical(again$draws, fit$draws)
  expect_equal(tidy(again), tidy(fit))
  expect_identical(compare_groups(again), compare_groups(fit))
})

test_that("a utility of beliefs survives by its values", {
  sure <- diag_setting()
  sure$belief_utility <- function(beliefs, action) 2 * (apply(beliefs, 1, max) > 0.9)
  path <- withr::local_tempfile(fileext = ".ibrc")
  fit <- ibrc(visits, sure, models, prior, chains = 1, iter = 40, seed = 1, file = path)
  expect_identical(resume(path)$draws, fit$draws)
})

test_that("a file that is none is refused, and no identifier is in one", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  marked <- transform(as.data.frame(visits), id = paste0("SECRET-", id))
  ibrc(trajectories(marked), setting, models, prior, chains = 1, iter = 20, seed = 1, file = path)
  bytes <- readBin(path, "raw", file.size(path))
  expect_length(grepRaw("SECRET", bytes), 0)
  writeBin(bytes[seq_len(length(bytes) %/% 2)], path)
  expect_error(resume(path), class = "ibrc_error_file")
  expect_error(resume(tempfile()), class = "ibrc_error_file")
  expect_error(ibrc(visits, setting, models, prior, iter = 20, file = file.path(tempdir(), "no", "folder")),
               class = "ibrc_error_file")
})
