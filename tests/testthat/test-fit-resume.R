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

# Quick, where it does not matter how fine the lattice is.
small <- function(file = NULL, ...) whole(file, resolution = 10, ...)

# A disk that is full at these of its writes, counted from now.
fill_disk <- function(at, frame = parent.frame()) {
  real <- replace_file
  writes <- 0
  local_replacement("replace_file", function(part, path) {
    writes <<- writes + 1
    if (writes %in% at) "no room" else real(part, path)
  }, frame)
}

# A fit and the warnings on the way.
warned <- function(code) {
  said <- list()
  value <- withCallingHandlers(code, ibrc_warning = function(w) {
    said[[length(said) + 1]] <<- w
    invokeRestart("muffleWarning")
  })
  list(value = value, said = vapply(said, conditionMessage, ""), class = unique(lapply(said, class)))
}

test_that("a file that is whole and holds no fit is refused", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  for (contents in list(NULL, 1, "a", list(), list(job = 1, chain = 1), list(job = list(), chain = list()))) {
    write_checkpoint(path, contents, "abc")
    expect_identical(expect_error(resume(path), class = "ibrc_error_file")$reason, "damaged")
  }
})

test_that("a disk that is full later costs no draws, and says so", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  unbroken <- small()
  real <- replace_file
  # Checkpoints at steps 0, 50, 100, ..., 250 and 260.
  fill_disk(at = 4:99)
  out <- warned(suppressMessages(small(path, refresh = 50)))
  expect_identical(out$value$draws, unbroken$draws)
  expect_length(out$said, 1)
  expect_match(out$said, "no room.*goes on.*step 100")
  expect_identical(out$class[[1]][1], "ibrc_warning_file")
  expect_identical(iteration_of(read_checkpoint(path)$contents$chain), 100L)
  local_replacement("replace_file", real)
  expect_identical(resume(path, refresh = 0)$draws, unbroken$draws)
})

test_that("a disk that has room again is used again, and a new failure is said again", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  fill_disk(at = c(2, 3, 5))
  out <- warned(suppressMessages(small(path, refresh = 50)))
  expect_length(out$said, 2)
  expect_match(out$said[1], "step 0\\.$")
  expect_match(out$said[2], "step 150\\.$")
  expect_identical(iteration_of(read_checkpoint(path)$contents$chain), 260L)
})

test_that("a disk that is full at first is an error", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  fill_disk(at = 1)
  expect_error(small(path), "no room", class = "ibrc_error_file")
  expect_false(file.exists(path))
})

test_that("an interrupted run says which step its file stands at", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  fill_disk(at = 2:99)
  real <- sampler_step
  local_replacement("sampler_step", function(state, log_density) {
    if (state$iteration == 220) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    real(state, log_density)
  })
  messages <- testthat::capture_messages(out <- warned(small(path)))
  expect_match(messages, "step 220 of 260.*from step 0\\.")
  expect_length(out$said, 1)
})

test_that("a second interrupt, while the first is answered, loses nothing", {
  skip_without_signals()
  path <- withr::local_tempfile(fileext = ".ibrc")
  press <- function() {
    send_interrupt()
    linger()
  }
  real <- save_checkpoint
  local_replacement("save_checkpoint", function(file, job, chain) {
    if (iteration_of(chain) > 0) press()
    real(file, job, chain)
  })
  fit <- NULL
  expect_false(is_interrupted(fit <- stop_after(path, 150)))
  expect_true(fit$interrupted)
  expect_identical(iteration_of(read_checkpoint(path)$contents$chain), 150L)
})

test_that("an interrupt that comes while somebody hears of progress or trouble brings back the draws", {
  skip_without_signals()
  path <- withr::local_tempfile(fileext = ".ibrc")
  fill_disk(at = 2)
  hear <- function(restart) {
    force(restart)
    function(condition) {
      # Before the first step there are no draws yet.
      if (grepl("looking for", conditionMessage(condition))) invokeRestart(restart)
      send_interrupt()
      linger()
      invokeRestart(restart)
    }
  }
  fit <- NULL
  expect_false(is_interrupted(fit <- withCallingHandlers(whole(refresh = 200), message = hear("muffleMessage"))))
  expect_true(fit$interrupted)
  fit <- NULL
  expect_false(is_interrupted(suppressMessages({
    fit <- withCallingHandlers(whole(path, refresh = 200), warning = hear("muffleWarning"))
  })))
  expect_true(fit$interrupted)
})

test_that("a path that cannot be written to is refused before any work", {
  local_replacement("build_problem", function(...) stop("work"))
  expect_error(small(), "work")
  expect_error(small(file.path(tempdir(), "no", "folder", "fit.ibrc")), class = "ibrc_error_file")
})

test_that("a finished file is only read", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  fit <- small(path)
  fill_disk(at = 1)
  expect_identical(resume(path)$draws, fit$draws)
})

# ---- what is there already ---------------------------------------------------------

