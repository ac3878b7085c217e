# Environments that share states, actions and what is wanted, with the best that can be done in each.
random_experiments <- function(n, n_states = 4, n_actions = 2) {
  utility <- matrix(stats::rnorm(n_states * n_actions), n_states)
  settings <- lapply(seq_len(n), function(i) {
    seen_setting(n_states, n_actions, discount = stats::runif(1, 0.3, 0.95), utility = utility)
  })
  list(settings = settings, shown = lapply(settings, plan_agent, agent = bounded_agent(flexibility = Inf)))
}

test_that("what was done is optimal in every environment, and limits never widen with another", {
  skip_if_not_installed("lpSolve")
  with_seed(1, for (i in 1:3) {
    made <- random_experiments(4)
    widths <- lapply(1:4, function(k) {
      inferred <- infer_experiments(made$shown[seq_len(k)], made$settings[seq_len(k)], bound = 1, over = "state_action")
      estimates <- tidy(inferred)
      for (e in seq_len(k)) {
        actions <- max.col(policy(made$shown[[e]]))
        expect_lt(seen_regret(made$settings[[e]], actions, matrix(estimates$estimate, 4)), 1e-8)
        expect_identical(unname(policy(inferred, setting = e)), always(actions, 2))
      }
      expect_lt(abs(sum(estimates$estimate)), 1e-8)
      expect_true(all(estimates$lower <= estimates$estimate + 1e-8 & estimates$estimate <= estimates$upper + 1e-8))
      expect_true(all(estimates$lower <= 0 & estimates$upper >= 0 & abs(c(estimates$lower, estimates$upper)) <= 1))
      # The truth, brought to the same scale, lies within.
      truth <- made$settings[[1]]$utility - mean(made$settings[[1]]$utility)
      truth <- as.vector(truth) / max(abs(truth))
      expect_true(all(estimates$lower <= truth + 1e-8 & truth <= estimates$upper + 1e-8))
      estimates$upper - estimates$lower
    })
    for (k in 2:4) expect_true(all(widths[[k]] <= widths[[k - 1]] + 1e-7))
    expect_lt(sum(widths[[4]]), sum(widths[[1]]) - 0.01)
  })
})

test_that("one environment gives the largest margin of that one", {
  skip_if_not_installed("lpSolve")
  with_seed(2, {
    made <- random_experiments(1)
    for (over in c("state", "state_action")) {
      many <- infer_experiments(made$shown, made$settings, bound = 1, over = over, limits = FALSE)
      one <- infer_margin(made$shown[[1]], made$settings[[1]], bound = 1, over = over)
      # Centred utilities within the bound have at most the margin of any.
      expect_lte(many$objective, one$objective + 1e-8)
      expect_gte(many$objective, one$objective / 2 - 1e-8)
      expect_null(tidy(many)$lower)
    }
    # A bound so much larger that centring does not bind gives as much.
    expect_gte(infer_experiments(made$shown, made$settings, bound = 2, limits = FALSE)$objective,
               infer_margin(made$shown[[1]], made$settings[[1]], bound = 1)$objective - 1e-8)
  })
})

test_that("the unit does not matter", {
  skip_if_not_installed("lpSolve")
  with_seed(3, {
    made <- random_experiments(2)
    plain <- infer_experiments(made$shown, made$settings, bound = 1)
    for (unit in c(1e-6, 1e6)) {
      settings <- lapply(made$settings, function(setting) {
        setting$utility <- unit * setting$utility
        setting
      })
      scaled <- infer_experiments(made$shown, settings, bound = unit)
      expect_equal(scaled$objective / unit, plain$objective, tolerance = 1e-8)
      expect_equal(tidy(scaled)$upper / unit, tidy(plain)$upper, tolerance = 1e-7)
    }
  })
})

test_that("behaviour that nothing explains in all environments gives 0, and says so", {
  skip_if_not_installed("lpSolve")
  with_seed(4, {
    setting <- seen_setting(2, 2)
    # The opposite is done in the same environment.
    odd <- infer_experiments(list(always(c(1, 2)), always(c(2, 1))), list(setting, setting), over = "state_action")
    expect_identical(tidy(odd)$estimate, numeric(4))
    expect_match(odd$notes, "every one of the settings", all = FALSE)
    dear <- infer_experiments(list(always(c(1, 2))), list(setting), penalty = 1e3)
    expect_match(dear$notes, "no margin is worth its penalty", all = FALSE)
  })
})

test_that("visits of several environments are read each in its own, and plans have their names", {
  skip_if_not_installed("lpSolve")
  with_seed(5, {
    made <- random_experiments(2)
    settings <- stats::setNames(made$settings, c("home", "ward"))
    visits <- lapply(1:2, function(i) {
      simulate(plan_agent(settings[[i]], bounded_agent(alpha = 0.01)), 30, seed = i, horizon = 10)
    })
    inferred <- infer_experiments(visits, settings, over = "state_action")
    expect_named(project_behavior(inferred), c("home", "ward"))
    expect_identical(glance(inferred)$left_out, 60L)
    expect_match(inferred$notes, "30 visits of setting ward were left out", all = FALSE)
    expect_true(all(is.finite(log_lik(inferred, simulate(inferred, 3, seed = 1, setting = "home"), setting = "home"))))
  })
})

