# A real signal to a real process: tests/slow/interrupt.R measures, this only looks
# whether a fit comes back at all, and with what.

child_script <- '
library(ibrc)
path <- commandArgs(TRUE)
setting <- diag_setting()
visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.5), diag_models()), 50, seed = 1)
cat("begin", Sys.getpid(), "\\n")
fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 50000, warmup = 0,
            seed = 1, refresh = 0, file = path)
cat(fit$interrupted, dim(fit$draws$all)[1], anyNA(fit$draws$all), "\\n")
'

test_that("Ctrl-C brings back the draws so far, and leaves a checkpoint at the same step", {
  skip_on_cran()
  skip_on_os("windows")
  script <- withr::local_tempfile(fileext = ".R", lines = child_script)
  path <- withr::local_tempfile(fileext = ".ibrc")
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  rscript <- file.path(R.home("bin"), "Rscript")
  child <- pipe(paste(shQuote(rscript), shQuote(script), shQuote(path), "2>&1"), "r")
  withr::defer(close(child))
  begun <- strsplit(readLines(child, 1), " ")[[1]]
  expect_identical(begun[1], "begin")
  # The first checkpoint is written before the first step.
  begun_after <- system.time(for (wait in 1:2000) if (file.exists(path)) break else Sys.sleep(0.05))[["elapsed"]]
  # Where all is slow, under a sanitizer or beside other work, so is a step.
  Sys.sleep(0.5 + begun_after)
  tools::pskill(as.integer(begun[2]), tools::SIGINT)
  said <- readLines(child)
  expect_match(said, "Interrupted at step .* goes on", all = FALSE)
  result <- strsplit(said[length(said)], " ")[[1]]
  expect_identical(result[c(1, 3)], c("TRUE", "FALSE"))
  draws <- as.integer(result[2])
  expect_gt(draws, 1)
  expect_lt(draws, 50000)
  expect_identical(iteration_of(read_checkpoint(path)$contents$chain), draws)
})
