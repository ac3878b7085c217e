test_that("RStudio's Addins are functions that are there and need no argument", {
  addins <- read.dcf(system.file("rstudio", "addins.dcf", package = "ibrc"))
  expect_identical(colnames(addins), c("Name", "Description", "Binding", "Interactive"))
  for (name in addins[, "Binding"]) {
    taken <- formals(get(name, asNamespace("ibrc"), mode = "function"))
    expect_true(all(nzchar(as.character(taken))))
  }
})

test_that("the report is on a fit of the workspace, in the file that was named", {
  here <- new.env()
  error <- expect_error(report_addin(here), class = "ibrc_error_input")
  expect_identical(error$argument, "fit")
  here$mine <- structure(list(), class = "ibrc_fit")
  asked <- NULL
  local_replacement("ibrc_report", function(fit, file, ...) asked <<- list(fit, file))
  local_replacement("ask_file", function() "")
  report_addin(here)
  expect_null(asked)
  local_replacement("ask_file", function() "a folder/report")
  report_addin(here)
  expect_identical(asked, list(here$mine, "a folder/report.html"))
  local_replacement("ask_file", function() "report.docx")
  report_addin(here)
  expect_identical(asked[[2]], "report.docx")
  # Of several, the one that is picked; or none.
  here$other <- here$mine
  local_replacement("choose_name", function(known, title) if (identical(known, c("mine", "other"))) known[2])
  report_addin(here)
  expect_identical(asked[[1]], here$other)
  local_replacement("choose_name", function(known, title) NULL)
  asked <- NULL
  report_addin(here)
  expect_null(asked)
})

test_that("the explorer opens on a setting of the workspace, under its name, or on the diagnosis problem", {
  here <- new.env()
  seen <- NULL
  local_replacement("explore_agent", function(setting = "none") seen <<- list(substitute(setting), setting))
  explore_addin(here)
  expect_identical(seen[[2]], "none")
  here$clinic <- diag_setting()
  explore_addin(here)
  expect_identical(seen, list(quote(clinic), here$clinic))
})
