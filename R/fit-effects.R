# Fits of populations (ibrc() with `effects`): one set of chains has coefficients, spreads and intercepts, and agents of
# cells follow from them.

# `tree`: where dynamics are inferred as well, the visits that they were learned from.
new_population_run <- function(inverse, run, control, seed, likelihood, found, tree = NULL) {
  if (control$sampler != "adaptive") {
    abort_input("sampler", "must be \"adaptive\" with `effects`: the paper's walk would not move there.")
  }
  if (!is.null(control$start)) {
    abort_input("start", "cannot be given with `effects`: chains begin where all people are alike.")
  }
  if (!is.null(tree) || !is.null(inverse$cut)) look_at_cells(inverse, run, control$cells, is.null(tree))
  run$seed <- settle_seed(seed)
  evaluator <- population_evaluator(inverse, run$chains, run$cores, likelihood, tree = tree)
  job <- list(inverse = inverse, evaluator = evaluator, run = run, sampler = control$sampler,
              keep_data = control$keep_data)
  if (!is.null(found)) refuse_other_run(found, job_fingerprint(job_to_plain(job)), but = "start")
  tryCatch(begin_population(job, control$cells), interrupt = function(condition) {
    abort("interrupted", "The run was interrupted before its first step, while it looked for the posterior: there are ",
          "no draws to return.")
  })
}

# From so many cells on a run whose tables differ from chain to chain is said to be slow.
many_cells <- 200L

# Plans are interpolated over parameters under one set of laws, and not where these differ.
look_at_cells <- function(inverse, run, cells, cut) {
  if (cells == "interpolated") {
    abort_input("cells", "= \"interpolated\" is for dynamics that are held (uncertainty = \"none\"): where these ",
                "differ from chain to chain, cells are worked out one by one.")
  }
  n_cells <- length(inverse$histories)
  if (n_cells < many_cells) return(invisible())
  chains <- run$chains * if (cut) nrow(inverse$cut$laws) else 1L
  tell(warn("cells", "Every step solves for ", plural(n_cells, "cell"), " in ", plural(chains, "chain"), ", several ",
            "times, and none of it can be interpolated while dynamics differ: this will take long. Hold the dynamics ",
            "(uncertainty = \"none\")", if (!cut) ", draw them without the actions (\"cut\") with few steps",
            ", or make fewer cells, of rounded numbers or coarser groups."))
}

# Chains begin about where they would be if all people were alike.
begin_population <- function(job, cells) {
  run <- job$run
  n <- run$chains * max(1L, nrow(job$inverse$cut$laws))
  tree <- job$evaluator$joint$tree
  likelihood <- job$evaluator$likelihood
  streams <- streams_from_seed(run$seed, n + 2)
  pooled <- job$inverse
  pooled$histories <- list(pooled_visits(job$inverse)$tree)
  # Chains that stay at their draw of the dynamics begin where these are the learned ones.
  if (!is.null(pooled$cut)) pooled["recipe"] <- list(NULL)
  found <- if (is.null(tree)) {
    alike <- inverse_evaluator(pooled, rep(1L, n), run$cores, likelihood)
    start_alike(alike, replace(run, "chains", n), streams[n + 1:2])
  } else {
    start_alike_jointly(pooled, tree, run, likelihood, streams[n + 1:2])
  }
  theta <- found$theta
  free <- !is.null(tree) || !is.null(pooled$cut)
  job$run["spacing"] <- list(if (!free) spacing_for(job, found$points, cells))
  evaluator <- job$evaluator
  if (!free) evaluator <- population_evaluator(job$inverse, run$chains, run$cores, likelihood, job$run$spacing)
  shape <- evaluator$population
  positions <- c(population_positions(shape, theta, streams[seq_len(n)]), found[c("d", "top")])
  # Interpolated cells need no values to start from.
  n_values <- if (is.null(job$run$spacing)) evaluator$agent$n_values else 0
  refuse_many_values(replace(run, "chains", n), shape$n_cells, n_values)
  value <- matrix(0, n_values, n * shape$n_cells)
  if (likelihood && !length(shape$at)) {
    positions <- begin_at_top(positions, evaluator, value, streams[seq_len(n)], job$run)
  }
  begun <- population_start(positions, value, evaluator,
                            lapply(streams[seq_len(n)], parallel::nextRNGSubStream), run$warmup, run$iter, run$thin)
  job$run$start <- if (is.null(found$start)) prior_natural(evaluator$prior, theta) else found$start
  job$evaluator <- evaluator
  list(job = job, chain = begun)
}

