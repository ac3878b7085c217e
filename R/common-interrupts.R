# What is not to be torn by a Ctrl-C.

# For a message or a warning in mid-run. Who listens to it (withCallingHandlers(), a report, a progress bar) does so out
# of reach of the handlers inside: an interrupt there would end the run without its draws. So it waits.
tell <- function(signal) suspendInterrupts(signal)

# The value of `code`, which comes to its end. A Ctrl-C meanwhile is dropped: it was pressed twice, or too late,
# and would throw away the draws.
undisturbed <- function(code) {
  suspendInterrupts({
    out <- code
    tryCatch(allowInterrupts(Sys.sleep(0)), interrupt = function(condition) NULL)
    out
  })
}
