# The state of chains of dynamics and agents together (infer-walk.R) in a checkpoint: how it is written, and how it is
# checked before the chains go on (see infer-checkpoint-chain.R).

# ---- the fields of a walk -------------------------------------------------------------------------------------------

# One row per field: what kind of numbers it has and how many, by the names of walk_sizes(). A question mark means that
# it may be NULL or missing. A new field of walk_start() needs a row here. The run's description of itself, streams and
# noise are checked separately.
walk_fields <- list(
  positions   = c("number", "chains", "terms"),
  log_density = c("number", "chains"),
  centre      = c("number", "terms"),
  covariance  = c("number", "terms", "terms"),
  factor      = c("number", "terms", "terms"),
  inverse     = c("number", "terms", "terms"),
  scale       = c("positive", "one"),
  axis        = c("positive", "terms"),
  turn        = c("share", "one"),
  n_scaled    = c("count", "one"),
  points      = c("number?", "leaps", "terms"),
  accepted    = c("flag", "chains"),
  n_accepted  = c("accepted", "chains"),
  recent      = c("steps", "learnt"),
  tried       = c("trials?", "learnt"),
  kept        = c("steps", "kept")
)
walk_apart <- c("sampler", "warmup", "iter", "thin", "iteration", "frozen", "streams", "noise")

# By kind, whether `x` can be of that kind with this size; `width`: of a step, c(positions, densities).
walk_kinds <- list(
  number = function(x, size, state, width) is_position(x, size),
  positive = function(x, size, state, width) is_width(x, size),
  share = function(x, size, state, width) is_finite(x, size) && all(x > 0 & x < 1),
  count = function(x, size, state, width) is_finite(x, size) && all(x >= 0),
  flag = function(x, size, state, width) is_flags(x, size),
  accepted = function(x, size, state, width) is_wholes(x, 0, max(0, state$iteration - state$warmup), size),
  steps = function(x, size, state, width) is_plain_list(x, size) && all(vapply(x, is_finite, NA, width)),
  # A point that was tried may be impossible: its density is then -Inf.
  trials = function(x, size, state, width) {
    is_plain_list(x, size) && all(vapply(x, function(step) is_reals(step, width) && isTRUE(all(step < Inf)), NA))
  }
)

walk_sizes <- function(state, n_chains, n_terms) {
  leaps <- nrow(state$points)
  after <- max(0, state$iteration - state$warmup)
  # Nothing of warm-up is kept once it is over.
  c(one = 1, chains = n_chains, terms = n_terms, leaps = if (is.null(leaps)) 0 else leaps,
    learnt = if (state$frozen) 0 else state$iteration, kept = after %/% state$thin)
}

check_walk_fields <- function(state, n_chains, n_terms) {
  must(is.list(state) && is_bare(state, "names") && !anyDuplicated(names(state)), "chains")
  optional <- vapply(walk_fields, function(row) endsWith(row[1], "?"), NA)
  must(all(names(state) %in% c(walk_apart, names(walk_fields))), "chains")
  must(all(c(walk_apart, names(walk_fields)[!optional]) %in% names(state)), "chains")
  sizes <- walk_sizes(state, n_chains, n_terms)
  must(sizes[["leaps"]] <= most_leaps, "points of the chains")
  for (field in names(walk_fields)) {
    row <- walk_fields[[field]]
    x <- state[[field]]
    if (is.null(x) && optional[[field]]) next
    kind <- walk_kinds[[sub("?", "", row[1], fixed = TRUE)]]
    must(kind(x, unname(sizes[row[-1]]), state, n_chains * (n_terms + 1)), paste(field, "of the chains"))
  }
}

# ---- steps in one piece ---------------------------------------------------------------------------------------------

# Lists of steps, all of the same length, of walks and of populations. A file has them as matrices [number, step], which
# are written and read in one go.
walk_lists <- c("recent", "tried", "kept")

chain_to_plain <- function(chain) {
  if (!is_walk(chain$state) && !is_population(chain$state)) return(chain)
  chain$state <- steps_to_plain(chain$state)
  if (is_population(chain$state)) chain$state$walks <- lapply(chain$state$walks, steps_to_plain)
  chain
}

steps_to_plain <- function(state) {
  state <- with_fresh(state)
  for (field in intersect(walk_lists, names(state))) {
    steps <- state[[field]]
    if (!is.null(steps)) state[[field]] <- matrix(as.double(unlist(steps)), ncol = length(steps))
  }
  state
}

chain_from_plain <- function(chain) {
  if (!is.list(chain) || !is.list(chain$state)) return(chain)
  if (!is_walk(chain$state) && !is_population(chain$state)) return(chain)
  chain$state <- steps_from_plain(chain$state)
  if (is_population(chain$state)) {
    must(is.list(chain$state$walks) && all(vapply(chain$state$walks, is.list, NA)), "chains")
    chain$state$walks <- lapply(chain$state$walks, steps_from_plain)
  }
  chain
}

steps_from_plain <- function(state) {
  for (field in intersect(walk_lists, names(state))) {
    steps <- state[[field]]
    if (is.null(steps)) next
    must(is_reals(steps, dim(steps)) && length(dim(steps)) == 2, "steps of the chains")
    state[[field]] <- lapply(seq_len(ncol(steps)), function(i) steps[, i])
  }
  state
}

# ---- a walk as a whole ----------------------------------------------------------------------------------------------

