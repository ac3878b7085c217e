# Plain-R twin of iohmm.c: one trajectory after the other, loops over visits and states.
# Laws are list(start, transition [from, to, action], emission [to, observation, action]);
# a path is list(action, observation) counted from 1, NA where nothing was seen.

twin_iohmm_shown <- function(laws, action, observation) {
  if (is.na(observation)) rep(1, length(laws$start)) else laws$emission[, observation, action]
}

# filter [state, time] over s_0 .. s_n, smooth likewise, log_lik.
twin_iohmm_path <- function(laws, path) {
  S <- length(laws$start)
  n <- length(path$action)
  filter <- matrix(0, S, n + 1)
  future <- matrix(1, S, n + 1)
  norm <- numeric(n)
  filter[, 1] <- laws$start
  for (t in seq_len(n)) {
    joint <- numeric(S)
    shown <- twin_iohmm_shown(laws, path$action[t], path$observation[t])
    for (to in seq_len(S)) joint[to] <- sum(filter[, t] * laws$transition[, to, path$action[t]]) * shown[to]
    norm[t] <- sum(joint)
    filter[, t + 1] <- joint / norm[t]
  }
  for (t in rev(seq_len(n))) {
    shown <- twin_iohmm_shown(laws, path$action[t], path$observation[t])
    for (s in seq_len(S)) {
      future[s, t] <- sum(laws$transition[s, , path$action[t]] * shown * future[, t + 1]) / norm[t]
    }
  }
  list(filter = filter, future = future, smooth = filter * future, norm = norm, log_lik = sum(log(norm)))
}

twin_iohmm_expect <- function(laws, paths) {
  counts <- lapply(laws, function(law) law * 0)
  log_lik <- 0
  for (path in paths) {
    one <- twin_iohmm_path(laws, path)
    log_lik <- log_lik + one$log_lik
    counts$start <- counts$start + one$smooth[, 1]
    for (t in seq_along(path$action)) {
      u <- path$action[t]
      x <- path$observation[t]
      shown <- twin_iohmm_shown(laws, u, x)
      for (s in seq_along(laws$start)) {
        counts$transition[s, , u] <- counts$transition[s, , u] +
          one$filter[s, t] * laws$transition[s, , u] * shown * one$future[, t + 1] / one$norm[t]
      }
      if (!is.na(x)) counts$emission[, x, u] <- counts$emission[, x, u] + one$smooth[, t + 1]
    }
  }
  list(counts = counts, log_lik = log_lik)
}

# prior: list(start, transition, stay, emission [action, observation]).
twin_iohmm_maximise <- function(counts, prior, possible, shared) {
  share <- function(x, may = rep(TRUE, length(x))) {
    x[!may] <- 0
    if (sum(x) > 0) x / sum(x) else may / sum(may)
  }
  S <- length(counts$start)
  laws <- counts
  laws$start <- share(counts$start + prior$start)
  moves <- counts$transition
  for (u in seq_len(dim(moves)[3])) for (s in seq_len(S)) {
    row <- if (shared) rowSums(matrix(moves[s, , ], S)) else moves[s, , u]
    laws$transition[s, , u] <- share(row + prior$transition + prior$stay * (seq_len(S) == s))
    laws$emission[s, , u] <- share(counts$emission[s, , u] + prior$emission[u, ], possible[u, ])
  }
  laws
}

# By the definition: all hidden paths, without scaling.
brute_iohmm <- function(laws, path) {
  S <- length(laws$start)
  n <- length(path$action)
  hidden <- as.matrix(expand.grid(rep(list(seq_len(S)), n + 1)))
  chance <- apply(hidden, 1, function(s) {
    p <- laws$start[s[1]]
    for (t in seq_len(n)) {
      p <- p * laws$transition[s[t], s[t + 1], path$action[t]] *
        twin_iohmm_shown(laws, path$action[t], path$observation[t])[s[t + 1]]
    }
    p
  })
  list(hidden = unname(hidden), chance = unname(chance))
}

# Random laws, visits and what kernels read of them -----------------------------------

random_iohmm_laws <- function(n_states, n_actions = 2, n_obs = 4, possible = NULL) {
  emission <- random_law(n_states, n_obs, n_actions)
  if (!is.null(possible)) {
    for (u in seq_len(n_actions)) emission[, , u] <- emission[, , u] * rep(possible[u, ], each = n_states)
    emission <- sweep(emission, c(1, 3), apply(emission, c(1, 3), sum), "/")
  }
  list(start = as.vector(random_rows(1, n_states)), transition = random_law(n_states, n_states, n_actions),
       emission = emission)
}

