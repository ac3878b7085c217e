# Plain-R twin of unroll.c: soft backups one state after the other, and their derivatives backwards, every value kept.
# transition [from, to, action], utility [state, action].

twin_unroll_step <- function(transition, utility, discount, alpha, value) {
  action_value <- utility
  for (s in seq_len(nrow(utility))) {
    for (u in seq_len(ncol(utility))) {
      action_value[s, u] <- utility[s, u] + discount * sum(transition[s, , u] * value)
    }
  }
  best <- apply(action_value, 1, max)
  weight <- exp((action_value - best) / alpha)
  list(action_value = action_value, value = best + alpha * log(rowMeans(weight)), policy = weight / rowSums(weight))
}

twin_unroll <- function(transition, utility, discount, alpha, steps) {
  value <- numeric(nrow(utility))
  path <- vector("list", steps)
  for (k in seq_len(steps)) {
    path[[k]] <- c(list(before = value), twin_unroll_step(transition, utility, discount, alpha, value))
    value <- path[[k]]$value
  }
  path
}

# Of sum(weights * log policy) + sum(slope * value).
twin_unroll_gradient <- function(transition, utility, discount, alpha, steps, weights, slope) {
  path <- twin_unroll(transition, utility, discount, alpha, steps)
  out <- list(utility = 0 * utility, transition = 0 * transition, discount = 0, alpha = 0)
  for (k in rev(seq_len(steps))) {
    at <- path[[k]]
    by_action <- slope * at$policy
    gap <- at$value - at$action_value
    out$alpha <- out$alpha + sum(slope * rowSums(at$policy * gap)) / alpha
    if (k == steps) {
      by_action <- by_action + (weights - rowSums(weights) * at$policy) / alpha
      out$alpha <- out$alpha + sum(weights * (gap - rowSums(at$policy * gap))) / alpha^2
    }
    out$utility <- out$utility + by_action
    slope <- 0 * slope
    for (u in seq_len(ncol(utility))) {
      law <- matrix(transition[, , u], nrow(utility))
      out$discount <- out$discount + sum(by_action[, u] * (law %*% at$before))
      out$transition[, , u] <- out$transition[, , u] + discount * outer(by_action[, u], at$before)
      slope <- slope + discount * as.vector(crossprod(law, by_action[, u]))
    }
  }
  out
}
