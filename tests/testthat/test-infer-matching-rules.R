test_that("where the state is seen a rule is how often each action was taken", {
  setting <- with_seed(1, ranked_setting(3, 3))
  visits <- ranked_visits(setting, 40)
  found <- infer_matching(visits, setting, "rule")
  counts <- matrix(colSums(twin_counts(visits, setting, discount = 1)), 3)
  share <- counts / rowSums(counts)
  expect_close(tidy(found)$estimate, share)
  expect_close(tidy(found)$std.error, sqrt(share * (1 - share) / rowSums(counts)))
  expect_identical(tidy(found)$term[4], "policy[s1,u2]")
  expect_close(policy(found), share)
  expect_equal(found$objective, sum(log_lik(found, visits)))
  expect_equal(found$objective, sum(counts * log(share)))
  # No rule does better.
  expect_gt(found$objective, infer_matching(visits, setting, "kl", "alpha", starts = 1, seed = 1)$objective)
})

test_that("states that nobody met, actions that nobody took and a law are handled", {
  setting <- with_seed(2, ranked_setting(3, 3))
  data <- data.frame(id = 1, time = 0:3, action = c("u1", "u2", "u1", "u1"), observation = c("s1", "s2", "s1", "s2"))
  found <- infer_matching(trajectories(data), setting, "rule")
  # State s1 was met before rows 1, 2 and 4; s2 before row 3.
  expect_close(policy(found), rbind(c(2, 1, 0) / 3, c(1, 0, 0), rep(1, 3) / 3))
  nowhere <- tidy(found)$state == "s3"
  expect_true(all(is.na(tidy(found)[nowhere, c("estimate", "std.error")])))
  # One visit is no certainty.
  sure <- tidy(found)$estimate %in% c(0, 1)
  expect_identical(sum(sure), 4L)
  expect_true(all(is.na(tidy(found)$std.error[sure])))
  expect_match(found$notes, "always or never taken", all = FALSE)
  expect_match(found$notes, "s3", all = FALSE)
  expect_equal(found$objective, 2 * log(2 / 3) + log(1 / 3))
  # With a prior there is a logit for each, and none of them is infinite.
  sure <- infer_matching(trajectories(data), setting, "rule", prior = 1)
  expect_gt(min(policy(sure)), 0.05)
  expect_close(policy(sure)[3, ], rep(1 / 3, 3), 1e-8)
  law <- with_seed(2, random_rows(3, 3))
  found <- infer_matching(law, setting, "rule")
  expect_close(policy(found), law)
  expect_true(all(is.na(tidy(found)$std.error)))
})

test_that("where states are hidden a rule is a regression on beliefs: of two actions, R's own", {
  setting <- with_seed(3, random_setting(3, 2, 3, zeros = 0))
  visits <- with_seed(3, simulate(plan_boltzmann(setting, 4, resolution = 10), 80, horizon = 5, seed = 3))
  belief <- twin_beliefs(visits, setting)
  taken <- as.data.frame(visits)$action == "u2"
  own <- stats::glm(taken ~ 0 + belief, family = stats::binomial(), epsilon = 1e-14)
  found <- infer_matching(visits, setting, "rule", resolution = 10)
  expect_true(found$details$converged)
  expect_equal(tidy(found)$estimate, unname(stats::coef(own)), tolerance = 1e-6)
  expect_equal(tidy(found)$std.error, unname(sqrt(diag(stats::vcov(own)))), tolerance = 1e-4)
  expect_equal(found$objective, as.numeric(stats::logLik(own)), tolerance = 1e-9)
  expect_equal(sum(log_lik(found, visits)), found$objective, tolerance = 1e-9)
  expect_close(as.matrix(predict(found, visits))[, 2], stats::fitted(own), 1e-6)
  expect_identical(tidy(found)$term, paste0("logit[s", 1:3, ",u2]"))
})

