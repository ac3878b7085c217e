# Everyday tests that the package's promises rest on: each passes on the package as it is
# and fails on one with a fault of its kind, planted into the loaded namespace.
#
#   Rscript tests/slow/everyday.R [promises, by their numbers below]

source(file.path("tests", "slow", "shared", "promise.R"))

# A child runs the tests that `filter` names, after `fault`: text of R code that sees
# the namespace as `ns` and changes it with plant(name, function). Returns how many
# expectations passed and failed.
run_tests <- function(filter, fault = "") {
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "ns <- loadNamespace('ibrc')",
    "plant <- function(name, f) {",
    "  environment(f) <- list2env(list(was = get(name, ns)), parent = ns)",
    "  unlockBinding(name, ns)",
    "  assign(name, f, ns)",
    "}",
    fault,
    "source(file.path('tools', 'test.R'))"
  ), script)
  said <- suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c(shQuote(script), "tests/testthat", shQuote(filter)), stdout = TRUE,
    stderr = TRUE, env = "IBRC_EXTENDED_TESTS=0"
  ))
  last <- grep("^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$", said, value = TRUE)
  if (length(last) != 1) return(list(passed = 0L, failed = NA, said = utils::tail(said, 20)))
  counts <- as.integer(regmatches(last, gregexpr("[0-9]+", last))[[1]])
  list(passed = counts[1], failed = counts[2], skipped = counts[3], said = utils::tail(said, 40))
}

rows <- list(
  list(what = "over 300 malformed calls, several an expectation, get a classed error that names the argument",
       filter = "^malformed$", fault = "counts are not looked at", code = "plant('check_count', function(x, ...) x)"),
  list(what = "messy data are read or refused, by row", filter = "^messy$",
       fault = "times are not looked at", code = "plant('validate_times', function(...) invisible())"),
  list(what = "a planted identifier is in no message, fit, checkpoint, report or picture", filter = "^privacy$",
       fault = "an error says whose rows",
       code = "plant('validate_ibrc_trajectories', function(visits, ...) {
                 tryCatch(was(visits, ...), error = function(e) {
                   e$message <- paste(e$message, toString(unique(visits[[attr(visits, 'roles')$id]])))
                   stop(e)
                 })
               })"),
  list(what = "small counts are hidden where asked", filter = "^behaviour-suppress$",
       fault = "they are not", code = "plant('hide_counts', function(x, below) x)"),
  list(what = "draws do not depend on threads, and come back for a seed", filter = "^(fit-ibrc|infer-evaluator)$",
       fault = "a likelihood that knows how many threads there are",
       code = "plant('evaluate_slice', function(evaluator, ...) {
                 out <- was(evaluator, ...)
                 out$log_likelihood <- out$log_likelihood * (1 + 0.01 * evaluator$cores)
                 out
               })"),
  list(what = "a chain's draws do not depend on the chains beside it", filter = "^(infer-sampler|common-streams)$",
       fault = "chains that share a number",
       code = "plant('draw_noise', function(...) {
                 out <- was(...)
                 out$kind[] <- rep(out$kind[1, ], each = nrow(out$kind))
                 out
               })"),
  list(what = "stopping after any step and resuming gives identical draws", filter = "^(fit-resume|infer-checkpoint)$",
       fault = "a resumed run has lost its noise",
       code = "plant('read_checkpoint', function(...) {
                 out <- was(...)
                 out$contents$chain$state$streams <- rev(out$contents$chain$state$streams)
                 out
               })"),
  list(what = "the caller's random numbers are left as documented", filter = "^common-streams$",
       fault = "they are not put back", code = "plant('restore_random_state', function(seed, kinds) NULL)"),
  list(what = "groups in processes of their own have the draws of one process", filter = "^infer-spread$",
       fault = "one group's data in every process",
       code = "plant('evaluate_batch', function(evaluator, theta, values, group = evaluator$group) {
                 was(evaluator, theta, values, rep(1L, length(group)))
               })"),
  list(what = "plans are those solved by hand", filter = "^hand-solved$",
       fault = "a discount a little too small", code = "plant('check_discount', function(x, ...) 0.999 * x)"),
  list(what = "optima of benchmark problems are those published or found exactly",
       filter = "^(problem-tiger|problem-as_setting|pomdp-solver|benchmarks)$",
       fault = "a discount too small", code = "plant('check_discount', function(x, ...) 0.99 * x)")
)

numbers <- if (length(commandArgs(TRUE))) as.integer(commandArgs(TRUE)) else seq_along(rows)
for (row in rows[numbers]) {
  sound <- run_tests(row$filter)
  ill <- run_tests(row$filter, row$code)
  passed <- isTRUE(sound$passed > 0 && sound$failed == 0)
  if (!passed) writeLines(sound$said)
  promise(row$what, "all pass, one at least", paste(sound$passed, "expectations"), passed)
  promise(paste0("planted fault, ", row$fault, ", is found"), "one fails at least",
          paste(ill$failed, "expectations fail"), isTRUE(ill$failed > 0))
}
finish()
