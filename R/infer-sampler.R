# A Metropolis-Hastings sampler, vectorised over chains: a step draws a proposal for every chain, asks once for the log
# densities of all of them, and accepts or refuses each. It knows nothing of planning. `log_density(theta)` takes a
# matrix [chains, size] and returns one number per row, -Inf where there is no density; or two numbers, the log prior
# and the log likelihood, which early warm-up flattens.
#
# The state is a plain list, and a step is a function from state to state: a run can be stopped after any step, saved,
# and continued with identical draws. `iter` counts all steps, including warm-up; what is learnt in warm-up is frozen
# after it.

# Steps whose noise is drawn at once, and steps between two copies of all draws.
block_steps <- 64L
flush_steps <- 256L

# `scouts` (infer-scouts.R): [scout, size, 3, group], points of the posterior that warm-up learns from besides its own,
# the same from a wider posterior, and patches (infer-patches.R).
sampler_start <- function(positions, log_density, streams, group = rep(1L, nrow(positions)), warmup, iter,
                          thin = 1L, sampler = c("adaptive", "paper"), step = 0.1, scouts = NULL) {
  sampler <- match.arg(sampler)
  n_chains <- nrow(positions)
  size <- ncol(positions)
  group <- match(group, sort(unique(group)))
  n_groups <- max(group)
  storage.mode(positions) <- "double"
  parts <- density_parts(log_density(positions), n_chains)
  density <- parts$total
  if (any(density == -Inf)) {
    abort_input("start", "must have positive density: ", plural(sum(density == -Inf), "chain"),
                " would begin where the prior or the likelihood is zero.", rows = which(density == -Inf))
  }
  n_kept <- (iter - warmup) %/% thin
  # What is proposed: `law` (see sampler-proposal.R), `scale` per group, and from them and a block's noise the moves of
  # its steps. The result of the last step: `proposal`, `independent`, `log_ratio`, `log_uniform` and `accepted`.
  state <- list(
    sampler = sampler, warmup = as.integer(warmup), iter = as.integer(iter), thin = as.integer(thin),
    group = group, step = step, iteration = 0L, frozen = sampler == "paper" || warmup == 0,
    positions = positions, log_density = density, log_likelihood = parts$likelihood,
    log_mixture = numeric(n_chains),
    proposal = positions, independent = logical(n_chains), log_ratio = numeric(n_chains),
    log_uniform = numeric(n_chains), accepted = rep(TRUE, n_chains), n_accepted = integer(n_chains),
    law = initial_proposal(size, n_groups), scale = rep(step, n_groups), n_scaled = numeric(n_groups),
    streams = streams, noise = NULL, moves = NULL,
    recent = vector("list", flush_steps), history = NULL, scouts = NULL,
    draws = array(NA_real_, c(n_kept, n_chains, size)),
    log_density_draws = matrix(NA_real_, n_kept, n_chains)
  )
  if (state$frozen) return(state)
  state$history <- array(NA_real_, c(warmup, n_chains, size))
  state["scouts"] <- list(scouts)
  if (is.null(scouts)) state else learn_law(state, mixture = TRUE)
}

# One step of all chains.
sampler_step <- function(state, log_density) {
  if (state$iteration >= state$iter) stop("the sampler has made all its steps")
  at <- state$iteration %% block_steps + 1L
  if (at == 1L) state <- next_block(state)
  moves <- state$moves
  independent <- moves$independent[, at]
  scale <- state$scale[state$group]
  scale[independent] <- 1
  shear <- state$law$shear
  straight <- straighten(shear, state$positions, state$group) * (!independent) + moves$shift[, at] * scale
  proposal <- bend_back(shear, straight, state$group)
  log_mixture <- moves$log_mixture[, at]
  log_uniform <- moves$log_uniform[, at]

  parts <- density_parts(log_density(proposal), length(scale))
  log_ratio <- log_density_ratio(parts, state) + independent * (state$log_mixture - log_mixture)
  accepted <- log_uniform < log_ratio

  state$iteration <- state$iteration + 1L
  state$proposal <- proposal
  state$independent <- independent
  state$log_ratio <- log_ratio
  state$log_uniform <- log_uniform
  state$accepted <- accepted
  if (any(accepted)) {
    state$positions[accepted, ] <- proposal[accepted, ]
    state$log_density[accepted] <- parts$total[accepted]
    state$log_likelihood[accepted] <- parts$likelihood[accepted]
    state$log_mixture[accepted] <- log_mixture[accepted]
    # An independent draw knows its density under the mixture, a walk does not.
    if (!is.null(state$law$mixture) && any(walked <- accepted & !independent)) {
      state$log_mixture[walked] <-
        mixture_log_density(state$law$mixture, straight[walked, , drop = FALSE], state$group[walked])
    }
  }
  state <- record(state)
  if (state$frozen) state else learn(state, moves$plain[, at])
}

