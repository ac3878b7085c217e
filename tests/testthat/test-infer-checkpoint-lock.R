setting <- diag_setting()
models <- diag_models()
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
short_fit <- function(file, ...) {
  ibrc(clinic_visits(), setting, models, prior, chains = 1, iter = 20, seed = 1, resolution = 5, file = file, ...)
}
local_path <- function(frame = parent.frame()) file.path(withr::local_tempdir(.local_envir = frame), "fit.ibrc")
lock_of <- function(path) paste0(path, ".lock")
lock_text <- function(process, machine = process_marks()[2], began = process_began(process)) {
  c(lock_title, paste("process", process), paste("machine", machine), paste("began", began))
}
write_lock <- function(path, ...) writeLines(lock_text(...), lock_of(path))

# A process that sleeps, until it is ended or the test is over.
local_process <- function(frame = parent.frame()) {
  testthat::skip_on_os("windows")
  job <- parallel::mcparallel(Sys.sleep(60), silent = TRUE)
  withr::defer(end_process(job), envir = frame)
  job
}
end_process <- function(job) {
  tools::pskill(job$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(job))
  # On a busy machine it is gone a little later.
  for (i in 1:200) {
    if (!.Call(ffi_process_runs, job$pid)) break
    suppressWarnings(parallel::mccollect(job, wait = FALSE))
    Sys.sleep(0.05)
  }
}

test_that("a lock names its process, is made once, and is removed by who made it", {
  path <- local_path()
  lock <- new_lock(path)
  expect_false(file.exists(lock_of(path)))
  take_lock(lock)
  expect_identical(readLines(lock_of(path))[1:4], lock_text(Sys.getpid()))
  # This process again, in another run.
  expect_identical(expect_error(take_lock(new_lock(path)), "of this session", class = "ibrc_error_checkpoint")$reason,
                   "locked")
  other <- lock
  other$text[2] <- "process 1"
  release_lock(other)
  expect_true(file.exists(lock_of(path)))
  release_lock(lock)
  expect_length(list.files(dirname(path), all.files = TRUE, no.. = TRUE), 0)
  expect_silent(release_lock(lock))
})

test_that("a run within a run does not write to the same file", {
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  path <- "fit.ibrc"
  within <- list(new = function() short_fit(path), over = function() short_fit(path, control = list(overwrite = TRUE)),
                 again = function() resume(path), whole = function() short_fit(file.path(folder, path)))
  for (begin in within) {
    reasons <- NULL
    locked <- NULL
    fit <- withCallingHandlers(short_fit(path, refresh = 10, control = list(overwrite = TRUE)), message = function(m) {
      if (!startsWith(conditionMessage(m), "step 10 ")) return(invokeRestart("muffleMessage"))
      reasons <<- c(reasons, tryCatch(begin()$run$iter, ibrc_error_checkpoint = function(e) e$reason))
      locked <<- file.exists(lock_of(path))
      invokeRestart("muffleMessage")
    })
    expect_identical(reasons, "locked")
    expect_true(locked)
    expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "fit.ibrc")
    expect_identical(resume(path)$draws, fit$draws)
  }
  # Another file is another matter, and a run that has ended holds nobody back.
  expect_s3_class(short_fit("other.ibrc"), "ibrc_fit")
  expect_length(locked_runs$names, 0)
  write_lock(path, Sys.getpid())
  expect_s3_class(short_fit(path, control = list(overwrite = TRUE)), "ibrc_fit")
})

test_that("while a fit runs its file is locked, and not afterwards, however it ends", {
  path <- local_path()
  real <- sampler_step
  seen <- NULL
  local_replacement("sampler_step", function(...) {
    seen <<- c(seen, file.exists(lock_of(path)))
    real(...)
  })
  short_fit(path)
  expect_true(all(seen) && length(seen) == 20)
  expect_identical(list.files(dirname(path), all.files = TRUE, no.. = TRUE), "fit.ibrc")
  resume(path)
  expect_length(seen, 20)
  interrupt <- structure(class = c("interrupt", "condition"), list(message = "", call = NULL))
  for (failure in list(interrupt, simpleError("halt"))) {
    local_replacement("start_chains", function(...) stop(failure))
    tryCatch(short_fit(path, control = list(overwrite = TRUE)), error = identity, interrupt = identity)
    expect_identical(list.files(dirname(path), all.files = TRUE, no.. = TRUE), "fit.ibrc")
  }
})

test_that("a second process is told, before any work, and changes nothing", {
  path <- local_path()
  other <- local_process()
  short_fit(path)
  bytes <- readBin(path, "raw", 1e6)
  write_lock(path, other$pid)
  local_replacement("plan_agent", function(...) stop("work"))
  # Not even where it may overwrite.
  error <- expect_error(short_fit(path, control = list(overwrite = TRUE)), "is being written by another process",
                        class = "ibrc_error_checkpoint")
  expect_identical(error$reason, "locked")
  expect_match(conditionMessage(error), as.character(other$pid))
  expect_identical(readBin(path, "raw", 1e6), bytes)
  expect_identical(readLines(lock_of(path)), lock_text(other$pid))
})

