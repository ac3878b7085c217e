#' Draw groups side by side
#'
#' One row per group: the posterior of each term with its median and interval, before its
#' prior (grey), so that groups can be compared with each other and with what was
#' assumed of all of them.
#'
#' Axes, colours and densities are those of [plot()][plot.ibrc_fit]: alpha, beta and eta are drawn
#' on a logarithmic axis, and a thin line marks an optimism of 0. All densities of a term share one scale, so that areas
#' are equal. The caption says which interval is drawn.
#'
#' @param fit A fit ([ibrc()]), with groups or without; of one with `effects` see [plot()][plot.ibrc_fit].
#' @param terms Names of terms; all of them by default.
#' @param conf.level Mass of the central interval.
#' @param suppress The smallest number of trajectories that is shown beside a group's
#'   name; smaller ones are hidden ([suppress_counts()]). `NULL` hides none.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. `groups_data()` returns the
#'   data frame behind it: `part` (`"posterior"`, `"prior"` or `"interval"`), `group` (`NA`
#'   for the prior), `term`, `value` (of an interval: the median), `density` and `scale` as
#'   in [fit_plot_data()], `conf.low` and `conf.high` of intervals, and `trajectories`, how
#'   many the group has, as text.
#' @seealso [compare_groups()] for the differences themselves.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' visits <- rbind(
#'   cbind(as.data.frame(simulate(plan, 40, seed = 1)), clinic = "north"),
#'   transform(as.data.frame(simulate(update(plan, bounded_agent(alpha = 3)), 40, seed = 2)),
#'             id = id + 40, clinic = "south")
#' )
#' visits <- trajectories(visits, covariates = "clinic", setting = setting)
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), by = "clinic",
#'             chains = 2, iter = 400, seed = 1, resolution = 30)
#' groups <- groups_data(fit)
#' groups[groups$part == "interval", ]
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot_groups(fit)
plot_groups <- function(fit, terms = NULL, conf.level = 0.95, suppress = 5, ...) {
  check_given(fit)
  check_unused(...)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  refuse_no_groups(fit)
  terms <- check_terms(fit, "density", terms)
  conf.level <- check_level(conf.level)
  suppress <- check_suppress(suppress)
  require_package("ggplot2", "Drawing groups")
  draw_groups(groups_data(fit, terms, conf.level, suppress), fit, terms, conf.level = conf.level)
}

#' @rdname plot_groups
#' @export
groups_data <- function(fit, terms = NULL, conf.level = 0.95, suppress = 5) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  refuse_no_groups(fit)
  terms <- check_terms(fit, "density", terms)
  conf.level <- check_level(conf.level)
  size <- group_counts(fit, check_suppress(suppress))
  curves <- density_data(fit, terms)
  curves[c("conf.low", "conf.high")] <- NA_real_
  table <- tidy(fit, conf.level)
  table <- table[table$term %in% terms, ]
  groups <- names(fit$draws)
  intervals <- data.frame(
    part = "interval", group = factor(if (is.null(table$group)) groups else table$group, levels = groups),
    term = factor(table$term, levels = terms), value = table$estimate, density = NA_real_,
    scale = ifelse(is_log_term(table$term), "log10", "linear"), conf.low = table$conf.low,
    conf.high = table$conf.high
  )
  out <- rbind(curves, intervals[order(intervals$term), ])
  out$trajectories <- as.vector(size[as.character(out$group)])
  rownames(out) <- NULL
  out
}

refuse_no_groups <- function(fit) {
  refuse_population(fit, "fit", "it has cells in the place of groups. plot(fit) draws its coefficients, ",
                    "plot_shrinkage() the levels of random intercepts, and compare_groups() has differences.")
}

# `data` of all groups, which share a scale; `groups` are those that are drawn.
draw_groups <- function(data, fit, terms, groups = names(fit$draws), conf.level = 0.95) {
  highest <- stats::ave(data$density, data$term, FUN = function(x) max(x, na.rm = TRUE))
  data$height <- 0.85 * data$density / highest
  data$group <- factor(data$group, levels = groups)
  data <- data[data$part == "prior" | !is.na(data$group), ]
  term <- as.character(data$term)
  data[c("at", "low", "high")] <- lapply(data[c("value", "conf.low", "conf.high")], axis_position, term)
  named <- as_label(terms)
  data$panel <- factor(term, levels = terms, labels = named)
  # The first group on top.
  data$row <- length(groups) + 1 - as.integer(data$group)
  ridges <- ridge_rows(data, length(groups))
  interval <- data[data$part == "interval", ]
  label <- ""
  if (is_grouped(fit)) {
    size <- interval$trajectories[match(groups, as.character(interval$group))]
    label <- paste0(vapply(groups, in_lines, "", 22), "\n", trajectories_words(size))
  }
  said <- c("Grey: prior.", interval_words("Points and lines", conf.level), zero_words(terms))
  outline <- ggplot2::aes(ymin = .data$row, ymax = .data$row + .data$height, group = .data$row,
                          fill = .data$group)
  ggplot2::ggplot(interval, ggplot2::aes(.data$at, .data$row)) +
    ggplot2::geom_ribbon(data = ridges[ridges$part == "prior", ], outline, fill = "grey85") +
    ggplot2::geom_ribbon(data = ridges[ridges$part == "posterior", ], outline, alpha = 0.35) +
    ggplot2::geom_segment(ggplot2::aes(x = .data$low, xend = .data$high, yend = .data$row, colour = .data$group),
                          linewidth = 1) +
    ggplot2::geom_point(ggplot2::aes(fill = .data$group), shape = 21, colour = "white", size = 2.6) +
    ggplot2::geom_vline(data = zero_rows(terms, named), ggplot2::aes(xintercept = .data$at), colour = zero_colour,
                        linewidth = 0.3) +
    scale_names(names(fit$draws), keys = FALSE) +
    scale_terms(ggplot2::scale_x_continuous, terms) +
    ggplot2::scale_y_continuous(breaks = rev(seq_along(groups)), labels = label, minor_breaks = NULL,
                                expand = ggplot2::expansion(add = c(0.15, 0.1))) +
    log_panels(ggplot2::facet_wrap(~panel, scales = "free_x"), "x", "panel", named[is_log_term(terms)]) +
    ggplot2::labs(x = NULL, y = NULL, caption = in_lines(verdict_caption(fit, paste(said, collapse = " ")))) +
    theme_ibrc()
}

# Curves over each group's line, the prior once per group. All heights of a term share one scale, on
# which areas are equal, and the highest stays under the next line.
ridge_rows <- function(data, n_groups) {
  prior <- data[data$part == "prior", ]
  again <- prior[rep(seq_len(nrow(prior)), n_groups), ]
  again$row <- rep(seq_len(n_groups), each = nrow(prior))
  rbind(again, data[data$part == "posterior", ])
}
