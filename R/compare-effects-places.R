# Where effects are asked for (compare-effects.R): at stated beliefs, and after stated observations.

effects_design <- function(fit, beliefs, observations, actions, nsim, horizon, seed) {
  setting <- fit$problem$setting
  stops <- length(setting$stop_actions) > 0
  if (is.null(horizon)) horizon <- if (stops) 50 else max(1, round(sum(fit$n_visits) / sum(fit$group_sizes)))
  list(places = with_own_labels(c(belief_places(beliefs, setting, is.null(fit$problems) && !has_dynamics(fit)),
                                  observed_places(observations, actions, setting))),
       nsim = check_count(nsim, "nsim", least = 0, most = 1e6), horizon = check_count(horizon, "horizon", most = 1e4),
       seed = check_seed(seed))
}

# Rows are told apart, and groups compared, by the names of places: no two places may have the same name.
with_own_labels <- function(places) {
  at <- make.unique(vapply(places, `[[`, "", "at"), " ")
  Map(function(place, at) replace(place, "at", at), places, at, USE.NAMES = FALSE)
}

# `shared`: do all groups start at the setting's own start, at every draw?
belief_places <- function(beliefs, setting, shared) {
  if (is.null(beliefs)) return(default_places(setting, shared))
  if (is.list(beliefs) && !is.data.frame(beliefs)) {
    if (!length(beliefs)) abort_input("beliefs", "is an empty list.")
    labels <- names(beliefs)
    beliefs <- do.call(rbind, lapply(beliefs, as_beliefs, setting$states, "beliefs"))
    if (length(labels) && length(labels) != nrow(beliefs)) abort_input("beliefs", "must have one belief per entry.")
  } else {
    # A data frame always has row names; mere numbers are not names that anybody gave.
    labels <- if (is.matrix(beliefs)) rownames(beliefs) else
      if (is.data.frame(beliefs) && is.character(attr(beliefs, "row.names"))) row.names(beliefs)
    beliefs <- as_beliefs(beliefs, setting$states)
  }
  if (!nrow(beliefs)) abort_input("beliefs", "has no rows.")
  words <- apply(beliefs, 1, belief_words, setting$states)
  named <- if (is.null(labels)) words else ifelse(is.na(labels) | !nzchar(labels), words, as_utf8(labels))
  Map(function(at, i) list(at = at, belief = beliefs[i, ]), unname(named), seq_len(nrow(beliefs)), USE.NAMES = FALSE)
}

default_places <- function(setting, shared) {
  states <- setting$states
  n <- length(states)
  shared <- shared && !has_starts(setting)
  words <- if (shared && n == 2) paste0(" (", belief_words(setting$start, states), ")")
  start <- list(list(at = paste0("start", words), belief = NULL))
  if (n > most_accuracy_states) return(start)
  if (setting$fully_observed) {
    stated <- diag(n)
  } else {
    leaning <- if (n <= 4) matrix(0.2 / (n - 1), n, n) + diag(0.8 - 0.2 / (n - 1), n)
    stated <- rbind(rep(1 / n, n), leaning)
  }
  known <- shared & apply(stated, 1, function(belief) max(abs(belief - mean_start(setting))) < 1e-9)
  c(start, lapply(which(!known), function(i) list(at = belief_words(stated[i, ], states), belief = stated[i, ])))
}

# "even odds", "80% diseased", "sure of healthy".
belief_words <- function(belief, states) {
  belief <- as.vector(belief)
  if (max(belief) > 1 - 1e-9) return(paste("sure of", as_label(states[which.max(belief)])))
  if (diff(range(belief)) < 1e-9) return("even odds")
  share <- paste0(format_plain(round(100 * belief, 1), nsmall = 0), "%")
  share <- sub("\\.0%$", "%", share)
  shown <- if (length(states) == 2) which.max(belief) else which(belief > 0)
  listing(paste(share[shown], as_label(states[shown])))
}

observed_places <- function(observations, actions, setting) {
  if (is.null(observations)) {
    if (!is.null(actions)) abort_input("actions", "has no effect without `observations` to go with it.")
    return(NULL)
  }
  if (!is.list(observations)) observations <- list(observations)
  if (!length(observations) || is.data.frame(observations)) {
    abort_input("observations", "must be names of observations or a list of such vectors, not ",
                describe(observations), ".")
  }
  if (!is.list(actions)) actions <- rep(list(actions), length(observations))
  if (length(actions) != length(observations)) {
    abort_input("actions", "has ", length(actions), " entries for ", length(observations), " of `observations`.")
  }
  labels <- names(observations)
  Map(function(seen, taken, i) {
    seen <- setting$observations[as_positions(seen, setting$observations, "observations", "observation",
                                              missing_ok = TRUE)]
    if (!length(seen)) abort_input("observations", "has nothing in entry ", i, ".", rows = i)
    taken <- taken_meanwhile(taken, length(seen), setting)
    named <- length(labels) && !is.na(labels[i]) && nzchar(labels[i])
    list(at = paste("after", if (named) as_utf8(labels[i]) else seen_words(seen)), actions = taken,
         observations = seen)
  }, unname(observations), unname(actions), seq_along(observations), USE.NAMES = FALSE)
}

taken_meanwhile <- function(taken, n, setting) {
  going_on <- setdiff(setting$actions, setting$stop_actions)
  if (is.null(taken)) {
    if (length(going_on) != 1) {
      abort_input("actions", "must say what was done meanwhile: one action for all visits, or one per visit. ",
                  length(going_on), " of the actions do not end a trajectory",
                  if (length(going_on)) paste0(": ", enumerate(going_on)), ".")
    }
    return(rep(going_on, n))
  }
  taken <- setting$actions[as_positions(taken, setting$actions, "actions", "action")]
  if (any(taken %in% setting$stop_actions)) {
    abort_input("actions", "must not end the trajectory: nothing of it comes after ",
                enumerate(intersect(taken, setting$stop_actions)), ".")
  }
  match_length(taken, n, "actions", "observation")
}

seen_words <- function(seen) listing(ifelse(is.na(seen), "nothing seen", as_label(seen)), 6)
