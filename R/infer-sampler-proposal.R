# What the sampler proposes, and how warm-up learns it. There are two moves, chosen at random without regard to where a
# chain is, so that each keeps the target:
#
#   walk         y = x + scale * multiple * F' z, z normal, F one of several
#                factors, whichever x: symmetric
#   independent  y from a mixture of t distributions, whatever x: its density
#                enters the acceptance ratio as log q(x) - log q(y)
#
# Where the mixture fits, independent draws cross a curved posterior in one step. Where it does not, the walk frees a
# chain, above all from the thin end of a bent posterior. The walk is now and then much shorter or longer, and has the
# shape of any of the mixture's components. Everything is kept per group: chains of one group learn together.
#
# A proposal is a plain list:
#   walk_factor  [size * size, shapes * groups]  Cholesky factors (upper) of the
#                walk's shapes: one, its diagonal's geometric mean 1, before there is
#                a mixture, then its components'
#   n_shapes     [groups]  how many of them are a group's own
#   mixture      NULL, or what stack_mixtures() returns
#   shear        NULL, or the coordinates in which all of the above is meant (infer-shear.R)

proposal_df <- 5
independent_share <- 0.7
most_components <- 10L
mixture_rounds <- 25L
most_points <- 4000L
# Components are made wider than the points require. Too few draws in a tail hold a chain there for long; too many cost
# one refusal each. On curved densities 1.3 gave the most effective draws, 1 and 1.6 fewer.
mixture_width <- 1.3
# The share of proposals that comes from a mixture of wide points, where there are any.
wide_share <- 0.2
wide_components <- 5L

initial_proposal <- function(size, n_groups) {
  list(walk_factor = matrix(diag(size), size * size, n_groups), n_shapes = rep(1L, n_groups), mixture = NULL,
       shear = NULL)
}

# 0.44 for one parameter, falling towards 0.25 for many: there a random walk on a normal density does best.
target_acceptance <- function(size) 0.25 + 0.19 / size

# The moves of a block of steps from its noise: `independent`, `plain` (walks of
# ordinary length), `log_uniform` and `log_mixture` (log density of an independent
# draw, else 0) are [chains, steps]; `shift` [chains * size, steps] is the draw
# itself, or the walk's step before it is scaled. `fixed`: nothing but a plain walk.
prepare_moves <- function(noise, proposal, group, fixed = FALSE) {
  n_chains <- length(group)
  n_steps <- ncol(noise$kind)
  size <- nrow(noise$normal) / n_chains
  share <- if (is.null(proposal$mixture)) 0 else independent_share
  independent <- noise$kind < share
  level <- (noise$kind - share) / (1 - share)
  multiple <- if (fixed) 1 else ifelse(level < 0.1, 0.1, ifelse(level < 0.2, 4, 1))
  every <- rep(group, n_steps)
  # Rows for chains and steps, and back again at the end.
  normal <- aperm(array(noise$normal, c(n_chains, size, n_steps)), c(1, 3, 2))
  dim(normal) <- c(n_chains * n_steps, size)
  n_shapes <- proposal$n_shapes[every]
  shape <- pmin(floor(as.vector(noise$component) * n_shapes) + 1, n_shapes) +
    ncol(proposal$walk_factor) / length(proposal$n_shapes) * (every - 1)
  shift <- if (fixed) normal else times_factors(normal, proposal$walk_factor, shape) * as.vector(multiple)
  log_mixture <- matrix(0, n_chains, n_steps)
  if (share > 0) {
    stretch <- sqrt(proposal$mixture$df / noise$chi_square)
    draws <- mixture_draw(proposal$mixture, normal, stretch, noise$component, every)
    shift[independent, ] <- draws[independent, ]
    log_mixture[independent] <-
      mixture_log_density(proposal$mixture, draws[independent, , drop = FALSE], every[independent])
  }
  dim(shift) <- c(n_chains, n_steps, size)
  shift <- aperm(shift, c(1, 3, 2))
  dim(shift) <- c(n_chains * size, n_steps)
  list(independent = independent, plain = !independent & multiple == 1, shift = shift,
       log_mixture = log_mixture, log_uniform = noise$log_uniform)
}

# Rows of z times the upper factor of their group, `factors` [size * size, groups].
times_factors <- function(z, factors, group) {
  size <- ncol(z)
  out <- z
  for (j in seq_len(size)) {
    out[, j] <- 0
    for (i in seq_len(j)) out[, j] <- out[, j] + z[, i] * factors[i + size * (j - 1), group]
  }
  out
}

# Mixtures of t distributions ------------------------------------------------
#
# A mixture is list(weight [k], mean [k, size], factor [size, size, k]) with the upper Cholesky factors of the scale
# matrices. stack_mixtures() lays the groups' mixtures side by side. It fills them up with components of weight 0, so
# that rows of any group are drawn and evaluated at once:
#   n_own       [groups]                        components without those filled up
#   cumulative  [components, groups]            of the weights
#   mean        [components * groups, size]
#   factor      [size * size, components * groups]
#   whiten      size matrices [size * components, groups]: row (i, k) of the jth is
#               entry (j, i) of the inverse factor of k, so that their sum over j,
#               times x_j, is the whitened x
#   centre      [size * components, groups]     the whitened mean
#   constant    [components, groups]            log weight - log determinant + ...

