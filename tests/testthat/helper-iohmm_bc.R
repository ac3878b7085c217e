# Plain-R twin of iohmm_bc.c: one trajectory after the other, and slopes carried forwards with the beliefs, where the
# kernel hands them backwards. Paths are those of helper-iohmm.R, with `scored`: whether an action counts.

# Laws and all else that parameters stand for, each with its slopes [cell, parameter].
twin_clone_parts <- function(x, task) {
  S <- task$n_states
  U <- task$n_actions
  X <- task$n_obs
  M <- if (task$prior$shared) 1 else U
  P <- length(x)
  possible <- matrix(task$prior$possible, X)
  # Shares of weights, by number of the parameter.
  law <- function(at, may) {
    p <- numeric(length(at))
    p[may] <- exp(x[at[may]]) / sum(exp(x[at[may]]))
    slope <- matrix(0, length(at), P)
    slope[, at] <- diag(p, length(p)) - outer(p, p)
    list(p = p, slope = slope)
  }
  start <- law(seq_len(S), rep(TRUE, S))
  transition <- array(0, c(S, S, U))
  emission <- array(0, c(S, X, U))
  by_transition <- array(0, c(S, S, U, P))
  by_emission <- array(0, c(S, X, U, P))
  log_prior <- task$prior$start * sum(log(start$p))
  by_prior <- task$prior$start * colSums(start$slope / start$p)
  add_prior <- function(extra, one) {
    use <- extra > 0
    log_prior <<- log_prior + sum(extra[use] * log(one$p[use]))
    by_prior <<- by_prior + colSums(extra[use] * one$slope[use, , drop = FALSE] / one$p[use])
  }
  for (u in seq_len(U)) for (s in seq_len(S)) {
    m <- if (M == 1) 1 else u
    one <- law(S + (m - 1) * S^2 + (seq_len(S) - 1) * S + s, rep(TRUE, S))
    transition[s, , u] <- one$p
    by_transition[s, , u, ] <- one$slope
    if (u <= M) add_prior(task$prior$transition + task$prior$stay * (seq_len(S) == s), one)
    may <- possible[, u] == 1
    one <- law(S + M * S^2 + (u - 1) * S * X + (seq_len(X) - 1) * S + s, may)
    emission[s, , u] <- one$p
    by_emission[s, , u, ] <- one$slope
    add_prior(ifelse(may, matrix(task$prior$emission, X)[, u], 0), one)
  }
  first <- S + M * S^2 + S * X * U
  centres <- matrix(x[first + seq_len(S * U)], S)
  plane <- diag(S) - 1 / S
  by_centres <- array(0, c(S, U, P))
  for (u in seq_len(U)) by_centres[, u, first + (u - 1) * S + seq_len(S)] <- plane
  list(start = start$p, by_start = start$slope, transition = transition, by_transition = by_transition,
       emission = emission, by_emission = by_emission, centres = plane %*% centres + 1 / S, by_centres = by_centres,
       sharpness = exp(x[P]), log_prior = log_prior, by_prior = by_prior)
}

# list(objective, seen, chosen, slope).
twin_clone <- function(x, task, paths) {
  parts <- twin_clone_parts(x, task)
  P <- length(x)
  S <- task$n_states
  U <- task$n_actions
  seen <- chosen <- 0
  slope <- parts$by_prior
  for (path in paths) {
    z <- parts$start
    by_z <- parts$by_start
    for (t in seq_along(path$action)) {
      u <- path$action[t]
      if (path$scored[t]) {
        # By the definition, squared distances and all.
        away <- by_away <- NULL
        for (v in seq_len(U)) {
          off <- z - parts$centres[, v]
          by_off <- by_z - parts$by_centres[, v, ]
          away[v] <- -parts$sharpness * sum(off^2)
          one <- -2 * parts$sharpness * colSums(off * by_off)
          one[P] <- one[P] + if (task$fixed) 0 else away[v]
          by_away <- rbind(by_away, one)
        }
        law <- exp(away) / sum(exp(away))
        chosen <- chosen + log(law[u])
        slope <- slope + by_away[u, ] - colSums(law * by_away)
      }
      x_seen <- path$observation[t]
      a <- numeric(S)
      by_a <- matrix(0, S, P)
      for (to in seq_len(S)) {
        a[to] <- sum(z * parts$transition[, to, u])
        by_a[to, ] <- colSums(by_z * parts$transition[, to, u]) + colSums(z * parts$by_transition[, to, u, ])
        if (!is.na(x_seen)) {
          by_a[to, ] <- by_a[to, ] * parts$emission[to, x_seen, u] + a[to] * parts$by_emission[to, x_seen, u, ]
          a[to] <- a[to] * parts$emission[to, x_seen, u]
        }
      }
      norm <- sum(a)
      seen <- seen + log(norm)
      slope <- slope + colSums(by_a) / norm
      z <- a / norm
      by_z <- by_a / norm - outer(z, colSums(by_a) / norm)
    }
  }
  off <- parts$centres - 1 / S
  log_prior <- parts$log_prior - sum(off^2) / (2 * task$centre_sd^2)
  for (v in seq_len(U)) slope <- slope - colSums(off[, v] * parts$by_centres[, v, ]) / task$centre_sd^2
  if (!task$fixed) {
    off <- x[P] - task$log_sharpness_mean
    log_prior <- log_prior - off^2 / (2 * task$log_sharpness_sd^2)
    slope[P] <- slope[P] - off / task$log_sharpness_sd^2
  }
  list(objective = seen + chosen + log_prior, seen = seen, chosen = chosen, slope = slope)
}

