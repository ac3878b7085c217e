# Log-likelihoods of many cells, interpolated over the parameters. A cell's log-likelihood is a smooth function of its
# agent's terms (on the scale a sampler works on), and all cells have the same plan at the same terms. So one solve at a
# point of a regular grid serves all of them, and all later questions nearby. Between points it is a product of cubic
# polynomials through four of them along each term. Points are solved for when they are first needed, each from the same
# start, so that an answer does not depend on what was asked before.
#
# The error is measured, not assumed. Before a run the grid is made finer until the error of all cells together is less
# than `error_wanted` at points of the posterior. During the run the first chain is compared with exact solves every
# `check_every` steps (interpolation_error()), for up to `most_checked` cells at a time. The verdict shows what was
# found.

# A tenth of a log unit is less than the lattice's own error. It moves an interval by less than the Monte Carlo error.
error_wanted <- 0.1
most_error <- c(caution = 0.3, "do not use" = 1)
check_every <- 100L
most_checked <- 100L
# More terms would need too many points.
most_interpolated <- 3L
# Fewer cells than this are solved for one by one.
least_interpolated <- 30L

# `spacing`: between points, by term. `tree`, `action`, `cell`: everybody's visits as one tree, and whose they are.
new_interpolation <- function(inverse, spacing) {
  pooled <- pooled_visits(inverse)
  out <- new.env(parent = emptyenv())
  out$inverse <- inverse
  out$pooled <- pooled
  out$spacing <- spacing
  forget_points(out)
  out
}

# `stencil` [point, place]: the columns of `known` around a place that was met before, by `places`.
forget_points <- function(interpolation) {
  size <- length(interpolation$spacing)
  interpolation$offsets <- unname(as.matrix(expand.grid(rep(list(-1:2), size))))
  interpolation$column <- new.env(parent = emptyenv())
  interpolation$known <- matrix(0, length(interpolation$inverse$histories), 64)
  interpolation$n <- 0L
  interpolation$places <- new.env(parent = emptyenv())
  interpolation$stencil <- matrix(0L, nrow(interpolation$offsets), 64)
  interpolation$n_places <- 0L
}

# Everybody's visits, from the trees of cells. What was seen after the last visit is not in them, and is not needed.
pooled_visits <- function(inverse) {
  if (has_several(inverse)) return(pooled_parts(inverse))
  pieces <- lapply(seq_along(inverse$histories), function(g) {
    tree <- inverse$histories[[g]]
    trajectory <- trajectory_of(tree)
    n <- length(trajectory)
    observation <- c(tree$observation[tree$visit][-1], -1L)
    observation[c(trajectory[-1] != trajectory[-n], TRUE)] <- -1L
    list(trajectory = trajectory - 1L, action = inverse$actions[[g]] - 1L, observation = observation,
         scored = tree$scored, start = starts_of(tree)[trajectory] - 1L)
  })
  n_each <- vapply(pieces, function(piece) max(piece$trajectory) + 1L, 0L)
  before <- cumsum(c(0L, n_each))
  join <- function(part) unlist(lapply(pieces, `[[`, part))
  n_visits <- vapply(pieces, function(piece) length(piece$action), 0L)
  coded <- list(trajectory = as.integer(join("trajectory") + rep(before[-length(before)], n_visits)),
                action = as.integer(join("action")), observation = as.integer(join("observation")),
                scored = join("scored"), start = as.integer(join("start")))
  if (!has_starts(inverse$problem$setting)) coded$start <- NULL
  list(tree = build_histories(coded, inverse$problem$setting), action = coded$action + 1L,
       cell = rep(seq_along(pieces), n_visits))
}

# By problem, where there are several: lists of each.
pooled_parts <- function(inverse) {
  pooled <- lapply(stats::setNames(nm = problem_names(inverse)), function(name) {
    part <- part_inverse(inverse, name)
    part$actions <- of_problem(inverse$actions, name)
    one <- pooled_visits(part)
    one$cell <- which(met_problem(inverse$histories, name))[one$cell]
    one
  })
  lapply(c(tree = "tree", action = "action", cell = "cell"), function(what) lapply(pooled, `[[`, what))
}

