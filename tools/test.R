# Runs the tests on the installed package. The last line counts expectations:
# N passed, N failed, N skipped. Exit status 1 if any failed.
#
#   Rscript tools/test.R [folder of tests] [filter]

arguments <- commandArgs(TRUE)
folder <- if (length(arguments) > 0) arguments[1] else "tests/testthat"
filter <- if (length(arguments) > 1 && nzchar(arguments[2])) arguments[2]

Sys.setenv(NOT_CRAN = "true")

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
    filter = filter, package = "ibrc", load_package = "installed",
    reporter = reporter, stop_on_failure = FALSE
  )
  FALSE
}, error = function(e) {
  message("The tests could not be run to their end: ", conditionMessage(e))
  TRUE
})

outcomes <- unlist(lapply(counts$get_results(), function(test) {
  vapply(test$results, function(x) sub("^expectation_", "", class(x)[1]), "")
}))
failed <- sum(outcomes %in% c("failure", "error")) + stopped
cat(sprintf(
  "\n%d passed, %d failed, %d skipped\n",
  sum(outcomes == "success"), failed, sum(outcomes == "skip")
))
quit(status = as.integer(failed > 0))