test_that("of three actions the slope of the likelihood is 0, and that of a prior with it", {
  setting <- with_seed(4, random_setting(2, 3, 3, zeros = 0))
  visits <- simulate(plan_boltzmann(setting, 4, resolution = 10), 60, horizon = 5, seed = 4)
  belief <- twin_beliefs(visits, setting)
  taken <- outer(as.data.frame(visits)$action, setting$actions, `==`) + 0
  slope <- function(found) crossprod(belief, (taken - as.matrix(predict(found, visits)))[, -1])
  found <- infer_matching(visits, setting, "rule", resolution = 10)
  expect_close(slope(found), rep(0, 4), 1e-6)
  drawn <- infer_matching(visits, setting, "rule", resolution = 10, prior = 0.5)
  expect_close(slope(drawn), tidy(drawn)$estimate / 0.5^2, 1e-6)
  expect_lt(sum(tidy(drawn)$estimate^2), sum(tidy(found)$estimate^2))
})

test_that("a regression whose actions are told apart by beliefs says so", {
  setting <- diag_setting()
  visits <- simulate(plan_pomdp(setting, resolution = 20), 40, seed = 1)
  found <- infer_matching(visits, setting, "rule", resolution = 20)
  expect_match(found$notes, "no maximum", all = FALSE)
  expect_true(all(is.na(tidy(found)$std.error)))
  expect_no_match(infer_matching(visits, setting, "rule", prior = 3, resolution = 20)$notes, "no maximum")
})

test_that("one action leaves nothing to infer", {
  setting <- with_seed(5, ranked_setting(2, 1))
  visits <- ranked_visits(setting, 5)
  expect_close(policy(infer_matching(visits, setting, "rule")), c(1, 1))
  expect_equal(infer_matching(visits, setting, "rule")$objective, 0)
  hidden <- with_seed(5, random_setting(2, 1, 2, zeros = 0))
  visits <- simulate(plan_agent(hidden, bounded_agent(1), resolution = 5), 5, horizon = 3, seed = 1)
  found <- infer_matching(visits, hidden, "rule", resolution = 5)
  expect_identical(nrow(tidy(found)), 0L)
  expect_equal(found$objective, 0)
})

test_that("centres and their sharpness are found again", {
  setting <- diag_setting()
  centres <- rbind(c(0.9, 0.1), c(0.1, 0.9), c(0.5, 0.5))
  visits <- simulate(plan_iohmm_rule(setting, centres, 12, resolution = 20), 400, horizon = 8, seed = 1)
  found <- infer_matching(visits, setting, "iohmm_rule", starts = 2, seed = 1, resolution = 20)
  expect_identical(tidy(found)$term, c(paste0("centre[", setting$actions, ",healthy]"), "sharpness"))
  expect_true(found$details$converged)
  expect_equal(sum(log_lik(found, visits)), found$objective, tolerance = 1e-9)
  expect_gt(found$objective, sum(log_lik(plan_iohmm_rule(setting, centres, 12, resolution = 20), visits)))
  expect_close(rowSums(found$details$centres), c(1, 1, 1))
  # Logits are 2 sharpness (centre of one less centre of the other), less the difference of squares: with two actions
  # more than directions in which beliefs differ, only these logits are known.
  logits <- function(centres, sharpness) {
    scores <- centre_scores(centres, sharpness)
    scores - scores[, 3]
  }
  expect_lt(max(abs(logits(found$details$centres, found$details$sharpness) - logits(centres, 12))), 2)
  drawn <- infer_matching(visits, setting, "iohmm_rule", prior = 1, starts = 2, seed = 1, resolution = 20)
  expect_true(drawn$details$converged)
  expect_lt(drawn$objective, found$objective + 1e-6)
})

test_that("what these planners have no use for is refused, by name", {
  setting <- with_seed(6, ranked_setting(2, 2))
  visits <- ranked_visits(setting, 5)
  refused <- function(argument, ...) {
    error <- expect_error(infer_matching(visits, setting, ...), class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  refused("method", "rule", method = "bayesian", prior = 1)
  refused("prior", "rule", prior = ibrc_prior(alpha ~ lognormal(0, 1)))
  refused("prior", "iohmm_rule", prior = ibrc_prior(alpha ~ lognormal(0, 1)))
  refused("terms", "rule", terms = "alpha")
  refused("features", "iohmm_rule", features = array(1, c(2, 2, 1)))
})
