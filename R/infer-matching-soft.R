# Soft policy matching where the state is seen and only the utility is free: U = base + sum of weights times features.
# The policy is the softmax of Q / alpha times an action prior, where Q is soft (KL-regularised: with features this is
# maximum causal entropy) or hard (an optimal planner whose choices are noisy).
#
# With G = dV/dweights, (I - discount P) G = sum_u pi(u|s) features(s, u), every derivative of the log-likelihood
# follows. Its second derivative is that of the soft policy's own spread at each state, added up with the weights m of
# (I - discount P') m = d, where d is the amount by which the counts miss the flow. If the counts are occupancies of a
# policy, -m are the occupancies of the imitator, and at the top both have the same expected features.

# Without transitions nothing comes later. Then the "states" may be any places, and this is a multinomial regression.
#
# `features` [pair, feature]; `base` [state, action]; counts [state, action]; `penalty`: NULL, or mean and sd of normal
# priors. The search uses weights in units of alpha, and features of size 1: `unit` turns them back.
soft_task <- function(markov, features, base, counts, alpha, prior, hard, penalty = NULL) {
  size <- apply(abs(features), 2, max)
  size[size == 0] <- 1
  unit <- alpha / size
  if (!is.null(penalty)) penalty <- list(mean = penalty$mean / unit, sd = penalty$sd / unit)
  list(markov = markov, features = features * rep(1 / size, each = nrow(features)), base = base / alpha,
       counts = counts, prior = markov_prior(markov, prior), hard = hard, penalty = penalty, unit = unit)
}

# Everything that is needed at one vector of weights.
soft_at <- function(weights, task, slopes = TRUE) {
  markov <- task$markov
  utility <- task$base + matrix(task$features %*% weights, markov$n_states)
  solved <- soft_solved(utility, task)
  choice <- soft_choice(solved$action_value, 1, task$prior)
  log_policy <- solved$action_value - choice$value + rep(log(task$prior), each = markov$n_states)
  out <- list(weights = weights, log_lik = counted_log_lik(log_policy, task$counts), policy = choice$policy,
              log_policy = log_policy)
  out$height <- out$log_lik
  if (!is.null(task$penalty)) {
    out$height <- out$height - sum((weights - task$penalty$mean)^2 / task$penalty$sd^2) / 2
  }
  if (slopes) soft_slopes(out, task, solved$policy) else out
}

soft_solved <- function(utility, task) {
  if (is.null(task$markov$transition)) return(list(action_value = utility))
  if (task$hard) return(markov_hard(task$markov, utility, task$prior))
  markov_soft(task$markov, 1, task$prior, utility)
}

# `ahead`: the policy that the planner follows later, its own where Q is soft.
soft_slopes <- function(out, task, ahead) {
  markov <- task$markov
  n <- markov$n_states
  flat <- is.null(markov$transition)
  of_action <- function(u) task$features[(u - 1) * n + seq_len(n), , drop = FALSE]
  mixed <- function(policy, parts) Reduce(`+`, lapply(seq_len(markov$n_actions), function(u) policy[, u] * parts(u)))
  if (!flat) {
    chain <- as.matrix(markov_chain(markov, ahead))
    later <- solve(diag(n) - markov$discount * chain, mixed(ahead, of_action))
  }
  worth <- lapply(seq_len(markov$n_actions), function(u) {
    of_action(u) + if (flat) 0 else markov$discount * as.matrix(markov$transition[[u]] %*% later)
  })
  average <- mixed(out$policy, function(u) worth[[u]])
  slope <- do.call(rbind, lapply(worth, function(part) part - average))
  spread <- function(weight) crossprod(slope, rep(weight, markov$n_actions) * as.vector(out$policy) * slope)
  met <- rowSums(task$counts)
  out$gradient <- crossprod(slope, as.vector(task$counts))[, 1]
  out$information <- spread(met)
  out$bend <- if (task$hard || flat) out$information else -spread(flow_weights(task, chain))
  if (!is.null(task$penalty)) {
    out$gradient <- out$gradient - (out$weights - task$penalty$mean) / task$penalty$sd^2
    out$bend <- out$bend + diag(task$penalty$sd^-2, length(out$weights))
  }
  out
}

flow_weights <- function(task, chain) {
  markov <- task$markov
  arrived <- Reduce(`+`, lapply(seq_len(markov$n_actions), function(u) {
    as.vector(task$counts[, u] %*% markov$transition[[u]])
  }))
  miss <- markov$discount * arrived - rowSums(task$counts)
  as.vector(solve(diag(markov$n_states) - markov$discount * t(chain), miss))
}

# A probability below e^-25 for what was never done counts as 0.
never_done <- 25

