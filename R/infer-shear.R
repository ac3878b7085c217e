# A change of coordinates that straightens a bent posterior, learnt in warm-up. With prices free, optimism and alpha
# often follow eta along a line, and the sampler works on log eta, where that line is a curve. One term, the driver,
# moves the others by amounts that depend on it alone:
#
#   straight_i = x_i - (a_i t + b_i exp(sign (t - centre))),   t = x_driver,   straight_driver = x_driver
#
# Volumes do not change (the Jacobian is 1), so proposals made in straight coordinates need no correction. Beyond `most`
# the exponential is held constant, so that nothing diverges far out.
#
# A shear is a plain list, one entry or column per group; a group without a bend has coefficients 0:
#   driver, sign, centre, most   [groups]
#   along, bend                  [size, groups]  a and b

# A bend is worth it if the others are explained better by this much, in log units of their variances together.
least_gain <- 0.3
# How far beyond the points, on the driver's scale, the exponential continues.
beyond_points <- 2

no_shear <- function(size) {
  list(driver = 1L, sign = 1, centre = 0, most = 0, along = numeric(size), bend = numeric(size))
}

# From points [n, size]: the driver and the sign, of all drivers and both signs, that explain the others best.
learn_shear <- function(points) {
  size <- ncol(points)
  best <- no_shear(size)
  best$gain <- least_gain
  if (size < 2 || nrow(points) < 20 * size) return(best)
  for (driver in seq_len(size)) {
    t <- points[, driver]
    others <- points[, -driver, drop = FALSE]
    spread <- stats::sd(t)
    if (!is.finite(spread) || spread < 1e-8) next
    straight <- residual_variances(cbind(1, t), others)
    for (sign in c(1, -1)) {
      centre <- if (sign > 0) max(t) else min(t)
      fitted <- stats::lm.fit(cbind(1, t, exp(sign * (t - centre))), others)
      if (fitted$rank < 3) next
      left <- colMeans(as.matrix(fitted$residuals)^2)
      gain <- sum(log(straight) - log(pmax(left, straight * 1e-6)))
      if (!is.finite(gain) || gain <= best$gain) next
      coefficients <- as.matrix(fitted$coefficients)
      best <- no_shear(size)
      best[c("driver", "sign", "centre", "most", "gain")] <- list(driver, sign, centre, beyond_points, gain)
      best$along[-driver] <- coefficients[2, ]
      best$bend[-driver] <- coefficients[3, ]
    }
  }
  best
}

residual_variances <- function(basis, y) {
  pmax(colMeans(as.matrix(stats::lm.fit(basis, y)$residuals)^2), 1e-300)
}

# The shears of the groups side by side; NULL where none bends.
stack_shears <- function(shears) {
  if (!any(vapply(shears, function(shear) any(shear$bend != 0), NA))) return(NULL)
  part <- function(name) vapply(shears, function(shear) as.double(shear[[name]]), 0)
  list(driver = as.integer(part("driver")), sign = part("sign"), centre = part("centre"), most = part("most"),
       along = matrix(unlist(lapply(shears, `[[`, "along")), ncol = length(shears)),
       bend = matrix(unlist(lapply(shears, `[[`, "bend")), ncol = length(shears)))
}

# By how much the driver moves the others, [row, size].
shear_shift <- function(shear, theta, group) {
  t <- theta[cbind(seq_along(group), shear$driver[group])]
  exponential <- exp(pmin(shear$sign[group] * (t - shear$centre[group]), shear$most[group]))
  t * t.default(shear$along[, group, drop = FALSE]) + exponential * t.default(shear$bend[, group, drop = FALSE])
}

straighten <- function(shear, theta, group) {
  if (is.null(shear)) theta else theta - shear_shift(shear, theta, group)
}

bend_back <- function(shear, theta, group) {
  if (is.null(shear)) theta else theta + shear_shift(shear, theta, group)
}

# The mixture of group `g` in straight coordinates: fitted to its points and, for a share, to their wide ones.
straight_mixture <- function(shear, g, points, wide, least, rounds = mixture_rounds) {
  own <- function(x) straighten(shear, x, rep(g, nrow(x)))
  mixture <- fit_mixture(own(points), least, rounds = rounds)
  if (is.null(wide)) return(mixture)
  join_mixtures(mixture, fit_mixture(own(wide), least, wide_components, rounds), wide_share)
}
