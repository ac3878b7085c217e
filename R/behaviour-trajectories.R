#' Observed behaviour: a data frame with one row per visit
#'
#' Marks which columns of a data frame say who was seen, when, what was done and
#' what was seen next, and checks them. Rows keep their order and columns their
#' names.
#'
#' One step of the setting passes between two rows of an `id`, however far apart they are in time. Visits must
#' therefore be roughly equally spaced. If a visit was missed, end the trajectory there, as [read_adni()] does, or give
#' [panel_trajectories()] an `interval`.
#'
#' A row is a visit. It has the action taken at the visit, and the observation that came after
#' the action, before the next visit. Either may be missing (`NA`). If nothing was done, the action is not missing:
#' doing nothing is an action too, and needs a name of its own.
#'
#' @section Which observation goes with which action:
#' The observation of a row is the *result* of its action, such as the result of the test that was ordered at this
#' visit. Many tables have it the other way round: a row holds what was known when the
#' action was chosen. Then move the column up by one row within each patient:
#'
#' ```
#' data$seen <- ave(as.character(data$result), data$patient, FUN = function(x) c(x[-1], NA))
#' ```
#'
#' What was known at the first visit has no action before it. It belongs in the `start` of the setting
#' ([decision_setting()]).
#'
#' @param data A data frame (or tibble, or data.table) with one row per visit.
#' @param id,action,observation Names of columns, in quotes. Identifiers, actions and
#'   observations may be text, factors or numbers. Actions and observations must be exactly equal, as text, to the
#'   names in the setting.
#' @param time Name of the column that orders the visits of one `id`: numbers,
#'   dates, or an ordered factor. Character times, such as visit codes, are taken
#'   in the order of the rows, with a warning if they look like dates or numbers that
#'   are not in order. `NULL` takes the order of the rows.
#' @param covariates Names of further columns to keep, to compare groups by. Columns not named
#'   are dropped.
#' @param setting Optional: a setting ([decision_setting()]). If it is given, it must know every action
#'   and observation, and no row may follow a stop action.
#' @param scored Optional: the name of a logical column. It is `FALSE` at visits whose action moves beliefs but says
#'   nothing about who took it: a forced or a missed choice, or a visit that a fit leaves out to predict it. See below.
#'
#' @return A data frame of class `ibrc_trajectories` with the named columns.
#' @section What columns may be:
#' Plain columns of any class: numbers, text, factors (ordered or not), dates. Actions,
#' observations and covariates count by their text, in which upper and lower case differ. A factor of times has an order
#' only if it is an ordered factor; any other is treated as text. Lists, matrices and complex numbers are refused if
#' they are named, and dropped silently if they are not. A tibble or a data.table comes back as a plain data frame.
#'
#' Identifiers are the same only if all their characters are the same: `"0123"` is not `"123"`. Identifiers that are
#' whole numbers of 64 bits (class `integer64`) become text. Identifiers that are numbers of 2^53 or more are refused,
#' because R cannot tell such numbers apart: read them as text. Text that differs only in blanks or in invisible
#' characters is refused, and the error names its rows.
#'
#' Columns with labels, as the package haven reads them from SPSS, Stata and SAS, count by their codes; codes
#' that the file declares missing are missing. `haven::as_factor()` puts the labels in their place.
#'
#' @section Missing values:
#' A missing observation is `NA`. (Empty text is not missing, so read files with `na.strings = c("", "NA")`.) It stays
#' missing, and must not be filled in. A belief then moves only by what is expected, and [fit_iohmm()] sums over what
#' may have been seen. A missing identifier or time is an error that names the rows. A missing action gives a warning,
#' see below. No row is ever dropped here. In columns to compare groups by, missing is a group of its own, and blank
#' text is missing. `NaN` is missing in identifiers, times and actions. Blank text is missing in identifiers and times.
#' An observation that is `NaN` or `Inf` is not missing, and is refused if the setting does not know it. An action or
#' observation that is blank text is refused, and so is text such as `NA` or `N/A` unless a setting has that name. In a
#' factor, a level that is `NA`, as [addNA()] makes it, is missing like any other `NA`.
#'
#' @section Actions that are not scored:
#' Some actions say nothing about who took them: the choice was forced, or an answer came too late. Some actions are not
#' known at all. Neither may be left out of the middle of a trajectory. Between two visits states move, and beliefs with
#' them. Without the row one such step would be missing, and later visits would be judged by beliefs that nobody held.
#' Keep the row, and name in `scored` a column that is `FALSE` there. The action then moves beliefs like any other, but
#' [log_lik()], [ibrc()] and what follows from them leave its own probability out. For a habit ([bounded_agent()]) it
#' is the last action of the next visit like any other. After a missing action a habit has no last action.
#'
#' A missing action is never scored. The agent knows which action it took, but we do not. Later visits are judged by the
#' mean of the beliefs to which each action would have led. Its weight is how likely the agent was, in its own view, to
#' take this action and then to see what it saw. (Actions that end a trajectory have no weight, because this one went
#' on.) That is exact if only one action can have been followed by what was seen.
#' Otherwise a mean stands for a belief that we do not know, and later actions are not used to find out which. The
#' agent then looks more careless than it is. In one simulation with 5% of the actions missing at random, `alpha` was
#' 5.7 instead of 5. So [verdict()] says "do not use" about a fit with visits after a missing action. End trajectories
#' before it, as below. [fit_iohmm()] accepts a missing action only at the last visit of a trajectory.
#'
#' A missing action often means that nothing was done, which is an action and needs a name. So there is a warning (class
#' `ibrc_warning_missing_action`) unless `scored` says that it is intended. For a column `done`, this cuts each
#' trajectory before its first row without an action:
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
#'
#' # The second visit of patient "a" was decided by a protocol.
#' visits$free <- c(TRUE, FALSE, TRUE)
#' trajectories(visits, id = "patient", time = "visit", action = "done", observation = "seen",
#'              scored = "free")
trajectories <- function(data, id = "id", time = "time", action = "action",
                         observation = "observation", covariates = NULL, setting = NULL, scored = NULL) {
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
  if (!is.null(scored)) check_column(data, scored, "scored")
  used <- unlist(roles, use.names = FALSE)
  if (anyDuplicated(used)) {
    abort_input("id", "`time`, `action` and `observation` must be different columns.")
  }
  if (any(scored %in% used)) abort_input("scored", "must be a column of its own, not that of another role.")
  if (nrow(data) == 0) abort("data", "`data` has no rows.", argument = "data")
  out <- as.data.frame(data)[unique(c(used, scored, covariates))]
  rownames(out) <- NULL
  out <- new_ibrc_trajectories(out, id, time, action, observation, as.character(covariates), scored)
  out <- validate_ibrc_trajectories(plain_visits(out), setting)
  if (!is.null(time)) warn_text_times(id_codes(out[[id]]), out[[time]])
  warn_lost_actions(out)
  out
}

