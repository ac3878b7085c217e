# Cells of people whom a fit of a population (fit-effects.R), or its mode, may not have met, for predict(), log_lik()
# and others that take visits. Who has the covariates and the levels of a cell of the fit is in that cell. For others a
# cell is made: coefficients are those of the fit, and so are intercepts of levels that it knows; a level that it has
# not met has an intercept from the distribution of intercepts, another at every draw.

# The fit with the cells that `visits` need, known ones first, and with `cell_of`, the cell of each trajectory. `only`:
# numbers of trajectories that matter. Fits of another kind are as they were.
with_new_cells <- function(fit, visits, argument = "visits", only = NULL) {
  if (!has_population(fit)) return(fit)
  coded <- code_visits(visits, fit$problem$setting, argument)
  people <- place_people(fit, visits, coded, argument)
  needed <- if (is.null(only)) rep(TRUE, people$n) else seq_len(people$n) %in% only
  n_known <- length(fit$effects$cells)
  known <- sort(unique(people$cell[needed & people$cell <= n_known]))
  made <- sort(unique(people$cell[needed & people$cell > n_known]))
  first <- match(made, people$cell)
  matrices <- lapply(people$matrices, function(x) x[first, , drop = FALSE])
  warn_far(fit$effects, matrices, argument)
  out <- keep_cells(fit, known)
  out <- if (inherits(fit, "ibrc_mode")) add_tops(out, matrices) else
    add_cells(out, matrices, lapply(people$level, function(level) level[first]), fit)
  out$cell_of <- match(people$cell, c(known, made))
  out
}

# Beyond the numbers of the fit a line is drawn out that nothing was seen of. A little beyond is let pass.
far_beyond <- 0.5

warn_far <- function(design, matrices, argument) {
  for (term in names(matrices)) {
    centre <- design$formulas[[term]]$centre
    for (name in intersect(names(centre), colnames(matrices[[term]]))) {
      seen <- range(design$matrices[[term]][, name])
      asked <- matrices[[term]][, name]
      off <- pmax(seen[1] - asked, asked - seen[2], 0)
      if (!any(off > far_beyond * diff(seen))) next
      warn("extrapolated", "`", argument, "` have ", name, " = ", format_number(asked[which.max(off)] + centre[[name]]),
           ", and in the fit it is ", format_number(seen[1] + centre[[name]]), " to ",
           format_number(seen[2] + centre[[name]]), ": what is said of such people rests on the formula of ", term,
           " alone, not on anybody like them.")
    }
  }
}

# Cells of visits, whose trajectories must all be in cells of the fit; or in those that were made for them.
cell_groups <- function(fit, visits, coded, argument) {
  cells <- names(if (inherits(fit, "ibrc_mode")) fit$tops else fit$draws)
  at <- fit$cell_of
  if (is.null(at)) {
    at <- place_people(fit, visits, coded, argument)$cell
    if (any(at > length(cells))) {
      abort_input(argument, "have people in whom the fit has not seen the covariates, or the levels of grouping ",
                  "factors, that they have.")
    }
  }
  factor(cells[at], levels = cells)
}

# What is counted by cell.
cell_counts <- c("group_sizes", "n_visits", "n_scored")

keep_cells <- function(fit, cells) {
  for (part in intersect(c("draws", "tops", cell_counts), names(fit))) fit[[part]] <- fit[[part]][cells]
  fit
}

# ---- who is where ---------------------------------------------------------------------------------------------------

