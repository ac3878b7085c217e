#' @importFrom generics accuracy
#' @export
generics::accuracy

#' How well models predict behaviour
#'
#' Scores of the predictions of a cross-validation, of all methods on the same visits, with intervals, and how far each
#' is from a method of reference.
#'
#' @section Scores:
#' * `brier`: the mean squared distance between the probabilities and what was done, halved, so that with two actions it
#'   is the mean of (p - y)^2 for either of them. 0 is perfect; lower is better.
#' * `log_score`: the mean log probability of what was done. Higher is better; minus infinity where something was done
#'   that a method called impossible.
#' * `roc`: the chance that a visit at which an action was taken had been given a higher probability of it than one at
#'   which it was not; half where both were given the same. 0.5 says nothing, 1 is perfect.
#' * `prc`: the area under the curve of precision over recall, between visits with the same probability as if they
#'   came in any order. A method that says the same of every visit comes to the share of visits with the action.
#'
#' The last two are of one `action` at a time. They are computed on all visits together, and there is none where an
#' action was always or never taken. By fold (`fold_mean` and `fold_sd`) they leave out such folds, which is said in
#' `note`.
#'
#' @section Intervals:
#' Patients are drawn anew, with all their visits, `resamples` times, the same ones for all methods: intervals are those
#' of the mean over patients like these, for models as they were fitted here. They do not contain how much models would
#' differ had they learned from other patients. Differences are paired.
#'
#' @param object What [cross_validate()] returned.
#' @param action For `roc` and `prc`: names of actions. By default, of two actions the rarer one, and else all of them.
#' @param reference Name of the method that others are compared with; by default the first. `NULL` compares none.
#' @param from The number of the first visit in a trajectory that counts. By default the second: there is nothing to
#'   predict the first one from.
#' @param conf.level Mass of the intervals.
#' @param resamples How often patients are drawn anew; 0 for no intervals.
#' @param seed A number that settles which. The session's generator is left as it was.
#' @param ... Not used.
#' @return A data frame of class `ibrc_accuracy`, one row per method and score: `method`, `score`, `action` (`NA` for
#'   scores of all actions), `estimate`, `conf.low`, `conf.high`, `fold_mean`, `fold_sd`, `difference` (from the
#'   reference), `difference.low`, `difference.high`, `visits` and `note`.
#' @family decision models
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, nsim = 60, seed = 1)
#' crossed <- cross_validate(visits, c("frequencies", "previous_action", "logistic"), folds = 3)
#' accuracy(crossed, action = "monitor", resamples = 100)
accuracy.ibrc_cross_validation <- function(object, action = NULL, reference = names(object$laws)[1], from = 2,
                                           conf.level = 0.95, resamples = 500, seed = 1, ...) {
  check_unused(...)
  from <- check_count(from, "from")
  conf.level <- check_level(conf.level)
  resamples <- check_count(resamples, "resamples", least = 0)
  seed <- check_seed(seed)
  at <- which(object$scored & object$visit >= from & !is.na(object$fold))
  if (!length(at)) {
    abort_input("from", "= ", from, " leaves no visit to score: no trajectory has so many visits with an action that ",
                "counts.")
  }
  actions <- scored_actions(object, at, action)
  methods <- whole_methods(object)
  if (!length(methods)) {
    abort_input("object", "has no method with predictions in every fold: there is nothing to score.")
  }
  if (!is.null(reference)) reference <- check_choice(reference, names(object$laws), "reference")
  scorers <- lapply(object$laws[methods], function(law) {
    score_function(law[at, , drop = FALSE], object$action[at], actions)
  })
  draws <- resampled_scores(scorers, object$patient[at], resamples, seed)
  out <- do.call(rbind, lapply(names(object$laws), function(method) {
    accuracy_rows(method, scorers[[method]], draws, reference, object$fold[at], conf.level, actions)
  }))
  out$visits <- length(at)
  rownames(out) <- NULL
  structure(out, class = c("ibrc_accuracy", "data.frame"), failures = failure_lines(object), from = from,
            conf.level = conf.level, reference = reference)
}

# Which actions to score apart, as numbers named by them.
scored_actions <- function(object, at, action) {
  all <- object$words$actions
  if (is.null(action)) {
    taken <- tabulate(object$action[at], length(all))
    return(if (length(all) == 2) stats::setNames(which.min(taken), all[which.min(taken)]) else
      stats::setNames(seq_along(all), all))
  }
  stats::setNames(as_positions(action, all, "action", "action"), action)
}

score_names <- function(actions) {
  data.frame(score = c("brier", "log_score", rep(c("roc", "prc"), length(actions))),
             action = c(NA, NA, rep(names(actions), each = 2)))
}

