# The sampler of populations (infer-population.R). Like the others it is a function from state to state, with a stream
# per chain. A step is a sweep:
#
#   levels    for every grouping factor, a walk of the intercepts of all its levels at once; given all else levels are
#             independent, so that each is accepted or refused by itself. One solve per cell.
#   moves     of coefficients and spreads, with the intercepts in units of their spread as they are: every cell follows.
#             One solve per cell, and accepted as a whole; a walk, or a turn about a centre (as in infer-walk.R). There
#             are three blocks: what no shift moves (every second sweep, or every one where there are no intercepts),
#             everything together (every third): where people hardly differ, terms and spreads lie along one ridge; and
#             spreads alone (every third): where a spread has become tiny, so have its intercepts, which hold it there,
#             and a walk of everything is too short to leave.
#   shifts    of the coefficients that the levels of a factor share, with the intercepts taking up the difference, so
#             that no cell changes: drawn from their own posterior given the cells (normal).
#   spreads   given the intercepts, by a walk. Neither needs a solve, and both are made several times.
#   laws      of dynamics that are inferred as well, alone and together with coefficients and spreads
#             (infer-population-walks.R). Tables are built for them, and one solve made per cell.
#
# Levels know much of themselves where there are many visits of each (then shifts mix well), and follow the population
# where there are few (then moves do): both kinds are made, so that it need not be known which is the case.
# Shapes and lengths are learnt in warm-up, and then frozen.

