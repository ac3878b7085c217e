# The smallest size, by norm p, of a change under which two gaps are at least 0: by duality the largest of
# lack'y / |rows'y|_q over directions y >= 0 of the plane. Rows are found by differences.
brute_change <- function(setting, actions, norm) {
  gap <- function(utility) {
    worth <- seen_action_value(setting, always(actions, 2), utility)
    worth[cbind(1:2, actions)] - worth[cbind(1:2, 3 - actions)]
  }
  rows <- vapply(1:4, function(i) gap(replace(matrix(0, 2, 2), i, 1)), numeric(2))
  lack <- -gap(setting$utility)
  dual <- c(Inf, 2, 1)[match(norm, c(1, 2, Inf))]
  size <- function(x) if (dual == Inf) max(abs(x)) else sum(abs(x)^dual)^(1 / dual)
  ratio <- function(angle) {
    y <- c(cos(angle), sin(angle))
    sum(lack * y) / size(crossprod(rows, y))
  }
  angles <- seq(0, pi / 2, length.out = 2001)
  best <- angles[which.max(vapply(angles, ratio, 0))]
  near <- stats::optimize(ratio, pmin(pmax(best + c(-1, 1) * 1e-3, 0), pi / 2), maximum = TRUE, tol = 1e-12)
  max(0, near$objective, ratio(0), ratio(pi / 2))
}

test_that("the change is as small as can be, in every norm", {
  skip_if_not_installed("lpSolve")
  skip_if_not_installed("quadprog")
  moved <- 0
  with_seed(1, for (i in 1:12) {
    setting <- seen_setting(2, 2, discount = sample(c(0, 0.5, 0.95), 1))
    actions <- sample(2, 2, replace = TRUE)
    for (norm in c(1, 2, Inf)) {
      inferred <- infer_perturbation(always(actions, 2), setting, norm)
      expect_equal(glance(inferred)$objective, brute_change(setting, actions, norm), tolerance = 1e-6)
      expect_lt(seen_regret(setting, actions, matrix(tidy(inferred)$estimate, 2)), 1e-8)
      moved <- moved + (glance(inferred)$objective > 0)
    }
  })
  expect_gt(moved, 12)
})

test_that("what was done is optimal under the answer, in random settings", {
  skip_if_not_installed("lpSolve")
  skip_if_not_installed("quadprog")
  with_seed(2, for (i in 1:6) {
    setting <- seen_setting(5, 3, zeros = 0.3)
    actions <- sample(3, 5, replace = TRUE)
    for (norm in c(1, 2, Inf)) {
      inferred <- infer_perturbation(always(actions, 3), setting, norm)
      expect_lt(seen_regret(setting, actions, matrix(tidy(inferred)$estimate, 5)), 1e-7)
      # It imitates what was done, ties or not, and its values are those of the best.
      expect_identical(unname(policy(inferred)), always(actions, 3))
      best <- plan_agent(project_behavior(inferred)$setting, bounded_agent(flexibility = Inf))
      expect_close(value(project_behavior(inferred)), value(best), 1e-6)
      # Parts of the change do not do.
      half <- setting$utility + matrix(tidy(inferred)$change, 5) / 2
      expect_gt(seen_regret(setting, actions, half), 1e-6)
    }
  })
})

test_that("what is optimal already does not move", {
  skip_if_not_installed("lpSolve")
  skip_if_not_installed("quadprog")
  with_seed(3, for (unit in c(1e-6, 1, 1e6)) {
    setting <- seen_setting(4, 3, utility = unit * matrix(stats::rnorm(12), 4))
    best <- plan_agent(setting, bounded_agent(flexibility = Inf), tolerance = 1e-9 * unit)
    for (norm in c(1, 2, Inf)) {
      inferred <- infer_perturbation(best, setting, norm)
      expect_identical(tidy(inferred)$change, numeric(12))
      expect_identical(tidy(inferred)$estimate, as.vector(setting$utility))
      expect_identical(glance(inferred)$objective, 0)
      expect_match(inferred$notes, "nothing has to change", all = FALSE)
    }
  })
})

test_that("the unit of the utility does not matter", {
  skip_if_not_installed("lpSolve")
  skip_if_not_installed("quadprog")
  with_seed(4, {
    setting <- seen_setting(4, 3)
    actions <- c(1, 2, 3, 3)
    for (norm in c(1, 2, Inf)) {
      plain <- infer_perturbation(always(actions, 3), setting, norm)
      expect_gt(plain$objective, 0)
      for (unit in c(1e-6, 1e6)) {
        other <- setting
        other$utility <- unit * setting$utility
        scaled <- infer_perturbation(always(actions, 3), other, norm)
        expect_equal(scaled$objective / unit, plain$objective, tolerance = 1e-7)
      }
    }
  })
})

test_that("a margin is kept", {
  skip_if_not_installed("lpSolve")
  skip_if_not_installed("quadprog")
  with_seed(5, for (norm in c(1, 2, Inf)) {
    setting <- seen_setting(4, 3)
    actions <- c(1, 2, 3, 3)
    inferred <- infer_perturbation(always(actions, 3), setting, norm, margin = 0.5)
    worth <- seen_action_value(setting, always(actions, 3), matrix(tidy(inferred)$estimate, 4))
    gap <- worth[cbind(1:4, actions)] - worth
    gap[cbind(1:4, actions)] <- Inf
    expect_equal(min(gap), 0.5, tolerance = 1e-7)
    expect_false(any(grepl("as good as", inferred$notes)))
  })
})

