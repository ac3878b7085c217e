# Trajectories in groups: one level per combination of the columns in `by`. Missing
# values are a level of their own. No two combinations have the same label. Groups by the column of identifiers are
# single trajectories. They are called by their number, so that no identifier is in a fit.

small_group <- 20

# Without groups, all trajectories are in this one group, and tables of results have no column for it.
lone_group <- "all"
are_groups <- function(labels) !identical(labels, lone_group)
without_lone_group <- function(table, labels) {
  if (!are_groups(labels)) table$group <- NULL
  table
}

# `known`: labels of the groups of a fit, for visits that are given to it later. `argument`: the name under which the
# user gave `by`.
group_trajectories <- function(visits, by, coded, known = NULL, argument = "by") {
  first <- coded$row[!duplicated(coded$trajectory)]
  if (is.null(by)) return(factor(rep(lone_group, length(first))))
  if (!is.character(by) || length(by) == 0) abort_input(argument, "must name columns, not ", describe(by), ".")
  if (anyDuplicated(by)) abort_input(argument, "names a column more than once.", rows = which(duplicated(by)))
  parts <- lapply(seq_along(by), function(i) {
    if (identical(by[i], attr(visits, "roles")$id)) return(numbered_trajectories(length(first)))
    check_column(visits, by[i], argument, " Name it in `covariates` of trajectories(), which drops other columns.")
    group_part(visits[[by[i]]], by[i], coded, first, several = length(by) > 1,
               known = label_part(known, i), argument = argument)
  })
  label <- do.call(paste, c(lapply(parts, as.character), sep = ", "))
  # Groups are ordered by the levels of the first column, then by those of the second.
  in_order <- do.call(order, lapply(parts, as.integer))
  factor(label, levels = unique(label[in_order]))
}

# The number comes with a word, so that nobody mistakes it for an identifier.
numbered_trajectories <- function(n) {
  label <- paste("trajectory", seq_len(n))
  factor(label, levels = label)
}

# Are the labels of groups such numbers, or do they contain them?
are_numbered <- function(labels) all(grepl("\\btrajectory [0-9]+\\b", labels))

# `code`: of each row, what a column has there. It is one and the same within a trajectory, whose first row is in
# `first`.
refuse_changing <- function(code, column, coded, first, argument, advice = NULL) {
  differs <- coded$row[code[coded$row] != code[first][coded$trajectory + 1L]]
  if (length(differs)) {
    abort_rows(sort(differs), argument, "column ", enumerate(column), " changes within a trajectory", advice = advice)
  }
}

# The label of each trajectory in one column. `several`: whether labels of other columns follow. `known`: labels of
# this column in the fit, if there is a fit.
group_part <- function(x, column, coded, first, several, known, argument) {
  x <- plain_column(x)
  refuse_lookalikes(x, argument, column)
  lost <- is_lost(x)
  level <- group_text(x, column, known, argument)
  # NA is different from every text.
  code <- ifelse(lost, 0L, match(level, unique(level)))
  refuse_changing(code, column, coded, first, argument)
  # Must the text "missing" be told apart from missing values, in the fit or here?
  apart <- any(known == quote_label("missing")) || any(lost[first]) && "missing" %in% level[first][!lost[first]]
  levels <- group_levels(x[!lost], level[!lost])
  labels <- group_label(levels, several, apart)
  factor(ifelse(lost, "missing", labels[match(level, levels)])[first], levels = unique(c(labels, "missing")))
}

# Text that differs for different values. R writes numbers with 15 digits, which may make two numbers look the same. If
# so, or if the fit has written a number with more digits, numbers that 15 digits do not hold get all their digits.
group_text <- function(x, column, known, argument = "by") {
  text <- as_utf8(x)
  if (!is.double(x)) return(text)
  value <- as.vector(unclass(x))
  values <- which(!duplicated(value) & !is.na(value))
  shared <- text %in% text[values][duplicated(text[values])]
  if (is.object(x)) {
    again <- which(shared & !is.na(value) & value != value[match(text, text)])
    if (length(again)) {
      abort_rows(again, argument, "column ", enumerate(column), " has values that differ but are written the same",
                 advice = "Round them, or give them as text.")
    }
    return(text)
  }
  digits <- exact_text(value)
  longer <- which((shared | digits %in% known) & !is.na(value) & as.numeric(text) != value)
  text[longer] <- digits[longer]
  text
}

# The levels of a factor keep their order. Numbers and dates are ordered by size, and text by the codes of its letters,
# which is the same in every locale. `text`: `x` as text.
group_levels <- function(x, text) {
  if (is.factor(x)) return(levels(x))
  if (is.character(x)) return(sorted_text(x))
  unique(text[order(x)])
}

