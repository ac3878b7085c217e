test_that("what was done is optimal under the answer, in random settings", {
  skip_if_not_installed("lpSolve")
  with_seed(1, for (i in 1:8) for (over in c("state", "state_action")) {
    setting <- seen_setting(5, 3, discount = c(0.5, 0.9)[1 + i %% 2], zeros = 0.3)
    truth <- plan_agent(setting, bounded_agent(flexibility = Inf))
    actions <- max.col(policy(truth))
    inferred <- infer_margin(truth, setting, over = over, penalty = 0.01 * (i %% 3))
    plan <- project_behavior(inferred)
    utility <- plan$setting$utility
    expect_lt(seen_regret(setting, actions, utility), 1e-8)
    expect_lte(max(abs(utility)), max(abs(setting$utility)) + 1e-9)
    expect_identical(unname(policy(inferred)), always(actions, 3))
    if (over == "state") expect_equal(unname(utility[, 1]), unname(utility[, 3]))
    expect_identical(nrow(tidy(inferred)), if (over == "state") 5L else 15L)
    expect_equal(tidy(inferred)$estimate, as.vector(utility)[seq_len(nrow(tidy(inferred)))])
  })
})

# The objective of a utility: the sum over states of the gap to the second best action, less the penalty.
margin_of <- function(setting, actions, utility, penalty, over) {
  worth <- seen_action_value(setting, always(actions, length(setting$actions)), utility)
  gap <- worth[cbind(seq_along(actions), actions)] - worth
  gap[cbind(seq_along(actions), actions)] <- Inf
  list(least = min(gap), sum = sum(apply(gap, 1, min)) -
         penalty * sum(abs(if (over == "state") utility[, 1] else utility)))
}

test_that("no other utility within the bound has a larger margin", {
  skip_if_not_installed("lpSolve")
  with_seed(2, for (over in c("state", "state_action")) for (penalty in c(0, 0.1)) {
    setting <- seen_setting(2, 2)
    actions <- c(1, 2)
    # Of a fine grid; two states need but the difference, by scale and sign.
    inferred <- infer_margin(always(actions), setting, bound = 2, penalty = penalty, over = over)
    side <- seq(-2, 2, length.out = if (over == "state") 81 else 5)
    all <- as.matrix(expand.grid(rep(list(side), if (over == "state") 2 else 4)))
    scores <- apply(all, 1, function(x) {
      utility <- matrix(x, 2, 2)
      score <- margin_of(setting, actions, utility, penalty, over)
      if (score$least < -1e-9) -Inf else score$sum
    })
    own <- margin_of(setting, actions, project_behavior(inferred)$setting$utility, penalty, over)
    expect_equal(own$sum, inferred$objective, tolerance = 1e-7)
    expect_gte(inferred$objective, max(scores) - 1e-9)
    # The corners of the box are on the grid, and without a penalty one of them is best.
    if (penalty == 0) expect_equal(inferred$objective, max(scores), tolerance = 1e-6)
  })
})

test_that("the answer scales with the bound, and not with the setting's utility", {
  skip_if_not_installed("lpSolve")
  with_seed(3, {
    setting <- seen_setting(4, 3)
    shown <- plan_agent(setting, bounded_agent(flexibility = Inf))
    one <- infer_margin(shown, setting, bound = 1, over = "state_action", penalty = 0.05)
    for (unit in c(1e-6, 1e6)) {
      scaled <- infer_margin(shown, setting, bound = unit, over = "state_action", penalty = 0.05)
      expect_equal(scaled$objective / unit, one$objective, tolerance = 1e-8)
      expect_equal(tidy(scaled)$estimate / unit, tidy(one)$estimate, tolerance = 1e-8)
      other <- setting
      other$utility <- unit * setting$utility
      expect_equal(infer_margin(shown, other)$details$bound, unit * max(abs(setting$utility)))
    }
  })
})

test_that("a penalty makes utilities smaller, and in the end all 0", {
  skip_if_not_installed("lpSolve")
  with_seed(4, {
    setting <- seen_setting(4, 3)
    shown <- plan_agent(setting, bounded_agent(flexibility = Inf))
    sizes <- vapply(c(0.001, 0.3, 1, 100), function(penalty) {
      sum(abs(tidy(infer_margin(shown, setting, penalty = penalty, over = "state_action"))$estimate))
    }, 0)
    # A penalty may change nothing: then sizes are the same but for rounding.
    expect_false(is.unsorted(rev(round(sizes, 7))))
    expect_identical(sizes[4], 0)
    expect_match(infer_margin(shown, setting, penalty = 100)$notes, "no margin is worth its penalty", all = FALSE)
  })
})

