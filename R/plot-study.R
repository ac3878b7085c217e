#' Draw what a planned study would find
#'
#' Of a [power_study()] it draws one panel per measure over the number of patients, with 95% intervals of the simulation
#' and a dashed line at what intervals promise. Of a [recovery_study()] it draws one panel per term, with estimates and
#' their intervals over the truths. On the line they agree.
#'
#' @param x,study What [power_study()] or [recovery_study()] returned.
#' @param measures Which of the measures to draw. `NULL` draws power, false positives and coverage where there are any.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. Two functions return the data frames behind the pictures:
#'   * `power_data()`: rows of `tidy()` with `panel` and `nominal`, what is promised.
#'   * `recovery_data()`: rows of `as.data.frame()` that have a finite truth and estimate, with `panel` and `covered`.
#' @family studies
#' @export
#' @examples
#' design <- study_design(diag_setting(), diag_models(), bounded_agent(alpha = 0.5),
#'                        effect = list(optimism = -0.2), resolution = 20, starts = 1,
#'                        prior = ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)))
#' study <- power_study(design, patients = c(20, 40), replicates = 4)
#' power_data(study)[1:4, c("patients", "term", "measure", "estimate", "nominal")]
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(study)
plot.ibrc_power_study <- function(x, measures = NULL, ...) {
  check_unused(...)
  data <- power_data(x, measures)
  require_package("ggplot2", "Drawing a study")
  draw_power(data, x$design$patients)
}

#' @rdname plot.ibrc_power_study
#' @export
plot.ibrc_recovery_study <- function(x, ...) {
  check_unused(...)
  data <- recovery_data(x)
  require_package("ggplot2", "Drawing a study")
  draw_recovery(data, x$design$conf.level)
}

#' @rdname plot.ibrc_power_study
#' @export
power_data <- function(study, measures = NULL) {
  check_given(study)
  check_class(study, "ibrc_power_study", "study", "power_study()")
  table <- tidy(study)
  known <- names(power_panels)
  measures <- if (is.null(measures)) intersect(known[1:3], table$measure) else check_measures(measures, known)
  table <- table[table$measure %in% measures & !is.na(table$estimate), ]
  if (!nrow(table)) abort_input("measures", "has nothing to draw: there are ", enumerate(tidy(study)$measure), ".")
  table$panel <- factor(power_panels[table$measure], power_panels[measures])
  level <- study$design$conf.level
  table$nominal <- ifelse(table$measure == "coverage", level, ifelse(table$measure == "false_positives", 1 - level, NA))
  several <- length(unique(table$group)) > 1
  line <- paste0(term_words(table$term), if (several) paste0(" (", table$group, ")"),
                 ifelse(table$effect == "none", ", no effect", ""))
  table$line <- factor(line, unique(line))
  rownames(table) <- NULL
  table
}

power_panels <- c(power = "power", false_positives = "false positives", coverage = "coverage", bias = "bias",
                  rmse = "root mean squared error", width = "mean width", wrong_sign = "wrong sign")

draw_power <- function(data, patients) {
  n <- nlevels(data$line)
  even <- length(unique(patients)) == 1
  promised <- unique(data[!is.na(data$nominal), c("panel", "nominal")])
  # Intervals of several terms at one size stand side by side.
  step <- 0.015 * max(diff(range(data$patients)), 0.2 * max(data$patients))
  data$at <- data$patients + step * (as.integer(data$line) - (n + 1) / 2)
  # One point has no line.
  joined <- stats::ave(data$at, data$panel, data$line, FUN = length) > 1
  ggplot2::ggplot(data, ggplot2::aes(.data$at, .data$estimate, colour = .data$line)) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = .data$nominal), promised, colour = "grey45", linetype = 2) +
    (if (any(joined)) ggplot2::geom_line(ggplot2::aes(linetype = .data$line), data[joined, ], linewidth = 0.5)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$conf.low, ymax = .data$conf.high), na.rm = TRUE) +
    ggplot2::geom_point(size = 1.6) +
    ggplot2::facet_wrap(~panel, scales = "free_y", labeller = ggplot2::label_wrap_gen(13)) +
    scale_names(levels(data$line), "colour", labels = identity) +
    ggplot2::scale_linetype_manual(values = rep_len(line_types, n), labels = identity, limits = levels(data$line),
                                   guide = keys_in_lines(levels(data$line))) +
    ggplot2::scale_x_continuous(breaks = unique(data$patients)) +
    ggplot2::labs(x = paste("Patients", if (even) "per group" else paste("in", names(patients)[1])), y = NULL,
                  colour = NULL, linetype = NULL, caption = in_lines(paste0(
                    "Bars: 95% intervals of the simulation.",
                    if (nrow(promised)) " Dashed, grey: what intervals promise."
                  )),
                  alt = power_alt(data)) +
    theme_ibrc()
}

# What the picture shows, for who cannot see it.
power_alt <- function(data) {
  first <- data[data$panel == data$panel[1], ]
  paste0("What a planned study would find, by ", as.character(first$panel[1]), ": ",
         paste0(first$line, " ", vapply(first$estimate, format_number, ""), " with ", first$patients, " patients",
                collapse = "; "), ".")
}

#' @rdname plot.ibrc_power_study
#' @export
recovery_data <- function(study) {
  check_given(study)
  check_class(study, "ibrc_recovery_study", "study", "recovery_study()")
  table <- as.data.frame(study)
  table <- table[is.finite(table$truth) & is.finite(table$estimate), ]
  if (!nrow(table)) abort_input("study", "has nothing to draw: no estimate has a finite truth.")
  table$panel <- factor(term_words(table$term), unique(term_words(table$term)))
  table$covered <- (table$conf.low <= table$truth & table$truth <= table$conf.high) %in% TRUE
  rownames(table) <- NULL
  table
}

draw_recovery <- function(data, conf.level) {
  data$kind <- ifelse(data$covered, "yes", "no")
  # Truths of prices are natural logarithms: their axis has the prices themselves.
  logged <- on_log(data$term)
  numbers <- c("truth", "estimate", "conf.low", "conf.high")
  data[logged, numbers] <- data[logged, numbers] / log(10)
  data$panel <- factor(data$term, unique(data$term))
  facet <- log_panels(ggplot2::facet_wrap(~panel, scales = "free"), "x", "panel", unique(data$term[logged]))
  ggplot2::ggplot(data, ggplot2::aes(.data$truth, .data$estimate, colour = .data$kind)) +
    ggplot2::geom_abline(colour = "grey60", linetype = 2) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$conf.low, ymax = .data$conf.high), alpha = 0.5, na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$kind), size = 1.6) +
    log_panels(facet, "y", "panel", unique(data$term[logged])) +
    ggplot2::scale_x_continuous(n.breaks = 4) +
    ggplot2::scale_colour_manual(values = c(yes = action_colours[1], no = action_colours[2])) +
    ggplot2::scale_shape_manual(values = c(yes = 16, no = 17)) +
    ggplot2::labs(x = "Truth", y = "Estimate", colour = "Truth in the interval", shape = "Truth in the interval",
                  caption = in_lines(paste0("Lines: ", level_text(conf.level), " intervals. Dashed: estimate and ",
                                            "truth are the same.")),
                  alt = paste0("Estimates with intervals over truths, one panel per term; ", sum(data$covered), " of ",
                               nrow(data), " intervals cover the truth.")) +
    theme_ibrc()
}
