#' Trajectories from any table of repeated visits
#'
#' For tables in which something is measured at every visit (the marker) and
#' something else at some visits only (the test, missing where it was not ordered):
#' whether to order the test is the decision. Both measures are cut into classes; a visit's action is whether the
#' test was ordered, and its observation the class of the marker with the class of
#' the test.
#'
#' Rows may stand in any order. Left out, in this order and counted by [flow()]: rows
#' without identifier or time; further rows of one identifier at the same
#' time (of those the first with marker and test stays, failing that the first with the
#' marker); rows without the marker; with `interval`, further visits that fall in the same interval;
#' and what comes after the first gap longer than `max_gap`.
#'
#' @param data A data frame, a row a visit.
#' @param id,time,marker,test Names of columns. Times are numbers, dates or
#'   date-times; marker and test are numbers, or factors or text whose levels
#'   are then the classes.
#' @param marker_cuts,test_cuts How numbers are cut into classes: a whole number of 2 or
#'   more asks for that many classes of equal size, by the quantiles of the visits kept;
#'   anything else is one or more increasing cut points, each the upper end of its class,
#'   itself included. For a single cut point that is a whole number write `c(-Inf, 3)`.
#' @param max_gap The longest time between two visits that does not cut a trajectory, in
#'   the units of `time` (days for dates, seconds for date-times). By default `interval`
#'   where that is given, else no limit.
#' @param interval The planned time between visits. Given, visits are rounded to
#'   whole intervals from the patient's first visit, one visit an interval counts, and gaps are
#'   measured in whole intervals.
#' @param covariates Names of further columns to keep, to compare groups by.
#' @param marker_labels,test_labels Names of the classes, lowest first; by default the
#'   column's name with `low` and `high`, or `low`, `middle` and `high`, or a number.
#' @param action_labels What not ordering and ordering the test are called; by
#'   default, for a test `chol`, `no_chol` and `chol`.
#'
#' @return A cohort: trajectories ([trajectories()]) with the columns named by `id` and
#'   `time`, `action`, `observation` (such as `bili_low_chol_none`; every
#'   combination is a level) and the covariates. The attribute `"cuts"` has the cut points.
#' @seealso [read_adni()] for ADNI's own table.
#' @family clinical tables
#' @export
#' @examples
#' if (requireNamespace("survival", quietly = TRUE)) {
#'   # Cholesterol was measured at some visits of this trial, bilirubin at all.
#'   pbc <- panel_trajectories(survival::pbcseq, id = "id", time = "day",
#'                             marker = "bili", test = "chol",
#'                             marker_cuts = c(1.1, 3), test_cuts = 2, max_gap = 550,
#'                             covariates = c("sex", "trt"))
#'   print(pbc)
#'   print(flow(pbc))
#' }
panel_trajectories <- function(data, id, time, marker, test, marker_cuts = 3, test_cuts = 3, max_gap = NULL,
                               interval = NULL, covariates = NULL, marker_labels = NULL, test_labels = NULL,
                               action_labels = NULL) {
  check_given(data, id, time, marker, test)
  roles <- list(id = id, time = time, marker = marker, test = test)
  check_panel(data, roles, covariates)
  data <- as.data.frame(data)[unique(c(unlist(roles), covariates))]
  data[c(marker, test)] <- lapply(data[c(marker, test)], blank_as_missing)
  if (!is.null(interval)) interval <- check_positive(interval, "interval")
  if (is.null(max_gap)) max_gap <- if (is.null(interval)) Inf else interval
  max_gap <- check_number(max_gap, "max_gap")
  if (max_gap <= 0) abort_input("max_gap", "must be greater than 0; it is ", format(max_gap), ".")
  if (is.null(action_labels)) action_labels <- c(paste0("no_", test), test)
  action_labels <- check_names(action_labels, "action_labels")
  if (length(action_labels) != 2) abort_input("action_labels", "must be two names: not ordered, ordered.")
  marker_cuts <- check_cuts(marker_cuts, data[[marker]], "marker_cuts")
  test_cuts <- check_cuts(test_cuts, data[[test]], "test_cuts")

  sieve <- select_panel(data, roles, interval, max_gap)
  refuse_empty_cohort(sieve)
  kept <- data[sieve$row, , drop = FALSE]
  seen <- panel_classes(kept[[marker]], marker_cuts, marker_labels, marker, "marker")
  tested <- panel_classes(kept[[test]], test_cuts, test_labels, test, "test")
  results <- c(paste0(test, "_none"), tested$labels)
  observation <- paste(seen$labels[seen$class], results[1 + ifelse(is.na(tested$class), 0, tested$class)], sep = "_")
  visits <- data.frame(
    kept[c(id, time)], action = factor(action_labels[1 + !is.na(tested$class)], levels = action_labels),
    observation = factor(observation, levels = cross_labels(seen$labels, results)), kept[covariates],
    check.names = FALSE
  )
  rownames(visits) <- NULL
  visits <- new_ibrc_trajectories(visits, id, time, "action", "observation", as.character(covariates))
  new_ibrc_cohort(validate_ibrc_trajectories(visits), sieve$log, list(marker = seen$cuts, test = tested$cuts))
}

