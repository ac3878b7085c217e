test_that("scores that are sums of utilities give them back exactly, by either distance", {
  skip_if_not_installed("lpSolve")
  for (seed in 1:3) for (scale in c(1, 1e6, 1e-6)) {
    setting <- with_seed(seed, ranked_setting(3, 2, scale = scale))
    visits <- cut_visits(ranked_visits(setting, 40, alpha = scale), 1:6)
    scores <- stats::setNames(as.vector(twin_counts(visits, setting) %*% as.vector(setting$utility)), 1:40)
    for (p in 1:2) {
      inferred <- infer_scores(visits, setting, scores, p = p)
      expect_lt(max(abs(inferred$details$utility - setting$utility)), 1e-7 * scale)
      expect_true(all(tidy(inferred)$identified))
      expect_length(inferred$notes, 0)
    }
  }
  # Its plan is the optimal one.
  expect_close(policy(inferred), markov_hard(as_markov(setting))$policy, 1e-10)
  expect_identical(names(tidy(inferred)), c("term", "state", "action", "estimate", "std.error", "identified"))
})

test_that("least squares are those of lm(), standard errors included", {
  setting <- with_seed(4, ranked_setting(2, 2))
  visits <- cut_visits(ranked_visits(setting, 60), 1:5)
  counts <- twin_counts(visits, setting)
  scores <- with_seed(1, stats::setNames(as.vector(counts %*% c(setting$utility)) + rnorm(60), 1:60))
  inferred <- infer_scores(visits, setting, rev(scores))
  by_lm <- summary(stats::lm(scores ~ 0 + counts))$coefficients
  expect_close(tidy(inferred)$estimate, by_lm[, 1], 1e-10)
  expect_close(tidy(inferred)$std.error, by_lm[, 2], 1e-10)
  expect_equal(inferred$objective, sqrt(sum(stats::resid(stats::lm(scores ~ 0 + counts))^2)))
  # Without discounts.
  flat <- infer_scores(visits, setting, scores, discounted = FALSE)
  expect_close(tidy(flat)$estimate, stats::coef(stats::lm(scores ~ 0 + twin_counts(visits, setting, 1))), 1e-10)
})

test_that("one odd score does not move the least absolute differences", {
  skip_if_not_installed("lpSolve")
  setting <- with_seed(5, ranked_setting(2, 2))
  visits <- cut_visits(ranked_visits(setting, 30), 1:5)
  scores <- stats::setNames(as.vector(twin_counts(visits, setting) %*% as.vector(setting$utility)), 1:30)
  scores[7] <- scores[7] + 1000
  inferred <- infer_scores(visits, setting, scores, p = 1)
  expect_lt(max(abs(inferred$details$utility - setting$utility)), 1e-6)
  expect_equal(inferred$objective, 1000, tolerance = 1e-6)
})

test_that("what is not seen is counted, and the smallest answer given", {
  setting <- with_seed(6, ranked_setting(3, 2))
  # Nobody ever takes the second action in the third state.
  plan <- plan_with_policy(observed_problem(setting), "rule", rbind(c(0.5, 0.5), c(0.5, 0.5), c(1, 0)))
  visits <- cut_visits(simulate(plan, 50, seed = 1, horizon = 6), 2:6)
  scores <- stats::setNames(as.vector(twin_counts(visits, setting) %*% as.vector(setting$utility)), 1:50)
  inferred <- infer_scores(visits, setting, scores)
  expect_equal(inferred$details$utility["s3", "u2"], 0, tolerance = 1e-8)
  expect_identical(which(!tidy(inferred)$identified), 6L)
  expect_match(inferred$notes, "1 direction out of 6")
  expect_identical(inferred$details$unseen, 1L)
  # All of one length: a constant is not told from how long there was.
  same <- simulate(plan, 50, seed = 1, horizon = 1)
  counts <- twin_counts(same, setting)
  one <- infer_scores(same, setting, stats::setNames(counts[, 1] * 2 + counts[, 4], 1:50))
  expect_identical(one$details$unseen, 4L)
  expect_close(tidy(one)$estimate, c(2, 0, 0, 1, 0, 0), 1e-10)
})

test_that("hidden states are regressed on what was believed", {
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, bounded_agent(alpha = 5)), 60, seed = 1)
  counts <- trajectory_counts(visits, setting)$counts
  scores <- stats::setNames(as.vector(counts %*% as.vector(setting$utility)), 1:60)
  inferred <- infer_scores(visits, setting, scores, resolution = 20)
  expect_lt(max(abs(counts %*% tidy(inferred)$estimate - scores)), 1e-8)
  expect_match(inferred$notes, "state was not known", all = FALSE)
})

