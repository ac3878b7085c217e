#' Behaviour seen: a data frame with a row a visit
#'
#' Marks which columns of a data frame say who was seen, when, what was done and
#' what was seen next, and checks them. Rows keep their order and columns their
#' names.
#'
#' A row is a visit: the action taken at it, and the observation that came after
#' the action, before the next visit. An observation may be missing (`NA`), an action may
#' not: where nothing was done, that is an action too, with a name of its own.
#'
#' @section Which observation goes with which action:
#' The observation of a row is what came *of* its action: the test ordered at this visit and
#' its result. Many tables have it the other way round, with a row holding what was known when the
#' action was chosen. Then move the column up by one row within each patient:
#'
#' ```
#' data$seen <- ave(as.character(data$result), data$patient, FUN = function(x) c(x[-1], NA))
#' ```
#'
#' What was known at the first visit has no action before it. It belongs into the `start` of the setting
#' ([decision_setting()]).
#'
#' @param data A data frame (or tibble, or data.table), a row a visit.
#' @param id,action,observation Names of columns, in quotes. Identifiers, actions and
#'   observations may be text, factors or numbers; actions and observations are matched to the setting's
#'   names as text, to the letter.
#' @param time Name of the column that orders the visits of one `id`: numbers,
#'   dates, or an ordered factor. Character times, such as visit codes, are taken
#'   in the order of the rows, with a warning where they look like dates or numbers that
#'   are not in order. `NULL` takes the order of the rows.
#' @param covariates Names of further columns to keep, to compare groups by. Columns not named
#'   are dropped.
#' @param setting Optional: a setting ([decision_setting()]). Given, every action
#'   and observation must be known to it and no row may follow a stop action.
#'
#' @return A data frame of class `ibrc_trajectories` with the columns named.
#' @section What columns may be:
#' Plain columns of any class: numbers, text, factors, ordered or not, dates. Actions,
#' observations and covariates count by their text, in which upper and lower case differ. Of times
#' only an ordered factor has an order of its own; a factor that is not ordered is taken
#' as text is. Lists, matrices and complex numbers are refused, and left out without a word where they
#' are not named. A tibble or a data.table comes back as a plain data frame.
#'
#' Identifiers are the same only where they are the same to the last sign: `"0123"` is not `"123"`. Whole
#' numbers of 64 bits (class `integer64`) become text where they are identifiers. Identifiers that are numbers of
#' 2^53 or more are refused: R does not keep such numbers apart, and they have to be read as text. Text that differs
#' in blanks or in signs that cannot be seen alone is refused by its rows.
#'
#' Columns with labels, as the package haven reads them from SPSS, Stata and SAS, count by their codes; codes
#' that the file declares missing are missing. `haven::as_factor()` puts the labels in their place.
#'
#' @section Missing values:
#' A missing observation (`NA`; empty text is not missing, so read files with `na.strings = c("", "NA")`) stays
#' missing, and is nothing to be filled in: a belief
#' then moves by what is expected alone, and [fit_iohmm()] sums over what may have been seen. A
#' missing identifier, time or action is an error that names the rows; no row is ever
#' dropped here. In columns to compare groups by, missing is a group of its own. `NaN` is
#' missing in identifiers, times and actions, and so is blank text; an observation that is `NaN` or `Inf` is
#' not a missing one, and is refused where the setting does not know it, and one that is blank text is refused. In a
#' factor a level that is `NA`, as [addNA()] makes it, is missing as any `NA` is.
#'
#' @section Where an action is not known:
#' If nothing was done, that is an action: give it a name. If what was done is not known, the row must not be left
#' out of the middle of a trajectory. Between two visits states move and beliefs with them, and without
#' the row one such step would be missing: later visits would be judged by beliefs that nobody held. Leave out the row *and*
#' all later rows of that `id`, or say what was done. At the end of a trajectory the row alone can be left
#' out. The same holds for visits without a time. For a column `done`, this cuts each trajectory
#' before its first row without an action:
#'
#' ```
#' data <- data[ave(as.numeric(is.na(data$done)), data$patient, FUN = cumsum) == 0, ]
#' ```
#'
#' @family behaviour
#' @export
#' @examples
#' visits <- data.frame(
#'   patient = c("a", "a", "b"), visit = c(1, 2, 1),
#'   done = c("monitor", "declare_diseased", "declare_healthy"),
#'   seen = c("positive", NA, NA)
#' )
#' trajectories(visits, id = "patient", time = "visit", action = "done", observation = "seen",
#'              setting = diag_setting())
trajectories <- function(data, id = "id", time = "time", action = "action",
                         observation = "observation", covariates = NULL, setting = NULL) {
  check_given(data)
  if (!is.data.frame(data)) abort_input("data", "must be a data frame, not ", describe(data), ".")
  refuse_bare_columns(as.list(match.call())[-1], data, parent.frame())
  roles <- list(id = id, time = time, action = action, observation = observation)
  for (role in names(roles)) {
    if (role == "time" && is.null(time)) next
    check_column(data, roles[[role]], role)
  }
  if (!is.null(covariates) && !is.character(covariates)) {
    abort_input("covariates", "must be names of columns, not ", describe(covariates), ".")
  }
  for (covariate in covariates) check_column(data, covariate, "covariates")
  used <- unlist(roles, use.names = FALSE)
  if (anyDuplicated(used)) {
    abort_input("id", "`time`, `action` and `observation` must be different columns.")
  }
  if (nrow(data) == 0) abort("data", "`data` has no rows.", argument = "data")
  out <- as.data.frame(data)[unique(c(used, covariates))]
  rownames(out) <- NULL
  out <- new_ibrc_trajectories(out, id, time, action, observation, as.character(covariates))
  out <- validate_ibrc_trajectories(plain_visits(out), setting)
  if (!is.null(time)) warn_text_times(id_codes(out[[id]]), out[[time]])
  out
}

