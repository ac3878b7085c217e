# What the numbers of a fit depend on: dynamics, lattice, models. Rows of a verdict: assumed; and, for terms on which
# nothing depends: identified.

dynamics_rows <- function(fit) {
  if (has_dynamics(fit)) return(inferred_rows(fit))
  learned <- holds_learned(fit)
  verdict_rows("assumed", if (learned) "dynamics: learned from visits, then held fixed" else "dynamics: taken as known",
             "dynamics that are known", if (learned) "caution" else "ok",
             paste("The dynamics were learned and then held fixed. Intervals do not include this, and are too short.",
                   "Infer them together with the agents (dynamics = , without uncertainty = \"none\"), or fit again",
                   "under other draws of them (model_draws()) and report how far the answer moves."))
}

# Whether dynamics were learned, and then taken as known.
holds_learned <- function(fit) {
  !has_dynamics(fit) &&
    any(vapply(all_problems(fit), function(problem) identical(problem$setting$dynamics, "learned"), NA))
}

# Actions that are missing before other visits: beliefs after them are means over what may have been done. This pulls
# estimates towards a careless agent; if five in a hundred are missing, by several standard errors.
lost_action_rows <- function(fit) {
  trees <- if (has_several(fit)) unlist(fit$histories, recursive = FALSE) else fit$histories
  alike <- !has_memory(fit) && all(vapply(all_problems(fit), moves_alike, NA))
  after <- vapply(trees, function(tree) sum(after_lost(tree, alike)[tree$visit]), 0)
  if (!sum(after)) return(NULL)
  verdict_rows("assumed", paste0("actions: ", plural(sum(after), "visit"), " after one that is missing"),
               "no action missing before another visit", "do not use",
               paste("Beliefs after a missing action are means over what may have been done, and estimates depend on",
                     "them: end trajectories before their first missing action (?trajectories shows how)."))
}

# Whether what was done last matters by itself: there is a habit.
has_memory <- function(fit) "habit" %in% names(fit$prior) || any(fit$fixed$habit != 0)

# Whether states change alike whatever is done, under every model: where nothing was seen either, it is then the same
# what was done.
moves_alike <- function(problem) {
  on <- setdiff(problem$setting$actions, problem$setting$stop_actions)
  laws <- c(list(problem$setting$transition), lapply(problem$models$models, `[[`, "transition"))
  # Laws that are kept by rows are those of states that are seen.
  is_alike <- function(law) length(dim(law)) == 3 && all(law[, , on, drop = FALSE] == as.vector(law[, , on[1]]))
  length(on) > 0 && all(vapply(laws, is_alike, NA))
}

# Which histories come after an action that is not known. `alike`: one after which nothing was seen does not count.
after_lost <- function(tree, alike = FALSE) {
  lost <- tree$action == -1L & !(alike & tree$observation == -1L)
  roots <- seq_along(tree$start)
  lost[roots] <- FALSE
  for (h in seq_along(lost)[-roots]) lost[h] <- lost[h] || lost[tree$parent[h] + 1L]
  lost
}

# How far posterior means move when the log-likelihood of draws changes: if the change were a straight line, by its
# slope times their covariance. (Weighting the draws is as good while they move little, and not beyond.)
moved_means <- function(theta, change) {
  centred <- sweep(theta, 2, colMeans(theta))
  slope <- qr.coef(qr(cbind(1, centred)), change)[-1]
  slope[is.na(slope)] <- 0
  as.vector(stats::cov(theta) %*% slope)
}

# Draws of a group on the sampler's scale, some of them.
some_draws <- function(fit, g, n = 100) {
  chosen <- spaced_draws(fit, n)
  prior_unconstrain(fit$prior, flat_draws(fit$draws[[g]])[chosen$.draw, , drop = FALSE])
}

log_likelihood_at <- function(evaluator, theta, g) {
  value <- matrix(0, evaluator$n_values, nrow(theta))
  evaluate_batch(evaluator, theta, value, rep(g, nrow(theta)))$log_likelihood
}

# One row per group, for the term that moves most: `change(theta, g)` is the change in the log-likelihood of draws,
# `judge` judges a move in standard deviations and relative to the term itself.
shift_rows <- function(fit, what, asked, advice, change, judge) {
  found <- if (has_dynamics(fit)) moves_with_laws(fit, change) else
    lapply(seq_along(fit$draws), function(g) moves_of_group(fit, g, change))
  rows <- lapply(seq_along(fit$draws), function(g) {
    theta <- found[[g]]$theta
    moved <- found[[g]]$moved
    spread <- apply(theta, 2, stats::sd)
    size <- abs(moved) / ifelse(spread > 0, spread, 1)
    before <- colMeans(theta)
    natural <- prior_natural(fit$prior, rbind(before, before + moved))
    itself <- abs(natural[2, ] - natural[1, ]) / abs(natural[1, ])
    verdict <- vapply(seq_along(size), function(j) judge(size[j], itself[j]), "")
    worst <- order(-match(verdict, verdict_levels), -size)[1]
    seen <- paste0(what, ": ", prior_terms(fit$prior)[worst], moved_words(natural[, worst], size[worst]))
    verdict_rows("assumed", seen, asked, verdict[worst], advice,
                 group = if (is_grouped(fit)) names(fit$draws)[g] else NA_character_)
  })
  do.call(rbind, rows)
}

