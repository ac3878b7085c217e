test_that("whatever comes from the user is text, in every kind of part", {
  skip_if_not_installed("htmltools")
  bad <- "<b>&\"'`"
  # Quotes end nothing but the value of an attribute.
  in_text <- "&lt;b&gt;&amp;\"'&#96;"
  in_attribute <- "&lt;b&gt;&amp;&quot;&#39;&#96;"
  parts <- list(report_text(bad), report_list(c(bad, "x")), report_code(bad),
                report_table(stats::setNames(data.frame(bad, 1), c(bad, "n")), bad))
  for (part in parts) {
    page <- part_html(part)
    expect_no_match(page, bad, fixed = TRUE)
    expect_no_match(page, "<b>", fixed = TRUE)
    expect_match(page, in_text, fixed = TRUE)
  }
  # In the table: its head, its cell, its caption; and the caption's label.
  expect_identical(lengths(regmatches(page, gregexpr(in_text, page, fixed = TRUE))), 3L)
  expect_match(page, paste0("aria-label=\"", in_attribute, "\""), fixed = TRUE)
})

test_that("lines of code keep their blanks, and get none", {
  skip_if_not_installed("htmltools")
  expect_identical(part_html(report_code(c("a", "  b"))), "<pre><code>a\n  b</code></pre>")
})

test_that("text that is no text is marked, and missing text is none", {
  skip_if_not_installed("htmltools")
  broken <- "\xff\xfe"
  Encoding(broken) <- "UTF-8"
  expect_identical(escape_html(c(broken, NA, "\u00e9")), c("?", "", "\u00e9"))
  expect_identical(escape_html(3), "3")
})

test_that("numbers have three digits and stand to the right, also those that came as text", {
  skip_if_not_installed("htmltools")
  data <- data.frame(Name = c("a", "b"), Share = c(0.123456, NA), Count = c("<5", "1,234"), Word = c("1 of 2", "x"))
  page <- part_html(report_table(data, "Caption"))
  expect_match(page, "<td class=\"number\">0.123</td>", fixed = TRUE)
  expect_match(page, "<td class=\"number\"></td>", fixed = TRUE)
  expect_match(page, "<td class=\"number\">&lt;5</td>", fixed = TRUE)
  expect_match(page, "<td>1 of 2</td>", fixed = TRUE)
  expect_match(page, "<td>a</td>", fixed = TRUE)
  expect_match(page, "<th scope=\"col\" class=\"number\">Share</th>", fixed = TRUE)
  expect_identical(lengths(regmatches(page, gregexpr("<tr>", page))), 3L)
  expect_identical(cell_text(c(1234567, NA)), c("1,234,567", ""))
})

test_that("a table of one row and one column is a table", {
  skip_if_not_installed("htmltools")
  page <- part_html(report_table(data.frame(One = "x"), "c"))
  expect_match(page, "<tbody>\\s*<tr>\\s*<td>x</td>\\s*</tr>\\s*</tbody>")
})

test_that("parts that are not there leave no trace", {
  section <- new_report_section(report_text("a"), NULL, if (FALSE) 1, report_text("b"))
  expect_s3_class(section, "ibrc_report_section")
  expect_identical(vapply(section, function(part) part$text, ""), c("a", "b"))
})

test_that("a section prints on a console as text", {
  section <- new_report_section(report_text("Some ", "words."), report_list(c("one", "two")), report_code("x <- 1"),
                                report_table(data.frame(A = 1.23456), "A caption"))
  said <- utils::capture.output(returned <- withVisible(print(section)))
  expect_false(returned$visible)
  expect_identical(returned$value, section)
  for (line in c("Some words.", "* one", "* two", "x <- 1", "A caption")) expect_true(line %in% said)
  expect_match(said, "1.23$", all = FALSE)
})

test_that("a picture is part of the page, in the size asked for, and is printed as a picture", {
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("knitr")
  skip_if_not_installed("htmltools")
  picture <- report_picture(ggplot2::ggplot(), "Nothing <at all>", height = 2, width = 3)
  before <- list.files(tempdir(), "[.]png$")
  page <- part_html(picture)
  expect_match(page, "src=\"data:image/png;base64,", fixed = TRUE)
  expect_match(page, "width=\"300\" height=\"200\" alt=\"Nothing &lt;at all&gt;\"", fixed = TRUE)
  expect_identical(list.files(tempdir(), "[.]png$"), before)
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  print(new_report_section(picture))
  grDevices::dev.off()
  expect_gt(file.size(file), 500)
})
