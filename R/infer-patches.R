# Patches: places that the mixture of scouts covers too thinly. A mixture that is fitted to some hundreds of points has
# no component of its own for a small top or a thin ridge at the side. Chains seldom propose to go there, and stay for
# long once they are there: runs look settled that have hardly been there. Draws from the mixture show such places by
# their weight, the posterior density over the mixture's. A component is put around the heaviest draw, points are drawn
# from it, and all are weighed again, until none is heavy (incremental mixture importance sampling, Raftery and Bao
# 2010).

# A draw is heavy if it weighs this many times the mean: with a mixture that fits, one in thousands weighs 5.
heavy <- 6
most_patches <- 12L
# After this many rounds without a heavy draw nothing is left to patch.
quiet_rounds <- 3L
# Draws from a patch, as a share of the scouts, and draws for its shape, as a multiple of a component's numbers.
patch_draws <- 0.25
patch_neighbours <- 5L
# The share of all proposals that comes from each patch, and the largest share that comes from all of them.
patch_share <- c(each = 0.05, all = 0.3)

# `here` and `wide`: scouts at the end and at the wide weight, as in scout(); `rounds` of fitting. Returns the patches,
# each given by points on the sampler's own scale (patch_points()), one below the other, and how many evaluations they
# took.
find_patches <- function(density, here, wide, stream, rounds, least = 1e-4) {
  n <- nrow(here$theta)
  size <- ncol(here$theta)
  shear <- stack_shears(list(learn_shear(rbind(here$theta, wide$theta))))
  mixture <- straight_mixture(shear, 1L, here$theta, wide$theta, least, rounds)
  # Places where scouts have been may be heavy as well; only draws say how heavy is usual.
  pool <- join_pools(scouts_pool(here, shear), scouts_pool(wide, shear))
  n_scouts <- nrow(pool$straight)
  top <- max(pool$log_density)
  more <- max(1L, round(patch_draws * n))
  most <- min(most_patches, n %/% (2L * size + 1L))
  part <- mixture
  found <- list()
  quiet <- 0L
  repeat {
    noise <- draw_noise(list(stream), if (length(found)) more else n, size, proposal_df)
    stream <- noise$streams[[1]]
    pool <- join_pools(pool, drawn_pool(density, here, part, shear, noise))
    drawn <- nrow(pool$straight) - n_scouts
    if (length(found) == most) break
    own <- rep(1L, nrow(pool$straight))
    weight <- exp(pool$log_density - top - mixture_log_density(stack_mixtures(list(mixture)), pool$straight, own))
    weight <- weight / mean(utils::tail(weight, drawn))
    if (is.finite(max(weight)) && max(weight) >= heavy) {
      part <- patch_around(pool$straight, weight, least)
      found[[length(found) + 1L]] <- patch_points(part, shear)
      quiet <- 0L
    } else {
      # Once more from all patches, before they are accepted as enough.
      quiet <- quiet + 1L
      if (!length(found) || quiet == quiet_rounds) break
      part <- patch_mixture(do.call(rbind, found), shear, 1L, least)
    }
    mixture <- join_mixtures(mixture, part, more / (drawn + more))
  }
  list(points = do.call(rbind, found), evaluations = drawn)
}

scouts_pool <- function(scouts, shear) {
  list(straight = straighten(shear, unname(scouts$theta), rep(1L, nrow(scouts$theta))),
       log_density = scouts$log_prior + scouts$log_likelihood)
}

# Draws from a mixture in straight coordinates, and their posterior densities.
drawn_pool <- function(density, here, part, shear, noise) {
  n <- length(noise$component)
  own <- rep(1L, n)
  part <- stack_mixtures(list(part))
  straight <- mixture_draw(part, t.default(noise$normal), sqrt(part$df / as.vector(noise$chi_square)), noise$component,
                           own)
  theta <- named_as(bend_back(shear, straight, own), here$theta)
  there <- density(theta, here$value[, rep_len(seq_len(ncol(here$value)), n), drop = FALSE])
  list(straight = straight, log_density = there$log_prior + there$log_likelihood)
}

join_pools <- function(one, other) {
  list(straight = rbind(one$straight, other$straight), log_density = c(one$log_density, other$log_density))
}

# A component around the heaviest draw, in the shape of the draws next to it: half by weight, half with equal weights.
patch_around <- function(straight, weight, least) {
  size <- ncol(straight)
  centre <- straight[which.max(weight), ]
  whole <- chol(stats::cov(straight) + diag(least^2, size))
  away <- straight - rep(centre, each = nrow(straight))
  near <- order(rowSums((away %*% backsolve(whole, diag(size)))^2))
  near <- near[seq_len(min(length(near), patch_neighbours * (size + 1L)))]
  share <- weight[near] / sum(weight[near]) / 2 + 1 / (2 * length(near))
  scatter <- crossprod(away[near, , drop = FALSE] * sqrt(share)) + diag(least^2, size)
  list(weight = 1, mean = matrix(centre, 1), factor = array(chol(scatter), c(size, size, 1L)))
}

# A component given by its middle and one step to either side along each row of its factor, on the sampler's own scale.
# The shear may change: patch_mixture() makes the component again in the new one, except for the bend within a step.
patch_points <- function(part, shear) {
  factor <- part$factor[, , 1]
  dim(factor) <- rep(ncol(part$mean), 2)
  points <- rbind(0, factor, -factor) + rep(part$mean, each = 2 * nrow(factor) + 1)
  bend_back(shear, points, rep(1L, nrow(points)))
}

# What find_patches() found, as a mixture in the straight coordinates of group `g`. NULL where there is none.
patch_mixture <- function(points, shear, g, least) {
  if (is.null(points) || nrow(points) == 0) return(NULL)
  size <- ncol(points)
  rows <- 2L * size + 1L
  straight <- straighten(shear, points, rep(g, nrow(points)))
  n <- nrow(points) %/% rows
  factor <- vapply(seq_len(n), function(k) {
    one <- straight[(k - 1L) * rows + seq_len(rows), , drop = FALSE]
    half <- (one[1L + seq_len(size), , drop = FALSE] - one[1L + size + seq_len(size), , drop = FALSE]) / 2
    chol(crossprod(half) + diag(least^2, size))
  }, matrix(0, size, size))
  list(weight = rep(1 / n, n), mean = straight[(seq_len(n) - 1L) * rows + 1L, , drop = FALSE],
       factor = array(factor, c(size, size, n)))
}

# A mixture of proposals with its patches.
with_patches <- function(mixture, patches) {
  if (is.null(patches)) return(mixture)
  join_mixtures(mixture, patches, min(patch_share[["all"]], patch_share[["each"]] * length(patches$weight)))
}
