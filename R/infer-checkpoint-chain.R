# Where the chains of a checkpoint stand, checked before they go on (see checkpoint-contents.R): a state as
# sampler_start() makes it and sampler_step() leaves it, at a place where a chain can be.

# `job` was made from the contents beside the chains.
check_held_chain <- function(chain, job) {
  evaluator <- job$evaluator
  group <- evaluator$group
  if (!is.null(chain$parts)) {
    parts <- chain$parts
    must(has_names(chain, "parts") && is_plain_list(parts, max(group)) && max(group) > 1, "chains")
  } else {
    parts <- list(chain)
  }
  own <- if (length(parts) > 1) split(seq_along(group), group) else list(seq_along(group))
  for (p in seq_along(parts)) {
    must(has_names(parts[[p]], c("state", "value")), "chains")
    n_groups <- length(unique(group[own[[p]]]))
    expected <- list(group = match(group[own[[p]]], unique(group[own[[p]]])), n_groups = n_groups,
                     prior = evaluator$prior, likelihood = evaluator$likelihood, run = job$run, sampler = job$sampler)
    check_held_state(parts[[p]]$state, expected)
    check_held_values(parts[[p]], evaluator, own[[p]])
    check_held_likelihood(parts[[p]], evaluator, own[[p]])
    must(identical(parts[[p]]$state[c("iteration", "iter")], parts[[1]]$state[c("iteration", "iter")]), "steps")
  }
}

check_held_state <- function(state, expected) {
  n_chains <- length(expected$group)
  run <- expected$run
  first <- sampler_start(matrix(0, 1, 1), function(theta) 0, list(0L), warmup = 0, iter = 2)
  must(has_names(state, names(first)), "chains")
  must(identical(state[c("sampler", "warmup", "thin", "group", "step")],
                 c(expected["sampler"], run[c("warmup", "thin")], expected["group"], first["step"])),
       "settings of the chains")
  # A run that goes on until its chains agree gets more steps on the way.
  must(is_wholes(state$iter, run$iter, run$max_iter, 1), "steps")
  must(is_wholes(state$iteration, 0, state$iter, 1), "steps")
  must(identical(state$frozen, expected$sampler == "paper" || state$iteration >= run$warmup), "warm-up")
  check_held_positions(without_terms(state$positions, expected$prior), state$log_density, expected, "positions",
                       state$log_likelihood)
  check_held_streams(state$streams, n_chains)
  check_held_law(state, expected)
  check_held_moves(state, expected)
  check_held_step(state, n_chains, expected$prior)
  check_held_record(state, expected)
}

# Places on the sampler's scale, one per row, where the prior has a density, and the log densities there. No likelihood
# is above 1.
check_held_positions <- function(theta, log_density, expected, what, log_likelihood = NULL) {
  n <- length(log_density)
  must(is_position(theta, c(n, length(expected$prior))), what)
  must(is_finite(log_density, n), what)
  log_prior <- prior_log_density(expected$prior, theta)
  slack <- 1e-6 * (1 + abs(log_prior) + abs(log_density))
  must(all(is.finite(log_prior)) && all(log_density <= log_prior + slack), what)
  if (!expected$likelihood) must(all(abs(log_density - log_prior) <= slack), what)
  if (is.null(log_likelihood)) return(invisible())
  must(is_finite(log_likelihood, n) && all(abs(log_prior + log_likelihood - log_density) <= slack), what)
}

# Numbers that R's generator takes as they are: of its kind, below its two moduli, and not all 0.
check_held_streams <- function(streams, n_chains) {
  must(is_plain_list(streams, n_chains), "random streams")
  kind <- streams_from_seed(1L)[[1]][1]
  for (stream in streams) {
    must(is.integer(stream) && is_bare(stream) && length(stream) == 7, "random streams")
    must(identical(stream[1], kind), "random streams")
    # As numbers without a sign; NA is the smallest signed one.
    word <- ifelse(is.na(stream[-1]), 2^31, stream[-1] %% 2^32)
    must(all(word < rep(c(4294967087, 4294944443), each = 3)) && any(word[1:3] > 0) && any(word[4:6] > 0),
         "random streams")
  }
}

