# What one evaluation of a posterior costs in two builds of the package, next to each other in one
# run: each build in a process of its own, which take turns. Build the other one first, say an
# older commit of a checkout:
#
#   mkdir old old-library && git archive COMMIT | tar -x -C old
#   R CMD INSTALL --library=old-library old
#   Rscript inst/bench/builds.R old-library
#
# The build that is timed against it is the one that library(ibrc) finds.

library(ibrc)
options(width = 120)
source(system.file("bench", "shared", "clock.R", package = "ibrc"))

other <- commandArgs(TRUE)
if (length(other) != 1 || !dir.exists(file.path(other, "ibrc"))) {
  stop("Say in which library the other build is installed: Rscript inst/bench/builds.R old-library", call. = FALSE)
}

# Proposals a step of 0.1 away from the agent who made the data, as a sampler makes them: 64 at once, so that
# kernels are what is timed. Stays in the worker; works in version 0.1.0 (before its rooms) too.
prepare <- function(optimism) {
  own <- function(name) getFromNamespace(name, "ibrc")
  setting <- ibrc::diag_setting()
  plan <- ibrc::plan_agent(setting, ibrc::bounded_agent(0.5, 1 / optimism, 1e-3), ibrc::diag_models(), resolution = 100)
  visits <- stats::simulate(plan, 1000, seed = 1, horizon = 50)
  tree <- own("build_histories")(own("code_visits")(visits, setting), setting)
  prior <- ibrc::ibrc_prior(alpha ~ lognormal(0, 3), optimism ~ normal(0, 3), eta ~ lognormal(0, 3))
  evaluator <- own("new_evaluator")(plan, list(tree), rep(1L, 64), prior, list(), 1e-8, 1L)
  set.seed(1)
  theta <- matrix(c(log(0.5), optimism, log(1e-3)), 64, 3, byrow = TRUE) + stats::rnorm(192, sd = 0.1)
  at <- matrix(plan$solution$value, ncol = 64, nrow = length(plan$solution$value))
  evaluate <- own("evaluate_batch")
  assign("task", function() evaluate(evaluator, theta, at), envir = globalenv())
  c(visits = nrow(visits), histories = tree$n_histories, log_likelihood = sum(task()$log_likelihood))
}

# Seconds per evaluation, in the time of the processor: others may be at work.
time_task <- function(repeats) {
  start <- proc.time()
  for (k in seq_len(repeats)) task()
  spent <- proc.time() - start
  (spent[["user.self"]] + spent[["sys.self"]]) / repeats / 64
}

start_worker <- function(library) {
  worker <- parallel::makePSOCKcluster(1)
  parallel::clusterCall(worker, function(library) is.environment(loadNamespace("ibrc", lib.loc = library)), library)
  worker
}
ask <- function(worker, f, ...) parallel::clusterCall(worker, f, ...)[[1]]

workers <- list(this = start_worker(dirname(find.package("ibrc"))), other = start_worker(normalizePath(other)))
say("== A posterior evaluation on DIAG (resolution 100, 1,000 trajectories): times as fast as the other build's",
    " (to reach, over version 0.1.0: 1.5)\n")
rows <- lapply(c(optimist = 0.8, pessimist = -1.3), function(optimism) {
  made <- lapply(workers, ask, prepare, optimism)
  repeats <- ceiling(0.2 / ask(workers$other, time_task, 4) / 64)
  time <- t(replicate(rounds, vapply(workers, ask, 0, time_task, repeats)))
  ratio <- time[, "other"] / time[, "this"]
  data.frame(visits = made$this[["visits"]], histories = made$this[["histories"]],
             microseconds = middle(1e6 * time[, "this"]), other = middle(1e6 * time[, "other"]),
             times_as_fast = middle(ratio),
             quartiles = paste(signif(stats::quantile(ratio, c(0.25, 0.75)), 3), collapse = " to "),
             gap = signif(abs(made$this[["log_likelihood"]] / made$other[["log_likelihood"]] - 1), 2))
})
for (worker in workers) parallel::stopCluster(worker)
rows <- do.call(rbind, rows)
show(cbind(agent = rownames(rows), rows))
say("gap: how far apart the log-likelihoods are, relatively.")
