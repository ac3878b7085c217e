# What an accuracy table says.

accuracy_columns <- c("method", "score", "action", "estimate", "conf.low", "conf.high", "difference", "difference.low",
                      "difference.high", "visits", "verdict", "note")

# A table keeps its attributes while it has its columns and some rows. Otherwise it becomes a plain data frame.
#' @export
"[.ibrc_accuracy" <- function(x, ...) {
  out <- NextMethod()
  as_part_of(out, x, "ibrc_accuracy", accuracy_columns)
}

as_part_of <- function(out, whole, class, columns) {
  if (!is.data.frame(out)) return(out)
  if (!all(columns %in% names(out)) || !nrow(out)) {
    class(out) <- setdiff(class(out), class)
    return(out)
  }
  kept <- attributes(whole)
  for (name in setdiff(names(kept), c("names", "row.names", "class"))) attr(out, name) <- kept[[name]]
  out
}

#' @export
as.data.frame.ibrc_accuracy <- function(x, ...) {
  for (name in setdiff(names(attributes(x)), c("names", "row.names", "class"))) attr(x, name) <- NULL
  class(x) <- "data.frame"
  x
}

#' @export
tidy.ibrc_accuracy <- function(x, ...) {
  check_unused(...)
  as.data.frame(x)
}

#' @export
glance.ibrc_accuracy <- function(x, ...) {
  check_unused(...)
  reference <- attr(x, "reference")
  data.frame(methods = length(unique(x$method)), failed = length(attr(x, "failures")), visits = x$visits[1],
             trajectories = attr(x, "trajectories"), from = attr(x, "from"),
             reference = if (is.null(reference)) NA_character_ else reference, conf.level = attr(x, "conf.level"))
}

score_words <- c(brier = "Brier score", log_score = "mean log probability of what was done",
                 roc = "area under the ROC curve, within folds",
                 prc = "area under the precision-recall curve, within folds")

#' @export
print.ibrc_accuracy <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits")
  x$method <- safe_text(x$method)
  intervals <- any(!is.na(x$conf.low))
  cat("Predictions of ", format_count(x$visits[1]), " actions in ",
      plural(attr(x, "trajectories"), "trajectory", "trajectories"), ", from visit ", attr(x, "from"), " on",
      if (intervals) paste0("; in brackets ", level_text(attr(x, "conf.level")), " intervals over trajectories"),
      "\n", sep = "")
  label <- ifelse(is.na(x$action), x$score, paste0(x$score, " of \"", safe_text(x$action), "\""))
  for (one in unique(label)) print_score(x[label == one, ], one, attr(x, "reference"), digits)
  cat("\n")
  notes <- x[nzchar(x$note), ]
  lines <- if (nrow(notes)) paste0(label[nzchar(x$note)], ": ", notes$note)
  for (line in unique(lines)) {
    who <- unique(notes$method[lines == line])
    writeLines(paste0(if (length(who) == length(unique(x$method)) && length(who) > 1) "all methods" else
      listing(who), ", ", line))
  }
  if (length(attr(x, "remarks"))) writeLines(attr(x, "remarks"))
  failures <- attr(x, "failures")
  if (length(failures)) writeLines(c("Do not compare methods that failed:", paste0("  ", failures)))
  invisible(x)
}

# One score of all methods: what it is, which direction is better, and one line per method.
print_score <- function(rows, label, reference, digits) {
  number <- function(v) ifelse(is.na(v), "-", formatC(v, digits, format = "f"))
  with_limits <- function(at, low, high) {
    ifelse(is.na(low), number(at), paste0(number(at), " (", number(low), " to ", number(high), ")"))
  }
  low <- rows$score[1] == "brier"
  compared <- !is.na(rows$difference)
  cat("\n", label, ": ", score_words[[rows$score[1]]], "\n", sep = "")
  cat("  (", if (low) "lower" else "higher", " is better", if (any(compared)) {
    paste0("; differences ", if (low) "below" else "above", " 0 are better than ", reference)
  }, ")\n", sep = "")
  apart <- ifelse(compared, paste0("  minus ", reference, ": ", with_limits(
    rows$difference, rows$difference.low, rows$difference.high)), "")
  bad <- ifelse(rows$verdict %in% "do not use", "  (verdict: do not use)", "")
  writeLines(paste0("  ", format(rows$method), "  ", format(with_limits(rows$estimate, rows$conf.low, rows$conf.high)),
                    apart, bad))
}
