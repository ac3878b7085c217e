# Random settings in which the state is seen.

random_markov <- function(n_states, n_actions = 3, discount = 0.9, zeros = 0.3, scale = 1) {
  names <- paste0("s", seq_len(n_states))
  decision_setting(
    states = names, actions = paste0("u", seq_len(n_actions)), observations = names,
    transition = random_law(n_states, n_states, n_actions, zeros), emission = "identity",
    utility = scale * matrix(stats::rnorm(n_states * n_actions), n_states), discount = discount,
    start = as.vector(random_rows(1, n_states))
  )
}

# The same with many states, of which few can follow on each: anywhere, or near.
sparse_markov <- function(n_states, n_actions = 4, successors = 5, discount = 0.9, near = FALSE) {
  from <- rep(seq_len(n_states), each = successors, times = n_actions)
  to <- if (near) (from + sample(-10:10, length(from), replace = TRUE) - 1) %% n_states + 1 else
    sample(n_states, length(from), replace = TRUE)
  weight <- stats::rexp(length(from))
  action <- rep(seq_len(n_actions), each = n_states * successors)
  row <- paste(action, from)
  names <- paste0("s", seq_len(n_states))
  decision_setting(
    states = names, actions = paste0("u", seq_len(n_actions)), observations = names,
    transition = data.frame(from = from, to = to, action = action,
                            probability = weight / stats::ave(weight, row, FUN = sum)),
    emission = "identity", utility = matrix(stats::rnorm(n_states * n_actions), n_states), discount = discount
  )
}

# One backup of values in loops, written to be read: [s, a].
twin_action_value <- function(setting, value) {
  out <- setting$utility
  for (s in seq_along(setting$states)) {
    for (u in seq_along(setting$actions)) {
      out[s, u] <- setting$utility[s, u] + setting$discount * sum(setting$transition[s, , u] * value)
    }
  }
  unname(out)
}
