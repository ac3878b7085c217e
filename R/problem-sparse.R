# Transitions by rows, for settings in which the state is seen and may be one of thousands. For each state and action
# only what can follow is kept. It is a plain list, so that a checkpoint can hold it:
#
#   size          number of states, number of actions
#   start         number of entries before each row, and last the number of all; rows [state, action], states fastest
#   to            the next state of each entry, counted from 1, rising within a row
#   probability   greater than 0, summing to 1 within a row
#
# Nothing here has an entry per pair of states.

row_parts <- c("size", "start", "to", "probability")

is_by_rows <- function(x) is.list(x) && identical(names(x), row_parts)

# What a user may give: matrices of the package Matrix, a data frame of triplets, or rows as they are kept.
is_sparse_input <- function(x) {
  is_by_rows(x) || is_triplets(x) || inherits(x, "sparseMatrix") ||
    is.list(x) && !is.data.frame(x) && length(x) > 0 && any(vapply(x, inherits, NA, "sparseMatrix"))
}

triplet_columns <- c("from", "to", "action", "probability")

is_triplets <- function(x) is.data.frame(x) && all(triplet_columns %in% names(x))

as_rows <- function(x, states, actions, argument = "transition") {
  if (is_by_rows(x)) return(check_kept_rows(x, states, actions, argument))
  entries <- if (is_triplets(x)) triplet_entries(x, states, actions, argument) else
    matrix_entries(x, states, actions, argument)
  rows_of_entries(entries, states, actions, argument)
}

# Rows as they are kept, perhaps read from a file. They are accepted only if they are exactly as they were made.
check_kept_rows <- function(rows, states, actions, argument) {
  size <- c(length(states), length(actions))
  if (!identical(as.numeric(rows$size), as.numeric(size))) {
    abort_input(argument, "is that of a setting of another size; it must be of ", plural(size[1], "state"), " and ",
                plural(size[2], "action"), ".")
  }
  start <- rows$start
  whole <- is.integer(start) && length(start) == prod(size) + 1 && !anyNA(start) && start[1] == 0 &&
    all(diff(start) >= 0) && is.integer(rows$to) && length(rows$to) == start[length(start)] &&
    is.double(rows$probability) && length(rows$probability) == length(rows$to) && all(rows$to %in% seq_along(states)) &&
    all(is.finite(rows$probability) & rows$probability > 0)
  if (!whole || any(diff((entry_rows(rows) - 1) * size[1] + rows$to) <= 0)) {
    abort_input(argument, "is not by rows as decision_setting() makes them.")
  }
  refuse_bad_totals(row_totals(entry_rows(rows), rows$probability, prod(size)), states, actions, argument)
  rows
}

# ---- from what users give to entries: from, to, action, all counted from 1, and probability ------------------------

triplet_entries <- function(x, states, actions, argument) {
  column <- function(name, known, what) triplet_places(x[[name]], name, known, what, argument)
  entries <- list(from = column("from", states, "state"), to = column("to", states, "state"),
                  action = column("action", actions, "action"), probability = x$probability)
  if (!is.numeric(entries$probability)) {
    abort_input(argument, "has a column `probability` that is ", describe_column(x$probability), ", not numbers.")
  }
  entries
}

# By name, or by number.
triplet_places <- function(x, name, known, what, argument) {
  if (is.factor(x)) x <- as.character(x)
  at <- if (is.character(x)) match(x, known) else if (is.numeric(x)) ifelse(x %in% seq_along(known), x, NA) else NULL
  if (is.null(at)) {
    abort_input(argument, "must have the names or the numbers of ", what, "s in `", name, "`, not ",
                describe_column(x), ".")
  }
  bad <- which(is.na(at))
  if (length(bad)) {
    abort_input(argument, "has no known ", what, " in `", name, "` in row ", bad[1],
                if (length(bad) > 1) paste0(" (and ", plural(length(bad) - 1, "other row"), ")"), "; there are ",
                enumerate(known), ".", rows = bad)
  }
  as.integer(at)
}

matrix_entries <- function(x, states, actions, argument) {
  require_package("Matrix", "A sparse transition")
  if (!is.list(x)) x <- rep(list(x), length(actions))
  if (!is.null(names(x))) x <- x[match_names(names(x), actions, argument, "actions")]
  if (length(x) != length(actions)) {
    abort_input(argument, "has ", plural(length(x), "matrix", "matrices"), " for ", plural(length(actions), "action"),
                ".")
  }
  parts <- lapply(seq_along(x), function(u) one_matrix_entries(x[[u]], states, actions[u], argument))
  entries <- lapply(stats::setNames(nm = c("from", "to", "probability")), function(part) {
    unlist(lapply(parts, `[[`, part), use.names = FALSE)
  })
  entries$action <- rep(seq_along(actions), vapply(parts, function(part) length(part$from), 0L))
  entries
}

# Such a matrix is stored by columns. After it is transposed, these are the rows.
one_matrix_entries <- function(x, states, action, argument) {
  size <- rep(length(states), 2)
  if (!identical(dim(x), size)) {
    abort_input(argument, "for action ", enumerate(action), " is ",
                if (is.null(dim(x))) describe(x) else paste(dim(x), collapse = " by "), "; it must be ",
                paste(size, collapse = " by "), ".")
  }
  named <- lapply(dimnames(x), function(given) {
    if (is.null(given)) return(seq_along(states))
    match_names(given, states, argument, "states")
    match(given, states)
  })
  named <- if (length(named)) named else list(seq_along(states), seq_along(states))
  turned <- tryCatch({
    columns <- methods::as(methods::as(x, "CsparseMatrix"), "generalMatrix")
    methods::as(Matrix::t(columns), "dMatrix")
  }, error = function(e) {
    abort_input(argument, "for action ", enumerate(action), " is not a matrix of numbers: ", conditionMessage(e))
  })
  list(from = named[[1]][rep(seq_along(states), diff(turned@p))], to = named[[2]][turned@i + 1L],
       probability = turned@x)
}

