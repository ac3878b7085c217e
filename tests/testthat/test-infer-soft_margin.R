# The objective, straight from its definition: a soft agent's value less that of what was demonstrated.
margin_twin <- function(utility, setting, policy, alpha, penalty) {
  markov <- as_markov(setting)
  utility <- matrix(utility, markov$n_states)
  sum(markov$start * (markov_soft(markov, alpha, utility = utility)$value - markov_value(markov, policy, utility))) +
    penalty * sum(utility^2) / (2 * alpha * (1 - markov$discount))
}

slope_twin <- function(f, at, step = 1e-5) {
  vapply(seq_along(at), function(k) {
    by <- step * (seq_along(at) == k)
    (f(at + by) - f(at - by)) / (2 * step)
  }, 0)
}

test_that("the gradient is the difference of occupancies and that of the penalty, by finite differences", {
  with_seed(1, for (discount in c(0, 0.6, 0.95)) for (penalty in c(0, 0.3)) {
    setting <- random_markov(3, 3, discount)
    policy <- random_rows(3, 3)
    markov <- as_markov(setting)
    shares <- list(occupancy = markov_occupancy(markov, policy), markov = markov)
    alpha <- 0.6
    utility <- matrix(stats::rnorm(9), 3)
    at <- soft_margin_at(utility / alpha, shares, penalty)
    expect_equal(alpha * at$value, margin_twin(utility, setting, policy, alpha, penalty), tolerance = 1e-10)
    imitated <- markov_occupancy(markov, markov_soft(markov, alpha, utility = utility)$policy)
    gradient <- (imitated - shares$occupancy) / (1 - discount) + penalty * utility / (alpha * (1 - discount))
    expect_equal(at$gradient, gradient, tolerance = 1e-9)
    seen <- slope_twin(function(v) margin_twin(v, setting, policy, alpha, penalty), as.vector(utility))
    expect_lt(max(abs(as.vector(gradient) - seen)), 1e-6 * max(1, abs(seen)))
  })
})

test_that("without a penalty occupancies are matched, and the smallest utility is the limit of small penalties", {
  with_seed(2, for (discount in c(0, 0.5, 0.9)) {
    setting <- random_markov(4, 3, discount)
    shown <- random_rows(4, 3)
    inferred <- infer_soft_margin(shown, setting, alpha = 0.5)
    expect_lt(max(abs(policy(inferred) - shown)), 1e-10)
    expect_lt(glance(inferred)$gap, 1e-12)
    expect_lt(glance(inferred)$gradient, 1e-12)
    near <- infer_soft_margin(shown, setting, alpha = 0.5, penalty = 1e-7)
    expect_equal(tidy(near)$estimate, tidy(inferred)$estimate, tolerance = 1e-3)
    # Another utility that was wanted is recovered but for shaping.
    truth <- plan_agent(setting, bounded_agent(alpha = 0.5), tolerance = 1e-10)
    again <- infer_soft_margin(truth, setting, alpha = 0.5)
    expect_equal(matrix(tidy(again)$estimate, 4),
                 without_shaping(unname(setting$utility), shaping_matrix(as_markov(setting))), tolerance = 1e-7)
  })
})

test_that("with a penalty no other utility has a lower objective", {
  with_seed(3, {
    setting <- random_markov(4, 2, 0.8)
    shown <- random_rows(4, 2)
    inferred <- infer_soft_margin(shown, setting, alpha = 2, penalty = 0.2)
    expect_lt(glance(inferred)$gradient, 1e-10)
    best <- margin_twin(tidy(inferred)$estimate, setting, shown, 2, 0.2)
    expect_equal(glance(inferred)$objective, best, tolerance = 1e-9)
    for (i in 1:20) {
      other <- tidy(inferred)$estimate + stats::rnorm(8, sd = 10^-stats::runif(1, 0, 3))
      expect_gt(margin_twin(other, setting, shown, 2, 0.2), best)
    }
    # What is left between occupancies is the utility, at the price of the penalty.
    imitated <- markov_occupancy(as_markov(setting), unname(policy(inferred)))
    expect_equal(tidy(inferred)$estimate,
                 as.vector(markov_occupancy(as_markov(setting), shown) - imitated) * 2 / 0.2, tolerance = 1e-8)
  })
})