# A column without its quotes, as other packages take it, would fail as an object that is not there.
refuse_bare_columns <- function(written, data, frame) {
  for (role in setdiff(names(written), c("data", "setting"))) {
    name <- if (is.name(written[[role]])) as.character(written[[role]])
    # A variable of that name, other than a function, is meant.
    if (is.null(name) || !name %in% names(data) || exists(name, frame) && !is.function(get(name, frame))) next
    abort_input(role, "must be the name of a column in quotes: ", role, " = \"", name, "\".")
  }
}

new_ibrc_trajectories <- function(data, id, time, action, observation, covariates = character()) {
  structure(data, class = c("ibrc_trajectories", "data.frame"),
            roles = list(id = id, time = time, action = action, observation = observation,
                         covariates = covariates))
}

# Every marked column plain (plain_column()). Of others no more is asked than that they be there.
plain_visits <- function(visits) {
  roles <- attr(visits, "roles")
  for (role in names(roles)) {
    for (column in intersect(roles[[role]], names(visits))) {
      made <- if (role == "id") plain_ids(visits[[column]]) else plain_column(visits[[column]])
      if (!identical(made, visits[[column]])) visits[[column]] <- made
    }
  }
  visits
}

# `advice`: what else to do about a column that is not there.
check_column <- function(data, column, argument, advice = NULL) {
  if (!is.character(column) || length(column) != 1 || is.na(column) || !nzchar(column)) {
    abort_input(argument, "must be the name of a column, not ", describe(column), ".")
  }
  if (!column %in% names(data)) {
    near <- names(data)[agrepl(column, names(data), ignore.case = TRUE)]
    abort_input(argument, "= \"", column, "\" is not a column of the data; there are ",
                enumerate(names(data), most = 12), ".",
                if (length(near)) paste0(" Did you mean ", enumerate(near[1]), "?") else advice)
  }
  if (sum(names(data) %in% column) > 1) abort_input(argument, "= \"", column, "\" is the name of more than one column.")
  values <- data[[column]]
  if (!inherits(values, "POSIXlt") && (!is.atomic(values) || !is.null(dim(values)) || is.complex(values))) {
    abort_input(argument, "= \"", column, "\" must be a plain column, not ", describe_column(values), ".")
  }
}

