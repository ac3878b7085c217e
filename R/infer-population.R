# Populations: every term of cell i is x_i b + u_1[level of i] + u_2[level of i] + ... on the scale that a sampler works
# on (spec: Populations). A chain is at coefficients `b`, spreads `s` (log standard deviations, then correlations by
# their inverse hyperbolic tangent) and intercepts `u`, and where dynamics are inferred as well at laws `d`
# (infer-population-worlds.R); all are matrices with one row per chain. Nothing here solves but cell_log_lik().

# What a sampler asks: `agent` evaluates cells as groups; `population` says how cells follow from b, s and u.
# `spacing`: where cells are interpolated (infer-interpolation.R), of what grid; `tree`: where dynamics are inferred,
# the visits that they were learned from.
population_evaluator <- function(inverse, n_chains, cores, likelihood = TRUE, spacing = NULL, tree = NULL) {
  agent <- inverse_evaluator(inverse, cores = cores, likelihood = likelihood)
  population <- population_shape(inverse$effects, inverse$prior)
  evaluator <- list(
    population = population, agent = agent, prior = inverse$prior, group = rep(1L, n_chains), cores = cores,
    likelihood = likelihood, interpolation = if (!is.null(spacing)) new_interpolation(inverse, spacing),
    n_values = agent$n_values * population$n_cells
  )
  with_population_laws(evaluator, inverse, tree, n_chains)
}

# Where everything stands. `at`: per factor, [level, term] as columns of u; `spread`, `tie`: per factor, columns of s;
# `pairs`: per factor, which of its terms each tie is of.
population_shape <- function(design, prior) {
  coefficients <- design$coefficients
  n_spreads <- nrow(design$spreads)
  at <- list()
  last <- 0L
  for (k in seq_along(design$factors)) {
    size <- c(length(design$factors[[k]]$levels), length(design$factors[[k]]$terms))
    at[[k]] <- matrix(last + seq_len(prod(size)), size[1], size[2])
    last <- last + prod(size)
  }
  priors <- c(stats::setNames(unclass(prior)[coefficients$term], coefficients$label)[coefficients$intercept],
              unclass(design$prior))
  stand_in <- normal_stand_in(priors[coefficients$label])
  within <- lapply(seq_along(at), function(k) shared_columns(design, k))
  out <- list(
    normal_centre = stand_in$centre, normal_width = stand_in$width,
    design = design, terms = design$terms, n_cells = length(design$cells), at = at, n_intercepts = last,
    own = lapply(design$terms, function(term) which(coefficients$term == term)),
    spread = lapply(seq_along(at), function(k) which(design$spreads$factor == k)),
    tie = lapply(seq_along(at), function(k) n_spreads + which(design$ties$factor == k)),
    pairs = lapply(seq_along(at), function(k) {
      unname(as.matrix(design$ties[design$ties$factor == k, c("first", "second")]))
    }),
    n_coefficients = nrow(coefficients), n_spreads = n_spreads, n_ties = nrow(design$ties),
    coefficient_prior = priors[coefficients$label], spread_prior = priors[design$spreads$label],
    within = within, crossed = lapply(within, crossed_columns),
    unit = lapply(design$factors, function(one) diag(length(one$terms))),
    # Coefficients whose prior is no normal distribution on that scale.
    odd = setdiff(seq_along(coefficients$label), fast_terms(priors[coefficients$label])$normal)
  )
  out$width <- population_widths(out)
  out
}

# The normal distribution that stands in for a prior, on the sampler's scale: itself, if it is one.
normal_stand_in <- function(entries) {
  list(centre = unname(vapply(entries, function(entry) unconstrained_quantile(entry, log(0.5), log(0.5)), 0)),
       width = unname(vapply(entries, unconstrained_sd, 0)))
}

