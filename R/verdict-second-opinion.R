# A second opinion on a posterior, which takes nothing from the chains except where to begin. It walks along the ridges
# of the density, one term at a time and in both directions, and then takes weighted draws from a mixture that lies
# along those walks (importance sampling). Chains that never went into a long tail agree with each other, but not with
# this.
#
# `surface`: as in mode-search.R, with the prior. Everything is on the sampler's scale.

# How far below the top a walk goes, and how it steps.
walk_depth <- 7
walk_steps <- 40
opinion_df <- 5

# Weighted draws: `draws` [draw, term], `weight` (sum 1), `ess`, how many independent draws they are worth, and the
# `top` of the density. NULL where no point has a density.
second_opinion <- function(surface, pool, stream, n = 1000) {
  top <- find_top(surface, pool, min(4, nrow(pool)))
  if (is.null(top)) return(NULL)
  for (try in 1:3) {
    shape <- conditional_shape(surface, top$theta, seq_along(top$theta), pmin(surface$spread, 1))
    walks <- lapply(seq_along(top$theta), function(j) walk_term(surface, top, shape, j))
    height <- unlist(lapply(walks, `[[`, "density"))
    if (max(height) <= top$density + 0.05) break
    top <- climb(surface, do.call(rbind, lapply(walks, `[[`, "theta"))[which.max(height), ])
  }
  with_stream(stream, weighted_draws(surface, walk_mixture(walks, top), top, n))
}

# From the mixture. If that leaves too few draws with a weight, the mixture is widened around those that have one, and
# all is drawn again.
weighted_draws <- function(surface, mixture, top, n, rounds = 3) {
  for (round in seq_len(rounds)) {
    draws <- draw_mixture_of_walks(mixture, n)
    log_weight <- surface$density(draws) - log_density_of_walks(mixture, draws)
    weight <- exp(log_weight - max(log_weight))
    weight <- weight / sum(weight)
    ess <- 1 / sum(weight^2)
    if (ess >= n / 5 || round == rounds) break
    mixture <- widen_mixture(mixture, draws, weight)
  }
  list(draws = draws, weight = weight, top = top, ess = ess)
}

# Half of the mass goes to components around the draws that count most.
widen_mixture <- function(mixture, draws, weight, n_new = 40) {
  flat <- weight^0.75 / sum(weight^0.75)
  centre <- draws[sample.int(nrow(draws), n_new, replace = TRUE, prob = flat), , drop = FALSE]
  factor <- t(chol(stats::cov.wt(draws, flat)$cov + diag(1e-10, ncol(draws))))
  list(centre = rbind(mixture$centre, centre), factors = c(mixture$factors, rep(list(0.6 * factor), n_new)),
       share = c(mixture$share / 2, rep(0.5 / n_new, n_new)))
}

# The maximum of the density in the terms `free`, from `at` and near it, and the covariance that its curvature there
# implies: Newton steps, by differences over the range that matters. `scale`: a guess of the standard deviations of the
# free terms, given the others.
conditional_shape <- function(surface, at, free, scale, rounds = 4) {
  here <- list(theta = at, density = surface$density(rbind(at)), cov = diag(scale^2, length(free)))
  if (!length(free)) return(here)
  for (round in seq_len(rounds)) {
    local <- local_quadratic(surface, here$theta, free, scale)
    if (!is.finite(local$density)) break
    cov <- inverse_curvature(local$bend, scale)
    move <- as.vector(cov %*% local$slope)
    length <- sqrt(sum(move^2 / diag(cov)))
    if (length > 2) move <- move * 2 / length
    # Half a step, or a quarter, where a whole one goes down.
    tries <- matrix(here$theta, 3, length(at), byrow = TRUE)
    tries[, free] <- tries[, free] + outer(c(1, 0.5, 0.25), move)
    height <- surface$density(tries)
    best <- which.max(height)
    scale <- pmin(pmax(sqrt(diag(cov)), 0.2 * scale), 5 * scale)
    here$cov <- cov
    if (height[best] <= local$density) {
      here$density <- local$density
      if (length < 0.5) break
      scale <- scale / 2
      next
    }
    gain <- height[best] - local$density
    here[c("theta", "density")] <- list(tries[best, ], height[best])
    if (gain < 0.02) break
  }
  here
}