# All cells' log-likelihoods at one point, exactly; `theta` on the sampler's scale.
point_log_lik <- function(interpolation, theta) {
  inverse <- interpolation$inverse
  pooled <- interpolation$pooled
  natural <- prior_natural(inverse$prior, matrix(theta, 1))
  n_cells <- length(inverse$histories)
  if (!all(is.finite(natural))) return(rep(-Inf, n_cells))
  if (!has_several(inverse)) return(pooled_log_lik(inverse, natural, pooled$tree, pooled$action, pooled$cell, n_cells))
  Reduce(`+`, lapply(problem_names(inverse), function(name) {
    pooled_log_lik(part_inverse(inverse, name), natural, pooled$tree[[name]], pooled$action[[name]],
                   pooled$cell[[name]], n_cells)
  }))
}

pooled_log_lik <- function(inverse, natural, tree, action, cell, n_cells) {
  plan <- tryCatch(plan_at(inverse, natural), ibrc_error_convergence = function(e) NULL)
  if (is.null(plan)) return(rep(-Inf, n_cells))
  law <- read_histories(plan, tree, beliefs = FALSE)$log_policy
  out <- numeric(n_cells)
  out[unique(cell)] <- rowsum(scored_log_policy(law, tree, action), cell, reorder = FALSE)
  out
}

# The column of `known` for a grid point, given in spacings; a new point is solved for.
point_column <- function(interpolation, point) {
  key <- paste(point, collapse = " ")
  if (!is.null(interpolation$column[[key]])) return(interpolation$column[[key]])
  if (interpolation$n == ncol(interpolation$known)) {
    interpolation$known <- cbind(interpolation$known, interpolation$known * 0)
  }
  interpolation$n <- interpolation$n + 1L
  fill_column(interpolation, "known", interpolation$n, point_log_lik(interpolation, point * interpolation$spacing))
  interpolation$column[[key]] <- interpolation$n
  interpolation$n
}

# A column of a matrix that lies in an environment, in place: `where$known[, j] <- values` would copy all of it, of
# thousands of people a gigabyte for every point.
fill_column <- function(where, name, j, values) {
  force(values)
  suspendInterrupts({
    matrix <- where[[name]]
    where[[name]] <- NULL
    matrix[, j] <- values
    where[[name]] <- matrix
  })
}

# Columns of `stencil` for places, one row of whole numbers each.
place_columns <- function(interpolation, places) {
  keys <- do.call(paste, as.data.frame(places))
  vapply(seq_along(keys), function(i) {
    found <- interpolation$places[[keys[i]]]
    if (!is.null(found)) return(found)
    points <- interpolation$offsets + rep(places[i, ], each = nrow(interpolation$offsets))
    columns <- apply(points, 1, function(point) point_column(interpolation, point))
    if (interpolation$n_places == ncol(interpolation$stencil)) {
      interpolation$stencil <- cbind(interpolation$stencil, interpolation$stencil)
    }
    # Only now, so that an interrupt leaves nothing half finished.
    interpolation$n_places <- interpolation$n_places + 1L
    fill_column(interpolation, "stencil", interpolation$n_places, columns)
    interpolation$places[[keys[i]]] <- interpolation$n_places
    interpolation$n_places
  }, 0L)
}

# At `theta` [row, term] of the cells `cell`. If a point has -Inf or NaN the result is NaN: solve for it exactly.
interpolated_log_lik <- function(interpolation, theta, cell) {
  size <- ncol(theta)
  place <- theta / rep(interpolation$spacing, each = nrow(theta))
  base <- floor(place)
  weights <- lapply(seq_len(size), function(t) cubic_weights(place[, t] - base[, t]))
  # Rows share few places: columns are looked up once for each.
  at <- distinct_rows(base)
  column <- place_columns(interpolation, base[!duplicated(at), , drop = FALSE])[at]
  out <- numeric(nrow(theta))
  for (i in seq_len(nrow(interpolation$offsets))) {
    weight <- weights[[1]][, interpolation$offsets[i, 1] + 2]
    for (t in seq_len(size)[-1]) weight <- weight * weights[[t]][, interpolation$offsets[i, t] + 2]
    out <- out + weight * interpolation$known[cbind(cell, interpolation$stencil[i, column])]
  }
  out
}