# An unfinished checkpoint: everything after the first cannot be written.
unfinished <- function(path, ...) {
  fill_disk(at = 2:99)
  suppressWarnings(small(path, ...), classes = "ibrc_warning_file")
}

expect_kept <- function(code, path, says) {
  bytes <- readBin(path, "raw", 1e7)
  error <- testthat::expect_error(code, says, class = "ibrc_error_checkpoint")
  testthat::expect_s3_class(error, "ibrc_error_file")
  testthat::expect_identical(error$reason, "exists")
  testthat::expect_identical(error$argument, "file")
  testthat::expect_identical(readBin(path, "raw", 1e7), bytes)
  testthat::expect_identical(list.files(dirname(path), all.files = TRUE, no.. = TRUE), basename(path))
  invisible(error)
}

test_that("a file that is no checkpoint is not overwritten unasked, and that is said before any work", {
  path <- file.path(withr::local_tempdir(), "notes.txt")
  writeLines("a year of notes", path)
  real <- plan_agent
  local_replacement("plan_agent", function(...) stop("work"))
  expect_kept(small(path), path, "not a checkpoint.*control = ibrc_control\\(overwrite = TRUE\\)")
  file.create(path)
  expect_kept(small(path), path, "not a checkpoint")
  expect_error(small(path, control = list(overwrite = NA)), class = "ibrc_error_input")
  local_replacement("plan_agent", real)
  expect_s3_class(small(path, control = list(overwrite = TRUE)), "ibrc_fit")
  expect_identical(list.files(dirname(path)), "notes.txt")
})

test_that("a finished fit is not overwritten unasked, not even this one's own", {
  path <- file.path(withr::local_tempdir(), "fit.ibrc")
  fit <- small(path)
  expect_kept(small(path), path, "finished fit.*resume\\(\\)")
  expect_identical(resume(path)$draws, fit$draws)
  again <- ibrc(visits, setting, models, prior, chains = 1, iter = 20, seed = 9, file = path,
                control = ibrc_control(overwrite = TRUE))
  expect_identical(resume(path)$draws, again$draws)
})

test_that("an unfinished fit is begun anew by the same fit, and by no other", {
  path <- file.path(withr::local_tempdir(), "fit.ibrc")
  fit <- unfinished(path)
  other <- list(seed = list(seed = 4), settings = list(control = list(thin = 2)),
                data = list(control = list(keep_data = FALSE)),
                model = list(control = list(tolerance = 1e-7)), settings = list(control = list(sampler = "paper")),
                start = list(control = list(start = data.frame(alpha = 1, optimism = 0))))
  begin <- function(...) {
    given <- utils::modifyList(list(visits, setting, models, prior, by = "clinic", chains = 2, iter = 260, warmup = 130,
                                    seed = 3, file = path, resolution = 10), list(...))
    do.call(ibrc, given)
  }
  for (part in seq_along(other)) {
    error <- expect_kept(do.call(begin, other[[part]]), path, "unfinished fit with another .*resume\\(\\)")
    expect_true(names(other)[part] %in% error$parts)
  }
  expect_identical(expect_kept(begin(seed = 4, control = list(start = fit)), path, "another")$parts, c("seed", "start"))
  # How fast it is run and what it shows is its own affair.
  expect_identical(begin(cores = 2)$draws, fit$draws)
  expect_kept(begin(), path, "finished fit")
})

test_that("without a seed every fit is another: none is begun anew over an unfinished one", {
  path <- file.path(withr::local_tempdir(), "fit.ibrc")
  real <- replace_file
  fill_disk(at = 2:99)
  run <- function() ibrc(visits, setting, models, prior, chains = 1, iter = 30, resolution = 10, file = path)
  suppressWarnings(fit <- run(), classes = "ibrc_warning_file")
  local_replacement("replace_file", real)
  expect_kept(run(), path, "another seed")
  expect_identical(resume(path)$draws, fit$draws)
})

test_that("a folder, a device or a pipe is refused, told to overwrite or not", {
  folder <- withr::local_tempdir()
  for (overwrite in c(FALSE, TRUE)) {
    error <- expect_error(small(folder, control = list(overwrite = overwrite)), class = "ibrc_error_file")
    expect_identical(error$reason, "path")
  }
  skip_on_os("windows")
  expect_false(.Call(ffi_file_plain, "/dev/null"))
  expect_false(.Call(ffi_file_plain, folder))
  expect_true(.Call(ffi_file_plain, file.path(folder, "none")))
  pipe <- file.path(folder, "pipe")
  skip_if(system2("mkfifo", shQuote(pipe), stdout = FALSE, stderr = FALSE) != 0, "no pipes here")
  for (overwrite in c(FALSE, TRUE)) {
    error <- expect_error(small(pipe, control = list(overwrite = overwrite)), "device", class = "ibrc_error_file")
    expect_identical(error$reason, "path")
  }
  expect_identical(list.files(folder), "pipe")
})
