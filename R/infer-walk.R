# A sampler for posteriors of many terms that are nearly normal, such as those of learned dynamics. Like that of
# infer-sampler.R it is a function from state to state, knows only a vectorised log density, and has one stream per
# chain. It has four moves, chosen at random without regard to where a chain is:
#
#   turn   y = m + sqrt(1 - b^2) (x - m) + b F' z      reversible for the normal N(m, F'F), whose density q enters the
#                                                      ratio as log q(x) - log q(y)
#   walk   y = x + scale * F' z, now and then much shorter or longer      symmetric
#   axis   the same with z = 0 except for one entry: along one axis of the posterior, a row of F
#   leap   y = x + (a - b) and some noise, a and b two points of warm-up  symmetric: (a, b) is as likely as (b, a)
#
# A turn crosses a normal posterior in a few steps, however many terms there are; a walk needs as many steps as there
# are terms. Walks also work where the posterior is not normal, axes follow ridges, and leaps go from one top to
# another. Centre m and factor F (infer-walk-law.R), scales, b and the points of leaps are learnt in warm-up from all
# chains together, and then frozen.

# Cumulative shares of turns, walks, axes and leaps.
walk_shares <- c(0.6, 0.7, 0.95, 1)
# The best length of a step along an axis of a normal density, in standard deviations.
best_axis <- 2.4
# Points that leaps are taken from.
most_leaps <- 400L
turn_width <- 1.1
walk_acceptance <- 0.25
turn_acceptance <- 0.3
axis_acceptance <- 0.44
axis_gain <- 0.3
# When shape and centre are learnt, as shares of warm-up: from the positions of chains, and also from the density of all
# points tried, which takes longer and gets better with every point.
walk_times <- c(0.05, 0.1, 0.15)
bend_times <- c(0.2, 0.35, 0.6, 0.9)

walk_start <- function(positions, log_density, streams, centre, covariance, warmup, iter, thin = 1L) {
  n_chains <- nrow(positions)
  storage.mode(positions) <- "double"
  parts <- density_parts(log_density(positions), n_chains)
  if (any(parts$total == -Inf)) abort_input("start", "must have positive density.", rows = which(parts$total == -Inf))
  state <- list(
    sampler = "walk", warmup = as.integer(warmup), iter = as.integer(iter), thin = as.integer(thin), iteration = 0L,
    frozen = warmup == 0, positions = unname(positions), log_density = parts$total,
    centre = unname(centre), covariance = unname(covariance), scale = 2.38 / sqrt(ncol(positions)),
    axis = rep(2.4, ncol(positions)), turn = 0.5, points = NULL, n_scaled = 0, streams = streams, noise = NULL,
    accepted = rep(TRUE, n_chains), n_accepted = integer(n_chains), recent = list(), tried = list(),
    kept = list()
  )
  with_walk_law(state, state$centre, state$covariance)
}

is_walk <- function(state) identical(state$sampler, "walk")

with_walk_law <- function(state, centre, covariance) {
  size <- length(centre)
  state$centre <- centre
  # By the axes of the covariance, not by the order of the terms.
  parts <- eigen(covariance, symmetric = TRUE)
  width <- sqrt(pmax(parts$values, 1e-10))
  state$axis <- rep(best_axis, size)
  state$factor <- width * t(parts$vectors)
  state$inverse <- parts$vectors * rep(1 / width, each = size)
  state
}

# log q up to a constant.
walk_reference <- function(state, theta) {
  z <- (theta - rep(state$centre, each = nrow(theta))) %*% state$inverse
  -.rowSums(z^2, nrow(z), ncol(z)) / (2 * turn_width^2)
}

walk_step <- function(state, log_density) {
  if (state$iteration >= state$iter) stop("the sampler has made all its steps")
  n <- nrow(state$positions)
  size <- ncol(state$positions)
  at <- state$iteration %% block_steps + 1L
  if (at == 1L) {
    noise <- draw_noise(state$streams, block_steps, size, 5)
    state$streams <- noise$streams
    state$noise <- noise[c("normal", "kind", "component", "log_uniform")]
  }
  x <- state$positions
  move <- walk_moves(state, matrix(state$noise$normal[, at], n), state$noise$kind[, at], state$noise$component[, at])
  proposal <- move$proposal
  parts <- density_parts(log_density(proposal), n)
  extra <- walk_reference(state, x) - walk_reference(state, proposal)
  extra[move$kind != 1L] <- 0
  log_ratio <- parts$total - state$log_density + extra
  log_ratio[parts$total == -Inf] <- -Inf
  state$accepted <- state$noise$log_uniform[, at] < log_ratio
  state$positions[state$accepted, ] <- proposal[state$accepted, ]
  state$log_density[state$accepted] <- parts$total[state$accepted]
  state$iteration <- state$iteration + 1L
  after <- state$iteration - state$warmup
  point <- c(state$positions, state$log_density)
  if (after > 0) state$n_accepted <- state$n_accepted + state$accepted
  if (after > 0 && after %% state$thin == 0) state <- keep_draw(state, point)
  if (state$frozen) return(state)
  state$recent[[state$iteration]] <- point
  state$tried[[state$iteration]] <- c(proposal, parts$total)
  learn_walk(state, move, pmin(1, exp(log_ratio)))
}