test_that("answers that say nothing say so", {
  skip_if_not_installed("lpSolve")
  with_seed(5, {
    # With no future, what a state is worth is worth it for every action.
    now <- seen_setting(3, 2, discount = 0)
    blind <- infer_margin(always(c(1, 2, 1)), now)
    expect_identical(tidy(blind)$estimate, numeric(3))
    expect_match(blind$notes, "0 throughout, under which anything is optimal", all = FALSE)
    expect_identical(unname(policy(blind)), always(c(1, 2, 1)))
    # But not what an action is worth.
    sighted <- infer_margin(always(c(1, 2, 1)), now, over = "state_action", bound = 1)
    expect_equal(sighted$objective, 6)
    alone <- infer_margin(matrix(1, 3, 1), seen_setting(3, 1))
    expect_identical(tidy(alone)$estimate, numeric(3))
  })
})

test_that("visits, missing states and ties are told of", {
  skip_if_not_installed("lpSolve")
  with_seed(6, {
    setting <- seen_setting(4, 2)
    plan <- plan_agent(setting, bounded_agent(alpha = 0.3))
    visits <- simulate(plan, 100, seed = 1, horizon = 10)
    inferred <- infer_margin(visits, setting, over = "state_action")
    expect_match(inferred$notes, "100 visits were left out", all = FALSE)
    expect_identical(unname(policy(inferred)), always(max.col(policy(plan)), 2))
    partly <- always(c(1, 2, 1, 1), 2)
    partly[3:4, ] <- NA
    free <- infer_margin(partly, setting, over = "state_action", bound = 1)
    expect_match(free$notes, "any action is allowed", all = FALSE)
    plan <- project_behavior(free)
    regrets <- apply(expand.grid(1, 2, 1:2, 1:2), 1, function(a) seen_regret(setting, a, plan$setting$utility))
    expect_lt(min(regrets), 1e-8)
    best <- plan_agent(plan$setting, bounded_agent(flexibility = Inf))
    expect_close(value(plan), value(best), 1e-6)
  })
})

test_that("wrong arguments are named", {
  skip_if_not_installed("lpSolve")
  with_seed(7, {
    setting <- seen_setting(3, 2)
    shown <- always(c(1, 2, 1))
    for (wrong in list(NA, "x", -1, Inf, list(), mean)) {
      expect_refused(infer_margin(shown, setting, bound = wrong), "bound")
      expect_refused(infer_margin(shown, setting, penalty = wrong), "penalty")
      expect_refused(infer_margin(shown, setting, over = wrong), "over")
      expect_refused(infer_margin(shown, wrong), "setting")
      expect_refused(infer_margin(wrong, setting), "visits")
    }
    expect_refused(infer_margin(setting = setting), "visits")
    expect_refused(infer_margin(shown), "setting")
    expect_refused(infer_margin(matrix(0.5, 2, 3), diag_setting()), "setting", "the state is seen")
  })
})

test_that("many states are solved, with equal corners in plenty", {
  skip_if_not_installed("lpSolve")
  with_seed(99, for (over in c("state", "state_action")) for (penalty in c(0, 0.5)) {
    setting <- seen_setting(30, 3)
    best <- max.col(policy(plan_agent(setting, bounded_agent(flexibility = Inf), tolerance = 1e-6)))
    inferred <- infer_margin(always(best, 3), setting, over = over, penalty = penalty)
    expect_lt(seen_regret(setting, best, project_behavior(inferred)$setting$utility), 1e-5)
    expect_gte(inferred$objective, 0)
  })
})

test_that("a state in which nobody was seen adds nothing to the margin: by all corners of the box", {
  skip_if_not_installed("lpSolve")
  corners <- as.matrix(expand.grid(rep(list(c(-1, 0, 1)), 3)))
  better <- 0
  with_seed(13, for (i in 1:12) {
    setting <- seen_setting(3, 2)
    shown <- rbind(c(1, 0), NA, c(0, 1))
    # The sum of gaps of the states that were seen, where what is done there is optimal.
    margin <- function(worth) {
      setting$utility[] <- worth
      best <- plan_mdp(setting)
      worth <- seen_action_value(setting, unname(policy(best)))
      gap <- c(worth[1, 1] - worth[1, 2], worth[3, 2] - worth[3, 1])
      if (min(gap) < -1e-8) -Inf else sum(gap)
    }
    inferred <- infer_margin(shown, setting, bound = 1)
    expect_equal(inferred$objective, max(0, margin(tidy(inferred)$estimate)), tolerance = 1e-6)
    expect_gte(inferred$objective, max(apply(corners, 1, margin)) - 1e-7)
    better <- better + (inferred$objective > 0)
  })
  expect_gt(better, 5)
})
