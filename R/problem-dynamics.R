# Users write transition and emission arrays in several forms. All are checked and
# brought into one form: transition [from, to, action] and emission
# [to, observation, action], with names, and with rows rescaled to sum to exactly 1.

as_transition <- function(x, states, actions, argument = "transition") {
  if (is_by_rows(x)) x <- array_of_rows(check_kept_rows(x, states, actions, argument), states, actions)
  if (is_triplets(x)) {
    abort_input(argument, "as a data frame of triplets is for settings in which the state is seen: it needs ",
                "emission = \"identity\".")
  }
  x <- as_stack(x, actions, c(length(states), length(states)), argument)
  x <- order_by_names(x, list(states, states, actions), c("states", "states", "actions"), argument)
  check_rows(x, c("from", "action"), argument)
}

as_emission <- function(x, states, actions, observations, argument = "emission") {
  if (identical(x, "identity")) {
    refuse_unseen_states(states, observations, argument)
    x <- diag(length(states))
  }
  x <- as_stack(x, actions, c(length(states), length(observations)), argument)
  x <- order_by_names(x, list(states, observations, actions),
                      c("states", "observations", "actions"), argument)
  check_rows(x, c("to", "action"), argument)
}

refuse_unseen_states <- function(states, observations, argument) {
  if (length(states) == length(observations)) return(invisible())
  abort_input(argument, "= \"identity\" needs an observation for each of the ", length(states), " states; there are ",
              length(observations), ".")
}

# Transition and emission of one model. If the state is seen and only the possible transitions are given, they are kept
# in that form: as rows, and as the word "identity".
as_dynamics <- function(transition, emission, states, actions, observations, at = "") {
  # Evaluated in the order of the arguments: either may be a call that draws random numbers.
  force(transition)
  if (identical(emission, "identity") && is_sparse_input(transition)) {
    refuse_unseen_states(states, observations, paste0(at, "emission"))
    return(list(transition = as_rows(transition, states, actions, paste0(at, "transition")), emission = "identity"))
  }
  list(transition = as_transition(transition, states, actions, paste0(at, "transition")),
       emission = as_emission(emission, states, actions, observations, paste0(at, "emission")))
}

# An array, a list of matrices (by action name or position), or one matrix for
# every action, as an array [ , , action].
as_stack <- function(x, actions, size, argument) {
  n_actions <- length(actions)
  if (is.data.frame(x)) x <- as.matrix(x)
  if (is.list(x)) {
    if (!is.null(names(x))) x <- x[match_names(names(x), actions, argument, "actions")]
    if (length(x) != n_actions) {
      abort_input(argument, "has ", plural(length(x), "matrix", "matrices"), " for ",
                  plural(n_actions, "action"), ".")
    }
    for (u in seq_along(x)) {
      if (!is.numeric(x[[u]]) && !is.data.frame(x[[u]]) && !inherits(x[[u]], "Matrix")) {
        abort_input(argument, "for action ", enumerate(actions[u]), " must be a numeric matrix, not ",
                    describe(x[[u]]), ".")
      }
      x[[u]] <- as.matrix(x[[u]])
      if (!identical(dim(x[[u]]), as.integer(size))) {
        abort_input(argument, "for action ", enumerate(actions[u]), " is ",
                    paste(dim(x[[u]]), collapse = " by "), "; it must be ",
                    paste(size, collapse = " by "), ".")
      }
      if (!is.numeric(x[[u]])) {
        abort_input(argument, "for action ", enumerate(actions[u]), " is not numeric.")
      }
    }
    named <- dimnames(x[[1]])
    same <- vapply(x, function(m) identical(dimnames(m), named), NA)
    if (!all(same)) {
      abort_input(argument, "has other row or column names for action ",
                  enumerate(actions[which(!same)[1]]), " than for ", enumerate(actions[1]),
                  ". Give the matrices of all actions the same names, or none.")
    }
    return(array(unlist(x, use.names = FALSE), c(size, n_actions),
                 c(if (is.null(named)) list(NULL, NULL) else named, list(actions))))
  }
  if (!is.numeric(x)) {
    abort_input(argument, "must be an array, a list of matrices or a matrix, not ", describe(x), ".")
  }
  if (length(dim(x)) == 2) {
    named <- dimnames(x)
    x <- array(rep(x, n_actions), c(dim(x), n_actions),
               c(if (is.null(named)) list(NULL, NULL) else named, list(actions)))
  }
  wanted <- as.integer(c(size, n_actions))
  if (!identical(dim(x), wanted)) {
    abort_input(argument, "is ", paste(if (is.null(dim(x))) length(x) else dim(x), collapse = " by "),
                "; it must be ", paste(wanted, collapse = " by "), ".")
  }
  x
}

order_by_names <- function(x, over, of, argument) {
  given <- dimnames(x)
  take <- lapply(seq_along(over), function(i) {
    if (is.null(given[[i]])) seq_along(over[[i]]) else match_names(given[[i]], over[[i]], argument, of[i])
  })
  x <- do.call(`[`, c(list(x), take, list(drop = FALSE)))
  dimnames(x) <- over
  x
}

# Checks and rescales each row. A row runs along the second dimension.
check_rows <- function(x, dims, argument) {
  over <- dimnames(x)
  where <- function(cell) {
    paste0("row ", enumerate(over[[1]][cell[1]]), " of action ", enumerate(over[[3]][cell[length(cell)]]))
  }
  bad <- which(!is.finite(x) | x < 0, arr.ind = TRUE)
  if (nrow(bad)) {
    entry <- x[bad[1, , drop = FALSE]]
    abort_input(argument, "has ", if (is.finite(entry)) "a negative entry" else paste("an entry", entry),
                " in ", where(bad[1, ]), ", column ", enumerate(over[[2]][bad[1, 2]]), ".",
                rows = unique(bad[, 1]))
  }
  total <- apply(x, c(1, 3), sum)
  off <- which(abs(total - 1) > sum_tolerance, arr.ind = TRUE)
  if (nrow(off)) {
    more <- if (nrow(off) > 1) paste0(" (and ", plural(nrow(off) - 1, "other row"), ")") else ""
    abort_input(argument, "must have rows that sum to 1: ", where(off[1, ]), " sums to ",
                format(total[off[1, , drop = FALSE]], digits = 10), more, ".", rows = unique(off[, 1]))
  }
  names(dimnames(x)) <- c(dims[1], if (dims[1] == "from") "to" else "observation", "action")
  sweep(x, c(1, 3), total, "/")
}
