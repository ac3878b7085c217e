# Dynamics and agents together: one posterior from what was seen and what was done (spec: p(D, theta | x, u)). The laws
# of an IOHMM are terms (infer-dynamics.R), and so are those of every group's agent; one set of chains has them all.

# What a sampler asks: evaluate_joint() of infer-evaluator.R. `tree`: the visits that the dynamics were learned from.
joint_evaluator <- function(inverse, tree, n_chains, cores, likelihood = TRUE) {
  agent <- inverse_evaluator(inverse, cores = cores)
  codec <- prepared_codec(inverse$recipe$codec)
  n_groups <- length(inverse$histories)
  list(joint = list(codec = codec, tree = tree, n_groups = n_groups), agent = agent,
       prior = joint_prior(codec, inverse$prior, levels(inverse$group)), group = rep(1L, n_chains), cores = cores,
       likelihood = likelihood, n_values = agent$n_values * n_groups)
}

# All terms, those of agents called by their group where there are several.
joint_prior <- function(codec, prior, groups) {
  agents <- lapply(groups, function(group) {
    lapply(unclass(prior), function(entry) {
      if (are_groups(groups)) entry$term <- paste0(entry$term, "[", group, "]")
      entry
    })
  })
  new_ibrc_prior(unname(c(unclass(codec$prior), unlist(agents, recursive = FALSE))))
}

# The visits that dynamics were learned from, as kernels read them.
dynamics_tree <- function(iohmm) {
  need_visits(iohmm, "uncertainty = \"joint\"", "dynamics")
  iohmm_tree(without_open_ends(iohmm$coded), iohmm)
}

# ---- the top -------------------------------------------------------------------------------------------------------

# Where chains start, and how wide the posterior is there. Agents climb first, under the dynamics that were learned
# without them; then all terms together, up the joint density, by slopes taken from differences in one batch.
joint_top <- function(evaluator, inverse, streams, each_step = NULL) {
  codec <- evaluator$joint$codec
  n_groups <- evaluator$joint$n_groups
  held <- inverse
  # Their tables are built once.
  held["recipe"] <- list(if (length(inverse$recipe$inferred)) inverse$recipe)
  agent <- inverse_evaluator(held, cores = evaluator$cores)
  tops <- lapply(seq_len(n_groups), function(g) {
    pool <- with_stream(streams[[g]], prior_draw(inverse$prior, 32))
    top <- find_top(new_surface(agent, g, with_prior = TRUE), pool, 4)
    if (is.null(top)) {
      abort_input("prior", "gives no agent that could have done what was done, in 32 draws: state one nearer to it.")
    }
    top$theta
  })
  climb_jointly(evaluator, c(stats::qlogis(codec$estimate), unlist(tops)), each_step)
}

joint_density <- function(evaluator) {
  last <- NULL
  list(
    at = function(theta) {
      if (is.null(last)) last <<- numeric(evaluator$n_values)
      found <- evaluate_joint(evaluator, theta, matrix(last, length(last), nrow(theta)))
      total <- found$log_prior + found$log_likelihood
      if (is.finite(total[1])) last <<- found$value[, 1]
      total
    }
  )
}

# Central differences in all directions, some at a time so that an interrupt is answered.
joint_slope <- function(density, theta, step = 1e-4) {
  size <- length(theta)
  at <- function(sign) matrix(theta, size, size, byrow = TRUE) + sign * step * diag(size)
  points <- rbind(theta, at(1), at(-1))
  found <- density$at(points)
  out <- (found[1 + seq_len(size)] - found[1 + size + seq_len(size)]) / (2 * step)
  out[!is.finite(out)] <- 0
  list(density = found[1], slope = out)
}

climb_jointly <- function(evaluator, theta, each_step = NULL, rounds = 150) {
  density <- joint_density(evaluator)
  # A posterior of few numbers is not worth a line search of its own: optim() has one, and the slopes are ours.
  memory <- new.env()
  slope_at <- function(x) {
    if (!identical(memory$x, x)) {
      memory$found <- joint_slope(density, x)
      memory$x <- x
      if (!is.null(each_step)) each_step(memory$found$density)
    }
    memory$found
  }
  worth <- function(x) {
    if (max(abs(x)) > 500) return(1e10)
    value <- density$at(rbind(x))
    if (is.finite(value)) -value else 1e10
  }
  found <- stats::optim(theta, worth, function(x) -slope_at(x)$slope, method = "BFGS",
                        control = list(maxit = rounds, reltol = 1e-6, parscale = joint_widths(density, theta)))
  list(theta = found$par, density = -found$value, covariance = joint_covariance(density, found$par))
}

