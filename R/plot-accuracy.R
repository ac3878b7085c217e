#' Draw how well models predict behaviour
#'
#' `"reliability"`: how often an action was taken where its probability was said to be about so much; on the diagonal
#' both agree. `"precision_recall"`: of the visits with the highest probabilities of an action, the share at which it
#' was taken (precision), as more and more of those at which it was taken are among them (recall).
#'
#' @param x,object What [cross_validate()] returned. Methods that failed in some fold are left out.
#' @param type Which picture.
#' @param action Name of the action. By default, of two actions the rarer one, and else the first.
#' @param from The number of the first visit that counts, as in [accuracy()][accuracy.ibrc_cross_validation].
#' @param bins For `"reliability"`: how many points per method at most. Each stands for as many visits as the others, as
#'   far as equal probabilities allow.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. `accuracy_data()` returns the data frame behind it:
#'   `method`, `action`, and `said`, `seen` and `visits`, or `threshold`, `recall` and `precision`.
#' @family decision models
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, nsim = 60, seed = 1)
#' crossed <- cross_validate(visits, c("visit_number", "logistic"), folds = 3)
#' head(accuracy_data(crossed, action = "monitor"))
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(crossed, action = "monitor")
plot.ibrc_cross_validation <- function(x, type = c("reliability", "precision_recall"), action = NULL, from = 2,
                                       bins = 10, ...) {
  check_unused(...)
  data <- accuracy_data(x, type, action, from, bins)
  require_package("ggplot2", "Drawing how well models predict")
  if ("said" %in% names(data)) draw_reliability(data) else draw_precision(data)
}

#' @rdname plot.ibrc_cross_validation
#' @export
accuracy_data <- function(object, type = c("reliability", "precision_recall"), action = NULL, from = 2, bins = 10) {
  check_given(object)
  check_class(object, "ibrc_cross_validation", "object", "cross_validate()")
  type <- check_choice(type, c("reliability", "precision_recall"), "type")
  from <- check_count(from, "from")
  bins <- check_count(bins, "bins", least = 2)
  at <- which(object$scored & object$visit >= from & !is.na(object$fold))
  if (!length(at)) abort_input("from", "= ", from, " leaves no visit to score.")
  if (!is.null(action)) action <- check_choice(action, object$words$actions, "action")
  k <- scored_actions(object, at, action)[1]
  taken <- object$action[at] == k
  methods <- whole_methods(object)
  if (!length(methods)) abort_input("object", "has no method with predictions in every fold: there is nothing to draw.")
  pieces <- lapply(methods, function(method) {
    chance <- object$laws[[method]][at, k]
    points <- if (type == "reliability") reliability_points(chance, taken, bins = bins) else
      precision_recall_points(chance, taken)
    data.frame(method = factor(method, methods), action = names(k), points)
  })
  do.call(rbind, pieces)
}

draw_reliability <- function(data) {
  action <- as_label(data$action[1])
  ggplot2::ggplot(data, ggplot2::aes(.data$said, .data$seen, colour = .data$method)) +
    ggplot2::geom_abline(colour = "grey70", linetype = 2) +
    ggplot2::geom_line() +
    ggplot2::geom_point(ggplot2::aes(size = .data$visits)) +
    ggplot2::scale_colour_manual(values = action_palette(nlevels(data$method))) +
    ggplot2::scale_size_area(max_size = 3) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
    ggplot2::labs(x = paste("Said: probability of", action), y = paste("Seen: share with", action), colour = NULL,
                  caption = "On the dashed line both agree. Patients were predicted by models that had not seen them.",
                  alt = paste0("Share of visits with ", action, " over its predicted probability, one line for each ",
                               "method.")) +
    theme_ibrc()
}

draw_precision <- function(data) {
  action <- as_label(data$action[1])
  ggplot2::ggplot(data, ggplot2::aes(.data$recall, .data$precision, colour = .data$method)) +
    ggplot2::geom_step() +
    ggplot2::scale_colour_manual(values = action_palette(nlevels(data$method))) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
    ggplot2::labs(x = paste0("Recall: share of visits with ", action, " found"),
                  y = paste0("Precision: share with ", action), colour = NULL,
                  caption = "Patients were predicted by models that had not seen them.",
                  alt = paste0("Precision over recall of predictions of ", action, ", one line per method.")) +
    theme_ibrc()
}
