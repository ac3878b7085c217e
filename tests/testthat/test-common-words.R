test_that("bytes and counts are said as people say them", {
  expect_identical(format_bytes(1), "1 byte")
  expect_identical(format_bytes(2e9), "2 GB")
  expect_identical(format_bytes(1234567), "1.2 MB")
  expect_identical(format_bytes(4e18), "4,000 PB")
  expect_identical(format_count(1e5), "100,000")
})

test_that("numbers print without a warning whatever the decimal mark is", {
  plain <- c(plural(12345, "row"), format_plain(0.5), suppress_counts(12345))
  expect_identical(plain, c("12,345 rows", "0.5", "12,345"))
  withr::local_options(OutDec = ",", warn = 2)
  plain <- c(plural(12345, "row"), format_plain(0.5), suppress_counts(12345))
  expect_identical(plain, c("12 345 rows", "0.5", "12 345"))
  visits <- clinic_visits()
  expect_silent(format(visits))
  shown <- capture.output({
    print(flow(read_adni(adni_like)))
    print(clinic_fit())
    print(diag_setting())
    print(ibrc_prior(alpha ~ lognormal(0, 0.5)))
    print(bounded_agent(0.5))
  })
  expect_match(shown, "6 663", all = FALSE)
  # Names are names.
  expect_identical(names(read_adni(adni_like, age_cut = 70.5))[5], "over_70.5")
  expect_identical(names(diag_models()$models)[1], "accuracy_0.6")
  expect_error(simulate(plan_agent(diag_setting(), bounded_agent(1), resolution = 5), 2e9), "10 000 000",
               class = "ibrc_error_input")
})

test_that("numbers of a table have their digits, and are never rounded to 0", {
  expect_identical(digits_text(c(3.1, 12345.6, 1.2e-6, 0, -0.845, 100.4)),
                   c("3.10", "12,346", "1.2e-06", "0", "-0.845", "100"))
  expect_identical(chance_text(c(0, 0.5, 1, NA)), c("< 0.001", "0.500", "> 0.999", NA))
  expect_identical(interval_words("Lines", 0.9), "Lines: median and 90% interval.")
  expect_identical(level_text(0.995), "99.5%")
})

test_that("limits of an interval are called by their share where it is known", {
  expect_identical(interval_titles(0.95), c("2.5%", "97.5%"))
  expect_identical(interval_titles(0.9), c("5%", "95%"))
  expect_identical(interval_titles(NULL), c("Lower", "Upper"))
})

test_that("R-hat, effective draws and contraction are written in one way", {
  expect_identical(rhat_text(c(1.00964, 1.8)), c("1.0096", "1.8000"))
  expect_identical(draws_text(c(399.6, 12345.9)), c("399", "12,345"))
  expect_identical(contraction_text(0.999), "1.00")
})
