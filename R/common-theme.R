# One look for every picture: colours that colour-blind readers can tell apart (Okabe
# and Ito), a light grid, and text that is legible at a width of 8 cm.

action_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")

action_palette <- function(n) {
  if (n <= length(action_colours)) return(action_colours[seq_len(n)])
  grDevices::hcl.colors(n, "Dark 3")
}

theme_ibrc <- function() {
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(
      panel.grid.minor = ggplot2::element_blank(),
      panel.spacing = ggplot2::unit(1.1, "lines"),
      strip.text = ggplot2::element_text(face = "bold", hjust = 0),
      legend.position = "bottom"
    )
}

# "declare_healthy" reads better as "declare healthy".
as_label <- function(name) gsub("_", " ", name)

# `.data` is ggplot2's pronoun for columns, not an object of ours.
utils::globalVariables(".data")

add_panels <- function(picture, data, columns) {
  if (nlevels(data$panel) < 2 && identical(levels(data$panel), "")) return(picture)
  picture + ggplot2::facet_wrap(~panel, ncol = columns)
}