# All scores of one method as a function of the weights of visits. What does not depend on these is worked out once.
score_function <- function(law, action, actions) {
  chosen <- law[cbind(seq_along(action), action)]
  squares <- (rowSums(law^2) - 2 * chosen + 1) / 2
  logs <- log(chosen)
  orders <- lapply(actions, function(k) threshold_order(law[, k], action == k))
  function(weight) {
    counted <- weight > 0
    total <- sum(weight)
    areas <- lapply(orders, function(order) {
      counts <- counts_at(order, weight)
      c(roc_of(counts), precision_recall_of(counts))
    })
    c(sum(weight * squares) / total, sum((weight * logs)[counted]) / total, unlist(areas, use.names = FALSE))
  }
}

# [resample, score, method]; patients are the same for all methods.
resampled_scores <- function(scorers, patient, resamples, seed) {
  who <- match(patient, unique(patient))
  n <- max(who)
  weights <- if (resamples > 0) with_stream(streams_from_seed(seed)[[1]], {
    lapply(seq_len(resamples), function(i) tabulate(sample.int(n, replace = TRUE), n))
  })
  lapply(scorers, function(score) {
    list(whole = score(rep(1, length(who))), fold = score,
         resampled = do.call(rbind, lapply(weights, function(weight) score(weight[who]))))
  })
}

accuracy_rows <- function(method, scorer, draws, reference, fold, conf.level, actions) {
  names <- score_names(actions)
  blank <- rep(NA_real_, nrow(names))
  out <- data.frame(method = method, names, estimate = blank, conf.low = blank, conf.high = blank, fold_mean = blank,
                    fold_sd = blank, difference = blank, difference.low = blank, difference.high = blank, note = "")
  own <- draws[[method]]
  if (is.null(own)) {
    out$note <- "no predictions in some fold"
    return(out)
  }
  out$estimate <- own$whole
  limits <- function(x) {
    if (is.null(x)) return(rbind(blank, blank))
    apply(x, 2, stats::quantile, c(1 - conf.level, 1 + conf.level) / 2, na.rm = TRUE, names = FALSE)
  }
  out[c("conf.low", "conf.high")] <- t(limits(own$resampled))
  by_fold <- vapply(sort(unique(fold)), function(k) scorer((fold == k) + 0), blank)
  out$fold_mean <- rowMeans(by_fold, na.rm = TRUE)
  out$fold_sd <- apply(by_fold, 1, stats::sd, na.rm = TRUE)
  other <- if (!is.null(reference) && reference != method) draws[[reference]]
  if (!is.null(other)) {
    out$difference <- own$whole - other$whole
    apart <- if (!is.null(own$resampled)) own$resampled - other$resampled
    out[c("difference.low", "difference.high")] <- t(limits(apart))
  }
  out$note <- accuracy_notes(own$whole, by_fold, names)
  out
}

# What a reader has to know of each score.
accuracy_notes <- function(whole, by_fold, names) {
  lost <- rowSums(is.na(by_fold))
  area <- !is.na(names$action)
  note <- rep("", length(whole))
  note[area & is.na(whole)] <- "the action was always or never taken"
  some <- area & !is.na(whole) & lost > 0
  note[some] <- paste("without", lost[some], "of", ncol(by_fold), "folds in which it was always or never taken")
  note[whole %in% -Inf] <- "something was done that was called impossible"
  note
}

#' @export
print.ibrc_accuracy <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits")
  percent <- format(100 * attr(x, "conf.level"))
  cat("Predictions of ", format_count(x$visits[1]), " actions, from visit ", attr(x, "from"), " on; in brackets ",
      percent, "% intervals over patients\n", sep = "")
  number <- function(v) ifelse(is.na(v), "-", formatC(v, digits, format = "f"))
  with_limits <- function(at, low, high) {
    ifelse(is.na(low), number(at), paste0(number(at), " (", number(low), " to ", number(high), ")"))
  }
  label <- ifelse(is.na(x$action), x$score, paste0(x$score, " of ", x$action))
  for (one in unique(label)) {
    rows <- x[label == one, ]
    cat("\n", one, if (rows$score[1] == "brier") " (lower is better)" else " (higher is better)", "\n", sep = "")
    apart <- ifelse(is.na(rows$difference), "", paste0("  less ", attr(x, "reference"), ": ", with_limits(
      rows$difference, rows$difference.low, rows$difference.high)))
    writeLines(paste0("  ", format(rows$method), "  ",
                      format(with_limits(rows$estimate, rows$conf.low, rows$conf.high)), apart))
  }
  cat("\n")
  notes <- unique(x[nzchar(x$note), c("method", "score", "note")])
  for (i in seq_len(nrow(notes))) cat(notes$method[i], ", ", notes$score[i], ": ", notes$note[i], "\n", sep = "")
  lines <- attr(x, "failures")
  if (length(lines)) writeLines(c("Do not compare methods that failed:", paste0("  ", lines)))
  invisible(x)
}