# No log-likelihood is above 0, though a polynomial may be where people are sure of what they do.
possible_log_lik <- function(interpolation, theta, cell) pmin(interpolated_log_lik(interpolation, theta, cell), 0)

# Of points at -1, 0, 1 and 2, for a place between 0 and 1.
cubic_weights <- function(x) {
  cbind(-x * (x - 1) * (x - 2) / 6, (x + 1) * (x - 1) * (x - 2) / 2, -(x + 1) * x * (x - 2) / 2,
        (x + 1) * x * (x - 1) / 6)
}

# Far points are not worth a solve each: what is further from 0 than this, in spacings, is solved for exactly.
most_places <- 1e6

# The spacing at which the error of all cells together is small at `points` of the posterior [point, term], some of them
# tried between grid points. NULL where none of the spacings tried is fine enough.
find_spacing <- function(inverse, points, spacing, halvings = 5) {
  interpolation <- new_interpolation(inverse, spacing)
  exact <- vapply(seq_len(nrow(points)), function(i) sum(point_log_lik(interpolation, points[i, ])), 0)
  interpolation$spacing <- term_spacing(interpolation, points, exact, spacing)
  cells <- seq_along(inverse$histories)
  for (i in seq_len(halvings)) {
    error <- vapply(seq_len(nrow(points)), function(p) {
      theta <- matrix(points[p, ], length(cells), ncol(points), byrow = TRUE)
      sum(possible_log_lik(interpolation, theta, cells)) - exact[p]
    }, 0)
    if (all(is.finite(error)) && max(abs(error)) < error_wanted) return(interpolation)
    interpolation$spacing <- interpolation$spacing / 2
    forget_points(interpolation)
  }
  NULL
}

# Where to begin with that: for each term the widest spacing, of `spacing` and what halving makes of it, at which the
# error along this term alone is small. Terms need not be alike: a wide one may do with few points.
term_spacing <- function(interpolation, points, exact, spacing, least = 0.5 / 2^4) {
  for (t in seq_along(spacing)) {
    error <- function(by) {
      vapply(seq_len(nrow(points)), function(p) {
        place <- points[p, t] / by
        at <- function(k) sum(point_log_lik(interpolation, replace(points[p, ], t, (floor(place) + k) * by)))
        sum(cubic_weights(place - floor(place)) * vapply(-1:2, at, 0)) - exact[p]
      }, 0)
    }
    fine <- function(off) all(is.finite(off)) && max(abs(off)) < error_wanted / length(spacing)
    while (spacing[t] / 2 >= least && !fine(error(spacing[t]))) spacing[t] <- spacing[t] / 2
  }
  spacing
}

# Before anything is known: half of how far apart people may well be, on a plain scale however far that is.
widest_spacing <- function(prior) {
  vapply(unclass(prior), function(entry) {
    if (entry$scale == "identity") effect_scale(entry) / 2 else min(effect_scale(entry) / 2, 0.5)
  }, 0)
}

# The error in the log-likelihood of all cells where a chain stands, `theta` [cell, term]. It is measured on all cells
# or, if there are many, on some of them, evenly spaced.
interpolation_error <- function(evaluator, theta) {
  n <- nrow(theta)
  cells <- unique(as.integer(round(seq(1, n, length.out = min(n, most_checked)))))
  some <- theta[cells, , drop = FALSE]
  near <- possible_log_lik(evaluator$interpolation, some, cells)
  values <- matrix(0, evaluator$agent$n_values, length(cells))
  exact <- evaluate_batch(replace(evaluator$agent, "cores", evaluator$cores), some, values, cells)$log_likelihood
  # What cannot be interpolated is exact in a chain, too. To interpolate what is not possible is the worst error.
  off <- ifelse(is.finite(near), near - exact, 0)
  sum(off) * n / length(cells)
}