# ---- from entries to rows -------------------------------------------------------------------------------------------

rows_of_entries <- function(entries, states, actions, argument) {
  n_states <- length(states)
  refuse_bad_entries(entries, states, actions, argument)
  kept <- entries$probability > 0
  row <- (entries$action[kept] - 1) * n_states + entries$from[kept]
  # Entries with the same action, from the same state to the same state, add up.
  key <- (row - 1) * n_states + entries$to[kept]
  in_order <- order(key)
  key <- key[in_order]
  probability <- entries$probability[kept][in_order]
  if (anyDuplicated(key)) probability <- as.vector(rowsum(probability, key, reorder = FALSE))
  key <- unique(key) - 1
  row <- key %/% n_states + 1
  total <- row_totals(row, probability, n_states * length(actions))
  refuse_bad_totals(total, states, actions, argument)
  list(size = c(n_states, length(actions)),
       start = c(0L, cumsum(tabulate(row, n_states * length(actions)))),
       to = as.integer(key %% n_states) + 1L, probability = probability / total[row])
}

row_totals <- function(row, probability, n_rows) {
  total <- numeric(n_rows)
  sums <- rowsum(probability, row)
  total[as.integer(rownames(sums))] <- sums
  total
}

refuse_bad_entries <- function(entries, states, actions, argument) {
  bad <- which(!is.finite(entries$probability) | entries$probability < 0)
  if (!length(bad)) return(invisible())
  first <- bad[1]
  entry <- entries$probability[first]
  abort_input(argument, "has ", if (is.finite(entry)) "a negative entry" else paste("an entry", entry), " in row ",
              enumerate(states[entries$from[first]]), " of action ", enumerate(actions[entries$action[first]]),
              ", column ", enumerate(states[entries$to[first]]), ".", rows = unique(entries$from[bad]))
}

refuse_bad_totals <- function(total, states, actions, argument) {
  off <- which(abs(total - 1) > sum_tolerance)
  if (!length(off)) return(invisible())
  state <- (off - 1) %% length(states) + 1
  action <- (off[1] - 1) %/% length(states) + 1
  abort_input(argument, "must have rows that sum to 1: row ", enumerate(states[state[1]]), " of action ",
              enumerate(actions[action]), " sums to ", format(total[off[1]], digits = 10),
              if (length(off) > 1) paste0(" (and ", plural(length(off) - 1, "other row"), ")"), ".",
              rows = unique(state))
}

# In words.
format_rows <- function(rows) {
  n <- length(rows$to)
  paste0(format_count(n), " that are possible, ", format(round(n / prod(rows$size), 1)), " on average from a state ",
         "by an action")
}

# ---- rows and arrays ------------------------------------------------------------------------------------------------

# An array [from, to, action] by rows.
rows_of_array <- function(x) {
  size <- dim(x)
  turned <- matrix(aperm(unname(x), c(2, 1, 3)), size[1])
  possible <- which(turned > 0)
  list(size = size[c(1, 3)], start = c(0L, cumsum(as.integer(colSums(turned > 0)))),
       to = (possible - 1L) %% size[1] + 1L, probability = turned[possible])
}

# The row of each entry, counted from 1.
entry_rows <- function(rows) rep(seq_len(length(rows$start) - 1L), diff(rows$start))

# And back to an array, if there are few states.
array_of_rows <- function(rows, states, actions) {
  out <- array(0, c(rows$size[1], rows$size[1], rows$size[2]), list(from = states, to = states, action = actions))
  row <- entry_rows(rows) - 1L
  out[cbind(row %% rows$size[1] + 1L, rows$to, row %/% rows$size[1] + 1L)] <- rows$probability
  out
}

# The same entries with other probabilities. Each row sums to 1.
with_probabilities <- function(rows, probability) {
  row <- entry_rows(rows)
  rows$probability <- probability / row_totals(row, probability, length(rows$start) - 1L)[row]
  rows
}

# The distance between two laws: the sum of absolute differences, for arrays and for rows.
law_distance <- function(a, b) {
  if (identical(a, b)) return(0)
  if (identical(a, "identity")) a <- array(diag(dim(b)[1]), dim(b))
  if (identical(b, "identity")) b <- array(diag(dim(a)[1]), dim(a))
  if (is.numeric(a) && is.numeric(b)) return(sum(abs(a - b)))
  a <- if (is_by_rows(a)) a else rows_of_array(a)
  b <- if (is_by_rows(b)) b else rows_of_array(b)
  key <- function(rows) (entry_rows(rows) - 1) * rows$size[1] + rows$to
  sum(abs(rowsum(c(a$probability, -b$probability), c(key(a), key(b)), reorder = FALSE)))
}

# Rows of several models as kernels read them, states counted from 0.
stack_rows <- function(transitions) {
  rows <- lapply(transitions, function(law) if (is_by_rows(law)) law else rows_of_array(law))
  before <- cumsum(c(0, vapply(rows, function(law) length(law$to), 0L)))
  if (before[length(before)] > .Machine$integer.max) {
    abort("memory", "The models have ", format_count(before[length(before)]), " possible transitions in all, more ",
          "than can be held.", argument = "models")
  }
  start <- Map(function(law, first) law$start[-1] + as.integer(first), rows, before[seq_along(rows)])
  list(row_start = c(0L, unlist(start, use.names = FALSE)),
       to = unlist(lapply(rows, `[[`, "to"), use.names = FALSE) - 1L,
       chance = unlist(lapply(rows, `[[`, "probability"), use.names = FALSE))
}
