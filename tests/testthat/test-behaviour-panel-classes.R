visits <- data.frame(who = rep(1:4, each = 2), day = 0:1, marker = c(1, 2, 3, 4, 5, 6, 7, 8.5),
                     assay = c(NA, 10, NA, 20, NA, 30, NA, 40))
panel <- function(data, ...) panel_trajectories(data, "who", "day", "marker", "assay", ...)
cut_panel <- function(data, ...) panel(data, marker_cuts = c(3, 6), test_cuts = c(-Inf, 25), ...)
expect_same <- function(data) {
  testthat::expect_identical(as.character(cut_panel(data)$observation), as.character(cut_panel(visits)$observation))
}
refused <- function(code, argument, rows = NULL) {
  error <- testthat::expect_error(code, class = "ibrc_error")
  testthat::expect_identical(error$argument, argument)
  if (!is.null(rows)) testthat::expect_equal(error$rows, rows)
}

test_that("numbers in text are cut as numbers", {
  expect_same(transform(visits, marker = as.character(marker), assay = c("", 10, NA, 20, " ", 30, NA, 40)))
  expect_same(transform(visits, marker = factor(marker), assay = addNA(factor(assay))))
  expect_same(transform(visits, marker = sub(".", ",", marker, fixed = TRUE)))
  expect_same(transform(visits, marker = paste0(marker, "\u00a0")))
  # Beyond what an assay can tell.
  expect_same(transform(visits, assay = c(NA, "<10", NA, 20, NA, ">25", NA, "> 40")))
  expect_identical(attr(cut_panel(transform(visits, marker = as.character(marker))), "cuts")$marker, c(3, 6))
})

test_that("text that is no number is not cut, nor counted as not ordered", {
  refused(cut_panel(transform(visits, marker = letters[1:8])), "marker", 1:8)
  refused(cut_panel(transform(visits, assay = c(NA, 10, NA, "clotted", NA, 30, NA, 40))), "test", 4)
  refused(cut_panel(transform(visits, marker = factor(c("low", "high")[1 + (marker > 3)]))), "marker", 1:8)
  # Without cuts its values are classes.
  stage <- panel(transform(visits, marker = as.character(round(marker / 3))), test_cuts = 2)
  expect_identical(unique(sub("_assay.*", "", levels(stage$observation))), paste0("marker_", 0:3))
  many <- data.frame(who = 1:20, day = 0, marker = as.character(1:20), assay = 1:20)
  refused(panel(many), "marker")
  expect_error(panel(many), "marker_cuts", class = "ibrc_error_input")
  expect_identical(nlevels(panel(transform(many, marker = factor(marker)), test_cuts = 2)$observation), 60L)
  # One row that is no number does not make all the others names.
  odd <- transform(many, marker = replace(marker, c(3, 7), c("n.d.", "lost")))
  refused(panel(odd, test_cuts = 2), "marker", c(3, 7))
  expect_error(panel(odd, test_cuts = 2), "marker_cuts", class = "ibrc_error_data")
  # Nor is a word for missing a result.
  for (word in c("NA", "n/a", " NaN ", "#N/A", "NULL", ".", "#NULL!", "N.A", "?", "Unknown", "not done")) {
    refused(panel(transform(visits, assay = ifelse(is.na(assay), word, assay))), "test", c(1, 3, 5, 7))
    refused(panel(transform(visits, marker = c(word, letters[1:7]))), "marker", 1)
  }
  expect_silent(panel(transform(visits, assay = factor(ifelse(is.na(assay), "NA", "done"))), marker_cuts = 2))
})

test_that("one number written in two ways is not two classes", {
  refused(panel(transform(visits, marker = c("1", "1.0", "01", "2", "2", "3", "3", "4"))), "marker", 2:3)
  refused(panel(transform(visits, marker = c("1", "1,0", "2", "2", "2", "3", "3", "4"))), "marker", 2)
  fine <- panel(transform(visits, marker = c("1", "<1", "2", "2", "2", "3", ">3", "3"), assay = 1:8),
                test_cuts = 2)
  expect_identical(nlevels(fine$observation), 15L)
})

