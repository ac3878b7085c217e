# Lines of R and of C that the everyday tests run, by covr and gcov: 95% of each at
# least. First a small package with known gaps: a count that passed them over would
# prove nothing.
#
#   Rscript tests/slow/lines.R [file to keep the lines in, as CSV]

source(file.path("tests", "slow", "shared", "promise.R"))
if (!requireNamespace("covr", quietly = TRUE) || !nzchar(Sys.which("gcov"))) {
  cat("Counting lines needs the R package covr and the program gcov.\n")
  quit(status = 77)
}

least <- 95

# The everyday tests, those that CRAN is spared among them. Threads count at the same
# time, processes add to each other's files: both without a count lost.
Sys.unsetenv("IBRC_EXTENDED_TESTS")
Sys.setenv(NOT_CRAN = "true", OMP_WAIT_POLICY = "passive", TESTTHAT_PARALLEL = "false")
flags <- getOption("covr.flags")
flags[["CFLAGS"]] <- paste(flags[["CFLAGS"]], "-fprofile-update=atomic")
options(covr.flags = flags)

scratch <- tempfile("lines")
dir.create(scratch)

# One row per line that could be run, and how often `code` ran it. The package is built from a
# copy and installed beside it: neither the sources nor anybody's library is written to.
# Processes leave their counts there as they end: those of one that a test killed as it
# wrote them cannot be read, and are taken away.
count_lines <- function(package, code) {
  library <- tempfile("library", scratch)
  tidy <- c(
    "Sys.sleep(5)",
    sprintf("for (counts in list.files(%s, '^covr_trace_', full.names = TRUE)) {", deparse(library)),
    "  if (is.null(tryCatch(readRDS(counts), error = function(e) NULL))) unlink(counts)",
    "}"
  )
  lines <- covr::tally_coverage(covr::package_coverage(package, type = "none", code = c(code, tidy), quiet = TRUE,
                                                       install_path = library))
  lines$language <- ifelse(grepl("[.][ch]$", lines$filename), "C", "R")
  lines[c("filename", "language", "line", "value")]
}

share_seen <- function(lines, language) 100 * mean(lines$value[lines$language == language] > 0)

# ---- planted gaps -----------------------------------------------------------------

plant <- function() {
  package <- file.path(scratch, "planted")
  for (folder in c("R", "src", "tests")) dir.create(file.path(package, folder), recursive = TRUE)
  put <- function(path, ...) writeLines(c(...), file.path(package, path))
  put("DESCRIPTION", "Package: planted", "Version: 1.0", "Title: Gaps", "Description: Gaps.", "License: GPL-3",
      "Author: Nobody", "Maintainer: Nobody <nobody@example.org>")
  put("NAMESPACE", "useDynLib(planted)", "export(halve)")
  put("R/halve.R", "halve <- function(x) {", "  if (x < 0) {", "    return(NULL)", "  }", "  .Call('half', x)", "}")
  put("src/half.c", "#include <Rinternals.h>", "SEXP half(SEXP x) {", "  double y = Rf_asReal(x);", "  if (y > 100.0)",
      "    y = 100.0;", "  return Rf_ScalarReal(y / 2.0);", "}")
  put("tests/halve.R", "stopifnot(planted::halve(3) == 1.5)")
  package
}
package <- plant()
planted <- count_lines(package, sprintf("source(%s)", deparse(file.path(package, "tests", "halve.R"))))
gaps <- planted[planted$value == 0, ]
promise("planted lines that no test runs are found, and no others", "the two lines planted",
        paste0(paste0(gaps$filename, " line ", gaps$line, collapse = ", "), ", of ", nrow(planted), " lines"),
        identical(paste(gaps$filename, gaps$line), c("R/halve.R 3", "src/half.c 5")) && nrow(planted) > 5)

# ---- the package ------------------------------------------------------------------

copy <- file.path(scratch, "ibrc")
dir.create(copy)
parts <- setdiff(list.files(all.files = TRUE, no.. = TRUE), c(".git", "_build", "demo-output", "site"))
invisible(file.copy(parts, copy, recursive = TRUE))
unlink(file.path(copy, "src", c("*.o", "*.so")))
# What fails for want of time, as it may where all code counts, has still run its lines: that
# the tests pass is everyday.R's to promise.
outcomes <- file.path(scratch, "outcomes.csv")
lines <- count_lines(copy, c(
  sprintf("tests <- as.data.frame(testthat::test_dir(%s, package = 'ibrc', load_package = 'installed',",
          deparse(file.path(copy, "tests", "testthat"))),
  "                                          reporter = 'silent', stop_on_failure = FALSE))",
  sprintf("write.csv(tests[c('file', 'test', 'nb', 'failed', 'skipped', 'error')], %s)", deparse(outcomes))
))
tests <- utils::read.csv(outcomes)
failed <- tests[tests$failed > 0 | tests$error, ]
cat(sum(tests$nb), "expectations,", sum(tests$failed), "failed,", sum(tests$skipped), "tests skipped\n")
cat(sprintf("  %s: %s\n", failed$file, failed$test), sep = "")
unlink(scratch, recursive = TRUE)
if (length(commandArgs(TRUE))) utils::write.csv(lines, commandArgs(TRUE)[1], row.names = FALSE)

for (language in c("R", "C")) {
  own <- lines[lines$language == language, ]
  promise(paste0("the everyday tests run ", least, "% of the lines of ", language), paste0(least, "% or more"),
          sprintf("%.2f%%, %d of %d in %d files", share_seen(lines, language), sum(own$value > 0), nrow(own),
                  length(unique(own$filename))),
          nrow(own) > 0 && share_seen(lines, language) >= least)
  # Had the five longest files no tests, the promise would break.
  longest <- utils::head(names(sort(table(own$filename), decreasing = TRUE)), 5)
  without <- transform(lines, value = ifelse(filename %in% longest, 0, value))
  promise(paste0("planted fault, the five longest files of ", language, " are not tested, is found"),
          paste0("below ", least, "%"), sprintf("%.2f%%", share_seen(without, language)),
          share_seen(without, language) < least)
}

unseen <- sort(table(lines$filename[lines$value == 0]), decreasing = TRUE)
cat("\nMost lines that no everyday test runs\n")
for (file in utils::head(names(unseen), 5)) {
  at <- sort(lines$line[lines$filename == file & lines$value == 0])
  runs <- split(at, cumsum(c(TRUE, diff(at) > 1)))
  cat(sprintf("  %-22s %3d: %s\n", file, unseen[[file]],
              paste(vapply(runs, function(run) paste(unique(range(run)), collapse = "-"), ""), collapse = " ")))
}
finish()
