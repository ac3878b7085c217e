# A plain-R twin of every kernel in src/, written to be read: dense matrices,
# loops, no tricks. Shapes: transition [from, to, action], emission
# [to, observation, action]; a model is list(transition, emission); node-wise
# results are [node, action] and [node, action, model].

# Lattice ------------------------------------------------------------------

# All compositions of `resolution` into `n_states` parts, divided by it, in
# lexicographic order of the tail sums n(z_2 + ... + z_S), n(z_3 + ...), ...
twin_nodes <- function(n_states, resolution) {
  parts <- as.matrix(expand.grid(rep(list(0:resolution), n_states)))
  parts <- parts[rowSums(parts) == resolution, , drop = FALSE]
  tails <- twin_tail_sums(parts)[, -1, drop = FALSE]
  parts <- parts[do.call(order, as.data.frame(tails)), , drop = FALSE]
  unname(parts / resolution)
}

# r(z, u) [belief, action]: expected utility plus the worth of the belief.
twin_reward <- function(setting, beliefs) {
  colnames(beliefs) <- setting$states
  unname(beliefs %*% setting$utility + belief_utility_at(setting, beliefs))
}

# Each node's tail sums as text, to look nodes up by; kept, because it is slow.
twin_keys <- new.env()
twin_key <- function(parts) paste(round(parts), collapse = ",")
twin_node_keys <- function(n_states, resolution) {
  name <- paste(n_states, resolution)
  if (is.null(twin_keys[[name]])) {
    nodes <- twin_nodes(n_states, resolution)
    twin_keys[[name]] <- apply(twin_tail_sums(nodes * resolution), 1, twin_key)
  }
  twin_keys[[name]]
}

twin_tail_sums <- function(x) {
  out <- x
  for (i in rev(seq_len(ncol(x) - 1))) out[, i] <- out[, i + 1] + x[, i]
  out
}

# Dense [belief, node] matrix of Freudenthal weights.
twin_interpolate <- function(beliefs, n_states, resolution) {
  node_key <- twin_node_keys(n_states, resolution)
  weights <- matrix(0, nrow(beliefs), length(node_key))
  for (b in seq_len(nrow(beliefs))) {
    y <- twin_tail_sums(beliefs[b, , drop = FALSE] * resolution)[1, ]
    y[1] <- resolution
    whole <- abs(y - round(y)) < 1e-10
    y[whole] <- round(y[whole])
    corner <- floor(y)
    fraction <- (y - corner)[-1]
    steps <- order(-fraction)
    level <- c(1, fraction[steps], 0)
    for (k in seq_len(n_states)) {
      if (k > 1) corner[steps[k - 1] + 1] <- corner[steps[k - 1] + 1] + 1
      w <- level[k] - level[k + 1]
      if (w > 0) {
        j <- match(twin_key(corner), node_key)
        weights[b, j] <- weights[b, j] + w
      }
    }
  }
  weights
}

# Beliefs --------------------------------------------------------------------

twin_predict <- function(model, belief, action) {
  as.vector(belief %*% model$transition[, , action])
}

# p: probability of each observation; posterior: [observation, state], NA rows
# where the observation cannot happen.
twin_bayes <- function(model, belief, action) {
  joint <- t(twin_predict(model, belief, action) * model$emission[, , action])
  p <- rowSums(joint)
  list(p = p, posterior = ifelse(p > 0, 1, NA) * joint / ifelse(p > 0, p, 1))
}

# Observations grouped into atoms of equal next belief.
twin_atoms <- function(step, surprise) {
  possible <- which(step$p > 0)
  if (surprise == "observation") return(as.list(possible))
  atoms <- list()
  for (x in possible) {
    found <- FALSE
    for (i in seq_along(atoms)) {
      gap <- max(abs(step$posterior[atoms[[i]][1], ] - step$posterior[x, ]))
      if (gap <= 1e-10) {
        atoms[[i]] <- c(atoms[[i]], x)
        found <- TRUE
        break
      }
    }
    if (!found) atoms <- c(atoms, list(x))
  }
  atoms
}

twin_recognise <- function(models, sigma, belief, action, observation) {
  total <- 0
  for (m in seq_along(models)) {
    if (sigma[m] == 0) next
    if (is.na(observation)) {
      total <- total + sigma[m] * twin_predict(models[[m]], belief, action)
    } else {
      step <- twin_bayes(models[[m]], belief, action)
      if (step$p[observation] > 0) {
        total <- total + sigma[m] * step$posterior[observation, ]
      }
    }
  }
  total / sum(total)
}