# Trajectories of up to `longest` visits, the first of them that long.
random_paths <- function(n, n_actions = 2, n_obs = 4, longest = 6, missing = 0.2, possible = NULL) {
  lapply(seq_len(n), function(i) {
    length <- if (i == 1) longest else sample(longest, 1)
    action <- sample(n_actions, length, replace = TRUE)
    observation <- vapply(action, function(u) {
      can <- if (is.null(possible)) seq_len(n_obs) else which(possible[u, ])
      can[sample(length(can), 1)]
    }, 0L)
    observation[stats::runif(length) < missing] <- NA
    list(action = action, observation = observation)
  })
}

paths_to_visits <- function(paths, n_actions = 2, n_obs = 4) {
  length <- vapply(paths, function(path) length(path$action), 0L)
  trajectories(data.frame(
    id = rep(seq_along(paths), length), time = sequence(length),
    action = factor(paste0("u", unlist(lapply(paths, `[[`, "action"))), paste0("u", seq_len(n_actions))),
    observation = factor(paste0("x", unlist(lapply(paths, `[[`, "observation"))), paste0("x", seq_len(n_obs)))
  ))
}

iohmm_words_of <- function(n_actions = 2, n_obs = 4) {
  list(actions = paste0("u", seq_len(n_actions)), observations = paste0("x", seq_len(n_obs)),
       stop_actions = character())
}

kernel_laws <- function(laws) {
  size <- dim(laws$emission)
  c(list(n_states = size[1], n_actions = size[3], n_obs = size[2], n_models = 1L), lapply(laws, as.numeric))
}

kernel_tree <- function(paths, n_actions = 2, n_obs = 4) {
  words <- iohmm_words_of(n_actions, n_obs)
  iohmm_tree(code_visits(paths_to_visits(paths, n_actions, n_obs), words), words)
}

# A clinic: a marker that is always seen, a scan that is ordered. Three stages that get worse.
clinic_laws <- function() {
  transition <- array(c(0.85, 0.05, 0, 0.15, 0.85, 0.05, 0, 0.10, 0.95), c(3, 3, 2))
  emission <- array(0, c(3, 5, 2))
  emission[, 1:2, 1] <- rbind(c(0.9, 0.1), c(0.4, 0.6), c(0.1, 0.9))
  emission[, 3:5, 2] <- rbind(c(0.85, 0.1, 0.05), c(0.1, 0.8, 0.1), c(0.02, 0.08, 0.9))
  list(start = c(0.6, 0.3, 0.1), transition = transition, emission = emission)
}

# A fit without a fit: the laws dressed as what fit_iohmm() returns.
dressed_laws <- function(laws, coded = NULL, prior = iohmm_prior()) {
  size <- dim(laws$emission)
  words <- iohmm_words_of(size[3], size[2])
  states <- paste0("state", seq_len(size[1]))
  dimnames(laws$transition) <- list(from = states, to = states, action = words$actions)
  dimnames(laws$emission) <- list(to = states, observation = words$observations, action = words$actions)
  structure(c(words[1:2], list(states = states, start = stats::setNames(laws$start, states),
                               transition = laws$transition, emission = laws$emission, coded = coded,
                               prior = check_iohmm_prior(prior, words), shared = FALSE,
                               possible = t(apply(laws$emission, c(2, 3), max) > 0))),
            class = "ibrc_iohmm")
}

# The same with starts by the age of a trajectory.
dressed_in_groups <- function(laws) {
  fit <- dressed_laws(laws)
  fit$start <- name_starts(laws$start, fit$states, c("old", "young", "missing"))
  fit$start_by <- "age"
  fit
}

clinic_iohmm_visits <- function(n = 400, visits = 8, seed = 31) {
  with_seed(seed, {
    actions <- data.frame(id = rep(seq_len(n), each = visits), time = rep(seq_len(visits), n),
                          action = factor(paste0("u", sample(2, n * visits, TRUE)), c("u1", "u2")),
                          observation = factor(NA, paste0("x", 1:5)))
  })
  world <- dressed_laws(clinic_laws())
  simulate(world, seed = seed, visits = trajectories(actions), missing = "fill")
}

clinic_iohmm <- function() {
  cached("clinic_iohmm", {
    fit_iohmm(clinic_iohmm_visits(), 3, starts = 20, seed = 1, sort_by = c(x3 = 0, x4 = 1, x5 = 2))
  })
}
