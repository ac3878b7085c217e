#' Cross-validate models of behaviour
#'
#' Predicts every action from a model that has not seen its patient: trajectories are split into folds, each method
#' learns from all folds but one, and predicts the actions of that one, visit by visit, from what the same patient had
#' done and seen before. All methods have the same folds. [accuracy()][accuracy.ibrc_cross_validation] tells how well
#' they did.
#'
#' @section Methods:
#' A method is a function of trajectories that returns a model; the model has to answer
#' `predict(model, visits, type = "action")` with one row per visit and one column per action, named as the actions
#' are. Everything that predicts behaviour in this package does ([predict.ibrc_plan()]), so that a method is one line
#' around a fit:
#'
#' `ibrc = function(visits) ibrc_mode(visits, setting, models, prior)`
#'
#' A name stands for a method that is there already: the rules of [fit_baseline()] (`"frequencies"`, `"visit_number"`,
#' `"previous_action"`, `"logistic"`), `"rnn"` ([fit_rnn()]), `"iohmm_bc"` and `"joint_iohmm_bc"` ([fit_iohmm_bc()]), and
#' `"po_irl"` and `"joint_po_irl"` ([fit_po_irl()]). Whatever is learned from the visits, dynamics too, has to be learned
#' inside the function: what it was given from outside has seen the patients it is to predict.
#'
#' A method that fails in a fold has no predictions there. The others go on, and the message is kept and shown.
#'
#' @section Long runs:
#' With a `future::plan()` other than `"sequential"` fits run in its processes, one per method and fold (that needs the
#' package future.apply). With `file`, what is done is kept after each round of fits, and the same call goes on behind
#' it. An interrupt gives back what was finished, with a warning. Nothing depends on either: every fit has random
#' numbers of its own.
#'
#' @param visits Trajectories ([trajectories()]).
#' @param methods A list of methods, named; or names of methods.
#' @param folds How many folds; or a whole number for each trajectory, in order of first appearance; or an earlier
#'   result, to use its folds.
#' @param stratify Names of covariates whose groups are to be spread evenly over the folds.
#' @param seed A number that settles the folds and the random numbers of the methods.
#' @param file Where to keep what is done, a path; `NULL` keeps nothing. No identifier is in it.
#' @param refresh Whether to say after each round of fits how many are done: 0 for no.
#' @return An object of class `ibrc_cross_validation`. `tidy()` gives the predictions: one row per method and visit with
#'   `method`, `fold`, `row` (of `visits`), `visit` (its number in its trajectory), `action` (what was done), `scored`
#'   (whether it counts) and one column of probabilities per action. `glance()` gives one row per method and fold, with
#'   the seconds that it took and why it failed.
#' @seealso [kfold()] for the expected log predictive density of a fit.
#' @family decision models
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, nsim = 60, seed = 1)
#' bounded <- function(visits) {
#'   ibrc_mode(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             resolution = 20, starts = 1, conf.level = NULL, seed = 1)
#' }
#' crossed <- cross_validate(visits, list("frequencies", "logistic", bounded = bounded), folds = 3)
#' crossed
#' accuracy(crossed, resamples = 100)
cross_validate <- function(visits, methods, folds = 5, stratify = NULL, seed = 1, file = NULL,
                           refresh = default_refresh()) {
  check_given(visits, methods)
  check_visits(visits)
  methods <- as_methods(methods)
  words <- learned_words(visits)
  coded <- learned_visits(visits, words)
  check_teaching(coded)
  seed <- check_seed(seed)
  counted <- as.vector(rowsum(coded$scored + 0, coded$trajectory)) > 0
  group <- as.integer(group_trajectories(visits, stratify, coded, argument = "stratify"))
  if (inherits(folds, "ibrc_cross_validation")) folds <- folds$folds
  folds <- check_folds(folds, group, seed, counted)
  refresh <- check_count(refresh, "refresh", least = 0)
  if (!is.null(file)) file <- check_path(file)
  job <- list(visits = with_all_levels(visits, words), methods = methods, words = words, coded = coded, folds = folds,
              pieces = expand.grid(fold = seq_len(max(folds, na.rm = TRUE)), method = seq_along(methods)),
              streams = streams_from_seed(seed, max(folds, na.rm = TRUE) * length(methods)))
  new_ibrc_cross_validation(job, run_pieces(job, file, refresh, seed))
}

# ---- methods -----------------------------------------------------------------------------------------------------

known_methods <- list(
  frequencies = function(visits) fit_baseline(visits, "frequencies"),
  visit_number = function(visits) fit_baseline(visits, "visit_number"),
  previous_action = function(visits) fit_baseline(visits, "previous_action"),
  logistic = function(visits) fit_baseline(visits, "logistic"),
  rnn = function(visits) fit_rnn(visits, refresh = 0),
  iohmm_bc = function(visits) fit_iohmm_bc(visits),
  joint_iohmm_bc = function(visits) fit_iohmm_bc(visits, joint = TRUE, refresh = 0),
  po_irl = function(visits) fit_po_irl(visits, refresh = 0),
  joint_po_irl = function(visits) fit_po_irl(visits, joint = TRUE, refresh = 0)
)

