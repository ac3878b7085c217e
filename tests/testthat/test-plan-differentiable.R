# Derivatives take each probability as free: rows need not sum to 1.
twin_objective <- function(numbers, weights, slope, steps) {
  path <- twin_unroll(numbers$transition, numbers$utility, numbers$discount, numbers$alpha, steps)
  last <- path[[steps]]
  sum(weights * log(last$policy)) + sum(slope * last$value)
}

numbers_of <- function(setting, alpha) {
  list(utility = unname(setting$utility), transition = unname(setting$transition), discount = setting$discount,
       alpha = alpha)
}

# By Richardson's extrapolation of central differences.
difference <- function(f, part, at, numbers, width = 1e-3) {
  central <- function(h) {
    side <- function(by) {
      numbers[[part]][at] <- numbers[[part]][at] + by
      f(numbers)
    }
    (side(h) - side(-h)) / (2 * h)
  }
  (4 * central(width / 2) - central(width)) / 3
}

differences <- function(f, numbers) {
  lapply(stats::setNames(nm = names(numbers)), function(part) {
    vapply(seq_along(numbers[[part]]), function(at) difference(f, part, at, numbers), 0)
  })
}

worst_gap <- function(found, wanted) {
  max(vapply(names(wanted), function(part) {
    max(abs(as.vector(found[[part]]) - wanted[[part]])) / max(abs(wanted[[part]]), 1e-3)
  }, 0))
}

test_that("values and derivatives are the twin's", {
  with_seed(1, for (steps in c(1, 2, 7, 50)) {
    setting <- random_markov(5, 3, 0.9)
    alpha <- stats::runif(1, 0.2, 2)
    plan <- plan_differentiable(setting, alpha, steps)
    path <- twin_unroll(setting$transition, unname(setting$utility), 0.9, alpha, steps)
    expect_close(value(plan), path[[steps]]$value, 1e-10)
    expect_close(action_value(plan), path[[steps]]$action_value, 1e-10)
    expect_close(policy(plan), path[[steps]]$policy, 1e-10)
    weights <- matrix(stats::rnorm(15), 5)
    slope <- stats::rnorm(5)
    twin <- function(weights, slope) {
      twin_unroll_gradient(unname(setting$transition), unname(setting$utility), 0.9, alpha, steps, weights, slope)
    }
    of_policy <- twin(weights, numeric(5))
    of_value <- twin(0 * weights, slope)
    for (part in names(of_policy)) {
      expect_close(unname(plan_gradient(plan, weights)[[part]]), of_policy[[part]], 1e-10)
      expect_close(unname(plan_gradient(plan, slope, of = "value")[[part]]), of_value[[part]], 1e-10)
    }
  })
})

test_that("derivatives are differences", {
  with_seed(2, for (discount in c(0, 0.5, 0.9)) {
    setting <- random_markov(4, 3, discount, zeros = 0)
    alpha <- stats::runif(1, 0.5, 2)
    steps <- 8
    numbers <- numbers_of(setting, alpha)
    plan <- plan_differentiable(setting, alpha, steps)
    weights <- matrix(stats::rpois(12, 5), 4)
    wanted <- differences(function(x) twin_objective(x, weights, numeric(4), steps), numbers)
    expect_lte(worst_gap(plan_gradient(plan, weights), wanted), 1e-6)
    wanted <- differences(function(x) twin_objective(x, 0 * weights, setting$start, steps), numbers)
    expect_lte(worst_gap(plan_gradient(plan, of = "value"), wanted), 1e-6)
    expect_close(plan_gradient(plan, of = "value")$objective, sum(setting$start * value(plan)), 1e-12)
    expect_close(plan_gradient(plan, weights)$objective, sum(weights * log(policy(plan))), 1e-10)
  })
})

test_that("with many steps it is soft value iteration, and the gradient that of the fixed point", {
  with_seed(3, for (discount in c(0, 0.7, 0.95)) {
    setting <- random_markov(6, 3, discount)
    alpha <- 0.4
    soft <- markov_soft(as_markov(setting), alpha)
    plan <- plan_differentiable(setting, alpha, steps = 1000)
    expect_close(value(plan), soft$value, 1e-9)
    expect_close(policy(plan), soft$policy, 1e-9)
    agent <- plan_agent(setting, bounded_agent(alpha = alpha))
    expect_close(value(plan), value(agent), 1e-7)
    expect_lte(glance(plan)$bound, 1e-9)
    # Of the value at the start, the derivative by utilities is how often they are met.
    share <- markov_occupancy(as_markov(setting), soft$policy) / (1 - discount)
    expect_close(unname(plan_gradient(plan, of = "value")$utility), unname(share), 1e-8)
  })
})

test_that("a bound holds, and shrinks with the steps", {
  with_seed(4, {
    setting <- random_markov(5, 3, 0.9)
    exact <- markov_soft(as_markov(setting), 0.5)$value
    for (steps in c(1, 5, 30)) {
      plan <- plan_differentiable(setting, 0.5, steps)
      expect_lte(max(abs(value(plan) - exact)), glance(plan)$bound + 1e-12)
    }
  })
})