# `range`: before and after. Draws say nothing about where a mean comes to lie that leaves all of them.
moved_words <- function(range, size) {
  if (size > 5) return(" moves by more than 5 standard deviations, further than the draws reach")
  paste0(" goes from ", format_number(range[1]), " to ", format_number(range[2]), ", ", deviations_words(size))
}

# Draws of a group on the sampler's scale, and by how much their means move.
moves_of_group <- function(fit, g, change) {
  theta <- some_draws(fit, g)
  by <- change(theta, g)
  known <- is.finite(by)
  if (sum(known) <= 2 * ncol(theta)) stop("the draws are impossible there")
  theta <- theta[known, , drop = FALSE]
  list(theta = theta, moved = moved_means(theta, by[known]))
}

# Where dynamics were inferred, each draw that is moved has its own.
at_own_laws <- function(evaluator, fit) {
  if (has_dynamics(fit)) with_laws(evaluator, laws_at(fit, moving_draws(fit))) else evaluator
}

# The most memory that the check on a finer lattice may take.
finer_bytes <- 5e8

resolution_rows <- function(fit, evaluator, cores) {
  problems <- all_problems(fit)
  asked <- "less than 0.25 standard deviations"
  # A setting in which the state is seen has no lattice.
  if (all(vapply(problems, function(problem) is_vertices(problem$space), NA))) {
    return(verdict_rows("assumed", "resolution: the state is seen, there is no lattice", asked, "ok"))
  }
  finer_to <- 2 * lead_problem(fit)$resolution
  finer <- changed_inverse(fit, list(resolution = finer_to), cores, max_bytes = finer_bytes)
  evaluator_finer <- at_own_laws(inverse_evaluator(finer, cores = cores), fit)
  evaluator <- at_own_laws(evaluator, fit)
  shift_rows(fit, paste0("at twice the resolution (", finer_to, ")"), asked,
             paste0("The answer depends on how fine the lattice of beliefs is: fit with resolution = ",
                    finer_to, "."),
             function(theta, g) log_likelihood_at(evaluator_finer, theta, g) - log_likelihood_at(evaluator, theta, g),
             function(size, itself) if (size >= 1) "do not use" else if (size >= 0.25) "caution" else "ok")
}

# Twice the odds for the models nearest to the setting's own dynamics: does optimism stay the same?
weighting_rows <- function(fit, evaluator) {
  asked <- "less than 2 standard deviations, and than a quarter of the term itself"
  problems <- all_problems(fit)
  if (all(vapply(problems, function(problem) n_models(problem$models) == 1, NA))) {
    return(verdict_rows("assumed", "models: only one, so there is nothing to lean to", asked, "ok"))
  }
  evaluator <- at_own_laws(evaluator, fit)
  other <- reweighted_evaluator(evaluator, problems)
  shift_rows(fit, "with twice the weight on the middle of the models", asked,
             paste("The answer depends on what the decision maker is assumed to believe about the dynamics: report the",
                   "models with it, and what others would say (sensitivity_analysis())."),
             function(theta, g) log_likelihood_at(other, theta, g) - log_likelihood_at(evaluator, theta, g),
             function(size, itself) if (size >= 2 || size >= 0.25 && itself >= 0.25) "caution" else "ok")
}

reweighted_evaluator <- function(evaluator, problems) {
  tilt <- function(weights, problem) {
    nearest <- which.min(model_distances(problem))
    weights[nearest] <- 2 * weights[nearest]
    weights / sum(weights)
  }
  if (!is.null(evaluator$recipe)) {
    evaluator$recipe$tilt <- which.min(model_distances(problems[[1]]))
    return(evaluator)
  }
  if (!is.null(evaluator$parts)) {
    evaluator$parts <- Map(function(part, problem) reweighted_evaluator(part, list(problem)), evaluator$parts, problems)
    return(evaluator)
  }
  if (is.null(evaluator$own)) {
    evaluator$batch$problem$model_weights <- tilt(evaluator$batch$problem$model_weights, problems[[1]])
    return(evaluator)
  }
  evaluator$own <- Map(function(own, problem) {
    own$batch$problem$model_weights <- tilt(own$batch$problem$model_weights, problem)
    own
  }, evaluator$own, problems)
  evaluator
}

# How far each model lies from the setting's own dynamics.
model_distances <- function(problem) {
  vapply(problem$models$models, function(model) {
    law_distance(model$transition, problem$setting$transition) + law_distance(model$emission, problem$setting$emission)
  }, 0)
}

# Terms that change nothing: the likelihood at draws is the same wherever the prior allows the term to be.
inert_rows <- function(fit, evaluator) {
  levels <- c(0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
  rows <- lapply(seq_along(fit$draws), function(g) {
    theta <- some_draws(fit, g, 3)
    moves <- vapply(seq_along(fit$prior), function(j) {
      values <- unconstrained_quantile(fit$prior[[j]], log(levels), log1p(-levels))
      range <- vapply(seq_len(nrow(theta)), function(i) {
        points <- theta[rep(i, length(values) + 1), , drop = FALSE]
        points[-1, j] <- values
        found <- log_likelihood_at(evaluator, points, g)
        max(found) - min(found)
      }, 0)
      max(range)
    }, 0)
    inert <- which(moves < 1e-6)
    if (!length(inert)) return(NULL)
    verdict_rows("identified", "nothing in the behaviour depends on it", "a likelihood that changes with the term",
               "caution", "Nothing in the behaviour depends on {}: report it as not identified, or hold it (`fixed`).",
               term = prior_terms(fit$prior)[inert], group = names(fit$draws)[g])
  })
  do.call(rbind, rows)
}
