# What a report says of people who differ (ibrc() with `effects`), where it has groups of other fits.

# Coefficients before and after, and their picture.
coefficients_parts <- function(report, before, after) {
  fit <- report$fit
  data <- fit_plot_data(fit, "coefficients")
  plain <- as_plain_fit(fit)
  plain$standing <- report$verdict
  list(
    report_list(paste0(effects_words(fit$effects), "."), class = "plain"),
    report_table(before, "Believed beforehand"),
    report_table(after, "Believed after seeing the data"),
    report_text(paste(scale_words(fit), collapse = " ")),
    report_picture(draw_coefficients(data, plain), coefficients_alt(data), height = 1.4 + 0.3 * nrow(data) +
                     0.5 * nlevels(data$panel))
  )
}

# Adjusted differences between levels, how far people differ, and how far levels were drawn to each other.
people_section <- function(report) {
  fit <- report$fit
  table <- tryCatch(compare_groups(fit, joint = TRUE), ibrc_error = identity)
  contrasts <- if (inherits(table, "error"))
    list(report_text("Levels of factors are not compared. ", table$message)) else
    list(report_table(as.data.frame(contrasts_table(table)),
                      "How much larger each term is than at the reference level"),
         report_list(Filter(nzchar, comparison_words(table)), class = "plain"))
  spread <- tryCatch(spread_shares(fit), ibrc_error = function(e) NULL)
  do.call(new_report_section, c(contrasts, list(if (!is.null(spread)) report_list(format(spread), class = "plain")),
                                shrinkage_parts(report)))
}

# Cells that a report may solve for again and again: it is not to take minutes. One estimate takes some thirty solves
# for every cell.
most_shrunken <- 400

shrinkage_parts <- function(report) {
  fit <- report$fit
  if (!length(fit$effects$factors) || is.null(fit$histories) || !fit$likelihood) return(NULL)
  if (length(fit$draws) > most_shrunken) {
    return(list(report_text("There are too many cells to draw here how far levels were drawn to each other: ",
                            "plot_shrinkage() has it.")))
  }
  data <- shrinkage_data(fit)
  if (all(is.na(data$own))) return(list(report_text("No level has an estimate from its visits alone.")))
  # Counts of trajectories may be hidden elsewhere.
  data$trajectories <- 1L
  fit$standing <- report$verdict
  panels <- length(unique(paste(data$term, data$factor)))
  list(report_picture(draw_shrinkage(data, fit) + ggplot2::guides(size = "none"), shrinkage_alt(data),
                      height = panel_height(panels, each = 3.2)))
}