# The coefficients whose columns do not change within levels of a factor, for each of its terms: `column` (of b) and `x`
# [level, column]. Intercepts of the factor can take up what these lose, without any change of a cell.
shared_columns <- function(design, k) {
  one <- design$factors[[k]]
  first <- match(seq_along(one$levels), one$level)
  lapply(one$terms, function(t) {
    x <- design$matrices[[t]]
    still <- colSums(abs(x - x[first[one$level], , drop = FALSE])) == 0
    list(column = which(design$coefficients$term == design$terms[t])[still], x = x[first, still, drop = FALSE])
  })
}

# The same, as shift_law() reads them: all columns (of b), the term that each is of, and their products x'x.
crossed_columns <- function(parts) {
  rows <- lapply(parts, function(one) do.call(cbind, lapply(parts, function(other) crossprod(one$x, other$x))))
  list(columns = unlist(lapply(parts, `[[`, "column")), products = do.call(rbind, rows),
       term = rep(seq_along(parts), vapply(parts, function(one) length(one$column), 0L)))
}

# Cells [chain and cell, term], chains fastest.
cells_of <- function(shape, b, u) {
  n <- nrow(b)
  out <- matrix(0, n * shape$n_cells, length(shape$terms))
  for (t in seq_along(shape$terms)) {
    out[, t] <- tcrossprod(b[, shape$own[[t]], drop = FALSE], shape$design$matrices[[t]])
  }
  for (k in seq_along(shape$at)) {
    one <- shape$design$factors[[k]]
    for (j in seq_along(one$terms)) {
      t <- one$terms[j]
      out[, t] <- out[, t] + u[, shape$at[[k]][one$level, j]]
    }
  }
  out
}

# The log-likelihood [chain, cell], and the values that solves came to.
cell_log_lik <- function(evaluator, theta, values) {
  n_cells <- evaluator$population$n_cells
  n <- nrow(theta) / n_cells
  agent <- evaluator$agent
  agent$cores <- evaluator$cores
  if (!evaluator$likelihood) return(list(log_likelihood = matrix(0, n, n_cells), value = values))
  if (!is.null(evaluator$interpolation)) {
    return(list(log_likelihood = interpolated_cells(evaluator, theta, n), value = values))
  }
  if (!is.null(evaluator$agents) || !is.null(evaluator$worlds)) return(cells_by_chain(evaluator, theta, values, n))
  if (!is.null(evaluator$joint)) return(cells_by_row(evaluator, theta, values, n))
  found <- evaluate_batch(agent, theta, values, rep(seq_len(n_cells), each = n))
  list(log_likelihood = matrix(found$log_likelihood, n), value = found$value)
}

# Interpolated where it can be, and exact elsewhere: where a chain is far out at first, say. What has left the doubles
# is not possible.
interpolated_cells <- function(evaluator, theta, n) {
  cell <- rep(seq_len(evaluator$population$n_cells), each = n)
  spacing <- evaluator$interpolation$spacing
  finite <- rowSums(!is.finite(theta)) == 0
  near <- finite & rowSums(abs(theta) > rep(most_places * spacing, each = nrow(theta))) == 0
  out <- rep(-Inf, nrow(theta))
  out[near] <- possible_log_lik(evaluator$interpolation, theta[near, , drop = FALSE], cell[near])
  again <- which(finite & !is.finite(out))
  if (length(again)) {
    values <- matrix(0, evaluator$agent$n_values, length(again))
    agent <- replace(evaluator$agent, "cores", evaluator$cores)
    out[again] <- evaluate_batch(agent, theta[again, , drop = FALSE], values, cell[again])$log_likelihood
  }
  # Between two that are as good as certain, a cubic may go beyond.
  matrix(pmin(out, 0), n)
}

# ---- densities, one number per chain ---------------------------------------------------------------------------------

log_coefficients <- function(shape, b) {
  total <- numeric(nrow(b))
  for (j in seq_along(shape$coefficient_prior)) {
    total <- total + unconstrained_log_density(shape$coefficient_prior[[j]], b[, j])
  }
  total[!is.finite(total)] <- -Inf
  total
}

