# Rational values from elsewhere: a lower bound in plain R, and the solver of the
# package 'pomdp'. Neither has a lattice of beliefs.

benchmark_file <- function(name) testthat::test_path("pomdp", paste0(name, ".POMDP"))

# Beliefs that can come about from the start, breadth first, equal ones once; the
# first `most` of them, fewer where no others can come about.
reachable_beliefs <- function(setting, most) {
  beliefs <- list(unname(setting$start))
  known <- paste(round(beliefs[[1]], 10), collapse = " ")
  at <- 1
  while (at <= length(beliefs) && length(beliefs) < most) {
    for (u in seq_along(setting$actions)) {
      step <- twin_bayes(setting, beliefs[[at]], u)
      for (x in which(step$p > 0)) {
        key <- paste(round(step$posterior[x, ], 10), collapse = " ")
        if (key %in% known) next
        known <- c(known, key)
        beliefs <- c(beliefs, list(step$posterior[x, ]))
      }
    }
    at <- at + 1
  }
  do.call(rbind, beliefs)
}

# What a rational agent gets at least. Every row of `worth` is what some way of acting
# is worth from each state: first one action for ever, then an action followed, after
# each observation, by the best row known for what was seen (Pineau and others, 2003).
# Backed up at the beliefs given until that changes nothing.
point_based_bound <- function(setting, points, tolerance = 1e-9) {
  gamma <- setting$discount
  utility <- unname(setting$utility)
  n_states <- nrow(utility)
  worth <- t(vapply(seq_len(ncol(utility)), function(u) {
    solve(diag(n_states) - gamma * setting$transition[, , u], utility[, u])
  }, numeric(n_states)))
  value <- apply(points %*% t(worth), 1, max)
  repeat {
    best <- rep(-Inf, nrow(points))
    rows <- matrix(0, nrow(points), n_states)
    for (u in seq_len(ncol(utility))) {
      one <- matrix(utility[, u], nrow(points), n_states, byrow = TRUE)
      for (x in seq_len(dim(setting$emission)[2])) {
        after <- worth %*% (setting$emission[, x, u] * t(setting$transition[, , u]))
        one <- one + gamma * after[max.col(points %*% t(after), "first"), , drop = FALSE]
      }
      better <- rowSums(one * points) > best
      best[better] <- rowSums(one * points)[better]
      rows[better, ] <- one[better, ]
    }
    worth <- rbind(rows, worth[unique(max.col(points %*% t(worth), "first")), , drop = FALSE])
    change <- max(best - value)
    value <- pmax(value, best)
    if (change * gamma / (1 - gamma) <= tolerance) return(value)
  }
}

# The value at the start by incremental pruning, exact but for `epsilon` between the last
# two rounds, over 1 - discount. What names the setting has do not matter to it.
pruned_value <- function(setting, epsilon = 1e-9) {
  states <- paste0("s", seq_along(setting$states))
  actions <- paste0("u", seq_along(setting$actions))
  by_action <- function(law) stats::setNames(lapply(seq_along(actions), function(u) unname(law[, , u])), actions)
  cells <- expand.grid(s = seq_along(states), u = seq_along(actions))
  reward <- Map(function(s, u) pomdp::R_(actions[u], states[s], value = setting$utility[s, u]), cells$s, cells$u)
  model <- pomdp::POMDP(
    states = states, actions = actions, observations = paste0("x", seq_along(setting$observations)),
    transition_prob = by_action(setting$transition), observation_prob = by_action(setting$emission),
    reward = do.call(rbind, reward), discount = setting$discount, start = unname(setting$start)
  )
  # It reports on its progress, and warns of an epsilon smaller than its linear programmes'.
  utils::capture.output(suppressWarnings({
    solved <- pomdp::solve_POMDP(model, method = "incprune", digits = 17, parameter = list(epsilon = epsilon))
  }), type = "output")
  if (!solved$solution$converged) stop("The solver of the package 'pomdp' did not converge.")
  max(as.matrix(solved$solution$alpha[[1]]) %*% setting$start)
}
