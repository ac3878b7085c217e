#' Draw what decision makers do
#'
#' A picture of [decision_effects()]: the median and the interval of each group. Hollow diamonds show a perfectly
#' rational agent, or what the setting itself states. Where these differ between draws, a thin grey line is their
#' interval. The caption says which interval is drawn.
#'
#' @param x,effects Effects ([decision_effects()]).
#' @param type What to draw: `"probability"`, of each action at each belief and after the observations that were stated;
#'   `"course"`, visits, actions taken and costs; `"accuracy"`, what tests are taken for; `"weight"`, of models.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. Its alternative text says what is drawn.
#'   `effects_data()` returns the data frame behind it: `panel`, `label` (where on the axis), `group`, `estimate`,
#'   `conf.low`, `conf.high`, `rational`, `rational_low`, `rational_high` and `verdict`. Differences between groups are
#'   not drawn, nor is the `gap` to the rational agent.
#' @family pictures
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 200, seed = 1, resolution = 20)
#' effects <- decision_effects(fit, draws = 20, nsim = 100)
#' effects_data(effects)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(effects)
plot.ibrc_effects <- function(x, type = c("probability", "course", "accuracy", "weight"), ...) {
  check_unused(...)
  type <- check_choice(type, effect_types, "type")
  require_package("ggplot2", "Drawing effects")
  draw_effects(effects_data(x, type), type, effects_caption(x, type))
}

#' @rdname plot.ibrc_effects
#' @export
effects_data <- function(effects, type = c("probability", "course", "accuracy", "weight")) {
  check_given(effects)
  check_class(effects, "ibrc_effects", "effects", "decision_effects()")
  type <- check_choice(type, effect_types, "type")
  rows <- as.data.frame(effects)
  rows <- rows[is_level(rows) & rows$quantity %in% quantities_of_type(type), ]
  if (!nrow(rows)) {
    abort_input("type", "= \"", type, "\" has nothing to draw: these effects have no such numbers.")
  }
  group <- if (is.null(rows$group)) rep("all", nrow(rows)) else rows$group
  labels <- effect_labels(rows, type)
  out <- data.frame(panel = factor(labels$panel, unique(labels$panel)),
                    label = factor(labels$label, unique(labels$label)),
                    group = factor(group, unique(group)),
                    rows[c("estimate", "conf.low", "conf.high", rational_columns, "verdict")])
  rownames(out) <- NULL
  out
}

effect_types <- c("probability", "course", "accuracy", "weight")

quantities_of_type <- function(type) {
  if (type == "course") c("visits", "decided", "count", "cost", "cost_share") else type
}

# Short: they stand over narrow panels.
course_titles <- c(visits = "Visits", decided = "P(decision)", cost = "Cost per visit", cost_share = "Cost, share")

# What a row stands by, and in which panel.
effect_labels <- function(rows, type) {
  action <- as_label(rows$action)
  switch(
    type,
    probability = list(panel = action, label = rows$at),
    course = list(panel = unname(ifelse(rows$quantity == "count", paste0(capital(action), ", times"),
                                        course_titles[rows$quantity])),
                  label = if (is.null(rows$group)) rep("", nrow(rows)) else rows$group),
    accuracy = list(panel = paste0(action, ", ", as_label(rows$detail)), label = rows$at),
    weight = list(panel = paste0(action, ", ", as_label(rows$detail)), label = rows$at)
  )
}

effects_caption <- function(x, type) {
  ideal <- c(probability = "a perfectly rational agent", course = "a perfectly rational agent",
             accuracy = "the setting's own", weight = "the neutral weights")[[type]]
  rows <- attr(x, "verdict")
  varies <- has_interval_of_rational(x[is_level(x) & x$quantity %in% quantities_of_type(type), ])
  in_lines(c(paste0(interval_words("Points and lines", attr(x, "of")$conf.level), " ",
                    if (varies) "Diamonds and thin lines: " else "Diamonds: ", ideal, if (varies) ", over draws", "."),
             if (!is.null(rows) && any(rows$verdict != "ok")) paste0(verdict_headline(rows), ".")))
}

# Where every draw has a setting of its own.
has_interval_of_rational <- function(rows) !all(is.na(rows$rational_low))

# What the picture shows, in words.
effects_alt <- function(data, type) {
  what <- c(probability = "Probability of each action at each belief", course = "Visits, actions and costs",
            accuracy = "Accuracy acted on", weight = "Weights of models")[[type]]
  paste0(what, if (nlevels(data$group) > 1) paste(" for", enumerate(levels(data$group), 8, "")),
         ", median and interval, beside ", if (type %in% c("probability", "course")) "a perfectly rational agent" else
           "what the setting states", if (has_interval_of_rational(data)) ", which has an interval, too", ".")
}

draw_effects <- function(data, type, caption) {
  groups <- nlevels(data$group)
  known <- levels(data$group)
  alt <- effects_alt(data, type)
  # An axis goes up: the first label on top, and the first group.
  data$label <- factor(data$label, rev(levels(data$label)))
  data$group <- factor(data$group, rev(levels(data$group)))
  # Where groups do not have lines of their own.
  beside <- groups > 1 && type != "course"
  apart <- ggplot2::position_dodge(width = if (beside) 0.55 else 0)
  picture <- ggplot2::ggplot(data, ggplot2::aes(.data$estimate, .data$label, colour = .data$group)) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$conf.low, xmax = .data$conf.high), position = apart,
                            linewidth = 0.8, na.rm = TRUE) +
    ggplot2::geom_point(position = apart, size = 1.6, na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(.data$rational, group = .data$group), position = apart, shape = 5, size = 1.6,
                        colour = "grey35", na.rm = TRUE) +
    scale_names(known, "colour", labels = identity, keys = beside) +
    ggplot2::labs(x = if (type == "course") NULL else capital(as_label(if (type == "weight") "weight" else type)),
                  y = NULL, colour = NULL, caption = caption, alt = alt) +
    theme_ibrc()
  if (has_interval_of_rational(data)) {
    picture <- picture +
      ggplot2::geom_linerange(ggplot2::aes(xmin = .data$rational_low, xmax = .data$rational_high, group = .data$group),
                              position = apart, colour = "grey35", linewidth = 0.3, na.rm = TRUE)
  }
  # Three panels side by side at 9 cm have room for titles of 11 letters per line.
  facet <- ggplot2::facet_wrap(~panel, scales = if (type == "course") "free_x" else "fixed",
                               ncol = 3, labeller = ggplot2::label_wrap_gen(11))
  if (type == "course") return(picture + facet + ggplot2::scale_x_continuous(n.breaks = 3))
  picture + facet + ggplot2::scale_x_continuous(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1")) +
    ggplot2::scale_y_discrete(labels = function(at) as_narrow_label(at, 22)) +
    ggplot2::coord_cartesian(xlim = c(0, 1))
}
