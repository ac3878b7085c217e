# The plain-R twin of an agent with a habit: V [node, last], and a policy that depends on what was done last. `last` is
# an action's number, NA where there is none. Behind an action in `stops` comes a first visit.

twin_prior_after <- function(action_prior, habit, last, stops = integer()) {
  if (is.na(last) || last %in% stops) return(action_prior)
  out <- action_prior * exp(habit * (seq_along(action_prior) == last) - max(habit, 0))
  out / sum(out)
}

# V: [node, last]. Returns V likewise, V at a first visit, Q, K and sigma, and policies [node, action, last].
twin_habit_backup <- function(twin, V) {
  tables <- twin$tables
  n <- nrow(twin$reward)
  n_actions <- ncol(twin$reward)
  habit <- twin$agent$habit
  K <- twin$agent$eta * tables$H
  Q <- twin$reward
  sigma <- K
  for (u in seq_len(n_actions)) {
    for (m in seq_along(twin$weights)) {
      K[, u, m] <- K[, u, m] + twin$discount * as.vector(tables$W[, , u, m] %*% V[, u])
    }
    for (z in seq_len(n)) {
      Q[z, u] <- twin$reward[z, u] + twin_soft_mean(K[z, u, ], twin$weights, twin$agent$beta)
      sigma[z, u, ] <- twin_soft_weights(K[z, u, ], twin$weights, twin$agent$beta)
    }
  }
  at <- function(last) {
    prior <- twin_prior_after(twin$action_prior, habit, last, twin$stops)
    list(value = apply(Q, 1, twin_soft_mean, prior, twin$agent$alpha),
         policy = t(apply(Q, 1, twin_soft_weights, prior, twin$agent$alpha)))
  }
  first <- at(NA)
  after <- lapply(seq_len(n_actions), at)
  list(V = vapply(after, `[[`, numeric(n), "value"), first = first$value, Q = Q, K = K, sigma = sigma,
       policy = first$policy, after = vapply(after, `[[`, Q, "policy"))
}

twin_habit_solve <- function(twin, tolerance = 1e-11, V = matrix(0, nrow(twin$reward), ncol(twin$reward))) {
  scale <- twin$discount / (1 - twin$discount)
  repeat {
    step <- twin_habit_backup(twin, V)
    change <- range(step$V - V)
    V <- step$V
    if (scale * diff(change) / 2 <= tolerance) break
  }
  twin_habit_backup(twin, V + scale * mean(change))
}

# The process on pairs, none first: what a visit at each brings and costs, and its Markov matrix.
twin_habit_process <- function(twin, policy, after, sigma) {
  n <- nrow(twin$reward)
  n_actions <- ncol(twin$reward)
  all <- c(list(policy), lapply(seq_len(n_actions), function(last) after[, , last]))
  parts <- lapply(0:n_actions, function(last) {
    prior <- twin_prior_after(twin$action_prior, twin$agent$habit, if (last == 0) NA else last, twin$stops)
    one <- twin_process(twin$tables, twin$reward, all[[last + 1]], sigma, prior, twin$weights)
    M <- matrix(0, n, n * (n_actions + 1))
    for (u in seq_len(n_actions)) {
      for (m in seq_along(twin$weights)) {
        M[, n * u + seq_len(n)] <- M[, n * u + seq_len(n)] +
          all[[last + 1]][, u] * sigma[, u, m] * twin$tables$W[, , u, m]
      }
    }
    one$M <- M
    one
  })
  together <- function(name) unlist(lapply(parts, `[[`, name))
  list(M = do.call(rbind, lapply(parts, `[[`, "M")), utility = together("utility"), decision = together("decision"),
       specification = together("specification"), recognition = together("recognition"))
}

# Policies and sigmas between nodes as functions of belief (and last action), by interpolated values or policies.
twin_habit_agent <- function(twin, solved, resolution, interpolate = "value") {
  n_actions <- ncol(twin$reward)
  weights_at <- function(belief) twin_interpolate(matrix(belief, 1), length(belief), resolution)[1, ]
  list(
    policy = function(belief, last) {
      w <- weights_at(belief)
      prior <- twin_prior_after(twin$action_prior, twin$agent$habit, last, twin$stops)
      if (interpolate == "value") return(twin_soft_weights(as.vector(w %*% solved$Q), prior, twin$agent$alpha))
      as.vector(w %*% t(apply(solved$Q, 1, twin_soft_weights, prior, twin$agent$alpha)))
    },
    sigma = function(belief, action) {
      w <- weights_at(belief)
      if (interpolate == "value") {
        return(twin_soft_weights(as.vector(w %*% solved$K[, action, ]), twin$weights, twin$agent$beta))
      }
      as.vector(w %*% solved$sigma[, action, ])
    }
  )
}

# As twin_rollout() and twin_log_likelihood(), with a policy of belief and last action.
twin_habit_rollout <- function(environment, models, agent, start, stops, horizon, noise) {
  last <- NA
  policy <- function(belief) agent$policy(belief, last)
  sigma <- function(belief, action) {
    last <<- action
    agent$sigma(belief, action)
  }
  twin_rollout(environment, models, policy, sigma, start, stops, horizon, noise)
}

twin_habit_log_likelihood <- function(rows, models, agent, start, stops = integer()) {
  if (is.null(rows$scored)) rows$scored <- TRUE
  vapply(split(rows, rows$trajectory), function(one) {
    belief <- start
    last <- NA
    total <- 0
    for (t in seq_len(nrow(one))) {
      action <- one$action[t]
      policy <- function(belief) agent$policy(belief, last)
      if (one$scored[t] && !is.na(action)) total <- total + log(policy(belief)[action])
      if (t == nrow(one)) break
      belief <- if (is.na(action)) {
        twin_recognise_any(models, policy, agent$sigma, belief, one$observation[t], stops)
      } else {
        twin_recognise(models, agent$sigma(belief, action), belief, action, one$observation[t])
      }
      last <- action
    }
    total
  }, 0)
}
