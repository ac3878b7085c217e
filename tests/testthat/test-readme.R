# README.md, in the folder of sources: what it points to is there.

readme <- function() {
  path <- file.path("..", "..", "README.md")
  if (!file.exists(path)) skip("not in the folder of sources")
  readLines(path, encoding = "UTF-8")
}

found_in <- function(text, pattern) unlist(regmatches(text, gregexpr(pattern, text, perl = TRUE)))

# Lines between ```r and ```, one block per element.
code_blocks <- function(text) {
  fence <- startsWith(text, "```")
  opens <- which(fence)[c(TRUE, FALSE)]
  closes <- which(fence)[c(FALSE, TRUE)]
  blocks <- Map(function(from, to) text[seq_len(to - from - 1) + from], opens, closes)
  blocks[text[opens] == "```r"]
}

test_that("its pictures are there, small, and described", {
  text <- readme()
  pictures <- found_in(text, "<img [^>]*>")
  expect_length(pictures, 2)
  files <- sub(".*src=\"([^\"]*)\".*", "\\1", pictures)
  expect_match(files, "^man/figures/README-.*[.]png$")
  paths <- file.path("..", "..", files)
  expect_true(all(file.exists(paths)))
  expect_true(all(file.size(paths) <= 60000))
  described <- sub(".*alt=\"([^\"]*)\".*", "\\1", pictures)
  expect_true(all(nchar(described) > 80 & described != pictures))
})

test_that("it leads to every vignette, and to no file that is not there", {
  text <- readme()
  links <- gsub("[]()]", "", found_in(text, "\\]\\([^)#:]*\\)"))
  expect_identical(links[!file.exists(file.path("..", "..", links))], character())
  vignettes <- list.files(file.path("..", "..", "vignettes"), "[.]Rmd$")
  expect_identical(setdiff(file.path("vignettes", vignettes), links), character())
})

test_that("functions that it names are there", {
  named <- unique(sub("[(]$", "", found_in(readme(), "(?<![\\w.:$])[a-z][a-z_.]*_[a-z_.]*[(]")))
  expect_gt(length(named), 40)
  expect_identical(setdiff(named, c(getNamespaceExports("ibrc"), "as_draws_df")), character())
})

test_that("its first blocks of code run, and its own problem fits a few rows", {
  text <- readme()
  blocks <- code_blocks(text)
  for (block in blocks) expect_no_error(parse(text = block))
  skip_if_not_installed("ggplot2")
  mine <- function(word) which(vapply(blocks, function(block) any(grepl(word, block, fixed = TRUE)), NA))
  here <- new.env()
  eval(parse(text = blocks[[mine("neutral  <- plan_agent")]]), here)
  expect_s3_class(here$visits, "ibrc_trajectories")

  here$my_data <- data.frame(
    patient = rep(1:10, each = 3), day = as.Date("2024-01-11") + c(0, 30, 61),
    done = factor(rep(c("wait", "treat", "wait"), 10)), seen = c("positive", NA, "negative"),
    clinic = rep(c("north", "south"), each = 15)
  )
  own <- blocks[[mine("my_data")]]
  own <- sub("seed = 1)", "seed = 1, iter = 20, resolution = 10)", own, fixed = TRUE)
  suppressWarnings(eval(parse(text = own[!grepl("ibrc_report", own)]), here))
  expect_identical(prior_terms(here$fit$prior), c("alpha", "optimism", "eta"))
  expect_identical(names(here$fit$draws), c("north", "south"))
})