# Without random intercepts chains begin about the top of the posterior. Where there is none to be found, they begin
# where they are.
begin_at_top <- function(positions, evaluator, value, streams, run) {
  d <- if (is.null(positions$d)) matrix(0, nrow(positions$b), 0) else positions$d
  say <- if (run$refresh > 0) function(density) tell(message("climbing: log posterior ", round(density, 1)))
  rounds <- climb_rounds(length(evaluator$prior), run$warmup)
  # A climb passes many places, and a coarser grid will do for it.
  rough <- evaluator
  if (!is.null(run$spacing)) rough$interpolation <- new_interpolation(evaluator$interpolation$inverse, 2 * run$spacing)
  tops <- population_tops(rough, positions$b, value, d, rounds, say)
  if (is.null(tops)) return(positions)
  weights <- top_weights(tops, apart = !is.null(evaluator$agents))
  positions$b <- about_tops(evaluator, tops, weights, value, d, streams)
  positions$law <- top_law(tops, weights)
  positions
}

# How cells are worked out: `cells` of ibrc_control(). NULL is one by one.
spacing_for <- function(job, points, cells) {
  prior <- job$inverse$prior
  few <- length(job$inverse$histories) < least_interpolated || length(prior) > most_interpolated
  if (cells == "exact" || cells == "auto" && few || !job$evaluator$likelihood) return(NULL)
  if (length(prior) > most_interpolated) {
    abort_input("cells", "= \"interpolated\" is for up to ", most_interpolated, " terms; there are ", length(prior),
                ". Hold some of them (`fixed`), or take cells = \"exact\".")
  }
  found <- find_spacing(job$inverse, points, widest_spacing(prior))
  if (is.null(found) && cells == "interpolated") {
    abort_input("cells", "= \"interpolated\" does not serve here: the log-likelihood bends too sharply between ",
                "points. Take cells = \"exact\".")
  }
  found$spacing
}

# Where chains begin, one row each, and `points` about there.
start_alike <- function(evaluator, run, streams) {
  n_values <- evaluator$n_values
  if (!evaluator$likelihood) return(list(theta = with_stream(streams[[1]], prior_draw(evaluator$prior, run$chains))))
  n <- scouts_for(length(evaluator$prior), max(run$warmup, 200))
  scouted <- if (length(evaluator$prior) <= most_scouted) {
    scout(function(theta, value) evaluate_batch(evaluator, theta, value, rep(1L, nrow(theta))),
          with_stream(streams[[1]], prior_draw(evaluator$prior, n)), n_values, streams[[2]],
          if (run$refresh > 0) say_scouts)
  }
  some <- function(x, n) x[unique(round(seq(1, nrow(x), length.out = n))), , drop = FALSE]
  if (!is.null(scouted)) {
    return(list(theta = start_at_scouts(list(scouted), rep(1L, run$chains))$theta,
                points = some(scouted$theta, 16)))
  }
  theta <- start_chains(evaluator, NULL, run$chains, n_values, streams[[1]])$theta
  list(theta = theta, points = theta)
}

# Intercepts of coefficients at `theta`, one row per chain; all that tells people apart is small.
population_positions <- function(shape, theta, streams) {
  n <- nrow(theta)
  design <- shape$design
  b <- matrix(0, n, shape$n_coefficients)
  s <- matrix(0, n, shape$n_spreads + shape$n_ties)
  u <- matrix(0, n, shape$n_intercepts)
  slopes <- which(!design$coefficients$intercept)
  for (c in seq_len(n)) {
    b[c, !seq_len(ncol(b)) %in% slopes] <- theta[c, ]
    noise <- with_stream(streams[[c]], stats::rnorm(length(slopes) + ncol(s) + ncol(u)))
    b[c, slopes] <- 0.05 * design$coefficients$scale[slopes] * noise[seq_along(slopes)]
    sd <- seq_len(shape$n_spreads)
    s[c, sd] <- log(design$spreads$scale / 4) + 0.5 * noise[length(slopes) + sd]
    for (k in seq_along(shape$at)) {
      spread <- rep(exp(s[c, shape$spread[[k]]]), each = nrow(shape$at[[k]]))
      u[c, shape$at[[k]]] <- 0.3 * spread * noise[length(slopes) + ncol(s) + shape$at[[k]]]
    }
  }
  list(b = b, s = s, u = u)
}

