# Far steps of a joint walk (infer-walk.R). The posterior of dynamics and gains has two parts. One is expensive: what
# was done, and the prior of the gains. It takes tables and a plan for every point. The other is cheap: what was seen,
# and the prior of the laws. A stand-in for the expensive part is learnt in warm-up from points that were tried, and
# then frozen. It is a quadratic function of all terms. The two together are a guess at the posterior:
#
#   guess(x) = density of laws(x), exactly, times stand_in(x)
#
# A far step walks many steps on the guess, from x to y. Then it asks the posterior once whether to stay there:
#
#   min(1, dear(y) / stand_in(y) * stand_in(x) / dear(x))
#
# The walk is reversible for the guess, and therefore the step is reversible for the posterior, however poor the
# stand-in is. With a poor one, steps are refused more often (Liu 2001, Monte Carlo Strategies in Scientific Computing;
# with one step it is the delayed acceptance of Christen and Fox 2005). After each far step there is an ordinary step,
# which can also go where nothing was learnt.

# Steps on the guess: as many as there are terms, and no more than this. On adni_like (41 terms), 30 steps take twice as
# long as one evaluation of the posterior.
far_walks <- 30L
# When the stand-in is learnt, in shares of warm-up. The last time is after the shape of the walk is settled
# (bend_times).
far_times <- c(0.4, 0.6, 0.9)
# The number of points of its regression, as a multiple of the number of its coefficients. With fewer than the least,
# nothing is learnt.
least_tried <- 2
most_tried <- 8
# A regression with more terms would take a gigabyte.
most_far_terms <- 60L

# What the walk on the guess copies from the walk between far steps.
walk_shape <- c("centre", "factor", "inverse", "scale", "axis", "turn", "points")

# A state of walk_start(), with all that far steps need. `streams`: separate streams for them, one per chain.
far_start <- function(state, streams) {
  walk <- state
  walk[c("warmup", "iteration")] <- list(0L, 0L)
  walk[c("iter", "thin")] <- list(.Machine$integer.max, .Machine$integer.max)
  walk$frozen <- TRUE
  walk$streams <- streams
  state$far <- list(walk = walk, stand_in = NULL, tried = list(), levels = NULL, n_accepted = 0)
  state
}

# One step of each kind. `law_density`: the part of the guess that is exact.
far_step <- function(state, log_density, law_density) {
  if (!is.null(state$far$stand_in)) state <- go_far(state, log_density, law_density)
  learns <- (state$iteration + 1L) %in% ceiling(far_times * state$warmup)
  state <- walk_step(state, log_density)
  found <- if (learns && !state$frozen) learn_stand_in(state, law_density)
  if (!is.null(found)) state$far$stand_in <- found
  if (state$frozen) state$far$tried <- list()
  state
}

go_far <- function(state, log_density, law_density) {
  n <- nrow(state$positions)
  at <- state$iteration %% block_steps + 1L
  if (at == 1L || is.null(state$far$levels)) {
    noise <- draw_noise(state$far$walk$streams, block_steps, 1L, 5)
    state$far$walk$streams <- noise$streams
    state$far$levels <- noise$log_uniform
  }
  guess <- function(theta) law_density(theta) + stand_in_at(state$far$stand_in, theta)
  walk <- state$far$walk
  walk[walk_shape] <- state[walk_shape]
  walk$positions <- state$positions
  walk$log_density <- before <- guess(state$positions)
  for (i in seq_len(min(far_walks, ncol(state$positions)))) walk <- walk_step(walk, guess)
  total <- density_parts(log_density(walk$positions), n)$total
  log_ratio <- total - walk$log_density - (state$log_density - before)
  # A chain at a place where the stand-in is not defined takes no far step.
  log_ratio[total == -Inf | before == -Inf] <- -Inf
  accepted <- state$far$levels[, at] < log_ratio
  state$positions[accepted, ] <- walk$positions[accepted, ]
  state$log_density[accepted] <- total[accepted]
  if (state$frozen) {
    state$far$n_accepted <- state$far$n_accepted + accepted
  } else {
    state$far$tried[[length(state$far$tried) + 1L]] <- c(walk$positions, total)
  }
  state$far$walk <- walk
  state
}

# ---- the stand-in --------------------------------------------------------------------------------------------------

# A quadratic function of z, which are the terms in coordinates in which the walk's normal law is standard. It is a
# regression on the points that were tried, newest first, without those that are far out or far down. NULL if there are
# too few.
learn_stand_in <- function(state, law_density) {
  size <- ncol(state$positions)
  if (size > most_far_terms) return(NULL)
  pairs <- which(upper.tri(diag(size), TRUE), arr.ind = TRUE)
  n_coefficients <- 1 + size + nrow(pairs)
  stand_in <- list(centre = state$centre, inverse = state$inverse, farthest = 2 * stats::qchisq(0.9999, size))
  tried <- step_points(c(state$tried, state$far$tried), nrow(state$positions), size)
  z <- stand_in_place(stand_in, tried$theta)
  near <- is.finite(tried$density) & rowSums(z^2) < stand_in$farthest
  if (!any(near)) return(NULL)
  near <- near & tried$density > max(tried$density[near]) - stats::qchisq(0.9999, size) / 2 - 5
  rows <- utils::tail(which(near), most_tried * n_coefficients)
  if (length(rows) < least_tried * n_coefficients) return(NULL)
  z <- z[rows, , drop = FALSE]
  dear <- tried$density[rows] - law_density(tried$theta[rows, , drop = FALSE])
  found <- ridge_by_errors(cbind(1, z, z[, pairs[, 1], drop = FALSE] * z[, pairs[, 2], drop = FALSE]), dear)
  bend <- matrix(0, size, size)
  bend[pairs] <- found[-seq_len(size + 1)]
  c(stand_in, list(level = found[1], slope = found[1 + seq_len(size)], bend = bend))
}

stand_in_place <- function(stand_in, theta) (theta - rep(stand_in$centre, each = nrow(theta))) %*% stand_in$inverse

# It is -Inf outside the region where it was learnt, because a quadratic function grows without bound.
stand_in_at <- function(stand_in, theta) {
  z <- stand_in_place(stand_in, theta)
  out <- stand_in$level + drop(z %*% stand_in$slope) + rowSums((z %*% stand_in$bend) * z)
  out[!(rowSums(z^2) < stand_in$farthest)] <- -Inf
  out
}
