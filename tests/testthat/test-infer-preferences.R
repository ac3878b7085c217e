# Pairs of trajectories of different lengths, ranked with noise.
ranked <- function(setting, n = 80, pairs = 400, seed = 1) {
  visits <- cut_visits(ranked_visits(setting, n), 1:6)
  total <- as.vector(twin_counts(visits, setting) %*% as.vector(setting$utility))
  with_seed(seed, {
    pair <- t(replicate(pairs, sample(n, 2)))
    chosen <- stats::runif(pairs) < stats::plogis(total[pair[, 2]] - total[pair[, 1]])
    pair[!chosen, ] <- pair[!chosen, 2:1]
  })
  list(visits = visits, pairs = data.frame(worse = pair[, 1], better = pair[, 2]))
}

test_that("preferences are a logistic regression without an intercept", {
  for (seed in 1:3) {
    setting <- with_seed(seed, ranked_setting(2, 3))
    demo <- ranked(setting)
    inferred <- infer_preferences(demo$visits, setting, demo$pairs)
    counts <- twin_counts(demo$visits, setting)
    gain <- counts[demo$pairs$better, ] - counts[demo$pairs$worse, ]
    # As many answers of each kind, as people write it, turned round at random.
    flip <- rep_len(c(1, -1), nrow(gain))
    by_glm <- stats::glm((flip > 0) ~ 0 + I(gain * flip), family = stats::binomial(),
                         control = stats::glm.control(epsilon = 1e-14))
    expect_close(tidy(inferred)$estimate, stats::coef(by_glm), 1e-6)
    expect_close(tidy(inferred)$std.error, summary(by_glm)$coefficients[, 2], 1e-6)
    expect_equal(inferred$objective, as.numeric(stats::logLik(by_glm)), tolerance = 1e-10)
    expect_true(all(tidy(inferred)$identified))
    # Within reach of the truth.
    z <- (tidy(inferred)$estimate - as.vector(setting$utility)) / tidy(inferred)$std.error
    expect_lt(max(abs(z)), 4)
  }
})

test_that("trajectories of one length leave a constant open: the smallest answer, with the same likelihood as glm()", {
  setting <- with_seed(4, ranked_setting(2, 2))
  visits <- ranked_visits(setting, 60, horizon = 4, alpha = 10)
  counts <- twin_counts(visits, setting)
  with_seed(2, {
    pair <- t(replicate(200, sample(60, 2)))
    total <- as.vector(counts %*% as.vector(setting$utility))
    turned <- stats::runif(200) > stats::plogis(total[pair[, 2]] - total[pair[, 1]])
    pair[turned, ] <- pair[turned, 2:1]
  })
  inferred <- infer_preferences(visits, setting, data.frame(worse = pair[, 1], better = pair[, 2]))
  gain <- counts[pair[, 2], ] - counts[pair[, 1], ]
  # Counts of a pair differ by 0 in sum: three of them say it all.
  by_glm <- stats::glm(rep(1, 200) ~ 0 + gain[, -4], family = stats::binomial())
  expect_equal(inferred$objective, as.numeric(stats::logLik(by_glm)), tolerance = 1e-8)
  expect_close(tidy(inferred)$estimate[-4] - tidy(inferred)$estimate[4], stats::coef(by_glm), 1e-5)
  expect_match(inferred$notes, "1 direction out of 4", all = FALSE)
  expect_equal(sum(tidy(inferred)$estimate), 0, tolerance = 1e-8)
  expect_true(all(is.na(tidy(inferred)$std.error)))
})

test_that("a normal prior is ridge regression", {
  setting <- with_seed(5, ranked_setting(2, 2))
  demo <- ranked(setting, pairs = 60)
  inferred <- infer_preferences(demo$visits, setting, demo$pairs, prior_sd = 0.7)
  counts <- twin_counts(demo$visits, setting)
  gain <- counts[demo$pairs$better, ] - counts[demo$pairs$worse, ]
  height <- function(u) sum(stats::plogis(gain %*% u, log.p = TRUE)) + sum(stats::dnorm(u, 0, 0.7, log = TRUE))
  best <- stats::optim(numeric(4), height, method = "BFGS", control = list(fnscale = -1, reltol = 1e-15))
  expect_close(tidy(inferred)$estimate, best$par, 1e-4)
  expect_true(all(is.finite(tidy(inferred)$std.error)))
})

test_that("separated preferences are refused with the remedy, which works", {
  setting <- with_seed(6, ranked_setting(2, 2))
  visits <- cut_visits(ranked_visits(setting, 20), 1:5)
  total <- as.vector(twin_counts(visits, setting) %*% as.vector(setting$utility))
  pairs <- data.frame(worse = order(total)[1:10], better = order(total)[11:20])
  error <- expect_error(infer_preferences(visits, setting, pairs), class = "ibrc_error_separation")
  expect_match(conditionMessage(error), "prior_sd")
  expect_identical(error$argument, "preferences")
  expect_identical(infer_preferences(visits, setting, pairs, prior_sd = 1)$details$agreement, 1)
  # Quasi-separated: two pairs contradict each other, all else agrees.
  expect_error(infer_preferences(visits, setting, rbind(pairs[1, ], stats::setNames(pairs[1, 2:1], names(pairs)))),
               NA)
  one <- rbind(pairs, stats::setNames(pairs[1, 2:1], names(pairs)))
  expect_error(infer_preferences(visits, setting, one), class = "ibrc_error_separation")
})

