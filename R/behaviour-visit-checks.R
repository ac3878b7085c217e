# Checks of visits, wherever they come from. Errors name the rows that are wrong.

# Are these still trajectories, with the columns that were marked, and with some rows?
check_visits <- function(visits, argument = "visits") {
  check_class(visits, "ibrc_trajectories", argument, "trajectories()")
  roles <- attr(visits, "roles")
  roles <- unlist(roles[intersect(c("id", "time", "action", "observation", "scored"), names(roles))])
  if (is.null(roles) || !all(roles %in% names(visits))) {
    abort_input(argument, "no longer have the columns that trajectories() marked. Pass the data to it again.")
  }
  for (role in names(roles)) check_column(visits, roles[[role]], role)
  if (nrow(visits) == 0) abort("data", "`", argument, "` have no rows.", argument = argument)
}

# What is wrong, in which rows, and what to do about it.
abort_rows <- function(rows, argument, ..., advice = NULL, topic = NULL) {
  shown <- if (length(rows) == 1) "row " else "rows "
  abort("data", ..., " (", shown, enumerate(rows, quote = ""), ").", if (length(advice)) paste0(" ", advice),
        argument = argument, rows = rows, topic = topic)
}

# `visits`: from plain_visits().
validate_ibrc_trajectories <- function(visits, setting = NULL) {
  roles <- attr(visits, "roles")
  who <- visits[[roles$id]]
  validate_ids(who, roles)
  who <- id_codes(who)
  if (!is.null(roles$time)) validate_times(who, visits[[roles$time]], roles)
  refuse_blank(visits[[roles$action]], "action", "Name what was done; make it NA where that is not known.")
  refuse_blank(visits[[roles$observation]], "observation", "Make it NA where nothing was seen.")
  if (is.null(setting)) for (role in c("action", "observation")) refuse_missing_text(visits[[roles[[role]]]], role)
  if (!is.null(roles$scored)) validate_scored(visits[[roles$scored]], roles)
  if (!is.null(setting)) {
    check_class(setting, "ibrc_setting", "setting", "decision_setting()")
    validate_against_setting(visits, setting)
  }
  for (role in c("action", "observation")) refuse_lookalikes(visits[[roles[[role]]]], role, roles[[role]])
  visits
}

refuse_visits <- function(...) abort_rows(..., topic = "trajectories")

refuse_blank <- function(x, argument, advice) {
  blank <- which(is_lost(x) & !is.na(x))
  if (length(blank)) refuse_visits(blank, argument, "`", argument, "` is blank text", advice = advice)
}

# What programs write for missing: in text it would be one more name. A factor, or a setting, says that it is one.
written_missing <- c("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN")

refuse_missing_text <- function(x, argument) {
  written <- if (is.character(x)) which(bare_text(x) %in% written_missing)
  if (length(written)) {
    refuse_visits(written, argument, "`", argument, "` is a text that stands for missing",
                  advice = "Make it NA. If it is a name, make the column a factor.")
  }
}

validate_scored <- function(scored, roles) {
  if (!is.logical(scored)) {
    abort_input("scored", "must name a logical column: make column ", enumerate(roles$scored), " TRUE where the ",
                "action counts and FALSE where it does not.", topic = "trajectories")
  }
  lost <- which(is.na(scored))
  if (length(lost)) {
    refuse_visits(lost, "scored", "column ", enumerate(roles$scored), " is missing",
                  advice = "Make it TRUE where the action counts and FALSE where it does not.")
  }
}

# "Missing" is easily confused with "nothing was done". Users who mean missing say so in `scored`.
warn_lost_actions <- function(visits) {
  roles <- attr(visits, "roles")
  meant <- if (is.null(roles$scored)) rep(TRUE, nrow(visits)) else visits[[roles$scored]]
  rows <- which(is.na(visits[[roles$action]]) & meant)
  if (!length(rows)) return(invisible())
  warn("missing_action", "`action` is missing (", if (length(rows) == 1) "row " else "rows ",
       enumerate(rows, quote = ""), "): such a visit is not scored. If nothing was done, that is an action: give ",
       "it a name. If it is not known what was done, end the trajectory before it (?trajectories has the line): a fit ",
       "with visits after it has the verdict \"do not use\", unless nothing was seen then and states change alike ",
       "whatever is done. `scored` says that an action is meant to be missing, and no more.")
}

validate_ids <- function(who, roles) {
  lost <- which(is_lost(who))
  if (length(lost)) {
    refuse_visits(lost, "id", "`id` is missing", advice = paste(
      "Fill it in if you know whose visits these are. Leave these rows out only if they belong to nobody else",
      "in the table: if a visit is lost from the middle of a trajectory, a step of time is lost with it."
    ))
  }
  large <- rounded_rows(who)
  if (length(large)) abort_rounded_ids(large, "id", roles$id)
  refuse_lookalikes(who, "id", roles$id)
}