check_panel <- function(data, roles, covariates) {
  if (!is.data.frame(data)) abort_input("data", "must be a data frame, not ", describe(data), ".")
  for (role in names(roles)) check_column(data, roles[[role]], role)
  if (!is.null(covariates) && !is.character(covariates)) {
    abort_input("covariates", "must be names of columns, not ", describe(covariates), ".")
  }
  for (covariate in covariates) check_column(data, covariate, "covariates")
  used <- c(unlist(roles), covariates)
  if (anyDuplicated(used)) {
    abort_input("id", "`time`, `marker`, `test` and `covariates` must be different columns.")
  }
  taken <- intersect(c(roles$id, roles$time, covariates), c("action", "observation"))
  if (length(taken)) {
    abort_input("data", "must call its column ", enumerate(taken), " otherwise: the result has one of that name.")
  }
  if (nrow(data) == 0) abort("data", "`data` has no rows.", argument = "data")
  when <- data[[roles$time]]
  if (!is.numeric(when) && !inherits(when, c("Date", "POSIXct", "difftime"))) {
    abort_input("time", "must name a column of numbers, dates or date-times, not ", describe_column(when), ".")
  }
  for (role in c("marker", "test")) {
    x <- data[[roles[[role]]]]
    if (!is.numeric(x) && !is.factor(x) && !is.character(x)) {
      abort_input(role, "must name a column of numbers, a factor or text, not ", describe_column(x), ".")
    }
    odd <- if (is.numeric(x)) which(is.infinite(x))
    if (length(odd)) abort_rows(odd, role, "`", role, "` is infinite")
  }
}

blank_as_missing <- function(x) {
  if (is.character(x)) x[!nzchar(trimws(x))] <- NA
  x
}

select_panel <- function(data, roles, interval, max_gap) {
  who <- match(data[[roles$id]], data[[roles$id]])
  who[is.na(data[[roles$id]])] <- NA
  when <- as.numeric(data[[roles$time]])
  marker <- data[[roles$marker]]
  test <- data[[roles$test]]
  sieve <- start_sieve(who)
  left <- function(x) x[sieve$row]
  sieve <- sieve_rows(sieve, !is.na(left(who)) & is.finite(left(when)), "visit", "no identifier or no time")
  sieve$row <- sieve$row[order(left(who), left(when))]
  incompleteness <- ifelse(is.na(left(marker)), 2, is.na(left(test)) + 0)
  sieve <- sieve_rows(sieve, keep_best_row(interaction_code(left(who), left(when)), incompleteness), "duplicate",
                      "another row for the same visit")
  sieve <- sieve_rows(sieve, !is.na(left(marker)), "marker", paste0("no \"", roles$marker, "\" at the visit"))
  if (!is.null(interval)) {
    start <- left(when)[match(left(who), left(who))]
    when[sieve$row] <- interval * round((left(when) - start) / interval)
    sieve <- sieve_rows(sieve, !duplicated(interaction_code(left(who), left(when))), "interval",
                        "another visit in the same interval")
  }
  # Sums of intervals are off by rounding.
  gap <- c(FALSE, diff(left(when)) > max_gap * (1 + 1e-9))[seq_along(sieve$row)]
  sieve_rows(sieve, before_first_gap(left(who), gap), "gap", "visit after too long a gap")
}

check_cuts <- function(cuts, x, argument) {
  if (!is.numeric(x)) return(NULL)
  if (!is.numeric(cuts) || !length(cuts) || anyNA(cuts)) {
    abort_input(argument, "must be a number of classes or cut points, not ", describe(cuts), ".")
  }
  if (is_class_count(cuts)) return(list(classes = cuts))
  if (is.unsorted(cuts, strictly = TRUE)) abort_input(argument, "must be cut points that increase.")
  points <- cuts[is.finite(cuts)]
  if (!length(points)) abort_input(argument, "must have a finite cut point.")
  list(points = points)
}

is_class_count <- function(cuts) {
  length(cuts) == 1 && is.finite(cuts) && cuts >= 2 && cuts == round(cuts)
}

# `cuts`: from check_cuts(). Classes of the values kept: numbers from 1, NA where there is no value.
panel_classes <- function(x, cuts, labels, column, role) {
  argument <- paste0(role, "_labels")
  if (is.numeric(x)) {
    points <- if (is.null(cuts$points)) quantile_cuts(x, cuts$classes, column, role) else cuts$points
    class <- findInterval(x, points, left.open = TRUE) + 1L
    n <- length(points) + 1
    if (is.null(labels)) labels <- paste(column, class_words(n), sep = "_")
  } else {
    points <- NULL
    known <- if (is.factor(x)) levels(x) else sort(unique(x[!is.na(x)]))
    class <- match(as.character(x), known)
    n <- length(known)
    if (n < 1) abort_input(role, "has no values among the visits kept.")
    if (is.null(labels)) labels <- paste(column, known, sep = "_")
  }
  labels <- check_names(labels, argument)
  if (length(labels) != n) {
    abort_input(argument, "has ", plural(length(labels), "name"), " for ", plural(n, "class", "classes"), ".")
  }
  list(class = class, labels = labels, cuts = points)
}

quantile_cuts <- function(x, n, column, role) {
  x <- x[!is.na(x)]
  if (!length(x)) abort_input(role, "has no values among the visits kept.")
  cuts <- if (n <= length(x)) stats::quantile(x, seq_len(n - 1) / n, names = FALSE)
  if (is.null(cuts) || anyDuplicated(cuts) || max(cuts) >= max(x)) {
    abort_input(paste0(role, "_cuts"), "= ", n, " asks for more classes than the values of \"", column,
                "\" have quantiles apart; give fewer, or cut points.")
  }
  cuts
}

class_words <- function(n) {
  if (n == 2) return(c("low", "high"))
  if (n == 3) return(c("low", "middle", "high"))
  as.character(seq_len(n))
}
