# Does a method recover what was simulated from it? Held-out log-likelihoods of fit and truth, one number per
# trajectory.

# How far the fit's mean is from the truth's, in standard errors of the truth's: 2 at most is recovery.
beside_truth <- function(fitted, truth) abs(mean(fitted) - mean(truth)) / (stats::sd(truth) / sqrt(length(truth)))

# Visits whose actions a model that learns takes, whatever is seen: each visit shows low or high by chance, and is drawn
# for all at once from what was predicted of it.
truth_visits <- function(truth, n, seed, horizon = 5) {
  with_seed(seed, {
    all <- data.frame(id = rep(seq_len(n), each = horizon), time = rep(seq_len(horizon), n), action = "wait",
                      observation = sample(c("low", "high"), n * horizon, TRUE))
    for (time in seq_len(horizon)) {
      law <- predict(truth, acting_visits(all[all$time <= time, ]))
      all$action[all$time == time] <- ifelse(stats::runif(n) < law$test[time * seq_len(n)], "test", "wait")
    }
    acting_visits(all)
  })
}

acting_visits <- function(data) {
  data$action <- factor(data$action, c("wait", "test"))
  data$observation <- factor(data$observation, c("low", "high"))
  trajectories(data)
}

# Behaviour for them to be taught by: what was seen and done last counts, and the number of the visit.
taught_visits <- function(n, seed, horizon = 5) {
  with_seed(seed, {
    rows <- lapply(seq_len(n), function(i) {
      seen <- sample(c("low", "high"), horizon, TRUE)
      done <- character(horizon)
      for (time in seq_len(horizon)) {
        last <- if (time > 1) c(seen[time - 1] == "high", done[time - 1] == "test") else c(0, 0)
        done[time] <- if (stats::runif(1) < stats::plogis(0.4 * time - 2 + sum(c(2, 1) * last))) "test" else "wait"
      }
      data.frame(id = i, time = seq_len(horizon), action = done, observation = seen)
    })
    acting_visits(do.call(rbind, rows))
  })
}
