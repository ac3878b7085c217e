# The table of promises: what it names is there, and what is there it names.

source_path <- function(...) {
  path <- file.path("..", "..", ...)
  if (!file.exists(path)) skip("not in the folder of sources")
  path
}

stored_table <- function() {
  utils::read.csv(system.file("extdata", "trust.csv", package = "ibrc"), colClasses = "character")
}

test_that("the stored table has a verdict and a test for every promise", {
  table <- stored_table()
  expect_named(table, c("area", "promise", "test", "figure", "verdict"))
  expect_setequal(setdiff(table$verdict, c("kept", "not run")), character())
  expect_true(all(nzchar(table$figure[table$verdict == "kept"])))
  for (area in unique(table$area)) {
    scripts <- unique(table$test[table$area == area & table$verdict == "kept"])
    planted <- vapply(scripts, function(script) any(grepl("[Pp]lanted", table$promise[table$test == script])), NA)
    # A test that was run has shown that it finds a fault.
    expect_identical(scripts[!planted], character(), label = paste("tests without a planted fault in", area))
  }
})

test_that("every slow script is run by make trust, and the table has no other", {
  folder <- source_path("tests", "slow")
  scripts <- list.files(folder, pattern = "[.](R|sh)$")
  runner <- paste(readLines(source_path("tools", "trust.R")), collapse = "\n")
  for (script in scripts) expect_match(runner, script, fixed = TRUE)
  expect_equal(setdiff(basename(stored_table()$test), scripts), character())
})
