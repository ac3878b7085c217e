# A real Ctrl-C to this process, which R notices a while later, between two of its steps.

skip_without_signals <- function() {
  testthat::skip_on_cran()
  testthat::skip_on_os("windows")
}

send_interrupt <- function() tools::pskill(Sys.getpid(), tools::SIGINT)

# Long enough for R to notice.
linger <- function(steps = 3000) for (i in seq_len(steps)) i

# Whether `code` ended in an interrupt. None is left over for what follows.
is_interrupted <- function(code) {
  caught <- function(code) {
    tryCatch({
      allowInterrupts(code)
      FALSE
    }, interrupt = function(e) TRUE)
  }
  suspendInterrupts({
    first <- caught(code)
    first | caught(linger())
  })
}
