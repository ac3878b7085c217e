# Cross-validation of fits of people who differ. One refit per fold has everybody except those left out. These are then
# in cells of the refit if it has their cells, and in new ones otherwise (read-cells.R). So a person with his or her own
# intercept, (1 | id), is predicted as a new person, and so is everybody at a site that is left out as a whole.

# One row per fold.
plan_population_refits <- function(fit, folds) {
  left_out <- tabulate(folds[!is.na(folds)])
  seeds <- with_stream(streams_from_seed(fit$seed)[[1]], sample.int(.Machine$integer.max, length(left_out)))
  data.frame(fold = seq_along(left_out), group = lone_group, fitted = sum(left_out) - left_out, left_out = left_out,
             seed = seeds)
}

# People in cells of their own are shared out at random; others are spread evenly by cell.
fold_groups <- function(fit) {
  alone <- vapply(fit$effects$factors, function(one) are_numbered(one$levels), NA)
  if (any(alone)) rep(1L, length(fit$trajectory_group)) else fit$trajectory_group
}

population_refits <- function(fit, folds, refits, run, draws) {
  pieces <- lapply(seq_len(nrow(refits)), function(i) population_piece(fit, folds, refits[i, ], run, draws))
  run_refits(pieces, run$refresh, run_population_refit)
}

# What a process needs for one refit. Those left out are given by cell, in the order of trajectories.
population_piece <- function(fit, folds, refit, run, draws) {
  out <- folds %in% refit$fold
  kept <- !out & !is.na(folds)
  cells <- sort(unique(fit$trajectory_group[kept]))
  fitted <- lapply(cells, function(g) part_of_group(fit, g, kept))
  design <- part_of_design(fit$effects, cells)
  inverse <- c(fit[c("problem", "recipe", "prior", "fixed", "tolerance")],
               list(problems = NULL, by = NULL, histories = lapply(fitted, `[[`, "tree"),
                    actions = lapply(fitted, `[[`, "action"), effects = design,
                    group = factor(fit$effects$cells[fit$trajectory_group[kept]], levels = design$cells)))
  run$seed <- refit$seed
  run$refresh <- 0L
  theirs <- sort(unique(fit$trajectory_group[out]))
  list(inverse = inverse, run = run, sampler = fit$sampler, draws = draws,
       cells = if (is.null(fit$run$spacing)) "exact" else "auto",
       left_out = lapply(theirs, function(g) c(part_of_group(fit, g, out), list(cell = fit$effects$cells[g]))),
       new = part_of_design(fit$effects, setdiff(theirs, cells)),
       at = match(seq_along(out)[out], unlist(lapply(theirs, function(g) which(out & fit$trajectory_group == g)))))
}

# A design with some of its cells, and the levels that these have.
part_of_design <- function(design, cells) {
  design$matrices <- lapply(design$matrices, function(x) x[cells, , drop = FALSE])
  design$factors <- lapply(design$factors, function(one) {
    used <- sort(unique(one$level[cells]))
    one$level <- match(one$level[cells], used)
    one$levels <- one$levels[used]
    one
  })
  design$cells <- design$cells[cells]
  design
}

# One fit, and what it makes of those left out.
run_population_refit <- function(piece) {
  job <- list(inverse = piece$inverse, evaluator = list(likelihood = TRUE), run = piece$run, sampler = piece$sampler,
              keep_data = FALSE)
  begun <- begin_population(job, piece$cells)
  chain <- run_piece(list(chain = begun$chain, evaluator = begun$job$evaluator, until = piece$run$iter))
  chain$interrupted <- FALSE
  fit <- new_population_fit(chain, begun$job)
  table <- tidy_population(fit)
  level <- Map(function(theirs, own) number_levels(theirs$levels[theirs$level], own), piece$new$factors,
               fit$effects$factors)
  names <- c(names(fit$draws), piece$new$cells)
  fit <- add_cells(fit, piece$new$matrices, level)
  group <- match(vapply(piece$left_out, `[[`, "", "cell"), names)
  histories <- actions <- vector("list", length(names))
  histories[group] <- lapply(piece$left_out, `[[`, "tree")
  actions[group] <- lapply(piece$left_out, `[[`, "action")
  size <- vapply(piece$left_out, function(one) length(unique(trajectory_of(one$tree))), 0L)
  each <- log_lik_at(fit, spaced_draws(fit, piece$draws), list(histories = histories, actions = actions,
                                                               group = rep(group, size)))
  refit_result(each[, piece$at, drop = FALSE], table, fit$run$chains)
}
