#' Trajectories from any table of repeated visits
#'
#' For tables in which something is measured at every visit (the marker) and
#' something else only at some visits (the test, which is missing if it was not ordered).
#' The decision is whether to order the test. Both measures are cut into classes. The action of a visit is whether the
#' test was ordered. Its observation is the class of the marker together with the class of
#' the test.
#'
#' Rows may be in any order. The following are left out, in this order, and [flow()] counts them:
#' * rows without identifier or time;
#' * further rows of one identifier at the same time (the first row with marker and test is kept or, if there is none,
#'   the first with the marker);
#' * rows without the marker;
#' * with `interval`, further visits that fall in the same interval;
#' * what comes after the first gap longer than `max_gap`.
#'
#' @param data A data frame with one row per visit.
#' @param id,time,marker,test Names of columns. Times are numbers, dates or
#'   date-times. Marker and test are numbers, or factors or text whose levels
#'   are then the classes. If `marker_cuts` or `test_cuts` is given, text in which all values are numbers is cut like
#'   numbers. Numbers may have a decimal comma or signs between thousands, as in [read_adni()].
#'   `<0.1` stands for 0.1 and `>50` for a number just above 50. Without cuts, text with more than 12 different
#'   numbers is refused, because so many classes are hardly intended; so are words such as `n/a` or `unknown`, which
#'   would be results. A factor is taken as it is, but for codes for missing (`missing_codes`). [trajectories()] says
#'   what else columns may be, and what counts as missing.
#' @param marker_cuts,test_cuts How numbers are cut into classes. A whole number of 2 or
#'   more asks for that many classes of equal size, by the quantiles of the visits that are kept.
#'   Anything else is one or more increasing cut points. Each is the upper end of its class and
#'   belongs to it. For a single cut point that is a whole number write `c(-Inf, 3)`. It is an error to give cuts for
#'   a column of text that is not numbers.
#' @param max_gap The longest time between two visits that does not cut a trajectory, in
#'   the units of `time` (days for dates, seconds for date-times). By default it is `interval`
#'   if that is given; otherwise there is no limit.
#' @param interval The planned time between visits. If it is given, visits are rounded to
#'   whole intervals from the patient's first visit, one visit per interval counts, and gaps are
#'   measured in whole intervals.
#' @param covariates Names of further columns to keep, to compare groups by.
#' @param marker_labels,test_labels Names of the classes, lowest first; by default the
#'   column's name with `low` and `high`, or `low`, `middle` and `high`, or a number.
#' @param action_labels The names of not ordering and of ordering the test. By
#'   default they are, for a test `chol`, `no_chol` and `chol`.
#' @param missing_codes Numbers that stand for missing in marker and test. By default there are none. A
#'   column that is never negative except for values such as -9, -99 or -999 is then refused, because these are codes
#'   far more often than results. With `numeric()` they count as results.
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
                               action_labels = NULL, missing_codes = NULL) {
  check_given(data, id, time, marker, test)
  cut <- c(marker = !missing(marker_cuts), test = !missing(test_cuts))
  roles <- list(id = id, time = time, marker = marker, test = test)
  check_panel(data, roles, covariates)
  missing_codes <- check_missing_codes(missing_codes)
  data <- plain_panel(data, roles, covariates)
  check_panel_values(data, roles)
  for (role in c("marker", "test")) {
    column <- roles[[role]]
    data[[column]] <- panel_measure(data[[column]], cut[[role]], missing_codes, column, role)
  }
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
    abort_input("data", "must not have a column ", enumerate(taken), ": the result has one of that name. Rename it.")
  }
  if (nrow(data) == 0) abort("data", "`data` has no rows.", argument = "data")
}

# The named columns, made plain (plain_column()).
plain_panel <- function(data, roles, covariates) {
  data <- as.data.frame(data)[unique(c(unlist(roles), covariates))]
  for (column in names(data)) {
    data[[column]] <- if (column == roles$id) plain_ids(data[[column]]) else plain_column(data[[column]])
  }
  data
}

check_panel_values <- function(data, roles) {
  who <- data[[roles$id]]
  large <- rounded_rows(who)
  if (length(large)) abort_rounded_ids(large, "id", roles$id)
  refuse_lookalikes(who, "id", roles$id)
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

check_missing_codes <- function(codes) {
  if (is.null(codes)) return(NULL)
  if (!is.numeric(codes) || !is.null(dim(codes)) || !all(is.finite(codes))) {
    abort_input("missing_codes", "must be finite numbers that stand for missing, not ", describe(codes), ".")
  }
  as.numeric(codes)
}

select_panel <- function(data, roles, interval, max_gap) {
  who <- id_codes(data[[roles$id]])
  who[is_lost(data[[roles$id]])] <- NA
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
  # Sums of intervals may differ by rounding.
  gap <- c(FALSE, diff(left(when)) > max_gap * (1 + 1e-9))[seq_along(sieve$row)]
  sieve_rows(sieve, before_first_gap(left(who), gap), "gap", "visit after too long a gap")
}