test_that("preferences that cannot be read are refused by row, without identifiers", {
  setting <- with_seed(7, ranked_setting(2, 2))
  visits <- ranked_visits(setting, 4)
  for (bad in list(NULL, NA, "x", 1, list(), mean, matrix(0, 0, 2), data.frame(worse = 1))) {
    error <- expect_error(infer_preferences(visits, setting, bad), class = "ibrc_error")
    expect_identical(error$argument, "preferences")
  }
  error <- expect_error(infer_preferences(visits, setting, data.frame(worse = c("1", "secret"), better = "2")),
                        class = "ibrc_error_data")
  expect_identical(error$rows, 2L)
  expect_no_match(conditionMessage(error), "secret")
  expect_error(infer_preferences(visits, setting, data.frame(worse = 1:2, better = 2)), "itself",
               class = "ibrc_error_data")
  expect_error(infer_preferences(visits, setting, data.frame(worse = NA, better = 2)), class = "ibrc_error_data")
  expect_error(infer_preferences(visits, setting, data.frame(worse = 1, better = 2)[0, ]), class = "ibrc_error_data")
  for (bad in list(NA, "x", -1, 0, Inf, list())) {
    error <- expect_error(infer_preferences(visits, setting, data.frame(worse = 1, better = 2), prior_sd = bad),
                          class = "ibrc_error_input")
    expect_identical(error$argument, "prior_sd")
  }
})

test_that("identifiers are not kept, and pairs that cannot differ are counted", {
  setting <- with_seed(7, ranked_setting(2, 2))
  data <- data.frame(id = rep(c("secret1", "secret2", "secret3"), each = 2), time = rep(0:1, 3),
                     action = c("u1", "u2", "u1", "u2", "u2", "u2"), observation = "s1")
  pairs <- data.frame(worse = c("secret1", "secret1", "secret3"), better = c("secret2", "secret3", "secret1"))
  inferred <- infer_preferences(trajectories(data), setting, pairs)
  expect_match(inferred$notes, "In 1 pair both", all = FALSE)
  expect_false(any(grepl("secret", rawToChar(serialize(inferred, NULL, ascii = TRUE)))))
  alike <- data.frame(worse = "secret1", better = "secret2")
  expect_error(infer_preferences(trajectories(data), setting, alike), "same counts", class = "ibrc_error_data")
})

test_that("visits are those of trajectories that were compared", {
  setting <- with_seed(51, ranked_setting(2, 2))
  visits <- ranked_visits(setting, 40, horizon = 5)
  inferred <- infer_preferences(visits, setting, data.frame(worse = 1:3, better = 4:6), prior_sd = 1)
  expect_identical(glance(inferred)$visits, 30L)
  expect_identical(glance(inferred)$trajectories, 6L)
})

test_that("standard errors under a prior are those of the posterior's curvature, unseen directions included", {
  setting <- with_seed(52, ranked_setting(2, 2))
  visits <- ranked_visits(setting, 60, horizon = 4, alpha = 10)
  pairs <- data.frame(worse = 1:30, better = 31:60)
  prior_sd <- 1.7
  inferred <- infer_preferences(visits, setting, pairs, prior_sd = prior_sd)
  expect_match(inferred$notes, "direction out of 4", all = FALSE)
  counts <- twin_counts(visits, setting)
  gain <- counts[pairs$better, ] - counts[pairs$worse, ]
  logit <- as.vector(gain %*% tidy(inferred)$estimate)
  curvature <- crossprod(gain, stats::dlogis(logit) * gain) + diag(prior_sd^-2, 4)
  expect_equal(tidy(inferred)$std.error, sqrt(diag(solve(curvature))), tolerance = 1e-7)
})

test_that("preferences that are nearly separated say so, others do not", {
  setting <- with_seed(53, ranked_setting(2, 2))
  demo <- ranked(setting)
  expect_no_match(infer_preferences(demo$visits, setting, demo$pairs)$notes, "nearly separated")
  # All but one agree with one utility.
  counts <- twin_counts(demo$visits, setting)
  total <- as.vector(counts %*% c(3, -2, 1, -4))
  pairs <- demo$pairs
  wrong <- total[pairs$better] < total[pairs$worse]
  pairs[wrong, ] <- pairs[wrong, 2:1]
  skip_if_not_installed("lpSolve")
  expect_error(infer_preferences(demo$visits, setting, pairs), class = "ibrc_error_separation")
  near <- order(total[pairs$better] - total[pairs$worse])[nrow(pairs) %/% 5]
  pairs[near, ] <- pairs[near, 2:1]
  inferred <- infer_preferences(demo$visits, setting, pairs)
  expect_match(inferred$notes, "nearly separated", all = FALSE)
  expect_no_match(infer_preferences(demo$visits, setting, pairs, prior_sd = 1)$notes, "nearly separated")
})
