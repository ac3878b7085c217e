# The parts that sections of a report are made of, and what each becomes in HTML. htmltools
# escapes whatever stands in a tag; the title goes into a page that is made (see set_title), and is escaped here.

report_text <- function(...) list(kind = "text", text = paste0(...))
report_list <- function(lines, class = "plain") list(kind = "list", lines = lines, class = class)
report_code <- function(lines) list(kind = "code", lines = lines)

# A title in a document that has no place for one in its head; `style` is one of Word's.
report_title <- function(text, style) list(kind = "title", text = text, style = style)

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

# The backtick would end the block that HTML stands in (see knit_print). No tag is written with one.
escape_backticks <- function(html) gsub("`", "&#96;", html, fixed = TRUE)

escape_html <- function(x) escape_backticks(htmltools::htmlEscape(page_text(x), attribute = TRUE))

part_html <- function(part) {
  tags <- htmltools::tags
  tag <- switch(
    part$kind,
    title = , text = tags$p(page_text(part$text)),
    list = tags$ul(class = part$class, lapply(page_text(part$lines), tags$li)),
    # Blanks between these two would be shown.
    code = tags$pre(.noWS = c("after-begin", "before-end"), tags$code(paste(page_text(part$lines), collapse = "\n"))),
    table = table_tag(part),
    picture = picture_tag(part)
  )
  escape_backticks(as.character(htmltools::doRenderTags(tag, indent = FALSE)))
}

# A wide table scrolls by itself, by keyboard as well, and the page does not.
table_tag <- function(part) {
  tags <- htmltools::tags
  data <- part$data
  cells <- as.matrix(shown_cells(data))
  number <- number_columns(data)
  class_of <- function(column) if (number[column]) "number"
  head <- lapply(seq_along(data), function(column) {
    tags$th(scope = "col", class = class_of(column), page_text(names(data)[column]))
  })
  rows <- lapply(seq_len(nrow(data)), function(row) {
    tags$tr(lapply(seq_along(data), function(column) tags$td(class = class_of(column), cells[row, column])))
  })
  caption <- page_text(part$caption)
  tags$figure(
    tags$figcaption(caption),
    tags$div(class = "scroll", tabindex = "0", role = "region", `aria-label` = caption,
             tags$table(tags$thead(tags$tr(head)), tags$tbody(rows)))
  )
}

# The picture is part of the page; its file goes with R's own temporary folder.
picture_tag <- function(part) {
  tags <- htmltools::tags
  file <- tempfile(fileext = ".png")
  on.exit(unlink(file))
  ggplot2::ggsave(file, part$plot, width = part$width, height = part$height, dpi = 144, bg = "white")
  tags$div(class = "picture", tabindex = "0", role = "region", `aria-label` = "Picture",
           tags$img(src = knitr::image_uri(file), width = round(100 * part$width), height = round(100 * part$height),
                    alt = page_text(part$alt)))
}

# Raw HTML, which pandoc takes as it is: labels are no Markdown either. For Word, and whatever else pandoc writes,
# Markdown.
#' @rawNamespace S3method(knitr::knit_print, ibrc_report_section)
knit_print.ibrc_report_section <- function(x, ...) {
  to <- knitr::pandoc_to()
  if (!is.null(to) && !startsWith(to, "html")) {
    return(knitr::asis_output(paste0("\n\n", paste(vapply(x, part_markdown, ""), collapse = "\n\n"), "\n\n")))
  }
  require_package("htmltools", "A report")
  knitr::asis_output(paste0("\n\n```{=html}\n", paste(vapply(x, part_html, ""), collapse = "\n"), "\n```\n\n"))
}

#' @export
print.ibrc_report_section <- function(x, ...) {
  for (part in x) {
    switch(
      part$kind,
      title = , text = writeLines(strwrap(part$text)),
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
