# Coefficients, spreads and correlations of a population with their intervals: plot(fit) of people who differ.

coefficient_data <- function(fit, terms) {
  table <- tidy(fit)
  table <- table[match(terms, table$term), ]
  design <- fit$effects
  coefficients <- design$coefficients
  own <- coefficients$term[match(table$term, coefficients$label)]
  slopes <- coefficients$label[!coefficients$intercept]
  # What is not a difference is on the scale of its term, and stands in a panel of its own.
  panel <- ifelse(table$term %in% slopes, paste("Differences in", scaled_words(fit, own)),
                  ifelse(table$term %in% design$spreads$label, "Standard deviations of random intercepts",
                         ifelse(table$term %in% design$ties$label, "Correlations",
                                ifelse(is_log_term(table$term) | has_zero(table$term),
                                       paste(table$term, "at the reference"), "At the reference"))))
  data.frame(label = factor(table$term, levels = rev(table$term)), panel = factor(panel, levels = unique(panel)),
             estimate = table$estimate, conf.low = table$conf.low, conf.high = table$conf.high, verdict = table$verdict,
             row.names = NULL)
}

draw_coefficients <- function(data, fit) {
  panels <- levels(data$panel)
  reference <- grepl(" at the reference$", panels)
  own <- sub(" at the reference$", "", panels)
  zero <- grepl("^Differences|^Correlations", panels) | reference & has_zero(own)
  zero <- data.frame(panel = factor(panels[zero], levels = panels), at = rep(0, sum(zero)))
  logged <- reference & is_log_term(own)
  ends <- c("estimate", "conf.low", "conf.high")
  rows <- data$panel %in% panels[logged]
  data[rows, ends] <- log10(data[rows, ends])
  ggplot2::ggplot(data, ggplot2::aes(.data$estimate, .data$label)) +
    ggplot2::geom_vline(data = zero, ggplot2::aes(xintercept = .data$at), linetype = "dashed", colour = "grey50") +
    ggplot2::geom_segment(ggplot2::aes(x = .data$conf.low, xend = .data$conf.high, yend = .data$label),
                          linewidth = 0.9, colour = action_colours[1]) +
    ggplot2::geom_point(size = 2, colour = action_colours[1]) +
    ggplot2::scale_x_continuous(n.breaks = 5, expand = ggplot2::expansion(0.08)) +
    log_panels(ggplot2::facet_wrap(~panel, scales = "free", ncol = 1,
                                   labeller = ggplot2::label_wrap_gen(30)), "x", "panel", panels[logged]) +
    ggplot2::labs(x = NULL, y = NULL, alt = coefficients_alt(data),
                  caption = in_lines(verdict_caption(fit, paste(c(interval_words("Points and lines", 0.95),
                                                                  if (nrow(zero)) "Dashed: 0.",
                                                                  per_unit_words(fit$effects)), collapse = " ")))) +
    theme_ibrc()
}

coefficients_alt <- function(data) {
  beyond <- data[grepl("^Differences", data$panel) & (data$conf.low > 0 | data$conf.high < 0), ]
  paste0("Medians and 95% intervals of ", listing(as.character(data$label), 12), ". ",
         if (nrow(beyond)) paste0("Intervals that leave out 0: ", listing(as.character(beyond$label), 12), ".") else
           "Every interval of a difference has 0 in it.")
}