# Of correlations the density is that of Lewandowski, Kurowicka and Joe (2009) with shape 2, up to a constant: flat is
# 1, and 2 leans to 0.
tie_shape <- 2

log_spreads <- function(shape, s) {
  total <- numeric(nrow(s))
  for (j in seq_along(shape$spread_prior)) {
    total <- total + unconstrained_log_density(shape$spread_prior[[j]], s[, j])
  }
  for (k in seq_along(shape$at)) {
    if (!length(shape$tie[[k]])) next
    z <- s[, shape$tie[[k]], drop = FALSE]
    # dr/dz = 1 - r^2, as a logarithm that holds far out.
    total <- total + rowSums(log(4) - 2 * abs(z) - 2 * log1p(exp(-2 * abs(z))))
    total <- total + 2 * (tie_shape - 1) * log_correlations(shape, k, s)
  }
  total[!is.finite(total)] <- -Inf
  total
}

# The logarithm of the root of the determinant of one factor's correlations, for each chain.
log_correlations <- function(shape, k, s) {
  if (length(shape$tie[[k]]) == 1) return(log(root_rest(tanh(s[, shape$tie[[k]]]))))
  vapply(seq_len(nrow(s)), function(c) {
    factor <- correlation_factor(shape, k, s[c, ])
    if (is.null(factor)) -Inf else sum(log(diag(factor)))
  }, 0)
}

# sqrt(1 - r^2)
root_rest <- function(r) sqrt((1 - r) * (1 + r))

# Whether a factor has two terms that are correlated, and no other terms.
is_pair <- function(shape, k) length(shape$tie[[k]]) == 1 && ncol(shape$at[[k]]) == 2

# The upper triangular factor of the correlations of one factor's terms, or NULL where there is none. Mostly there are
# two terms, and a sampler asks many times at each of its steps.
correlation_factor <- function(shape, k, s) {
  out <- shape$unit[[k]]
  if (!length(shape$tie[[k]])) return(out)
  r <- tanh(s[shape$tie[[k]]])
  if (is_pair(shape, k)) {
    out[1, 2] <- r
    out[2, 2] <- root_rest(r)
    return(if (isTRUE(out[2, 2] > 0)) out)
  }
  out[shape$pairs[[k]]] <- r
  out[shape$pairs[[k]][, 2:1, drop = FALSE]] <- r
  tryCatch(chol(out), error = function(e) NULL)
}

# The factor of the covariance, R in R'R, or NULL where there is none that can be worked with: far out spreads are 0, or
# leave the doubles.
covariance_factor <- function(shape, k, s) {
  factor <- correlation_factor(shape, k, s)
  if (is.null(factor)) return(NULL)
  factor <- factor * rep(exp(s[shape$spread[[k]]]), each = nrow(factor))
  if (all(is.finite(factor)) && all(diag(factor) > 0)) factor
}

# Intercepts of factor k as numbers of unit variance, [level, term], and back.
unit_intercepts <- function(u, factor) t(backsolve(factor, t(u), transpose = TRUE))
from_units <- function(unit, factor) unit %*% factor

# Of the intercepts of factor k, [chain, level].
log_levels <- function(shape, k, u, s) {
  size <- dim(shape$at[[k]])
  out <- matrix(0, nrow(u), size[1])
  constant <- size[2] * log(2 * pi) / 2
  if (!length(shape$tie[[k]])) {
    for (j in seq_len(size[2])) {
      log_sd <- s[, shape$spread[[k]][j]]
      out <- out - (u[, shape$at[[k]][, j], drop = FALSE] * exp(-log_sd))^2 / 2 - log_sd
    }
    return(out - constant)
  }
  if (is_pair(shape, k)) return(log_pairs(shape, k, u, s) - constant)
  for (c in seq_len(nrow(u))) {
    factor <- covariance_factor(shape, k, s[c, ])
    out[c, ] <- if (is.null(factor)) -Inf else
      -rowSums(unit_intercepts(matrix(u[c, shape$at[[k]]], size[1]), factor)^2) / 2 - sum(log(diag(factor)))
  }
  out - constant
}

