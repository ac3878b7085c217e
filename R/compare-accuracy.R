#' @importFrom generics accuracy
#' @export accuracy
NULL

#' How well models predict behaviour
#'
#' Scores the predictions of a cross-validation, with intervals. All methods are scored on the same visits, and each is
#' compared with a method of reference.
#'
#' @section Scores:
#' * `brier`: the Brier score. It is the squared distance between the probabilities and what was done, halved, and
#'   averaged over visits. With two actions it is the mean of (p - y)^2 for either of them. 0 is perfect; lower is
#'   better. A method that always says the shares at which two actions are taken, p and 1 - p, scores p(1 - p).
#' * `log_score`: the mean log probability of what was done. Higher is better. It is minus infinity where something was
#'   done that a method called impossible.
#' * `roc`: the area under the receiver operating characteristic (ROC). Take a visit at which an action was taken, and
#'   one at which it was not. The area is the chance that the first had been given the higher probability of the action.
#'   Equal probabilities count half. 0.5 says nothing, 1 is perfect.
#' * `prc`: the area under the precision-recall curve (PRC). Visits with the same probability count as if they came in
#'   any order. A method that gives all visits the same probability scores the share of visits with the action.
#'
#' The last two scores are of one `action` at a time. They are computed *within folds*: only probabilities that come
#' from one model are put in order. The areas of the folds are averaged, weighted by their numbers of visits. A fold in
#' which the action was always or never taken has no area, and `note` says so. Areas that are pooled over folds would be
#' biased downwards, because the fold with the fewest events is the one whose model has seen the most of them.
#' `fold_mean` and `fold_sd` are the mean and the standard deviation over folds, each counting once.
#'
#' @section Intervals:
#' Trajectories are drawn anew, with all their visits, `resamples` times. The draws are the same for all methods. The
#' intervals are those of the mean over visits in trajectories like these, for models as they were fitted here. They do
#' not contain how much the models would differ if they had learned from other trajectories. So they are somewhat short.
#' On 80 made-up data sets of 60 patients, 95% intervals of Brier scores and of their differences held the truth in
#' about 90%. Differences are paired. Fewer than five trajectories give no intervals. An action that was taken, or not
#' taken, in fewer than five has areas without intervals. `note` counts the resamples in which some fold had no area
#' left. The other folds of such a resample stand for it.
#'
#' @aliases accuracy
#' @param object What [cross_validate()] returned.
#' @param action For `roc` and `prc`: names of actions. By default the rarer one of two actions; of more than two, all.
#' @param reference Name of the method that others are compared with; by default the first. `NULL` compares none.
#' @param from The number of the first visit in a trajectory that counts. By default, and at the least, the first that
#'   methods learned from ([cross_validate()]).
#' @param conf.level The confidence level of the intervals.
#' @param resamples How often trajectories are drawn anew, 10 or more; 0 for no intervals.
#' @param seed A number that settles which are drawn. The session's generator is left as it was.
#' @param ... Not used.
#' @return A data frame of class `ibrc_accuracy` with one row per method and score. `tidy()` gives it as a plain data
#'   frame, and `glance()` gives one row about it. It has the columns
#'   * `method`, `score` and `action` (`NA` for scores of all actions).
#'   * `estimate`, `conf.low` and `conf.high`.
#'   * `fold_mean` and `fold_sd`.
#'   * `difference`, `difference.low` and `difference.high`: the method's estimate minus that of the reference. For
#'     `brier` a difference below 0 is better, for the others one above 0.
#'   * `visits`: how many were scored.
#'   * `verdict`: the worst over folds, for methods that have one.
#'   * `note`: what else there is to say.
#' @family decision models
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, nsim = 60, seed = 1)
#' crossed <- cross_validate(visits, c("frequencies", "previous_action", "logistic"), folds = 3)
#' accuracy(crossed, action = "monitor", resamples = 100)
accuracy.ibrc_cross_validation <- function(object, action = NULL, reference = names(object$laws)[1],
                                           from = object$from, conf.level = 0.95, resamples = 500, seed = 1, ...) {
  check_unused(...)
  asked <- !missing(reference)
  at <- visits_to_score(object, from)
  conf.level <- check_level(conf.level)
  resamples <- check_count(resamples, "resamples", least = 0)
  if (resamples > 0 && resamples < 10) abort_input("resamples", "must be 0, for no intervals, or at least 10.")
  seed <- check_seed(seed)
  actions <- scored_actions(object, at, action)
  methods <- whole_methods(object)
  if (!length(methods)) {
    abort_input("object", "has no method with predictions in every fold: there is nothing to score.")
  }
  if (!is.null(reference)) {
    reference <- check_choice(reference, names(object$laws), "reference")
    if (asked && !reference %in% methods) {
      abort_input("reference", "= \"", reference, "\" has no predictions in some fold: there is nothing to compare ",
                  "others with.")
    }
  }
  folds <- match(object$fold[at], sort(unique(object$fold[at])))
  scorers <- lapply(object$laws[methods], function(law) {
    score_function(law[at, , drop = FALSE], object$action[at], actions, folds)
  })
  weights <- resampled_weights(object$patient[at], resamples, seed)
  draws <- lapply(scorers, function(score) {
    list(whole = score(rep(1, length(at))), resampled = do.call(rbind, lapply(weights, score)))
  })
  context <- list(reference = reference, fold = folds, conf.level = conf.level, actions = actions,
                  few = length(unique(object$patient[at])) < fewest_trajectories,
                  rare = rare_actions(object$action[at], object$patient[at], actions),
                  lost = lost_resamples(weights, object$action[at], folds, actions), resamples = resamples)
  out <- do.call(rbind, lapply(names(object$laws), function(method) {
    accuracy_rows(method, scorers[[method]], draws, context)
  }))
  out$note <- join_notes(out$note, constant_notes(out, object, at, actions, folds))
  out$visits <- length(at)
  out$verdict <- unname(worst_verdicts(object$status)[out$method])
  rownames(out) <- NULL
  out <- out[c(setdiff(names(out), "note"), "note")]
  structure(out, class = c("ibrc_accuracy", "data.frame"), failures = failure_lines(object),
            remarks = remark_lines(object$status, "fold"), from = from, conf.level = conf.level, reference = reference,
            trajectories = length(unique(object$patient[at])))
}

