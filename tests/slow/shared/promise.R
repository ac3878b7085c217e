# What the slow tests share: one line per promise, and an exit status that says whether
# all were kept.

library(ibrc)
if (Sys.getenv("IBRC_EXTENDED_TESTS") != "1") {
  cat("Set IBRC_EXTENDED_TESTS=1, or run make trust.\n")
  quit(status = 0)
}

# Draws are what is asked about, and a verdict takes longer than many of these fits: who asks for
# one calls verdict().
options(ibrc.check = FALSE)

broken <- 0L

# `asked` is the size and the pass mark, fixed in the script before it is run: no figure may
# stand in it. A study that fails is a finding, and is not enlarged until it passes.
promise <- function(what, asked, figure, passed) {
  passed <- isTRUE(passed)
  if (!passed) broken <<- broken + 1L
  cat(what, ": asked ", asked, ": ", figure, ": ", if (passed) "passed" else "FAILED", "\n", sep = "")
}

# A figure to know that nothing is asked of.
show_figure <- function(what, figure) cat(what, ": ", figure, ": shown\n", sep = "")

# So many of n, and between which shares the true one may lie: Wilson's 95% interval.
counted <- function(k, n) {
  z <- stats::qnorm(0.975)
  middle <- (k + z^2 / 2) / (n + z^2)
  reach <- z / (n + z^2) * sqrt(k * (n - k) / n + z^2 / 4)
  percent <- format(round(100 * c(middle - reach, middle + reach), 1), trim = TRUE)
  paste0(k, " of ", n, " (", percent[1], " to ", percent[2], "%)")
}

# One that cannot be asked here.
not_run <- function(what, why) cat(what, ": ", why, ": not run\n", sep = "")

finish <- function() quit(status = as.integer(broken > 0))

# Functions that users do not see.
own <- function(name) getFromNamespace(name, "ibrc")

# The package's functions by another home, where one of them is another: those that are
# installed stay as they are.
altered_package <- function(name, instead, home = asNamespace("ibrc")) {
  copy <- list2env(as.list(home), parent = parent.env(home))
  for (own_name in ls(copy)) {
    if (is.function(copy[[own_name]]) && identical(environment(copy[[own_name]]), home)) {
      environment(copy[[own_name]]) <- copy
    }
  }
  # The help page that an error names is found by the namespace, which the copy is not.
  copy$called_topic <- function() NULL
  copy[[name]] <- instead
  copy
}

# Arguments of the script, by position, as whole numbers where there are any.
argument <- function(position, default) {
  given <- commandArgs(TRUE)
  if (length(given) < position) return(default)
  if (is.numeric(default)) as.integer(given[position]) else given[position]
}

# A checkpoint whose length and hash are those of the bytes that it has now.
sealed <- function(bytes) {
  n <- length(bytes)
  if (n < 28) return(bytes)
  bytes[9:12] <- writeBin(n, raw(), endian = "little")
  bytes[n - 15:0] <- charToRaw(own("hash_of")(bytes, n - 16))
  bytes
}
