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

test_that("make trust sees what broke, what did not come to its end and what was not run", {
  skip_on_cran()
  runner <- normalizePath(source_path("tools", "trust.R"))
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  dir.create(file.path("_build", "trust"), recursive = TRUE)
  said <- function(name, ...) writeLines(c(...), file.path("_build", "trust", paste0(name, ".txt")))
  verdicts <- function() {
    status <- system2(file.path(R.home("bin"), "Rscript"), c(shQuote(runner), "table", "table.csv"), stdout = FALSE)
    list(status = status, table = utils::read.csv("table.csv", colClasses = "character"))
  }
  said("kill", "all resume: 5 of 5: passed", "status 0 after 1.0 minutes")
  said("fuzz", "fuzz.sh needs clang, which is not here.", "status 77 after 0.0 minutes")
  out <- verdicts()
  expect_identical(out$status, 0L)
  expect_identical(out$table$verdict[basename(out$table$test) == "kill.R"], "kept")
  expect_match(out$table$figure[basename(out$table$test) == "fuzz.sh"], "needs clang")
  expect_identical(setdiff(out$table$verdict, c("kept", "not run")), character())

  faults <- list(broke = c("all resume: 4 of 5: FAILED", "status 1 after 1.0 minutes"),
                 stopped = "all resume: 5 of 5: passed",
                 silent = character(),
                 failed = c("all resume: 5 of 5: passed", "Error: halt", "status 1 after 1.0 minutes"))
  for (fault in names(faults)) {
    said("kill", faults[[fault]])
    out <- verdicts()
    expect_identical(out$status, 1L, label = fault)
    expect_true("BROKEN" %in% out$table$verdict[basename(out$table$test) == "kill.R"], label = fault)
  }
})
