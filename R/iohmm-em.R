# Climbs up the likelihood from random starts.

# Random laws: emissions vary around the observed frequencies, and states are more likely to
# stay than to move.
random_laws <- function(problem, n_states) {
  scatter <- function(weight) {
    p <- weight * stats::rexp(length(weight))
    p / sum(p)
  }
  n_actions <- length(problem$words$actions)
  n_obs <- length(problem$words$observations)
  # One law per group.
  start <- as.vector(vapply(seq_len(n_starts(problem)), function(g) scatter(rep(1, n_states)), numeric(n_states)))
  moves <- replicate(if (problem$shared) 1 else n_actions, {
    rows <- vapply(seq_len(n_states), function(s) scatter(rep(1, n_states)), numeric(n_states))
    0.5 * diag(n_states) + 0.5 * t(matrix(rows, n_states))
  })
  emission <- array(0, c(n_states, n_obs, n_actions))
  for (u in seq_len(n_actions)) for (s in seq_len(n_states)) {
    emission[s, , u] <- scatter(problem$possible[u, ] * (problem$pairs[u, ] + 0.5))
  }
  list(start = start, transition = rep_len(as.numeric(moves), n_states^2 * n_actions), emission = as.numeric(emission))
}

# The number of laws of the first state.
n_starts <- function(problem) max(1L, length(problem$start_groups))

climb_from_starts <- function(problem, n_states, streams, run) {
  laws <- lapply(streams, function(stream) with_stream(stream, random_laws(problem, n_states)))
  at <- list(n_states = n_states, n_actions = length(problem$words$actions),
             n_obs = length(problem$words$observations))
  for (law in c("start", "transition", "emission")) {
    at[[law]] <- matrix(vapply(laws, `[[`, laws[[1]][[law]], law), ncol = length(streams))
  }
  climbs <- climb_all(problem, at, run)
  best <- which.max(climbs$objective)
  laws <- lapply(climbs$laws[c("start", "transition", "emission")], function(law) law[, best])
  size <- c(at[c("n_states", "n_actions", "n_obs")], list(n_models = 1L))
  expected <- .Call(ffi_iohmm_expect, problem$tree, c(size, laws))
  list(n_states = n_states, laws = laws, counts = expected[c("start", "transition", "emission")],
       log_lik = expected$log_lik, objective = climbs$objective[best],
       trace = climbs$trace[seq_len(climbs$iterations[best]), best], converged = climbs$converged[best],
       n_parameters = iohmm_parameters(problem, n_states),
       table = data.frame(states = n_states, start = seq_along(streams), log_lik = climbs$log_lik,
                          objective = climbs$objective, iterations = climbs$iterations,
                          converged = climbs$converged))
}

# Takes steps of all climbs that are not at rest, some at a time, so that an interrupt is
# answered between calls. The path of a climb does not depend on how its steps are divided.
climb_all <- function(problem, laws, run) {
  n <- ncol(laws$start)
  prior <- prior_for_kernel(problem$prior, problem$possible, problem$shared)
  out <- list(laws = laws, objective = rep(NA_real_, n), log_lik = rep(NA_real_, n), iterations = integer(n),
              converged = logical(n), trace = matrix(NA_real_, 0, n))
  done <- 0L
  moving <- seq_len(n)
  while (length(moving) && done < run$max_iter) {
    steps <- min(steps_at_once(problem, laws, length(moving)), run$max_iter - done)
    result <- climb_in_parts(problem, out$laws, prior, out$objective, moving, steps,
                             last = done + steps == run$max_iter, run)
    refuse_failed_climb(result$code)
    for (law in c("start", "transition", "emission")) out$laws[[law]][, moving] <- result[[law]]
    out$objective[moving] <- result$previous
    out$log_lik[moving] <- result$log_lik
    out$iterations[moving] <- out$iterations[moving] + result$steps
    out$converged[moving] <- result$converged == 1L
    trace <- matrix(NA_real_, steps, n)
    trace[, moving] <- result$trace
    out$trace <- rbind(out$trace, trace)
    done <- done + steps
    moving <- moving[result$converged == 0L]
  }
  out
}

# Some steps of the climbs `moving`. If even one step of all of them would take long, the climbs take turns. They are
# independent of each other.
climb_in_parts <- function(problem, laws, prior, objective, moving, steps, last, run) {
  size <- max(run$cores, floor(tenth_of_second / (step_work(problem, laws) * steps)))
  parts <- lapply(split(moving, ceiling(seq_along(moving) / size)), function(these) {
    for (law in c("start", "transition", "emission")) laws[[law]] <- laws[[law]][, these, drop = FALSE]
    .Call(ffi_iohmm_em, problem$tree, laws, prior, objective[these], steps, as.integer(last), run$tolerance, run$cores)
  })
  if (length(parts) == 1) return(parts[[1]])
  together <- function(part) {
    pieces <- lapply(parts, `[[`, part)
    if (is.matrix(pieces[[1]])) do.call(cbind, unname(pieces)) else unlist(pieces, use.names = FALSE)
  }
  stats::setNames(lapply(names(parts[[1]]), together), names(parts[[1]]))
}

# The approximate number of multiplications in a tenth of a second.
tenth_of_second <- 2e7

step_work <- function(problem, laws) problem$tree$n_nodes * (laws$n_states^2 + 10)

steps_at_once <- function(problem, laws, n_moving) {
  as.integer(max(1, min(100, floor(tenth_of_second / (step_work(problem, laws) * n_moving)))))
}

refuse_failed_climb <- function(code) {
  if (all(code == 0L)) return(invisible())
  abort("convergence", "A climb failed: ", switch(code[code != 0L][1], "", "a value is not finite",
        "an observation became impossible", "the likelihood fell, by more than rounding"),
        ". Please report this.", argument = "visits")
}

# The number of free probabilities that the data can inform: transitions under actions that were taken, and
# emissions after actions with an observation.
iohmm_parameters <- function(problem, n_states) {
  matrices <- if (problem$shared) 1 else sum(problem$taken > 0)
  shown <- rowSums(problem$pairs) > 0
  n_starts(problem) * (n_states - 1) + matrices * n_states * (n_states - 1) +
    n_states * sum(rowSums(problem$possible)[shown] - 1)
}

compare_candidates <- function(fits, problem) {
  part <- function(name) vapply(fits, function(fit) as.numeric(fit[[name]]), 0)
  table <- data.frame(states = as.integer(part("n_states")), log_lik = part("log_lik"),
                      n_parameters = part("n_parameters"))
  table$AIC <- 2 * table$n_parameters - 2 * table$log_lik
  table$BIC <- log(sum(problem$pairs)) * table$n_parameters - 2 * table$log_lik
  table$trajectories <- problem$n_trajectories
  table$visits <- problem$n_visits
  table$reached <- vapply(fits, function(fit) sum(fit$table$objective > fit$objective - near_top), 0L)
  table$starts <- vapply(fits, function(fit) nrow(fit$table), 0L)
  table$converged <- part("converged") == 1
  table$chosen <- seq_along(fits) == which.min(table$BIC)
  table
}

# A climb counts as having reached the best one if its log-likelihood is this close to it.
near_top <- 0.01
