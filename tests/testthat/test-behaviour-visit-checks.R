visits <- two_patients
refused <- expect_rows_refused
change <- change_rows

test_that("a step of time is not advised away", {
  told <- function(data, words) expect_error(read_visits(data, setting = NULL), words, class = "ibrc_error_data")
  told(change("when", 2, NA), "only together with all later rows")
  told(change("who", 2, NA), "a step of time is lost with it")
  # What the help says to do about it.
  cut <- change("did", c(2, 5), NA)
  cut <- cut[ave(as.numeric(is.na(cut$did)), cut$who, FUN = cumsum) == 0, ]
  expect_identical(rownames(cut), c("1", "4"))
  expect_silent(read_visits(cut))
})

test_that("what is missing is found in every disguise", {
  refused(transform(visits, who = addNA(factor(c(NA, who[-1])))), argument = "id", rows = 1)
  refused(change("who", 2, " "), argument = "id", rows = 2)
  refused(transform(visits, when = addNA(factor(c(NA, when[-1])))), argument = "time", rows = 1)
  refused(transform(visits, when = c("", "b", "c", "a", "b")), argument = "time", rows = 1)
  lost <- transform(visits, did = addNA(factor(c(did[-5], NA))))
  expect_warning(read_visits(lost), "`action` is missing (row 5)", fixed = TRUE, class = "ibrc_warning_missing_action")
  refused(change("did", 5, "  "), argument = "action", rows = 5)
  refused(change("saw", 5, " "), argument = "observation", rows = 5)
  seen <- read_visits(transform(visits, saw = addNA(factor(saw))), setting = NULL)
  expect_identical(is.na(seen$saw), is.na(visits$saw))
  expect_identical(iohmm_words(seen, NULL, NULL)$observations, c("negative", "positive"))
  # Codes that SPSS calls missing.
  coded <- transform(visits, saw = c(1, 1, -9, 2, NA))
  coded$saw <- structure(coded$saw, class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"),
                         na_values = -9)
  expect_identical(read_visits(coded, setting = NULL)$saw, c(1, 1, NA, 2, NA))
  # A factor that was given such a level afterwards.
  late <- read_visits()
  late$did <- addNA(factor(c(late$did[-5], NA)))
  expect_identical(is.na(code_visits(late, diag_setting())$action), 1:5 == 5)
})

test_that("different people stay apart, and the same person is one", {
  people <- function(id) {
    data <- data.frame(who = seq_along(id), when = seq_along(id), did = "monitor", saw = "positive")
    data$who <- id
    unname(max(code_visits(read_visits(data), diag_setting())$trajectory)) + 1L
  }
  bits <- as.raw(c(0x01, 0x00, 0x8a, 0x5d, 0x78, 0x45, 0x63, 0x01, 0x02, 0x00, 0x8a, 0x5d, 0x78, 0x45, 0x63, 0x01,
                   0xff, rep(0xff, 7), rep(0, 8)))
  long <- structure(readBin(bits, "double", 4, endian = "little"), class = "integer64")
  expect_identical(people(long), 4L)
  lost <- structure(c(unclass(long), -0), class = "integer64")
  error <- expect_error(people(lost), "`id` is missing", class = "ibrc_error_data")
  expect_equal(error$rows, 5)
  expect_identical(people(c(0.1 + 0.2, 0.3)), 2L)
  expect_identical(people(as.POSIXct(c(0.1, 0.4, 0.1), origin = "1970-01-01")), 2L)
  expect_identical(people(c("0123", "123", "1e3", "1000")), 4L)
  expect_identical(people(c("P\u00e9", iconv("P\u00e9", "UTF-8", "latin1"))), 1L)
  expect_error(people(c(1e17, 3)), "more digits than R can tell apart", class = "ibrc_error_data")
  for (odd in c("p ", "\u00a0p", "p\u200b", "p\ufeff")) {
    error <- expect_error(people(c("p", odd)), "invisible characters", class = "ibrc_error_data")
    expect_equal(error$rows, 2)
  }
  plan <- plan_agent(diag_setting(), bounded_agent(1), resolution = 10)
  both <- read_visits(data.frame(who = c(0.1 + 0.2, 0.3, 1e5), when = 1, did = "monitor", saw = "positive"))
  expect_named(log_lik(plan, both), c("0.30000000000000004", "0.3", "100000"))
  expect_identical(levels(simplex_data(plan, both, id = 1e5, show_id = TRUE)$panel), "100000")
})

test_that("times are compared as what they are, not as what they print", {
  at <- function(when) read_visits(data.frame(who = "p", when = when, did = "monitor", saw = "positive"))
  expect_silent(at(as.POSIXct(c(0.1, 0.4), origin = "1970-01-01", tz = "UTC")))
  # The hour that autumn has twice.
  expect_silent(at(as.POSIXct(c(1729989000, 1729992600), origin = "1970-01-01", tz = "Europe/Berlin")))
  expect_silent(at(as.POSIXlt(as.POSIXct(c(0, 3600), origin = "1970-01-01", tz = "UTC"))))
  expect_error(at(as.Date(c("2020-01-01", "2020-01-01"))), "twice", class = "ibrc_error_data")
})

test_that("text that stands for missing is no name, unless a factor or a setting says so", {
  for (written in c("NA", "N/A", "n/a", "#N/A", "NaN")) {
    for (column in c("did", "saw")) {
      error <- expect_error(read_visits(change(column, 2, written), setting = NULL), "stands for missing",
                            class = "ibrc_error_data")
      expect_equal(error$rows, 2)
    }
  }
  meant <- change("saw", 2, "NA")
  meant$saw <- factor(meant$saw)
  expect_silent(read_visits(meant, setting = NULL))
})

test_that("actions and observations that are the same to the eye are refused by their rows", {
  error <- expect_error(read_visits(change("saw", 2, "positive "), setting = NULL), "invisible characters",
                        class = "ibrc_error_data")
  expect_equal(error$rows, 2)
  expect_identical(error$argument, "observation")
  expect_error(read_visits(change("did", 2, "monitor\u00a0"), setting = NULL), "invisible characters",
               class = "ibrc_error_data")
})