# Of each trajectory: `cell`, its number, beyond those of the fit for cells that are to be made; `matrices` and `level`
# as a design has them for cells, with numbers of levels beyond those of the fit for levels that it has not met.
place_people <- function(fit, visits, coded, argument) {
  design <- fit$effects
  people <- person_table(design$formulas, visits, coded, argument)
  for (formula in design$formulas) check_column_types(formula, people, argument)
  matrices <- lapply(stats::setNames(nm = design$terms), function(term) {
    formula <- design$formulas[[term]]
    if (is.null(formula)) matrix(1, people$n, 1) else formula_matrix(formula, people)
  })
  labels <- lapply(design$factors, function(one) factor_labels(one, people))
  level <- Map(number_levels, labels, design$factors)
  cell <- match_cells(design, matrices, level)
  personal <- vapply(design$factors, function(one) are_numbered(one$levels), NA)
  if (any(personal) && !is_cell_data(fit, coded, cell)) {
    # The number of a trajectory means nothing but among those of the fit: these are other people.
    for (k in which(personal)) level[[k]] <- length(design$factors[[k]]$levels) + seq_len(people$n)
    cell <- match_cells(design, matrices, level)
  }
  list(n = people$n, cell = cell, matrices = matrices, level = level)
}

# What was numbers in the fit cannot be text.
check_column_types <- function(formula, people, argument) {
  table <- formula_table(formula, people)
  for (column in setdiff(names(table), names(formula$levels))) {
    if (!is.numeric(table[[column]])) {
      abort_input(argument, "have something else than numbers in column ", enumerate(column),
                  ", which had numbers in those of the fit.")
    }
  }
}

# Labels are made as those of the fit were.
factor_labels <- function(one, people) {
  known <- unlist(strsplit(one$levels, ":", fixed = TRUE))
  join_labels(lapply(one$columns, function(column) {
    level_part(people$columns[[column]], column, length(one$columns) > 1, known)
  }))
}

number_levels <- function(label, one) {
  at <- match(label, one$levels)
  fresh <- is.na(at)
  at[fresh] <- length(one$levels) + match(label[fresh], unique(label[fresh]))
  at
}

# Numbers of cells: the fit's own come first.
match_cells <- function(design, matrices, level) {
  own <- do.call(cbind, c(design$matrices, lapply(design$factors, `[[`, "level")))
  theirs <- do.call(cbind, c(unname(matrices), unname(level)))
  distinct_rows(unname(rbind(unname(own), unname(theirs))))[-seq_len(nrow(own))]
}

is_cell_data <- function(fit, coded, cell) {
  cells <- fit$effects$cells
  if (is.null(fit$histories) || any(cell > length(cells)) || length(cell) != length(fit$trajectory_group)) return(FALSE)
  is_fitted_data(group_histories(coded, factor(cells[cell], levels = cells), fit), fit)
}

# ---- making cells ---------------------------------------------------------------------------------------------------

# `fit` with more cells: `matrices` per term [cell, coefficient], `level` per grouping factor. `whole`: the fit with all
# that it knows.
add_cells <- function(fit, matrices, level, whole = fit) {
  n <- nrow(matrices[[1]])
  if (!n) return(fit)
  size <- dim(whole$draws[[1]])
  refuse_too_large(24 * as.numeric(n) * prod(size), "visits", plural(n, "cell"), " of people whom the fit has not ",
                   "met, with ", format_count(prod(size[1:2])), " draws each, are ", format_count(n * prod(size)),
                   " numbers, with copies on the way", advice = "give fewer people at a time")
  design <- whole$effects
  theta <- kept_theta(whole)
  total <- lapply(stats::setNames(nm = design$terms), function(term) {
    own <- design$coefficients$label[design$coefficients$term == term]
    tcrossprod(theta[, own, drop = FALSE], matrices[[term]])
  })
  for (k in seq_along(design$factors)) {
    one <- design$factors[[k]]
    drawn <- level_intercepts(whole, k, level[[k]], theta)
    for (j in seq_along(one$terms)) {
      term <- design$terms[one$terms[j]]
      total[[term]] <- total[[term]] + drawn[[j]]
    }
  }
  made <- lapply(seq_len(n), function(i) {
    one <- vapply(total, function(x) x[, i], numeric(nrow(theta)))
    array(prior_natural(whole$prior, matrix(one, nrow(theta))), size, dimnames(whole$draws[[1]]))
  })
  fit$draws <- c(fit$draws, stats::setNames(made, new_cell_names(n)))
  without_people(fit, n)
}

