# Independent pieces of long work, in rounds of as many as there are processes, until all are done or it is interrupted.

# Fills the empty places of `results` by `work` of `piece_of(i, over)`, where `over` says whether other processes do it.
# `save` sees all results after each round, before an interrupt can come. `look` sees them then, with the places just
# filled, and says whether to go on. A piece that was interrupted itself leaves its place empty, and ends the run.
fill_in_rounds <- function(results, piece_of, work, save = function(results) NULL,
                           look = function(results, these) TRUE) {
  over <- can_spread()
  at_once <- if (over) max(1, min(future::nbrOfWorkers(), length(results))) else 1
  interrupted <- FALSE
  more <- TRUE
  tryCatch({
    while (more && length(left <- unfilled(results))) {
      these <- utils::head(left, at_once)
      done <- spread(lapply(these, piece_of, over), work, over)
      suspendInterrupts({
        results[these] <- done
        save(results)
      })
      interrupted <- length(unfilled(done)) > 0
      more <- look(results, these) && !interrupted
    }
  }, interrupt = function(condition) interrupted <<- TRUE)
  list(results = results, interrupted = interrupted)
}

unfilled <- function(results) which(vapply(results, is.null, NA))

# How many places are filled.
count_filled <- function(results) length(results) - length(unfilled(results))

# `before`: how many were done when the run began.
say_rounds <- function(what, done, all, began, before = 0) {
  gone <- as.numeric(Sys.time() - began, units = "secs")
  left <- gone / max(1, done - before) * (all - done)
  tell(message(what, " ", done, " of ", all, ", about ", format_seconds(left), " left"))
}
