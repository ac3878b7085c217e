#' Draw how well models predict behaviour
#'
#' `"reliability"`: visits are put into bins by the predicted probability of an action. Each point shows how often the
#' action was taken in its bin, with an interval. On the diagonal both agree: the nearer to it, the better.
#' `"precision_recall"`: the visits with the highest probabilities of the action are picked first, then more and more.
#' Recall is the share of all visits with the action that are among them, and precision is the share of them at which
#' the action was taken. The higher the curve, the better. The dotted line is the share of all visits at which the
#' action was taken, which is the precision of guessing. The curve is the mean of the curves of the folds, so the area
#' under it is the `prc` of [accuracy()][accuracy.ibrc_cross_validation]. Folds in which the action was always or
#' never taken have no curve.
#'
#' Intervals are at 95%. Trajectories are drawn anew 500 times, with all their visits, as in
#' [accuracy()][accuracy.ibrc_cross_validation]. A point has no interval if the action was taken, or not taken, in fewer
#' than five trajectories of its bin.
#'
#' @param x,object What [cross_validate()] returned. Methods that failed in some fold are left out.
#' @param type Which picture.
#' @param action Name of the action. By default, of two actions the rarer one, and else the first.
#' @param from The number of the first visit that counts, as in [accuracy()][accuracy.ibrc_cross_validation]; `NULL` for
#'   the first that methods learned from.
#' @param bins For `"reliability"`: how many points per method at most. Each stands for as many visits as the others, as
#'   far as equal probabilities allow.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. `accuracy_data()` returns the data frame behind it:
#'   `method`, `action`, and `said` (mean probability), `seen` (share at which it was taken), `visits`, `conf.low` and
#'   `conf.high`, or `recall`, `precision` and `base` (share of all visits).
#' @family decision models
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, nsim = 60, seed = 1)
#' crossed <- cross_validate(visits, c("visit_number", "logistic"), folds = 3)
#' head(accuracy_data(crossed, action = "monitor"))
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(crossed, action = "monitor")
plot.ibrc_cross_validation <- function(x, type = c("reliability", "precision_recall"), action = NULL,
                                       from = NULL, bins = 10, ...) {
  check_unused(...)
  data <- accuracy_data(x, type, action, from, bins)
  require_package("ggplot2", "Drawing how well models predict")
  if ("said" %in% names(data)) draw_reliability(data) else draw_precision(data)
}

#' @rdname plot.ibrc_cross_validation
#' @export
accuracy_data <- function(object, type = c("reliability", "precision_recall"), action = NULL, from = NULL,
                          bins = 10) {
  check_given(object)
  check_class(object, "ibrc_cross_validation", "object", "cross_validate()")
  type <- check_choice(type, c("reliability", "precision_recall"), "type")
  bins <- check_count(bins, "bins", least = 2)
  at <- visits_to_score(object, if (is.null(from)) object$from else from)
  if (length(action) > 1) abort_input("action", "must name one action; it has ", length(action), ".")
  if (!is.null(action)) action <- check_choice(action, object$words$actions, "action")
  k <- scored_actions(object, at, action)[1]
  taken <- object$action[at] == k
  methods <- whole_methods(object)
  if (!length(methods)) abort_input("object", "has no method with predictions in every fold: there is nothing to draw.")
  weights <- if (type == "reliability") resampled_weights(object$patient[at], 500, 1)
  pieces <- lapply(methods, function(method) {
    chance <- object$laws[[method]][at, k]
    points <- if (type == "reliability") reliability_with_ends(chance, taken, bins, object$patient[at], weights) else
      precision_recall_points(chance, taken, object$fold[at])
    if (is.null(points)) {
      abort_input("action", "= \"", names(k), "\" was always or never taken, in every fold: there is no curve to draw.")
    }
    data.frame(method = factor(method, methods), action = names(k), points)
  })
  do.call(rbind, pieces)
}

#' @export
plot.ibrc_accuracy <- function(x, ...) {
  abort_input("x", "is a table of scores, which has no picture: draw what it was made from, plot(cross_validate(...)).")
}

# Points with the ends of 95% intervals over patients. Bins stay the same in every resample.
reliability_with_ends <- function(chance, taken, bins, patient, weights) {
  out <- reliability_points(chance, taken, bins = bins)
  bin <- reliability_bins(chance, bins)
  seen <- vapply(weights, function(weight) {
    sums <- rowsum(cbind(weight, weight * taken), bin)
    sums[, 2] / sums[, 1]
  }, out$seen)
  ends <- apply(matrix(seen, nrow(out)), 1, stats::quantile, c(0.025, 0.975), na.rm = TRUE, names = FALSE)
  rare <- vapply(split(seq_along(bin), bin), function(at) rare_actions(taken[at], patient[at], c(yes = TRUE)), NA)
  ends[, rare] <- NA
  out[c("conf.low", "conf.high")] <- t(ends)
  out
}

unseen_patients <- "Patients are new to the models."

# One panel per method: points of several on each other are not told apart.
draw_reliability <- function(data) {
  action <- as_label(data$action[1])
  ggplot2::ggplot(data, ggplot2::aes(.data$said, .data$seen)) +
    ggplot2::geom_abline(colour = "grey60", linetype = 2) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$conf.low, ymax = .data$conf.high), colour = action_palette(1),
                            na.rm = TRUE) +
    ggplot2::geom_point(size = 1.6, colour = action_palette(1)) +
    ggplot2::facet_wrap(~method, labeller = ggplot2::as_labeller(as_narrow_label)) +
    ggplot2::scale_x_continuous(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1")) +
    ggplot2::scale_y_continuous(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1")) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
    ggplot2::labs(x = paste0("Predicted probability of \"", action, "\""),
                  y = paste0("Share of visits with\n\"", action, "\""),
                  caption = in_lines(paste("Nearer to the dashed line is better. Bars: 95% intervals over patients.",
                                           unseen_patients)),
                  alt = paste0("Share of visits with ", action, " over its predicted probability, one panel for each ",
                               "method.")) +
    theme_ibrc()
}

# Colours are not told apart by everybody.
line_types <- c("solid", "longdash", "dotdash", "22", "twodash", "1343")

draw_precision <- function(data) {
  action <- as_label(data$action[1])
  n <- nlevels(data$method)
  ggplot2::ggplot(data, ggplot2::aes(.data$recall, .data$precision, colour = .data$method)) +
    ggplot2::geom_path(ggplot2::aes(linetype = .data$method), linewidth = 0.7) +
    ggplot2::geom_hline(yintercept = data$base[1], colour = "grey45", linetype = "dotted") +
    scale_names(levels(data$method), "colour") +
    ggplot2::scale_linetype_manual(values = rep_len(line_types, n), labels = as_label,
                                   guide = keys_in_lines(levels(data$method))) +
    ggplot2::scale_x_continuous(breaks = c(0, 0.5, 1)) +
    ggplot2::scale_y_continuous(breaks = c(0, 0.5, 1)) +
    ggplot2::coord_cartesian(xlim = c(0, 1), ylim = c(0, 1)) +
    ggplot2::labs(x = paste0("Recall: share of visits with \"", action, "\" found"),
                  y = paste0("Precision: share\nwith \"", action, "\""), colour = NULL, linetype = NULL,
                  caption = in_lines(paste("Higher is better. Dotted: what guessing gets.", unseen_patients)),
                  alt = paste0("Precision over recall of predictions of ", action, ", one line per method, and the ",
                               "share of the action as a dotted line.")) +
    theme_ibrc() +
    ggplot2::theme(legend.key.width = ggplot2::unit(2, "lines"))
}
