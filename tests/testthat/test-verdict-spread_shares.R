test_that("shares are those of the variances, draw by draw", {
  fit <- differing_fit()
  found <- spread_shares(fit, conf.level = 0.8)
  expect_identical(paste(found$term, found$source), c("optimism clinician", "optimism covariates", "alpha covariates"))
  b <- raw_coefficients(fit)
  people <- first_visits(differing_visits())
  fixed <- vapply(seq_len(nrow(people)), function(i) {
    b[, "optimism[armb]"] * (people$arm[i] == "b") + b[, "optimism[armc]"] * (people$arm[i] == "c") +
      b[, "optimism[sexm]"] * (people$sex[i] == "m")
  }, numeric(nrow(b)))
  n <- nrow(people)
  covariates <- apply(fixed, 1, stats::var) * (n - 1) / n
  between <- b[, "sd(optimism|clinician)"]^2
  share <- between / (between + covariates)
  expect_equal(unlist(found[1, c("share", "share.low", "share.high")]), stats::quantile(share, c(0.5, 0.1, 0.9)),
               ignore_attr = TRUE)
  expect_equal(found$sd[1:2], c(stats::median(sqrt(between)), stats::median(sqrt(covariates))))
  expect_identical(found$share[3], 1)
  said <- format(found)
  expect_match(said[1], "^Of the variance between people in optimism, .* lies between levels of clinician")
  expect_match(said[2], "in the logarithm of alpha, 100% (100% to 100%) goes with covariates", fixed = TRUE)
  expect_output(print(found), "Verdict: ")
  expect_output(print(found[c("term", "sd")]), "0\\.")
})

test_that("fits in which nobody differs are refused", {
  expect_refused(spread_shares(clinic_fit()), "fit", "effects")
  expect_refused(spread_shares(1), "fit")
  expect_refused(spread_shares(differing_fit(), conf.level = 1), "conf.level")
})
