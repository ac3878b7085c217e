# The top of the posterior of a population's coefficients, and how wide the posterior is there, so that chains begin
# about it and know from the first step how to move. It is for populations without random intercepts: with these the top
# lies where people do not differ at all.
#
# The log-likelihood is a sum over cells, and that of a cell is a function of its own few terms. So slopes and bends of
# each cell are taken along its terms, and those along coefficients follow from the design: their number does not
# matter to the cost, which is one evaluation of all cells for every way in which one or two terms are moved. Steps are
# those of Newton, made shorter where they would not gain. All chains climb at once, each from where it is and under
# its own laws.

# Slopes are taken over half a standard deviation of the cell's term, and within these parts of the term's own scale:
# the likelihood has small kinks where beliefs cross the lattice.
slope_step <- c(least = 0.005, first = 0.1, most = 0.5)
# A direction is not taken to be wider than this many standard deviations of the prior.
widest_top <- 1.4
# A chain that could still gain less than this has arrived.
gain_wanted <- 0.05
# Lower by more than this, a top is not worth beginning at.
most_below <- 7
start_width <- 1.5

# Evaluations of all cells that one round takes, and so many rounds as half a warm-up would pay for.
round_cost <- function(n_terms) n_terms * (n_terms + 1) + 2
climb_rounds <- function(n_terms, warmup) min(30, max(5, warmup %/% (2 * round_cost(n_terms))))

# From coefficients `b` [chain, coefficient], under laws `d`. One row per chain: `b`, `density`, and a list of
# covariances; NULL where the posterior has no top that could be found.
population_tops <- function(evaluator, b, value, d, rounds, look = NULL) {
  shape <- evaluator$population
  evaluator <- at_laws(evaluator, d)
  here <- coefficients_at(evaluator, b, value)
  if (!all(is.finite(here$density))) return(NULL)
  scale <- vapply(unclass(evaluator$prior), effect_scale, 0)
  step <- matrix(slope_step[["first"]] * scale, nrow(here$cells), length(scale), byrow = TRUE)
  for (round in seq_len(rounds)) {
    bends <- coefficient_bends(evaluator, here, step)
    step <- half_widths(shape, bends, scale)
    climbed <- climb_once(evaluator, here, bends)
    here <- climbed$here
    if (!is.null(look)) look(max(here$density))
    if (all(climbed$arrived)) break
  }
  bends <- coefficient_bends(evaluator, here, step)
  covariance <- lapply(bends, `[[`, "covariance")
  if (!all(vapply(covariance, function(one) all(is.finite(one)), NA))) return(NULL)
  list(b = here$b, density = here$density, covariance = covariance)
}

# Cells, log-likelihoods and densities at coefficients.
coefficients_at <- function(evaluator, b, value) {
  shape <- evaluator$population
  cells <- cells_of(shape, b, matrix(0, nrow(b), shape$n_intercepts))
  found <- cell_log_lik(evaluator, cells, value)
  density <- log_coefficients(shape, b) + rowSums(found$log_likelihood)
  density[is.na(density)] <- -Inf
  list(b = b, cells = cells, log_likelihood = found$log_likelihood, value = found$value, density = density)
}

# One step of every chain; one that would not gain is made shorter. `arrived`: who gained little, or nothing however
# short the step.
climb_once <- function(evaluator, here, bends, lengths = c(1, 0.3, 0.1, 0.02)) {
  gained <- numeric(nrow(here$b))
  waiting <- rep(TRUE, nrow(here$b))
  step <- t(vapply(bends, function(bend) as.vector(bend$covariance %*% bend$slope), bends[[1]]$slope))
  step <- matrix(step, nrow(here$b))
  for (length in lengths) {
    there <- coefficients_at(evaluator, here$b + length * waiting * step, here$value)
    better <- waiting & there$density > here$density
    gained[better] <- there$density[better] - here$density[better]
    here <- taken_from(here, there, better, evaluator$population$n_cells)
    waiting <- waiting & !better
    if (!any(waiting)) break
  }
  list(here = here, arrived = gained < gain_wanted)
}

# Chains that moved, from `there`.
taken_from <- function(here, there, moved, n_cells) {
  cells <- rep(moved, n_cells)
  here$b[moved, ] <- there$b[moved, ]
  here$cells[cells, ] <- there$cells[cells, ]
  here$log_likelihood[moved, ] <- there$log_likelihood[moved, ]
  here$value[, cells] <- there$value[, cells]
  here$density[moved] <- there$density[moved]
  here
}

# Per chain: the `slope` along coefficients, and the `covariance` that their bend amounts to.
coefficient_bends <- function(evaluator, here, step) {
  shape <- evaluator$population
  along <- cell_bends(evaluator, here, step)
  prior <- prior_bends(shape, here$b)
  width <- shape$normal_width
  lapply(seq_len(nrow(here$b)), function(c) {
    slope <- prior$slope[c, ]
    bend <- diag(prior$bend[c, ], length(slope))
    for (i in seq_along(shape$own)) {
      x <- shape$design$matrices[[i]]
      own <- shape$own[[i]]
      slope[own] <- slope[own] + crossprod(x, along$slope[[i]][c, ])
      for (j in seq_along(shape$own)) {
        bend[own, shape$own[[j]]] <- bend[own, shape$own[[j]]] +
          crossprod(x, along$bend[[i]][[j]][c, ] * shape$design$matrices[[j]])
      }
    }
    parts <- eigen(-bend * outer(width, width), symmetric = TRUE)
    # Where it bends the other way, one goes on downhill of it all the same.
    part <- pmax(abs(parts$values), 1 / widest_top^2)
    axes <- width * parts$vectors * rep(1 / sqrt(part), each = length(width))
    list(slope = slope, covariance = tcrossprod(axes))
  })
}

