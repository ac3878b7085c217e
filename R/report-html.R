# The parts that sections of a report are made of, and what each becomes in HTML. Whatever
# comes from the user is escaped here, and here alone.

report_text <- function(...) list(kind = "text", text = paste0(...))
report_list <- function(lines, class = "plain") list(kind = "list", lines = lines, class = class)
report_code <- function(lines) list(kind = "code", lines = lines)

# `data` as it is to be read, columns in words.
report_table <- function(data, caption) list(kind = "table", data = data, caption = caption)

# `alt` says in words what the picture shows; sizes are in inches.
report_picture <- function(plot, alt, height, width = 7.2) {
  list(kind = "picture", plot = plot, alt = alt, width = width, height = min(height, tallest_picture))
}

# Parts, or lists of parts such as picture_pages() gives.
new_report_section <- function(...) {
  parts <- lapply(list(...), function(part) if (is.list(part) && is.null(part$kind)) part else list(part))
  structure(Filter(Negate(is.null), do.call(c, parts)), class = "ibrc_report_section")
}

# The backtick would end the block that HTML stands in (see knit_print), the others HTML itself.
escape_html <- function(x) {
  x <- enc2utf8(as.character(x))
  x[!validUTF8(x)] <- "?"
  x[is.na(x)] <- ""
  signs <- c("&" = "&amp;", "<" = "&lt;", ">" = "&gt;", "\"" = "&quot;", "'" = "&#39;", "`" = "&#96;")
  for (sign in names(signs)) x <- gsub(sign, signs[[sign]], x, fixed = TRUE)
  x
}

part_html <- function(part) {
  switch(
    part$kind,
    text = paste0("<p>", escape_html(part$text), "</p>"),
    list = paste0("<ul class=\"", part$class, "\">", paste0("<li>", escape_html(part$lines), "</li>", collapse = ""),
                  "</ul>"),
    code = paste0("<pre><code>", paste(escape_html(part$lines), collapse = "\n"), "</code></pre>"),
    table = table_html(part),
    picture = picture_html(part)
  )
}

# A wide table scrolls by itself, by keyboard as well, and the page does not.
table_html <- function(part) {
  data <- part$data
  cells <- matrix(vapply(data, cell_text, character(nrow(data))), nrow(data), length(data))
  # Also numbers that came as text, such as counts that may be "<5".
  number <- apply(cells, 2, function(column) all(grepl("^[-+<>=*., 0-9e]*$", column)) && any(grepl("[0-9*]", column)))
  class <- ifelse(number, " class=\"number\"", "")
  cells[] <- escape_html(cells)
  rows <- apply(cells, 1, function(row) paste0("<tr>", paste0("<td", class, ">", row, "</td>", collapse = ""), "</tr>"))
  caption <- escape_html(part$caption)
  paste0("<figure><figcaption>", caption, "</figcaption><div class=\"scroll\" tabindex=\"0\" role=\"region\" ",
         "aria-label=\"", caption, "\"><table><thead><tr>",
         paste0("<th scope=\"col\"", class, ">", escape_html(names(data)), "</th>", collapse = ""),
         "</tr></thead><tbody>", paste(rows, collapse = "\n"), "</tbody></table></div></figure>")
}

# Three digits; nothing where there is no number.
cell_text <- function(column) {
  if (!is.numeric(column)) return(as.character(column))
  ifelse(is.na(column), "", vapply(column, format, "", digits = 3, big.mark = big_mark()))
}

# The picture is part of the page; its file goes with R's own temporary folder.
picture_html <- function(part) {
  file <- tempfile(fileext = ".png")
  on.exit(unlink(file))
  ggplot2::ggsave(file, part$plot, width = part$width, height = part$height, dpi = 144, bg = "white")
  paste0("<div class=\"picture\" tabindex=\"0\" role=\"region\" aria-label=\"Picture\"><img src=\"",
         knitr::image_uri(file), "\" width=\"", round(100 * part$width), "\" height=\"", round(100 * part$height),
         "\" alt=\"", escape_html(part$alt), "\"></div>")
}

# Raw HTML, which pandoc takes as it is: labels are no Markdown either.
#' @rawNamespace S3method(knitr::knit_print, ibrc_report_section)
knit_print.ibrc_report_section <- function(x, ...) {
  to <- knitr::pandoc_to()
  if (!is.null(to) && !startsWith(to, "html")) {
    abort("input", "Sections of a report are written in HTML: set `output` to html_document, not ", to, ".",
          argument = "output")
  }
  knitr::asis_output(paste0("\n\n```{=html}\n", paste(vapply(x, part_html, ""), collapse = "\n"), "\n```\n\n"))
}

#' @export
print.ibrc_report_section <- function(x, ...) {
  for (part in x) {
    switch(
      part$kind,
      text = writeLines(strwrap(part$text)),
      list = for (line in part$lines) writeLines(strwrap(line, prefix = "  ", initial = "* ")),
      code = writeLines(part$lines),
      table = {
        writeLines(part$caption)
        print(part$data, digits = 3, row.names = FALSE)
      },
      picture = print(part$plot)
    )
    cat("\n")
  }
  invisible(x)
}

# Inches; ggsave() refuses 50.
tallest_picture <- 48