stack_mixtures <- function(mixtures, df = proposal_df) {
  size <- ncol(mixtures[[1]]$mean)
  n_own <- vapply(mixtures, function(m) length(m$weight), 1L)
  n_parts <- max(n_own)
  filled <- lapply(mixtures, function(m) {
    rows <- c(seq_along(m$weight), rep(1L, n_parts - length(m$weight)))
    list(weight = c(m$weight, numeric(n_parts - length(m$weight))), mean = m$mean[rows, , drop = FALSE],
         factor = m$factor[, , rows, drop = FALSE])
  })
  inverse <- lapply(filled, function(m) apply(m$factor, 3, backsolve, x = diag(size)))
  inverse <- array(unlist(inverse), c(size, size, n_parts, length(mixtures)))
  whiten <- lapply(seq_len(size), function(j) matrix(inverse[j, , , ], size * n_parts))
  mean <- do.call(rbind, lapply(filled, `[[`, "mean"))
  parts <- matrix(seq_len(nrow(mean)), n_parts)
  centre <- 0
  for (j in seq_len(size)) centre <- centre + whiten[[j]] * mean[rep(parts, each = size), j]
  volume <- vapply(filled, function(m) apply(m$factor, 3, function(f) prod(diag(f))), numeric(n_parts))
  weight <- vapply(filled, `[[`, numeric(n_parts), "weight")
  constant <- lgamma((df + size) / 2) - lgamma(df / 2) - size / 2 * log(df * pi)
  list(n_parts = n_parts, n_own = n_own, df = df,
       cumulative = matrix(apply(matrix(weight, n_parts), 2, cumsum), n_parts),
       mean = mean,
       factor = matrix(unlist(lapply(filled, `[[`, "factor")), size^2),
       whiten = whiten, centre = centre,
       constant = matrix(log(weight) - log(volume) + constant, n_parts))
}

# One draw per row, from normals [rows, size], a stretch (root of df over chi-square)
# and a uniform that chooses the component.
mixture_draw <- function(mixture, normal, stretch, uniform, group) {
  before <- mixture$cumulative[, group] < rep(as.vector(uniform), each = mixture$n_parts)
  part <- pmin(.colSums(before, mixture$n_parts, length(group)) + 1, mixture$n_parts)
  entry <- part + mixture$n_parts * (group - 1)
  mixture$mean[entry, , drop = FALSE] + as.vector(stretch) * times_factors(normal, mixture$factor, entry)
}

# Log densities of the rows of theta, each under its group's mixture. They are not shifted by the largest term before
# exp(), since t densities fall off too slowly to vanish.
mixture_log_density <- function(mixture, theta, group) {
  size <- ncol(theta)
  n_parts <- mixture$n_parts
  # With one group its numbers can be recycled instead of being copied for every row.
  of_rows <- if (ncol(mixture$centre) == 1L) as.vector else function(x) x[, group]
  z <- -of_rows(mixture$centre)
  for (j in seq_len(size)) z <- z + of_rows(mixture$whiten[[j]]) * rep(theta[, j], each = size * n_parts)
  distance <- .colSums(z * z, size, n_parts * length(group))
  term <- of_rows(mixture$constant) - (mixture$df + size) / 2 * log1p(distance / mixture$df)
  log(.colSums(exp(term), n_parts, length(group)))
}

# Learning ---------------------------------------------------------------------

# Cholesky factor of a covariance that is shrunk towards its diagonal, more so if it rests on fewer points, and scaled
# to determinant 1. `least` is a floor for the standard deviations. Chains that stood still repeat a point: only
# distinct points count.
walk_factor <- function(points, least) {
  size <- ncol(points)
  covariance <- stats::cov(points)
  diag(covariance) <- diag(covariance) + least^2
  n_distinct <- nrow(points) - sum(duplicated(points[, 1]))
  keep <- n_distinct / (n_distinct + size + 1)
  factor <- chol(keep * covariance + (1 - keep) * diag(diag(covariance), size))
  factor / exp(mean(log(diag(factor))))
}

