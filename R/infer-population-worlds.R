# Populations under learned dynamics that are not held: p(D, b, s, u | x, u) is the density of a population
# (infer-population.R) under laws D, that of D, and that of what was seen (spec: Dynamics and agent together). Laws are
# logits of fractions (infer-dynamics.R), `d` [chain, law] of a chain's state: none where dynamics are held.
#
# With the actions cut off from them, laws are drawn beforehand and stay: chains of one draw stand next to each other.

# What an evaluator has beside that of a population. `tree`: the visits that dynamics were learned from, where they are
# inferred; `inverse$cut`: draws of them, where they are drawn.
with_population_laws <- function(evaluator, inverse, tree, n_chains) {
  cut <- inverse$cut
  if (is.null(tree) && is.null(cut)) return(evaluator)
  make <- maker_of_agents(inverse, evaluator$cores)
  if (!is.null(cut)) {
    evaluator$agents <- lapply(seq_len(nrow(cut$laws)), function(k) make(cut$laws[k, ]))
    evaluator$group <- rep(seq_len(nrow(cut$laws)), each = n_chains)
    return(evaluator)
  }
  codec <- prepared_codec(inverse$recipe$codec)
  evaluator$joint <- list(codec = codec, tree = tree, n_groups = 1L)
  evaluator$population$codec <- codec
  # Where quantities are inferred as well, every cell has tables of its own, which are built with its solve.
  if (!length(inverse$recipe$inferred)) evaluator$worlds <- new_worlds(make, inverse$problem, n_chains)
  evaluator
}

# The evaluator of cells at some laws, as a function of their fractions. A chain asks for one at each of its steps, so
# what does not depend on laws is worked out once, unless the setting is a function, which may change more than laws.
maker_of_agents <- function(inverse, cores) {
  recipe <- inverse$recipe
  agent_for <- function(problem) {
    new_evaluator(problem, inverse$histories, seq_along(inverse$histories), inverse$prior, inverse$fixed,
                  inverse$tolerance, cores)
  }
  if (setting_varies(recipe)) {
    return(function(fractions) {
      agent_for(problems_at_laws(recipe, matrix(fractions, 1), inverse$problem, cores)[[1]])
    })
  }
  like <- agent_for(inverse$problem)
  function(fractions) {
    world <- world_at(recipe, recipe$held, recipe_dynamics(recipe, fractions))
    with_law(like, law_of(world, recipe, recipe$held), inverse$problem$surprise, cores)
  }
}

# An evaluator at another law, whose tables are built here.
with_law <- function(agent, law, surprise, cores) {
  tables <- stacked_tables(law$models, agent$space, surprise, cores)
  agent$batch[c("tables", "models", "start")] <- list(tables, law$models, law$start)
  agent$batch$problem[c("surprise", "model_weights")] <- list(tables$entropy, law$weights)
  agent
}

# ---- tables of chains -----------------------------------------------------------------------------------------------

# What a chain is at, what it tries, and what it tried before: tables of so many laws are kept, where memory allows.
worlds_kept <- 3L

# Tables are built once per chain and laws, and shared by all cells. What is kept changes no number.
new_worlds <- function(make, problem, n_chains) {
  bytes <- as.numeric(plan_bytes(problem$models, problem$space)$bytes) * n_chains * worlds_kept
  out <- new.env(parent = emptyenv())
  out$make <- make
  out$most <- if (bytes > getOption("ibrc.max_bytes", 2e9) / 2) 0L else worlds_kept
  out$known <- list()
  out
}

# The evaluator of cells of one chain, at its laws.
chain_agent <- function(worlds, chain, d) {
  known <- if (chain <= length(worlds$known)) worlds$known[[chain]]
  same <- which(vapply(known, function(one) identical(one$d, d), NA))
  one <- if (length(same)) known[[same[1]]] else list(d = d, agent = worlds$make(stats::plogis(d)))
  known <- c(list(one), if (length(same)) known[-same[1]] else known)
  if (worlds$most > 0) worlds$known[[chain]] <- known[seq_len(min(length(known), worlds$most))]
  one$agent
}

# The same whatever dynamics are: held, drawn or inferred, alone or with other quantities.
agent_of_chain <- function(evaluator, chain, d) {
  if (!is.null(evaluator$agents)) return(evaluator$agents[[evaluator$group[chain]]])
  if (!is.null(evaluator$worlds)) return(chain_agent(evaluator$worlds, chain, d))
  agent <- evaluator$agent
  if (is.null(evaluator$joint)) return(agent)
  agent$recipe$vectors <- vectors_of(evaluator$joint$codec, matrix(stats::plogis(d), 1))
  agent$recipe$which <- 1L
  agent
}

# An evaluator whose cells are asked for at these laws, one row per chain; rows that are not `possible` are not.
at_laws <- function(evaluator, d, possible = rep(TRUE, nrow(d))) {
  if (ncol(d)) evaluator[c("d", "possible")] <- list(d, possible)
  evaluator
}

# cell_log_lik() of chains that have laws of their own.
cells_by_chain <- function(evaluator, theta, values, n) {
  n_cells <- evaluator$population$n_cells
  out <- list(log_likelihood = matrix(-Inf, n, n_cells), value = values)
  for (c in seq_len(n)) {
    if (!is.null(evaluator$possible) && !evaluator$possible[c]) next
    rows <- c + n * (seq_len(n_cells) - 1L)
    agent <- replace(agent_of_chain(evaluator, c, evaluator$d[c, ]), "cores", evaluator$cores)
    found <- evaluate_batch(agent, theta[rows, , drop = FALSE], values[, rows, drop = FALSE], seq_len(n_cells))
    out$log_likelihood[c, ] <- found$log_likelihood
    out$value[, rows] <- found$value
  }
  out
}

# The same where quantities are inferred as well.
cells_by_row <- function(evaluator, theta, values, n) {
  n_cells <- evaluator$population$n_cells
  out <- list(log_likelihood = matrix(-Inf, n, n_cells), value = values)
  some <- which(evaluator$possible)
  if (!length(some)) return(out)
  agent <- replace(evaluator$agent, "cores", evaluator$cores)
  agent$recipe$vectors <- vectors_of(evaluator$joint$codec, stats::plogis(evaluator$d[some, , drop = FALSE]))
  agent$recipe$which <- rep(seq_along(some), n_cells)
  rows <- some + n * rep(seq_len(n_cells) - 1L, each = length(some))
  found <- evaluate_batch(agent, theta[rows, , drop = FALSE], values[, rows, drop = FALSE],
                          rep(seq_len(n_cells), each = length(some)))
  out$log_likelihood[some, ] <- found$log_likelihood
  out$value[, rows] <- found$value
  out
}

# ---- densities ------------------------------------------------------------------------------------------------------

log_laws <- function(shape, d) if (is.null(shape$codec)) numeric(nrow(d)) else log_law_density(shape$codec, d)

# What was seen, given laws: 0 where they are not inferred.
seen_log_lik <- function(evaluator, d) {
  out <- numeric(nrow(d))
  if (is.null(evaluator$joint) || !evaluator$likelihood) return(out)
  out[] <- -Inf
  some <- which(is.finite(log_laws(evaluator$population, d)))
  if (!length(some)) return(out)
  vectors <- vectors_of(evaluator$joint$codec, stats::plogis(d[some, , drop = FALSE]))
  out[some] <- observation_log_lik(evaluator$joint$codec, evaluator$joint$tree, vectors, evaluator$cores)
  out
}
