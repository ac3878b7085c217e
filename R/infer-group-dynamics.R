# Groups with their own dynamics: one setting, or one model prior, for each group of a fit. The groups of such a fit
# share names and priors.

# A list of settings: one that all groups share, or one per group.
as_settings <- function(setting, by) {
  if (!is_group_list(setting)) {
    check_class(setting, "ibrc_setting", "setting", "decision_setting()")
    return(list(setting))
  }
  check_group_list(setting, by, "ibrc_setting", "setting", "decision_setting()")
  # Visits are coded once for all groups, and beliefs compared between them.
  for (part in c("states", "actions", "observations", "stop_actions")) {
    other <- which(!vapply(setting, function(one) identical(one[[part]], setting[[1]][[part]]), NA))
    if (length(other)) {
      abort_input("setting", "must have the same ", sub("_", " ", part), " for every group, in the same order; ",
                  "entry ", other[1], " of the list differs from entry 1.", rows = unname(other))
    }
  }
  whose <- lapply(setting, function(one) list(one$start_by, start_groups(one)))
  other <- which(!vapply(whose, identical, NA, whose[[1]]))
  if (length(other)) {
    abort_input("setting", "must have starts of the same groups (`start_by`) in every entry, in the same order; entry ",
                other[1], " of the list differs from entry 1.", rows = unname(other))
  }
  setting
}

# Settings and model priors are lists with a class; a list of them has no class.
is_group_list <- function(x) is.list(x) && !is.object(x)

check_group_list <- function(x, by, class, argument, made_by) {
  if (is.null(by)) {
    abort_input(argument, "is a list, for groups with dynamics of their own: name their columns in `by` (or in ",
                "`problem` the column that says which problem a trajectory is of), or give one that comes from ",
                made_by, ".")
  }
  check_named_list(x, class, argument, made_by, "group")
}

# Names given may be identifiers, with groups by id above all: entries are told by their position.
check_named_list <- function(x, class, argument, made_by, what) {
  if (!length(x)) abort_input(argument, "is an empty list.")
  given <- if (is.null(names(x))) rep("", length(x)) else names(x)
  bare <- which(is.na(given) | !nzchar(given))
  if (length(bare)) {
    abort_input(argument, "must be a list named by ", what, "; entry ", bare[1], " of it has no name.", rows = bare)
  }
  twice <- which(duplicated(given))
  if (length(twice)) {
    abort_input(argument, "has two entries of the same name; the second of them is entry ", twice[1], ".", rows = twice)
  }
  bad <- which(!vapply(x, inherits, NA, class))
  if (length(bad)) {
    abort_input(argument, "must come from ", made_by, " for every ", what, "; entry ", bad[1], " of the list is ",
                describe(x[[bad[1]]]), ".", rows = unname(bad))
  }
}

# The order in which names of groups have to be taken. An unknown name is not repeated: with groups by id it may be an
# identifier.
match_groups <- function(given, groups, argument) {
  if (!all(as_utf8(given) %in% groups)) {
    abort_input(argument, "names groups that are not there; there are ", enumerate(groups), ".",
                if (are_numbered(groups)) " Groups by id are called by number.")
  }
  match_names(as_utf8(given), groups, argument, "groups")
}

# The number that sets the scale of a default prior, the same in every group: the largest stakes.
widest_setting <- function(settings) {
  settings[[which.max(vapply(settings, function(setting) diff(range(setting$utility)), 0))]]
}

# One problem per group, in the order of `groups`, or NULL where they share one. `make(setting,
# models)` builds it.
group_problems <- function(setting, models, groups, make) {
  if (!is_group_list(setting) && !is_group_list(models)) return(NULL)
  of_group <- function(x, argument) {
    if (!is_group_list(x)) return(rep(list(x), length(groups)))
    x[match_groups(names(x), groups, argument)]
  }
  problems <- Map(make, of_group(setting, "setting"), of_group(models, "models"))
  sizes <- vapply(problems, function(problem) problem$space$n_nodes, 0)
  if (any(sizes != sizes[1])) {
    abort_input("setting", "must let the state be seen in all groups or in none; it is seen in ",
                enumerate(groups[sizes == min(sizes)]), ".")
  }
  stats::setNames(problems, groups)
}