check_held_law <- function(state, expected) {
  law <- state$law
  n_groups <- expected$n_groups
  size <- length(expected$prior)
  must(has_names(law, c("walk_factor", "n_shapes", "mixture", "shear")), "proposals")
  if (expected$sampler == "paper") must(identical(law, initial_proposal(size, n_groups)), "proposals")
  must(is_finite(state$scale, n_groups) && all(state$scale > 1e-100 & state$scale < 1e100), "proposals")
  must(is_finite(state$n_scaled, n_groups) && all(state$n_scaled >= 0), "proposals")
  must(is_finite(state$log_mixture, length(expected$group)), "proposals")
  check_held_scouts(state, size, n_groups)
  if (is.null(law$mixture)) {
    must(is.null(law$shear) && is.null(state$scouts), "proposals")
    must(is_wholes(law$n_shapes, 1, 1, n_groups), "proposals")
    must(is_finite(law$walk_factor, c(size^2, n_groups)) && all(abs(law$walk_factor) < 1e100), "proposals")
    must(all(law$walk_factor[diag(size) == 1, ] > 0) && all(state$log_mixture == 0), "proposals")
    return(invisible())
  }
  check_held_mixture(law$mixture, size, n_groups)
  if (!is.null(law$shear)) check_held_shear(law$shear, size, n_groups)
  must(identical(law$walk_factor, law$mixture$factor) && identical(law$n_shapes, law$mixture$n_own), "proposals")
  straight <- straighten(law$shear, state$positions, expected$group)
  log_mixture <- mixture_log_density(law$mixture, straight, expected$group)
  must(is_near(as.vector(state$log_mixture), log_mixture), "proposals")
}

# Scouts are useful only while chains learn.
check_held_scouts <- function(state, size, n_groups) {
  scouts <- state$scouts
  if (is.null(scouts)) return(invisible())
  must(!state$frozen && length(dim(scouts)) == 4 && dim(scouts)[1] <= most_scouts, "scouts")
  n <- dim(scouts)[1]
  must(is.double(scouts) && identical(dim(scouts), as.integer(c(n, size, 3, n_groups))), "scouts")
  must(all(is.finite(scouts[, , 1:2, ])) && all(abs(scouts) <= most_position, na.rm = TRUE), "scouts")
  for (g in seq_len(n_groups)) {
    lost <- matrix(is.na(scouts[, , 3, g]), n)
    # Whole patches, and nothing after them.
    first <- sum(!lost[, 1])
    must(all(lost == (seq_len(n) > first)) && first %% (2 * size + 1) == 0, "scouts")
  }
}

check_held_shear <- function(shear, size, n_groups) {
  must(has_names(shear, c("driver", "sign", "centre", "most", "along", "bend")), "proposals")
  must(is_wholes(shear$driver, 1, size, n_groups) && is_finite(shear$sign, n_groups), "proposals")
  must(all(abs(shear$sign) == 1) && is_finite(shear$centre, n_groups) && is_finite(shear$most, n_groups), "proposals")
  must(all(abs(shear$centre) <= most_position & shear$most >= 0 & shear$most <= beyond_points), "proposals")
  for (part in shear[c("along", "bend")]) {
    must(is_finite(part, c(size, n_groups)) && all(abs(part) <= most_position), "proposals")
    # A term that moved itself would change volumes.
    must(all(part[cbind(shear$driver, seq_len(n_groups))] == 0), "proposals")
  }
}

# Weights, means and factors determine the rest: stacked again they have to give it.
check_held_mixture <- function(mixture, size, n_groups) {
  n_parts <- mixture$n_parts
  most <- most_components + wide_components + most_patches + 2
  must(is_wholes(n_parts, 1, most, 1) && is_wholes(mixture$n_own, 1, n_parts, n_groups), "proposals")
  must(is_finite(mixture$cumulative, c(n_parts, n_groups)), "proposals")
  must(is_finite(mixture$mean, c(n_parts * n_groups, size)) && all(abs(mixture$mean) <= most_position), "proposals")
  must(is_finite(mixture$factor, c(size^2, n_parts * n_groups)), "proposals")
  must(all(abs(mixture$factor) <= most_position), "proposals")
  must(all(mixture$factor[diag(size) == 1, ] > 0), "proposals")
  apart <- lapply(seq_len(n_groups), function(g) {
    own <- seq_len(mixture$n_own[g])
    weight <- diff(c(0, mixture$cumulative[own, g]))
    must(all(weight > 0) && abs(sum(weight) - 1) < 1e-6, "proposals")
    at <- own + n_parts * (g - 1)
    list(weight = weight, mean = mixture$mean[at, , drop = FALSE],
         factor = array(mixture$factor[, at], c(size, size, length(at))))
  })
  again <- stack_mixtures(apart)
  must(has_names(mixture, names(again)), "proposals")
  # Small weights are known less well from their running sum.
  must(is_near(again[names(again) != "constant"], mixture[names(again) != "constant"]), "proposals")
  must(is_near(again$constant, mixture$constant, within = 0.01), "proposals")
}

