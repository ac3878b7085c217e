# Cells of tables as text.

# Three digits, as print() has them; counts as they are; nothing where there is no number. `floored`: where a number
# next to 0 is called so.
cell_text <- function(column, floored = FALSE) {
  if (!is.numeric(column)) return(as.character(column))
  are_counts <- all(column == round(column), na.rm = TRUE)
  text <- ifelse(is.na(column), "", if (are_counts) format_count(column) else digits_text(column))
  tiny <- floored & !is.na(column) & column != 0 & abs(column) < 0.001
  ifelse(tiny, ifelse(column > 0, "< 0.001", "> -0.001"), text)
}

# Rows of what decision makers do. Costs are in the unit of the utility, which may be small.
floored_rows <- function(data) {
  what <- data[["What"]]
  if (is.null(what)) FALSE else what %in% effect_titles[names(effect_titles) != "cost"]
}

# Every cell as text that any page can hold.
shown_cells <- function(data) {
  out <- as.data.frame(data)
  floored <- floored_rows(out)
  out[] <- lapply(out, function(column) page_text(cell_text(column, floored)))
  out
}

# Also numbers that came as text, such as counts that may be "<5".
number_columns <- function(data) {
  vapply(shown_cells(data), function(column) {
    all(grepl("^[-+<>=*., 0-9e]*$", column)) && any(grepl("[0-9*]", column))
  }, NA)
}

# Text as a page can hold it: UTF-8, and nothing where there is none.
page_text <- function(x) {
  x <- enc2utf8(as.character(x))
  x[!validUTF8(x)] <- "?"
  x[is.na(x)] <- ""
  x
}
