#' How well methods imitate a known decision maker
#'
#' Draws data sets from a known decision maker, fits methods to each, and measures how far they are from it
#' ([imitation_error()]): mean and spread over the data sets.
#'
#' With a `future::plan()` other than `"sequential"` data sets are spread over its processes (that needs the package
#' future.apply). An interrupt gives back what was finished, with a warning. A method that fails on a data set has no
#' error there, which is counted in `failed`, and the first message is kept and shown.
#'
#' @inheritParams interpole_task
#' @param methods A list of methods, named, or names of methods, as in [cross_validate()].
#' @param runs How many data sets.
#' @param trajectories How many trajectories each has.
#' @param nsim How many patients to measure errors on, new ones for each data set.
#' @param seed A number that settles data sets, methods and patients.
#' @param refresh Whether to say after each round of data sets how many are done: 0 for no.
#' @return A data frame of class `ibrc_imitation_study`, one row per method and measure, the truth itself first:
#'   `method`, `measure`, `estimate` (mean over data sets), `sd` (over data sets), `std.error` (of the mean), `runs` and
#'   `failed`. The attribute `"each"` has one row per data set.
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
    list(truth = truth, methods = methods, trajectories = trajectories, nsim = nsim, horizon = horizon, stream = stream)
  })
  results <- run_studies(pieces, refresh)
  new_ibrc_imitation_study(results, c("truth", names(methods)), trajectories)
}

# What there is of every data set, in rounds of as many as there are processes.
run_studies <- function(pieces, refresh) {
  results <- list()
  over <- can_spread()
  at_once <- if (over) max(1, future::nbrOfWorkers()) else 1
  tryCatch({
    while (length(results) < length(pieces)) {
      these <- utils::head(setdiff(seq_along(pieces), seq_along(results)), at_once)
      results <- c(results, spread(pieces[these], run_study, over))
      if (refresh > 0) tell(message("data set ", length(results), " of ", length(pieces)))
    }
  }, interrupt = function(condition) {
    if (!length(results)) abort("interrupted", "Interrupted before the first data set was done.")
    warn("interrupted", "Interrupted after ", length(results), " of ", plural(length(pieces), "data set"),
         ": what is finished came back.")
  })
  results
}

# One data set: errors of the truth and of all methods on it. Every method has random numbers of its own.
run_study <- function(piece) {
  with_stream(piece$stream, {
    visits <- simulate(piece$truth, nsim = piece$trajectories, horizon = piece$horizon)
    patients <- monitored_visits(piece$truth$setting, piece$nsim, piece$horizon, NULL)
    streams <- streams_from_seed(NULL, length(piece$methods))
    fitted <- Map(function(name, method, stream) {
      study_rows(name, with_stream(stream, tryCatch({
        error_rows(patients, piece$truth, suppressMessages(method(visits)))
      }, error = conditionMessage)))
    }, names(piece$methods), piece$methods, streams)
    do.call(rbind, c(list(study_rows("truth", error_rows(patients, piece$truth, piece$truth))), unname(fitted)))
  })
}

# `errors`: rows of measures, or why there are none.
study_rows <- function(method, errors) {
  if (is.data.frame(errors)) return(data.frame(method = method, errors[1:2], failure = NA_character_))
  data.frame(method = method, measure = imitation_measures, estimate = NA_real_, failure = errors)
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
print.ibrc_imitation_study <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits")
  cat("Imitation of a known decision maker, ", plural(max(x$runs + x$failed), "data set"), " of ",
      plural(attr(x, "trajectories"), "trajectory", "trajectories"), "; sd over data sets in brackets\n\n", sep = "")
  number <- function(v) ifelse(is.na(v), "-", formatC(v, digits, format = "f"))
  label <- ifelse(is.na(x$sd), number(x$estimate), paste0(number(x$estimate), " (", number(x$sd), ")"))
  wide <- matrix(label, ncol = length(imitation_measures), byrow = TRUE,
                 dimnames = list(unique(x$method), imitation_measures))
  print(wide, quote = FALSE, right = TRUE)
  failed <- unique(attr(x, "each")[!is.na(attr(x, "each")$failure), c("method", "failure")])
  failed <- failed[!duplicated(failed$method), ]
  for (i in seq_len(nrow(failed))) {
    cat(failed$method[i], " failed on ", plural(max(x$failed[x$method == failed$method[i]]), "data set"), ": ",
        failed$failure[i], "\n", sep = "")
  }
  invisible(x)
}