# Slope and bend of the density in the free terms, by steps of half a standard deviation.
local_quadratic <- function(surface, at, free, scale) {
  n <- length(free)
  step <- 0.5 * scale
  pairs <- which(upper.tri(diag(n)), arr.ind = TRUE)
  both <- moved(at, free[pairs[, 1]], step[pairs[, 1]])
  second <- cbind(seq_len(nrow(pairs)), free[pairs[, 2]])
  both[second] <- both[second] + step[pairs[, 2]]
  opposite <- 2 * rep(at, each = nrow(both)) - both
  density <- surface$density(rbind(at, moved(at, free, step), moved(at, free, -step), both, opposite))
  up <- density[1 + seq_len(n)]
  down <- density[1 + n + seq_len(n)]
  around <- up + down - 2 * density[1]
  bend <- diag(around / step^2, n)
  corners <- matrix(density[-seq_len(1 + 2 * n)], ncol = 2)
  cross <- rowSums(corners) - 2 * density[1] - around[pairs[, 1]] - around[pairs[, 2]]
  bend[pairs] <- cross / (2 * step[pairs[, 1]] * step[pairs[, 2]])
  bend[pairs[, 2:1, drop = FALSE]] <- bend[pairs]
  slope <- (up - down) / (2 * step)
  slope[!is.finite(slope)] <- 0
  bend[!is.finite(bend)] <- 0
  list(density = density[1], slope = slope, bend = bend)
}

# The covariance of a normal density with this bend; directions that do not bend down get twice the guessed spread.
inverse_curvature <- function(bend, scale) {
  scaled <- eigen(bend * outer(scale, scale), symmetric = TRUE)
  value <- pmin(1 / pmax(-scaled$values, 0.25), 4)
  half <- scaled$vectors * rep(sqrt(value), each = length(scale)) * scale
  tcrossprod(half)
}

# Conditional maxima as one term goes down and up from the top: theta [point, term], density, the width that each point
# represents, the covariance of the other terms there and how they move with the term.
walk_term <- function(surface, top, shape, j) {
  others <- seq_along(top$theta)[-j]
  sides <- lapply(c(-1, 1), function(side) walk_side(surface, top, shape, j, others, side))
  points <- c(rev(sides[[1]][-1]), sides[[2]])
  theta <- do.call(rbind, lapply(points, `[[`, "theta"))
  at <- theta[, j]
  between <- diff(at)
  width <- if (length(at) > 1) (c(between[1], between) + c(between, between[length(between)])) / 2 else
    sqrt(shape$cov[j, j])
  slope <- lapply(seq_along(points), function(k) {
    near <- c(max(1, k - 1), min(nrow(theta), k + 1))
    if (near[1] == near[2]) return(numeric(length(others)))
    (theta[near[2], others] - theta[near[1], others]) / (at[near[2]] - at[near[1]])
  })
  list(term = j, others = others, theta = theta, density = vapply(points, `[[`, 0, "density"), width = width,
       slope = slope, cov = lapply(points, `[[`, "cov"))
}

