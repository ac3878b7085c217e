# Pictures of a report that have a panel, a row or a colour for every group, patient or term: as many pictures as can
# be read, none of them larger than a device can draw.

# Group panels, group columns, terms and patients in one picture, and colours that can be told apart.
panels_in_picture <- 12
columns_in_picture <- 6
terms_in_picture <- 16
patients_in_picture <- 6
most_colours <- 12

# A list of pictures. `draw(rows, shown)` makes one, of the rows of `data` whose value in column `by` is among `shown`,
# `most` of them at most; rows without a value, such as those of a prior, are in every picture.
picture_pages <- function(data, most, draw, by = "group") {
  if (is.null(data[[by]])) return(list(draw(data, "all")))
  known <- as.character(unique(stats::na.omit(data[[by]])))
  if (is.factor(data[[by]])) known <- intersect(levels(data[[by]]), known)
  lapply(in_pieces(known, most), function(shown) {
    draw(data[is.na(data[[by]]) | as.character(data[[by]]) %in% shown, , drop = FALSE], shown)
  })
}

# Rows of groups that fit into half of the tallest picture, with so many panels below each other; each takes 3/4 inch.
rows_in_picture <- function(n_panels) {
  max(2, min(20, floor((tallest_picture / 2 / n_panels - 1) / 0.75)))
}

# Inches for so many panels as facet_wrap() lays them out, with room for a legend.
panel_height <- function(n, each = 2.1) 1 + each * grDevices::n2mfrow(n)[2]

# The groups whose chains agree least, `most` of them at most, in the order of the fit.
worst_groups <- function(fit, table, most) {
  groups <- names(fit$draws)
  if (length(groups) <= most) return(groups)
  rhat <- tapply(table$rhat, factor(table$group, groups), function(x) max(c(x, -Inf), na.rm = TRUE))
  groups[sort(utils::head(order(-rhat), most))]
}

# What a picture shows, in words, where there are groups.
of_groups <- function(fit, groups = names(fit$draws)) {
  if (is_grouped(fit) && !has_population(fit)) paste(" for", enumerate(groups, 8, "")) else ""
}

# A row of panels for each term, a column for each group.
trace_pictures <- function(fit, table) {
  known <- standing_verdict(fit)
  fit <- as_plain_fit(fit)
  fit$standing <- known
  terms <- reported_terms(fit)
  traced <- worst_groups(fit, table, 4 * columns_in_picture)
  left_out <- length(fit$draws) - length(traced)
  data <- fit_plot_data(fit, "trace")
  pictures <- lapply(in_pieces(traced, columns_in_picture), function(groups) {
    lapply(in_pieces(terms, terms_in_picture), function(some) {
      rows <- data[data$term %in% some & data$group %in% groups, ]
      report_picture(draw_traces(rows, fit, some),
                     paste0("Draws of ", enumerate(some, Inf, ""), " in order, one colour per chain",
                            of_groups(fit, groups), "."),
                     height = 0.9 + 1.25 * length(some))
    })
  })
  c(if (left_out > 0) list(report_text("Drawn are the ", length(traced), " groups whose chains agree least; in the ",
                                       "other ", left_out, " they agree better.")),
    unlist(pictures, recursive = FALSE))
}
