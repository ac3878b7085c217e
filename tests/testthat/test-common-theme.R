test_that("every number of actions has distinct colours", {
  for (n in c(1, 3, 8, 12)) expect_length(unique(action_palette(n)), n)
})

test_that("labels read as words", {
  expect_identical(as_label("declare_healthy"), "declare healthy")
})

test_that("each name keeps its colour", {
  expect_identical(named_palette(c("b", "a")), c(b = action_colours[1], a = action_colours[2]))
})

test_that("legends and captions fit 9 cm", {
  expect_identical(keys_in_line(c("north", "south"), points_of_width), 2L)
  expect_identical(keys_in_line(rep("a name that takes much of a line", 3), points_of_width), 1)
  expect_identical(keys_in_line(strrep("x", 200), points_of_width), 1)
  lines <- strsplit(in_lines(c(strrep("word ", 40), "Second.")), "\n")[[1]]
  expect_true(all(nchar(lines) <= 66))
  expect_identical(lines[length(lines)], "Second.")
  expect_null(in_lines(NULL))
  expect_identical(as_narrow_label("declare_healthy", 9), "declare\nhealthy")
})

test_that("every picture has the one theme", {
  skip_if_not(dir.exists("../../R"), "the sources are not here")
  code <- unlist(lapply(list.files("../../R", "[.]R$", full.names = TRUE), readLines))
  used <- grep("ggplot2::theme_[a-z]+\\(", code, value = TRUE)
  expect_length(used, 1)
  expect_match(used, "theme_minimal")
})

test_that("pictures that articles draw themselves have it, too", {
  skip_if_not(dir.exists("../../vignettes/nafld"), "the sources are not here")
  for (file in list.files("../../vignettes", "[.]Rmd$", full.names = TRUE)) {
    code <- readLines(file, encoding = "UTF-8")
    expect_no_match(code, "\\btheme_(bw|classic|dark|gr[ae]y|light|linedraw|minimal|void)\\(", label = basename(file))
    if (any(grepl("\\bggplot\\(", code))) {
      expect_match(code, "theme_set.*theme_ibrc", all = FALSE, label = basename(file))
    }
  }
})
