# Visits as the kernels of the input-output hidden Markov model read them.

# The names of what was done and seen: the part of a setting that is needed to code visits.
iohmm_words <- function(visits, actions, observations) {
  visits <- plain_visits(visits)
  roles <- attr(visits, "roles")
  words <- list(
    actions = if (is.null(actions)) levels_of(visits[[roles$action]]) else check_names(actions, "actions"),
    observations = if (is.null(observations)) levels_of(visits[[roles$observation]])
    else check_names(observations, "observations"),
    stop_actions = character()
  )
  refuse_unseen(visits)
  words
}

refuse_unseen <- function(visits) {
  visits <- plain_visits(visits)
  if (!all(is.na(visits[[attr(visits, "roles")$observation]]))) return(invisible())
  abort("data", "`visits` have no observation: nothing was seen in any visit that could show the states.",
        argument = "visits")
}

levels_of <- function(x) {
  if (is.factor(x)) levels(x) else sorted_text(x[!is.na(x)])
}

# How often each pair of action and observation was seen, [action, observation].
count_pairs <- function(coded, words) {
  seen <- coded$observation >= 0
  size <- c(length(words$actions), length(words$observations))
  matrix(tabulate(coded$action[seen] + 1L + size[1] * coded$observation[seen], prod(size)), size[1], size[2],
         dimnames = list(action = words$actions, observation = words$observations))
}

# Which pairs are possible, [action, observation]. After an action without any observation in
# the data, everything can be seen.
possible_pairs <- function(zeros, pairs, coded, words) {
  if (is.character(zeros)) {
    zeros <- check_choice(zeros, c("data", "none"), "zeros")
    possible <- if (zeros == "none") pairs >= 0 else pairs > 0
    possible[rowSums(pairs) == 0, ] <- TRUE
    return(possible)
  }
  if (!is.logical(zeros) || length(dim(zeros)) != 2 || anyNA(zeros)) {
    abort_input("zeros", "must be \"data\", \"none\" or a logical matrix [action, observation], not ",
                describe(zeros), ".")
  }
  if (!identical(dim(zeros), dim(pairs))) {
    abort_input("zeros", "is ", paste(dim(zeros), collapse = " by "), "; it must be ", nrow(pairs), " actions by ",
                ncol(pairs), " observations.")
  }
  possible <- order_by_names(zeros, unname(words[c("actions", "observations")]), c("actions", "observations"), "zeros")
  dimnames(possible) <- dimnames(pairs)
  none <- which(rowSums(possible) == 0)
  if (length(none)) {
    abort_input("zeros", "leaves nothing to be seen after action ", enumerate(words$actions[none[1]]), ".", rows = none)
  }
  seen <- which(coded$observation >= 0)
  bad <- seen[!possible[cbind(coded$action[seen], coded$observation[seen]) + 1L]]
  if (length(bad)) {
    abort_rows(sort(coded$row[bad]), "observation", "`observation` is impossible after its action by `zeros`")
  }
  possible
}

# A trajectory of n visits has n + 1 states: one per visit, and the one in which it ends. An empty
# visit stands for the last. Returns the positions of both among all states of all trajectories.
with_ends <- function(coded) {
  n <- length(coded$trajectory)
  last <- c(which(diff(coded$trajectory) != 0), n)
  order <- order(c(coded$trajectory, coded$trajectory[last]))
  start <- coded_starts(coded)
  list(trajectory = c(coded$trajectory, coded$trajectory[last])[order], start = c(start, start[last])[order],
       action = c(coded$action, integer(length(last)))[order],
       observation = c(coded$observation, rep(-1L, length(last)))[order],
       visit = match(seq_len(n), order), end = match(n + seq_along(last), order))
}

# The tree of distinct histories, including the ends. `leaf` is where each trajectory ends.
iohmm_tree <- function(coded, words) {
  states <- with_ends(coded)
  histories <- build_histories(states, words)
  n <- histories$n_histories
  leaf <- histories$visit[states$end]
  list(n_nodes = n, parent = histories$parent, action = histories$action, observation = histories$observation,
       start = c(histories$start, rep(-1L, n - length(histories$start))),
       through = as.numeric(tabulate(histories$visit, n)), ends = as.numeric(tabulate(leaf, n)), leaf = leaf - 1L)
}