# log_levels() of two terms that are correlated, up to its constant.
log_pairs <- function(shape, k, u, s) {
  at <- shape$at[[k]]
  log_sd <- s[, shape$spread[[k]], drop = FALSE]
  sd <- exp(log_sd)
  r <- tanh(s[, shape$tie[[k]]])
  rest <- root_rest(r)
  first <- u[, at[, 1], drop = FALSE] / sd[, 1]
  second <- (u[, at[, 2], drop = FALSE] / sd[, 2] - r * first) / rest
  out <- -(first^2 + second^2) / 2 - (log_sd[, 1] + log_sd[, 2] + log(rest))
  # As covariance_factor() has it.
  possible <- sd[, 1] > 0 & sd[, 2] > 0 & is.finite(sd[, 1] + sd[, 2]) & rest > 0
  out[!possible %in% TRUE, ] <- -Inf
  out
}

# Intercepts that keep their units while spreads change from s to `to`.
carried_intercepts <- function(shape, u, s, to) {
  for (k in seq_along(shape$at)) {
    at <- shape$at[[k]]
    for (c in seq_len(nrow(u))) {
      if (!length(shape$tie[[k]])) {
        spread <- shape$spread[[k]]
        u[c, at] <- u[c, at] * rep(exp(to[c, spread] - s[c, spread]), each = nrow(at))
        next
      }
      factor <- covariance_factor(shape, k, to[c, ])
      # Impossible correlations are refused by their prior.
      if (is.null(factor)) next
      unit <- unit_intercepts(matrix(u[c, at], nrow(at)), covariance_factor(shape, k, s[c, ]))
      u[c, at] <- from_units(unit, factor)
    }
  }
  u
}

log_population <- function(shape, b, s, u) {
  total <- log_coefficients(shape, b) + log_spreads(shape, s)
  for (k in seq_along(shape$at)) total <- total + rowSums(log_levels(shape, k, u, s))
  total
}

# How many numbers a chain has.
population_size <- function(shape) {
  shape$n_coefficients + shape$n_spreads + shape$n_ties + shape$n_intercepts + length(shape$codec$prior)
}

# Names of what a chain has: coefficients, standard deviations, correlations.
population_terms <- function(shape) {
  c(shape$design$coefficients$label, shape$design$spreads$label, shape$design$ties$label)
}

# Names of intercepts: optimism{site 3}, say.
intercept_terms <- function(shape) {
  unlist(lapply(shape$design$factors, function(one) {
    outer(one$levels, shape$terms[one$terms], function(level, term) paste0(term, "{", one$name, " ", level, "}"))
  }), use.names = FALSE)
}

# From the sampler's scale to standard deviations and correlations.
natural_spreads <- function(shape, s) {
  sd <- seq_len(shape$n_spreads)
  tie <- shape$n_spreads + seq_len(shape$n_ties)
  s[, sd] <- exp(s[, sd])
  s[, tie] <- tanh(s[, tie])
  s
}

# ---- what samplers share --------------------------------------------------------------------------------------------

# How wide things may be before anything is known of them: a tenth of what the prior leaves open.
population_widths <- function(shape) {
  b <- vapply(shape$coefficient_prior, effect_scale, 0)
  terms <- shape$design$spreads
  u <- unlist(lapply(seq_along(shape$at), function(k) {
    rep(terms$scale[shape$spread[[k]]], each = nrow(shape$at[[k]]))
  }))
  list(u = 0.2 * u, v = c(0.1 * b, rep(0.3, shape$n_spreads + shape$n_ties)))
}

# Of being accepted; a matrix stays one.
as_chances <- function(log_ratio) {
  log_ratio[log_ratio > 0] <- 0
  exp(log_ratio)
}