# Tables ---------------------------------------------------------------------

# W: [node, node, action, model]; H: [node, action, model]. `belief_prior` is a
# function of a belief (rho-tilde), constant 1 by default.
twin_tables <- function(models, resolution, surprise = "belief",
                        belief_prior = function(z) 1) {
  dims <- dim(models[[1]]$emission)
  n_states <- dims[1]
  n_actions <- dims[3]
  nodes <- twin_nodes(n_states, resolution)
  n <- nrow(nodes)
  W <- array(0, c(n, n, n_actions, length(models)))
  H <- array(0, c(n, n_actions, length(models)))
  for (z in seq_len(n)) for (u in seq_len(n_actions)) for (m in seq_along(models)) {
    step <- twin_bayes(models[[m]], nodes[z, ], u)
    for (atom in twin_atoms(step, surprise)) {
      mass <- sum(step$p[atom])
      landing <- step$posterior[atom[1], , drop = FALSE]
      W[z, , u, m] <- W[z, , u, m] +
        mass * twin_interpolate(landing, n_states, resolution)
      H[z, u, m] <- H[z, u, m] - mass * log(mass / belief_prior(landing[1, ]))
    }
  }
  list(nodes = nodes, W = W, H = H)
}

# Soft averages ----------------------------------------------------------------

# temperature * log(sum(weight * exp(x / temperature))), every limit exact.
twin_soft_mean <- function(x, weight, temperature) {
  keep <- weight > 0
  x <- x[keep]
  weight <- weight[keep] / sum(weight[keep])
  if (is.infinite(temperature)) return(sum(weight * x))
  if (temperature == 0) return(if (1 / temperature > 0) max(x) else min(x))
  centre <- sum(weight * x)
  d <- (x - centre) / temperature
  if (max(abs(d)) < 0.5) {
    return(centre + temperature * log1p(sum(weight * expm1(d))))
  }
  centre + temperature * (max(d) + log(sum(weight * exp(d - max(d)))))
}

twin_soft_weights <- function(x, weight, temperature) {
  keep <- weight > 0
  if (is.infinite(temperature)) return(weight / sum(weight))
  if (temperature == 0) {
    best <- if (1 / temperature > 0) max(x[keep]) else min(x[keep])
    out <- weight * (x == best)
  } else {
    d <- x / temperature
    out <- ifelse(keep, weight * exp(d - max(d[keep])), 0)
  }
  out / sum(out)
}

# Backup and its fixed point -----------------------------------------------------

twin_backup <- function(tables, reward, V, agent, action_prior, weights, discount) {
  n <- nrow(reward)
  n_actions <- ncol(reward)
  n_models <- length(weights)
  K <- agent$eta * tables$H
  for (u in seq_len(n_actions)) for (m in seq_len(n_models)) {
    K[, u, m] <- K[, u, m] + discount * as.vector(tables$W[, , u, m] %*% V)
  }
  Q <- reward
  sigma <- K
  policy <- Q
  value <- numeric(n)
  for (z in seq_len(n)) {
    for (u in seq_len(n_actions)) {
      Q[z, u] <- reward[z, u] + twin_soft_mean(K[z, u, ], weights, agent$beta)
      sigma[z, u, ] <- twin_soft_weights(K[z, u, ], weights, agent$beta)
    }
    value[z] <- twin_soft_mean(Q[z, ], action_prior, agent$alpha)
    policy[z, ] <- twin_soft_weights(Q[z, ], action_prior, agent$alpha)
  }
  list(V = value, Q = Q, K = K, policy = policy, sigma = sigma)
}

# Plain value iteration, stopped on the MacQueen bound, midpoint added.
twin_solve <- function(tables, reward, agent, action_prior, weights, discount,
                       tolerance = 1e-8, V = numeric(nrow(reward))) {
  scale <- discount / (1 - discount)
  backups <- 0
  repeat {
    step <- twin_backup(tables, reward, V, agent, action_prior, weights, discount)
    backups <- backups + 1
    change <- range(step$V - V)
    V <- step$V
    if (scale * diff(change) / 2 <= tolerance) break
  }
  V <- V + scale * mean(change)
  step <- twin_backup(tables, reward, V, agent, action_prior, weights, discount)
  step$backups <- backups
  step
}

# Given policies -------------------------------------------------------------------

