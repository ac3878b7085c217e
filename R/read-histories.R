# Other people's visits, coded as a fit keeps its own.

# For each group a tree (none where there are no visits), actions from 1 and the rows that they came from; and the group
# of each trajectory.
group_histories <- function(coded, group, fit) {
  pieces <- lapply(levels(group), function(level) group_coded(coded, group, level))
  list(coded = pieces, histories = lapply(pieces, function(piece) {
    if (length(piece$row)) build_histories(piece, fit$problem$setting)
  }), actions = lapply(pieces, function(piece) piece$action + 1L), rows = lapply(pieces, `[[`, "row"),
  group = as.integer(group))
}

# Whether these histories and actions, by group, are those that the fit was made from. Which of them count (`scored`)
# may differ: a fit may judge actions that were held out of it.
is_fitted_data <- function(seen, fit, scored = FALSE) {
  parts <- c("visit", "start", "parent", "action", "observation", if (scored) "scored")
  same_tree <- function(a, b) identical(lapply(a[parts], as.integer), lapply(b[parts], as.integer))
  identical(seen$group, as.integer(fit$trajectory_group)) &&
    all(mapply(same_tree, seen$histories, fit$histories)) &&
    identical(lapply(seen$actions, as.integer), lapply(unname(fit$visit_actions), as.integer))
}
