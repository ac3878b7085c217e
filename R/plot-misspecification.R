#' Draw what a wrong behavioural model costs
#'
#' One panel per measure, one row per agent and one point per model that it was taken for; filled where the model is the
#' agent's own. Further to the left is better in all of them.
#'
#' @param x,study What [misspecification_study()] returned.
#' @param measures Which of `"distance"`, `"regret"`, `"divergence"` and `"disagreement"` to draw.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. `misspecification_data()` returns the data frame behind it,
#'   one row per agent, model and measure: `agent`, `model`, `right`, `measure`, `panel` and `value`; infinite ones are
#'   drawn at the right edge, as triangles.
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
#' noisy <- c("boltzmann", "max_entropy")
#' study <- misspecification_study(clinic, noisy, noisy, n = Inf)
#' head(misspecification_data(study), 4)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(study)
plot.ibrc_misspecification <- function(x, measures = c("distance", "regret", "disagreement"), ...) {
  check_unused(...)
  data <- misspecification_data(x, measures)
  require_package("ggplot2", "Drawing a study of misspecification")
  draw_misspecification(data)
}

#' @rdname plot.ibrc_misspecification
#' @export
misspecification_data <- function(study, measures = c("distance", "regret", "disagreement")) {
  check_given(study)
  check_class(study, "ibrc_misspecification", "study", "misspecification_study()")
  lost <- setdiff(c("agent", "model", "right", study_measures), names(study))
  if (length(lost)) {
    abort_input("study", "must be what misspecification_study() returned; it has no column ", enumerate(lost), ".")
  }
  measures <- check_measures(measures, study_measures)
  table <- as.data.frame(study)
  rows <- lapply(measures, function(measure) {
    data.frame(agent = factor(table$agent, rev(unique(table$agent))), model = factor(table$model, unique(table$model)),
               right = table$right, measure = measure,
               panel = factor(study_panels[[measure]], study_panels[measures]), value = table[[measure]])
  })
  out <- do.call(rbind, rows)
  if (all(is.na(out$value))) abort_input("study", "has nothing to draw: none of its models gave an answer.")
  out
}

study_panels <- c(distance = "distance of utilities", regret = "regret", divergence = "divergence (nats)",
                  disagreement = "disagreement")

draw_misspecification <- function(data) {
  levels(data$agent) <- in_words(levels(data$agent))
  levels(data$model) <- in_words(levels(data$model))
  edge <- tapply(ifelse(is.finite(data$value), data$value, NA), data$panel, function(v) max(c(0, v), na.rm = TRUE))
  data$unbounded <- is.infinite(data$value)
  data$at <- ifelse(data$unbounded, 1.1 * pmax(edge[as.character(data$panel)], 1e-6), data$value)
  data$kind <- factor(ifelse(data$unbounded, "unbounded", ifelse(data$right, "own", "other")),
                      c("own", "other", "unbounded"))
  # Models of one agent stand above each other, in the same order in every panel.
  n <- nlevels(data$model)
  data$row <- as.integer(data$agent) + 0.5 * ((n + 1) / 2 - as.integer(data$model)) / max(n, 2)
  data$zero <- 0
  caption <- paste0("Filled: the model is the agent's own. Left is better.",
                    if (any(data$unbounded)) " Triangles: without bound.")
  ggplot2::ggplot(data, ggplot2::aes(.data$at, .data$row, colour = .data$model, shape = .data$kind)) +
    ggplot2::geom_segment(ggplot2::aes(x = .data$zero, xend = .data$at, yend = .data$row), linewidth = 0.5,
                          na.rm = TRUE) +
    ggplot2::geom_point(size = 1.9, na.rm = TRUE) +
    ggplot2::scale_shape_manual(values = c(own = 16, other = 1, unbounded = 17), guide = "none") +
    scale_names(levels(data$model), "colour", labels = identity) +
    ggplot2::scale_y_continuous(breaks = seq_len(nlevels(data$agent)), labels = levels(data$agent)) +
    ggplot2::scale_x_continuous(n.breaks = 3, labels = format_plain_each, limits = from_zero) +
    ggplot2::facet_wrap(~panel, scales = "free_x", nrow = 1, labeller = ggplot2::label_wrap_gen(13)) +
    ggplot2::labs(x = NULL, y = NULL, colour = "Taken for", caption = in_lines(caption),
                  alt = misspecification_alt(data)) +
    theme_ibrc() +
    ggplot2::theme(panel.spacing.x = ggplot2::unit(1.2, "lines"), plot.margin = ggplot2::margin(6, 24, 6, 6))
}

# "max_entropy" as one would write it.
in_words <- function(names) make.unique(gsub("_", " ", names, fixed = TRUE))

# A panel in which all is 0 has a width still.
from_zero <- function(range) c(0, if (range[2] > 1e-9) range[2] else 0.1)

# What the picture shows, for who cannot see it.
misspecification_alt <- function(data) {
  first <- data[data$measure == data$measure[1], ]
  paste0("What it costs to take one class of agents for another, by ", as.character(first$panel[1]), ": ",
         paste0(first$agent, " taken for ", first$model, " ", vapply(first$value, format_number, ""), collapse = "; "),
         ".")
}