# As many cells more in which the fit has seen nobody.
without_people <- function(fit, n) {
  for (part in intersect(cell_counts, names(fit))) {
    none <- stats::setNames(integer(n), if (!is.null(names(fit[[part]]))) new_cell_names(n))
    fit[[part]] <- c(fit[[part]], none)
  }
  fit
}

new_cell_names <- function(n) sprintf("new cell %d", seq_len(n))

# Of a mode, which has no random intercepts.
add_tops <- function(mode, matrices) {
  n <- nrow(matrices[[1]])
  b <- mode$population$top$theta
  theta <- vapply(mode$effects$terms, function(term) {
    as.vector(matrices[[term]] %*% b[mode$effects$coefficients$term == term])
  }, numeric(n))
  theta <- matrix(theta, n)
  made <- lapply(seq_len(n), function(i) list(theta = theta[i, ]))
  mode$tops <- c(mode$tops, stats::setNames(made, new_cell_names(n)))
  without_people(mode, n)
}

# Coefficients, spreads and correlations [draw, number] on the sampler's scale (correlations as they are), at the draws
# that cells are kept of.
kept_theta <- function(fit) {
  n <- dim(fit$draws[[1]])[1]
  fit$population$draws <- fit$population$draws[fit$population$every * seq_len(n), , , drop = FALSE]
  population_theta(fit)
}

# Intercepts [draw, cell] of factor k for cells at these levels, one matrix per term.
level_intercepts <- function(fit, k, level, theta) {
  one <- fit$effects$factors[[k]]
  n_known <- length(one$levels)
  before <- sum(vapply(fit$effects$factors[seq_len(k - 1)], function(f) length(f$levels) * length(f$terms), 0L))
  flat <- flat_draws(fit$population$intercepts)
  fresh <- new_intercepts(fit, k, sort(unique(level[level > n_known])), theta)
  lapply(seq_along(one$terms), function(j) {
    known <- flat[, before + (j - 1L) * n_known + seq_len(n_known), drop = FALSE]
    both <- cbind(known, fresh$u[[j]])
    both[, match(level, c(seq_len(n_known), fresh$level)), drop = FALSE]
  })
}

# From N(0, Sigma) of each draw. What a level gets does not depend on how many there are.
new_intercepts <- function(fit, k, level, theta) {
  one <- fit$effects$factors[[k]]
  n_terms <- length(one$terms)
  stream <- streams_from_seed(fit$seed, k)[[k]]
  unit <- with_stream(stream, array(stats::rnorm(nrow(theta) * n_terms * length(level)),
                                    c(nrow(theta), n_terms, length(level))))
  factor <- spread_factors(fit, k, theta)
  u <- lapply(seq_len(n_terms), function(j) {
    out <- matrix(0, nrow(theta), length(level))
    for (i in seq_len(n_terms)) out <- out + matrix(unit[, i, ], nrow(theta)) * factor[, i, j]
    out
  })
  list(level = level, u = u)
}

# The factor of the covariance of intercepts by factor k, R in R'R, at each draw: [draw, row, column].
spread_factors <- function(fit, k, theta) {
  shape <- population_shape(fit$effects, fit$prior)
  own <- c(fit$effects$spreads$label, fit$effects$ties$label)
  s <- theta[, own, drop = FALSE]
  s[, fit$effects$ties$label] <- atanh(s[, fit$effects$ties$label])
  size <- length(fit$effects$factors[[k]]$terms)
  out <- array(0, c(nrow(theta), size, size))
  if (!length(shape$tie[[k]])) {
    for (j in seq_len(size)) out[, j, j] <- exp(s[, shape$spread[[k]][j]])
    return(out)
  }
  for (i in seq_len(nrow(theta))) out[i, , ] <- covariance_factor(shape, k, s[i, ])
  out
}
