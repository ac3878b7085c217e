# The whole test suite, with the slow tests among it that everyday runs leave out: most
# of an hour.
#
#   Rscript tests/slow/suite.R

source(file.path("tests", "slow", "shared", "promise.R"))

# What came of the tests in a folder: how many passed, failed and were skipped.
counts_of <- function(folder, show) {
  said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("tools/test.R", shQuote(folder)),
                                   stdout = TRUE, stderr = TRUE))
  last <- grep("^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$", said, value = TRUE)
  counts <- if (length(last) == 1) as.integer(regmatches(last, gregexpr("[0-9]+", last))[[1]]) else c(0L, NA, NA)
  if (show && !isTRUE(counts[2] == 0)) writeLines(utils::tail(said, 60))
  counts
}

folder <- tempfile("planted")
dir.create(folder)
writeLines(c("test_that('one holds', expect_identical(1, 1))",
             "test_that('the other does not', expect_identical(1, 2))",
             "test_that('a third stops', stop('halt'))"), file.path(folder, "test-planted.R"))
counts <- counts_of(folder, show = FALSE)
unlink(folder, recursive = TRUE)
promise("planted tests that fail and stop are counted", paste(counts[2], "of 3 failed"), identical(counts[1:2], 1:2))

counts <- counts_of("tests/testthat", show = TRUE)
promise("the whole suite passes, slow tests included", paste0(counts[1], " expectations, ", counts[3], " skipped"),
        isTRUE(counts[1] > 0 && counts[2] == 0))
finish()
