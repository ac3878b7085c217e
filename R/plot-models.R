#' Draw a comparison of decision models
#'
#' There is one row per class of models, with the one that predicts best on top, and one panel per measure. Each panel
#' shows the score with its interval over patients, and a dashed line at the score of the reference. A triangle at the
#' edge stands for a log loss without bound: such a model had ruled out something that was done. A hollow point has no
#' interval: there is only one patient.
#'
#' @param x,comparison What [compare_models()] returned.
#' @param measures Which of `"log_loss"`, `"brier"`, `"agreement"` and `"divergence"` to draw. By default the first two
#'   are drawn, which are proper scores (see [compare_models()]). In `"agreement"` further to the right is not better.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. `model_comparison_data()` returns the data frame behind it,
#'   with one row per model that was run and measure:
#'   * `model` and `title`: the model. `title` is a factor, with the best last.
#'   * `measure` and `panel`: the measure, and the title of its panel.
#'   * `estimate`, `conf.low` and `conf.high`: the score and its interval.
#'   * `reference`: the score of the reference model.
#'   * `unbounded`: whether the estimate is infinite.
#' @family framework
#' @export
#' @examples
#' clinic <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0.2, 0.8)),
#'                     treat = rbind(c(0.9, 0.1), c(0.6, 0.4))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)),
#'   discount = 0.9, start = c(1, 0)
#' )
#' visits <- simulate(plan_agent(clinic, bounded_agent(alpha = 1)), 40, seed = 1, horizon = 6)
#' compared <- compare_models(visits, clinic, decision_models()[c(1, 12), ], seed = 1)
#' model_comparison_data(compared, "log_loss")
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(compared)
plot.ibrc_model_comparison <- function(x, measures = c("log_loss", "brier"), ...) {
  check_unused(...)
  data <- model_comparison_data(x, measures)
  require_package("ggplot2", "Drawing a comparison of models")
  draw_models(data, attr(x, "conf.level"), attr(x, "in_sample"))
}

#' @rdname plot.ibrc_model_comparison
#' @export
model_comparison_data <- function(comparison, measures = c("log_loss", "brier")) {
  check_given(comparison)
  check_class(comparison, "ibrc_model_comparison", "comparison", "compare_models()")
  if (is.null(attr(comparison, "made"))) {
    abort_input("comparison", "must be what compare_models() returned, whole: run it with fewer `models` instead.")
  }
  measures <- check_measures(measures, divergence_measures)
  done <- comparison$model[comparison$status == "run"]
  if (!length(done)) abort_input("comparison", "has nothing to draw: none of its models was run.")
  scores <- tidy(comparison)
  scores <- scores[scores$model %in% done & scores$measure %in% measures, ]
  if (all(is.na(scores$estimate))) {
    abort_input("measures", "= ", enumerate(measures), " has no numbers here: the state is not seen.")
  }
  in_order <- order(comparison$log_loss, comparison$brier)
  in_order <- in_order[comparison$status[in_order] == "run"]
  own <- scores[scores$model == attr(comparison, "reference"), ]
  out <- data.frame(
    model = scores$model, title = factor(scores$title, rev(comparison$title[in_order])),
    measure = scores$measure, panel = factor(panel_titles[scores$measure], panel_titles[measures]),
    scores[c("estimate", "conf.low", "conf.high")], reference = own$estimate[match(scores$measure, own$measure)],
    unbounded = is.infinite(scores$estimate), row.names = NULL
  )
  out[order(match(out$measure, measures), match(out$model, done)), ]
}

check_measures <- function(measures, known) {
  if (!is.character(measures) || !length(measures) || anyNA(measures) || anyDuplicated(measures)) {
    abort_input("measures", "must name measures, not ", describe(measures), ".")
  }
  unknown <- setdiff(measures, known)
  if (length(unknown)) {
    abort_input("measures", "names unknown ", enumerate(unknown), "; there are ", enumerate(known), ".")
  }
  measures
}

# Which direction is better stands in the strip; a long name takes a second line.
panel_titles <- c(log_loss = "log loss per visit\n(lower is better)", brier = "Brier score\n(lower is better)",
                  agreement = "agreement\n(improper score)", divergence = "divergence (nats)\n(lower is better)")

draw_models <- function(data, conf.level, in_sample) {
  described <- models_alt(data)
  # Where an infinite number is shown: a little beyond all others of its panel.
  edge <- tapply(ifelse(is.finite(data$conf.high), data$conf.high, NA), data$panel, max, na.rm = TRUE)
  least <- tapply(ifelse(is.finite(data$estimate), data$estimate, NA), data$panel, min, na.rm = TRUE)
  beyond <- unname((edge + 0.08 * (edge - least))[as.character(data$panel)])
  data$at <- ifelse(data$unbounded, beyond, data$estimate)
  for (end in c("conf.low", "conf.high")) data[[end]][data$unbounded | is.infinite(data[[end]])] <- NA
  data$shape <- ifelse(data$unbounded, "unbounded", ifelse(is.na(data$conf.low), "bare", "score"))
  caption <- paste0("Points and lines: score and ", level_text(conf.level), " interval over patients. ",
                    "Dashed: the reference.",
                    if (any(data$unbounded)) " Triangles: without bound.",
                    if (in_sample) " Scored on the visits that they were fitted to.")
  ggplot2::ggplot(data, ggplot2::aes(.data$at, .data$title)) +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$reference), linetype = "dashed", colour = "grey50",
                        na.rm = TRUE) +
    ggplot2::geom_segment(ggplot2::aes(x = .data$conf.low, xend = .data$conf.high, yend = .data$title),
                          linewidth = 0.8, colour = action_colours[1], na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$shape), size = 2.2, colour = action_colours[1], na.rm = TRUE) +
    ggplot2::scale_shape_manual(values = c(score = 16, bare = 1, unbounded = 17), guide = "none") +
    ggplot2::facet_wrap(~panel, scales = "free_x", nrow = 1) +
    ggplot2::scale_x_continuous(n.breaks = 3, labels = format_plain_each) +
    ggplot2::scale_y_discrete(labels = function(title) vapply(title, wrapped_title, "")) +
    ggplot2::labs(x = NULL, y = NULL, caption = in_lines(caption), alt = described) +
    theme_ibrc() +
    ggplot2::theme(panel.spacing.x = ggplot2::unit(1.2, "lines"), plot.margin = ggplot2::margin(6, 14, 6, 6),
                   axis.text.y = ggplot2::element_text(lineheight = 0.9),
                   strip.text = ggplot2::element_text(size = ggplot2::rel(0.72)))
}

# Numbers at ticks, without zeros that say nothing: neighbouring panels leave little room.
format_plain_each <- function(x) ifelse(is.na(x), NA, vapply(x, function(v) format(v, digits = 3), ""))

# Two lines at most, so that rows do not touch, and narrow ones, so that panels keep their room.
wrapped_title <- function(title) {
  width <- 22
  while (length(strwrap(title, width)) > 2) width <- width + 2
  in_lines(title, width)
}

# What the picture shows, for who cannot see it.
models_alt <- function(data) {
  first <- data[data$measure == data$measure[1], ]
  first <- first[order(first$title, decreasing = TRUE), ]
  paste0("Scores of ", plural(nrow(first), "class", "classes"), " of decision models with intervals over patients. By ",
         measure_titles[[first$measure[1]]], ", from best to worst: ",
         paste0(first$title, " ", vapply(first$estimate, format_number, ""), collapse = "; "), ".")
}