test_that("wrong arguments are named", {
  skip_if_not_installed("lpSolve")
  with_seed(6, {
    setting <- seen_setting(3, 2)
    shown <- list(always(c(1, 2, 1)))
    for (wrong in list(NULL, NA, "x", -1, list(), mean, list(1), setting, list(setting, diag_setting()))) {
      expect_refused(infer_experiments(shown, wrong), "settings")
    }
    for (wrong in list(NULL, NA, "x", list(), mean, shown[[1]], c(shown, shown),
                       simulate(plan_agent(setting, bounded_agent(1)), 1))) {
      expect_refused(infer_experiments(wrong, list(setting)), "visits")
    }
    expect_error(infer_experiments(list(1), list(setting)), class = "ibrc_error_input")
    for (wrong in list(NA, "x", -1, Inf, list(), mean)) {
      expect_refused(infer_experiments(shown, list(setting), bound = wrong), "bound")
      expect_refused(infer_experiments(shown, list(setting), penalty = wrong), "penalty")
      expect_refused(infer_experiments(shown, list(setting), over = wrong), "over")
      expect_refused(infer_experiments(shown, list(setting), limits = wrong), "limits")
    }
    expect_refused(infer_experiments(shown, list(setting, seen_setting(4, 2))), "settings", "same states")
    expect_refused(infer_experiments(settings = list(setting)), "visits")
    expect_refused(infer_experiments(shown), "settings")
  })
})

test_that("limits of too many entries are refused before any work", {
  skip_if_not_installed("lpSolve")
  setting <- with_seed(20, seen_setting(80, 2, 0.5))
  shown <- always(rep(1:2, 40), 2)
  expect_error(infer_experiments(list(shown), list(setting), over = "state_action"), "limits",
               class = "ibrc_error_input")
})

test_that("many states in several environments are solved", {
  skip_if_not_installed("lpSolve")
  with_seed(40, {
    utility <- matrix(stats::rnorm(75), 25)
    settings <- list(seen_setting(25, 3, 0.9, 0, utility = utility), seen_setting(25, 3, 0.9, 0.6, utility = utility))
    best <- lapply(settings, function(setting) {
      max.col(policy(plan_agent(setting, bounded_agent(flexibility = Inf), tolerance = 1e-6)))
    })
    for (penalty in c(0, 0.1)) {
      inferred <- infer_experiments(lapply(best, always, 3), settings, over = "state_action", penalty = penalty,
                                    limits = FALSE)
      expect_gt(inferred$objective, 0)
      for (i in 1:2) {
        expect_lt(seen_regret(settings[[i]], best[[i]], matrix(tidy(inferred)$estimate, 25)), 1e-5)
      }
    }
  })
})

test_that("limits are those of every way to act where nobody was seen", {
  skip_if_not_installed("lpSolve")
  with_seed(14, for (i in 1:3) {
    setting <- seen_setting(4, 2)
    shown <- rbind(c(1, 0), NA, c(0, 1), NA)
    limits <- tidy(infer_experiments(list(shown), list(setting), bound = 1))
    ways <- lapply(1:4, function(way) {
      shown[c(2, 4), ] <- always(c((way - 1) %/% 2, (way - 1) %% 2) + 1, 2)
      tidy(infer_experiments(list(shown), list(setting), bound = 1))
    })
    expect_equal(limits$lower, do.call(pmin, lapply(ways, `[[`, "lower")), tolerance = 1e-7)
    expect_equal(limits$upper, do.call(pmax, lapply(ways, `[[`, "upper")), tolerance = 1e-7)
    # Any utility that explains what was done lies within: signs that are called known are.
    found <- 0
    for (draw in 1:150) {
      worth <- stats::runif(4, -1, 1)
      worth <- worth - mean(worth)
      worth <- worth / max(abs(worth))
      setting$utility[] <- worth
      best <- unname(policy(plan_mdp(setting)))
      if (best[1, 1] == 0 || best[3, 2] == 0) next
      found <- found + 1
      expect_true(all(worth >= limits$lower - 1e-7 & worth <= limits$upper + 1e-7))
    }
    expect_gt(found, 5)
    # With another environment, in which others were not seen, they come closer.
    other <- seen_setting(4, 2)
    both <- tidy(infer_experiments(list(shown, rbind(c(1, 0), c(0, 1), NA, NA)), list(setting, other), bound = 1))
    expect_true(all(both$lower >= limits$lower - 1e-7 & both$upper <= limits$upper + 1e-7))
  })
})

test_that("limits are not known, and said to be so, where ways to act are too many", {
  skip_if_not_installed("lpSolve")
  setting <- with_seed(15, seen_setting(9, 2))
  shown <- always(rep(1:2, length.out = 9), 2)
  shown[1:7, ] <- NA
  inferred <- infer_experiments(list(shown), list(setting), bound = 1)
  expect_true(all(is.na(tidy(inferred)[c("lower", "upper")])))
  expect_match(inferred$notes, "Limits are not known", all = FALSE)
  expect_no_match(infer_experiments(list(shown), list(setting), limits = FALSE)$notes, "Limits are not known")
})
