labelled <- function(x, ..., class = "haven_labelled_spss") {
  structure(x, class = unique(c(class, "haven_labelled", "vctrs_vctr", typeof(x))), ...)
}

test_that("ordinary columns stay what they are", {
  for (x in list(1:3, c(0.5, NA), c("a", NA), TRUE, factor(c("b", "a"), c("b", "a")), factor(1:2, ordered = TRUE),
                 as.Date("2020-01-01"), as.POSIXct("2020-01-01"), as.difftime(1, units = "days"))) {
    expect_identical(plain_column(x), x)
  }
})

test_that("a level that is missing is a missing value", {
  x <- addNA(factor(c("b", NA, "a"), c("b", "a", "unused")))
  expect_false(anyNA(x))
  expect_identical(plain_column(x), factor(c("b", NA, "a"), c("b", "a", "unused")))
  expect_identical(plain_column(addNA(factor(1:2, ordered = TRUE))), factor(1:2, ordered = TRUE))
})

test_that("codes that are declared missing are missing, and labels go", {
  expect_identical(plain_column(labelled(c(1, -9, 2, NA), na_values = c(-9, -8))), c(1, NA, 2, NA))
  expect_identical(plain_column(labelled(c(1, -9, 2, 99), na_range = c(90, Inf), na_values = -9)), c(1, NA, 2, NA))
  expect_identical(plain_column(labelled(c("a", "?"), na_values = "?")), c("a", NA))
  sex <- labelled(c(1, 2, 3, NA), labels = c(man = 1, woman = 2), class = "haven_labelled")
  expect_identical(plain_column(sex), c(1, 2, 3, NA))
  expect_identical(plain_labelled(sex, labels = TRUE), c("man", "woman", "3", NA))
  skip_if_not_installed("haven")
  # Neither haven nor bit64 is needed by the package or suggested.
  labelled_spss <- getExportedValue("haven", "labelled_spss")
  user <- labelled_spss(c(1, 8, 9, NA), labels = c(refused = 9), na_values = 9, na_range = c(7.5, 8))
  expect_identical(plain_column(user), c(1, NA, NA, NA))
  tagged <- getExportedValue("haven", "labelled")(c(1, getExportedValue("haven", "tagged_na")("a")))
  expect_identical(is.na(plain_column(tagged)), c(FALSE, TRUE))
})

test_that("numbers that are identifiers keep all their digits", {
  x <- c(0.1 + 0.2, 0.3, 1e5, 123456789012, -0, 0, NA, 1 / 3, 2^52 + 1)
  expect_identical(exact_text(x), c("0.30000000000000004", "0.3", "100000", "123456789012", "0", "0", NA,
                                    "0.33333333333333331", "4503599627370497"))
  # Where R reads numbers without long doubles, it is off by some units in the last place.
  expect_equal(as.numeric(exact_text(x)), x + 0, tolerance = 1e-15)
  expect_identical(id_text(c(100000L, NA)), c("100000", NA))
  expect_identical(rounded_rows(c(2^53, 2^53 - 1, NA, Inf, -1e17)), c(1L, 5L))
  expect_identical(id_codes(c("b", "a", "b")), c(1L, 2L, 1L))
  expect_identical(id_codes(as.Date(c(0.2, 0.7), origin = "1970-01-01")), 1:2)
  expect_identical(id_codes(factor(c("b", "a", "b"))), c(1L, 2L, 1L))
})

test_that("whole numbers of 64 bits are numbers where they fit, else text", {
  skip_if_not_installed("bit64")
  long <- getExportedValue("bit64", "as.integer64")
  expect_identical(plain_column(long(c("5", NA, "-3"))), c(5, NA, -3))
  expect_identical(plain_column(long(c("5", "100000000000000001"))), c("5", "100000000000000001"))
  expect_identical(plain_ids(long(5)), "5")
})

test_that("names reach the console without what steers it", {
  fit <- clinic_fit()
  named <- "\033[31mred"
  rename <- function(x) sub("south", named, x, fixed = TRUE)
  data <- as.data.frame(clinic_visits())
  data$clinic <- rename(as.character(data$clinic))
  visits <- trajectories(data, covariates = "clinic", setting = diag_setting())
  said <- character()
  hear <- function(code) {
    withCallingHandlers(code, warning = function(w) {
      said <<- c(said, conditionMessage(w))
      invokeRestart("muffleWarning")
    })
  }
  fit <- hear(ibrc(visits, diag_setting(), diag_models(), fit$prior, by = "clinic", chains = 2, iter = 40, seed = 5))
  mode <- hear(ibrc_mode(visits, diag_setting(), diag_models(), fit$prior, by = "clinic", seed = 1, starts = 2))
  said <- c(said, hear(utils::capture.output(
    print(fit), print(verdict(fit)), print(compare_groups(fit)), print(mode), print(visits),
    print(suppressWarnings(identifiability(fit)))
  )))
  said <- c(said, conditionMessage(expect_error(compare_groups(fit, reference = "east"), class = "ibrc_error_input")))
  expect_match(said, "\\033[31mred", fixed = TRUE, all = FALSE)
  expect_match(said, "^Trajectories:.*\\\\033\\[31mred", all = FALSE)
  expect_no_match(said, "\033", fixed = TRUE)
})
