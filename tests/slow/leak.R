# No leak: what the process holds in memory (its resident set) and what R counts as used, over
# many short calls, after some to settle. A slope is the median of the slopes between any
# two readings, so that no single step of the allocator makes it. Needs Linux, and a compiler
# for what R has no function for.
#
#   Rscript tests/slow/leak.R

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "small.R"))

package <- asNamespace("ibrc")
folder <- tempfile("leak")
dir.create(folder)

# ---- how much is held ----------------------------------------------------------------

# Room that was freed stays with the process, and megabytes of leaks would go into it
# unseen: it has to be given back before a reading. And a leak to plant.
writeLines(c(
  "#include <malloc.h>",
  "#include <stdlib.h>",
  "#include <string.h>",
  "void give_back(void) { malloc_trim(0); }",
  "char *volatile lost;", # or the compiler sees that nobody reads it
  "void lose(int *n) { lost = malloc((size_t)*n); if (lost) memset(lost, 1, (size_t)*n); }"
), file.path(folder, "memory.c"))
made <- system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", shQuote(file.path(folder, "memory.c"))),
                stdout = FALSE, stderr = FALSE)
if (made != 0 || !file.exists("/proc/self/statm")) {
  cat("This needs /proc, a compiler and the GNU C library.\n")
  quit(status = 77)
}
dyn.load(file.path(folder, paste0("memory", .Platform$dynlib.ext)))
page <- as.numeric(system2("getconf", "PAGESIZE", stdout = TRUE))
cell <- as.numeric(utils::object.size(pairlist(1)) - utils::object.size(1))

# In bytes: the resident set, and R's own objects.
held <- function() {
  used <- gc()[, 1]
  .C("give_back")
  c(resident = page * scan("/proc/self/statm", what = 0, n = 2, quiet = TRUE)[2], objects = sum(used * c(cell, 8)))
}

median_slope <- function(x, y) {
  pairs <- utils::combn(length(x), 2)
  stats::median((y[pairs[2, ]] - y[pairs[1, ]]) / (x[pairs[2, ]] - x[pairs[1, ]]))
}

# Bytes a call, over `n` of them.
bytes_a_call <- function(call, n, settle) {
  for (i in seq_len(settle)) call(i)
  every <- n %/% 50
  readings <- vapply(seq_len(50), function(reading) {
    for (i in seq_len(every)) call(settle + (reading - 1) * every + i)
    held()
  }, c(resident = 0, objects = 0))
  apply(readings, 1, median_slope, x = every * seq_len(50))
}

say <- function(slope) {
  paste0("resident ", round(slope[["resident"]]), ", objects ", round(slope[["objects"]]), " bytes each")
}

promise_no_leak <- function(what, call, n, settle) {
  slope <- bytes_a_call(call, n, settle)
  promise(paste0("no leak over ", format(n, big.mark = ","), " ", what),
          "less than 1,024 bytes each, resident and objects", say(slope), all(slope < 1024))
}

# ---- what is called ------------------------------------------------------------------

fit <- function(i) small_fit(package, iter = 12, seed = i)

path <- file.path(folder, "fit.ibrc")
kept <- file.path(folder, "kept.ibrc")
half <- observe(small_fit(package, iter = 12, file = path, refresh = 4), function(step) {
  if (step == 8) file.copy(path, kept)
})
resume_copy <- function(i) {
  file.copy(kept, path, overwrite = TRUE)
  suppressMessages(resume(path, refresh = 0))
}

plan <- function(i) {
  plan_agent(small_problem$setting, bounded_agent(0.5 + i / 1e4, 1.25, 1e-3), small_problem$models, 10)
}

# A fit that gets a real interrupt at its tenth step.
interrupted <- 0
interrupt <- function(i) {
  signals <- 1
  seen <- observe(small_fit(package, iter = 4000, seed = i, refresh = 10), function(step) {
    if (signals > 0) tools::pskill(Sys.getpid(), tools::SIGINT)
    signals <<- 0
  })
  interrupted <<- interrupted + inherits(seen$error, "ibrc_error_interrupted")
}

# Evaluations in which no solve has the backups it needs, and one that C refuses.
evaluator <- local({
  plan <- plan_agent(small_problem$setting, bounded_agent(0.5), small_problem$models, 10)
  tree <- own("build_histories")(own("code_visits")(small_problem$visits, plan$setting), plan$setting)
  out <- own("new_evaluator")(plan, list(tree), c(1L, 1L), small_problem$prior, list(), 1e-8, 1L)
  out$batch$max_backups <- 1L
  out
})
failed <- 0
refused <- 0
fail <- function(i) {
  result <- own("evaluate_batch")(evaluator, matrix(c(0.1, 0.2, i / 1e4, 1), 2), matrix(0, 11, 2))
  failed <<- failed + all(result$log_likelihood == -Inf)
  error <- try(own("evaluate_batch")(evaluator, matrix(0.1, 2, 2), matrix(0, 11, 2), c(1L, 7L)), silent = TRUE)
  refused <<- refused + inherits(error, "try-error")
}

tiger_visits <- simulate(plan_agent(tiger_setting(), bounded_agent(alpha = 20)), 20, seed = 1, horizon = 5)
learn <- function(i) suppressWarnings(fit_iohmm(tiger_visits, states = 2, starts = 2, max_iter = 50, seed = i))

# ---- promises ------------------------------------------------------------------------

promise_no_leak("fits", fit, 1000, 200)
promise_no_leak("fits resumed from a file", resume_copy, 500, 100)
promise_no_leak("plans", plan, 1000, 200)
promise_no_leak("interrupted fits", interrupt, 1000, 200)
promise_no_leak("failed and refused evaluations", fail, 1000, 200)
promise_no_leak("input-output models", learn, 200, 40)
promise("those calls were interrupted, failed and refused", "1,200 of each",
        paste(interrupted, failed, refused), all(c(interrupted, failed, refused) == 1200))

slope <- bytes_a_call(function(i) {
  .C("lose", 4096L)
  fit(i)
}, 1000, 200)
promise("a planted leak of 4 kB per fit in C is seen", "more than 1,024 resident bytes each", say(slope),
        slope[["resident"]] > 1024)
leaked <- list()
slope <- bytes_a_call(function(i) {
  leaked[[i]] <<- as.list(1 / seq_len(64))
  fit(i)
}, 1000, 200)
promise("a planted leak of 4 kB per fit in R is seen", "more than 1,024 bytes of objects each", say(slope),
        slope[["objects"]] > 1024)
unlink(folder, recursive = TRUE)
finish()
