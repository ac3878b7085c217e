# The result of a cross-validation, and what it says.

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
  said <- function(part, none, type) {
    vapply(run$results, function(x) if (is.null(x)) none else x[[part]], type)
  }
  status <- data.frame(
    method = names(job$methods)[job$pieces$method], fold = job$pieces$fold, seconds = said("seconds", NA_real_, 0),
    verdict = said("verdict", NA_character_, ""), warning = said("warning", NA_character_, ""),
    failure = said("failure", "not finished", "")
  )
  out <- structure(
    list(laws = laws, status = status, words = job$words, folds = job$folds, fold = fold, from = job$from,
         people = job$people, patient = coded$trajectory[back] + 1L, visit = coded$place[back],
         action = coded$action[back] + 1L, scored = coded$scored[back], interrupted = run$interrupted),
    class = "ibrc_cross_validation"
  )
  warn_of_methods(out, run)
  out
}

warn_of_methods <- function(x, run) {
  if (run$interrupted) {
    warn("interrupted", "Cross-validation was interrupted after ", sum(!vapply(run$results, is.null, NA)), " of ",
         plural(nrow(x$status), "fit"), ": the finished part is returned. With `file`, the same call goes on.")
  }
  lines <- c(failure_lines(x, unfinished = FALSE), remark_lines(x$status, "fold"))
  if (length(lines)) warn("methods", paste(lines, collapse = "\n"))
}

# Methods with predictions for every fold.
whole_methods <- function(x) {
  failed <- unique(x$status$method[!is.na(x$status$failure)])
  setdiff(names(x$laws), failed)
}

# "logistic failed in 2 of 5 folds: ...": one line per method that lacks predictions in some fold.
failure_lines <- function(x, unfinished = TRUE) {
  failed <- x$status[!is.na(x$status$failure) & (unfinished | x$status$failure != "not finished"), ]
  vapply(unique(failed$method), function(method) {
    mine <- failed[failed$method == method, ]
    paste0(method, " has no predictions in ", nrow(mine), " of ", max(x$status$fold), " folds: ", mine$failure[1])
  }, "", USE.NAMES = FALSE)
}

#' @export
format.ibrc_cross_validation <- function(x, ...) {
  c(paste0("Cross-validation of ", plural(length(x$laws), "method"), " in ", max(x$status$fold), " folds of ",
           plural(sum(!is.na(x$folds)), "trajectory", "trajectories")),
    paste0("  methods       ", listing(names(x$laws))),
    paste0("  actions       ", listing(x$words$actions), ", ", format_count(sum(x$scored)), " of them scored",
           if (x$from > 1) paste0(", from visit ", x$from, " on")),
    failure_lines(x), remark_lines(x$status, "fold"),
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
  taken <- c("method", "fold", "row", "visit", "action", "scored")
  actions <- x$words$actions
  # A name that is taken, or that such a name has become, gets the prefix.
  columns <- actions
  while (any(bad <- columns %in% taken | duplicated(columns))) columns[bad] <- paste0("probability_", columns[bad])
  pieces <- lapply(names(x$laws), function(method) {
    law <- x$laws[[method]]
    colnames(law) <- columns
    data.frame(method = method, fold = x$fold, row = seq_along(x$fold), visit = x$visit,
               action = factor(actions[x$action], actions), scored = x$scored, law, check.names = FALSE)
  })
  do.call(rbind, pieces)
}

#' @export
glance.ibrc_cross_validation <- function(x, ...) {
  check_unused(...)
  x$status
}
