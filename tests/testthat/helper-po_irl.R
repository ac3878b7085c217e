# A clinic (helper-dynamics.R) where testing pays off with the ill, and the log posterior of its rewards by hand: every
# trajectory by itself, plain value iteration, dense matrices.

po_irl_clinic <- function() {
  laws <- clinic_truth()
  decision_setting(laws$states, laws$actions, laws$observations, laws$transition, laws$emission,
                   utility = cbind(wait = c(1, 0), test = c(-1.5, 1.5)), discount = 0.9, start = laws$start)
}

po_irl_visits <- function(n, seed, horizon = 6) {
  simulate(plan_boltzmann(po_irl_clinic(), 1, resolution = 10), n, seed = seed, horizon = horizon)
}

quick_po_irl <- function(visits, ..., iter = 60, chains = 2, draws = 10, seed = 1) {
  fit_po_irl(visits, ..., iter = iter, chains = chains, draws = draws, resolution = 6, seed = seed, refresh = 0)
}

# Gains of a table [state, action]: shaped so that the first action is worth 0.
twin_gains <- function(reward, transition, discount) {
  later <- function(action, c) discount * as.vector(transition[, , action] %*% c)
  # c = -r_1 + later(c), by going on until it stays.
  c <- numeric(nrow(reward))
  for (i in 1:5000) c <- later(1, c) - reward[, 1]
  unlist(lapply(seq_len(ncol(reward))[-1], function(action) reward[, action] + c - later(action, c)))
}

# Log density of gains in units of the prior's standard deviation.
twin_gain_density <- function(gains, transition, discount) {
  size <- dim(transition)[c(1, 3)]
  map <- vapply(seq_len(prod(size)), function(k) {
    twin_gains(matrix(as.numeric(seq_len(prod(size)) == k), size[1]), transition, discount)
  }, gains)
  covariance <- map %*% t(map)
  -(sum(gains * solve(covariance, gains)) + log(det(covariance)) + length(gains) * log(2 * pi)) / 2
}

twin_action_log_lik <- function(setting, reward, rows, resolution) {
  model <- list(transition = setting$transition, emission = setting$emission)
  tables <- twin_tables(list(model), resolution)
  n <- nrow(tables$nodes)
  worth <- tables$nodes %*% reward
  action_value <- worth
  for (i in 1:2000) {
    value <- apply(action_value, 1, max)
    for (u in seq_len(ncol(worth))) {
      action_value[, u] <- worth[, u] + setting$discount * matrix(tables$W[, , u, 1], n) %*% value
    }
  }
  policy <- function(belief) {
    q <- twin_interpolate(rbind(belief), length(belief), resolution) %*% action_value
    exp(q - max(q)) / sum(exp(q - max(q)))
  }
  sum(twin_log_likelihood(rows, list(model), policy, function(belief, action) 1, unname(setting$start)))
}

# Log prior of logits of fractions, and the log likelihood of what was seen.
twin_law_parts <- function(codec, theta, rows) {
  shape <- vapply(codec$prior, function(entry) unname(entry$args), numeric(2))
  fraction <- stats::plogis(theta)
  laws <- dynamics_at(codec, vectors_of(codec, matrix(fraction, 1))[1, ])
  paths <- split(rows[c("action", "observation")], rows$trajectory)
  seen <- vapply(paths, function(path) twin_iohmm_path(laws, path)$log_lik, 0)
  list(prior = sum(stats::dbeta(fraction, shape[1, ], shape[2, ], log = TRUE) + log(fraction * (1 - fraction))),
       seen = sum(seen), laws = laws)
}