# Numbers that a fit keeps of its cells; those of coefficients and spreads are all kept.
most_cell_draws <- 2e7

new_population_fit <- function(chain, job) {
  state <- chain$state
  shape <- job$evaluator$population
  if (n_draws_kept(state) < 2) return(new_ibrc_fit(chain, job, state))
  draws <- population_draws(state)
  size <- dim(draws)
  n_b <- shape$n_coefficients
  n_s <- shape$n_spreads + shape$n_ties
  per_draw <- size[2] * shape$n_cells * length(shape$terms)
  every <- max(1L, as.integer(ceiling(size[1] * per_draw / most_cell_draws)))
  taken <- seq(every, size[1], by = every)
  cells <- array(0, c(length(taken), size[2] * shape$n_cells, length(shape$terms)))
  for (i in seq_along(taken)) {
    one <- matrix(draws[taken[i], , ], size[2])
    cells[i, , ] <- cells_of(shape, one[, seq_len(n_b), drop = FALSE],
                             one[, n_b + n_s + seq_len(shape$n_intercepts), drop = FALSE])
  }
  log_density <- matrix(draws[, , size[3]], size[1])
  kept <- list(iteration = state$iteration, iter = state$iter, warmup = state$warmup, thin = state$thin * every,
               draws = cells,
               log_density_draws = log_density[taken, rep(seq_len(size[2]), shape$n_cells), drop = FALSE],
               n_accepted = rep(state$n_accepted, shape$n_cells))
  agent <- job$evaluator$agent
  agent$group <- rep(seq_len(shape$n_cells), each = size[2])
  agent$likelihood <- job$evaluator$likelihood
  fit <- new_ibrc_fit(chain, replace(job, "evaluator", list(agent)), kept)
  fit$effects <- job$inverse$effects
  fit$control$cells <- if (is.null(job$run$spacing)) "exact" else "interpolated"
  fit$population <- list(
    draws = population_array(draws, shape, seq_len(n_b + n_s), population_terms(shape)),
    intercepts = population_array(draws[taken, , , drop = FALSE], shape, n_b + n_s + seq_len(shape$n_intercepts),
                                  intercept_terms(shape)),
    log_posterior = log_density, every = every, errors = state$errors
  )
  joint <- job$evaluator$joint
  if (!is.null(joint)) {
    last <- n_b + n_s + shape$n_intercepts
    laws <- stats::plogis(draws[taken, , last + seq_along(joint$codec$prior), drop = FALSE])
    fit <- with_law_draws(fit, laws, joint)
  } else if (!is.null(job$inverse$cut)) {
    fit <- with_cut_laws(fit, job$inverse$cut, job$run$chains)
  }
  # Whoever prints the fit asks about it.
  fit$population$mixing <- intercept_mixing(fit)
  fit
}

# Some columns of the draws, named; spreads as standard deviations and correlations.
population_array <- function(draws, shape, columns, names) {
  out <- draws[, , columns, drop = FALSE]
  sd <- which(columns > shape$n_coefficients & columns <= shape$n_coefficients + shape$n_spreads)
  tie <- which(columns > shape$n_coefficients + shape$n_spreads &
                 columns <= shape$n_coefficients + shape$n_spreads + shape$n_ties)
  out[, , sd] <- exp(out[, , sd])
  out[, , tie] <- tanh(out[, , tie])
  # What is not a difference is on the scale of the term itself.
  for (j in which(columns %in% which(shape$design$coefficients$intercept))) {
    out[, , j] <- to_natural(shape$coefficient_prior[[columns[j]]], out[, , j])
  }
  dimnames(out) <- list(NULL, NULL, names)
  out
}
