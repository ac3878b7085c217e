# Code that a Ctrl-C must not break off in the middle.

# For a message or a warning in the middle of a run. Whatever handles it (withCallingHandlers(), a report, a progress
# bar) runs outside our own handlers. An interrupt there would end the run without its draws, so the interrupt waits.
tell <- function(signal) suspendInterrupts(signal)

# The value of `code`, which always runs to its end. A Ctrl-C in the meantime is ignored: it was pressed twice, or too
# late, and would throw away the draws.
undisturbed <- function(code) {
  suspendInterrupts({
    out <- code
    tryCatch(allowInterrupts(Sys.sleep(0)), interrupt = function(condition) NULL)
    out
  })
}