test_that("visits demonstrate by what they show most, and states that were not seen are free", {
  skip_if_not_installed("quadprog")
  with_seed(6, {
    setting <- seen_setting(4, 2)
    shown <- always(c(1, 2, 2, 1))
    # Nobody in the last state.
    shown[4, ] <- NA
    free <- infer_perturbation(shown, setting)
    utility <- matrix(tidy(free)$estimate, 4)
    regrets <- vapply(1:2, function(last) seen_regret(setting, c(1, 2, 2, last), utility), 0)
    expect_lt(min(regrets), 1e-8)
    expect_match(free$notes, "Nobody was seen in 1 state (s4)", fixed = TRUE, all = FALSE)
    expect_match(free$notes, "any action is allowed", all = FALSE)
    # As large as with the better of its actions held.
    held <- vapply(1:2, function(last) infer_perturbation(always(c(1, 2, 2, last), 2), setting)$objective, 0)
    expect_equal(free$objective, min(held))
    plan <- plan_agent(setting, bounded_agent(alpha = 0.2))
    visits <- simulate(plan, 200, seed = 1, horizon = 20)
    inferred <- infer_perturbation(visits, setting)
    expect_match(inferred$notes, "200 visits were left out because the state was not known", all = FALSE)
    expect_match(inferred$notes, "more than one action was seen", all = FALSE)
    expect_identical(glance(inferred)$visits, 3800L)
    # The choices that are made most are those of the best plan: nothing has to change.
    expect_identical(inferred$objective, 0)
  })
})

test_that("beliefs that are worth something by themselves stay so", {
  skip_if_not_installed("quadprog")
  with_seed(7, {
    setting <- seen_setting(3, 2)
    setting$belief_utility <- function(beliefs, action) rep(if (action == "u1") 2 else 0, nrow(beliefs))
    actions <- c(2, 2, 1)
    inferred <- infer_perturbation(always(actions), setting)
    total <- matrix(tidy(inferred)$estimate, 3) + cbind(rep(2, 3), 0)
    expect_lt(seen_regret(setting, actions, total), 1e-8)
    expect_equal(tidy(inferred)$change, tidy(inferred)$estimate - tidy(inferred)$default)
    best <- plan_agent(project_behavior(inferred)$setting, bounded_agent(flexibility = Inf))
    expect_close(value(project_behavior(inferred)), value(best), 1e-6)
  })
})

test_that("one action can always be explained", {
  skip_if_not_installed("quadprog")
  with_seed(8, expect_identical(infer_perturbation(matrix(1, 3, 1), seen_setting(3, 1))$objective, 0))
})

test_that("wrong arguments are named", {
  skip_if_not_installed("quadprog")
  with_seed(9, {
    setting <- seen_setting(3, 2)
    shown <- always(c(1, 2, 1))
    for (wrong in list(NULL, NA, "x", -1, 3, c(1, 2), list(), mean)) {
      expect_refused(infer_perturbation(shown, setting, norm = wrong), "norm")
    }
    for (wrong in list(NULL, NA, "x", -1, Inf, list(), mean)) {
      expect_refused(infer_perturbation(shown, setting, margin = wrong), "margin")
      expect_refused(infer_perturbation(shown, wrong), "setting")
      expect_refused(infer_perturbation(wrong, setting), "visits")
    }
    expect_refused(infer_perturbation(setting = setting), "visits")
    expect_refused(infer_perturbation(shown), "setting")
    expect_refused(infer_perturbation(matrix(0.5, 2, 3), diag_setting()), "setting", "the state is seen")
  })
})

test_that("where nobody was seen no margin is asked for", {
  for (package in c("lpSolve", "quadprog")) skip_if_not_installed(package)
  tried <- 0
  with_seed(12, for (i in 1:25) {
    setting <- seen_setting(3, 2)
    actions <- max.col(policy(plan_mdp(setting)))
    gap <- abs(seen_action_value(setting, always(actions, 2)) %*% c(1, -1))[, 1]
    open <- which.min(gap)
    if (gap[open] > 0.5 * min(gap[-open])) next
    tried <- tried + 1
    shown <- always(actions, 2)
    shown[open, ] <- NA
    # What is done keeps the margin wherever it was seen, and less elsewhere.
    for (norm in c(1, 2, Inf)) {
      expect_identical(infer_perturbation(shown, setting, norm, margin = 0.9 * min(gap[-open]))$objective, 0)
    }
  })
  expect_gt(tried, 3)
})

test_that("a programme that would take too long is refused at once, with the arithmetic", {
  for (package in c("lpSolve", "quadprog")) skip_if_not_installed(package)
  setting <- with_seed(1, sparse_markov(1000, 2))
  shown <- matrix(0.5, 1000, 2)
  for (norm in c(1, 2, Inf)) {
    took <- system.time(expect_refused(infer_perturbation(shown, setting, norm), "setting",
                                       "1,000 states and 2 actions"))
    expect_lt(took[["elapsed"]], 5)
  }
  expect_refused(infer_margin(shown, setting), "setting", "2,000 constraints on 2,000 unknowns")
  expect_refused(infer_experiments(list(shown), list(setting), limits = FALSE), "settings", "Join states")
})
