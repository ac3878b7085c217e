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

# Data are few where decisions are: below `few_visits`, from however many trajectories. Where trajectories are few as
# well, it takes `many_visits` to make up for them.
few_visits <- 50
many_visits <- 200
few_data <- function(trajectories, visits) {
  visits < few_visits | trajectories < small_group & visits < many_visits
}

# Counts are told as bounds, which give no small one away. `visits`: how many each trajectory has.
warn_small_groups <- function(group, visits) {
  seen <- tapply(visits, group, sum)
  size <- table(group)
  short <- few_data(size, seen) & size < small_group
  scarce <- few_data(size, seen) & !short
  if (!any(short | scarce)) return(invisible())
  who <- function(small) {
    if (identical(names(seen), "all")) return("There are")
    several <- sum(small) > 1
    paste0("Group", if (several) "s", " ", enumerate(names(seen)[small]), if (several) " have" else " has")
  }
  told <- c(
    if (any(short)) paste(who(short), "fewer than", small_group, "trajectories and fewer than", many_visits, "visits"),
    if (any(scarce)) paste(who(scarce), small_group, "trajectories or more, but fewer than", few_visits, "visits")
  )
  warn("small_group", paste(told, collapse = ". "), ": the posterior will lean on the prior. ",
       if (length(seen) > 1) "Pool groups, or report" else "Report", " it as such.")
}

# Coded visits of one group, trajectories in order.
group_coded <- function(coded, group, level) {
  keep <- as.vector(group == level)[coded$trajectory + 1L]
  lapply(coded, function(x) x[keep])
}
