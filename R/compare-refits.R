# Refits for cross-validation: what a process needs for one, and how well it predicts those left out.

# The tree and the actions of some trajectories of a group; `keep` says for all trajectories whether they are included.
part_of_group <- function(fit, group, keep) {
  coded <- coded_from_tree(fit$histories[[group]], fit$visit_actions[[group]])
  keep <- keep[fit$trajectory_group == group][coded$trajectory + 1L]
  some <- lapply(coded, function(x) x[keep])
  list(tree = build_histories(some, fit$problem$setting), action = some$action + 1L)
}

# What a process needs for one refit.
refit_piece <- function(fit, folds, refit, run, start, draws) {
  group <- refit$group
  out <- folds %in% refit$fold
  left_out <- part_of_group(fit, group, out)
  run$seed <- refit$seed
  first <- if (start == "fit") last_draws(list(draws = fit$draws[group]))
  list(left_out = left_out,
       # If nothing is left to fit, draws come from the prior, and the tree has no effect.
       fitted = if (refit$fitted > 0) part_of_group(fit, group, !out & !is.na(folds)) else left_out,
       likelihood = refit$fitted > 0,
       n_fitted = refit$fitted, problem = problem_of(fit, group), recipe = fit$recipe, prior = fit$prior,
       fixed = fit$fixed,
       tolerance = fit$tolerance,
       sampler = fit$sampler, run = run, draws = draws,
       start = if (!is.null(first)) first[rep_len(seq_len(nrow(first)), run$chains), , drop = FALSE])
}

# Coded visits, in the form of code_visits(), from a tree. What was seen after a trajectory's last visit is not in it,
# and nothing depends on it.
coded_from_tree <- function(tree, action) {
  trajectory <- trajectory_of(tree) - 1L
  last <- !duplicated(trajectory, fromLast = TRUE)
  seen <- c(tree$observation[tree$visit[-1]], -1L)
  seen[last] <- -1L
  list(trajectory = trajectory, action = action - 1L, observation = seen, scored = tree$scored,
       start = starts_of(tree)[trajectory + 1L] - 1L)
}

# The results of all refits.
run_refits <- function(pieces, refresh, work = run_refit) {
  all <- length(pieces)
  began <- Sys.time()
  refit <- function(i, over) refit_in(pieces[[i]], over)
  run <- fill_in_rounds(vector("list", all), refit, work, look = function(results, these) {
    if (refresh > 0) say_rounds("refit", count_filled(results), all, began)
    TRUE
  })
  if (run$interrupted) stop_refits(count_filled(run$results), all)
  run$results
}

stop_refits <- function(done, all) {
  abort("interrupted", "Cross-validation was interrupted after ", done, " of ", plural(all, "refit"),
        ": there is no result from only some of them.")
}

refit_in <- function(piece, over) {
  piece$run$cores <- cores_of_piece(piece$run$cores, over)
  piece
}

# One fit, as ibrc() with the same seed makes it, and how well it predicts those left out.
run_refit <- function(piece) {
  run <- piece$run
  own <- rep(1L, run$chains)
  inverse <- c(piece[c("problem", "recipe", "prior", "fixed", "tolerance")],
               list(histories = list(piece$fitted$tree), group = factor(rep("all", piece$n_fitted), "all")))
  evaluator <- inverse_evaluator(inverse, own, run$cores, piece$likelihood)
  begun <- begin_chains(evaluator, piece$start, replace(run, "refresh", 0L), piece$sampler, evaluator$n_values)
  chain <- run_piece(list(chain = begun$chain, evaluator = evaluator, until = run$iter))
  chain$interrupted <- FALSE
  job <- list(inverse = inverse, evaluator = evaluator, run = run, sampler = piece$sampler, keep_data = FALSE)
  judge_left_out(new_ibrc_fit(chain, job), piece$left_out, piece$draws)
}

# How well a refit predicts those left out of a group.
judge_left_out <- function(fit, left_out, draws, group = 1L) {
  n <- length(unique(trajectory_of(left_out$tree)))
  of_group <- function(x) replace(vector("list", group), group, list(x))
  each <- log_lik_at(fit, spaced_draws(fit, draws), list(
    histories = of_group(left_out$tree), actions = of_group(left_out$action), group = rep(group, n)
  ))
  table <- tidy_draws(fit)
  refit_result(each, table[table$group == names(fit$draws)[group], ], fit$run$chains)
}

# `each`: log-likelihoods [draw, trajectory] of those left out; `table`: a summary of the draws, one row per term.
refit_result <- function(each, table, chains) {
  elpd <- log_mean_exp(each)
  worst <- function(x, most) if (all(is.finite(x))) most(x) else NA_real_
  # To first order, elpd changes with the draws by this, over all trajectories together.
  moves <- matrix(rowSums(exp(each - rep(elpd, each = nrow(each)))), ncol = chains)
  # Draws that are all the same have no error that could be computed from their spread.
  error <- if (!all(is.finite(moves))) NA_real_ else if (diff(range(moves)) < 1e-12) 0 else posterior::mcse_mean(moves)
  list(elpd = elpd, rhat = worst(table$rhat, max), ess_bulk = worst(table$ess_bulk, min),
       ess_tail = worst(table$ess_tail, min), mcse = error)
}

# Of each column, within the range of doubles.
log_mean_exp <- function(x) {
  top <- apply(x, 2, max)
  top[!is.finite(top)] <- 0
  unname(top + log(colMeans(exp(x - rep(top, each = nrow(x))))))
}
