# Plain-R twin of recall.c: histories are text, tables are named lists. Laws are arrays [from, to, action] and
# [to, observation, action]; noise as kernels read it.

twin_draw <- function(p, u) {
  over <- which(cumsum(p) > u & p > 0)
  if (length(over)) over[1] else max(which(p > 0))
}

twin_show <- function(setting, state, action, u) {
  if (identical(setting$emission, "identity")) state else twin_draw(setting$emission[state, , action], u)
}

# Visits are "action.observation", the last one last, at most `memory` of them.
twin_after <- function(history, action, observation, memory) {
  utils::tail(c(history, paste0(action, ".", observation)), memory)
}
twin_name <- function(history) paste(c("from", history), collapse = " ")

# noise [5, step]; returns action values and trials by history, in the order in which histories were met.
twin_recall_learn <- function(setting, memory, exploration, initial, episode, start, noise) {
  n_actions <- length(setting$actions)
  worth <- list()
  tried <- list()
  visit <- 0
  for (k in seq_len(ncol(noise))) {
    u <- noise[, k]
    if (visit == 0 || visit >= episode) {
      state <- twin_draw(start, u[1])
      history <- character()
      visit <- 0
    }
    here <- twin_name(history)
    if (is.null(worth[[here]])) {
      worth[[here]] <- rep(initial, n_actions)
      tried[[here]] <- numeric(n_actions)
    }
    best <- which(worth[[here]] == max(worth[[here]]))
    action <- if (u[2] < exploration) floor(u[3] * n_actions) + 1 else best[floor(u[3] * length(best)) + 1]
    reward <- setting$utility[state, action]
    state <- twin_draw(setting$transition[state, , action], u[4])
    history <- twin_after(history, action, twin_show(setting, state, action, u[5]), memory)
    visit <- visit + 1
    there <- worth[[twin_name(history)]]
    later <- if (is.null(there)) initial else max(there)
    rate <- 1 / (1 + (1 - setting$discount) * tried[[here]][action])
    tried[[here]][action] <- tried[[here]][action] + 1
    worth[[here]][action] <- worth[[here]][action] +
      rate * (reward + setting$discount * later - worth[[here]][action])
  }
  list(worth = worth, tried = tried)
}

# The policy after a history: that of its longest end that has one.
twin_recall_policy <- function(policies, history, n_actions) {
  for (n in seq(length(history), 0)) {
    found <- policies[[twin_name(utils::tail(history, n))]]
    if (!is.null(found)) return(found)
  }
  rep(1 / n_actions, n_actions)
}

# One trajectory from noise [1 + 3 * horizon].
twin_recall_run <- function(setting, policies, memory, start, noise, horizon) {
  state <- twin_draw(start, noise[1])
  history <- character()
  out <- NULL
  for (t in seq_len(horizon)) {
    u <- noise[3 * t - 1 + 0:2]
    action <- twin_draw(twin_recall_policy(policies, history, length(setting$actions)), u[1])
    state <- twin_draw(setting$transition[state, , action], u[2])
    seen <- twin_show(setting, state, action, u[3])
    out <- rbind(out, c(action, seen))
    if (setting$actions[action] %in% setting$stop_actions) break
    history <- twin_after(history, action, seen, memory)
  }
  out
}

# Known histories of a plan as the twin names them.
twin_policies <- function(plan) {
  known <- known_visits(plan)
  names <- vapply(seq_along(known$length), function(i) {
    back <- rev(seq_len(known$length[i]))
    twin_name(paste0(known$action[i, back], ".", known$observation[i, back])[seq_along(back)])
  }, "")
  stats::setNames(lapply(seq_along(names), function(i) plan$table$policy[i, ]), names)
}