# Of the log-likelihoods [chain, cell], along the terms of the cell: `slope` by term, and `bend` by term and term.
cell_bends <- function(evaluator, here, step) {
  n_terms <- ncol(step)
  n <- nrow(here$b)
  at <- function(move) {
    cell_log_lik(evaluator, here$cells + step * rep(move, each = nrow(step)), here$value)$log_likelihood
  }
  unit <- diag(n_terms)
  size <- lapply(seq_len(n_terms), function(i) matrix(step[, i], n))
  up <- lapply(seq_len(n_terms), function(i) at(unit[i, ]))
  down <- lapply(seq_len(n_terms), function(i) at(-unit[i, ]))
  # The edge of what is possible has neither.
  finite <- function(x) replace(x, !is.finite(x), 0)
  twice <- lapply(seq_len(n_terms), function(i) up[[i]] + down[[i]] - 2 * here$log_likelihood)
  bend <- lapply(twice, function(x) vector("list", n_terms))
  for (i in seq_len(n_terms)) {
    bend[[i]][[i]] <- finite(twice[[i]] / size[[i]]^2)
    for (j in seq_len(i - 1)) {
      both <- at(unit[i, ] + unit[j, ]) + at(-unit[i, ] - unit[j, ]) - 2 * here$log_likelihood
      bend[[i]][[j]] <- bend[[j]][[i]] <- finite((both - twice[[i]] - twice[[j]]) / (2 * size[[i]] * size[[j]]))
    }
  }
  list(slope = lapply(seq_len(n_terms), function(i) finite((up[[i]] - down[[i]]) / (2 * size[[i]]))), bend = bend)
}

# Of the log density of coefficients, [chain, coefficient].
prior_bends <- function(shape, b) {
  step <- 0.01 * shape$normal_width
  slope <- bend <- b * 0
  for (j in seq_len(ncol(b))) {
    at <- function(move) unconstrained_log_density(shape$coefficient_prior[[j]], b[, j] + move * step[j])
    slope[, j] <- (at(1) - at(-1)) / (2 * step[j])
    bend[, j] <- (at(1) + at(-1) - 2 * at(0)) / step[j]^2
  }
  list(slope = replace(slope, !is.finite(slope), 0), bend = replace(bend, !is.finite(bend), 0))
}

# Half a standard deviation of each term of each cell, in the order of cells_of().
half_widths <- function(shape, bends, scale) {
  out <- matrix(0, length(bends) * shape$n_cells, length(scale))
  for (t in seq_along(scale)) {
    x <- shape$design$matrices[[t]]
    own <- shape$own[[t]]
    width <- vapply(bends, function(bend) {
      sqrt(rowSums((x %*% bend$covariance[own, own, drop = FALSE]) * x))
    }, numeric(shape$n_cells))
    within <- slope_step[c("least", "most")] * scale[t]
    out[, t] <- pmin(pmax(as.vector(t(matrix(width, shape$n_cells))) / 2, within[[1]]), within[[2]])
  }
  out
}

# ---- where chains begin ---------------------------------------------------------------------------------------------

# How much of the posterior is about each top, by its height and width; all the same where chains have laws of their
# own, and with them a posterior.
top_weights <- function(tops, apart) {
  if (apart) return(rep(1, length(tops$density)) / length(tops$density))
  mass <- tops$density + vapply(tops$covariance, function(one) {
    as.numeric(determinant(one)$modulus) / 2
  }, 0)
  exp(mass - max(mass))
}

# The law that coefficients are moved by: the centre and the covariance of all tops together.
top_law <- function(tops, weights) {
  weights <- weights / sum(weights)
  centre <- colSums(tops$b * weights)
  off <- sweep(tops$b, 2, centre)
  within <- Reduce(`+`, Map(`*`, tops$covariance, weights))
  list(centre = centre, covariance = within + crossprod(off * sqrt(weights)))
}

# Coefficients of chains: about the top that a chain got to or, where that is far below, about the highest; wider than
# the posterior is. A chain whose draw is not possible begins nearer to the top.
about_tops <- function(evaluator, tops, weights, value, d, streams) {
  evaluator <- at_laws(evaluator, d)
  from <- ifelse(weights < exp(-most_below) * max(weights), which.max(weights), seq_along(weights))
  noise <- t(vapply(streams, function(stream) with_stream(stream, stats::rnorm(ncol(tops$b))), tops$b[1, ]))
  noise <- matrix(noise, nrow(tops$b))
  offset <- tops$b * 0
  for (c in seq_along(from)) offset[c, ] <- noise[c, ] %*% chol(tops$covariance[[from[c]]])
  b <- tops$b[from, , drop = FALSE] + start_width * offset
  impossible <- !is.finite(coefficients_at(evaluator, b, value)$density)
  b[impossible, ] <- tops$b[from[impossible], ]
  b
}
