# Random settings in which the state is seen, and visits to them.

ranked_setting <- function(n_states = 3, n_actions = 2, discount = 0.8, scale = 1, start = 1) {
  law <- random_law(n_states, n_states, n_actions)
  decision_setting(
    states = paste0("s", seq_len(n_states)), actions = paste0("u", seq_len(n_actions)),
    observations = paste0("s", seq_len(n_states)), transition = law, emission = "identity",
    utility = scale * matrix(stats::rnorm(n_states * n_actions), n_states), discount = discount,
    start = replace(numeric(n_states), start, 1 / length(start))
  )
}

ranked_visits <- function(setting, nsim = 100, horizon = 6, alpha = 1, seed = 1) {
  simulate(plan_agent(setting, bounded_agent(alpha = alpha)), nsim = nsim, horizon = horizon, seed = seed)
}

# Trajectories of different lengths: the first `keep[i]` visits of each.
cut_visits <- function(visits, keep) {
  data <- as.data.frame(visits)
  trajectories(data[data$time < rep_len(keep, max(data$id))[data$id], ])
}

# Discounted counts of each trajectory by a plain loop; the state is the observation before, at first the start.
twin_counts <- function(visits, setting, discount = setting$discount) {
  data <- as.data.frame(visits)
  size <- dim(setting$utility)
  t(vapply(unique(data$id), function(id) {
    rows <- which(data$id == id)
    out <- array(0, size)
    believed <- setting$start
    for (t in seq_along(rows)) {
      action <- match(data$action[rows[t]], setting$actions)
      out[, action] <- out[, action] + discount^(t - 1) * believed
      believed <- as.numeric(setting$states == data$observation[rows[t]])
    }
    as.vector(out)
  }, numeric(prod(size))))
}

# Beliefs at which each action was taken where states are hidden, [visit, state], by a plain loop.
twin_beliefs <- function(visits, setting) {
  data <- as.data.frame(visits)
  out <- matrix(0, nrow(data), length(setting$states))
  for (row in seq_len(nrow(data))) {
    if (row == 1 || data$id[row] != data$id[row - 1]) {
      belief <- setting$start
    } else {
      u <- match(data$action[row - 1], setting$actions)
      x <- match(data$observation[row - 1], setting$observations)
      belief <- as.vector(belief %*% setting$transition[, , u]) * setting$emission[, x, u]
      belief <- belief / sum(belief)
    }
    out[row, ] <- belief
  }
  out
}

# Whether identifiers of patients, all of which hold this word, are anywhere in an object.
keeps_word <- function(object, word) grepl(word, rawToChar(serialize(object, NULL, ascii = TRUE)), fixed = TRUE)

with_secret_names <- function(visits) {
  data <- as.data.frame(visits)
  data$id <- paste0("secret", data$id)
  trajectories(data)
}
