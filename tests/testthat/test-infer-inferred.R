inferred_by_hand <- function(...) {
  setting <- seen_setting(3, 2, start = c(1, 0, 0))
  ibrc:::new_ibrc_inferred("margin", setting, plan_agent(setting, bounded_agent(0.5)),
                           ibrc:::utility_estimates(setting$utility, setting), ...)
}

test_that("an inferred object answers as its plan does", {
  with_seed(1, {
    inferred <- inferred_by_hand(objective = 2.5, details = list(n_trajectories = 4L, n_visits = 20L, left_out = 3L))
    plan <- project_behavior(inferred)
    expect_s3_class(plan, "ibrc_plan")
    visits <- simulate(inferred, 5, seed = 2, horizon = 6)
    expect_equal(visits, simulate(plan, 5, seed = 2, horizon = 6))
    expect_equal(predict(inferred, visits), predict(plan, visits))
    expect_equal(log_lik(inferred, visits), log_lik(plan, visits))
    expect_identical(rownames(policy(inferred)), c("s1", "s2", "s3"))
    expect_equal(unname(policy(inferred)), unname(policy(plan)))
    expect_equal(policy(inferred, c(1, 0, 0)), policy(plan, c(1, 0, 0)))
    estimates <- tidy(inferred)
    expect_identical(estimates$term[5], "utility[s2,u2]")
    expect_identical(estimates$estimate[5], unname(plan$setting$utility[2, 2]))
    expect_equal(glance(inferred), data.frame(inverse = "margin", objective = 2.5,
                                              criterion = "sum of gaps over states, less the penalty; maximised",
                                              states = 3L, actions = 2L, trajectories = 4L, visits = 20L,
                                              left_out = 3L))
  })
})

test_that("an inferred object prints its estimates and what a reader must know", {
  with_seed(1, {
    inferred <- inferred_by_hand(objective = 2.5, notes = c("A first note.", "Another note."),
                                 details = list(n_trajectories = 1L, n_visits = 20L))
    text <- format(inferred)
    expect_match(text[1], "Maximum margin: what was inferred from 20 visits of 1 trajectory", fixed = TRUE)
    expect_true(any(grepl("utility[s1,u1]", text, fixed = TRUE)))
    expect_true(any(grepl("objective  2.5", text, fixed = TRUE)))
    expect_identical(utils::tail(text, 2), c("  * A first note.", "  * Another note."))
    expect_output(print(inferred), "Another note")
    expect_identical(sum(grepl("utility", format(inferred, most = 2))), 2L)
    expect_match(format(inferred, most = 2)[5], "and 4 more estimates")
  })
})

test_that("with several settings, one has to be named", {
  with_seed(1, {
    inferred <- inferred_by_hand()
    several <- inferred
    several$plan <- list(home = inferred$plan, ward = plan_agent(inferred$setting, bounded_agent(5)))
    several$setting <- list(inferred$setting, inferred$setting)
    expect_equal(policy(several, setting = "ward"), policy(several$plan$ward), ignore_attr = "dimnames")
    expect_equal(policy(several, setting = 1), policy(several$plan$home), ignore_attr = "dimnames")
    expect_refused(plot(several), "x", "plot\\(project_behavior\\(x\\)\\[\\[1\\]\\]\\)")
    visits <- simulate(several, 3, seed = 1, setting = 2, horizon = 4)
    expect_equal(log_lik(several, visits, setting = 2), log_lik(several$plan$ward, visits))
    expect_equal(predict(several, visits, setting = 2), predict(several$plan$ward, visits))
    expect_identical(glance(several)$states, 3L)
    expect_refused(policy(several), "setting", "home")
    expect_refused(policy(several, setting = "garden"), "setting")
    expect_refused(policy(several, setting = 3), "setting")
    expect_refused(policy(several, setting = mean), "setting")
    expect_refused(policy(inferred, setting = 1), "setting")
  })
})

