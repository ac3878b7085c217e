# Moves of the laws of a population whose dynamics are inferred as well (infer-population-worlds.R): walks as in
# infer-walk.R, each over some of cbind(d, b, s) with the intercepts in units of their spread as they are:
#
#   laws      the laws, given the population: no cell's agent changes
#   together  laws, coefficients and spreads
#
# Both learn from where chains were and from what was tried, and are frozen after warm-up.

# ---- where chains begin ---------------------------------------------------------------------------------------------

# About the top of the posterior of laws and one agent for all people, by the moves of infer-joint.R: `theta` of agents
# and `d`, one row per chain, `start` of both by name, and `top`.
start_alike_jointly <- function(pooled, tree, run, likelihood, streams) {
  pooled$group <- factor(rep(lone_group, length(pooled$group)))
  evaluator <- joint_evaluator(pooled, tree, run$chains, run$cores, likelihood)
  say <- function(density) if (run$refresh > 0) tell(message("climbing: log posterior ", round(density, 1)))
  top <- joint_top(evaluator, pooled, streams[1], say)
  first <- joint_start(evaluator, top, run$chains, streams[[2]])
  laws <- seq_along(evaluator$joint$codec$prior)
  list(theta = first$theta[, -laws, drop = FALSE], d = unname(first$theta[, laws, drop = FALSE]),
       start = prior_natural(evaluator$prior, first$theta), top = top)
}

# ---- moves ----------------------------------------------------------------------------------------------------------

# Columns of cbind(d, b, s) that each walk has.
walk_blocks <- function(shape) {
  n_laws <- length(shape$codec$prior)
  n_v <- shape$n_coefficients + shape$n_spreads + shape$n_ties
  if (n_laws) list(laws = seq_len(n_laws), together = seq_len(n_laws + n_v)) else list()
}

# `top`: of laws and one agent for all. Of what tells people apart nothing is known yet but its prior.
population_walks <- function(shape, top, s) {
  blocks <- walk_blocks(shape)
  if (!length(blocks)) return(list())
  n_laws <- length(shape$codec$prior)
  pooled <- n_laws + which(shape$design$coefficients$intercept)
  centre <- c(rep(0, n_laws + shape$n_coefficients), colMeans(s))
  covariance <- diag(c(rep(1, n_laws), shape$width$v^2))
  alike <- c(seq_len(n_laws), pooled)
  centre[alike] <- top$theta
  covariance[alike, alike] <- top$covariance
  lapply(blocks, function(own) new_walk(centre[own], covariance[own, own, drop = FALSE]))
}

new_walk <- function(centre, covariance) {
  walk <- list(covariance = unname(covariance), scale = 2.38 / sqrt(length(centre)), turn = 0.5, points = NULL,
               n_scaled = 0, recent = list(), tried = list())
  with_walk_law(walk, unname(centre), walk$covariance)
}

laws_step <- function(chain, evaluator, block, noise) {
  state <- chain$state
  shape <- evaluator$population
  columns <- walk_blocks(shape)[[block]]
  n_d <- ncol(state$d)
  n_b <- ncol(state$b)
  all <- cbind(state$d, state$b, state$s)
  walk <- state$walks[[block]]
  walk$positions <- all[, columns, drop = FALSE]
  uniform <- noise$uniform[[block]]
  move <- walk_moves(walk, noise$normal[[block]], uniform[, 1], uniform[, 2])
  proposal <- all
  proposal[, columns] <- move$proposal
  d <- proposal[, seq_len(n_d), drop = FALSE]
  b <- proposal[, n_d + seq_len(n_b), drop = FALSE]
  s <- proposal[, -seq_len(n_d + n_b), drop = FALSE]
  u <- carried_intercepts(shape, state$u, state$s, s)
  seen <- seen_log_lik(evaluator, d)
  prior <- log_laws(shape, d) + log_coefficients(shape, b) + log_spreads(shape, s)
  possible <- is.finite(prior + seen)
  found <- cell_log_lik(at_laws(evaluator, d, possible), cells_of(shape, b, u), chain$value)
  there <- prior + seen + rowSums(found$log_likelihood)
  there[!possible | is.na(there)] <- -Inf
  here <- log_laws(shape, state$d) + log_coefficients(shape, state$b) + log_spreads(shape, state$s) + state$seen +
    rowSums(state$log_likelihood)
  extra <- ifelse(move$kind == 1L, walk_reference(walk, walk$positions) - walk_reference(walk, move$proposal), 0)
  log_ratio <- there - here + extra
  log_ratio[is.na(log_ratio) | there == -Inf] <- -Inf
  took <- log(uniform[, 3]) < log_ratio
  if (any(took)) {
    parts <- list(d = d, b = b, s = s, u = u, log_likelihood = found$log_likelihood)
    for (part in names(parts)) state[[part]][took, ] <- parts[[part]][took, ]
    state$seen[took] <- seen[took]
    cells <- rep(took, shape$n_cells)
    chain$value[, cells] <- found$value[, cells]
  }
  if (!state$frozen) {
    now <- cbind(state$d, state$b, state$s)[, columns, drop = FALSE]
    steps <- list(recent = c(now, ifelse(took, there, here)), tried = c(move$proposal, there))
    state$walks[[block]] <- learn_laws(walk, state, move, steps, as_chances(log_ratio))
  }
  chain$state <- state
  chain
}

# As learn_walk() does it, by the steps of the population.
learn_laws <- function(walk, state, move, steps, chance) {
  walk$iteration <- state$iteration + 1L
  walk$warmup <- state$warmup
  walk$recent[[walk$iteration]] <- steps$recent
  walk$tried[[walk$iteration]] <- steps$tried
  learnt <- learn_walk(walk, move, chance)
  learnt[c("positions", "iteration", "warmup", "frozen")] <- NULL
  learnt
}
