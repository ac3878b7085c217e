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
  # All of the variance goes with covariates because the formula has nothing else.
  expect_true(all(is.na(found[3, c("share", "share.low", "share.high")])))
  said <- format(found)
  expect_match(said[1], "^Of the variance between people in optimism, that of covariates included, .* levels of clin")
  expect_match(said[2], "^In the logarithm of alpha people differ by covariates alone \\(sd .*\\); those with the same")
  expect_no_match(said, "100%")
  expect_output(print(found), "Verdict: ")
  expect_output(print(found[c("term", "sd")]), "0\\.")
})

test_that("people of one clinician share the site as well, and who is a level is not taken as equal", {
  visits <- differing_visits(4, 3)
  visits$site <- ifelse(visits$clinician %in% c("c1", "c2"), "north", "south")
  attr(visits, "roles")$covariates <- c(attr(visits, "roles")$covariates, "site")
  fit <- fit_differing(list(optimism ~ (1 | site) + (1 | clinician)), visits, iter = 40)
  found <- spread_shares(fit)
  expect_equal(sum(found$share), 1)
  together <- attr(found, "together")
  expect_identical(unlist(together[1:3]), c(term = "optimism", source = "clinician", with = "site"))
  expect_true(all(is.na(together[4:6])))
  expect_match(format(found), "Two people of one clinician share site and clinician, and are taken as equal[.]$")
  # Beside people themselves, the sum is less.
  three <- fit_differing(list(optimism ~ (1 | site) + (1 | clinician) + (1 | id)), visits, iter = 20)
  v <- raw_coefficients(three)[, c("sd(optimism|site)", "sd(optimism|clinician)", "sd(optimism|id)")]^2
  both <- attr(spread_shares(three), "together")
  expect_identical(both$source, "clinician")
  expect_equal(both$share, stats::median((v[, 1] + v[, 2]) / rowSums(v)))
  expect_match(format(spread_shares(three)), "share site and clinician, [0-9]+% \\([0-9]+% to [0-9]+%\\) of it[.]$")
  # Crossed factors have no sum.
  visits$site <- ifelse(visits$sex == "m", "north", "south")
  crossed <- fit_differing(list(optimism ~ (1 | site) + (1 | clinician)), visits, iter = 20)
  expect_null(attr(spread_shares(crossed), "together"))
  own <- format(spread_shares(personal_fit()))
  expect_match(own[2], "^In the logarithm of alpha people differ by levels of id alone \\(sd [^)]*\\)[.]$")
})

test_that("fits in which nobody differs are refused", {
  expect_refused(spread_shares(clinic_fit()), "fit", "effects")
  expect_refused(spread_shares(1), "fit")
  expect_refused(spread_shares(differing_fit(), conf.level = 1), "conf.level")
})