# What has not been cross-validated. There is no default method: other packages have one.
refuse_uncrossed <- function(object) check_class(object, "ibrc_cross_validation", "object", "cross_validate()")

#' @export
accuracy.ibrc_fit <- function(object, ...) refuse_uncrossed(object)

#' @export
accuracy.ibrc_mode <- function(object, ...) refuse_uncrossed(object)

#' @export
accuracy.ibrc_learned <- function(object, ...) refuse_uncrossed(object)

#' @export
accuracy.data.frame <- function(object, ...) refuse_uncrossed(object)

#' @export
summary.ibrc_cross_validation <- function(object, ...) accuracy(object, ...)

# The rows of the visits that count.
visits_to_score <- function(object, from) {
  from <- check_count(from, "from")
  if (from < object$from) {
    abort_input("from", "= ", from, " is before the first visit that methods learned from, which is ", object$from,
                ". Give cross_validate() the same `from`.")
  }
  at <- which(object$scored & object$visit >= from & !is.na(object$fold))
  if (length(at)) return(at)
  abort_input("from", "= ", from, " leaves no visit to score: no trajectory has so many visits with an action that ",
              "counts.")
}

# The actions that are scored one by one, as numbers with the actions' names.
scored_actions <- function(object, at, action) {
  all <- object$words$actions
  if (is.null(action)) {
    taken <- tabulate(object$action[at], length(all))
    return(if (length(all) == 2) stats::setNames(which.min(taken), all[which.min(taken)]) else
      stats::setNames(seq_along(all), all))
  }
  positions <- as_positions(action, all, "action", "action")
  if (!length(positions)) abort_input("action", "must name at least one of ", enumerate(all, Inf), ".")
  stats::setNames(positions, action)[!duplicated(positions)]
}

score_names <- function(actions) {
  data.frame(score = c("brier", "log_score", rep(c("roc", "prc"), length(actions))),
             action = c(NA, NA, rep(names(actions), each = 2)))
}

# All scores of one method as a function of the weights of visits. What does not depend on the weights is computed once.
score_function <- function(law, action, actions, fold) {
  chosen <- law[cbind(seq_along(action), action)]
  squares <- (rowSums(law^2) - 2 * chosen + 1) / 2
  logs <- log(chosen)
  rows <- split(seq_along(fold), fold)
  orders <- lapply(actions, function(k) lapply(rows, function(at) threshold_order(law[at, k], action[at] == k)))
  function(weight) {
    counted <- weight > 0
    total <- sum(weight)
    sizes <- vapply(rows, function(at) sum(weight[at]), 0)
    areas <- lapply(orders, function(by_fold) {
      mean_area(mapply(function(order, at) area_pair(order, weight[at]), by_fold, rows), sizes)
    })
    c(sum(weight * squares) / total, sum((weight * logs)[counted]) / total, unlist(areas, use.names = FALSE))
  }
}

area_pair <- function(order, weight) {
  counts <- counts_at(order, weight)
  c(roc_of(counts), precision_recall_of(counts))
}

# areas [kind, fold]. A fold without an area is left out; the result is NA where no fold has one.
mean_area <- function(areas, sizes) {
  there <- !is.na(areas[1, ])
  if (!any(there)) return(c(NA_real_, NA_real_))
  drop(areas[, there, drop = FALSE] %*% sizes[there]) / sum(sizes[there])
}

# Drawing fewer trajectories anew cannot say how sure a score is, nor an area where the action is taken, or not taken,
# in fewer.
fewest_trajectories <- 5L