test_that("a setting by rows is planned and differentiated without a number for each pair of states", {
  with_seed(5, {
    setting <- sparse_markov(40, 3, 4)
    dense <- setting
    dense$transition <- array_of_rows(setting$transition, setting$states, setting$actions)
    plan <- plan_differentiable(setting, 0.5, 30)
    same <- plan_differentiable(dense, 0.5, 30)
    expect_close(policy(plan), policy(same), 1e-12)
    weights <- matrix(stats::rnorm(120), 40)
    found <- plan_gradient(plan, weights)
    wanted <- plan_gradient(same, weights)
    expect_close(found$utility, wanted$utility, 1e-10)
    expect_named(found$transition, c("from", "to", "action", "gradient"))
    at <- as.matrix(data.frame(lapply(found$transition[1:3], as.integer)))
    expect_close(found$transition$gradient, wanted$transition[at], 1e-10)
    expect_identical(nrow(found$transition), length(setting$transition$to))
    large <- sparse_markov(5000, 2, 3)
    plan <- plan_differentiable(large, 1, 20)
    expect_identical(dim(plan_gradient(plan, of = "value")$utility), c(5000L, 2L))
  })
})

test_that("the unit of the utility is that of the result", {
  with_seed(6, {
    setting <- random_markov(4, 3)
    weights <- matrix(stats::rnorm(12), 4)
    found <- plan_gradient(plan_differentiable(setting, 0.5, 40), weights)
    for (unit in c(1e-6, 1e6)) {
      scaled <- setting
      scaled$utility <- unit * setting$utility
      plan <- plan_differentiable(scaled, 0.5 * unit, 40)
      again <- plan_gradient(plan, weights)
      expect_equal(again$utility * unit, found$utility, tolerance = 1e-9)
      expect_equal(again$alpha * unit, found$alpha, tolerance = 1e-9)
      expect_equal(again$transition, found$transition, tolerance = 1e-9)
    }
    hard <- plan_differentiable(setting, 1e-4, 40)
    expect_true(all(is.finite(unlist(plan_gradient(hard, weights)[c("utility", "discount", "alpha")]))))
  })
})

test_that("sure beliefs may have a worth of their own, and starts may differ", {
  with_seed(7, {
    setting <- random_markov(3, 2)
    bonus <- setting
    bonus$belief_utility <- certainty_bonus(2, above = 0.9)
    expect_close(value(plan_differentiable(bonus, 1, 50)), value(plan_differentiable(setting, 1, 50)) +
                   2 * (1 - 0.9^50) / 0.1, 1e-9)
    grouped <- decision_setting(setting$states, setting$actions, setting$observations, setting$transition, "identity",
                                setting$utility, discount = 0.9, start = rbind(a = c(1, 0, 0), b = c(0, 0.5, 0.5)),
                                start_by = "group")
    plan <- plan_differentiable(grouped, 1, 50)
    expect_close(plan_gradient(plan, of = "value")$objective, glance(plan)$value, 1e-10)
  })
})

test_that("weights are taken by name, and one action leaves nothing to choose", {
  with_seed(8, {
    setting <- random_markov(3, 2)
    plan <- plan_differentiable(setting, 1, 5)
    weights <- matrix(1:6, 3, dimnames = list(setting$states, setting$actions))
    expect_equal(plan_gradient(plan, weights[3:1, 2:1]), plan_gradient(plan, unname(weights)))
    slope <- c(s1 = 1, s2 = 2, s3 = 3)
    expect_equal(plan_gradient(plan, rev(slope), of = "value"), plan_gradient(plan, unname(slope), of = "value"))
    one <- plan_differentiable(random_markov(3, 1), 1, 5)
    nothing <- plan_gradient(one, matrix(1:3, 3))[c("objective", "utility", "discount", "alpha")]
    expect_close(unlist(nothing, use.names = FALSE), numeric(6), 1e-14)
  })
})

test_that("it prints what it is", {
  with_seed(9, {
    setting <- random_markov(3, 2)
    plan <- plan_differentiable(setting, 1, 5)
    expect_s3_class(plan, c("ibrc_planned", "ibrc_plan"), exact = TRUE)
    expect_output(print(plan), "A plan by a differentiable planner, on 3 states")
    expect_output(print(plan), "steps +5")
    expect_output(print(plan_gradient(plan, of = "value")), "Derivatives of weighted values")
    expect_output(print(plan_gradient(plan, matrix(1, 3, 2))), "by the utility of an action in a state")
    visits <- simulate(plan, 20, seed = 1, horizon = 5)
    expect_true(all(is.finite(log_lik(plan, visits))))
  })
})

test_that("nonsense is refused by the name of the argument", {
  setting <- with_seed(10, random_markov(3, 2))
  expect_input <- function(code, argument) {
    expect_identical(expect_error(code, class = "ibrc_error_input")$argument, argument)
  }
  expect_input(plan_differentiable(), "setting")
  expect_input(plan_differentiable(tiger_setting(), 1), "setting")
  expect_input(plan_differentiable(setting), "alpha")
  for (bad in list(NULL, NA, "x", -1, 0, Inf, list(), mean, matrix(0, 0, 2))) {
    expect_input(plan_differentiable(bad, 1), "setting")
    expect_input(plan_differentiable(setting, bad), "alpha")
    expect_input(plan_differentiable(setting, 1, bad), "steps")
    expect_input(plan_gradient(bad), "plan")
  }
  plan <- plan_differentiable(setting, 1, 3)
  expect_input(plan_gradient(plan_agent(setting, bounded_agent()), matrix(0, 3, 2)), "plan")
  for (bad in list(NULL, NA, "x", -1, Inf, list(), mean, matrix(0, 0, 2), matrix(NA_real_, 3, 2))) {
    expect_input(plan_gradient(plan, bad), "weights")
    if (!is.null(bad)) expect_input(plan_gradient(plan, bad, of = "value"), "weights")
    expect_input(plan_gradient(plan, matrix(0, 3, 2), of = bad), "of")
  }
  large <- setting
  large$utility[1] <- 1.7e308
  expect_error(plan_differentiable(large, 1), class = "ibrc_error_convergence")
})