# Newton's method; it uses the expected curvature where the real one does not bend down. `open`: the likelihood grows
# without end, as something is never done where it could be.
climb_soft <- function(task, start, rounds = 300) {
  at <- soft_at(start, task)
  if (at$height == -Inf) return(NULL)
  total <- sum(task$counts)
  met <- rowSums(task$counts) > 0
  open <- function(at) {
    far <- at$log_policy[met, ] < -never_done & is.finite(at$log_policy[met, ])
    is.null(task$penalty) && any(far & task$counts[met, ] == 0)
  }
  converged <- FALSE
  for (round in seq_len(rounds)) {
    step <- soft_step(at, task)
    promise <- sum(step * at$gradient)
    if (open(at) && promise < 1e-6 * total) break
    if (promise <= 1e-24 * total) {
      converged <- TRUE
      break
    }
    ahead <- shortened_step(at, step, promise, task)
    # Only rounding is left.
    if (is.null(ahead)) {
      converged <- promise < 1e-8 * total
      break
    }
    at <- ahead
  }
  at$converged <- converged
  at$open <- open(at)
  at$rounds <- round
  at
}

soft_step <- function(at, task) {
  # Where there is only one action, nothing is free.
  if (!length(at$weights)) return(numeric())
  bend <- eigen(at$bend, symmetric = TRUE)
  if (min(bend$values) < -1e-8 * max(abs(bend$values))) {
    at$bend <- at$information + if (is.null(task$penalty)) 0 else diag(task$penalty$sd^-2, length(at$weights))
    bend <- eigen(at$bend, symmetric = TRUE)
  }
  keep <- bend$values > 1e-11 * max(bend$values, 0)
  along <- bend$vectors[, keep, drop = FALSE]
  step <- as.vector(along %*% (crossprod(along, at$gradient) / bend$values[keep]))
  # Where choices are sure there is no curvature, though what was done may be far from likely. There, go along the
  # slope.
  total <- sum(task$counts)
  lost <- max(bend$values) < 1e-8 * total && max(abs(at$gradient)) > 1e-6 * total
  if (lost) step <- at$gradient / max(abs(at$gradient)) * 1e100
  # No utility moves by more than some alphas at once, or by more than what was done is away from being likely.
  reach <- max(10, -at$log_policy[task$counts > 0])
  step * min(1, reach / max(abs(task$features %*% step), 1e-300))
}

# Halves a step until it gains. Near the top gains are lost in rounding: there it halves until the slope is smaller.
shortened_step <- function(at, step, promise, task) {
  near <- promise < 1e-9 * sum(task$counts)
  for (share in 2^-(0:40)) {
    ahead <- soft_at(at$weights + share * step, task, slopes = near)
    better <- if (near) sum(ahead$gradient^2) < sum(at$gradient^2) else ahead$height > at$height
    if (isTRUE(better)) return(if (near) ahead else soft_at(ahead$weights, task))
  }
  NULL
}

# Of all weights that fit equally well, the smallest; and the directions about which counts say something.
settle_soft <- function(top, task) {
  if (!length(top$weights)) return(c(top, list(shown = matrix(0, 0, 0), unseen = 0L)))
  parts <- eigen(top$information, symmetric = TRUE)
  keep <- parts$values > 1e-9 * max(parts$values, 0) & parts$values > 0
  top$shown <- parts$vectors[, keep, drop = FALSE]
  top$unseen <- length(top$weights) - sum(keep)
  if (top$unseen == 0 || !is.null(task$penalty)) return(top)
  # Sizes are in the utility's own unit.
  hidden <- task$unit * parts$vectors[, !keep, drop = FALSE]
  smaller <- qr.resid(qr(hidden), task$unit * top$weights) / task$unit
  there <- soft_at(smaller, task)
  # A direction that is flat at the top may not be flat everywhere.
  if (there$log_lik < top$log_lik - 1e-9 * max(1, abs(top$log_lik))) return(top)
  top[names(there)] <- there
  top
}

# Standard errors in the utility's unit, from the curvature; NA for terms that depend on directions that are not seen.
soft_errors <- function(top, task) {
  none <- rep(NA_real_, length(top$weights))
  if (top$open) return(none)
  if (!is.null(task$penalty)) {
    root <- tryCatch(chol(top$bend), error = function(e) NULL)
    return(if (is.null(root)) none else task$unit * sqrt(diag(chol2inv(root))))
  }
  along <- top$shown
  if (!ncol(along)) return(none)
  inner <- crossprod(along, top$bend %*% along)
  root <- tryCatch(chol((inner + t(inner)) / 2), error = function(e) NULL)
  if (is.null(root)) return(none)
  spread <- sqrt(diag(along %*% chol2inv(root) %*% t(along)))
  ifelse(entries_seen(along), task$unit * spread, NA)
}