# Directions in which the density hardly bends are given a standard deviation of 2 at most.
least_curvature <- 0.25

# How wide the density is along each term, by its bend there.
joint_widths <- function(density, theta, step = 0.02) {
  size <- length(theta)
  move <- step * diag(size)
  found <- density$at(rbind(theta, matrix(theta, size, size, byrow = TRUE) + move,
                            matrix(theta, size, size, byrow = TRUE) - move))
  bend <- (2 * found[1] - found[1 + seq_len(size)] - found[1 + size + seq_len(size)]) / step^2
  bend[!is.finite(bend)] <- least_curvature
  1 / sqrt(pmax(bend, least_curvature))
}

# The inverse of the curvature at the top, by second differences in steps of half a width: what the density does where
# most of its mass is counts, rather than what it does at the very top.
joint_covariance <- function(density, theta) {
  size <- length(theta)
  step <- joint_widths(density, theta) / 2
  pairs <- which(upper.tri(diag(size)), arr.ind = TRUE)
  moves <- rbind(diag(size), outer(seq_len(nrow(pairs)), seq_len(size), function(k, i) {
    (pairs[k, 1] == i) + (pairs[k, 2] == i)
  })) * rep(step, each = size + nrow(pairs))
  both <- density_pairs(density, theta, moves)
  single <- both[seq_len(size)]
  bend <- diag(single, size)
  bend[pairs] <- (both[-seq_len(size)] - single[pairs[, 1]] - single[pairs[, 2]]) / 2
  bend[lower.tri(bend)] <- t(bend)[lower.tri(bend)]
  bend[!is.finite(bend)] <- 0
  parts <- eigen(-bend / outer(step, step), symmetric = TRUE)
  parts$vectors %*% (t(parts$vectors) / pmax(parts$values, least_curvature))
}

# The density at theta + move and theta - move, less twice that at theta, for each row; some at a time, so that an
# interrupt is answered and memory is not asked for much.
density_pairs <- function(density, theta, moves, at_once = 64L) {
  top <- density$at(rbind(theta))
  rows <- split(seq_len(nrow(moves)), (seq_len(nrow(moves)) - 1L) %/% at_once)
  unlist(lapply(rows, function(some) {
    about <- matrix(theta, length(some), length(theta), byrow = TRUE)
    move <- moves[some, , drop = FALSE]
    found <- density$at(rbind(theta, about + move, about - move))[-1]
    found[seq_along(some)] + found[length(some) + seq_along(some)] - 2 * top
  }), use.names = FALSE)
}

# Chains begin about the top, as far apart as the curvature says the posterior is wide.
joint_start <- function(evaluator, top, n, stream) {
  size <- length(top$theta)
  factor <- chol(top$covariance)
  theta <- with_stream(stream, matrix(top$theta, n, size, byrow = TRUE) + matrix(stats::rnorm(n * size), n) %*% factor)
  value <- matrix(0, evaluator$n_values, n)
  found <- evaluate_joint(evaluator, theta, value)
  # Nearer to the top where a step led outside of what is possible, or far down.
  for (try in 1:20) {
    bad <- which(!(found$log_prior + found$log_likelihood > top$density - 5 * size))
    if (!length(bad)) break
    theta[bad, ] <- (theta[bad, ] + rep(top$theta, each = length(bad))) / 2
    again <- evaluate_joint(evaluator, theta[bad, , drop = FALSE], value[, bad, drop = FALSE])
    found$log_prior[bad] <- again$log_prior
    found$log_likelihood[bad] <- again$log_likelihood
    found$value[, bad] <- again$value
  }
  colnames(theta) <- names(evaluator$prior)
  list(theta = theta, log_density = cbind(found$log_prior, found$log_likelihood), value = found$value)
}