as_methods <- function(methods) {
  if (is.character(methods)) methods <- as.list(methods)
  if (is.function(methods)) abort_input("methods", "must be a list of methods with names, such as list(mine = f).")
  if (!is.list(methods) || is.object(methods) || !length(methods)) {
    abort_input("methods", "must be a list of functions and names of methods, not ", describe(methods), ".")
  }
  given <- if (is.null(names(methods))) rep("", length(methods)) else names(methods)
  out <- lapply(seq_along(methods), function(i) as_method(methods[[i]], i))
  named <- vapply(methods, is.character, NA)
  given[named & !nzchar(given)] <- unlist(methods[named & !nzchar(given)])
  if (!all(nzchar(given))) {
    abort_input("methods", "must have a name for every function; there is none at position ", which(!nzchar(given))[1],
                ".", rows = which(!nzchar(given)))
  }
  stats::setNames(out, check_names(given, "methods"))
}

as_method <- function(method, position) {
  if (is.function(method)) return(method)
  if (is.character(method) && length(method) == 1 && method %in% names(known_methods)) return(known_methods[[method]])
  abort_input("methods", "must hold functions of trajectories, or some of ", enumerate(names(known_methods), Inf),
              "; at position ", position, " it has ", describe(method), ".", rows = position)
}

# A fold may lack what others have: the words stay.
with_all_levels <- function(visits, words) {
  roles <- attr(visits, "roles")
  visits <- plain_visits(visits)
  visits[[roles$action]] <- factor(as_utf8(visits[[roles$action]]), words$actions)
  visits[[roles$observation]] <- factor(as_utf8(visits[[roles$observation]]), words$observations)
  visits
}

# ---- the run -----------------------------------------------------------------------------------------------------

# What there is of every piece, NULL where it was not come to. In rounds of as many as there are processes.
run_pieces <- function(job, file, refresh, seed) {
  n <- nrow(job$pieces)
  results <- vector("list", n)
  fingerprint <- fingerprint_of(list(job$coded[c("trajectory", "action", "observation", "scored")], job$words,
                                     lapply(job$methods, function(method) method), job$folds, seed))
  if (!is.null(file)) {
    lock <- new_lock(file)
    on.exit(release_lock(lock))
    take_lock(lock)
    results <- pieces_kept(file, fingerprint, results, job)
  }
  over <- can_spread()
  at_once <- if (over) max(1, min(future::nbrOfWorkers(), n)) else 1
  interrupted <- FALSE
  tryCatch({
    while (length(left <- which(vapply(results, is.null, NA)))) {
      these <- utils::head(left, at_once)
      done <- spread(lapply(these, piece_of, job = job), run_one_piece, over)
      suspendInterrupts({
        results[these] <- done
        if (!is.null(file)) write_checkpoint(file, lapply(results, piece_to_plain), fingerprint)
      })
      if (refresh > 0) tell(message("fit ", n - length(left) + length(these), " of ", n))
    }
  }, interrupt = function(condition) interrupted <<- TRUE)
  list(results = results, interrupted = interrupted)
}

# What a process needs for one method and fold.
piece_of <- function(i, job) {
  out <- job$folds[job$coded$trajectory + 1L] %in% job$pieces$fold[i]
  kept <- !is.na(job$folds)[job$coded$trajectory + 1L] & !out
  list(train = job$visits[sort(job$coded$row[kept]), ], test = job$visits[sort(job$coded$row[out]), ],
       method = job$methods[[job$pieces$method[i]]], actions = job$words$actions, stream = job$streams[[i]])
}

run_one_piece <- function(piece) {
  began <- proc.time()[["elapsed"]]
  out <- tryCatch(with_stream(piece$stream, {
    law <- suppressMessages(predict(piece$method(piece$train), piece$test, type = "action"))
    list(law = check_law(law, piece), failure = NA_character_)
  }), error = function(e) list(law = NULL, failure = conditionMessage(e)))
  c(out, seconds = proc.time()[["elapsed"]] - began)
}

# [visit, action], whatever order its columns came in.
check_law <- function(law, piece) {
  law <- as.matrix(law)
  if (!is.numeric(law) || nrow(law) != nrow(piece$test) || !setequal(colnames(law), piece$actions)) {
    stop("its predictions are not one row per visit and one column per action", call. = FALSE)
  }
  law <- unname(law[, piece$actions, drop = FALSE])
  if (anyNA(law) || any(law < 0) || any(abs(rowSums(law) - 1) > 1e-6)) {
    stop("its predictions are not probabilities that sum to 1", call. = FALSE)
  }
  law
}