# Still trajectories, with the columns that were marked, and some rows.
check_visits <- function(visits, argument = "visits") {
  check_class(visits, "ibrc_trajectories", argument, "trajectories()")
  roles <- unlist(attr(visits, "roles")[c("id", "time", "action", "observation")])
  if (is.null(roles) || !all(roles %in% names(visits))) {
    abort_input(argument, "no longer have the columns that trajectories() marked: pass the data to it again.")
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
  lost <- which(is_lost(visits[[roles$action]]))
  if (length(lost)) refuse_visits(lost, "action", "`action` is missing", advice = lost_action_advice(who, lost))
  blank <- which(is_lost(visits[[roles$observation]]) & !is.na(visits[[roles$observation]]))
  if (length(blank)) {
    refuse_visits(blank, "observation", "`observation` is blank text", advice = "Make it NA where nothing was seen.")
  }
  if (!is.null(setting)) {
    check_class(setting, "ibrc_setting", "setting", "decision_setting()")
    validate_against_setting(visits, setting)
  }
  for (role in c("action", "observation")) refuse_lookalikes(visits[[roles[[role]]]], role, roles[[role]])
  visits
}

refuse_visits <- function(...) abort_rows(..., topic = "trajectories")

validate_ids <- function(who, roles) {
  lost <- which(is_lost(who))
  if (length(lost)) {
    refuse_visits(lost, "id", "`id` is missing", advice = paste(
      "Fill it in where it is known whose visits these are. Leave these rows out only where they are of nobody else",
      "in the table: a visit lost from the middle of a trajectory takes a step of time with it."
    ))
  }
  large <- rounded_rows(who)
  if (length(large)) abort_rounded_ids(large, "id", roles$id)
  refuse_lookalikes(who, "id", roles$id)
}

refuse_lookalikes <- function(x, argument, column) {
  rows <- lookalike_rows(x)
  if (length(rows)) {
    refuse_visits(rows, argument, "column \"", column, "\" has values that differ from others in blanks or signs ",
                  "that cannot be seen alone", advice = lookalike_advice)
  }
}

# A row in the middle cannot simply go: states move between visits, and so do beliefs.
lost_action_advice <- function(who, lost) {
  last_known <- integer(max(who))
  # Later rows overwrite earlier ones.
  last_known[who[-lost]] <- seq_along(who)[-lost]
  inside <- lost < last_known[who[lost]]
  paste0(
    "Where nothing was done, give that a name and make it one of the setting's actions. Where it is not known what ",
    "was done, ", if (!any(inside)) "leave these rows out: nothing follows them." else paste0(
      "leave out ", if (all(inside)) "each of these rows" else "each such row", " together with all later rows of its ",
      "`id`: without the row alone, a step of time would be missing from the trajectory."
    )
  )
}

# `who`: whole numbers, one an `id`.
validate_times <- function(who, when, roles) {
  lost <- which(is_lost(when))
  if (length(lost)) {
    refuse_visits(lost, "time", "`time` is missing", advice = paste(
      "Fill it in, or give time = NULL where rows are in order. A row at the end of a trajectory can be left out; one",
      "before that only together with all later rows of its `id`."
    ))
  }
  # match() compares dates and times by what they print as: seconds are lost, and an hour in autumn is there twice.
  key <- if (is_text_time(when)) match(when, when) else as.numeric(when)
  # A pair of numbers as one: as exact as comparing the two, and fast.
  twice <- which(duplicated(complex(real = who, imaginary = match(key, key))))
  if (length(twice)) {
    refuse_visits(twice, "time", "an `id` has the same `time` twice",
                  advice = "Make one visit of them, or give time = NULL where rows are in order.")
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

# Rows whose time is before that of the same id's row above. `who`: whole numbers, one an `id`.
backward_steps <- function(who, when) {
  order_in <- order(who)
  step <- diff(when[order_in])
  same <- diff(who[order_in]) == 0
  sort(order_in[which(same & step < 0) + 1])
}

# Text may be visit codes, which have an order of their own. Dates and numbers as text are likelier a slip, and
# are read as numbers or letter by letter (as 2024-01-31 may be) to see whether they go forward.
warn_text_times <- function(who, when) {
  if (!is_text_time(when)) return(invisible())
  when <- as_utf8(when)
  if (!all(grepl("^[0-9]+([-/.: T][0-9]+)*Z?$", when))) return(invisible())
  order_of <- suppressWarnings(as.numeric(when))
  # Rows sorted by text have 10 before 9: only what is no number goes letter by letter.
  if (anyNA(order_of)) order_of <- match(when, sorted_text(when))
  back <- backward_steps(who, order_of)
  if (length(back)) {
    warn("time", "`time` is text, so that rows are taken in the order they stand in, and that may not be the order ",
         "of time (row ", back[1], "). Make it dates or numbers, with as.Date() or as.numeric(), to have it checked.")
  }
}

validate_against_setting <- function(visits, setting) {
  roles <- attr(visits, "roles")
  done <- as_utf8(visits[[roles$action]])
  seen <- as_utf8(visits[[roles$observation]])
  bad <- which(!done %in% setting$actions)
  if (length(bad)) {
    refuse_visits(bad, "action", "`action` is not one of ", enumerate(setting$actions),
           advice = spelling_advice(done[bad], setting$actions, roles$action))
  }
  bad <- which(!is.na(seen) & !seen %in% setting$observations)
  if (length(bad)) {
    refuse_visits(bad, "observation", "`observation` is not one of ", enumerate(setting$observations),
           advice = spelling_advice(seen[bad], setting$observations, roles$observation))
  }
  who <- id_codes(visits[[roles$id]])
  stopped <- done %in% setting$stop_actions
  after <- which(stats::ave(as.numeric(stopped), who, FUN = function(s) c(0, cumsum(s)[-length(s)])) > 0)
  if (length(after)) {
    refuse_visits(after, "action", "a visit follows an action that ends the trajectory",
           advice = "Leave these rows out, or take the action out of the setting's `stop_actions`.")
  }
}

# Values are not shown: they may be anybody's.
spelling_advice <- function(given, known, column) {
  bare <- function(x) gsub("[^[:alnum:]]", "", lower_case(bare_text(x)))
  paste0("Look at column \"", column, "\" there: names must match to the letter",
         if (all(bare(given) %in% bare(known))) ", and these differ in capitals, blanks or signs alone", ".")
}

#' @export
format.ibrc_trajectories <- function(x, ...) {
  roles <- attr(x, "roles")
  if (is.null(roles) || !all(unlist(roles[c("id", "action", "observation")]) %in% names(x))) {
    return(NextMethod())
  }
  who <- id_codes(x[[roles$id]])
  done <- as_utf8(x[[roles$action]])
  done <- sort(table(factor(done, levels = sorted_text(done))), decreasing = TRUE)
  lost <- sum(is.na(x[[roles$observation]]))
  c(
    paste0(plural(length(unique(who)), "trajectory", "trajectories"), " with ", plural(nrow(x), "visit"),
           " (median ", stats::median(tabulate(who)), ")"),
    paste0("  actions       ", listing(paste0(names(done), " ", round(100 * done / nrow(x)), "%"))),
    paste0("  observations  ", listing(sorted_text(x[[roles$observation]])),
           if (lost) paste0("; ", plural(lost, "missing", "missing"))),
    if (length(roles$covariates)) paste0("  covariates    ", listing(roles$covariates))
  )
}

#' @export
print.ibrc_trajectories <- function(x, n = 6, ...) {
  roles <- attr(x, "roles")
  if (is.null(roles) || !all(unlist(roles[c("id", "action", "observation")]) %in% names(x))) {
    return(NextMethod())
  }
  writeLines(format(x))
  print(utils::head(as.data.frame(x), n), row.names = FALSE)
  if (nrow(x) > n) cat("  ... and", plural(nrow(x) - n, "more row"), "\n")
  invisible(x)
}

#' @export
as.data.frame.ibrc_trajectories <- function(x, ...) {
  attr(x, "roles") <- NULL
  attr(x, "seed") <- NULL
  class(x) <- "data.frame"
  x
}