# The same without shared nodes: one root per trajectory, and one node per state.
iohmm_chains <- function(coded) {
  states <- with_ends(coded)
  n <- length(states$trajectory)
  first <- c(TRUE, diff(states$trajectory) != 0)
  before <- seq_len(n) - 1L
  ends <- numeric(n)
  ends[states$end] <- 1
  list(n_nodes = n, parent = ifelse(first, -1L, before - 1L),
       action = c(-1L, states$action[-n]), observation = c(-1L, states$observation[-n]), start = states$start,
       through = rep(1, n), ends = ends, visit = states$visit)
}

# The laws of a fit as kernels read them.
iohmm_laws <- function(iohmm) {
  size <- dim(iohmm$emission)
  list(n_states = size[1], n_actions = size[3], n_obs = size[2], n_models = 1L,
       start = as.numeric(kernel_starts(iohmm)), transition = as.numeric(iohmm$transition),
       emission = as.numeric(iohmm$emission))
}

need_visits <- function(iohmm, purpose, argument) {
  if (is.null(iohmm$coded)) {
    abort_input(argument, "keeps no data: ", purpose, " needs a fit with `keep_data = TRUE`.")
  }
}

# Dynamics cannot go on after an unknown action, because each action moves the state and shows it in its own way. At the
# end of a trajectory nothing has to go on (`ends`: whether an unknown action is allowed there).
refuse_lost_actions <- function(coded, ends = TRUE) {
  lost <- is.na(coded$action)
  last <- !duplicated(coded$trajectory, fromLast = TRUE)
  bad <- which(lost & !(ends & last))
  if (length(bad)) {
    abort_rows(sort(coded$row[bad]), "action", "`action` is missing", if (ends) " before the end of a trajectory",
               topic = "fit_iohmm", advice = paste(
                 "If nothing was done, give that a name. If it is not known what was done, leave out",
                 "each such row together with all later rows of its `id`: if only the row is left out, a step of time",
                 "is missing from the trajectory."
               ))
  }
  coded
}

# Leaves out visits without an action at the end of a trajectory: they say nothing about the dynamics.
without_open_ends <- function(coded) {
  kept <- lapply(refuse_lost_actions(coded), function(x) x[!is.na(coded$action)])
  if (!length(kept$row)) abort("data", "`visits` have no action.", argument = "visits")
  kept$trajectory <- match(kept$trajectory, unique(kept$trajectory)) - 1L
  kept
}

# Puts any action in place of a missing one. Nothing follows it, and its observation is not used.
with_some_action <- function(coded) {
  unknown <- is.na(coded$action)
  coded$action[unknown] <- 0L
  coded$observation[unknown] <- -1L
  coded
}

# `ends`: whether the last action of a trajectory may be missing. Otherwise such visits of the fit are left out.
coded_visits <- function(iohmm, visits, purpose, ends = TRUE) {
  if (!is.null(visits)) return(refuse_lost_actions(code_visits(visits, iohmm_setting_words(iohmm)), ends))
  need_visits(iohmm, paste(purpose, "without `visits`"), "object")
  if (ends) iohmm$coded else without_open_ends(iohmm$coded)
}

iohmm_setting_words <- function(iohmm) {
  words <- list(actions = iohmm$actions, observations = iohmm$observations, stop_actions = character())
  if (has_starts(iohmm)) words[c("start", "start_by")] <- iohmm[c("start", "start_by")]
  words
}

expect_states <- function(iohmm, nodes, coded = NULL) {
  expected <- .Call(ffi_iohmm_expect, nodes, iohmm_laws(iohmm))
  if (expected$code != 0L) {
    # The node is the state after the visit that is at fault.
    row <- coded$row[match(expected$where - 1L, nodes$visit)]
    abort_rows(row, "observation", "`observation` cannot happen, by the fit, after what was done and seen before")
  }
  expected
}
