# Work in independent pieces, over the processes and machines that the user named with future::plan(). Within one
# process threads need no set-up; this is for work that is too much for one process.

# `work(piece)` of every piece, in their order. The result of a piece must not depend on where it runs: work with random
# numbers brings its own streams.
spread <- function(pieces, work, over = can_spread()) {
  if (!over) return(lapply(pieces, work))
  rapply(pieces, settle_arguments, classes = "function", how = "unlist")
  tryCatch(
    future.apply::future_lapply(pieces, work, future.seed = NULL, future.scheduling = Inf),
    FutureError = function(e) {
      abort("worker", "A process of the future::plan() in force failed. See that the workers can be reached, and have ",
            "this version of ibrc and enough memory; resume() goes on from a checkpoint. The process said: ",
            conditionMessage(e))
    }
  )
}

# A function that another function made may refer to an argument that nobody has looked at yet. It would be looked for
# in a process that does not know it. What cannot be worked out here is left, and may never be asked for.
settle_arguments <- function(f) {
  place <- environment(f)
  while (!is.null(place) && !isNamespace(place) && !identical(place, globalenv()) && !identical(place, emptyenv())) {
    tryCatch(as.list(place, all.names = TRUE), error = function(e) NULL)
    place <- parent.env(place)
  }
}

# Whether there is a plan other than one piece after another in this process. Nobody can have set one before the package
# future is loaded.
can_spread <- function() {
  if (!isNamespaceLoaded("future") || inherits(future::plan(), "sequential")) return(FALSE)
  if (is_installed("future.apply")) return(TRUE)
  message("The future::plan() in force needs the package 'future.apply', which is not installed: ",
          "everything runs in this process.")
  FALSE
}

is_installed <- function(package) requireNamespace(package, quietly = TRUE)

# Forked processes hang in a second thread if their parent process has had one.
cores_of_piece <- function(cores, over) {
  if (over && inherits(future::plan(), "multicore")) 1L else cores
}

# ---- groups as parts ----------------------------------------------------------

# All parts to the end, or until interrupted, in rounds of `every` steps. Between two rounds progress is shown and a
# checkpoint is written. A round that is interrupted counts for no part, so that all have made the same number of steps.
run_parts <- function(chain, job, every, each_round = NULL) {
  began <- list(time = Sys.time(), step = iteration_of(chain))
  run <- job$run
  over <- can_spread()
  one_round <- function(chain) {
    until <- min(steps_of(chain), (iteration_of(chain) %/% every + 1L) * every)
    pieces <- lapply(seq_along(chain$parts), function(g) part_piece(chain$parts[[g]], job$evaluator, g, until, over))
    list(parts = spread(pieces, run_piece, over))
  }
  until_interrupted(chain, one_round, function(chain) {
    if (run$refresh > 0) say_progress(chain, run, began)
    if (!is.null(each_round)) each_round(chain)
  })
}

# What a process needs for one group, and no other group's data.
part_piece <- function(part, evaluator, g, until, over) {
  cores <- cores_of_piece(evaluator$cores, over)
  if (!is.null(evaluator$parts)) {
    evaluator <- sum_of_group(evaluator, g)
  } else if (is.null(evaluator$own)) {
    evaluator$group <- rep(1L, sum(evaluator$group == g))
    evaluator$batch$histories <- evaluator$batch$histories[g]
  } else {
    evaluator <- evaluator$own[[g]]
  }
  evaluator$cores <- cores
  list(chain = part, evaluator = evaluator, until = until)
}

run_piece <- function(piece) {
  chain <- piece$chain
  while (chain$state$iteration < piece$until) chain <- step_chains(chain, piece$evaluator)
  chain
}

# What a fit is made from, for all chains: groups in the order in which one process has them.
state_of <- function(chain) {
  if (is.null(chain$parts)) return(sampler_flush(chain$state))
  states <- lapply(chain$parts, function(part) sampler_flush(part$state))
  whole <- states[[1]][c("iteration", "iter", "warmup", "thin")]
  whole$n_accepted <- unlist(lapply(states, `[[`, "n_accepted"))
  whole$log_density_draws <- do.call(cbind, lapply(states, `[[`, "log_density_draws"))
  # Chains come last while they are joined.
  last <- lapply(states, function(state) aperm(state$draws, c(1, 3, 2)))
  size <- dim(last[[1]])[1:2]
  whole$draws <- aperm(array(unlist(last, use.names = FALSE), c(size, length(whole$n_accepted))), c(1, 3, 2))
  whole
}
