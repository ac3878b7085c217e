# Writes man/ and NAMESPACE from the comments in R/. The code is read from its
# source, without compiling it, so that this works before the first NAMESPACE
# and after an export is gone.
suppressPackageStartupMessages(
  roxygen2::roxygenise(".", load_code = roxygen2::load_source)
)