# What each chain proposes: `kind` 1 to 4, and whether a walk is of ordinary length (`plain`).
walk_moves <- function(state, normal, kind, component) {
  n <- nrow(normal)
  size <- ncol(normal)
  x <- state$positions
  kind <- findInterval(kind, walk_shares, left.open = TRUE) + 1L
  if (is.null(state$points)) kind[kind == 4L] <- 2L
  multiple <- c(0.2, 3, 1)[1L + (component >= 0.15) + (component >= 0.3)]
  at_axis <- cbind(seq_len(n), pmin(floor(component * size) + 1, size))
  along <- matrix(0, n, size)
  along[at_axis] <- normal[at_axis]
  z <- normal * (state$turn * turn_width)
  z[kind == 2L, ] <- (normal * state$scale * multiple)[kind == 2L, ]
  z[kind == 3L, ] <- (along * rep(state$axis, each = n))[kind == 3L, ]
  z[kind == 4L, ] <- normal[kind == 4L, ] * 0.05
  proposal <- x + z %*% state$factor
  turns <- kind == 1L
  middle <- rep(state$centre, each = n)
  proposal[turns, ] <- (proposal + (sqrt(1 - state$turn^2) - 1) * (x - middle))[turns, ]
  leaps <- which(kind == 4L)
  if (length(leaps)) {
    # Two numbers from one: the interval into which it falls, and its place within that interval.
    place <- component[leaps] * nrow(state$points)
    from <- floor(place) + 1
    to <- floor((place %% 1) * nrow(state$points)) + 1
    proposal[leaps, ] <- proposal[leaps, ] + state$points[to, , drop = FALSE] - state$points[from, , drop = FALSE]
  }
  list(proposal = proposal, kind = kind, plain = kind == 2L & multiple == 1, axis = at_axis[, 2])
}

learn_walk <- function(state, move, chance) {
  gain <- max(1, state$n_scaled)^-0.6
  state$n_scaled <- state$n_scaled + 1
  mean_of <- function(which) mean(chance[which])
  axes <- move$kind == 3L
  turns <- move$kind == 1L
  if (any(move$plain)) state$scale <- state$scale * exp(gain * (mean_of(move$plain) - walk_acceptance))
  # Each axis by itself: the right length was known for some and not for others.
  for (i in which(axes)) {
    state$axis[move$axis[i]] <- state$axis[move$axis[i]] * exp(axis_gain * (chance[i] - axis_acceptance))
  }
  if (any(turns)) {
    odds <- stats::qlogis(min(max(state$turn, 1e-3), 0.999)) + 2 * gain * (mean_of(turns) - turn_acceptance)
    state$turn <- stats::plogis(odds)
  }
  bends <- state$iteration %in% ceiling(bend_times * state$warmup)
  if (bends || state$iteration %in% ceiling(walk_times * state$warmup)) state <- learn_walk_law(state, bends)
  if (state$iteration >= state$warmup) {
    state$frozen <- TRUE
    state$recent <- state$tried <- list()
  }
  state
}

# `bends`: also from the density of the points tried.
learn_walk_law <- function(state, bends) {
  later <- seq(state$iteration %/% 2L + 1L, state$iteration)
  axes <- eigen(state$covariance, symmetric = TRUE)
  law <- walk_law(state$recent[later], if (bends) state$tried, axes, nrow(state$positions))
  if (is.null(law)) return(state)
  # Lengths were learnt for another shape.
  state$n_scaled <- min(state$n_scaled, 30)
  n <- nrow(law$points)
  state$points <- law$points[unique(round(seq(1, n, length.out = most_leaps))), , drop = FALSE]
  with_walk_law(state, law$centre, law$covariance)
}

walk_grow <- function(state, iter) {
  state$iter <- as.integer(iter)
  state
}

# A state is copied at every step, and so is each list in it that changes: draws come to a short one first, `fresh`.
keep_draw <- function(state, point) {
  state$fresh <- c(state$fresh, list(point))
  if (length(state$fresh) < block_steps) state else with_fresh(state)
}

with_fresh <- function(state) {
  state$kept <- c(state$kept, state$fresh)
  state$fresh <- NULL
  state
}

n_draws_kept <- function(state) length(state$kept) + length(state$fresh)

# Draws as sampler_flush() leaves them.
walk_flush <- function(state) {
  size <- dim(state$positions)
  kept <- with_fresh(state)$kept
  all <- aperm(array(unlist(kept), c(size[1], size[2] + 1L, length(kept))), c(3, 1, 2))
  state$draws <- all[, , seq_len(size[2]), drop = FALSE]
  state$log_density_draws <- matrix(all[, , size[2] + 1L], length(kept))
  state
}
