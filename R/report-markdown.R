# What the parts of a report become in Markdown, from which pandoc makes a Word document. Whatever comes from the user
# is written sign by sign as HTML entities: pandoc reads them as text, and as nothing else.

markdown_text <- function(x) {
  x <- gsub("[\\x01-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]", "?", page_text(x), perl = TRUE, useBytes = TRUE)
  Encoding(x) <- "UTF-8"
  vapply(x, function(text) {
    code <- utf8ToInt(gsub("[ \t\r\n]+", " ", text))
    plain <- code %in% c(32, 44, 48:57, 65:90, 97:122) | code > 127
    paste(ifelse(plain, intToUtf8(code, multiple = TRUE), sprintf("&#%d;", code)), collapse = "")
  }, "", USE.NAMES = FALSE)
}

part_markdown <- function(part) {
  switch(
    part$kind,
    title = paste0("::: {custom-style=\"", part$style, "\"}\n", markdown_text(part$text), "\n:::"),
    text = markdown_text(part$text),
    list = {
      mark <- if (part$class %in% c("stop", "warning")) "**" else ""
      paste0("- ", mark, markdown_text(part$lines), mark, collapse = "\n")
    },
    code = paste0("| ", markdown_text(part$lines), collapse = "\n"),
    table = table_markdown(part),
    picture = picture_markdown(part)
  )
}

# Dashes tell pandoc how wide columns are beside each other.
table_markdown <- function(part) {
  data <- part$data
  cells <- as.matrix(shown_cells(data))
  width <- vapply(seq_along(data), function(i) max(5, min(40, max(nchar(c(names(data)[i], cells[, i]))))), 0)
  rule <- ifelse(number_columns(data), paste0(strrep("-", width), ":"), paste0(":", strrep("-", width)))
  line <- function(text) paste0("| ", paste(text, collapse = " | "), " |")
  rows <- vapply(seq_len(nrow(cells)), function(i) line(markdown_text(cells[i, ])), "")
  paste(c(line(markdown_text(names(data))), paste0("|", paste(rule, collapse = "|"), "|"), rows, "",
          paste(":", markdown_text(part$caption))), collapse = "\n")
}

# Inches of a page that a picture may take.
page_size <- c(width = 6.3, height = 8.4)

# Where the document's other pictures would be: rmarkdown takes the folder away afterwards.
picture_markdown <- function(part) {
  file <- knitr::fig_path(paste0("-", basename(tempfile("")), ".png"))
  dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
  ggplot2::ggsave(file, part$plot, width = part$width, height = part$height, dpi = 144, bg = "white", limitsize = FALSE)
  width <- min(page_size[["width"]], page_size[["height"]] * part$width / part$height)
  paste0("![", markdown_text(part$alt), "](<", file, ">){width=", format_number(width), "in}")
}