# The noise of a block of steps, and the moves that the proposals make from it.
check_held_moves <- function(state, expected) {
  if (state$iteration == 0) return(must(is.null(state$noise) && is.null(state$moves), "noise"))
  n_chains <- length(expected$group)
  noise <- state$noise
  blank <- c(n_chains, block_steps)
  must(has_names(noise, c("normal", "chi_square", "kind", "component", "log_uniform")), "noise")
  must(is_finite(noise$normal, c(n_chains * length(expected$prior), block_steps)), "noise")
  must(all(abs(noise$normal) < 100), "noise")
  must(is_finite(noise$chi_square, blank) && all(noise$chi_square > 0 & noise$chi_square < 1e4), "noise")
  for (uniform in noise[c("kind", "component")]) {
    must(is_finite(uniform, blank) && all(uniform > 0 & uniform < 1), "noise")
  }
  must(is_finite(noise$log_uniform, blank) && all(noise$log_uniform < 0), "noise")
  again <- prepare_moves(noise, state$law, expected$group, fixed = expected$sampler == "paper")
  must(is_near(again, state$moves), "moves")
}

# The result of the last step.
check_held_step <- function(state, n_chains, prior) {
  must(is_finite(without_terms(state$proposal, prior), c(n_chains, length(prior))), "last step")
  must(is_flags(state$independent, n_chains), "last step")
  must(is_reals(state$log_ratio, n_chains) && !anyNA(state$log_ratio), "last step")
  must(is_finite(state$log_uniform, n_chains) && all(state$log_uniform <= 0), "last step")
  must(is_flags(state$accepted, n_chains), "last step")
  must(is_wholes(state$n_accepted, 0, max(0, state$iteration - state$warmup), n_chains), "acceptance")
  if (state$iteration == 0) return(must(all(state$accepted), "last step"))
  at <- (state$iteration - 1L) %% block_steps + 1L
  must(identical(state$log_uniform, state$noise$log_uniform[, at]), "last step")
  must(all(state$accepted == (state$log_uniform < state$log_ratio)), "last step")
}

# Draws and warm-up so far, after what was kept aside is written to them; none beyond.
check_held_record <- function(state, expected) {
  n_chains <- length(expected$group)
  size <- length(expected$prior)
  n_kept <- (state$iter - state$warmup) %/% state$thin
  must(is_reals(state$draws, c(n_kept, n_chains, size)), "draws")
  must(is_reals(state$log_density_draws, c(n_kept, n_chains)), "draws")
  must(is.null(state$history) == state$frozen, "warm-up")
  if (!state$frozen) must(is_reals(state$history, c(state$warmup, n_chains, size)), "warm-up")
  must(is_plain_list(state$recent, flush_steps), "draws")
  made <- min(state$iteration, flush_steps)
  must(all(vapply(state$recent[seq_len(made)], is_finite, NA, (size + 1) * n_chains)), "draws")
  must(all(vapply(state$recent[seq_len(flush_steps) > made], is.null, NA)), "draws")
  if (state$iteration == 0) return(must(all(is.na(state$draws)) && all(is.na(state$history)), "draws"))
  at <- (state$iteration - 1L) %% flush_steps + 1L
  must(identical(state$recent[[at]], c(state$positions, state$log_density)), "draws")
  whole <- sampler_flush(state)
  if (!is.null(whole$history)) check_filled(whole$history, state$iteration, NULL, expected, "warm-up")
  check_filled(whole$draws, max(0, state$iteration - state$warmup) %/% state$thin, whole$log_density_draws, expected,
               "draws")
}

# [step, chain, term]: numbers where a chain can be in the first `n` steps, and nothing after them.
check_filled <- function(steps, n, log_density, expected, what) {
  filled <- seq_len(n)
  left <- setdiff(seq_len(dim(steps)[1]), filled)
  must(all(is.na(steps[left, , ])) && all(is.na(log_density[left, ])), what)
  if (n == 0) return(invisible())
  theta <- matrix(steps[filled, , ], n * dim(steps)[2])
  if (!is.null(log_density)) return(check_held_positions(theta, as.vector(log_density[filled, ]), expected, what))
  must(all(is.finite(theta) & abs(theta) <= most_position), what)
  must(all(is.finite(prior_log_density(expected$prior, theta))), what)
}