# Sum of p * log(p / q) with 0 log 0 = 0.
twin_divergence <- function(p, q) {
  keep <- p > 0
  sum(p[keep] * log(p[keep] / q[keep]))
}

# A finite temperature times a divergence; an infinite one only prices what is
# not there (the limits play their prior), so it costs nothing.
twin_price <- function(temperature, divergence) {
  if (is.infinite(temperature)) 0 else temperature * divergence
}

# Expected per-visit terms and the Markov matrix under given pi, sigma.
twin_process <- function(tables, reward, policy, sigma, action_prior, weights) {
  n <- nrow(reward)
  n_actions <- ncol(reward)
  M <- matrix(0, n, n)
  utility <- decision <- specification <- recognition <- numeric(n)
  for (z in seq_len(n)) {
    decision[z] <- twin_divergence(policy[z, ], action_prior)
    for (u in seq_len(n_actions)) {
      p <- policy[z, u]
      utility[z] <- utility[z] + p * reward[z, u]
      specification[z] <- specification[z] + p * twin_divergence(sigma[z, u, ], weights)
      for (m in seq_along(weights)) {
        recognition[z] <- recognition[z] - p * sigma[z, u, m] * tables$H[z, u, m]
        M[z, ] <- M[z, ] + p * sigma[z, u, m] * tables$W[z, , u, m]
      }
    }
  }
  list(M = M, utility = utility, decision = decision,
       specification = specification, recognition = recognition)
}

twin_evaluate <- function(process, agent, discount) {
  gain <- process$utility - twin_price(agent$alpha, process$decision) -
    twin_price(agent$beta, process$specification) - agent$eta * process$recognition
  solve(diag(length(gain)) - discount * process$M, gain)
}

twin_occupancy <- function(process, start, discount) {
  solve(t(diag(length(start)) - discount * process$M), (1 - discount) * start)
}

# Behaviour ----------------------------------------------------------------------

# One trajectory from uniform noise: noise[1] draws the state, then three per visit
# (action, next state, observation), each by inversion. `policy` and `sigma` are
# functions of the belief (and the action).
twin_rollout <- function(environment, models, policy, sigma, start, stops, horizon, noise) {
  invert <- function(p, u) min(which(cumsum(p) > u * sum(p)), max(which(p > 0)))
  state <- invert(start, noise[1])
  belief <- start
  rows <- NULL
  for (t in seq_len(horizon)) {
    draw <- noise[1 + 3 * (t - 1) + 1:3]
    action <- invert(policy(belief), draw[1])
    state <- invert(environment$transition[state, , action], draw[2])
    x <- invert(environment$emission[state, , action], draw[3])
    rows <- rbind(rows, c(t - 1, action, x))
    belief <- twin_recognise(models, sigma(belief, action), belief, action, x)
    if (action %in% stops) break
  }
  rows
}

# The belief where it is not known what was done: the mean over actions that go on, each weighted by how likely the
# agent was to take it and how likely it then was to see what it saw.
twin_recognise_any <- function(models, policy, sigma, belief, observation, stops = integer()) {
  total <- 0
  for (action in setdiff(which(policy(belief) > 0), stops)) {
    weights <- sigma(belief, action)
    of_model <- function(m) if (is.na(observation)) 1 else twin_bayes(m, belief, action)$p[observation]
    chance <- sum(weights * vapply(models, of_model, 0))
    if (chance == 0) next
    total <- total + policy(belief)[action] * chance * twin_recognise(models, weights, belief, action, observation)
  }
  total / sum(total)
}

# Log-likelihood, visit by visit: every trajectory by itself, no sharing. `policy`
# and `sigma` as above; rows are data.frame(trajectory, action, observation), coded
# from 1, missing ones NA; `scored`, if it is there, says which actions count.
twin_log_likelihood <- function(rows, models, policy, sigma, start, stops = integer()) {
  if (is.null(rows$scored)) rows$scored <- TRUE
  vapply(split(rows, rows$trajectory), function(one) {
    belief <- start
    total <- 0
    for (t in seq_len(nrow(one))) {
      action <- one$action[t]
      if (one$scored[t] && !is.na(action)) total <- total + log(policy(belief)[action])
      if (t == nrow(one)) break
      belief <- if (is.na(action)) twin_recognise_any(models, policy, sigma, belief, one$observation[t], stops) else
        twin_recognise(models, sigma(belief, action), belief, action, one$observation[t])
    }
    total
  }, 0)
}
