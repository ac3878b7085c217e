# What `make test` sets up by itself: whatever a test would be skipped without.

setup_script <- function() {
  path <- file.path("..", "..", "tools", "setup.sh")
  if (!file.exists(path)) skip("not in the folder of sources")
  readLines(path)
}

said_in <- function(lines, pattern) strsplit(sub(pattern, "\\1", grep(pattern, lines, value = TRUE)), " ")[[1]]

test_that("make test installs the packages that tests are skipped without", {
  lines <- setup_script()
  tests <- unlist(lapply(list.files(".", "[.]R$"), readLines, warn = FALSE))
  call <- "^ *(testthat::)?skip_if_not_installed[(]\"([A-Za-z0-9.]+)\".*"
  wanted <- unique(sub(call, "\\2", grep(call, tests, value = TRUE)))
  expect_gt(length(wanted), 5)
  # What the package only works together with is not asked of everybody: it brings a toolchain of its own.
  enhances <- c("gt", "pomdp")
  imports <- trimws(strsplit(utils::packageDescription("ibrc")$Imports, ",")[[1]])
  expect_identical(setdiff(wanted, c(said_in(lines, "^test_packages=\"(.*)\"$"), imports, enhances)), character())
})

test_that("make test sets up pandoc, a browser and other locales, and says what it has to leave out", {
  lines <- setup_script()
  goal <- grep("^ *test[)]", lines, value = TRUE)
  expect_match(goal, "pandoc", fixed = TRUE)
  expect_match(goal, "browser=yes", fixed = TRUE)
  expect_match(goal, "locales=$test_locales", fixed = TRUE)
  expect_identical(said_in(lines, "^test_locales=\"(.*)\"$"), c("en_US.UTF-8", "tr_TR.UTF-8", "de_DE.UTF-8"))
  for (kind in c("no browser here", "apt offers no Chromium", "no locale", "also wanted")) {
    expect_match(lines, paste("say \".*", kind, sep = ""), all = FALSE)
  }
})
