#' How well methods imitate a known decision maker
#'
#' Draws data sets from a known decision maker, fits methods to each, and measures how far they are from it
#' ([imitation_error()]): mean and spread over the data sets.
#'
#' With a `future::plan()` other than `"sequential"`, data sets are spread over its processes. This needs the package
#' future.apply. An interrupt gives back what was finished, with a warning. A method that fails on a data set has no
#' error there. `failed` counts such data sets, and the first message is kept and shown. Means are over the other data
#' sets; those on which methods fail may be the hard ones. Warnings and verdicts of fits are kept and shown too. What a
#' method is told besides the visits (dynamics, a test's accuracy) is in its function: compare methods that are told the
#' same.
#'
#' @inheritParams interpole_task
#' @param methods A named list of methods, or names of methods, as in [cross_validate()].
#' @param runs How many data sets.
#' @param trajectories How many trajectories each has.
#' @param nsim On how many patients to measure errors; they are new ones for each data set.
#' @param seed A number that settles data sets, methods and patients.
#' @param refresh Whether to say after each round of data sets how many are done: 0 says nothing.
#' @return A data frame of class `ibrc_imitation_study`, one row per method and measure, the truth itself first:
#'   `method`, `measure`, `estimate` (mean over data sets), `sd` (over data sets), `std.error` (of the mean), `runs` and
#'   `failed`. The attribute `"each"` has one row per data set, method and measure, with the `verdict` on the fit and
#'   the `warning`s that it gave. `tidy()` gives the table as a plain data frame. `glance()` gives one row: the numbers
#'   of methods, data sets and trajectories, and how many methods `failed` on some data set.
#' @family decision models
#' @export
#' @examples
#' imitation_study(interpole_task("diag"), c("frequencies", "logistic"), runs = 3, nsim = 50)
imitation_study <- function(truth, methods, runs = 20, trajectories = 100, nsim = 200, horizon = 200, seed = 1,
                            refresh = default_refresh()) {
  check_given(truth, methods)
  check_truth(truth)
  methods <- as_methods(methods)
  if ("truth" %in% names(methods)) abort_input("methods", "must not be called truth: that is the decision maker.")
  runs <- check_count(runs, "runs")
  trajectories <- check_count(trajectories, "trajectories")
  nsim <- check_count(nsim, "nsim", least = 2)
  horizon <- check_count(horizon, "horizon", least = 2)
  seed <- check_seed(seed)
  refresh <- check_count(refresh, "refresh", least = 0)
  pieces <- lapply(streams_from_seed(seed, runs), function(stream) {
    list(truth = truth, methods = methods, own = lapply(methods, own_predictions), trajectories = trajectories,
         nsim = nsim, horizon = horizon, stream = stream)
  })
  results <- run_studies(pieces, refresh)
  new_ibrc_imitation_study(results, c("truth", names(methods)), trajectories)
}

# The results of all data sets that are done.
run_studies <- function(pieces, refresh) {
  cores <- getOption("ibrc.cores", 1)
  with_cores <- function(i, over) c(pieces[[i]], list(cores = cores_of_piece(cores, over)))
  run <- fill_in_rounds(vector("list", length(pieces)), with_cores, run_study, look = function(results, these) {
    if (refresh > 0) tell(message("data set ", count_filled(results), " of ", length(pieces)))
    TRUE
  })
  results <- Filter(Negate(is.null), run$results)
  if (!run$interrupted) return(results)
  if (!length(results)) abort("interrupted", "Interrupted before the first data set was done.")
  warn("interrupted", "Interrupted after ", length(results), " of ", plural(length(pieces), "data set"),
       ": the finished part is returned.")
  results
}

# One data set: errors of the truth and of all methods on it; NULL where one was interrupted. Every method has random
# numbers of its own, by its name.
run_study <- function(piece) {
  with_stream(piece$stream, {
    visits <- simulate(piece$truth, nsim = piece$trajectories, horizon = piece$horizon)
    patients <- monitored_visits(piece$truth$setting, piece$nsim, piece$horizon, NULL)
    seed <- settle_seed()
    rows <- study_rows("truth", list(value = error_rows(patients, piece$truth, piece$truth)))
    for (name in names(piece$methods)) {
      use <- function(model) error_rows(patients, piece$truth, model, piece$own[[name]])
      tried <- try_method(piece$methods[[name]], visits, use, method_streams(seed, name, 1)[[1]], piece$cores)
      if (is.null(tried)) return(NULL)
      rows <- rbind(rows, study_rows(name, tried))
    }
    rows
  })
}

