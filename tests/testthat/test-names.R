test_that("no function is defined twice: the later file would win without a word", {
  folder <- file.path("..", "..", "R")
  skip_if_not(dir.exists(folder) && length(list.files(folder, "[.]R$")) > 0, "not in the folder of sources")
  names <- unlist(lapply(list.files(folder, "[.]R$", full.names = TRUE), function(file) {
    unlist(lapply(parse(file), function(line) {
      if (is.call(line) && identical(line[[1]], as.name("<-")) && is.name(line[[2]])) as.character(line[[2]])
    }))
  }))
  expect_gt(length(names), 500)
  expect_equal(names[duplicated(names)], character())
})
