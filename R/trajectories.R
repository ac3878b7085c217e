#' Behaviour seen: a data frame with a row a visit
#'
#' Marks which columns of a data frame say who was seen, when, what was done and
#' what was seen next, and checks them. Rows keep their order and columns their
#' names.
#'
#' A row is a visit: the action taken at it, and the observation that came after
#' the action, before the next visit. An observation may be missing.
#'
#' @param data A data frame (or tibble, or data.table), a row a visit.
#' @param id,action,observation Names of columns.
#' @param time Name of the column that orders the visits of one `id`: numbers,
#'   dates, or an ordered factor. Character times, such as visit codes, are taken
#'   in the order of the rows. `NULL` takes the order of the rows.
#' @param covariates Names of further columns to keep, to compare groups by.
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
#' A missing observation (`NA`) stays missing, and is nothing to be filled in: a belief
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
  if (!is.data.frame(data)) abort_input("data", "must be a data frame, not ", describe(data), ".")
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
  validate_ibrc_trajectories(out, setting)
}

new_ibrc_trajectories <- function(data, id, time, action, observation, covariates = character()) {
  structure(data, class = c("ibrc_trajectories", "data.frame"),
            roles = list(id = id, time = time, action = action, observation = observation,
                         covariates = covariates))
}

check_column <- function(data, column, argument) {
  if (!is.character(column) || length(column) != 1 || is.na(column) || !nzchar(column)) {
    abort_input(argument, "must be the name of a column, not ", describe(column), ".")
  }
  if (!column %in% names(data)) {
    near <- names(data)[agrepl(column, names(data), ignore.case = TRUE)]
    abort_input(argument, "= \"", column, "\" is not a column of the data; there are ",
                enumerate(names(data), most = 12), ".",
                if (length(near)) paste0(" Did you mean ", enumerate(near[1]), "?"))
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

abort_rows <- function(rows, argument, ...) {
  shown <- if (length(rows) == 1) "row " else "rows "
  abort("data", ..., " (", shown, enumerate(rows, quote = ""), ").", argument = argument, rows = rows)
}

validate_ibrc_trajectories <- function(visits, setting = NULL) {
  roles <- attr(visits, "roles")
  who <- visits[[roles$id]]
  lost <- which(is.na(who))
  if (length(lost)) abort_rows(lost, "id", "`id` is missing")
  if (!is.null(roles$time)) validate_times(who, visits[[roles$time]])
  lost <- which(is.na(visits[[roles$action]]) | !nzchar(as.character(visits[[roles$action]])))
  if (length(lost)) abort_rows(lost, "action", "`action` is missing")
  if (!is.null(setting)) {
    check_class(setting, "ibrc_setting", "setting", "decision_setting()")
    validate_against_setting(visits, setting)
  }
  visits
}

validate_times <- function(who, when) {
  lost <- which(is.na(when))
  if (length(lost)) abort_rows(lost, "time", "`time` is missing")
  # A pair of numbers as one: as exact as comparing the two, and fast.
  twice <- which(duplicated(complex(real = match(who, who), imaginary = match(when, when))))
  if (length(twice)) abort_rows(twice, "time", "an `id` has the same `time` twice")
  if (is.character(when) || is.factor(when) && !is.ordered(when)) return(invisible())
  when <- as.numeric(when)
  order_in <- order(match(who, who))
  step <- diff(when[order_in])
  same <- diff(match(who, who)[order_in]) == 0
  back <- sort(order_in[which(same & step < 0) + 1])
  if (length(back)) abort_rows(back, "time", "the visits of an `id` must be in order of `time`")
}

validate_against_setting <- function(visits, setting) {
  roles <- attr(visits, "roles")
  done <- as.character(visits[[roles$action]])
  seen <- as.character(visits[[roles$observation]])
  bad <- which(!done %in% setting$actions)
  if (length(bad)) {
    abort_rows(bad, "action", "`action` is not one of ", enumerate(setting$actions))
  }
  bad <- which(!is.na(seen) & !seen %in% setting$observations)
  if (length(bad)) {
    abort_rows(bad, "observation", "`observation` is not one of ", enumerate(setting$observations))
  }
  who <- match(visits[[roles$id]], visits[[roles$id]])
  stopped <- done %in% setting$stop_actions
  after <- which(stats::ave(as.numeric(stopped), who, FUN = function(s) c(0, cumsum(s)[-length(s)])) > 0)
  if (length(after)) abort_rows(after, "action", "a visit follows an action that ends the trajectory")
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