refuse_lookalikes <- function(x, argument, column, topic = "trajectories") {
  rows <- lookalike_rows(x)
  if (length(rows)) {
    abort_rows(rows, argument, "column ", enumerate(column), " has values that differ from others only in blanks or ",
               "invisible characters", advice = lookalike_advice, topic = topic)
  }
}

# `who`: whole numbers, one for each `id`.
validate_times <- function(who, when, roles) {
  lost <- which(is_lost(when))
  if (length(lost)) {
    refuse_visits(lost, "time", "`time` is missing", advice = paste(
      "Fill it in, or give time = NULL if rows are in order. A row at the end of a trajectory can be left out; an",
      "earlier row only together with all later rows of its `id`."
    ))
  }
  # match() compares dates and times by their printed text. Seconds are lost, and one hour in autumn comes twice.
  key <- if (is_text_time(when)) match(when, when) else as.numeric(when)
  # By sorting: R looks for pairs in a way that is slow for millions of them, and answers no interrupt meanwhile.
  place <- match(key, key)
  in_order <- order(who, place)
  same <- diff(who[in_order]) == 0 & diff(place[in_order]) == 0
  twice <- sort(in_order[-1][same])
  if (length(twice)) {
    refuse_visits(twice, "time", "an `id` has the same `time` twice",
                  advice = "Make one visit of them, or give time = NULL if rows are in order.")
  }
  if (is_text_time(when)) return(invisible())
  back <- backward_steps(who, as.numeric(when))
  if (length(back)) {
    refuse_visits(back, "time", "the visits of an `id` must be in order of `time`",
                  advice = paste0("Sort the rows first: data[order(data[[\"", roles$id, "\"]], data[[\"", roles$time,
                                  "\"]]), ]."))
  }
}

is_text_time <- function(when) is.character(when) || is.factor(when) && !is.ordered(when)

# Rows whose time is before that of the previous row of the same id. `who`: whole numbers, one for each `id`.
backward_steps <- function(who, when) {
  order_in <- order(who)
  step <- diff(when[order_in])
  same <- diff(who[order_in]) == 0
  sort(order_in[which(same & step < 0) + 1])
}

# Text may be visit codes, which have an order of their own. Dates and numbers as text are more likely a mistake. They
# are compared as numbers, or letter by letter (as 2024-01-31 can be), to see whether they go forward.
warn_text_times <- function(who, when) {
  if (!is_text_time(when)) return(invisible())
  when <- as_utf8(when)
  if (!all(grepl("^[0-9]+([-/.: T][0-9]+)*Z?$", when))) return(invisible())
  order_of <- suppressWarnings(as.numeric(when))
  # In rows sorted as text, 10 comes before 9. So only text that is not a number is compared letter by letter.
  if (anyNA(order_of)) order_of <- match(when, sorted_text(when))
  back <- backward_steps(who, order_of)
  if (length(back)) {
    warn("time", "`time` is text, so that rows are taken in their present order, and that may not be the order ",
         "of time (row ", back[1], "). Make it dates or numbers, with as.Date() or as.numeric(), to have it checked.")
  }
}

# `rows`: those that have to be of this setting; NULL are all.
validate_against_setting <- function(visits, setting, rows = NULL) {
  roles <- attr(visits, "roles")
  done <- as_utf8(visits[[roles$action]])
  seen <- as_utf8(visits[[roles$observation]])
  own <- is.null(rows) | seq_along(done) %in% rows
  bad <- which(own & !is.na(done) & !done %in% setting$actions)
  if (length(bad)) {
    refuse_visits(bad, "action", "`action` is not one of ", enumerate(setting$actions),
           advice = spelling_advice(done[bad], setting$actions, roles$action))
  }
  bad <- which(own & !is.na(seen) & !seen %in% setting$observations)
  if (length(bad)) {
    refuse_visits(bad, "observation", "`observation` is not one of ", enumerate(setting$observations),
           advice = spelling_advice(seen[bad], setting$observations, roles$observation))
  }
  who <- id_codes(visits[[roles$id]])
  stopped <- own & done %in% setting$stop_actions
  after <- which(stats::ave(as.numeric(stopped), who, FUN = function(s) c(0, cumsum(s)[-length(s)])) > 0)
  if (length(after)) {
    refuse_visits(after, "action", "a visit follows an action that ends the trajectory",
           advice = "Leave these rows out, or take the action out of the setting's `stop_actions`.")
  }
}

# Values are not shown, because they may identify somebody.
spelling_advice <- function(given, known, column) {
  bare <- function(x) gsub("[^[:alnum:]]", "", lower_case(bare_text(x)))
  paste0("Look at column \"", column, "\" there: names must match exactly",
         if (all(bare(given) %in% bare(known))) ", and these differ only in capitals, blanks or signs", ".")
}

abort_rounded_ids <- function(rows, argument, column) {
  abort_rows(rows, argument, "column \"", column, "\" has numbers with more digits than R can tell apart, so that ",
             "different identifiers may have become one",
             advice = "Read the column as text (colClasses = \"character\"), not as numbers.")
}