# `tried`: what try_method() gives.
study_rows <- function(method, tried) {
  said <- function(part) if (is.null(tried[[part]])) NA_character_ else tried[[part]]
  data.frame(method = method, measure = imitation_measures,
             estimate = if (is.null(tried$value)) NA_real_ else tried$value$estimate, failure = said("failure"),
             verdict = said("verdict"), warning = said("warning"))
}

imitation_measures <- c("stopping_time", "policy", "belief")

new_ibrc_imitation_study <- function(results, methods, trajectories) {
  each <- do.call(rbind, Map(function(run, rows) data.frame(run = run, rows), seq_along(results), results))
  rows <- expand.grid(measure = imitation_measures, method = methods, stringsAsFactors = FALSE)
  out <- do.call(rbind, Map(function(method, measure) {
    mine <- each[each$method == method & each$measure == measure, ]
    there <- mine$estimate[is.na(mine$failure)]
    spread <- if (length(there) > 1 && all(is.finite(there))) stats::sd(there) else NA_real_
    data.frame(method = method, measure = measure, estimate = if (length(there)) mean(there) else NA_real_,
               sd = spread, std.error = spread / sqrt(length(there)), runs = length(there),
               failed = sum(!is.na(mine$failure)))
  }, rows$method, rows$measure))
  rownames(out) <- NULL
  structure(out, class = c("ibrc_imitation_study", "data.frame"), each = each, trajectories = trajectories)
}

#' @export
"[.ibrc_imitation_study" <- function(x, ...) {
  out <- NextMethod()
  as_part_of(out, x, "ibrc_imitation_study", c("method", "measure", "estimate", "sd", "runs", "failed"))
}

#' @export
as.data.frame.ibrc_imitation_study <- function(x, ...) {
  attributes(x) <- attributes(x)[c("names", "row.names")]
  class(x) <- "data.frame"
  x
}

#' @export
tidy.ibrc_imitation_study <- function(x, ...) {
  check_unused(...)
  as.data.frame(x)
}

#' @export
glance.ibrc_imitation_study <- function(x, ...) {
  check_unused(...)
  data.frame(methods = length(setdiff(x$method, "truth")), data_sets = max(x$runs + x$failed),
             trajectories = attr(x, "trajectories"), failed = length(unique(x$method[x$failed > 0])))
}

# One column per measure that is there, one row per method, whatever the order of the rows.
measures_wide <- function(x, digits) {
  number <- function(v) ifelse(is.na(v), "-", formatC(v, digits, format = "f"))
  label <- ifelse(is.na(x$sd), number(x$estimate), paste0(number(x$estimate), " (", number(x$sd), ")"))
  methods <- unique(x$method)
  measures <- intersect(imitation_measures, x$measure)
  out <- matrix("", length(methods), length(measures), dimnames = list(methods, measures))
  out[cbind(match(x$method, methods), match(x$measure, measures))] <- label
  out
}

#' @export
print.ibrc_imitation_study <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits")
  cat("Imitation of a known decision maker, ", plural(max(x$runs + x$failed), "data set"), " of ",
      plural(attr(x, "trajectories"), "trajectory", "trajectories"), "; sd over data sets in brackets\n\n", sep = "")
  print(measures_wide(x, digits), quote = FALSE, right = TRUE)
  each <- attr(x, "each")[attr(x, "each")$method %in% x$method, ]
  writeLines(remark_lines(each[each$measure == imitation_measures[1], ], "data set"))
  failed <- unique(each[!is.na(each$failure), c("method", "failure")])
  failed <- failed[!duplicated(failed$method), ]
  for (i in seq_len(nrow(failed))) {
    cat(failed$method[i], " failed on ", plural(max(x$failed[x$method == failed$method[i]]), "data set"), ": ",
        failed$failure[i], "\n", sep = "")
  }
  invisible(x)
}
