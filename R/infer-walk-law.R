# What a walk's turns are taken about (infer-walk.R): a normal law, learnt in warm-up in two ways that make up for each
# other. Where chains were gives a covariance, slowly: of many terms it takes thousands of independent points. What the
# density was at every point that was tried, refused ones as well, gives the bend of its logarithm, a regression on
# squares and products, which does not mind that points follow each other; but only where they were tried.

# Points of a regression, at most, in numbers of its coefficients. Of 42 terms, on the cohort adni_like, the log density
# of fresh draws was off by 5.7, 4.7, 3.7 and 3.5 (standard deviations) with 3, 6, 12 and 24.
tried_per_coefficient <- 24
# What its coefficients are drawn towards nought by: at first so many points' worth, then by how far the points are from
# it, coefficients being taken to have this standard deviation.
first_ridge <- 20
coefficient_sd <- 0.2
# How much a regression may change the precision along any axis: it is soon too wide, hardly ever too narrow.
least_bend <- 0.3
most_bend <- 10

# From the later half of warm-up so far, `recent`. Directions are those of the curvature at the start. How wide the
# posterior is along each of them the points say, which takes few; a covariance of their own takes many more, and gets a
# share as they come.
#
# `recent` and `tried`: steps as step_points() reads them, of n chains; `axes`: eigen() of that curvature; `tried` may
# be NULL. Returns `centre`, `covariance` and the `points`, or NULL where there are too few.
walk_law <- function(recent, tried, axes, n) {
  size <- length(axes$values)
  points <- step_points(recent, n, size)$theta
  if (nrow(points) < 2 * size) return(NULL)
  away <- (points - rep(colMeans(points), each = nrow(points))) %*% axes$vectors
  # Steps follow each other, the closer the more terms there are: so many make one independent point, for a width and
  # for a covariance.
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

# The normal law whose log density is nearest to that of the points tried, beside the one that is given: what the
# logarithm has over that one's is regressed on 1, z and products of z, in the coordinates z in which that one is
# standard normal. Newest points first; those far down, or far out, say nothing about where the chains will be.
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

# Ridge regression on features whose first is constant; after the first time with a ridge by the errors of the last.
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