test_that("scores can be a column of the visits, and missing ones are left out", {
  setting <- with_seed(7, ranked_setting(2, 2))
  visits <- cut_visits(ranked_visits(setting, 30), 1:5)
  scores <- as.vector(twin_counts(visits, setting) %*% as.vector(setting$utility))
  data <- as.data.frame(visits)
  data$score <- scores[data$id]
  data$score[data$id == 3] <- NA
  with_scores <- trajectories(data, covariates = "score")
  inferred <- infer_scores(with_scores, setting, "score")
  expect_lt(max(abs(inferred$details$utility - setting$utility)), 1e-8)
  expect_match(inferred$notes, "1 trajectory without a score was left out")
  expect_identical(glance(inferred)$trajectories, 29L)
  data$score[5] <- 1e9
  expect_error(infer_scores(trajectories(data, covariates = "score"), setting, "score"), class = "ibrc_error_data")
  expect_error(infer_scores(visits, setting, "score"), "covariates", class = "ibrc_error_input")
  expect_error(infer_scores(visits, setting, "action"), "numbers", class = "ibrc_error_input")
})

test_that("scores that cannot be read are refused, without a name in the message", {
  setting <- with_seed(7, ranked_setting(2, 2))
  visits <- ranked_visits(setting, 3)
  for (bad in list(NULL, NA, "x", -1, list(), mean, matrix(0, 0, 2), c(a = 1), 1:3, c(`1` = Inf),
                   c(`1` = 1, `1` = 2))) {
    error <- expect_error(infer_scores(visits, setting, bad), class = "ibrc_error_input")
    expect_identical(error$argument, "scores")
  }
  error <- expect_error(infer_scores(visits, setting, c(`1` = 1, secret = 2)), class = "ibrc_error_input")
  expect_no_match(conditionMessage(error), "secret")
  expect_error(infer_scores(visits, setting, c(`1` = NA_real_)), class = "ibrc_error_data")
  for (argument in c("p", "discounted", "alpha", "resolution")) {
    for (bad in list(NA, "x", -1, list())) {
      call <- list(visits, setting, c(`1` = 1))
      call[[argument]] <- bad
      error <- expect_error(do.call(infer_scores, call), class = "ibrc_error_input")
      expect_identical(error$argument, argument)
    }
  }
})

test_that("no identifier and no visit is kept", {
  setting <- with_seed(7, ranked_setting(2, 2))
  data <- as.data.frame(cut_visits(ranked_visits(setting, 10), 1:5))
  data$id <- paste0("secret", data$id)
  scores <- stats::setNames(stats::rnorm(10), unique(data$id))
  inferred <- infer_scores(trajectories(data), setting, scores)
  expect_no_match(paste(deparse(unclass(inferred$details)), collapse = ""), "secret")
  expect_false(any(grepl("secret", rawToChar(serialize(inferred, NULL, ascii = TRUE)))))
})

test_that("visits are those of trajectories with a score, and what is explained is about the mean", {
  setting <- with_seed(41, ranked_setting(2, 2))
  visits <- ranked_visits(setting, 80, horizon = 6)
  scores <- stats::setNames(with_seed(1, 100 + stats::rnorm(10)), 1:10)
  few <- infer_scores(visits, setting, scores)
  expect_identical(glance(few)$visits, 60L)
  expect_identical(glance(few)$trajectories, 10L)
  # Scores that have to do with nothing: lm() with the same columns, of which a constant is one as good as.
  scores <- stats::setNames(with_seed(2, 100 + stats::rnorm(80)), 1:80)
  found <- infer_scores(visits, setting, scores)
  by_lm <- stats::lm(scores ~ 0 + trajectory_counts(visits, setting)$counts)
  expect_equal(glance(found)$r_squared, 1 - sum(stats::resid(by_lm)^2) / sum((scores - mean(scores))^2))
  expect_lt(glance(found)$r_squared, 0.2)
  expect_true(is.na(glance(infer_scores(visits, setting, replace(scores, 1:80, 3)))$r_squared))
})

test_that("very large scores are read as others", {
  setting <- with_seed(42, ranked_setting(2, 2))
  visits <- ranked_visits(setting, 30)
  scores <- stats::setNames(with_seed(3, stats::rnorm(30)), 1:30)
  plain <- infer_scores(visits, setting, scores)
  large <- infer_scores(visits, setting, scores * 1e200)
  expect_equal(large$objective / 1e200, plain$objective)
  expect_equal(tidy(large)$std.error / 1e200, tidy(plain)$std.error)
  expect_equal(glance(large)$r_squared, glance(plain)$r_squared)
})
