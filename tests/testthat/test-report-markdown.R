test_that("signs that Markdown or HTML read are written as entities, letters and digits as they are", {
  expect_identical(markdown_text("a b, 9\u00e9"), "a b, 9\u00e9")
  expect_identical(markdown_text("*_`|<$\\"), "&#42;&#95;&#96;&#124;&#60;&#36;&#92;")
  expect_identical(markdown_text("1. a\n\n  b"), "1&#46; a b")
  expect_identical(markdown_text(c("", NA, "\x01")), c("", "", "&#63;"))
})

test_that("parts become Markdown, and pandoc reads them as the text that they were", {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available("2.0"))
  bad <- "<b>| *x* `r 1` $y$ [z](u) --- \\n"
  parts <- list(report_title(bad, "Title"), report_text(bad), report_list(bad, class = "stop"), report_code(bad),
                report_table(stats::setNames(data.frame(bad, 1.23456), c(bad, "n")), bad))
  source <- withr::local_tempfile(fileext = ".md", lines = enc2utf8(vapply(parts, part_markdown, "")) |>
                                    paste(collapse = "\n\n"))
  page <- withr::local_tempfile(fileext = ".html")
  rmarkdown::pandoc_convert(source, "html", "markdown", output = page, options = "--wrap=none")
  page <- paste(readLines(page, encoding = "UTF-8"), collapse = "\n")
  escaped <- gsub(">", "&gt;", gsub("<", "&lt;", bad, fixed = TRUE), fixed = TRUE)
  # Title, text, list, code, the table's head, cell and caption.
  expect_identical(lengths(regmatches(page, gregexpr(escaped, page, fixed = TRUE))), 7L)
  expect_match(page, "<strong>", fixed = TRUE)
  expect_match(page, "<td[^>]*>1.23</td>")
  expect_no_match(page, "<em>|<code>|<a |math")
})
