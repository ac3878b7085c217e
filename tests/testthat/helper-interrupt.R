# A real Ctrl-C to this process, which R notices a while later, between two of its steps.

skip_without_signals <- function() {
  testthat::skip_on_cran()
  testthat::skip_on_os("windows")
}

send_interrupt <- function() tools::pskill(Sys.getpid(), tools::SIGINT)

# So many steps; or until R notices, which ends it at once, a second at most.
linger <- function(steps = NULL) {
  if (!is.null(steps)) return(for (i in seq_len(steps)) i)
  patience <- Sys.time() + 1
  while (Sys.time() < patience) NULL
}

# Whether `code` ended in an interrupt. None is left over for what follows.
is_interrupted <- function(code) {
  caught <- function(code) {
    tryCatch({
      allowInterrupts(code)
      FALSE
    }, interrupt = function(e) TRUE)
  }
  # A signal that another thread was given, or one under valgrind, may come late.
  suspendInterrupts(caught(code) || caught(linger()))
}