# A mixture fitted to points [n, size] by EM with fixed degrees of freedom. It begins from clusters split along their
# longest axes, so it needs no random numbers, and works on whitened points. A few points' worth of scatter is added to
# each component, as it would have if the cloud were cut evenly, so that none collapses. The last component is wide and
# keeps its weight, so that no place is out of reach.
fit_mixture <- function(points, least, n_parts = most_components, rounds = mixture_rounds, df = proposal_df) {
  size <- ncol(points)
  points <- points[unique(round(seq(1, nrow(points), length.out = most_points))), , drop = FALSE]
  n_distinct <- nrow(points) - sum(duplicated(points[, 1]))
  n_parts <- max(1L, min(n_parts, n_distinct %/% (5L * (size + 1L))))
  covariance <- stats::cov(points)
  diag(covariance) <- diag(covariance) * (1 + 1e-6) + least^2
  whole <- chol(covariance)
  middle <- colMeans(points)
  z <- (points - rep(middle, each = nrow(points))) %*% backsolve(whole, diag(size))
  pairs <- which(upper.tri(diag(size), TRUE), arr.ind = TRUE)
  features <- cbind(1, z, z[, pairs[, 1]] * z[, pairs[, 2]])
  shares <- outer(split_points(z, n_parts), seq_len(n_parts), `==`) + 0
  fitted <- mixture_update(features, pairs, shares, shares, df)
  for (round in seq_len(rounds)) {
    inner <- mixture_terms(fitted, z, df)
    term <- exp(inner$term)
    shares <- term / rowSums(term)
    fitted <- mixture_update(features, pairs, shares, shares * (df + size) / (df + inner$distance), df)
  }
  wide <- 0.05
  factor <- array(c(fitted$factor, 3 * diag(size)), c(size, size, n_parts + 1L))
  list(weight = c((1 - wide) * fitted$weight, wide),
       mean = rbind(fitted$mean, 0) %*% whole + rep(middle, each = n_parts + 1L),
       factor = array(apply(factor, 3, `%*%`, whole), dim(factor)))
}

join_mixtures <- function(one, other, share) {
  size <- ncol(one$mean)
  n_parts <- length(one$weight) + length(other$weight)
  list(weight = c((1 - share) * one$weight, share * other$weight), mean = rbind(one$mean, other$mean),
       factor = array(c(one$factor, other$factor), c(size, size, n_parts)))
}

# Log of weight times density (up to a constant) and squared distances [n, parts].
mixture_terms <- function(mixture, z, df) {
  n_parts <- length(mixture$weight)
  size <- ncol(z)
  distance <- matrix(0, nrow(z), n_parts)
  log_volume <- numeric(n_parts)
  inverse <- apply(mixture$factor, 3, backsolve, x = diag(size))
  dim(inverse) <- c(size, size, n_parts)
  for (i in seq_len(size)) {
    toward <- matrix(inverse[, i, ], size)
    centre <- colSums(toward * t(mixture$mean))
    distance <- distance + (z %*% toward - rep(centre, each = nrow(z)))^2
    log_volume <- log_volume - log(toward[i, ])
  }
  term <- rep(log(mixture$weight) - log_volume, each = nrow(z)) - (df + size) / 2 * log1p(distance / df)
  list(term = term, distance = distance)
}

# Weights, means and factors from shares [n, parts] and the same weighted down for
# far points, all moments in one product with the features 1, z, z z'.
mixture_update <- function(features, pairs, shares, weights, df) {
  n_parts <- ncol(shares)
  size <- max(pairs)
  n <- colSums(shares) + 1e-8
  moments <- crossprod(weights, features)
  total <- moments[, 1] + 1e-8
  mean <- moments[, 1 + seq_len(size), drop = FALSE] / total
  even <- n_parts^(-2 / size)
  extra <- size + 2
  factor <- array(0, c(size, size, n_parts))
  scatter <- moments[, -seq_len(size + 1), drop = FALSE] - total * mean[, pairs[, 1]] * mean[, pairs[, 2]]
  for (k in seq_len(n_parts)) {
    inner <- diag(extra * even, size)
    inner[pairs] <- inner[pairs] + scatter[k, ]
    # chol() reads the upper triangle only.
    factor[, , k] <- chol(mixture_width * inner / (n[k] + extra))
  }
  list(weight = n / sum(n), mean = mean, factor = factor)
}

# Clusters 1, ..., n_parts: the one with the most scatter along an axis is cut across that axis.
split_points <- function(z, n_parts) {
  cluster <- rep(1L, nrow(z))
  axis <- list(longest_axis(z))
  while (length(axis) < n_parts) {
    scatter <- vapply(axis, `[[`, 1, "scatter")
    chosen <- which.max(scatter)
    inside <- which(cluster == chosen)
    beyond <- inside[axis[[chosen]]$score > 0]
    cluster[beyond] <- length(axis) + 1L
    axis[[length(axis) + 1L]] <- longest_axis(z[beyond, , drop = FALSE])
    axis[[chosen]] <- longest_axis(z[setdiff(inside, beyond), , drop = FALSE])
  }
  cluster
}

longest_axis <- function(z) {
  z <- z - rep(colMeans(z), each = nrow(z))
  score <- drop(z %*% eigen(crossprod(z), symmetric = TRUE)$vectors[, 1])
  list(score = score, scatter = sum(score^2))
}

# The same with the names of another object of its size.
named_as <- function(x, like) {
  dimnames(x) <- dimnames(like)
  x
}
