test_that("a sieve counts patients and visits after every step, and nobody who has no identifier", {
  sieve <- start_sieve(c("a", "a", "b", NA, "c"))
  sieve <- sieve_rows(sieve, c(TRUE, TRUE, TRUE, FALSE, TRUE), "known", "has an identifier")
  sieve <- sieve_rows(sieve, c(TRUE, FALSE, TRUE, FALSE), "seen", "was seen")
  expect_identical(sieve$row, c(1L, 3L))
  expect_identical(sieve$log, data.frame(
    step = c("read", "known", "seen"), reason = c("rows of the table", "has an identifier", "was seen"),
    patients = c(3L, 3L, 2L), visits = c(5L, 4L, 2L)
  ))
})

test_that("a cohort that lost everybody is refused with the step at which it did, and no name", {
  sieve <- start_sieve(c("secret", "secret"))
  expect_null(refuse_empty_cohort(sieve))
  sieve <- sieve_rows(sieve, c(FALSE, FALSE), "first", "comes to a first visit")
  sieve <- sieve_rows(sieve, logical(), "second", "comes to a second visit")
  error <- expect_error(refuse_empty_cohort(sieve), "comes to a first visit", class = "ibrc_error_data")
  expect_identical(error$flow, sieve$log)
  expect_no_match(conditionMessage(error), "secret|second")
})

test_that("of rows for one visit the most complete stays, then the first", {
  visit <- c(2, 1, 1, 3, 2, 1)
  incompleteness <- c(0, 2, 1, 5, 0, 1)
  expect_identical(keep_best_row(visit, incompleteness), c(TRUE, FALSE, TRUE, TRUE, FALSE, FALSE))
  expect_identical(keep_best_row(numeric(), numeric()), logical())
})

test_that("rows count up to the first gap of each patient, whatever the others have", {
  who <- rep(c("a", "b", "c"), c(4, 3, 1))
  gap <- c(FALSE, FALSE, TRUE, FALSE, TRUE, FALSE, TRUE, TRUE)
  # What stands before a patient's first row is no gap of that patient's.
  expect_identical(before_first_gap(who, gap), c(TRUE, TRUE, FALSE, FALSE, TRUE, TRUE, FALSE, TRUE))
  # The same, worked out patient by patient.
  with_seed(451, for (i in 1:20) {
    who <- sort(sample(6, 30, replace = TRUE))
    gap <- stats::runif(30) < 0.3
    by_hand <- unlist(lapply(split(gap, who), function(one) !cumsum(c(FALSE, one[-1]))), use.names = FALSE)
    expect_identical(before_first_gap(who, gap), by_hand)
  })
})

test_that("a cohort says what it was selected from, and is a plain table when asked", {
  cohort <- read_adni(adni_rows(adni_row(1, "bl"), adni_row(1, "m06"), adni_row(2, "bl", CDRSB = NA)))
  expect_match(format(cohort), "selected from 2 patients with 3 rows", all = FALSE)
  table <- as.data.frame(cohort)
  expect_null(attr(table, "flow"))
  expect_null(attr(table, "cuts"))
  expect_false(inherits(table, "ibrc_cohort"))
  expect_identical(nrow(table), 2L)
  # Without its account there is nothing to say.
  attr(cohort, "flow") <- NULL
  expect_no_match(format(cohort), "selected")
  expect_match(format(cohort), "1 trajectory with 2 visits", all = FALSE)
})
