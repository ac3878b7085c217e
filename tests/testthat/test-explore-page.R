page_text <- function(...) as.character(shiny::tagList(...))

test_that("the page has one labelled slider per parameter, and a button to end by where it is a gadget", {
  skip_if_not_installed("shiny")
  sliders <- explore_sliders(c(-36, 10))
  page <- page_text(explore_page(sliders, diag_setting(), done = TRUE))
  for (slider in sliders) {
    expect_match(page, paste0("<label for=\"", slider$name, "\">"), fixed = TRUE)
    expect_match(page, paste0("id=\"", slider$name, "\" min=\"1\" max=\"", length(slider$values), "\""), fixed = TRUE)
  }
  expect_match(page, "id=\"done\"", fixed = TRUE)
  expect_no_match(page_text(explore_page(sliders, diag_setting(), done = FALSE)), "id=\"done\"", fixed = TRUE)
  # A simplex needs more room than a line.
  expect_match(page, "height:320px", fixed = TRUE)
  three <- with_seed(461, random_setting(3))
  expect_match(page_text(explore_page(sliders, three, done = FALSE)), "height:420px", fixed = TRUE)
})

test_that("a slider shows and speaks the value it stands at, and knows all others", {
  skip_if_not_installed("shiny")
  slider <- explore_sliders(c(-36, 10))$optimism
  box <- page_text(slider_box(slider))
  expect_match(box, paste0("value=\"", slider$start, "\""), fixed = TRUE)
  numbers <- sub(".*data-numbers=\"([^\"]*)\".*", "\\1", box)
  expect_identical(as.numeric(strsplit(numbers, "|", fixed = TRUE)[[1]]), slider$values)
  words <- sub(".*data-words=\"([^\"]*)\".*", "\\1", box)
  expect_identical(strsplit(words, "|", fixed = TRUE)[[1]], slider$words)
  expect_match(box, paste0("aria-valuetext=\"0, ", slider$words[slider$start], "\""), fixed = TRUE)
  expect_match(box, "Optimism")
  expect_match(box, "1/&beta;", fixed = TRUE)
})

test_that("a bar is as long as its nats, to the left below 0, and never longer than the axis", {
  skip_if_not_installed("shiny")
  bar <- function(nats) {
    text <- page_text(nats_bar(nats, most = 2))
    as.numeric(c(sub(".*<rect x=\"([^\"]*)\".*", "\\1", text), sub(".*<rect [^>]*width=\"([^\"]*)\".*", "\\1", text)))
  }
  expect_identical(bar(1), c(0, 50))
  expect_identical(bar(-0.5), c(-25, 25))
  expect_identical(bar(0), c(0, 0))
  expect_identical(bar(7), c(0, 100))
  expect_identical(bar(-7), c(-100, 100))
})

test_that("the table of complexities has a row each, to four places and without a negative zero", {
  skip_if_not_installed("shiny")
  table <- complexity(plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20))
  text <- page_text(complexity_bars(table, most = 1))
  cells <- regmatches(text, gregexpr("<td class=\"ibrc-nats\">[^<]*", text))[[1]]
  expect_equal(as.numeric(sub(".*>", "", cells)), round(table$nats, 4))
  rows <- regmatches(text, gregexpr("<th scope=\"row\">[^<]*", text))[[1]]
  expect_identical(tolower(sub(".*>", "", rows)), table$complexity)
  expect_identical(fixed_text(c(-1e-9, 0.12345, -2)), c("0.0000", "0.1235", "-2.0000"))
  expect_identical(title_case(c("decision", "a")), c("Decision", "A"))
})
