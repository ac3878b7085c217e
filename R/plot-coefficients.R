# Coefficients, spreads and correlations of a population with their intervals: plot(fit) of people who differ.

coefficient_data <- function(fit, terms) {
  table <- tidy(fit)
  table <- table[match(terms, table$term), ]
  design <- fit$effects
  coefficients <- design$coefficients
  own <- coefficients$term[match(table$term, coefficients$label)]
  slopes <- coefficients$label[!coefficients$intercept]
  # What is not a difference is on the scale of its term, and stands in a panel of its own.
  panel <- ifelse(table$term %in% slopes, paste("Differences in", own),
                  ifelse(table$term %in% design$spreads$label, "Standard deviations between people",
                         ifelse(table$term %in% design$ties$label, "Correlations", "At the reference")))
  data.frame(label = factor(table$term, levels = rev(table$term)), panel = factor(panel, levels = unique(panel)),
             estimate = table$estimate, conf.low = table$conf.low, conf.high = table$conf.high, verdict = table$verdict,
             row.names = NULL)
}

draw_coefficients <- function(data, fit) {
  zero <- data.frame(panel = levels(data$panel)[grepl("^Differences|^Correlations", levels(data$panel))])
  zero$panel <- factor(zero$panel, levels = levels(data$panel))
  zero$at <- rep(0, nrow(zero))
  ggplot2::ggplot(data, ggplot2::aes(.data$estimate, .data$label)) +
    ggplot2::geom_vline(data = zero, ggplot2::aes(xintercept = .data$at), linetype = "dashed", colour = "grey50") +
    ggplot2::geom_segment(ggplot2::aes(x = .data$conf.low, xend = .data$conf.high, yend = .data$label),
                          linewidth = 1, colour = action_colours[1]) +
    ggplot2::geom_point(size = 2.4, colour = action_colours[1]) +
    ggplot2::facet_wrap(~panel, scales = "free", ncol = 1) +
    ggplot2::labs(x = NULL, y = NULL, alt = coefficients_alt(data),
                  caption = verdict_caption(fit, "Median and 95% interval. Dashed: no difference.")) +
    theme_ibrc()
}

coefficients_alt <- function(data) {
  beyond <- data[grepl("^Differences", data$panel) & (data$conf.low > 0 | data$conf.high < 0), ]
  paste0("Medians and 95% intervals of ", listing(as.character(data$label), 12), ". ",
         if (nrow(beyond)) paste0("Intervals that leave out 0: ", listing(as.character(beyond$label), 12), ".") else
           "Every interval of a difference has 0 in it.")
}
