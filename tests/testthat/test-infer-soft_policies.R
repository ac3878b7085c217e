# Soft improvements of a policy in order, straight from their definition.
improvements <- function(setting, first, n, alpha) {
  out <- list(first)
  markov <- as_markov(setting)
  for (k in seq_len(n - 1)) {
    value <- markov_value(markov, out[[k]], markov$utility - alpha * log(out[[k]]))
    worth <- twin_action_value(setting, value) / alpha
    weight <- exp(worth - apply(worth, 1, max))
    out[[k + 1]] <- weight / rowSums(weight)
  }
  out
}

# By how much a utility differs from the setting's, shaping aside.
beyond_shaping <- function(inferred, setting) {
  wrong <- matrix(tidy(inferred)$estimate, length(setting$states)) - unname(setting$utility)
  max(abs(without_shaping(wrong, shaping_matrix(as_markov(setting)))))
}

test_that("exact policies give the utility up to shaping, and where learning leads", {
  with_seed(1, for (discount in c(0, 0.6, 0.95)) for (n in 2:4) {
    setting <- random_markov(5, 3, discount)
    inferred <- infer_soft_policies(improvements(setting, random_rows(5, 3), n, 0.7), setting, alpha = 0.7)
    expect_lt(beyond_shaping(inferred, setting), 1e-9)
    led <- markov_soft(as_markov(setting), 0.7)$policy
    expect_lt(max(abs(policy(inferred) - led)), 1e-7)
    expect_identical(glance(inferred)$batches, n)
    if (n == 2) expect_identical(glance(inferred)$misfit, NA_real_) else expect_lt(glance(inferred)$misfit, 1e-9)
    expect_match(inferred$notes, "up to shaping", all = FALSE)
  })
})

test_that("the answer is counted in alpha, and its smallest has no shaping", {
  with_seed(2, {
    setting <- random_markov(4, 2, 0.8)
    shown <- improvements(setting, random_rows(4, 2), 3, 1)
    one <- infer_soft_policies(shown, setting)
    for (unit in c(1e-6, 1e6)) {
      other <- infer_soft_policies(shown, setting, alpha = unit)
      expect_equal(tidy(other)$estimate / unit, tidy(one)$estimate, tolerance = 1e-9)
      expect_equal(policy(other), policy(one), tolerance = 1e-8)
    }
    utility <- matrix(tidy(one)$estimate, 4)
    expect_equal(without_shaping(utility, shaping_matrix(as_markov(setting))), utility, tolerance = 1e-9)
  })
})

test_that("visits of successive policies give about the same", {
  with_seed(3, {
    setting <- random_markov(3, 2, 0.6)
    setting$start[] <- c(1, 0, 0)
    shown <- improvements(setting, random_rows(3, 2), 3, 1)
    plans <- lapply(shown, function(policy) plan_with_policy(observed_problem(setting), "rule", policy))
    visits <- Map(function(plan, seed) simulate(plan, nsim = 600, horizon = 15, seed = seed), plans, 1:3)
    inferred <- infer_soft_policies(visits, setting)
    size <- max(abs(without_shaping(unname(setting$utility), shaping_matrix(as_markov(setting)))))
    expect_lt(beyond_shaping(inferred, setting), 0.2 * size)
    expect_lt(glance(inferred)$misfit, 0.3)
    expect_identical(inferred$details$n_trajectories, rep(600L, 3))
    few <- infer_soft_policies(lapply(visits, function(one) one[one$id %in% unique(one$id)[1:5], ]), setting)
    expect_true(all(is.finite(tidy(few)$estimate)))
  })
})

test_that("states in which nobody was seen are said, and answered", {
  with_seed(4, {
    setting <- random_markov(4, 2, 0.7)
    shown <- improvements(setting, random_rows(4, 2), 3, 1)
    shown[[2]][4, ] <- NA
    inferred <- infer_soft_policies(shown, setting)
    expect_true(all(is.finite(tidy(inferred)$estimate)))
    expect_match(inferred$notes, "1 state (s4) nobody was seen", fixed = TRUE, all = FALSE)
    shown <- lapply(shown, function(policy) replace(policy, cbind(4, 1:2), NA))
    expect_true(all(is.finite(tidy(infer_soft_policies(shown, setting))$estimate)))
    expect_output(print(inferred), "up to shaping")
  })
})

test_that("groups that start differently are answered", {
  with_seed(7, {
    setting <- random_markov(3, 2, 0.8)
    setting <- decision_setting(setting$states, setting$actions, setting$observations, setting$transition, "identity",
                                setting$utility, discount = 0.8, start_by = "age",
                                start = rbind(old = c(1, 0, 0), young = c(0, 1, 0)))
    inferred <- infer_soft_policies(improvements(setting, random_rows(3, 2), 3, 1), setting)
    expect_lt(beyond_shaping(inferred, setting), 1e-9)
    visits <- lapply(1:2, function(seed) simulate(plan_agent(setting, bounded_agent()), 30, horizon = 8, seed = seed))
    seen <- infer_soft_policies(visits, setting)
    expect_true(all(is.finite(tidy(seen)$estimate)))
    expect_identical(seen$details$left_out, c(0L, 0L))
  })
})

test_that("bad arguments are refused, and named", {
  setting <- with_seed(5, random_markov(3, 2))
  shown <- with_seed(6, list(random_rows(3, 2), random_rows(3, 2)))
  refused <- function(code, argument) expect_error(code, argument, class = "ibrc_error_input")
  refused(infer_soft_policies(), "visits")
  refused(infer_soft_policies(shown), "setting")
  for (bad in list(NULL, NA, "x", shown[[1]], shown[1], list(), list(1, 2), list("x", "y"), list(NULL, NULL), mean)) {
    refused(infer_soft_policies(bad, setting), "visits")
  }
  refused(infer_soft_policies(list(shown[[1]], always(c(1, 2, 1))), setting), "never taken")
  for (bad in list(NULL, NA, "x", list(), mean, 1)) refused(infer_soft_policies(shown, bad), "setting")
  for (bad in list(NULL, NA, "x", -1, 0, Inf, 1:2, list(), mean, 1e308, 1e-300)) {
    refused(infer_soft_policies(shown, setting, alpha = bad), "`alpha`")
  }
  for (bad in list(NULL, NA, "x", -1, Inf, 1:2, list(), mean)) {
    refused(infer_soft_policies(shown, setting, smoothing = bad), "smoothing")
  }
  refused(infer_soft_policies(shown, diag_setting()), "state is seen")
})