test_that("wrong arguments are named", {
  with_seed(1, {
    inferred <- inferred_by_hand()
    expect_refused(predict(inferred), "visits")
    expect_refused(log_lik(inferred), "visits")
    expect_refused(predict(inferred, 1), "visits")
    expect_refused(predict(inferred, simulate(inferred, 1, seed = 1), type = "state"), "type")
    expect_refused(tidy(inferred, 1), "...")
    expect_refused(glance(inferred, 1), "...")
    expect_refused(project_behavior(inferred, 1), "...")
    expect_refused(project_behavior(1), "planner")
  })
})

test_that("the usual generics read it", {
  setting <- with_seed(2, seen_setting(3, 2, start = c(1, 0, 0)))
  visits <- simulate(plan_kl(setting, 1), 50, seed = 2, horizon = 8)
  inferred <- infer_matching(visits, setting, planner = "rule")
  estimates <- tidy(inferred)
  expect_identical(as.data.frame(inferred), estimates)
  expect_identical(coef(inferred), stats::setNames(estimates$estimate, estimates$term))
  ends <- confint(inferred, level = 0.9)
  expect_equal(unname(ends[, 2]), pmin(1, estimates$estimate + stats::qnorm(0.95) * estimates$std.error))
  expect_identical(colnames(ends), c("5 %", "95 %"))
  expect_identical(confint(inferred, 2, level = 0.9), ends[2, , drop = FALSE])
  expect_identical(confint(inferred, estimates$term[3], level = 0.9), ends[3, , drop = FALSE])
  for (wrong in list(NULL, NA, "x", -1, 100, list(), mean)) expect_refused(confint(inferred, wrong), "parm")
  for (wrong in list(NULL, NA, "x", -1, 1, Inf, list(), mean)) expect_refused(confint(inferred, level = wrong), "level")
  expect_refused(coef(inferred, 1), "...")
  expect_refused(as.data.frame(inferred, 1), "...")
  expect_refused(summary(inferred, 1), "...")
  expect_output(print(summary(inferred)), "left out 0")
  expect_refused(plot(inferred), "x", "plot\\(project_behavior\\(x\\)\\)")
  # Where there are no errors, no interval.
  law <- infer_matching(policy(plan_kl(setting, 1)), setting, planner = "rule")
  expect_refused(confint(law), "object", "see its notes")
  expect_refused(confint(infer_soft_margin(visits, setting)), "object", "gives none")
})

test_that("intervals of a posterior are its quantiles", {
  setting <- with_seed(3, seen_setting(2, 2, start = c(1, 0)))
  visits <- simulate(plan_kl(setting, 1), 30, seed = 3, horizon = 6)
  inferred <- infer_matching(visits, setting, "kl", "alpha", prior = 1, method = "bayesian", chains = 2, iter = 200,
                             seed = 1)
  draws <- inferred$details$draws$value
  expect_equal(as.vector(confint(inferred, level = 0.8)), unname(stats::quantile(draws, c(0.1, 0.9))))
})

test_that("what the objective is stands beside it", {
  setting <- with_seed(4, seen_setting(2, 2, start = c(1, 0)))
  visits <- simulate(plan_kl(setting, 1), 30, seed = 3, horizon = 6)
  said <- function(inferred) grep("objective", format(inferred), value = TRUE)
  expect_match(said(infer_matching(visits, setting)), "(log-likelihood of 180 visits; maximised)", fixed = TRUE)
  pairs <- data.frame(worse = 1:5, better = 6:10)
  expect_match(said(infer_preferences(visits, setting, pairs, prior_sd = 1)), "(log-likelihood of 5 pairs; maximised)",
               fixed = TRUE)
  expect_match(said(infer_soft_margin(visits, setting, penalty = 1)), "minimised")
  # An estimate that is 0 but for rounding is shown as that.
  dusty <- inferred_by_hand()
  dusty$estimates$estimate[2] <- 1e-16
  expect_match(grep("s2,u1", format(dusty), value = TRUE), " 0$")
})
