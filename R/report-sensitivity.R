# The section of a report on how far the answer rests on what was assumed.

sensitivity_section <- function(report) {
  rows <- report$verdict[report$verdict$check == "assumed", ]
  known <- data.frame(Of = row_labels(rows, is_grouped(report$fit)), Seen = rows$seen, Asked = rows$asked,
                      Verdict = as.character(rows$verdict))
  parts <- if (is.null(report$sensitivity)) {
    list(report_text("No sensitivity analysis was given. sensitivity_analysis(fit, over) fits again with something ",
                     "else assumed, and `sensitivity` of ibrc_report() shows it here."))
  } else {
    varied_parts(report$sensitivity)
  }
  new_report_section(parts, if (nrow(known)) report_table(known, "What was checked of the assumptions"))
}

varied_parts <- function(sensitivity) {
  table <- shown_rows(sensitivity)
  wide <- wide_table(table, 3)
  names(wide)[1:3] <- c("Varied", "Alternative", "Log-likelihood")
  n_panels <- length(unique(quantity_label(table)))
  list(
    report_list(sensitivity_words(sensitivity)),
    report_table(wide, "Estimates and intervals under each alternative"),
    if (n_panels <= most_panels) {
      data <- sensitivity_data(sensitivity)
      report_picture(draw_sensitivity(data, attr(sensitivity, "verdict")), sensitivity_alt(data),
                     height = 1.6 + 0.35 * nlevels(data$label))
    }
  )
}

# Panels that can be read beside each other.
most_panels <- 6

check_sensitivity <- function(sensitivity) {
  if (!is.null(sensitivity)) check_class(sensitivity, "ibrc_sensitivity", "sensitivity", "sensitivity_analysis()")
}
