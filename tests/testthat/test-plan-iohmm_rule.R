test_that("it is bounded rational control of one visit, at every belief", {
  with_seed(1, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    centres <- matrix(stats::rnorm(3 * n_states), 3)
    kappa <- stats::rexp(1) * 5
    plan <- plan_iohmm_rule(setting, centres, kappa, 7)
    myopic <- setting
    myopic$discount <- 0
    for (u in 1:3) myopic$utility[, u] <- 2 * kappa * centres[u, ] - kappa * sum(centres[u, ]^2)
    bounded <- plan_agent(myopic, bounded_agent(alpha = 1, eta = 0), resolution = 7)
    beliefs <- random_beliefs(50, n_states)
    expect_close(policy(plan), policy(bounded), 1e-10)
    expect_close(policy(plan, beliefs), policy(bounded, beliefs), 1e-10)
    visits <- simulate(plan, 20, seed = 1, horizon = 8)
    expect_close(log_lik(plan, visits), log_lik(bounded, visits), 1e-10)
    # And what its name says.
    odds <- sapply(1:3, function(u) exp(-kappa * rowSums((beliefs - rep(centres[u, ], each = 50))^2)))
    expect_close(policy(plan, beliefs), odds / rowSums(odds), 1e-10)
  })
})

test_that("the resolution does not matter to what is done", {
  centres <- rbind(c(0.5, 0.5), c(0, 1), c(1, 0))
  beliefs <- with_seed(2, random_beliefs(30, 2))
  coarse <- plan_iohmm_rule(tiger_setting(), centres, 20, 1)
  fine <- plan_iohmm_rule(tiger_setting(), centres, 20, 64)
  expect_close(policy(coarse, beliefs), policy(fine, beliefs), 1e-12)
})

test_that("it is worth what its visits bring", {
  with_seed(3, setting <- random_markov(3))
  centres <- rbind(u3 = c(1, 0, 0), u1 = c(0, 1, 0), u2 = c(0, 0, 1))
  plan <- plan_iohmm_rule(setting, centres, 2)
  law <- exp(-2 * as.matrix(stats::dist(rbind(centres[setting$actions, ], diag(3))))[4:6, 1:3]^2)
  law <- law / rowSums(law)
  expect_close(policy(plan), law, 1e-12)
  expect_close(value(plan), markov_value(as_markov(setting), law), 1e-9)
  hidden <- plan_iohmm_rule(tiger_setting(), rbind(c(0.5, 0.5), c(0, 1), c(1, 0)), 20, 10)
  expect_close(value(hidden), evaluate_policy(plan_pomdp(tiger_setting(), 10), policy(hidden)), 1e-7)
})

test_that("models of the dynamics carry the beliefs", {
  setting <- diag_setting()
  centres <- rbind(c(1, 0), c(0, 1), c(0.5, 0.5))
  plan <- plan_iohmm_rule(setting, centres, 5, 10, diag_models())
  seen <- update_belief(plan, c(0.5, 0.5), "monitor", "positive")
  expect_close(seen, update_belief(plan_pomdp(setting, 10, diag_models()), c(0.5, 0.5), "monitor", "positive"), 1e-12)
})

test_that("wrong arguments are refused by name", {
  setting <- tiger_setting()
  centres <- rbind(c(0.5, 0.5), c(0, 1), c(1, 0))
  expect_refused(plan_iohmm_rule(), "setting")
  expect_refused(plan_iohmm_rule(1, centres, 1), "setting")
  expect_refused(plan_iohmm_rule(setting), "centres")
  for (wrong in list(NULL, NA, "x", 1, list(), t(centres), centres + NA, centres / 0, function(x) x,
                     matrix(numeric(), 0, 2), `rownames<-`(centres, c("a", "b", "c")))) {
    expect_refused(plan_iohmm_rule(setting, wrong, 1), "centres")
  }
  for (wrong in list(NULL, NA, "x", 0, -1, Inf, c(1, 2), list())) {
    expect_refused(plan_iohmm_rule(setting, centres, wrong), "sharpness")
  }
  expect_refused(plan_iohmm_rule(setting, centres * 1e200, 1), "centres", "too large")
  expect_refused(plan_iohmm_rule(setting, centres, 1, NA), "resolution")
  expect_refused(plan_iohmm_rule(setting, centres, 1, 4, 1), "models")
})