# Text as it is, or in quotes if it could be mistaken for something else: for two labels, for a label in quotes, or for
# a missing value, if there are both.
group_label <- function(text, several, apart) {
  unclear <- startsWith(text, "\"") | several & grepl(", ", text, fixed = TRUE) | apart & text == "missing"
  ifelse(unclear, quote_label(text), text)
}

quote_label <- function(text) paste0("\"", gsub("\"", "\"\"", text, fixed = TRUE), "\"")

# The label of the i-th column in labels of groups.
label_part <- function(label, i) {
  if (!length(label)) return(character())
  for (k in seq_len(i)) {
    part <- regmatches(label, regexpr("^(\"([^\"]|\"\")*\"|.*?(?=, )|.*)", label, perl = TRUE))
    label <- sub("^, ", "", substring(label, nchar(part) + 1))
  }
  part
}

# The other way round: the values of the columns that each group's label is made of. Values are text, which gives the
# same label again.
group_columns <- function(label, by) {
  parts <- lapply(seq_along(by), function(i) {
    part <- if (length(by) == 1) label else label_part(label, i)
    quoted <- startsWith(part, "\"")
    text <- ifelse(part == "missing", NA, part)
    text[quoted] <- gsub("\"\"", "\"", substring(part[quoted], 2, nchar(part[quoted]) - 1), fixed = TRUE)
    text
  })
  as.data.frame(stats::setNames(parts, by), optional = TRUE)
}

# Which of the starts of a setting the trajectory of each visit has, counted from 0. A group without a start is an
# error. The message does not name the group, because its name may say too much.
start_codes <- function(visits, setting, coded, argument = "visits") {
  known <- start_groups(setting)
  group <- group_trajectories(visits, setting$start_by, coded, known, "start_by")
  if (!all(levels(group) %in% known)) {
    abort_input(argument, "have a group whose start is not known (`start_by`); known are those of ", enumerate(known),
                ". Learn the dynamics from visits that include this group, or give its start to decision_setting().")
  }
  match(group, known)[coded$trajectory + 1L] - 1L
}

# Adds columns from the labels of groups to those of visits. If a name is taken, the column of visits is renamed.
add_group_columns <- function(out, label, by) {
  names(out) <- ifelse(names(out) %in% by, paste0(".", names(out)), names(out))
  out <- cbind(out, group_columns(label, by))
  rownames(out) <- NULL
  out
}

# Data are few if there are few decisions: fewer than `few_visits`, from any number of trajectories. If there are few
# trajectories as well, `many_visits` are needed to make up for that.
few_visits <- 50
many_visits <- 200
few_data <- function(trajectories, visits) {
  visits < few_visits | trajectories < small_group & visits < many_visits
}

# The number of decisions that count in each trajectory.
scored_visits <- function(coded) tabulate(coded$trajectory[coded$scored] + 1L, max(coded$trajectory) + 1L)

# Counts are given as bounds, which do not reveal a small count. `visits`: how many visits of each trajectory count.
warn_small_groups <- function(group, visits) {
  seen <- tapply(visits, group, sum)
  none <- names(seen)[seen == 0]
  if (length(none)) {
    where <- if (length(none) < length(seen)) paste(" in group", enumerate(none))
    abort("data", "No action of `visits` is scored", where, ": there is nothing to fit.", argument = "visits")
  }
  size <- table(group)
  short <- few_data(size, seen) & size < small_group
  scarce <- few_data(size, seen) & !short
  if (!any(short | scarce)) return(invisible())
  who <- function(small) {
    if (!are_groups(names(seen))) return("There are")
    several <- sum(small) > 1
    paste0("Group", if (several) "s", " ", enumerate(names(seen)[small]), if (several) " have" else " has")
  }
  # It need not be said that one trajectory is few trajectories.
  single <- all(size == 1) && are_numbered(names(size))
  few <- paste0("fewer than ", if (!single) paste(small_group, "trajectories and fewer than "), many_visits, " visits")
  told <- c(
    if (any(short)) paste(who(short), few),
    if (any(scarce)) paste(who(scarce), small_group, "trajectories or more, but fewer than", few_visits, "visits")
  )
  warn("small_group", paste(told, collapse = ". "), ": the posterior will lean on the prior. ",
       if (length(seen) > 1) "Pool groups, or report" else "Report", " it as such.")
}

# Coded visits of one group, with trajectories in order.
group_coded <- function(coded, group, level) {
  keep <- as.vector(group == level)[coded$trajectory + 1L]
  lapply(coded, function(x) x[keep])
}