test_that("a factor of many numbers and something else is told", {
  many <- data.frame(who = 1:20, day = 0, marker = c(1:19, "<LOD"), assay = 1:20)
  expect_warning(panel(transform(many, marker = factor(marker)), test_cuts = 2), "stringsAsFactors",
                 class = "ibrc_warning")
  expect_silent(panel(transform(many, marker = factor(c(1:20))), test_cuts = 2))
})

test_that("a test is not ordered where it is missing, in every disguise", {
  taken <- cut_panel(visits)$action
  word <- ifelse(is.na(visits$assay), NA, "done")
  expect_identical(panel(transform(visits, assay = word))$action, taken)
  expect_identical(panel(transform(visits, assay = addNA(factor(word))))$action, taken)
  expect_identical(panel(transform(visits, assay = factor(ifelse(is.na(word), " ", word))))$action, taken)
  coded <- visits
  coded$assay <- structure(ifelse(is.na(visits$assay), -9, visits$assay), na_values = -9,
                           class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"))
  expect_same(coded)
})

test_that("codes for missing are not results", {
  coded <- transform(visits, assay = ifelse(is.na(assay), -99, assay))
  refused(cut_panel(coded), "test", c(1, 3, 5, 7))
  expect_identical(as.character(cut_panel(coded, missing_codes = -99)$observation),
                   as.character(cut_panel(visits)$observation))
  expect_identical(sum(cut_panel(coded, missing_codes = numeric())$action == "assay"), 8L)
  # The same where each value is a class.
  for (as in list(as.character, factor)) {
    word <- transform(coded, assay = as(assay), marker = as.character(round(marker)))
    refused(panel(word), "test", c(1, 3, 5, 7))
    made <- panel(word, missing_codes = -99)
    expect_identical(made$action, cut_panel(visits)$action)
    expect_no_match(levels(made$observation), "-99", fixed = TRUE)
    expect_identical(sum(panel(word, missing_codes = numeric())$action == "assay"), 8L)
  }
  # "<50" is no code.
  below <- transform(visits, marker = c("<50", "50", "low", "x", "50", "<50", "x", "low"), assay = 1:8)
  expect_identical(nrow(panel(below, test_cuts = 2, missing_codes = 50)), 6L)
  # Where other values are negative, too, nothing is known of them.
  expect_silent(cut_panel(transform(coded, assay = assay - 5)))
  for (bad in list("-9", NA, Inf, TRUE, matrix(1))) refused(cut_panel(visits, missing_codes = bad), "missing_codes")
})

test_that("nobody is merged in a panel", {
  bits <- as.raw(c(0x01, 0x00, 0x8a, 0x5d, 0x78, 0x45, 0x63, 0x01, 0x02, 0x00, 0x8a, 0x5d, 0x78, 0x45, 0x63, 0x01))
  long <- structure(readBin(bits, "double", 2, endian = "little"), class = "integer64")
  two <- data.frame(who = 1:2, day = 0, marker = 1:2, assay = 1:2)
  two$who <- long
  expect_identical(panel(two, marker_cuts = 2, test_cuts = 2)$who, c("100000000000000001", "100000000000000002"))
  refused(panel(transform(visits, who = ifelse(who == 2, "1 ", as.character(who)))), "id", 3:4)
  refused(panel(transform(visits, who = who + 2^53)), "id", 1:8)
  expect_identical(nrow(panel(transform(visits, who = c("", who[-1])))), 7L)
  near <- data.frame(who = 1, day = as.POSIXct(c(0.1, 0.4), origin = "1970-01-01"), marker = 1:2, assay = 1:2)
  expect_identical(nrow(panel(near, marker_cuts = 2, test_cuts = 2)), 2L)
})
