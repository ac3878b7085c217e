# Settings in which the state is seen, for inverse planners, and what is worked out of them in plain R.

seen_setting <- function(n_states = 3, n_actions = 2, discount = 0.9, zeros = 0, start = NULL, utility = NULL) {
  states <- paste0("s", seq_len(n_states))
  if (is.null(utility)) utility <- matrix(stats::rnorm(n_states * n_actions), n_states)
  decision_setting(
    states = states, actions = paste0("u", seq_len(n_actions)), observations = states,
    transition = random_law(n_states, n_states, n_actions, zeros), emission = "identity", utility = utility,
    discount = discount, start = start
  )
}

# A policy [state, action] that always takes these actions.
always <- function(actions, n_actions = max(actions)) diag(n_actions)[actions, , drop = FALSE]

# What each action is worth to who goes on by a policy, [state, action].
seen_action_value <- function(setting, policy, utility = setting$utility) {
  n <- length(setting$states)
  laws <- lapply(seq_along(setting$actions), function(u) unname(setting$transition[, , u]))
  mixed <- Reduce(`+`, Map(function(law, u) law * policy[, u], laws, seq_along(laws)))
  value <- solve(diag(n) - setting$discount * mixed, rowSums(policy * unname(utility)))
  unname(utility) + setting$discount * vapply(laws, function(law) as.vector(law %*% value), numeric(n))
}

# By how much the best other action beats the one taken, at most; 0 or less where the policy is optimal.
seen_regret <- function(setting, actions, utility = setting$utility) {
  worth <- seen_action_value(setting, always(actions, length(setting$actions)), utility)
  max(worth - worth[cbind(seq_along(actions), actions)])
}