test_that("two processes that begin at once: one runs, the other is told", {
  skip_on_cran()
  skip_on_os("windows")
  path <- local_path()
  begin <- Sys.time() + 1
  jobs <- lapply(1:3, function(i) {
    parallel::mcparallel({
      Sys.sleep(max(0, as.numeric(begin - Sys.time())))
      lock <- new_lock(path)
      tryCatch({
        take_lock(lock)
        Sys.sleep(2)
        release_lock(lock)
        "ran"
      }, ibrc_error_checkpoint = function(e) e$reason)
    })
  })
  expect_identical(sort(unlist(parallel::mccollect(jobs), use.names = FALSE)), c("locked", "locked", "ran"))
  expect_length(list.files(dirname(path), all.files = TRUE, no.. = TRUE), 0)
})

test_that("the lock of a process that was killed holds nobody back, and that is said", {
  path <- local_path()
  other <- local_process()
  write_lock(path, other$pid)
  expect_true(is_held(read_lock(lock_of(path))))
  end_process(other)
  expect_false(is_held(read_lock(lock_of(path))))
  expect_message(short_fit(path), paste0("\\(", other$pid, "\\) has ended"))
  expect_identical(list.files(dirname(path), all.files = TRUE, no.. = TRUE), "fit.ibrc")
})

test_that("an unfinished file is resumed past the lock of who was killed, not past one that runs", {
  path <- local_path()
  other <- local_process()
  real <- replace_file
  writes <- 0
  local_replacement("replace_file", function(part, path) {
    writes <<- writes + 1
    if (writes > 1) "no room" else real(part, path)
  })
  fit <- suppressWarnings(short_fit(path), classes = "ibrc_warning_file")
  local_replacement("replace_file", real)
  write_lock(path, other$pid)
  expect_identical(expect_error(resume(path), class = "ibrc_error_checkpoint")$reason, "locked")
  end_process(other)
  expect_message(again <- resume(path), "has ended")
  expect_identical(again$draws, fit$draws)
  expect_identical(list.files(dirname(path), all.files = TRUE, no.. = TRUE), "fit.ibrc")
})

test_that("a number given to another process since is not taken for the one that locked", {
  skip_if_not(nzchar(process_began(Sys.getpid())), "this system does not tell when a process began")
  other <- local_process()
  expect_true(is_held(lock_text(other$pid)))
  expect_false(is_held(lock_text(other$pid, began = "1 other")))
  expect_false(is_held(lock_text(Sys.getpid(), began = "1 other")))
  # Ended, and not yet asked how.
  tools::pskill(other$pid, tools::SIGKILL)
  text <- lock_text(other$pid, began = "1 other")
  while (process_began(other$pid) != "ended") Sys.sleep(0.01)
  expect_true(.Call(ffi_process_runs, other$pid))
  expect_false(is_held(text))
})

test_that("a process of another machine may run: its lock stays, and how to remove it is said", {
  path <- local_path()
  write_lock(path, 1, machine = "elsewhere", began = "")
  error <- expect_error(short_fit(path), "elsewhere.*delete \"fit.ibrc.lock\"", class = "ibrc_error_checkpoint")
  expect_identical(error$reason, "locked")
  expect_true(file.exists(lock_of(path)))
})

test_that("a file that only has the name of a lock is left alone", {
  path <- local_path()
  writeLines(c("mine", "process 1"), lock_of(path))
  error <- expect_error(short_fit(path), "of another kind", class = "ibrc_error_checkpoint")
  expect_identical(error$reason, "locked")
  expect_identical(readLines(lock_of(path)), c("mine", "process 1"))
})

test_that("a lock that was begun and never written is given a moment, and then taken over", {
  path <- local_path()
  file.create(lock_of(path))
  expect_identical(read_lock(lock_of(path), patience = 0.1), character())
  expect_s3_class(short_fit(path), "ibrc_fit")
  writeLines(lock_title, lock_of(path))
  expect_false(is_held(read_lock(lock_of(path), patience = 0.1)))
  expect_null(read_lock(file.path(dirname(path), "none")))
})

test_that("a lock that changed while it was judged goes back", {
  path <- local_path()
  write_lock(path, 1)
  expect_false(remove_stale(lock_of(path), lock_text(2)))
  expect_identical(readLines(lock_of(path)), lock_text(1))
  expect_true(remove_stale(lock_of(path), lock_text(1)))
  expect_false(remove_stale(lock_of(path), lock_text(1)))
  expect_length(list.files(dirname(path), all.files = TRUE, no.. = TRUE), 0)
})

test_that("a lock that cannot be made is an error of the file", {
  lock <- list(path = file.path(withr::local_tempdir(), "none", "fit.ibrc.lock"), text = lock_text(1))
  expect_identical(expect_error(take_lock(lock), "could not be locked", class = "ibrc_error_file")$reason, "write")
})

test_that("which process runs is known", {
  expect_true(.Call(ffi_process_runs, Sys.getpid()))
  expect_error(.Call(ffi_process_runs, 0L), "internal")
  expect_error(.Call(ffi_process_runs, -1L), "internal")
  other <- local_process()
  expect_true(.Call(ffi_process_runs, other$pid))
  # More than any system counts to.
  expect_false(.Call(ffi_process_runs, 2147483646L))
  # Somebody else's runs, too.
  skip_if_not(dir.exists("/proc/1"))
  expect_true(.Call(ffi_process_runs, 1L))
})
