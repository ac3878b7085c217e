#' Draw a sensitivity analysis
#'
#' There is one row per alternative, and one panel per term, or per contrast where there are groups. Each shows the
#' estimate with its interval, over the estimate and interval of the fit as it is (dashed line and grey band). The
#' number beside the name of an alternative says by how much its log-likelihood is higher than that of the fit.
#' Alternatives that fit better by more than 2 are orange.
#'
#' alpha, beta and eta, and their ratios, are drawn on a logarithmic axis, as in [plot()][plot.ibrc_fit].
#'
#' @param x,sensitivity What [sensitivity_analysis()] returned.
#' @param type `"contrast"` or `"level"`; by default contrasts where there are groups.
#' @param terms Names of terms; all of them by default.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. `sensitivity_data()` returns the data frame behind it, with
#'   one row per alternative and panel:
#'   * `what` and `alternative`: what was varied, and the alternative.
#'   * `label`: the alternative with the difference in log-likelihood.
#'   * `panel`, `group`, `reference` and `term`: the panel, and what it is about.
#'   * `estimate`, `conf.low` and `conf.high`: the estimate and its interval, `NA` where there are no numbers.
#'   * `own_estimate`, `own_low` and `own_high`: those of the fit as it is.
#'   * `log_lik_difference`: by how much the log-likelihood is higher than that of the fit.
#'   * `fits`: `"better"` by more than 2, or `"not better"`.
#'   * `scale`: that of the axis, `"log10"` or `"linear"`.
#'   * `verdict`: as [sensitivity_analysis()] has it.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' models <- perturb_models(setting, by = 0.1)
#' optimist <- plan_agent(setting, bounded_agent(alpha = 0.5, beta = 1.25), models, resolution = 20)
#' mode <- ibrc_mode(simulate(optimist, 60, seed = 1), setting, models,
#'                   ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)),
#'                   conf.level = NULL, seed = 1, resolution = 20)
#' moved <- sensitivity_analysis(mode, list(step = c(0.05, 0.2), discount = 0.9))
#' sensitivity_data(moved, terms = "optimism")[c("label", "estimate", "own_estimate")]
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(moved)
plot.ibrc_sensitivity <- function(x, type = NULL, terms = NULL, ...) {
  check_unused(...)
  data <- sensitivity_data(x, type, terms)
  require_package("ggplot2", "Drawing a sensitivity analysis")
  draw_sensitivity(data, attr(x, "verdict"), attr(x, "conf.level"))
}

#' @rdname plot.ibrc_sensitivity
#' @export
sensitivity_data <- function(sensitivity, type = NULL, terms = NULL) {
  check_given(sensitivity)
  check_class(sensitivity, "ibrc_sensitivity", "sensitivity", "sensitivity_analysis()")
  table <- as.data.frame(sensitivity)
  grouped <- any(!is.na(table$reference))
  type <- if (is.null(type)) c("level", "contrast")[1 + grouped] else
    check_choice(type, c("contrast", "level"), "type")
  if (type == "contrast" && !grouped) abort_input("type", "= \"contrast\" needs groups: the fit has none.")
  table <- table[!is.na(table$reference) == (type == "contrast"), ]
  known <- unique(table$term)
  if (is.null(terms)) terms <- known
  if (!is.character(terms) || !length(terms) || anyNA(terms)) {
    abort_input("terms", "must name terms of the fit, not ", describe(terms), ".")
  }
  unknown <- setdiff(terms, known)
  if (length(unknown)) {
    abort_input("terms", "names unknown ", enumerate(unknown), "; there are ", enumerate(known, Inf), ".")
  }
  table <- table[table$term %in% terms, ]
  panel <- quantity_label(table)
  own <- table[table$baseline, ][match(panel, panel[table$baseline]), ]
  gain <- ifelse(is.na(table$log_lik_difference), "none", signed_text(table$log_lik_difference))
  label <- ifelse(table$baseline, "as fitted", paste0(table$alternative, " (", gain, ")"))
  out <- data.frame(
    what = factor(ifelse(table$baseline, "", table$what), unique(c("", table$what[!table$baseline]))),
    alternative = table$alternative, label = factor(label, rev(unique(label))), panel = factor(panel, unique(panel)),
    table[c("group", "reference", "term", "estimate", "conf.low", "conf.high")], own_estimate = own$estimate,
    own_low = own$conf.low, own_high = own$conf.high, log_lik_difference = table$log_lik_difference,
    fits = factor(ifelse(table$log_lik_difference > better_by, "better", "not better"), c("not better", "better")),
    scale = ifelse(is_log_term(table$term), "log10", "linear"), verdict = table$verdict
  )
  rownames(out) <- NULL
  out
}

draw_sensitivity <- function(data, verdict, conf.level = NULL) {
  described <- sensitivity_alt(data)
  positions <- c("estimate", "conf.low", "conf.high", "own_estimate", "own_low", "own_high")
  data[positions] <- lapply(data[positions], axis_position, data$term)
  terms <- data$term[!duplicated(data$panel)]
  levels(data$panel) <- as_narrow_label(levels(data$panel), 18)
  facet <- ggplot2::facet_grid(what ~ panel, scales = "free", space = "free_y")
  said <- c(paste0("Points and lines: estimate and ", if (length(conf.level)) paste0(level_text(conf.level), " "),
                   "interval. Dashed line and grey band: as fitted. In brackets: log-likelihood beside that of ",
                   "the fit."),
            if (any(data$fits %in% "better")) paste0("Orange: fits better by more than ", better_by, "."))
  caption <- c(paste(said, collapse = " "),
               if (any(verdict$verdict != "ok")) paste0(verdict_headline(verdict), " (of the fit itself)."))
  ggplot2::ggplot(data, ggplot2::aes(.data$estimate, .data$label, colour = .data$fits)) +
    ggplot2::geom_rect(ggplot2::aes(xmin = .data$own_low, xmax = .data$own_high, ymin = -Inf, ymax = Inf),
                       data = data[!duplicated(data[c("panel", "what")]), ], fill = "grey90", colour = NA,
                       na.rm = TRUE, inherit.aes = FALSE) +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$own_estimate), linetype = "dashed", colour = "grey50") +
    ggplot2::geom_segment(ggplot2::aes(x = .data$conf.low, xend = .data$conf.high, yend = .data$label), linewidth = 0.8,
                          na.rm = TRUE) +
    ggplot2::geom_point(size = 1.8, na.rm = TRUE) +
    ggplot2::scale_colour_manual(values = c("not better" = action_colours[1], better = action_colours[2]),
                                 guide = "none", na.value = "grey50") +
    scale_terms(ggplot2::scale_x_continuous, terms) +
    log_panels(facet, "x", "panel", levels(data$panel)[is_log_term(terms)]) +
    ggplot2::labs(x = NULL, y = NULL, caption = in_lines(caption), alt = described) +
    theme_ibrc() +
    ggplot2::theme(strip.text.y = ggplot2::element_text(angle = 0))
}

# What the picture shows, for who cannot see it.
sensitivity_alt <- function(data) {
  range <- tapply(data$estimate, data$panel, function(x) {
    paste(vapply(range(c(x, NA), na.rm = TRUE), format_number, ""), collapse = " to ")
  })
  paste0("Estimates with intervals under ", plural(nrow(unique(data[c("what", "alternative")])) - 1, "alternative"),
         " to what the fit assumes, beside the fit as it is: ",
         paste0(names(range), " from ", range, collapse = "; "), ".")
}
