neutral_mode <- function(estimate = "mle") {
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.5), diag_models()), 40, seed = 1)
  ibrc_mode(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1), beta ~ lognormal(2, 2)),
            estimate = estimate, starts = 2, seed = 1)
}

test_that("a profile falls to the cut at the interval's ends and is a shelf where it is open", {
  mode <- neutral_mode()
  table <- tidy(mode)
  ends <- unlist(table[1, c("conf.low", "conf.high")])
  profile <- profile_likelihood(mode, "alpha", values = c(ends, coef(mode)[["alpha"]]))
  expect_named(profile, c("value", "log_likelihood", "below_maximum", "beta"))
  expect_close(profile$below_maximum, stats::qchisq(0.95, 1) / 2 * c(1, 0, 1), 5e-3)
  expect_close(profile$log_likelihood[2], logLik(mode), 1e-3)
  shelf <- profile_likelihood(mode, "beta", n = 7)
  expect_identical(nrow(shelf), 7L)
  expect_false(is.unsorted(shelf$value))
  expect_gt(shelf$below_maximum[1], 5)
  expect_lt(shelf$below_maximum[7], 0.5)
})

test_that("each value is the best that the other terms can do", {
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.5), diag_models()), 40, seed = 1)
  profile <- profile_likelihood(neutral_mode("map"), "beta", values = c(5, 50))
  plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
  for (row in 1:2) {
    height <- function(t) {
      sum(log_lik(update(plan, bounded_agent(alpha = exp(t), beta = profile$value[row])), visits))
    }
    best <- stats::optimize(height, c(-3, 2), maximum = TRUE, tol = 1e-6)
    expect_close(profile$log_likelihood[row], best$objective, 1e-4)
    expect_close(log(profile$alpha[row]), best$maximum, 1e-2)
  }
})

test_that("a fit has profiles too, a group at a time", {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
  visits <- as.data.frame(simulate(plan, 60, seed = 1))
  visits$half <- ifelse(visits$id <= 30, "first", "second")
  visits <- trajectories(visits, covariates = "half", setting = setting)
  fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), by = "half", chains = 2,
              iter = 300, seed = 1)
  profile <- profile_likelihood(fit, n = 5)
  expect_identical(as.vector(table(profile$group)), c(5L, 5L))
  ends <- vapply(split(profile$below_maximum, profile$group), range, c(0, 0))
  expect_close(ends[2, ], rep(stats::qchisq(0.999, 1) / 2, 2), 0.05)
  skip_if_not_installed("ggplot2")
  picture <- plot(profile)
  expect_s3_class(picture, "ggplot")
  expect_no_error(ggplot2::ggplot_build(picture))
})

test_that("what cannot be profiled is refused", {
  mode <- neutral_mode()
  expect_error(profile_likelihood(mode, "eta"), class = "ibrc_error_input")
  expect_error(profile_likelihood(mode, values = -1), class = "ibrc_error_input")
  expect_error(profile_likelihood(mode, values = "a"), class = "ibrc_error_input")
  expect_error(profile_likelihood(list()), "ibrc_mode", class = "ibrc_error_input")
  mode$histories <- NULL
  expect_error(profile_likelihood(mode), "keep_data", class = "ibrc_error_input")
})

test_that("a profile that holds inferred dynamics says so, in print and in its picture", {
  fit <- ward_fit()
  profile <- profile_likelihood(fit, "alpha", values = c(0.4, 0.6))
  expect_output(print(profile), "held at their posterior\\s+medians")
  expect_output(print(profile), "below_maximum")
  # They are: the likelihood is that of a plan with the laws at their medians.
  plan <- update(project_behavior(fit)$west, bounded_agent(0.6, optimism = profile$optimism[4]))
  expect_close(profile$log_likelihood[4], sum(log_lik(plan, ward_part("west"))), 1e-5)
  plain <- profile_likelihood(clinic_fit(), "alpha", values = 0.5)
  expect_null(attr(plain, "held"))
  expect_false(any(grepl("held", capture.output(print(plain)))))
  skip_if_not_installed("ggplot2")
  expect_match(gsub("\n", " ", plot(profile)$labels$caption), "posterior medians")
  expect_identical(plot(plain)$labels$caption, "Dashed: the 95% cut.")
})