# `job` was made from the contents beside the chains.
check_held_walk <- function(chain, job) {
  evaluator <- job$evaluator
  must(has_names(chain, c("state", "value")), "chains")
  state <- chain$state
  run <- job$run
  must(is_walk(state) && identical(state[c("warmup", "thin")], run[c("warmup", "thin")]), "settings of the chains")
  # A run that goes on until its chains agree gets more steps on the way.
  must(is_wholes(state$iter, run$iter, run$max_iter, 1) && is_wholes(state$iteration, 0, state$iter, 1), "steps")
  must(identical(state$frozen, state$iteration >= run$warmup), "warm-up")
  n_terms <- length(evaluator$prior)
  check_walk_fields(state, run$chains, n_terms)
  check_held_streams(state$streams, run$chains)
  check_walk_noise(state, run$chains, n_terms)
  # A proposal and its density belong together.
  must(is_near(state$factor %*% state$inverse, diag(n_terms)), "proposals")
  must(is_near(state$covariance, t(state$covariance)) && all(eigen(state$covariance, TRUE)$values > 0), "proposals")
  check_walk_record(state, list(prior = evaluator$prior, likelihood = evaluator$likelihood))
  # Warm-up will learn from these contents: an error should show up here, and not hours later.
  if (!state$frozen && state$iteration > 0) learn_walk_law(state, bends = FALSE)
  check_joint_values(chain, evaluator)
  check_joint_likelihood(chain, evaluator)
}

check_walk_noise <- function(state, n_chains, n_terms) {
  noise <- state$noise
  if (state$iteration == 0) return(must(is.null(noise), "noise"))
  blank <- c(n_chains, block_steps)
  must(has_names(noise, c("normal", "kind", "component", "log_uniform")), "noise")
  must(is_finite(noise$normal, c(n_chains * n_terms, block_steps)) && all(abs(noise$normal) < 100), "noise")
  for (uniform in noise[c("kind", "component")]) {
    must(is_finite(uniform, blank) && all(uniform > 0 & uniform < 1), "noise")
  }
  must(is_finite(noise$log_uniform, blank) && all(noise$log_uniform < 0), "noise")
}

# Steps so far must lie where chains can be, and trials where they can be; the last step is the present position.
check_walk_record <- function(state, expected) {
  check_held_positions(state$positions, state$log_density, expected, "positions")
  size <- dim(state$positions)
  now <- c(state$positions, state$log_density)
  after <- state$iteration - state$warmup
  here <- list(recent = TRUE, kept = after > 0 && after %% state$thin == 0, tried = FALSE)
  for (part in names(here)) {
    steps <- state[[part]]
    what <- if (part == "kept") "draws" else "warm-up"
    if (!length(steps)) next
    if (here[[part]]) must(identical(steps[[length(steps)]], now), what)
    points <- step_points(steps, size[1], size[2])
    possible <- points$density > -Inf
    check_held_positions(points$theta[possible, , drop = FALSE], points$density[possible], expected, what)
  }
}

# ---- what it has of the problem -------------------------------------------------------------------------------------

# Values that solves start from, checked as in check_held_values(), group by group.
check_joint_values <- function(chain, evaluator) {
  theta <- chain$state$positions
  joint <- evaluator$joint
  n_values <- evaluator$agent$n_values
  must(is_finite(chain$value, c(n_values * joint$n_groups, nrow(theta))), "values")
  if (!evaluator$likelihood) return(must(all(chain$value == 0), "values"))
  n_laws <- length(joint$codec$prior)
  agents <- agents_of(theta, n_laws, joint$n_groups)
  vectors <- vectors_of(joint$codec, stats::plogis(theta[, seq_len(n_laws), drop = FALSE]))
  for (i in seq_len(nrow(theta))) {
    agent <- evaluator$agent
    agent$recipe$vectors <- vectors[i, , drop = FALSE]
    agent$recipe$which <- 1L
    value <- matrix(chain$value[, i], n_values)
    for (g in seq_len(joint$n_groups)) {
      most <- most_value(agent, agents[i + nrow(theta) * (g - 1), , drop = FALSE])
      must(all(abs(value[, g]) <= most), "values")
    }
  }
}

# The model beside the chains must be the one that they belong to.
check_joint_likelihood <- function(chain, evaluator) {
  if (!evaluator$likelihood) return(invisible())
  check <- function(theta, log_density, what) {
    found <- evaluate_joint(evaluator, theta, chain$value)
    apart <- abs(found$log_prior + found$log_likelihood - log_density)
    must(all(apart <= joint_slack(evaluator, theta, found$value, log_density)), what)
  }
  state <- chain$state
  check(state$positions, state$log_density, "likelihood")
  size <- dim(state$positions)
  n_kept <- length(state$kept)
  for (row in round(seq(1, n_kept, length.out = min(n_kept, most_looked_at)))) {
    step <- matrix(state$kept[[row]], size[1])
    check(step[, seq_len(size[2]), drop = FALSE], step[, size[2] + 1], "draws")
  }
}

# likelihood_slack() of all groups together.
joint_slack <- function(evaluator, theta, value, log_density) {
  joint <- evaluator$joint
  agents <- agents_of(theta, length(joint$codec$prior), joint$n_groups)
  group <- rep(seq_len(joint$n_groups), each = nrow(theta))
  # [node, group, chain] to [node, chain and group].
  own <- aperm(array(value, c(nrow(value) / joint$n_groups, joint$n_groups, nrow(theta))), c(1, 3, 2))
  slack <- likelihood_slack(evaluator$agent, agents, matrix(own, dim(own)[1]), group, rep(log_density, joint$n_groups))
  rowSums(matrix(slack, nrow(theta)))
}
