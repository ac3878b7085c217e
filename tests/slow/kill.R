# SIGKILL at random moments: what is left is no file yet, or one that resume() takes up
# to the very draws of an unbroken fit. Each kill hits either a fresh fit or one that
# goes on from what the kill before it left. So for a fit of DIAG, and a fifth as often for one of learned dynamics and
# agents together, and for one of people who differ and have a habit. Then a planted writer that fills the file
# itself, not one beside it that takes its place.
#
#   Rscript tests/slow/kill.R [kills]

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "problems.R"))

kills <- argument(1, 50L)

for (helper in c("helper-random.R", "helper-fits.R", "helper-dynamics.R", "helper-population.R")) {
  source(file.path("tests", "testthat", helper))
}

# A checkpoint every four steps: a good share of the kills meets one being written.
fit_diag <- function(file = NULL, from = asNamespace("ibrc")) {
  problem <- problem_of("DIAG")
  from$ibrc(problem$visits, problem$setting, problem$models, problem$prior, chains = 2, iter = 600, warmup = 300,
            seed = 5, refresh = 4, file = file)
}

# While it climbs there is no file yet.
fit_joint <- function(file = NULL, from = asNamespace("ibrc")) {
  from$ibrc(ward_visits(), clinic_of, clinic_step, ward_prior(), list(eta = 0), chains = 2, iter = 600, warmup = 300,
            seed = 5, refresh = 4, resolution = 6, file = file, dynamics = ward_iohmm(transitions = "shared"))
}

fit_differing <- function(file = NULL, from = asNamespace("ibrc")) {
  fit_people(chains = 2, iter = 300, warmup = 150, seed = 5, refresh = 4, resolution = 10, file = file, from = from)
}

# By kind: how it is fitted, and what resume() has to be given.
fits <- list(child = list(fit = fit_diag, given = list()),
             joint = list(fit = fit_joint, given = list(setting = clinic_of, models = clinic_step)),
             people = list(fit = fit_differing, given = list()))
quietly <- function(code) suppressWarnings(suppressMessages(code))
go_on <- function(file, kind, ...) quietly(do.call(resume, c(list(file, ...), fits[[kind]]$given)))

# In halves, the second a little later, as a slow disk would have it.
in_place <- function() {
  altered_package("replace_whole", function(path, bytes, ...) {
    connection <- file(path, "wb")
    on.exit(close(connection))
    half <- length(bytes) %/% 2
    writeBin(bytes[seq_len(half)], connection)
    flush(connection)
    Sys.sleep(0.02)
    writeBin(bytes[-seq_len(half)], connection)
  })
}

given <- commandArgs(TRUE)
if (length(given) > 1 && given[2] %in% c(names(fits), "planted")) {
  if (given[2] == "joint") ward_iohmm(transitions = "shared")
  if (given[2] == "people") people_visits()
  cat("begin", Sys.getpid(), "\n")
  planted <- given[2] == "planted"
  kind <- if (planted) "child" else given[2]
  fit <- function() quietly(fits[[kind]]$fit(given[3], if (planted) in_place() else asNamespace("ibrc")))
  took <- system.time(if (file.exists(given[3])) go_on(given[3], kind) else fit())
  cat(took[["elapsed"]], "\n")
  quit(status = 0)
}

# NA if the child was killed; how long it took if it came to its end first.
kill_child <- function(file, after, kind) {
  command <- paste("Rscript", shQuote(file.path("tests", "slow", "kill.R")), kills, kind, shQuote(file),
                   "2>/dev/null")
  child <- pipe(command, "r")
  on.exit(suppressWarnings(close(child)))
  pid <- as.integer(strsplit(readLines(child, 1), " ")[[1]][2])
  # The planted writer is hit once it has begun to write, however slow the machine is.
  while (kind == "planted" && !file.exists(file)) Sys.sleep(0.01)
  Sys.sleep(after)
  tools::pskill(pid, tools::SIGKILL)
  said <- readLines(child)
  if (length(said)) as.numeric(said) else NA
}

# Kills so many runs of a kind; `what` it is called. Returns how long a whole one takes.
kill_runs <- function(kind, what, kills) {
  folder <- tempfile("kill")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  path <- file.path(folder, "fit.ibrc")
  unbroken <- quietly(fits[[kind]]$fit())
  whole_time <- system.time(quietly(fits[[kind]]$fit(path)))[["elapsed"]]
  unlink(path)
  done <- 0L
  rows <- list()
  while (done < kills) {
    fresh <- !file.exists(path)
    took <- kill_child(path, stats::runif(1, 0, whole_time), kind)
    if (!is.na(took)) {
      # The machine may have been busier when the whole was timed.
      if (fresh) whole_time <- min(whole_time, 1.2 * took)
      unlink(path)
      next
    }
    done <- done + 1L
    row <- data.frame(file = file.exists(path), step = NA_integer_, resumed = NA, same = NA)
    if (row$file) {
      # A copy: the next child goes on from the file itself.
      copy <- file.path(folder, "copy.ibrc")
      file.copy(path, copy, overwrite = TRUE)
      row$step <- tryCatch(own("read_checkpoint")(copy)$contents$chain$state$iteration, error = function(e) NA_integer_)
      fit <- tryCatch(go_on(copy, kind, refresh = 0), error = function(e) NULL)
      row$resumed <- !is.null(fit)
      row$same <- identical(fit$draws, unbroken$draws) && identical(fit$log_posterior, unbroken$log_posterior) &&
        identical(fit$dynamics, unbroken$dynamics) && identical(fit$population, unbroken$population)
    }
    rows[[done]] <- row
  }
  rows <- do.call(rbind, rows)
  left <- rows[rows$file, ]
  parts <- length(list.files(folder, "[.]part$"))
  moved <- sum(c(TRUE, diff(left$step) != 0))
  promise(paste0("a killed ", what, " leaves no file yet or one that resumes"),
          paste(kills, "kills, all files resume, half at least at a step of their own"),
          paste0(nrow(rows) - nrow(left), " no file, ", sum(left$resumed), " of ", nrow(left), " resumed, at steps ",
                 min(left$step), " to ", max(left$step), "; ", parts, " kills met a write; ", moved,
                 " at a step of their own"),
          nrow(left) > 0 && all(left$resumed) && moved >= nrow(left) / 2)
  promise(paste0("a killed ", what, ", resumed, has the draws of an unbroken one"), "all, bit for bit",
          paste(sum(left$same), "of", nrow(left)), all(left$same))
  whole_time
}

set.seed(9)
whole_time <- kill_runs("child", "fit", kills)
invisible(kill_runs("joint", "fit of dynamics and agents together", max(1L, kills %/% 5L)))
invisible(kill_runs("people", "fit of people who differ", max(1L, kills %/% 5L)))

# ---- the planted writer ---------------------------------------------------------------

folder <- tempfile("kill")
dir.create(folder)
path <- file.path(folder, "fit.ibrc")
torn <- vapply(1:10, function(i) {
  unlink(path)
  kill_child(path, stats::runif(1, 0, 0.5), "planted")
  file.exists(path) && inherits(tryCatch(own("read_checkpoint")(path), error = identity), "ibrc_error_file")
}, NA)
unlink(folder, recursive = TRUE)
promise("a planted writer that fills the file itself is seen", "10 kills, one file torn at least",
        paste(sum(torn), "of", length(torn), "files torn"),
        any(torn))
finish()
