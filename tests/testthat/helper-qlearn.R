# A plain-R twin of src/qlearn.c, written to be read: one loop over steps. States and actions are counted from 1;
# `noise` has three rows and one column per step.

twin_soft_value <- function(q, alpha) {
  if (alpha == 0) return(max(q))
  max(q) + alpha * log(mean(exp((q - max(q)) / alpha)))
}

twin_soft_law <- function(q, alpha) {
  weight <- if (alpha == 0) as.numeric(q == max(q)) else exp((q - max(q)) / alpha)
  weight / sum(weight)
}

# The first whose cumulated probability exceeds u.
twin_inversion <- function(p, u) {
  beyond <- which(cumsum(p) > u & p > 0)
  if (length(beyond)) beyond[1] else max(which(p > 0))
}

twin_q_learning <- function(setting, noise, first, alpha = 0, bonus = 0, exploration, patience, power, episode) {
  n_states <- length(setting$states)
  n_actions <- length(setting$actions)
  q <- tries <- matrix(0, n_states, n_actions)
  state <- first
  for (k in seq_len(ncol(noise))) {
    action <- if (noise[1, k] < exploration) min(floor(noise[2, k] * n_actions) + 1, n_actions) else
      twin_inversion(twin_soft_law(q[state, ], alpha), noise[2, k])
    after <- twin_inversion(setting$transition[state, , action], noise[3, k])
    worth <- setting$utility[state, action] + setting$discount * (twin_soft_value(q[after, ], alpha) + bonus)
    tries[state, action] <- tries[state, action] + 1
    rate <- (patience / (patience + tries[state, action] - 1))^power
    q[state, action] <- q[state, action] + rate * (worth - q[state, action])
    state <- if (k %% episode == 0) min(floor(noise[3, k] * n_states) + 1, n_states) else after
  }
  list(action_value = q, tries = tries, state = unname(state))
}
