# The normal law around which a walk turns (infer-walk.R). Warm-up learns it in two ways that make up for each other.
# The positions of the chains give a covariance, but slowly: with many terms it takes thousands of independent points.
# The density at every point that was tried, including refused ones, gives the bend of its logarithm: a regression on
# squares and products. It does not matter there that points follow each other, but it holds only where points were
# tried.

# The most points of a regression, as a multiple of its coefficients. With 42 terms, on the cohort adni_like, the log
# density of fresh draws was off by 5.7, 4.7, 3.7 and 3.5 (standard deviations) with 3, 6, 12 and 24.
tried_per_coefficient <- 24
# How strongly its coefficients are drawn towards 0: at first by this many points' worth, then by the distance of the
# points from the regression, if coefficients have this standard deviation.
first_ridge <- 20
coefficient_sd <- 0.2
# How much a regression may change the precision along any axis: it is easily too wide, and hardly ever too narrow.
least_bend <- 0.3
most_bend <- 10

# From the later half of warm-up so far, `recent`. Directions are those of the curvature at the start. The points say
# how wide the posterior is along each of them, for which few are enough. A covariance of their own takes many more
# points, and gets a larger share as they come.
#
# `recent` and `tried`: steps as step_points() reads them, of n chains; `axes`: eigen() of that curvature; `tried` may
# be NULL. Returns `centre`, `covariance` and the `points`, or NULL where there are too few.
walk_law <- function(recent, tried, axes, n) {
  size <- length(axes$values)
  points <- step_points(recent, n, size)$theta
  if (nrow(points) < 2 * size) return(NULL)
  away <- (points - rep(colMeans(points), each = nrow(points))) %*% axes$vectors
  # Steps follow each other, and more closely if there are more terms: this many make one independent point, for a width
  # and for a covariance.
  worth <- nrow(points) / (size * c(1.2, 5))
  width <- (5 * pmax(axes$values, 1e-10) + worth[1] * colMeans(away^2)) / (5 + worth[1])
  share <- worth[2] / (worth[2] + 5 * size)
  covariance <- share * stats::cov(points) + (1 - share) * axes$vectors %*% (width * t(axes$vectors))
  law <- list(centre = colMeans(points), covariance = covariance)
  if (!is.null(tried)) law <- density_law(step_points(tried, n, size), law$centre, covariance)
  c(law, list(points = points))
}

# Steps kept as c(positions, log_density), as `theta` [step and chain, size] in the order of steps, and `density`.
step_points <- function(steps, n, size) {
  all <- matrix(aperm(array(unlist(steps), c(n, size + 1L, length(steps))), c(1, 3, 2)), ncol = size + 1L)
  list(theta = all[, seq_len(size), drop = FALSE], density = all[, size + 1L])
}

# The normal law whose log density is nearest to that of the points tried, starting from a given law. The difference
# between the log density and that of the given law is regressed on 1, z and products of z, in the coordinates z in
# which the given law is standard normal. The newest points come first; points far down, or far out, say nothing about
# where the chains will be.
density_law <- function(tried, centre, covariance) {
  size <- length(centre)
  given <- list(centre = centre, covariance = covariance)
  factor <- chol(covariance)
  z <- (tried$theta - rep(centre, each = nrow(tried$theta))) %*% backsolve(factor, diag(size))
  distance <- rowSums(z^2)
  finite <- is.finite(tried$density)
  if (!any(finite)) return(given)
  near <- finite & distance < 4 * size & tried$density > max(tried$density[finite]) - stats::qchisq(0.999, size) / 2
  pairs <- which(upper.tri(diag(size), TRUE), arr.ind = TRUE)
  n_coefficients <- 1 + size + nrow(pairs)
  rows <- utils::tail(which(near), ceiling(tried_per_coefficient * n_coefficients))
  if (length(rows) < 2 * size) return(given)
  z <- z[rows, , drop = FALSE]
  features <- cbind(1, z, z[, pairs[, 1], drop = FALSE] * z[, pairs[, 2], drop = FALSE])
  above <- tried$density[rows] + distance[rows] / 2
  found <- ridge_by_errors(features, above)
  bend <- matrix(0, size, size)
  bend[pairs] <- found[-seq_len(size + 1)]
  parts <- eigen(diag(size) - bend - t(bend), symmetric = TRUE)
  narrower <- pmin(pmax(parts$values, least_bend), most_bend)
  inside <- parts$vectors %*% (t(parts$vectors) / narrower)
  shift <- drop(inside %*% found[1 + seq_len(size)])
  # No farther than half of the way to where most of the law's mass is.
  shift <- shift * min(1, sqrt(size) / 2 / sqrt(sum(shift^2)))
  list(centre = centre + drop(shift %*% factor), covariance = crossprod(factor, inside %*% factor))
}

# Ridge regression on features whose first is constant; after the first time the ridge comes from the last errors.
ridge_by_errors <- function(features, y, rounds = 3L) {
  inner <- crossprod(features)
  outer <- crossprod(features, y)
  ridge <- first_ridge
  for (round in seq_len(rounds)) {
    stiff <- inner
    diag(stiff)[-1] <- diag(stiff)[-1] + ridge
    found <- drop(solve(stiff, outer))
    ridge <- max(1e-6, mean((y - features %*% found)^2) / coefficient_sd^2)
  }
  found
}
