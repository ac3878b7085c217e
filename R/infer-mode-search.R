# The top of a log density and its profile, found through the batch that a sampler
# calls: a gradient, a curvature or a set of starts is one batch.
#
# A surface is a list: `density`, a function of points [row, term] on the sampler's
# scale; `limits` [2, term], how far to look; `spread`, the prior's standard
# deviations, which set the scale of steps.

values_at_once <- 4e6

new_surface <- function(evaluator, group, with_prior) {
  limits <- search_limits(evaluator$prior)
  # Solves start from the best point's solution so far.
  value <- numeric(evaluator$n_values)
  density <- function(theta) {
    out <- rep(-Inf, nrow(theta))
    inside <- which(colSums(t(theta) < limits[1, ] | t(theta) > limits[2, ]) == 0)
    if (!length(inside)) return(out)
    # All from one solution, and of theirs only the best is kept: many points take no more memory than some.
    from <- value
    highest <- -Inf
    for (rows in in_pieces(inside, max(1, floor(values_at_once / length(value))))) {
      result <- evaluate_batch(evaluator, theta[rows, , drop = FALSE], matrix(from, length(from), length(rows)),
                               rep(group, length(rows)))
      found <- result$log_likelihood + if (with_prior) result$log_prior else 0
      found[!is.finite(found)] <- -Inf
      best <- which.max(found)
      if (found[best] > highest) {
        highest <- found[best]
        value <<- result$value[, best]
      }
      out[rows] <- found
    }
    out
  }
  list(density = density, limits = limits, spread = prior_sd_unconstrained(evaluator$prior))
}

# Around the prior's median: 20 on a log or logit scale, which is all there is to see
# of a positive number, more where the prior is wider still; 50 standard deviations on
# the plain scale. Below exp(300), so that nothing leaves the doubles.
search_limits <- function(prior) {
  half <- log(0.5)
  vapply(prior, function(entry) {
    middle <- unconstrained_quantile(entry, half, half)
    spread <- unconstrained_sd(entry)
    if (entry$scale == "identity") return(middle + c(-50, 50) * spread)
    reach <- max(20, 8 * spread)
    pmin(pmax(middle + c(-1, 1) * reach, -300), 300)
  }, numeric(2))
}

# A row for each free term, moved by its step.
moved <- function(at, free, step) {
  out <- matrix(rep(at, each = length(free)), length(free), length(at))
  own <- cbind(seq_along(free), free)
  out[own] <- out[own] + step
  out
}

finite_gradient <- function(surface, at, free = seq_along(at), step = 1e-4) {
  step <- step * pmin(surface$spread[free], 1)
  density <- surface$density(rbind(moved(at, free, step), moved(at, free, -step)))
  n <- length(free)
  slope <- (density[seq_len(n)] - density[n + seq_len(n)]) / (2 * step)
  # The edge of what is possible has no slope.
  slope[!is.finite(slope)] <- 0
  slope
}

# Climbs in the free terms by BFGS, from where it is; again while that gains, since the
# likelihood has small kinks where beliefs cross the lattice.
climb <- function(surface, start, free = seq_along(start), rounds = 5) {
  top <- list(theta = start, density = surface$density(rbind(start)), converged = TRUE)
  if (!length(free) || top$density == -Inf) return(top)
  at <- function(x) {
    start[free] <- x
    start
  }
  for (round in seq_len(rounds)) {
    scale <- climb_scale(surface, top$theta, free)
    found <- stats::optim(
      top$theta[free], function(x) surface$density(rbind(at(x))),
      function(x) finite_gradient(surface, at(x), free), method = "BFGS",
      control = list(fnscale = -1, parscale = scale, maxit = 200, reltol = 1e-11)
    )
    gain <- found$value - top$density
    if (gain > 0) {
      top <- list(theta = at(found$par), density = found$value, converged = found$convergence == 0)
    }
    if (gain < 1e-6) break
  }
  top
}

# The length of a step that matters, from the curvature at hand; without any, from the prior.
climb_scale <- function(surface, at, free) {
  step <- 1e-2 * pmin(surface$spread[free], 1)
  density <- surface$density(rbind(at, moved(at, free, step), moved(at, free, -step)))
  n <- length(free)
  bend <- (2 * density[1] - density[1 + seq_len(n)] - density[1 + n + seq_len(n)]) / step^2
  bend[!is.finite(bend)] <- 0
  1 / sqrt(pmax(bend, 1 / surface$spread[free]^2))
}

# The best of a pool of points, a climb from the best of each of `starts` parts of it.
find_top <- function(surface, pool, starts) {
  density <- surface$density(pool)
  part <- rep_len(seq_len(starts), nrow(pool))
  first <- vapply(split(seq_along(density), part), function(rows) rows[which.max(density[rows])], 0L)
  first <- unique(first[density[first] > -Inf])
  if (!length(first)) return(NULL)
  tops <- lapply(first, function(row) climb(surface, pool[row, ]))
  height <- vapply(tops, function(top) top$density, 0)
  top <- tops[[which.max(height)]]
  top$climbs <- length(first)
  top$reached <- sum(height > max(height) - 0.01)
  top
}

