# SIGKILL at random moments: what is left is no file yet, or one that resume() takes up
# to the very draws of an unbroken fit. Each kill hits either a fresh fit or one that
# goes on from what the kill before it left. Then a planted writer that fills the file
# itself, not one beside it that takes its place.
#
#   Rscript tests/slow/kill.R [kills]

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "problems.R"))

kills <- argument(1, 50L)

# A checkpoint every four steps: a good share of the kills meets one being written.
fit_diag <- function(file = NULL, from = asNamespace("ibrc")) {
  problem <- problem_of("DIAG")
  from$ibrc(problem$visits, problem$setting, problem$models, problem$prior, chains = 2, iter = 600, warmup = 300,
            seed = 5, refresh = 4, file = file)
}

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
if (length(given) > 1 && given[2] %in% c("child", "planted")) {
  cat("begin", Sys.getpid(), "\n")
  fit <- function() fit_diag(given[3], if (given[2] == "planted") in_place() else asNamespace("ibrc"))
  took <- system.time(suppressMessages(if (file.exists(given[3])) resume(given[3]) else fit()))
  cat(took[["elapsed"]], "\n")
  quit(status = 0)
}

# NA if the child was killed; how long it took if it came to its end first.
kill_child <- function(file, after, kind = "child") {
  command <- paste("Rscript", shQuote(file.path("tests", "slow", "kill.R")), kills, kind, shQuote(file),
                   "2>/dev/null")
  child <- pipe(command, "r")
  on.exit(suppressWarnings(close(child)))
  pid <- as.integer(strsplit(readLines(child, 1), " ")[[1]][2])
  Sys.sleep(after)
  tools::pskill(pid, tools::SIGKILL)
  said <- readLines(child)
  if (length(said)) as.numeric(said) else NA
}

folder <- tempfile("kill")
dir.create(folder)
path <- file.path(folder, "fit.ibrc")
unbroken <- suppressMessages(fit_diag())
whole_time <- system.time(suppressMessages(fit_diag(path)))[["elapsed"]]
unlink(path)
set.seed(9)
done <- 0L
rows <- list()
while (done < kills) {
  fresh <- !file.exists(path)
  took <- kill_child(path, stats::runif(1, 0, whole_time))
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
    fit <- tryCatch(suppressMessages(resume(copy, refresh = 0)), error = function(e) NULL)
    row$resumed <- !is.null(fit)
    row$same <- identical(fit$draws, unbroken$draws) && identical(fit$log_posterior, unbroken$log_posterior)
  }
  rows[[done]] <- row
}
rows <- do.call(rbind, rows)
left <- rows[rows$file, ]
parts <- length(list.files(folder, "[.]part$"))
moved <- sum(c(TRUE, diff(left$step) != 0))
unlink(folder, recursive = TRUE)
promise("a killed fit leaves no file yet or one that resumes",
        paste(kills, "kills, all files resume, half at least at a step of their own"),
        paste0(nrow(rows) - nrow(left), " no file, ", sum(left$resumed), " of ", nrow(left), " resumed, at steps ",
               min(left$step), " to ", max(left$step), "; ", parts, " kills met a write; ", moved,
               " at a step of their own"),
        nrow(left) > 0 && all(left$resumed) && moved >= nrow(left) / 2)
promise("a killed fit, resumed, has the draws of an unbroken one", "all, bit for bit",
        paste(sum(left$same), "of", nrow(left)), all(left$same))

# ---- the planted writer ---------------------------------------------------------------

dir.create(folder)
torn <- vapply(1:10, function(i) {
  unlink(path)
  kill_child(path, stats::runif(1, 0.5, 1) * whole_time, "planted")
  file.exists(path) && inherits(tryCatch(own("read_checkpoint")(path), error = identity), "ibrc_error_file")
}, NA)
unlink(folder, recursive = TRUE)
promise("a planted writer that fills the file itself is seen", "10 kills, one file torn at least",
        paste(sum(torn), "of", length(torn), "files torn"),
        any(torn))
finish()
