# Clocks and tables that the benchmarks share.

rounds <- 15L

# Seconds per run of each task, [round, task].
race <- function(tasks, each = 0.01) {
  once <- vapply(tasks, function(f) {
    f()
    max(1e-7, system.time(f())[["elapsed"]])
  }, 0)
  repeats <- pmin(1000, pmax(1, ceiling(each / once)))
  times <- matrix(NA_real_, rounds, length(tasks), dimnames = list(NULL, names(tasks)))
  for (r in seq_len(rounds)) for (i in seq_along(tasks)) {
    f <- tasks[[i]]
    start <- Sys.time()
    for (k in seq_len(repeats[i])) f()
    times[r, i] <- as.numeric(Sys.time() - start, units = "secs") / repeats[i]
  }
  times
}

middle <- function(x) signif(stats::median(x), 3)

say <- function(...) cat(..., "\n", sep = "")

show <- function(table) {
  print(table, row.names = FALSE)
  cat("\n")
}

# Kernels and functions that users do not see.
own <- function(name) getFromNamespace(name, "ibrc")
call <- function(name, ...) .Call(own(name), ...)

# Figures that README.md shows, in the file that a script was given, in place of what that file has on the same topic.
keep <- function(topic, problem, nodes, value, file = commandArgs(TRUE)[1]) {
  if (is.na(file)) return(invisible())
  rows <- data.frame(topic, problem, nodes, value)
  if (file.exists(file)) {
    old <- utils::read.csv(file)
    rows <- rbind(old[old$topic != topic, ], rows)
  }
  utils::write.csv(rows, file, row.names = FALSE)
}
