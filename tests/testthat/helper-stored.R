# Results that articles of the site read, and scripts that make them, are in the folder of sources only.
stored_file <- function(...) {
  path <- testthat::test_path("..", "..", "inst", ...)
  if (!all(file.exists(path))) testthat::skip("not in the folder of sources")
  path
}