# Other packages take the name of a column without quotes. Here it would fail as an object that does not exist.
refuse_bare_columns <- function(written, data, frame) {
  for (role in setdiff(names(written), c("data", "visits", "setting"))) {
    name <- if (is.name(written[[role]])) as.character(written[[role]])
    # If there is a variable of that name that is not a function, the variable is meant.
    if (is.null(name) || !name %in% names(data) || exists(name, frame) && !is.function(get(name, frame))) next
    abort_input(role, "must be the name of a column in quotes: ", role, " = \"", name, "\".")
  }
}

new_ibrc_trajectories <- function(data, id, time, action, observation, covariates = character(), scored = NULL) {
  roles <- list(id = id, time = time, action = action, observation = observation, covariates = covariates)
  roles$scored <- scored
  structure(data, class = c("ibrc_trajectories", "data.frame"), roles = roles)
}

# Does the action of each row count? It does if it is known and not marked as not scored.
scored_rows <- function(visits) {
  roles <- attr(visits, "roles")
  known <- !is.na(visits[[roles$action]])
  if (is.null(roles$scored)) known else known & visits[[roles$scored]]
}

# Makes every marked column plain (plain_column()). Other columns are left as they are.
plain_visits <- function(visits) {
  roles <- attr(visits, "roles")
  for (role in names(roles)) {
    for (column in intersect(roles[[role]], names(visits))) {
      made <- if (role == "id") plain_ids(visits[[column]]) else plain_column(visits[[column]])
      # As text, NaN would be an action of that name.
      if (role == "action" && is.double(made)) made[is.nan(made)] <- NA
      if (!identical(made, visits[[column]])) visits[[column]] <- made
    }
  }
  visits
}

#' @export
format.ibrc_trajectories <- function(x, ...) {
  roles <- attr(x, "roles")
  if (is.null(roles) || !all(unlist(roles[c("id", "action", "observation")]) %in% names(x))) {
    return(NextMethod())
  }
  who <- id_codes(x[[roles$id]])
  done <- as_utf8(x[[roles$action]])
  unknown <- sum(is.na(done))
  done <- sort(table(factor(done, levels = sorted_text(done))), decreasing = TRUE)
  shares <- if (length(done)) paste0(names(done), " ", round(100 * done / nrow(x)), "%")
  lost <- sum(is.na(x[[roles$observation]]))
  counted <- if (is.null(roles$scored) || is.logical(x[[roles$scored]])) sum(scored_rows(x)) else NA
  c(
    paste0(plural(length(unique(who)), "trajectory", "trajectories"), " with ", plural(nrow(x), "visit"),
           " (median ", stats::median(tabulate(who)), ")"),
    paste0("  actions       ", known_and_missing(shares, unknown)),
    paste0("  observations  ", known_and_missing(seen_names(x[[roles$observation]]), lost)),
    if (isTRUE(counted < nrow(x))) paste0("  scored        ", format_count(counted), " of ", plural(nrow(x), "visit")),
    if (length(roles$covariates)) paste0("  covariates    ", listing(roles$covariates))
  )
}

# In the order of a factor's levels.
seen_names <- function(seen) {
  known <- sorted_text(seen)
  if (is.factor(seen)) intersect(as_utf8(levels(seen)), known) else known
}

known_and_missing <- function(words, lost) {
  paste(c(if (length(words)) listing(words), if (lost) plural(lost, "missing", "missing")), collapse = "; ")
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
