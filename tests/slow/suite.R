# The whole test suite, with the slow tests among it that everyday runs leave out: most
# of an hour. Run by `make trust`, which names the sources, it goes on where it was stopped.
#
#   Rscript tests/slow/suite.R

source(file.path("tests", "slow", "shared", "promise.R"))

# What the tests in a folder said, how many passed, failed and were skipped.
said_of <- function(folder) {
  suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("tools/test.R", shQuote(folder)),
                           stdout = TRUE, stderr = TRUE))
}
counts_of <- function(said, show) {
  last <- grep("^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$", said, value = TRUE)
  counts <- if (length(last) == 1) as.integer(regmatches(last, gregexpr("[0-9]+", last))[[1]]) else c(0L, NA, NA)
  if (show && !isTRUE(counts[2] == 0)) writeLines(failures_in(said))
  counts
}

# Each failure with the lines that follow it; where none is marked, the last lines.
failures_in <- function(said) {
  at <- grep("^(Failure|Error) [(]", said)
  if (!length(at)) return(utils::tail(said, 60))
  said[sort(unique(pmin(c(outer(at, 0:25, `+`)), length(said))))]
}

# Tests that were skipped, one row per reason: what needs something that is not here was not run.
tell_skipped <- function(said) {
  pattern <- "^Skip [(].*[)]: (.*)$"
  at <- grep(pattern, said)
  reasons <- gsub(": ", ", ", sub("^Reason: ", "", said[at + 1]))
  for (reason in unique(reasons)) {
    not_run(paste(sub(pattern, "\\1", said[at[reasons == reason]]), collapse = "; "), reason)
  }
  length(at)
}

folder <- tempfile("planted")
dir.create(folder)
writeLines(c("test_that('one holds', expect_identical(1, 1))",
             "test_that('the other does not', expect_identical(1, 2))",
             "test_that('a third stops', stop('halt'))",
             "test_that('a fourth is skipped', skip('none: here'))"), file.path(folder, "test-planted.R"))
said <- said_of(folder)
counts <- counts_of(said, show = FALSE)
skipped <- utils::capture.output(tell_skipped(said))
unlink(folder, recursive = TRUE)
promise("planted tests that fail, stop and are skipped are counted", "2 of 4 failed, 1 skipped",
        paste(counts[2], "of 4 failed,", counts[3], "skipped"),
        identical(counts, c(1L, 2L, 1L)) && identical(skipped[1], "a fourth is skipped: none, here: not run"))

sources <- Sys.getenv("IBRC_SOURCES")
parts <- file.path("tests", "slow", "kept", "suite-")
if (nzchar(sources)) Sys.setenv(IBRC_TEST_KEPT = paste0(parts, sources))
said <- said_of("tests/testthat")
counts <- counts_of(said, show = TRUE)
if (nzchar(sources) && isTRUE(counts[2] == 0)) unlink(Sys.glob(paste0(parts, "*")), recursive = TRUE)
promise("the whole suite passes, slow tests included", "none fails, one passes at least",
        paste0(counts[1], " expectations, ", counts[3], " skipped"), isTRUE(counts[1] > 0 && counts[2] == 0))
promise("what the suite skipped is listed", "every test that was skipped", paste(counts[3], "tests"),
        identical(tell_skipped(said), counts[3]))
finish()
