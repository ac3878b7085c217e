# One look for every picture: colours that colour-blind readers can tell apart (Okabe and Ito), a light grid, and text
# that is legible where a picture is 9 cm wide, as in one column of a journal.

action_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")

action_palette <- function(n) {
  if (n <= length(action_colours)) return(action_colours[seq_len(n)])
  grDevices::hcl.colors(n, "Dark 3")
}

# Each name with its colour: the same one in every picture, whatever else is in it.
named_palette <- function(names) stats::setNames(action_palette(length(names)), names)

# Colours by name for all of `names`. `keys` is FALSE where a picture needs no legend.
scale_names <- function(names, aesthetics = c("colour", "fill"), labels = as_label, keys = TRUE, ...) {
  ggplot2::scale_colour_manual(values = named_palette(names), limits = names, labels = labels,
                               aesthetics = aesthetics, guide = if (keys) keys_in_lines(names, ...) else "none")
}

# The theme, and an axis that leaves out numbers for which there is no room.
theme_ibrc <- function() {
  list(
    ggplot2::theme_minimal(base_size = 9) +
      ggplot2::theme(
        panel.grid.minor = ggplot2::element_blank(),
        panel.spacing = ggplot2::unit(0.9, "lines"),
        strip.text = ggplot2::element_text(face = "bold", hjust = 0, size = ggplot2::rel(0.9)),
        strip.clip = "off",
        legend.position = "bottom", legend.box = "vertical", legend.box.spacing = ggplot2::unit(4, "pt"),
        legend.margin = ggplot2::margin(1, 0, 1, 0), legend.spacing.y = ggplot2::unit(1, "pt"),
        legend.key.size = ggplot2::unit(11, "pt"), legend.title = ggplot2::element_text(size = ggplot2::rel(0.85)),
        axis.title = ggplot2::element_text(size = ggplot2::rel(0.9)),
        plot.caption = ggplot2::element_text(size = ggplot2::rel(0.75), hjust = 0, lineheight = 1.05),
        plot.caption.position = "plot",
        plot.margin = ggplot2::margin(5, 9, 5, 5)
      ),
    ggplot2::guides(x = ggplot2::guide_axis(check.overlap = TRUE))
  )
}

# A picture that has no axes: a diagram.
theme_diagram <- function() {
  list(theme_ibrc(), ggplot2::theme(axis.text = ggplot2::element_blank(), axis.title = ggplot2::element_blank(),
                                    panel.grid = ggplot2::element_blank()))
}

# Points that a sign takes at the size of legends, and a picture of 9 cm less its margins.
points_of_sign <- 4
points_of_width <- 240

# A legend with as many keys in each line as 9 cm have room for.
keys_in_lines <- function(labels, ...) {
  ggplot2::guide_legend(ncol = keys_in_line(labels, points_of_width), byrow = TRUE, ...)
}

keys_in_line <- function(labels, width) {
  each <- points_of_sign * nchar(labels, "width") + 24
  if (sum(each) <= width) return(length(labels))
  max(1, min(length(labels), floor(width / max(each))))
}

# Text in lines that 9 cm have room for; lines that were there stay. NULL stays NULL.
in_lines <- function(text, width = 66) {
  if (is.null(text)) return(NULL)
  lines <- unlist(strsplit(paste(text, collapse = "\n"), "\n", fixed = TRUE))
  paste(unlist(lapply(lines, strwrap, width)), collapse = "\n")
}

# "declare_healthy" reads better as "declare healthy".
as_label <- function(name) gsub("_", " ", name)

# The same, broken into lines for the title of a narrow panel.
as_narrow_label <- function(name, width = 16) vapply(as_label(name), in_lines, "", width, USE.NAMES = FALSE)

# `.data` is ggplot2's pronoun for columns, not an object of ours.
utils::globalVariables(".data")

add_panels <- function(picture, data, columns) {
  if (nlevels(data$panel) < 2 && identical(levels(data$panel), "")) return(picture)
  picture + ggplot2::facet_wrap(~panel, ncol = columns)
}
