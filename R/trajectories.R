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
#' @section Missing values:
#' A missing observation (`NA`; empty text is not missing, so read files with `na.strings = c("", "NA")`) stays
#' missing, and is nothing to be filled in: a belief
#' then moves by what is expected alone, and [fit_iohmm()] sums over what may have been seen. A
#' missing identifier, time or action is an error that names the rows; no row is ever
#' dropped here. In columns to compare groups by, missing is a group of its own. `NaN` is
#' missing in identifiers, times and actions; an observation that is `NaN` or `Inf` is
#' not a missing one, and is refused where the setting does not know it.
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
  out <- validate_ibrc_trajectories(out, setting)
  if (!is.null(time)) warn_text_times(out[[id]], out[[time]])
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

validate_ibrc_trajectories <- function(visits, setting = NULL) {
  roles <- attr(visits, "roles")
  refuse <- function(...) abort_rows(..., topic = "trajectories")
  who <- visits[[roles$id]]
  lost <- which(is.na(who))
  if (length(lost)) refuse(lost, "id", "`id` is missing", advice = "Leave these rows out.")
  if (!is.null(roles$time)) validate_times(who, visits[[roles$time]], roles, refuse)
  lost <- which(is.na(visits[[roles$action]]) | !nzchar(as.character(visits[[roles$action]])))
  if (length(lost)) {
    refuse(lost, "action", "`action` is missing", advice = paste(
      "Leave these rows out; or, where nothing was done, give that a name and make it one of the setting's actions."
    ))
  }
  if (!is.null(setting)) {
    check_class(setting, "ibrc_setting", "setting", "decision_setting()")
    validate_against_setting(visits, setting)
  }
  visits
}

validate_times <- function(who, when, roles, refuse) {
  or_none <- "or give time = NULL where rows are in order."
  lost <- which(is.na(when))
  if (length(lost)) refuse(lost, "time", "`time` is missing", advice = paste("Leave these rows out,", or_none))
  # A pair of numbers as one: as exact as comparing the two, and fast.
  twice <- which(duplicated(complex(real = match(who, who), imaginary = match(when, when))))
  if (length(twice)) {
    refuse(twice, "time", "an `id` has the same `time` twice",
           advice = paste("Make one visit of them,", or_none))
  }
  if (is_text_time(when)) return(invisible())
  back <- backward_steps(who, as.numeric(when))
  if (length(back)) {
    refuse(back, "time", "the visits of an `id` must be in order of `time`",
           advice = paste0("Sort the rows first: data[order(data[[\"", roles$id, "\"]], data[[\"", roles$time,
                           "\"]]), ]."))
  }
}

is_text_time <- function(when) is.character(when) || is.factor(when) && !is.ordered(when)

# Rows whose time is before that of the same id's row above.
backward_steps <- function(who, when) {
  order_in <- order(match(who, who))
  step <- diff(when[order_in])
  same <- diff(match(who, who)[order_in]) == 0
  sort(order_in[which(same & step < 0) + 1])
}

# Text may be visit codes, which have an order of their own. Dates and numbers as text are likelier a slip, and
# are read as numbers or letter by letter (as 2024-01-31 may be) to see whether they go forward.
warn_text_times <- function(who, when) {
  if (!is_text_time(when)) return(invisible())
  when <- as.character(when)
  if (!all(grepl("^[0-9]+([-/.: T][0-9]+)*Z?$", when))) return(invisible())
  as_number <- suppressWarnings(as.numeric(when))
  if (!anyNA(as_number) && !length(backward_steps(who, as_number))) return(invisible())
  letters <- match(when, sort(unique(when), method = "radix"))
  back <- backward_steps(who, letters)
  if (length(back)) {
    warn("time", "`time` is text, so that rows are taken in the order they stand in, and that may not be the order ",
         "of time (row ", back[1], "). Make it dates or numbers, with as.Date() or as.numeric(), to have it checked.")
  }
}

validate_against_setting <- function(visits, setting) {
  roles <- attr(visits, "roles")
  refuse <- function(...) abort_rows(..., topic = "trajectories")
  done <- as.character(visits[[roles$action]])
  seen <- as.character(visits[[roles$observation]])
  bad <- which(!done %in% setting$actions)
  if (length(bad)) {
    refuse(bad, "action", "`action` is not one of ", enumerate(setting$actions),
           advice = spelling_advice(done[bad], setting$actions, roles$action))
  }
  bad <- which(!is.na(seen) & !seen %in% setting$observations)
  if (length(bad)) {
    refuse(bad, "observation", "`observation` is not one of ", enumerate(setting$observations),
           advice = spelling_advice(seen[bad], setting$observations, roles$observation))
  }
  who <- match(visits[[roles$id]], visits[[roles$id]])
  stopped <- done %in% setting$stop_actions
  after <- which(stats::ave(as.numeric(stopped), who, FUN = function(s) c(0, cumsum(s)[-length(s)])) > 0)
  if (length(after)) {
    refuse(after, "action", "a visit follows an action that ends the trajectory",
           advice = "Leave these rows out, or take the action out of the setting's `stop_actions`.")
  }
}

# Values are not shown: they may be anybody's.
spelling_advice <- function(given, known, column) {
  bare <- function(x) gsub("[^[:alnum:]]", "", tolower(x))
  paste0("Look at column \"", column, "\" there: names must match to the letter",
         if (all(bare(given) %in% bare(known))) ", and these differ in capitals, blanks or signs alone", ".")
}

#' @export
format.ibrc_trajectories <- function(x, ...) {
  roles <- attr(x, "roles")
  if (is.null(roles) || !all(unlist(roles[c("id", "action", "observation")]) %in% names(x))) {
    return(NextMethod())
  }
  n <- length(unique(x[[roles$id]]))
  done <- sort(table(as.character(x[[roles$action]])), decreasing = TRUE)
  lost <- sum(is.na(x[[roles$observation]]))
  c(
    paste0(plural(n, "trajectory", "trajectories"), " with ", plural(nrow(x), "visit"),
           " (median ", stats::median(table(match(x[[roles$id]], x[[roles$id]]))), ")"),
    paste0("  actions       ", listing(paste0(names(done), " ", round(100 * done / nrow(x)), "%"))),
    paste0("  observations  ", listing(sort(unique(as.character(x[[roles$observation]])))),
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