# The same run with more steps to make, as if that many had been asked for from the beginning.
sampler_grow <- function(state, iter) {
  state <- sampler_flush(state)
  size <- dim(state$draws)
  old <- seq_len(size[1])
  n_kept <- (iter - state$warmup) %/% state$thin
  draws <- array(NA_real_, c(n_kept, size[2:3]))
  log_density <- matrix(NA_real_, n_kept, size[2])
  draws[old, , ] <- state$draws
  log_density[old, ] <- state$log_density_draws
  state[c("iter", "draws", "log_density_draws")] <- list(as.integer(iter), draws, log_density)
  state
}

# Makes steps until there are `until` of them in all. `each_step(state)`, if given, is called after every step, and ends
# the run by returning FALSE.
sampler_run <- function(state, log_density, until = state$iter, each_step = NULL) {
  while (state$iteration < until) {
    state <- sampler_step(state, log_density)
    if (!is.null(each_step) && isFALSE(each_step(state))) break
  }
  sampler_flush(state)
}

# The log density and the part of it that comes from the data. A NaN would be refused silently, and a chain would never
# leave +Inf.
density_parts <- function(density, n_chains) {
  likelihood <- if (is.matrix(density)) density[, 2] else numeric(n_chains)
  total <- if (is.matrix(density)) density[, 1] + likelihood else density
  if (length(total) != n_chains || !isTRUE(all(total < Inf))) {
    stop("the log density must be a number or -Inf for every chain")
  }
  list(total = total, likelihood = likelihood)
}

log_density_ratio <- function(parts, state) {
  log_ratio <- parts$total - state$log_density
  weight <- likelihood_weight(state)
  if (weight == 1) return(log_ratio)
  flattened <- log_ratio - (1 - weight) * (parts$likelihood - state$log_likelihood)
  ifelse(parts$total == -Inf, -Inf, flattened)
}

next_block <- function(state) {
  state$noise <- draw_noise(state$streams, block_steps, ncol(state$positions), proposal_df)
  state$streams <- state$noise$streams
  state$noise$streams <- NULL
  state$moves <- prepare_moves(state$noise, state$law, state$group, fixed = state$sampler == "paper")
  state
}

# The positions of the chains go to `recent` first. This is a list of pointers, which is cheap to change at every step;
# the whole array of draws would be copied.
record <- function(state) {
  iteration <- state$iteration
  at <- (iteration - 1L) %% flush_steps + 1L
  state$recent[[at]] <- c(state$positions, state$log_density)
  if (iteration > state$warmup) state$n_accepted <- state$n_accepted + state$accepted
  full <- at == flush_steps || iteration == state$warmup || iteration == state$iter
  if (full) sampler_flush(state) else state
}

# Brings `draws` and `history` up to date with the last step made. It writes again what it wrote since `recent` was last
# full: a flush changes no later draw.
sampler_flush <- function(state) {
  if (state$iteration == 0L) return(state)
  at <- (state$iteration - 1L) %% flush_steps + 1L
  iterations <- state$iteration - at + seq_len(at)
  size <- ncol(state$positions)
  if (!is.null(state$history)) {
    warm <- which(iterations <= state$warmup)
    state$history[iterations[warm], , ] <- unpack(state$recent[warm], state)[, , seq_len(size)]
  }
  after <- iterations - state$warmup
  kept <- which(after > 0 & after %% state$thin == 0)
  if (length(kept) > 0) {
    rows <- after[kept] %/% state$thin
    recent <- unpack(state$recent[kept], state)
    state$draws[rows, , ] <- recent[, , seq_len(size)]
    state$log_density_draws[rows, ] <- recent[, , size + 1L]
  }
  state
}

# Steps kept as c(positions, log_density), as an array [steps, chains, size + 1].
unpack <- function(recent, state) {
  size <- dim(state$positions) + 0:1
  aperm(array(unlist(recent), c(size, length(recent))), c(3, 1, 2))
}

# Warm-up -----------------------------------------------------------------------

