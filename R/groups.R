# Trajectories in groups: a level a combination of the columns in `by`, missing
# values a level of their own.

small_group <- 20

group_trajectories <- function(visits, by, coded) {
  first <- coded$row[!duplicated(coded$trajectory)]
  if (is.null(by)) return(factor(rep("all", length(first))))
  if (!is.character(by) || length(by) == 0) abort_input("by", "must name columns, not ", describe(by), ".")
  if (attr(visits, "roles")$id %in% by) {
    abort_input("by", "must not name the column of identifiers: they would stand in the fit, a group each.")
  }
  labels <- lapply(by, function(column) {
    check_column(visits, column, "by", " Name it in `covariates` of trajectories(), which drops other columns.")
    level <- as.character(visits[[column]])
    level[is.na(visits[[column]]) | !nzchar(level)] <- "missing"
    own <- level[first][coded$trajectory + 1L]
    differs <- coded$row[level[coded$row] != own]
    if (length(differs)) {
      abort_rows(sort(differs), "by", "column \"", column, "\" changes within a trajectory")
    }
    factor(level[first], levels = group_levels(visits[[column]], level))
  })
  group <- if (length(labels) == 1) labels[[1]] else interaction(labels, sep = ", ", lex.order = TRUE)
  droplevels(group)
}

group_levels <- function(column, level) {
  known <- if (is.factor(column)) levels(column) else sort(unique(column[!is.na(column)]))
  unique(c(as.character(known), level))
}

warn_small_groups <- function(group) {
  size <- table(group)
  small <- names(size)[size < small_group]
  if (length(small) && identical(names(size), "all")) {
    warn("small_group", "There are fewer than ", small_group, " trajectories: the posterior will lean on the prior. ",
         "Report it as such.")
  } else if (length(small)) {
    warn("small_group", "Group", if (length(small) > 1) "s", " ", enumerate(small), " ha",
         if (length(small) > 1) "ve" else "s", " fewer than ", small_group,
         " trajectories: the posterior will lean on the prior. Pool groups, or report it as such.")
  }
}

# Coded visits of one group, trajectories in order.
group_coded <- function(coded, group, level) {
  keep <- as.vector(group == level)[coded$trajectory + 1L]
  lapply(coded, function(x) x[keep])
}