move_every <- c(free = 2L, shared = 3L, spreads = 3L)
cheap_rounds <- 3L
level_acceptance <- c(0.44, 0.35, 0.3)
move_times <- c(0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
# When the shapes of levels are learnt, and from where on anew.
shape_times <- c(0.5, 0.8)
level_times <- c(0.2, 0.5)
# Nothing is proposed in steps that are smaller than this part of what is proposed at first. That it is a part, and no
# number, makes chains the same whatever the unit of the utility is.
least_width <- 1e-4

# `positions`: b, s and u and, where laws are inferred, d and the `top` of laws and one agent for all. `law`: the centre
# and the covariance of coefficients, where these are known.
population_start <- function(positions, value, evaluator, streams, warmup, iter, thin = 1L) {
  shape <- evaluator$population
  n <- nrow(positions$b)
  d <- if (is.null(positions$d)) matrix(0, n, 0) else positions$d
  seen <- seen_log_lik(evaluator, d)
  found <- cell_log_lik(at_laws(evaluator, d, is.finite(seen)), cells_of(shape, positions$b, positions$u), value)
  density <- log_population(shape, positions$b, positions$s, positions$u) + log_laws(shape, d) + seen +
    rowSums(found$log_likelihood)
  if (any(!is.finite(density))) {
    abort_input("start", "could not be found: where chains would begin the posterior is 0. Give a prior nearer to the ",
                "behaviour.")
  }
  width <- shape$width
  state <- list(
    sampler = "population", warmup = as.integer(warmup), iter = as.integer(iter), thin = as.integer(thin),
    iteration = 0L, frozen = warmup == 0, b = positions$b, s = positions$s, u = positions$u, d = d, seen = seen,
    log_likelihood = found$log_likelihood, log_density = density, streams = streams,
    level_scale = rep(1, shape$n_intercepts), level_shape = level_shapes(shape, width$u), level_sums = NULL,
    laws = lapply(population_blocks(shape), function(block) first_law(block, width$v, positions$law)),
    walks = population_walks(shape, positions$top, positions$s), spread_scale = rep(1, ncol(positions$s)),
    known = !is.null(positions$law), accepted = numeric(n), n_accepted = numeric(n), recent = list(), kept = list(),
    errors = numeric()
  )
  state$level_sums <- no_sums(shape)
  list(state = state, value = found$value)
}

first_law <- function(block, width, known) {
  if (is.null(known)) return(move_law(rep(0, length(block)), diag(width[block]^2, length(block))))
  move_law(known$centre[block], known$covariance[block, block, drop = FALSE], turn = 0.5)
}

# Columns of c(b, s) that are moved together: those that no shift moves, all of them, and spreads and correlations.
population_blocks <- function(shape) {
  shared <- unlist(lapply(shape$within, function(parts) lapply(parts, `[[`, "column")))
  free <- setdiff(seq_len(shape$n_coefficients), shared)
  all <- seq_len(shape$n_coefficients + shape$n_spreads + shape$n_ties)
  Filter(length, list(free = free, shared = if (length(free) < length(all)) all,
                      spreads = setdiff(all, seq_len(shape$n_coefficients))))
}

is_population <- function(state) identical(state$sampler, "population")

# [term, term, level] per factor: how the terms of a level are proposed together.
level_shapes <- function(shape, width) {
  lapply(shape$at, function(at) {
    array(apply(at, 1, function(columns) diag(width[columns], ncol(at))), c(ncol(at), ncol(at), nrow(at)))
  })
}

no_sums <- function(shape) lapply(shape$at, empty_sums)

# What a block is proposed by. `turn` is the length of turns, none (0) until a centre is known. Axes are those of
# correlations, which have no unit.
move_law <- function(centre, covariance, scale = 2.38 / sqrt(length(centre)), turn = 0, n_scaled = 0) {
  width <- sqrt(diag(covariance))
  parts <- eigen(covariance / outer(width, width), symmetric = TRUE)
  axes <- upright(parts$vectors)
  reach <- sqrt(pmax(parts$values, least_width^2))
  list(centre = centre, factor = reach * t(width * axes), inverse = axes / width * rep(1 / reach, each = length(width)),
       scale = scale, turn = turn, n_scaled = n_scaled)
}

# An axis points either way. Which one it is must not hang on the last digits, as the largest part of an axis does: two
# terms have axes along (1, 1) and (1, -1).
upright <- function(axes) {
  along <- drop(crossprod(axes, 1 / seq_len(nrow(axes))))
  axes * rep(ifelse(along < 0, -1, 1), each = nrow(axes))
}

# ---- a sweep --------------------------------------------------------------------------------------------------------

population_step <- function(chain, evaluator) {
  state <- chain$state
  if (state$iteration >= state$iter) stop("the sampler has made all its steps")
  shape <- evaluator$population
  noise <- sweep_noise(state, shape)
  state$streams <- noise$streams
  state$accepted <- numeric(nrow(state$b))
  chain$state <- state
  for (k in seq_along(shape$at)) chain <- level_step(chain, evaluator, k, noise)
  for (block in names(state$laws)) {
    due <- !length(shape$at) || state$iteration %% move_every[[block]] == 0L
    if (due) chain <- move_step(chain, evaluator, block, noise)
  }
  for (block in names(state$walks)) chain <- laws_step(chain, evaluator, block, noise)
  chain$state <- cheap_steps(chain$state, shape, noise)
  chain$state$iteration <- chain$state$iteration + 1L
  chain$state <- record_population(chain$state, shape)
  after <- chain$state$iteration - chain$state$warmup
  if (!is.null(evaluator$interpolation) && after > 0 && after %% check_every == 0) {
    state <- chain$state
    first <- cells_of(shape, state$b[1, , drop = FALSE], state$u[1, , drop = FALSE])
    chain$state$errors <- c(state$errors, interpolation_error(evaluator, first))
  }
  chain
}

# All that a sweep may need, whether it does or not: chains go on the same whatever is accepted.
sweep_noise <- function(state, shape) {
  n <- nrow(state$b)
  n_v <- ncol(state$b) + ncol(state$s)
  n_levels <- sum(vapply(shape$at, nrow, 0L))
  cheap <- cheap_rounds * max(1, length(shape$at))
  # Each block of moves has its own: what one has left is not what another proposes by.
  walks <- lengths(walk_blocks(shape))
  n_moves <- length(move_every)
  sizes <- c(level = shape$n_intercepts, move = n_moves * n_v, shift = cheap * ncol(state$b),
             spread = cheap * ncol(state$s), walks)
  uniforms <- c(level = n_levels, kind = n_moves, move = n_moves, shift = cheap, spread = cheap * ncol(state$s),
                3 * (walks > 0))
  normal <- matrix(0, n, sum(sizes))
  uniform <- matrix(0, n, sum(uniforms))
  streams <- state$streams
  keep_random_state(for (c in seq_len(n)) {
    assign(".Random.seed", streams[[c]], envir = globalenv())
    normal[c, ] <- stats::rnorm(ncol(normal))
    uniform[c, ] <- stats::runif(ncol(uniform))
    streams[[c]] <- get(".Random.seed", envir = globalenv(), inherits = FALSE)
  })
  part <- function(x, sizes, name) {
    before <- sum(sizes[seq_len(match(name, names(sizes)) - 1)])
    x[, before + seq_len(sizes[[name]]), drop = FALSE]
  }
  list(streams = streams,
       normal = lapply(stats::setNames(nm = names(sizes)), function(name) part(normal, sizes, name)),
       uniform = lapply(stats::setNames(nm = names(uniforms)), function(name) part(uniform, uniforms, name)))
}

level_step <- function(chain, evaluator, k, noise) {
  state <- chain$state
  shape <- evaluator$population
  at <- shape$at[[k]]
  level <- shape$design$factors[[k]]$level
  n <- nrow(state$b)
  proposal <- state$u
  for (j in seq_len(ncol(at))) {
    step <- matrix(0, n, nrow(at))
    for (i in seq_len(ncol(at))) {
      step <- step + noise$normal$level[, at[, i], drop = FALSE] * rep(state$level_shape[[k]][i, j, ], each = n)
    }
    proposal[, at[, j]] <- state$u[, at[, j]] + step * rep(state$level_scale[at[, 1]], each = n)
  }
  found <- cell_log_lik(at_laws(evaluator, state$d), cells_of(shape, state$b, proposal), chain$value)
  gain <- t(rowsum(t(found$log_likelihood - state$log_likelihood), level, reorder = TRUE))
  log_ratio <- gain + log_levels(shape, k, proposal, state$s) - log_levels(shape, k, state$u, state$s)
  log_ratio[is.na(log_ratio)] <- -Inf
  before <- sum(vapply(shape$at[seq_len(k - 1)], nrow, 0L))
  accepted <- log(noise$uniform$level[, before + seq_len(nrow(at)), drop = FALSE]) < log_ratio
  for (j in seq_len(ncol(at))) {
    state$u[, at[, j]] <- ifelse(accepted, proposal[, at[, j]], state$u[, at[, j]])
  }
  took <- accepted[, level, drop = FALSE]
  state$log_likelihood[took] <- found$log_likelihood[took]
  chain$value[, took] <- found$value[, took]
  state$accepted <- state$accepted + rowMeans(accepted) / length(shape$at)
  chain$state <- if (state$frozen) state else learn_levels(state, k, at, as_chances(log_ratio), shape$width$u)
  chain
}

move_step <- function(chain, evaluator, block, noise) {
  state <- chain$state
  shape <- evaluator$population
  law <- state$laws[[block]]
  columns <- population_blocks(shape)[[block]]
  place <- match(block, names(move_every))
  n <- nrow(state$b)
  n_b <- ncol(state$b)
  v <- cbind(state$b, state$s)
  own <- v[, columns, drop = FALSE]
  kind <- noise$uniform$kind[, place]
  turning <- law$turn > 0 & kind < 0.5
  about <- rep(law$centre, each = n)
  z <- noise$normal$move[, (place - 1L) * ncol(v) + columns, drop = FALSE] %*% law$factor
  turn <- about + sqrt(1 - law$turn^2) * (own - about) + law$turn * move_width * z
  # Now and then much shorter or longer.
  stride <- ifelse(kind > 0.9, 3, ifelse(kind > 0.75, 0.3, 1))
  moved <- own + law$scale * stride * z
  moved[turning, ] <- turn[turning, ]
  proposal <- v
  proposal[, columns] <- moved
  b <- proposal[, seq_len(n_b), drop = FALSE]
  s <- proposal[, -seq_len(n_b), drop = FALSE]
  u <- carried_intercepts(shape, state$u, state$s, s)
  found <- cell_log_lik(at_laws(evaluator, state$d), cells_of(shape, b, u), chain$value)
  reference <- function(x) -rowSums(((x - about) %*% law$inverse)^2) / (2 * move_width^2)
  log_ratio <- rowSums(found$log_likelihood) - rowSums(state$log_likelihood) +
    log_coefficients(shape, b) - log_coefficients(shape, state$b) +
    log_spreads(shape, s) - log_spreads(shape, state$s) + ifelse(turning, reference(own) - reference(moved), 0)
  log_ratio[is.na(log_ratio)] <- -Inf
  accepted <- log(noise$uniform$move[, place]) < log_ratio
  if (any(accepted)) {
    state$b[accepted, ] <- b[accepted, ]
    state$s[accepted, ] <- s[accepted, ]
    state$u[accepted, ] <- u[accepted, ]
    state$log_likelihood[accepted, ] <- found$log_likelihood[accepted, ]
    cells <- rep(accepted, shape$n_cells)
    chain$value[, cells] <- found$value[, cells]
  }
  if (!length(shape$at)) state$accepted <- as.numeric(accepted)
  if (!state$frozen) {
    state$laws[[block]] <- learn_lengths(law, turning, stride == 1 & !turning, as_chances(log_ratio))
  }
  chain$state <- state
  chain
}

move_width <- 1.1

# ---- without a solve ------------------------------------------------------------------------------------------------

cheap_steps <- function(state, shape, noise) {
  turn <- 0L
  n_b <- ncol(state$b)
  n_s <- ncol(state$s)
  for (round in seq_len(cheap_rounds)) {
    for (k in seq_along(shape$at)) {
      turn <- turn + 1L
      normal <- noise$normal$shift[, (turn - 1L) * n_b + seq_len(n_b), drop = FALSE]
      state <- shift_step(state, shape, k, normal, noise$uniform$shift[, turn])
      own <- (turn - 1L) * n_s + seq_len(n_s)
      state <- spread_step(state, shape, k, noise$normal$spread[, own, drop = FALSE],
                           noise$uniform$spread[, own, drop = FALSE])
    }
  }
  state
}

# Coefficients that levels share, from their normal posterior given x b + u of every level. Priors that are no normal
# are made up for by accepting or refusing.
shift_step <- function(state, shape, k, normal, uniform) {
  at <- shape$at[[k]]
  parts <- shape$within[[k]]
  columns <- shape$crossed[[k]]$columns
  if (!length(columns)) return(state)
  for (c in seq_len(nrow(state$b))) {
    factor <- covariance_factor(shape, k, state$s[c, ])
    law <- shift_law(state, shape, k, c, factor)
    b <- state$b[c, ]
    b[columns] <- law$mean + backsolve(law$factor, normal[c, columns])
    change <- log_shift_prior(shape, b, columns) - log_shift_prior(shape, state$b[c, ], columns)
    if (!isTRUE(log(uniform[c]) < change)) next
    for (j in seq_along(parts)) {
      own <- parts[[j]]$column
      moved <- parts[[j]]$x %*% (state$b[c, own] - b[own])
      state$u[c, at[, j]] <- state$u[c, at[, j]] + moved
    }
    state$b[c, ] <- b
  }
  state
}

# Mean, and the factor of the precision, of the coefficients given the sums of levels.
shift_law <- function(state, shape, k, c, factor) {
  at <- shape$at[[k]]
  parts <- shape$within[[k]]
  precision <- chol2inv(factor)
  centre <- shape$normal_centre
  width <- shape$normal_width
  crossed <- shape$crossed[[k]]
  columns <- crossed$columns
  total <- precision[crossed$term, crossed$term] * crossed$products + diag(1 / width[columns]^2, length(columns))
  sums <- vapply(seq_along(parts), function(j) {
    own <- parts[[j]]$column
    as.vector(parts[[j]]$x %*% state$b[c, own]) + state$u[c, at[, j]]
  }, numeric(nrow(at)))
  weighed <- matrix(sums, nrow(at)) %*% precision
  pull <- unlist(lapply(seq_along(parts), function(i) as.vector(crossprod(parts[[i]]$x, weighed[, i]))))
  factor <- chol(total)
  mean <- backsolve(factor, backsolve(factor, pull + centre[columns] / width[columns]^2, transpose = TRUE))
  list(mean = mean, factor = factor)
}

# By how much the priors of coefficients are beyond the normal ones that stand in for them.
log_shift_prior <- function(shape, b, columns) {
  total <- 0
  for (j in intersect(columns, shape$odd)) {
    entry <- shape$coefficient_prior[[j]]
    total <- total + unconstrained_log_density(entry, b[j]) -
      stats::dnorm(b[j], shape$normal_centre[j], shape$normal_width[j], log = TRUE)
  }
  total
}

# One spread or correlation at a time, given the intercepts.
spread_step <- function(state, shape, k, normal, uniform) {
  own <- c(shape$spread[[k]], shape$tie[[k]])
  density <- function(s) log_spreads(shape, s) + rowSums(log_levels(shape, k, state$u, s))
  here <- density(state$s)
  for (j in own) {
    s <- state$s
    s[, j] <- s[, j] + normal[, j] * state$spread_scale[j]
    there <- density(s)
    log_ratio <- there - here
    log_ratio[is.na(log_ratio)] <- -Inf
    accepted <- log(uniform[, j]) < log_ratio
    state$s[accepted, j] <- s[accepted, j]
    here[accepted] <- there[accepted]
    if (!state$frozen) {
      gain <- (1 + state$iteration)^-0.5
      state$spread_scale[j] <- state$spread_scale[j] * exp(gain * (mean(as_chances(log_ratio)) - 0.44))
    }
  }
  state
}

# ---- what is learnt and what is kept ------------------------------------------------------------------------------

learn_levels <- function(state, k, at, chance, width) {
  learnt <- ceiling(shape_times * state$warmup)
  gain <- (1 + state$iteration - max(0, learnt[learnt <= state$iteration]))^-0.6
  wanted <- level_acceptance[min(ncol(at), 3)]
  state$level_scale[at] <- state$level_scale[at] * rep(exp(gain * (colMeans(chance) - wanted)), ncol(at))
  sums <- state$level_sums[[k]]
  # Terms of a level as one row per chain.
  for (c in seq_len(nrow(state$u))) {
    u <- matrix(state$u[c, at], nrow(at))
    sums$n <- sums$n + 1
    sums$sum <- sums$sum + u
    for (i in seq_len(ncol(at))) {
      for (j in seq_len(ncol(at))) sums$square[i, j, ] <- sums$square[i, j, ] + u[, i] * u[, j]
    }
  }
  state$level_sums[[k]] <- sums
  if ((state$iteration + 1L) %in% learnt) {
    state$level_shape[[k]] <- learnt_shape(sums, state$level_shape[[k]], width[at[1, ]])
    state$level_scale[at] <- 2.38 / sqrt(ncol(at))
  }
  if ((state$iteration + 1L) %in% ceiling(level_times * state$warmup)) state$level_sums[[k]] <- empty_sums(at)
  state
}

empty_sums <- function(at) list(n = 0, sum = at * 0, square = array(0, c(ncol(at), ncol(at), nrow(at))))

learnt_shape <- function(sums, shape, width) {
  if (sums$n < 40) return(shape)
  for (level in seq_len(nrow(sums$sum))) {
    mean <- sums$sum[level, ] / sums$n
    covariance <- matrix(sums$square[, , level], length(mean)) / sums$n - outer(mean, mean)
    factor <- tryCatch(chol(covariance + diag((least_width * width)^2, length(mean))), error = function(e) NULL)
    if (!is.null(factor)) shape[, , level] <- factor
  }
  shape
}

learn_lengths <- function(law, turning, plain, chance) {
  gain <- max(1, law$n_scaled)^-0.6
  law$n_scaled <- law$n_scaled + 1
  if (any(plain)) law$scale <- law$scale * exp(gain * (mean(chance[plain]) - 0.25))
  if (any(turning)) {
    odds <- stats::qlogis(min(max(law$turn, 1e-3), 0.999)) + 2 * gain * (mean(chance[turning]) - 0.3)
    law$turn <- stats::plogis(odds)
  }
  law
}

record_population <- function(state, shape) {
  after <- state$iteration - state$warmup
  state$log_density <- log_population(shape, state$b, state$s, state$u) + log_laws(shape, state$d) + state$seen +
    rowSums(state$log_likelihood)
  if (after > 0) state$n_accepted <- state$n_accepted + state$accepted
  if (after > 0 && after %% state$thin == 0) {
    state <- keep_draw(state, c(state$b, state$s, state$u, state$d, state$log_density))
  }
  if (state$frozen) return(state)
  state$recent[[state$iteration]] <- c(state$b, state$s)
  if (state$iteration %in% ceiling(move_times * state$warmup)) state <- learn_moves(state, shape)
  if (state$iteration >= state$warmup) {
    state$frozen <- TRUE
    state$recent <- list()
    state["level_sums"] <- list(NULL)
  }
  state
}

# From the later half of the warm-up so far, all chains together.
learn_moves <- function(state, shape) {
  later <- seq(state$iteration %/% 2L + 1L, state$iteration)
  points <- do.call(rbind, lapply(state$recent[later], matrix, nrow(state$b)))
  if (nrow(points) < 10 * ncol(points)) return(state)
  blocks <- population_blocks(shape)
  for (block in names(blocks)) {
    own <- points[, blocks[[block]], drop = FALSE]
    law <- state$laws[[block]]
    least <- least_width * shape$width$v[blocks[[block]]]
    learnt <- list(centre = colMeans(own), covariance = stats::cov(own) + diag(least^2, ncol(own)))
    if (state$known) learnt <- join_laws(law, learnt, nrow(unique(own)))
    state$laws[[block]] <- move_law(learnt$centre, learnt$covariance, law$scale, max(law$turn, 0.2),
                                    min(law$n_scaled, 20))
  }
  state
}

# A law that was known counts as much as ten points for every number. Points are worth what turns leave of them: those
# of chains that go on slowly are much alike, and look narrower than the posterior is.
join_laws <- function(law, learnt, n_points) {
  counts <- c(10 * length(law$centre), law$turn^2 * n_points)
  part <- counts[2] / sum(counts)
  list(centre = (1 - part) * law$centre + part * learnt$centre,
       covariance = (1 - part) * crossprod(law$factor) + part * learnt$covariance)
}

population_grow <- function(state, iter) {
  state$iter <- as.integer(iter)
  state
}

# Draws [step, chain, number] of b, s, u, d and the log density, in this order.
population_draws <- function(state) {
  n <- nrow(state$b)
  kept <- with_fresh(state)$kept
  size <- length(kept[[1]]) / n
  aperm(array(unlist(kept), c(n, size, length(kept))), c(3, 1, 2))
}