# The walk's shape is learnt often at first; a warm-up that is too short learns nothing more. Mixtures are then fitted
# as the chains settle, the last time at the end.
mixture_warmup <- 100L
mixture_times <- c(0.15, 0.25, 0.35, 0.5, 0.7, 0.85, 1)
# Until then scouts know more than the chains do.
scouts_alone <- 0.5

# Chains without scouts find all of a curved or lopsided posterior sooner where it is flat. So the likelihood counts
# little at first, and in full from half of the warm-up on.
flattest <- 0.1
flat_until <- 0.25
full_from <- 0.5

likelihood_weight <- function(state) {
  gone <- state$iteration / state$warmup
  if (state$frozen || !is.null(state$scouts) || state$warmup < mixture_warmup || gone >= full_from) return(1)
  flattest^min(1, (full_from - gone) / (full_from - flat_until))
}

learn <- function(state, plain) {
  if (any(plain)) state <- tune_scale(state, plain)
  iteration <- state$iteration
  last <- iteration == state$warmup
  fits <- if (state$warmup < mixture_warmup) Inf else ceiling(mixture_times * state$warmup)
  if (!is.null(state$scouts)) fits <- fits[fits >= scouts_alone * state$warmup]
  if (iteration %in% fits) {
    state <- learn_law(state, mixture = TRUE)
  } else if (is.null(state$law$mixture) && iteration >= 16L &&
             (last || (iteration %% 32L == 0L && iteration < fits[1]))) {
    state <- learn_law(state, mixture = FALSE)
  }
  if (last) {
    state$frozen <- TRUE
    state[c("history", "scouts")] <- list(NULL)
  }
  state
}

# Robbins and Monro: the log scale moves towards the wanted acceptance, by less and less. Walks of unusual length do not
# count.
tune_scale <- function(state, plain) {
  n_groups <- length(state$scale)
  member <- state$group == rep(seq_len(n_groups), each = length(plain))
  n <- .colSums(member * plain, length(plain), n_groups)
  chance <- .colSums(member * plain * pmin(1, exp(state$log_ratio)), length(plain), n_groups)
  state$n_scaled <- state$n_scaled + (n > 0)
  gain <- pmax(1, state$n_scaled)^-0.6
  wanted <- n * target_acceptance(ncol(state$positions))
  state$scale <- state$scale * exp(gain * (chance - wanted) / pmax(1, n))
  state
}

# From the later half of the warm-up so far and the scouts, for the chains of each group together.
learn_law <- function(state, mixture) {
  state <- sampler_flush(state)
  size <- ncol(state$positions)
  rows <- seq_len(state$iteration)[seq_len(state$iteration) > state$iteration %/% 2L]
  groups <- seq_along(state$scale)
  points <- lapply(groups, function(g) {
    rbind(matrix(state$history[rows, state$group == g, ], ncol = size), scouts_of(state$scouts, g, 1L))
  })
  wide <- lapply(groups, function(g) scouts_of(state$scouts, g, 2L))
  least <- state$step * 1e-3
  # The scale was learnt for another shape.
  state$n_scaled <- pmin(state$n_scaled, 20)
  if (mixture) {
    first <- is.null(state$law$mixture)
    shear <- stack_shears(Map(function(own, wide) learn_shear(rbind(own, wide)), points, wide))
    state$law["shear"] <- list(shear)
    state$law$mixture <- stack_mixtures(lapply(groups, function(g) {
      mixture <- straight_mixture(shear, g, points[[g]], wide[[g]], least)
      with_patches(mixture, patch_mixture(patches_of(state$scouts, g), shear, g, least))
    }))
    state$law$walk_factor <- state$law$mixture$factor
    state$law$n_shapes <- state$law$mixture$n_own
    state$log_mixture <- mixture_log_density(state$law$mixture, straighten(shear, state$positions, state$group),
                                             state$group)
    # A component has its own size; a shape had none.
    if (first) state$scale[] <- 1
  } else {
    state$law$walk_factor <- matrix(vapply(points, walk_factor, numeric(size^2), least = least), size^2)
  }
  if (!is.null(state$noise)) state$moves <- prepare_moves(state$noise, state$law, state$group)
  state
}

scouts_of <- function(scouts, g, kind) if (!is.null(scouts)) matrix(scouts[, , kind, g], dim(scouts)[1])

patches_of <- function(scouts, g) {
  points <- scouts_of(scouts, g, 3L)
  if (!is.null(points)) points[!is.na(points[, 1]), , drop = FALSE]
}