# ---- its file ----------------------------------------------------------------------------------------------------

piece_to_plain <- function(result) if (!is.null(result)) list(result$law, result$failure, result$seconds)

# Of an earlier call with the same visits, methods, folds and seed; whatever else is there is refused.
pieces_kept <- function(file, fingerprint, results, job) {
  if (!file.exists(file)) {
    check_writable(file)
    return(results)
  }
  kept <- read_checkpoint(file, fingerprint)$contents
  sizes <- tabulate(job$folds[job$coded$trajectory + 1L], max(job$folds, na.rm = TRUE))
  for (i in seq_along(results)) {
    one <- if (is.list(kept) && length(kept) == length(results)) kept[[i]] else list()
    if (is.null(one)) next
    size <- c(sizes[job$pieces$fold[i]], length(job$words$actions))
    fine <- is.list(one) && length(one) == 3 && (is.null(one[[1]]) || is_finite(one[[1]], size)) &&
      is.character(one[[2]]) && length(one[[2]]) == 1 && is_finite(one[[3]], 1)
    if (!fine) refuse_damaged("it does not hold predictions of these visits")
    results[[i]] <- list(law = one[[1]], failure = one[[2]], seconds = one[[3]])
  }
  results
}

# ---- the result --------------------------------------------------------------------------------------------------

# Probabilities [visit, action] by method, NA where there are none, in the order of the rows of the visits.
new_ibrc_cross_validation <- function(job, run) {
  coded <- job$coded
  n <- length(coded$row)
  back <- order(coded$row)
  fold <- job$folds[coded$trajectory + 1L][back]
  laws <- lapply(job$methods, function(method) matrix(NA_real_, n, length(job$words$actions)))
  for (i in seq_len(nrow(job$pieces))) {
    law <- run$results[[i]]$law
    if (!is.null(law)) laws[[job$pieces$method[i]]][which(fold == job$pieces$fold[i]), ] <- law
  }
  status <- data.frame(
    method = names(job$methods)[job$pieces$method], fold = job$pieces$fold,
    seconds = vapply(run$results, function(x) if (is.null(x)) NA_real_ else x$seconds, 0),
    failure = vapply(run$results, function(x) if (is.null(x)) "not finished" else x$failure, "")
  )
  out <- structure(
    list(laws = laws, status = status, words = job$words, folds = job$folds, fold = fold,
         patient = coded$trajectory[back] + 1L, visit = coded$place[back], action = coded$action[back] + 1L,
         scored = coded$scored[back], interrupted = run$interrupted),
    class = "ibrc_cross_validation"
  )
  if (run$interrupted) {
    warn("interrupted", "Cross-validation was interrupted after ", sum(!vapply(run$results, is.null, NA)), " of ",
         plural(nrow(job$pieces), "fit"), ": what is finished came back. With `file` the same call goes on.")
  }
  out
}

# Methods with predictions for every fold.
whole_methods <- function(x) {
  failed <- unique(x$status$method[!is.na(x$status$failure)])
  setdiff(names(x$laws), failed)
}

# "logistic failed in 2 of 5 folds: ...": one line per method that is not whole.
failure_lines <- function(x) {
  failed <- x$status[!is.na(x$status$failure), ]
  vapply(unique(failed$method), function(method) {
    mine <- failed[failed$method == method, ]
    paste0(method, " has no predictions in ", nrow(mine), " of ", max(x$status$fold), " folds: ", mine$failure[1])
  }, "", USE.NAMES = FALSE)
}

#' @export
format.ibrc_cross_validation <- function(x, ...) {
  c(paste0("Cross-validation of ", plural(length(x$laws), "method"), " in ", max(x$status$fold), " folds of ",
           plural(max(x$patient), "trajectory", "trajectories")),
    paste0("  methods       ", listing(names(x$laws))),
    paste0("  actions       ", listing(x$words$actions), ", ", format_count(sum(x$scored)), " of them scored"),
    failure_lines(x),
    "How well they predict: accuracy()")
}

#' @export
print.ibrc_cross_validation <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

#' @export
tidy.ibrc_cross_validation <- function(x, ...) {
  check_unused(...)
  pieces <- lapply(names(x$laws), function(method) {
    law <- x$laws[[method]]
    colnames(law) <- x$words$actions
    data.frame(method = method, fold = x$fold, row = seq_along(x$fold), visit = x$visit,
               action = factor(x$words$actions[x$action], x$words$actions), scored = x$scored, law, check.names = FALSE)
  })
  do.call(rbind, pieces)
}

#' @export
glance.ibrc_cross_validation <- function(x, ...) {
  check_unused(...)
  x$status
}
