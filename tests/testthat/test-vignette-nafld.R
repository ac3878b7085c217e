# What vignettes/nafld.Rmd reads instead of fitting it: vignettes/nafld/*.csv, made by data-raw/vignette-nafld.R.
# Neither is in the built package.

nafld_folder <- function() {
  folder <- test_path("..", "..")
  skip_if_not(file.exists(file.path(folder, "data-raw", "vignette-nafld.R")), "in the folder of sources")
  folder
}

stored_nafld <- function(name) {
  utils::read.csv(file.path(nafld_folder(), "vignettes", "nafld", paste0(name, ".csv")))
}

nafld_script <- function() {
  folder <- nafld_folder()
  made <- new.env()
  withr::with_dir(folder, sys.source(file.path("data-raw", "vignette-nafld.R"), made))
  made
}

test_that("stored results are of the script, the problem and the panel that are here", {
  made <- nafld_script()
  expect_identical(withr::with_dir(nafld_folder(), made$nafld_inputs()), stored_nafld("inputs"))
  expect_setequal(stored_nafld("runs")$fit, names(made$plans))
  expect_false(anyNA(stored_nafld("estimates")$estimate))
  files <- list.files(file.path(nafld_folder(), "vignettes", "nafld"), full.names = TRUE)
  expect_lt(sum(file.size(files)), 40000)
})

test_that("chains agree as far as the article says, and no fit is called usable that is not", {
  runs <- stored_nafld("runs")
  verdicts <- stored_nafld("verdicts")
  worst <- vapply(split(verdicts$verdict, verdicts$fit), function(x) {
    c("ok", "caution", "do not use")[max(match(x, c("ok", "caution", "do not use")))]
  }, "")
  expect_identical(unname(worst[runs$fit]), runs$verdict)
})

test_that("people who are fitted are drawn from those with a matched set, few of them from some", {
  skip_if_not_installed("survival")
  made <- nafld_script()
  panel <- made$nafld_people(made$shared$nafld_visits())
  expect_false(anyNA(panel$who))
  expect_length(unique(panel$id), 14684)
  some <- made$some_people(panel, 2000)
  few <- made$some_people(some, 500)
  expect_true(all(few$id %in% some$id))
  expect_length(unique(few$id), 500)
  expect_identical(levels(panel$who), c("control", "case"))
  runs <- stored_nafld("runs")
  expect_true(all(runs$people %in% c(500, 2000)))
})
