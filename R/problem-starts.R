# Starts that differ: a setting in which each group of trajectories begins with its own belief, and all else is shared.
# Such a setting has
#   start        one row per group, [group, state], instead of one law
#   start_by     the columns that say which group a trajectory is in
#   start_share  the share of each group, if that is known
# A setting without them has one law. Groups have the labels of behaviour-groups.R.

has_starts <- function(setting) !is.null(setting$start_by)

start_groups <- function(setting) if (has_starts(setting)) rownames(setting$start)

# One row per start, even if there is only one.
start_matrix <- function(setting) {
  start <- setting$start
  if (!has_starts(setting)) {
    # It was put there by hand, and it is not known which start belongs to which group.
    if (NROW(start) > 1 && NCOL(start) > 1) {
      abort_input("setting", "has a `start` with several rows, and no `start_by` that says which trajectory has ",
                  "which: give both to decision_setting().")
    }
    start <- matrix(start, 1, dimnames = list(NULL, setting$states))
  }
  start
}

# The starts as kernels read them, [state, start].
kernel_starts <- function(setting) {
  start <- unname(setting$start)
  if (has_starts(setting) || is.matrix(start)) t(unname(start_matrix(setting))) else start
}

start_shares <- function(setting) {
  n <- if (has_starts(setting)) nrow(setting$start) else 1
  if (is.null(setting$start_share)) rep(1 / n, n) else unname(setting$start_share)
}

# The first belief of somebody who does not know the group.
mean_start <- function(setting) {
  if (!has_starts(setting)) return(setting$start)
  stats::setNames(as.vector(start_shares(setting) %*% setting$start), setting$states)
}

check_start_by <- function(start_by) {
  if (!is.character(start_by) || !length(start_by) || anyNA(start_by) || any(!nzchar(start_by))) {
    abort_input("start_by", "must name columns, not ", describe(start_by), ".")
  }
  if (anyDuplicated(start_by)) {
    abort_input("start_by", "names a column more than once.", rows = which(duplicated(start_by)))
  }
  unname(start_by)
}

# The law of the first state, or one row per group.
check_start <- function(start, states, start_by) {
  if (is.data.frame(start)) start <- as.matrix(start)
  several <- is.numeric(start) && length(dim(start)) == 2 && all(dim(start) > 1)
  if (is.null(start_by)) {
    if (several) {
      abort_input("start", "has several rows: name in `start_by` the columns that say which trajectory has which.")
    }
    return(check_distribution(start, states, "start"))
  }
  if (!is.numeric(start) || length(dim(start)) != 2) {
    abort_input("start", "must be a numeric matrix with one row per group of `start_by` and one column per state, not ",
                describe(start), ".")
  }
  groups <- rownames(start)
  bare <- if (is.null(groups)) seq_len(nrow(start)) else which(is.na(groups) | !nzchar(groups))
  if (length(bare)) abort_input("start", "must have rows named by group; row ", bare[1], " has no name.", rows = bare)
  twice <- which(duplicated(groups))
  if (length(twice)) {
    abort_input("start", "has two rows of the same name; the second of them is row ", twice[1], ".", rows = twice)
  }
  rows <- vapply(seq_along(groups), function(i) {
    check_distribution(start[i, ], states, paste0("start[", i, ", ]"))
  }, numeric(length(states)))
  matrix(t(rows), length(groups), dimnames = list(group = as_utf8(groups), state = states))
}

# "a 0.5, b 0.5" for each start. If there are many, only the first ones are written.
start_texts <- function(start, most = 6) {
  told <- apply(start, 1, function(p) listing(paste(colnames(start), format(p, digits = 3, trim = TRUE))))
  shown <- utils::head(told, most)
  c(paste0(format(rownames(start)[seq_along(shown)]), "  ", shown),
    if (length(told) > most) paste("and", length(told) - most, "more groups"))
}