rare_actions <- function(action, patient, actions) {
  vapply(actions, function(k) {
    min(length(unique(patient[action == k])), length(unique(patient[action != k]))) < fewest_trajectories
  }, NA)
}

# How often the trajectory of each visit is in each resample.
resampled_weights <- function(patient, resamples, seed) {
  who <- match(patient, unique(patient))
  n <- max(who)
  if (resamples > 0) with_stream(streams_from_seed(seed)[[1]], {
    lapply(seq_len(resamples), function(i) tabulate(sample.int(n, replace = TRUE), n)[who])
  })
}

# In how many resamples a fold that has an area of an action has lost it.
lost_resamples <- function(weights, action, folds, actions) {
  vapply(actions, function(k) {
    has_area <- function(weight) {
      sums <- rowsum(cbind(weight * (action == k), weight * (action != k)), folds)
      sums[, 1] > 0 & sums[, 2] > 0
    }
    whole <- has_area(rep(1, length(action)))
    sum(vapply(weights, function(weight) any(whole & !has_area(weight)), NA))
  }, 0L)
}

accuracy_rows <- function(method, scorer, draws, context) {
  names <- score_names(context$actions)
  blank <- rep(NA_real_, nrow(names))
  out <- data.frame(method = method, names, estimate = blank, conf.low = blank, conf.high = blank, fold_mean = blank,
                    fold_sd = blank, difference = blank, difference.low = blank, difference.high = blank, note = "")
  own <- draws[[method]]
  if (is.null(own)) {
    out$note <- "no predictions in some fold"
    return(out)
  }
  out$estimate <- own$whole
  rare <- context$few | names$action %in% names(which(context$rare))
  limits <- function(x) {
    if (is.null(x)) return(rbind(blank, blank))
    out <- apply(x, 2, stats::quantile, c(1 - context$conf.level, 1 + context$conf.level) / 2, na.rm = TRUE,
                 names = FALSE, type = 7)
    out[, rare] <- NA
    out
  }
  out[c("conf.low", "conf.high")] <- t(limits(own$resampled))
  by_fold <- vapply(sort(unique(context$fold)), function(k) scorer((context$fold == k) + 0), blank)
  out$fold_mean <- no_nan(rowMeans(by_fold, na.rm = TRUE))
  out$fold_sd <- no_nan(apply(by_fold, 1, stats::sd, na.rm = TRUE))
  out$note <- accuracy_notes(own$whole, by_fold, names, rare, context)
  reference <- context$reference
  if (is.null(reference) || reference == method) return(out)
  other <- draws[[reference]]
  if (is.null(other)) {
    out$note <- join_notes(out$note, "no difference, as the reference failed")
    return(out)
  }
  # There is no distance between two infinities, or from one of them.
  apart <- is.finite(own$whole) & is.finite(other$whole)
  out$difference <- ifelse(apart, own$whole - other$whole, NA)
  if (!is.null(own$resampled)) {
    between <- own$resampled - other$resampled
    between[, !apart] <- NA
    out[c("difference.low", "difference.high")] <- t(limits(between))
  }
  endless <- other$whole %in% -Inf
  out$note[endless] <- join_notes(out$note[endless], "no difference, as the reference called impossible what was done")
  out
}

no_nan <- function(x) ifelse(is.nan(x), NA, x)

join_notes <- function(note, more) paste0(note, ifelse(nzchar(note) & nzchar(more), "; ", ""), more)

# What a reader has to know about each score.
accuracy_notes <- function(whole, by_fold, names, rare, context) {
  area <- !is.na(names$action)
  note <- rep("", length(whole))
  say <- function(at, words) note[at] <<- join_notes(note[at], words)
  say(area & is.na(whole), "the action was always or never taken, in every fold")
  lost <- rowSums(is.na(by_fold))
  some <- area & !is.na(whole) & lost > 0
  say(some, paste("without", lost[some], "of", ncol(by_fold), "folds in which it was always or never taken"))
  say(rare & !is.na(whole), paste("no interval, as", if (context$few) "there are" else "it was taken or not taken in",
                                  "fewer than", fewest_trajectories, "trajectories"))
  gone <- ifelse(area, context$lost[names$action], 0)
  often <- area & !rare & !is.na(whole) & gone > 0
  say(often, paste("in", gone[often], "of", context$resamples, "resamples some fold had no area"))
  say(whole %in% -Inf, "something was done that was called impossible")
  note
}

# Methods that say the same at every visit of a fold: an area says nothing about them.
constant_notes <- function(table, object, at, actions, folds) {
  constant <- function(method, action) {
    chance <- signif(object$laws[[method]][at, actions[[action]]], 12)
    !anyNA(chance) && all(chance == chance[match(folds, folds)])
  }
  vapply(seq_len(nrow(table)), function(i) {
    is_constant <- !is.na(table$action[i]) && constant(table$method[i], table$action[i])
    if (is_constant) "the same probability at every visit of a fold" else ""
  }, "")
}
