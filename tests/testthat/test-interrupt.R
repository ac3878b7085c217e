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

# Long calls --------------------------------------------------------------------------------

# A signal comes before each call, and R notices it inside, at the first pause, or else after it: then the call came
# to its end, which none of them may. (R may also notice it before the call, which tells nothing: so several times.)
# The pause behind the signal is for one that comes late, under memcheck or by way of another thread.
expect_answer <- function(run, label, times = 20) {
  ended <- vapply(seq_len(times), function(time) {
    done <- FALSE
    is_interrupted({
      suspendInterrupts({
        send_interrupt()
        Sys.sleep(0.01)
      })
      run()
      done <- TRUE
    })
    done
  }, NA)
  expect_identical(sum(ended), 0L, label = paste(label, "that were not interrupted"))
}

test_that("long calls into C answer an interrupt before they end", {
  skip_without_signals()
  models <- diag_models()
  stack <- stack_models(models)
  plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 0.1), models, resolution = 50)
  start <- numeric(plan$space$n_nodes)
  solution <- plan$solution
  expect_answer(function() .Call(ffi_table_build, stack, plan$space, 1L, 1L), "tables")
  expect_answer(function() .Call(ffi_solve, plan$tables, plan$problem, start, 1e-8, 1000L, 1L), "solves")
  value_policy <- function() {
    .Call(ffi_policy_value, plan$tables, plan$problem, solution$policy, solution$sigma, 1e-8, 1000L, 1L)
  }
  expect_answer(value_policy, "values of policies")
  mass <- replace(start, 1, 1)
  expect_answer(function() .Call(ffi_occupancy, plan$tables, solution$policy, solution$sigma, 0.9, mass, 1e-12),
                "occupancies")
  expect_answer(function() .Call(ffi_backup, plan$tables, plan$problem, start, 5L, 1L), "backups")
  expect_answer(function() node_beliefs(plan$space), "nodes")
  beliefs <- t(plan$nodes)
  expect_answer(function() .Call(ffi_space_locate, plan$space, beliefs), "interpolations")
  expect_answer(function() .Call(ffi_policy, plan, beliefs, rep(-1L, ncol(beliefs))), "policies")
  expect_answer(function() .Call(ffi_sigma, plan, beliefs, rep(0L, ncol(beliefs))), "model weights")
  coded <- code_visits(clinic_visits(), diag_setting())
  tree <- build_histories(coded, diag_setting())
  expect_answer(function() build_histories(coded, diag_setting()), "trees")
  expect_answer(function() .Call(ffi_loglik, plan, stack, tree, c(0.5, 0.5), 1L), "likelihoods")
  # After all that, the same answers.
  again <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 0.1), models, resolution = 50)
  expect_identical(again$solution, solution)
})

test_that("a fit on a lattice so fine that one solve takes long answers within it", {
  skip_without_signals()
  plan <- plan_agent(diag_setting(), bounded_agent(0.5), diag_models(), resolution = 170000)
  expect_gt(length(plan$tables$column), 4e6)
  tree <- build_histories(code_visits(clinic_visits(), diag_setting()), diag_setting())
  evaluator <- new_evaluator(plan, list(tree), 1L, ibrc_prior(alpha ~ lognormal(0, 1)), list(), 1e-8, 1L)
  value <- matrix(0, plan$space$n_nodes, 1)
  parameters <- parameters_of(evaluator$places, matrix(1))
  expect_answer(function() .Call(ffi_evaluate, evaluator$batch, parameters, NULL, value, 0L, 1L), "evaluations", 3)
  # Vectors one by one with all threads, or all at once: the same numbers.
  alone <- evaluate_batch(evaluator, matrix(0), value)
  evaluator$cores <- 2L
  expect_identical(evaluate_batch(evaluator, matrix(0), value), alone)
})