# Values that solves start from.
check_held_values <- function(part, evaluator, own) {
  value <- part$value
  n_values <- evaluator$n_values
  must(is_finite(value, c(n_values, length(own))), "values")
  if (!evaluator$likelihood) return(must(all(value == 0), "values"))
  theta <- part$state$positions
  for (i in seq_along(own)) {
    one <- if (is.null(evaluator$own)) evaluator else evaluator$own[[evaluator$group[own[i]]]]
    must(all(abs(value[, i]) <= most_value(one, theta[i, , drop = FALSE])), "values")
  }
}

# How large values can be. The mean gain of a visit lies within this bound, so values lie within its sum over all
# visits. Twice as much is far from any value that a solve has found.
most_value <- function(evaluator, theta) {
  if (!is.null(evaluator$parts)) return(rep(vapply(evaluator$parts, most_value, 0, theta), lengths(evaluator$values)))
  natural <- prior_natural(evaluator$prior, theta)
  # Which group has which dynamics follows what is inferred.
  if (!is.null(evaluator$recipe$codec)) natural <- cbind(natural, evaluator$recipe$which)
  at <- parameters_of(evaluator$places, natural)
  asked <- batch_of(evaluator, at, natural)
  reward <- asked$rewards
  if (is.null(reward)) reward <- evaluator$batch$problem$reward
  # No next belief is harder to foresee than one of as many as there are observations, all equally likely.
  surprise <- max(abs(evaluator$batch$problem$surprise), log(evaluator$batch$models$n_obs))
  discount <- asked$parameters[parameters$discount$slot]
  2 * (max(abs(reward)) + abs(at[parameters$eta$slot]) * surprise) / (1 - discount) + 1
}

# The model beside the chains must be the one that they belong to. Where they stand, and at some of the draws that they
# have left, it must give the densities that were written. Otherwise the run would go on as a mixture of two.
check_held_likelihood <- function(part, evaluator, own) {
  if (!evaluator$likelihood) return(invisible())
  group <- evaluator$group[own]
  # Row by row, since values are the largest part of a chain.
  check <- function(theta, log_density, what) {
    found <- evaluate_batch(evaluator, theta, part$value, group)
    apart <- abs(found$log_prior + found$log_likelihood - log_density)
    must(all(apart <= likelihood_slack(evaluator, theta, found$value, group, log_density)), what)
  }
  state <- sampler_flush(part$state)
  check(unname(state$positions), state$log_density, "likelihood")
  n_kept <- max(0, state$iteration - state$warmup) %/% state$thin
  for (row in round(seq(1, n_kept, length.out = min(n_kept, most_looked_at)))) {
    check(matrix(state$draws[row, , ], length(own)), state$log_density_draws[row, ], "draws")
  }
}

most_looked_at <- 8

# How far apart the log densities of two solves may be, each off by the tolerance, or by rounding, in any direction. The
# log probability of an action is its value over alpha, less a number that is the same for all actions.
likelihood_slack <- function(evaluator, theta, value, group, log_density) {
  if (!is.null(evaluator$parts)) {
    each <- vapply(seq_along(evaluator$parts), function(k) {
      part <- evaluator$parts[[k]]
      place <- part$place[group]
      slack <- numeric(length(group))
      slack[!is.na(place)] <- likelihood_slack(part, theta[!is.na(place), , drop = FALSE],
                                               value[evaluator$values[[k]], !is.na(place), drop = FALSE],
                                               place[!is.na(place)], log_density[!is.na(place)])
      slack
    }, numeric(length(group)))
    return(rowSums(matrix(each, length(group))))
  }
  price <- vapply(seq_len(nrow(theta)), function(i) {
    one <- if (is.null(evaluator$own)) evaluator else evaluator$own[[group[i]]]
    parameters_of(one$places, prior_natural(one$prior, theta[i, , drop = FALSE]))[c(1, 4)]
  }, numeric(2))
  most <- apply(abs(value), 2, max)
  off <- evaluator$batch$tolerance + 16 * .Machine$double.eps * (1 + most) / (1 - price[2, ])
  n_visits <- vapply(evaluator$batch$histories, function(tree) length(tree$visit), 0L)[group]
  1e-5 * (1 + abs(log_density)) + 4 * n_visits * off / price[1, ]
}