# Random paths, the task that kernels read of them, and parameters [parameter, vector].
random_clone <- function(n_states = 3, n_actions = 2, n_obs = 4, n = 12, shared = FALSE, fixed = FALSE, vectors = 1,
                         missing = 0.2) {
  possible <- matrix(TRUE, n_actions, n_obs)
  possible[1, n_obs] <- FALSE
  paths <- lapply(random_paths(n, n_actions, n_obs, missing = missing, possible = possible), function(path) {
    c(path, list(scored = stats::runif(length(path$action)) < 0.8))
  })
  words <- iohmm_words_of(n_actions, n_obs)
  coded <- code_visits(paths_to_visits(paths, n_actions, n_obs), words)
  coded$scored <- unlist(lapply(paths, `[[`, "scored"))
  extra <- matrix(stats::runif(n_actions * n_obs), n_actions)
  prior <- list(start = 0.3, transition = 0.2, stay = 0.4, emission = extra)
  task <- c(list(n_states = n_states, n_actions = n_actions, n_obs = n_obs), cloning_tree(coded, words),
            list(prior = prior_for_kernel(prior, possible, shared), centre_sd = 2, log_sharpness_mean = 1,
                 log_sharpness_sd = 1.5, fixed = as.integer(fixed)))
  task[1:3] <- lapply(task[1:3], as.integer)
  size <- n_states + n_states^2 * (if (shared) 1 else n_actions) + n_states * n_obs * n_actions +
    n_states * n_actions + 1
  list(paths = paths, task = task, coded = coded, words = words, x = matrix(stats::rnorm(size * vectors), size))
}

# A clone to draw from: two states, tests that tell them apart, and a rule that waits in between.
known_clone <- function(sharpness = 8) {
  states <- c("well", "ill")
  actions <- c("wait", "test", "treat")
  observations <- c("none", "low", "high")
  transition <- array(c(0.9, 0.05, 0.1, 0.95), c(2, 2, 3), list(from = states, to = states, action = actions))
  transition[, , "treat"] <- rbind(c(0.95, 0.05), c(0.5, 0.5))
  emission <- array(0, c(2, 3, 3), list(to = states, observation = observations, action = actions))
  emission[, , "wait"] <- rbind(c(0.2, 0.6, 0.2), c(0.2, 0.3, 0.5))
  emission[, , "test"] <- rbind(c(0, 0.9, 0.1), c(0, 0.15, 0.85))
  emission[, , "treat"] <- rbind(c(0.1, 0.7, 0.2), c(0.1, 0.2, 0.7))
  words <- list(actions = actions, observations = observations, stop_actions = character())
  structure(list(states = states, actions = actions, observations = observations, words = words,
                 start = c(well = 0.7, ill = 0.3), transition = transition, emission = emission,
                 centres = rbind(wait = c(0.95, 0.05), test = c(0.5, 0.5), treat = c(0.1, 0.9)), sharpness = sharpness,
                 taught = list(trajectories = 1L, visits = 8L, scored = 8L, longest = 8L)),
            class = c("ibrc_iohmm_bc", "ibrc_learned"))
}