# The matrix of second derivatives, by steps along which the density falls by about a
# quarter: the curvature over the range that matters, not that of a kink. First along the
# terms, then along the axes that this shows, since steps along the terms leave a narrow
# ridge at once and say little of its length. Two batches a pass.
finite_curvature <- function(surface, at, passes = 3) {
  bend <- axis_curvature(surface, at)
  for (pass in seq_len(passes - 1)) {
    if (length(at) == 1 || any(!is.finite(bend))) break
    scale <- 1 / sqrt(pmax(abs(diag(bend)), 1 / surface$spread^2))
    basis <- scale * eigen(bend * outer(scale, scale), symmetric = TRUE)$vectors
    # Terms may be measured in very different units: that is no reason to refuse.
    back <- solve(basis, tol = 0)
    turned <- list(density = function(x) surface$density(t(at + basis %*% t(x))),
                   spread = 1 / apply(abs(basis) / surface$spread, 2, max))
    bend <- t(back) %*% axis_curvature(turned, 0 * at) %*% back
  }
  (bend + t(bend)) / 2
}

axis_curvature <- function(surface, at) {
  n <- length(at)
  step <- curvature_steps(surface, at)
  pairs <- if (n > 1) utils::combn(n, 2) else matrix(0L, 2, 0)
  corners <- do.call(rbind, lapply(seq_len(ncol(pairs)), function(k) {
    sign <- rbind(c(1, 1), c(-1, -1), c(1, -1), c(-1, 1))
    corner <- matrix(at, 4, n, byrow = TRUE)
    corner[, pairs[, k]] <- corner[, pairs[, k]] + sweep(sign, 2, step[pairs[, k]], "*")
    corner
  }))
  each <- seq_len(n)
  density <- surface$density(rbind(at, moved(at, each, step), moved(at, each, -step), corners))
  out <- diag((density[1 + each] + density[1 + n + each] - 2 * density[1]) / step^2, n)
  for (k in seq_len(ncol(pairs))) {
    four <- density[1 + 2 * n + 4 * (k - 1) + 1:4]
    i <- pairs[1, k]
    j <- pairs[2, k]
    out[i, j] <- out[j, i] <- (four[1] + four[2] - four[3] - four[4]) / (4 * step[i] * step[j])
  }
  out
}

curvature_steps <- function(surface, at) {
  ladder <- 10^seq(-4, 0, by = 0.25)
  n <- length(at)
  points <- do.call(rbind, lapply(ladder, function(rung) {
    rbind(moved(at, seq_len(n), rung * surface$spread), moved(at, seq_len(n), -rung * surface$spread))
  }))
  density <- surface$density(rbind(at, points))
  fall <- array(density[1] - density[-1], c(n, 2, length(ladder)))
  fall <- apply(fall, c(1, 3), mean)
  best <- apply(matrix(fall, n), 1, function(one) {
    miss <- abs(log(pmax(one, 1e-300) / 0.25))
    if (any(one > 0 & is.finite(one))) which.min(miss) else length(ladder)
  })
  ladder[best] * surface$spread
}

# The best density with one term held at `to`, climbing from the points in `from`.
profile_at <- function(surface, term, to, from) {
  from[, term] <- to
  density <- surface$density(from)
  climb(surface, from[which.max(density), ], setdiff(seq_len(ncol(from)), term))
}

# Where the profile falls by `drop` on one side of the top: steps outwards, each twice
# the last, then the root. Open where it does not fall that far before the limit.
profile_end <- function(surface, top, term, side, drop, step) {
  limit <- surface$limits[if (side < 0) 1 else 2, term]
  inner <- top
  before <- top
  repeat {
    to <- inner$theta[term] + side * step
    if (side * to > side * limit) to <- limit
    # On from the last point, or on in the direction of the last step.
    ahead <- inner$theta + (inner$theta - before$theta) * 2
    outer <- profile_at(surface, term, to, rbind(inner$theta, ahead))
    if (outer$density > top$density + 0.01) return(list(better = outer$theta))
    if (outer$density < top$density - drop) break
    if (to == limit) return(list(at = side * Inf))
    before <- inner
    inner <- outer
    step <- 2 * step
  }
  # The root of the fall is nearly a straight line.
  short <- function(t) {
    here <- if (t == inner$theta[term]) inner else if (t == outer$theta[term]) outer else
      profile_at(surface, term, t, rbind(inner$theta, outer$theta))
    min(sqrt(2 * max(top$density - here$density, 0)), 10 * sqrt(2 * drop)) - sqrt(2 * drop)
  }
  ends <- sort(c(inner$theta[term], outer$theta[term]))
  list(at = stats::uniroot(short, ends, tol = 1e-4 * diff(ends))$root)
}

# Both ends for every term, on the sampler's scale [2, term]. A higher point met on the
# way becomes the top, and the search starts again from it.
profile_ends <- function(surface, top, drop, terms = seq_along(top$theta), tries = 3) {
  step <- pmax(curvature_steps(surface, top$theta), 1e-3 * surface$spread)
  ends <- matrix(NA_real_, 2, length(top$theta))
  for (term in terms) {
    for (side in c(-1, 1)) {
      end <- profile_end(surface, top, term, side, drop, step[term])
      if (!is.null(end$better) && tries > 0) {
        higher <- climb(surface, end$better)
        top[c("theta", "density", "converged")] <- higher
        top$reached <- 1L
        return(profile_ends(surface, top, drop, terms, tries - 1))
      }
      if (is.null(end$better)) ends[(side + 3) / 2, term] <- end$at else top$converged <- FALSE
    }
  }
  list(ends = ends, top = top)
}