walk_side <- function(surface, top, shape, j, others, side) {
  limit <- surface$limits[if (side < 0) 1 else 2, j]
  scale <- conditional_scale(shape$cov, others)
  start <- conditional_shape(surface, top$theta, others, scale, rounds = 1)
  start[c("theta", "density")] <- top[c("theta", "density")]
  points <- list(start)
  slope <- if (length(others)) shape$cov[others, j] / shape$cov[j, j] else numeric()
  step <- 0.5 * min(sqrt(shape$cov[j, j]), surface$spread[j])
  for (k in seq_len(walk_steps)) {
    last <- points[[length(points)]]
    to <- last$theta[j] + side * step
    if (side * to >= side * limit) break
    guess <- last$theta
    guess[j] <- to
    guess[others] <- guess[others] + slope * side * step
    if (surface$density(rbind(guess)) == -Inf) guess[others] <- last$theta[others]
    found <- conditional_shape(surface, guess, others, sqrt(diag(last$cov)))
    if (found$density == -Inf) break
    fall <- last$density - found$density
    points[[length(points) + 1]] <- found
    if (top$density - found$density > walk_depth) break
    slope <- (found$theta[others] - last$theta[others]) / (found$theta[j] - last$theta[j])
    if (fall < 0.4) step <- 1.6 * step else if (fall > 1.5) step <- 0.6 * step
  }
  points
}

# Standard deviations of some terms given the rest.
conditional_scale <- function(cov, terms) {
  if (!length(terms)) return(numeric())
  1 / sqrt(diag(solve(cov))[terms])
}

# One component per point of a walk: along the walk as wide as the point represents, across it as wide as the density
# there. A root is taken of their masses, so that tails are drawn often.
walk_mixture <- function(walks, top) {
  parts <- lapply(walks, function(walk) {
    size <- ncol(walk$theta)
    factors <- lapply(seq_len(nrow(walk$theta)), function(k) {
      factor <- matrix(0, size, size)
      factor[walk$term, 1] <- 1.2 * walk$width[k]
      factor[walk$others, 1] <- 1.2 * walk$width[k] * walk$slope[[k]]
      if (size > 1) factor[walk$others, -1] <- t(chol(walk$cov[[k]]))
      factor
    })
    log_mass <- walk$density - top$density + vapply(factors, function(f) determinant(f)$modulus[1], 0)
    share <- exp(0.7 * (log_mass - max(log_mass)))
    list(centre = walk$theta, factors = factors, share = share / sum(share) / length(walks))
  })
  list(centre = do.call(rbind, lapply(parts, `[[`, "centre")),
       factors = unlist(lapply(parts, `[[`, "factors"), recursive = FALSE),
       share = unlist(lapply(parts, `[[`, "share")))
}

draw_mixture_of_walks <- function(mixture, n) {
  size <- ncol(mixture$centre)
  # The number from each is proportional to its share: less noise than choosing at random.
  from <- findInterval((seq_len(n) - stats::runif(1)) / n, cumsum(mixture$share)) + 1L
  from <- pmin(from, length(mixture$share))
  noise <- matrix(stats::rnorm(n * size), n) * sqrt(opinion_df / stats::rchisq(n, opinion_df))
  moved <- vapply(seq_len(n), function(i) as.vector(mixture$factors[[from[i]]] %*% noise[i, ]), numeric(size))
  mixture$centre[from, , drop = FALSE] + t(matrix(moved, size))
}

log_density_of_walks <- function(mixture, points) {
  size <- ncol(points)
  log_part <- vapply(seq_along(mixture$share), function(k) {
    factor <- mixture$factors[[k]]
    away <- solve(factor, t(points) - mixture$centre[k, ])
    log(mixture$share[k]) - determinant(factor)$modulus[1] -
      (opinion_df + size) / 2 * log1p(colSums(away^2) / opinion_df)
  }, numeric(nrow(points)))
  log_part <- matrix(log_part, nrow(points))
  most <- apply(log_part, 1, max)
  most + log(rowSums(exp(log_part - most)))
}

# Quantiles of weighted draws.
weighted_quantile <- function(x, weight, p) {
  order_in <- order(x)
  reached <- cumsum(weight[order_in]) - weight[order_in] / 2
  stats::approx(reached, x[order_in], p, rule = 2, ties = "ordered")$y
}
