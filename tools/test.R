# Runs the tests on the installed package. The last line counts expectations:
# N passed, N failed, N skipped. Exit status 1 if any failed.
#
#   Rscript tools/test.R [folder of tests] [filter]
#
# With IBRC_TEST_JOBS=n so many processes share the files out among them: each takes the next one that
# nobody has taken. With IBRC_TEST_KEPT=folder one process keeps there what each file came to, and does not run again
# what passed: so a run that was stopped goes on.

arguments <- commandArgs(TRUE)
folder <- if (length(arguments) > 0) arguments[1] else "tests/testthat"
filter <- if (length(arguments) > 1 && nzchar(arguments[2])) arguments[2]

Sys.setenv(NOT_CRAN = "true")

# Where tests find the package and their helpers. Helpers are read once, as in a check: the fits that they keep serve
# all files of a process.
test_home <- function() {
  suppressPackageStartupMessages({
    library(testthat)
    library(ibrc)
  })
  home <- test_env("ibrc")
  source_test_helpers(folder, home)
  home
}

# Tests send this process signals. One that comes late, to a test that did not send it, ends that test and all that
# follow: they are run once more then.
run_tests <- function(filter, home, again = TRUE) {
  counts <- testthat::ListReporter$new()
  reporter <- testthat::MultiReporter$new(list(
    testthat::ProgressReporter$new(
      show_praise = FALSE, max_failures = Inf,
      update_interval = if (cli::is_dynamic_tty()) 0.1 else Inf
    ),
    counts
  ))
  stopped <- tryCatch({
    testthat::test_dir(folder,
      filter = filter, package = "ibrc", load_package = "installed", env = home, load_helpers = FALSE,
      reporter = reporter, stop_on_failure = FALSE
    )
    FALSE
  }, error = function(e) {
    message("The tests could not be run to their end: ", conditionMessage(e))
    TRUE
  }, interrupt = function(e) {
    message("The tests were interrupted", if (again) ": they are run again", ".")
    NA
  })
  if (is.na(stopped) && again) return(run_tests(filter, home, again = FALSE))
  outcomes <- unlist(lapply(counts$get_results(), function(test) {
    vapply(test$results, function(x) sub("^expectation_", "", class(x)[1]), "")
  }))
  c(passed = sum(outcomes == "success"), failed = sum(outcomes %in% c("failure", "error")) + !stopped %in% FALSE,
    skipped = sum(outcomes == "skip"))
}

# ---- several processes ------------------------------------------------------------------------------

# Names of the files that the filter leaves, as it is applied to them: the largest first, which tend to be slow.
test_names <- function() {
  files <- list.files(folder, "^test.*[.][rR]$", full.names = TRUE)
  files <- files[order(-file.size(files))]
  names <- sub("^test[-_]?(.*)[.][rR]$", "\\1", basename(files))
  if (is.null(filter)) names else grep(filter, names, value = TRUE)
}

# The filter that leaves one file.
only <- function(name) paste0("^", gsub("([.+])", "\\\\\\1", name), "$")

# What a worker does: a folder can be made once, and whoever makes it has the file.
work_through <- function(claims) {
  total <- c(passed = 0, failed = 0, skipped = 0)
  home <- test_home()
  for (name in test_names()) {
    mine <- dir.create(file.path(claims, name), showWarnings = FALSE)
    if (mine) total <- total + run_tests(only(name), home)
  }
  saveRDS(total, file.path(claims, paste0(Sys.getpid(), ".rds")))
}

# Starts the workers, shows what each printed as a whole, and adds up. One that died counts as a failure.
share_out <- function(jobs) {
  claims <- tempfile("tests")
  dir.create(claims)
  on.exit(unlink(claims, recursive = TRUE))
  rscript <- file.path(R.home("bin"), "Rscript")
  given <- c("tools/test.R", folder, if (is.null(filter)) "" else filter)
  workers <- lapply(seq_len(jobs), function(i) {
    processx::process$new(rscript, given, stdout = file.path(claims, paste0(i, ".out")), stderr = "2>&1",
                          cleanup_tree = TRUE, env = c("current", IBRC_TEST_JOBS = "1", IBRC_TEST_CLAIMS = claims))
  })
  for (worker in workers) worker$wait()
  for (i in seq_len(jobs)) writeLines(readLines(file.path(claims, paste0(i, ".out")), warn = FALSE))
  totals <- lapply(list.files(claims, "[.]rds$", full.names = TRUE), readRDS)
  died <- jobs - length(totals)
  if (died > 0) message(died, " of ", jobs, " processes did not come to their end.")
  Reduce(`+`, totals, c(passed = 0, failed = died, skipped = 0))
}

# ---- one process that goes on -----------------------------------------------------------------------

# What a file came to, from what is kept of it: its counts and, below, what was printed.
read_kept <- function(path) {
  said <- readLines(path, warn = FALSE)
  writeLines(said[-1])
  stats::setNames(as.numeric(strsplit(said[1], " ")[[1]]), c("passed", "failed", "skipped"))
}

# Runs one file, which prints as ever. Kept is what ended without a failure.
run_and_keep <- function(name, path, home) {
  printed <- tempfile()
  sink(printed, split = TRUE)
  counts <- tryCatch(run_tests(only(name), home), finally = sink())
  if (counts[["failed"]] == 0) {
    part <- paste0(path, ".part")
    writeLines(c(paste(counts, collapse = " "), readLines(printed, warn = FALSE)), part)
    file.rename(part, path)
  }
  counts
}

go_on <- function(kept) {
  dir.create(kept, recursive = TRUE, showWarnings = FALSE)
  kept <- normalizePath(kept)
  total <- c(passed = 0, failed = 0, skipped = 0)
  home <- NULL
  for (name in sort(test_names(), method = "radix")) {
    path <- file.path(kept, paste0(name, ".txt"))
    if (!file.exists(path) && is.null(home)) home <- test_home()
    total <- total + (if (file.exists(path)) read_kept(path) else run_and_keep(name, path, home))
  }
  total
}

jobs <- max(1L, as.integer(Sys.getenv("IBRC_TEST_JOBS", "1")), na.rm = TRUE)
claims <- Sys.getenv("IBRC_TEST_CLAIMS")
kept <- Sys.getenv("IBRC_TEST_KEPT")
Sys.unsetenv(c("IBRC_TEST_CLAIMS", "IBRC_TEST_KEPT")) # not for what the tests start
if (nzchar(claims)) {
  work_through(claims)
  quit(status = 0)
}
jobs <- min(jobs, length(test_names()))
total <- if (nzchar(kept)) go_on(kept) else if (jobs > 1) share_out(jobs) else run_tests(filter, test_home())
cat(sprintf("\n%d passed, %d failed, %d skipped\n", total[["passed"]], total[["failed"]], total[["skipped"]]))
quit(status = as.integer(total[["failed"]] > 0))
