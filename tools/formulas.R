# Formulas of the built site as MathML, which browsers show by themselves. As pkgdown leaves them, they need a script
# from elsewhere, and without it readers see TeX. Used by tools/site.R.

inline_form <- "\\\\\\((.+?)\\\\\\)"
display_form <- "\\\\\\[.+?\\\\\\]|\\$\\$.+?\\$\\$"
any_form <- paste0("(?s)<pre.*?</pre>(*SKIP)(*FAIL)|<script.*?</script>(*SKIP)(*FAIL)|", inline_form, "|", display_form)

# TeX as it stands on pages, between its marks, as MathML; all in one call of pandoc.
as_mathml <- function(marked) {
  tex <- gsub("\\s+", " ", trimws(substr(marked, 3, nchar(marked) - 2)))
  for (sign in list(c("&lt;", "<"), c("&gt;", ">"), c("&#39;", "'"), c("&quot;", "\""), c("&amp;", "&"))) {
    tex <- gsub(sign[1], sign[2], tex, fixed = TRUE)
  }
  inline <- startsWith(marked, "\\(")
  mark <- ifelse(inline, "$", "$$")
  source <- tempfile(fileext = ".md")
  writeLines(paste0(mark, tex, mark, "\n"), source, useBytes = TRUE)
  page <- system2("pandoc", c("--mathml", "--wrap=none", "-f", "markdown", "-t", "html", source), stdout = TRUE)
  Encoding(page) <- "UTF-8"
  found <- sub("^<p>(.*)</p>$", "\\1", page)
  stopifnot(length(found) == length(tex), startsWith(found, "<math"))
  # Brackets are as high as their line, unless TeX asks for more. A comma between them would make them larger.
  plain <- !grepl("\\left", tex, fixed = TRUE)
  found[plain] <- gsub("stretchy=\"true\"", "stretchy=\"false\"", found[plain], fixed = TRUE)
  found <- gsub("<mo>\u2223</mo>", "<mo stretchy=\"false\">\u2223</mo>", found, fixed = TRUE)
  # A long formula is scrolled, and does not widen the page.
  ifelse(inline, found, paste0("<span style=\"display: block; overflow-x: auto; padding: 0.4em 0\">", found, "</span>"))
}

write_formulas <- function(folder) {
  for (page in list.files(folder, "[.]html$", recursive = TRUE, full.names = TRUE)) {
    text <- paste(readLines(page, encoding = "UTF-8", warn = FALSE), collapse = "\n")
    text <- sub("(?s)<!-- mathjax -->(\\s*<script[^>]*></script>)*", "", text, perl = TRUE)
    places <- gregexpr(any_form, text, perl = TRUE)
    formulas <- regmatches(text, places)[[1]]
    if (length(formulas)) regmatches(text, places) <- list(as_mathml(formulas))
    writeLines(text, page, useBytes = TRUE)
  }
}