test_that("behaviour does not depend on the unit of the utility", {
  with_seed(4, {
    setting <- random_markov(3, 2, 0.9)
    shown <- random_rows(3, 2)
    for (penalty in c(0, 0.1)) {
      one <- infer_soft_margin(shown, setting, penalty = penalty)
      for (unit in c(1e-6, 1e6)) {
        other <- infer_soft_margin(shown, setting, alpha = unit, penalty = penalty)
        expect_equal(policy(other), policy(one), tolerance = 1e-10)
        expect_equal(tidy(other)$estimate, unit * tidy(one)$estimate, tolerance = 1e-10)
        expect_equal(glance(other)$objective, unit * glance(one)$objective, tolerance = 1e-10)
      }
    }
  })
})

test_that("deterministic behaviour, states without visits and discounts of 0 are answered, and said", {
  with_seed(5, {
    setting <- random_markov(4, 3, 0.9)
    shown <- rbind(c(1, 0, 0), c(0, 0, 1), c(0.5, 0.5, 0), NA)
    inferred <- infer_soft_margin(shown, setting)
    expect_lt(max(abs(policy(inferred)[1:3, ] - shown[1:3, ])), 1e-8)
    expect_identical(sum(tidy(inferred)$bound), 5L)
    expect_match(paste(inferred$notes, collapse = " "), "5 actions were never taken", fixed = TRUE)
    expect_match(paste(inferred$notes, collapse = " "), "Nobody was seen in 1 state (s4)", fixed = TRUE)
    soft <- infer_soft_margin(shown, setting, penalty = 0.01)
    expect_true(all(is.finite(tidy(soft)$estimate)))
    expect_false(any(tidy(soft)$bound))
    expect_output(print(soft), "Regularised maximum margin")
  })
})

test_that("occupancies are counted from visits, with a penalty", {
  with_seed(6, {
    setting <- random_markov(4, 2, 0.8)
    setting$start[] <- c(1, 0, 0, 0)
    visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.5)), nsim = 30, horizon = 6, seed = 1)
    expect_error(infer_soft_margin(visits, setting, occupancies = "visits"), "penalty", class = "ibrc_error_input")
    inferred <- infer_soft_margin(visits, setting, penalty = 0.05, occupancies = "visits")
    expect_lt(glance(inferred)$gradient, 1e-10)
    expect_identical(glance(inferred)$visits, 180L)
    expect_length(predict(inferred, visits)[[1]], 180)
    setting$discount <- 0
    first <- infer_soft_margin(visits, setting, penalty = 0.05, occupancies = "visits")
    expect_lt(glance(first)$gradient, 1e-10)
  })
})

test_that("wrong arguments are refused", {
  setting <- random_markov(2, 2)
  shown <- matrix(0.5, 2, 2)
  expect_error(infer_soft_margin(shown), class = "ibrc_error_input")
  expect_error(infer_soft_margin("x", setting), "visits", class = "ibrc_error_input")
  expect_error(infer_soft_margin(shown, diag_setting()), "state is seen", class = "ibrc_error_input")
  for (bad in c(0, 1e308, 1e-300)) {
    expect_error(infer_soft_margin(shown, setting, alpha = bad, penalty = 0.01), "`alpha`", class = "ibrc_error_input")
  }
  expect_error(infer_soft_margin(shown, setting, penalty = -1), "penalty", class = "ibrc_error_input")
  expect_error(infer_soft_margin(shown, setting, penalty = NA), "penalty", class = "ibrc_error_input")
  expect_error(infer_soft_margin(shown, setting, regulariser = "x"), "regulariser", class = "ibrc_error_input")
  expect_error(infer_soft_margin(shown, setting, occupancies = "x"), "occupancies", class = "ibrc_error_input")
  expect_error(infer_soft_margin(shown, setting, occupancies = "visits"), "occupancies", class = "ibrc_error_input")
})

test_that("however small the penalty, the utility is the one with the least of it", {
  with_seed(31, {
    setting <- random_markov(4, 3, 0.9)
    shown <- random_rows(4, 3)
    least <- sum(tidy(infer_soft_margin(shown, setting))$estimate^2)
    for (penalty in c(1e-10, 1e-16, 1e-20, 1e-300)) {
      inferred <- infer_soft_margin(shown, setting, penalty = penalty)
      expect_equal(sum(tidy(inferred)$estimate^2), least, tolerance = 1e-6)
      expect_equal(unname(policy(inferred)), shown, tolerance = 1e-6)
    }
  })
})
