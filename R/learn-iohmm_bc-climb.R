# Climbs by slopes, from several starting places at once: quasi-Newton steps with a short memory (L-BFGS) that are
# shortened until they gain enough. No step goes down, climbs are independent of each other, and between steps R answers
# an interrupt.

# The number of pairs (a step and a change of slope) that a climb remembers.
climb_memory <- 40L

# A climb is at rest when its last steps together gained no more than the tolerance.
climb_patience <- 10L

# `evaluate` takes places [number, climb] and returns `objective`, `slope` [number, climb] and `code`, which is 0 if
# both are finite. `work`: the approximate number of multiplications in one evaluation. `aloud`: whether to print
# progress.
climb_by_slopes <- function(evaluate, begin, run, work, aloud = FALSE) {
  begin <- matrix(begin, ncol = NCOL(begin))
  at_once <- max(run$cores, floor(tenth_of_second / work))
  appraise <- function(x) evaluate_in_parts(evaluate, x, at_once)
  worth <- appraise(begin)
  if (all(worth$code != 0L)) refuse_failed_climb(worth$code)
  climbs <- lapply(seq_len(ncol(begin)), function(i) begin_climb(begin[, i], worth$objective[i], worth$slope[, i]))
  said <- 0L
  while (length(moving <- which(!vapply(climbs, `[[`, NA, "done")))) {
    tried <- vapply(climbs[moving], function(climb) climb$x + climb$length * climb$direction, begin[, 1])
    worth <- appraise(matrix(tried, ncol = length(moving)))
    for (k in seq_along(moving)) {
      climbs[[moving[k]]] <- judge_step(climbs[[moving[k]]], tried[, k], worth$objective[k], worth$slope[, k], run)
    }
    done <- max(vapply(climbs, `[[`, 0L, "steps"))
    if (aloud && run$refresh > 0 && done - said >= run$refresh) {
      said <- done
      tell(message("step ", done, ", ", plural(length(moving), "climb"), " under way, log-posterior ",
                   format_number(max(vapply(climbs, `[[`, 0, "objective")))))
    }
  }
  list(at = matrix(vapply(climbs, `[[`, begin[, 1], "x"), ncol = length(climbs)),
       objective = vapply(climbs, `[[`, 0, "objective"), iterations = vapply(climbs, `[[`, 0L, "steps"),
       converged = vapply(climbs, `[[`, NA, "at_rest"),
       trace = lapply(climbs, function(climb) climb$trace[seq_len(climb$steps + 1L)]))
}

# No call takes longer than a moment. If there are many places, they are evaluated in several calls.
evaluate_in_parts <- function(evaluate, x, at_once) {
  if (ncol(x) <= at_once) return(evaluate(x))
  parts <- lapply(in_pieces(seq_len(ncol(x)), at_once), function(these) evaluate(x[, these, drop = FALSE]))
  list(objective = unlist(lapply(parts, `[[`, "objective")), code = unlist(lapply(parts, `[[`, "code")),
       slope = do.call(cbind, lapply(parts, `[[`, "slope")))
}

# A climb whose objective is not finite at the beginning does not start.
begin_climb <- function(x, objective, slope) {
  climb <- list(x = x, objective = objective, slope = slope, moves = list(), changes = list(), steps = 0L,
                trace = objective, done = !is.finite(objective), at_rest = FALSE)
  head_for(climb)
}

# The next direction, and how far to go at first.
head_for <- function(climb) {
  climb$direction <- uphill(climb)
  climb$rise <- sum(climb$direction * climb$slope)
  climb$length <- if (length(climb$moves)) 1 else min(1, 1 / sqrt(sum(climb$slope^2)))
  # If the slope is 0, there is nothing to gain. If it is too steep for a double, it cannot be used.
  if (!(climb$rise > 0 && climb$rise < Inf)) {
    climb$done <- TRUE
    climb$at_rest <- is.finite(climb$objective) && is.finite(climb$rise)
  }
  climb
}

# The slope, turned and scaled by what was learned about the curvature: the two loops of L-BFGS.
uphill <- function(climb) {
  n <- length(climb$moves)
  q <- climb$slope
  if (!n) return(q)
  share <- numeric(n)
  scale <- vapply(seq_len(n), function(k) 1 / sum(climb$moves[[k]] * climb$changes[[k]]), 0)
  for (k in rev(seq_len(n))) {
    share[k] <- scale[k] * sum(climb$moves[[k]] * q)
    q <- q - share[k] * climb$changes[[k]]
  }
  q <- q / (scale[n] * sum(climb$changes[[n]]^2))
  for (k in seq_len(n)) q <- q + (share[k] - scale[k] * sum(climb$changes[[k]] * q)) * climb$moves[[k]]
  q
}

# Accepts a step that gains a sufficient share of what the slope promised, and shortens one that does not.
judge_step <- function(climb, x, objective, slope, run) {
  enough <- climb$objective + 1e-4 * climb$length * climb$rise
  if (is.finite(objective) && objective >= enough && objective >= climb$objective) {
    return(take_step(climb, x, objective, slope, run))
  }
  climb$length <- climb$length * shorter(climb, objective)
  # Rounding hides the gain that is left. Try the plain slope, and then stop.
  if (climb$length * sqrt(sum(climb$direction^2)) < 1e-12 * (1 + sqrt(sum(climb$x^2)))) {
    climb$done <- climb$at_rest <- !length(climb$moves)
    climb$moves <- climb$changes <- list()
    if (!climb$done) climb <- head_for(climb)
  }
  climb
}

# How much shorter: to the top of the parabola through the known values, within limits.
shorter <- function(climb, objective) {
  if (!is.finite(objective)) return(0.2)
  promised <- climb$length * climb$rise
  min(0.5, max(0.1, promised / (2 * (promised - (objective - climb$objective)))))
}

take_step <- function(climb, x, objective, slope, run) {
  move <- x - climb$x
  change <- climb$slope - slope
  # Only if the curvature has the right sign.
  if (sum(move * change) > 1e-10 * sqrt(sum(move^2) * sum(change^2))) {
    last <- seq_len(min(length(climb$moves), climb_memory - 1L))
    climb$moves <- c(utils::tail(climb$moves, length(last)), list(move))
    climb$changes <- c(utils::tail(climb$changes, length(last)), list(change))
  }
  climb$x <- x
  climb$objective <- objective
  climb$slope <- slope
  climb$steps <- climb$steps + 1L
  if (climb$steps + 1L > length(climb$trace)) climb$trace <- c(climb$trace, rep(NA_real_, length(climb$trace)))
  climb$trace[climb$steps + 1L] <- objective
  before <- climb$steps + 1L - climb_patience
  climb$at_rest <- before >= 1L && objective - climb$trace[before] <= run$tolerance
  climb$done <- climb$at_rest || climb$steps >= run$max_iter
  if (climb$done) climb else head_for(climb)
}
