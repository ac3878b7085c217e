# A task with random counts: of features that are few, with or without a prior of the weights, an action prior.
soft_case <- function(seed, hard = FALSE, penalty = FALSE, action_prior = NULL, n_states = 4, n_actions = 3,
                      discount = 0.8, alpha = 0.7) {
  with_seed(seed, {
    markov <- as_markov(ranked_setting(n_states, n_actions, discount))
    features <- matrix(stats::rnorm(n_states * n_actions * 4), ncol = 4)
    counts <- matrix(stats::rpois(n_states * n_actions, 6), n_states)
    soft_task(markov, features, markov$utility, counts, alpha, action_prior, hard,
              if (penalty) list(mean = c(1, -1, 0, 0.5), sd = c(1, 2, 3, 0.5)))
  })
}

# Central differences of a function of weights whose values are vectors: [value, weight].
weight_differences <- function(f, weights, step = 1e-4) {
  sapply(seq_along(weights), function(k) {
    move <- replace(numeric(length(weights)), k, step)
    (f(weights + move) - f(weights - move)) / (2 * step)
  })
}

expect_soft_slopes <- function(task, weights) {
  at <- soft_at(weights, task)
  slope <- weight_differences(function(w) soft_at(w, task, slopes = FALSE)$height, weights)
  bend <- weight_differences(function(w) soft_at(w, task)$gradient, weights)
  expect_close(at$gradient / sum(task$counts), slope / sum(task$counts), 1e-6)
  expect_close(at$bend / sum(task$counts), -bend / sum(task$counts), 1e-6)
}

test_that("slopes and curvatures are those of the height, by differences", {
  weights <- with_seed(1, matrix(stats::rnorm(12), 3))
  for (i in 1:3) {
    for (hard in c(FALSE, TRUE)) {
      expect_soft_slopes(soft_case(i, hard), weights[i, ])
      expect_soft_slopes(soft_case(i, hard, penalty = TRUE), weights[i, ])
    }
    expect_soft_slopes(soft_case(i, action_prior = c(0.6, 0.3, 0.1)), weights[i, ])
    expect_soft_slopes(soft_case(i, discount = 0), weights[i, ])
    expect_soft_slopes(soft_case(i, discount = 0.99), weights[i, ])
  }
  # Places that lead nowhere: a multinomial regression.
  flat <- soft_case(4)
  flat$markov <- list(n_states = 4, n_actions = 3, discount = 0)
  expect_soft_slopes(flat, weights[1, ])
})

test_that("the policy is the planner's own", {
  setting <- with_seed(5, ranked_setting(4, 3))
  markov <- as_markov(setting)
  counts <- matrix(1, 4, 3)
  every <- diag(12)
  own <- as.vector(setting$utility)
  soft <- soft_task(markov, every, 0 * markov$utility, counts, 0.7, c(0.5, 0.3, 0.2), FALSE)
  expect_close(soft_at(own / soft$unit, soft, FALSE)$policy,
               unname(policy(plan_kl(setting, 0.7, c(0.5, 0.3, 0.2)))), 1e-8)
  hard <- soft_task(markov, every, 0 * markov$utility, counts, 0.7, NULL, TRUE)
  expect_close(soft_at(own / hard$unit, hard, FALSE)$policy, unname(policy(plan_boltzmann(setting, 0.7))), 1e-8)
})

test_that("the imitator's expected features are those demonstrated: maximum entropy", {
  for (seed in 1:6) {
    setting <- with_seed(seed, ranked_setting(3 + seed %% 3, 2 + seed %% 2, c(0, 0.5, 0.95)[1 + seed %% 3]))
    markov <- as_markov(setting)
    size <- dim(setting$utility)
    shown <- with_seed(seed, random_rows(size[1], size[2]))
    features <- with_seed(seed, array(stats::rnorm(prod(size) * 2), c(size, 2)))
    found <- infer_matching(shown, setting, features = features, alpha = 0.4)
    expected <- function(policy) colSums(matrix(features, ncol = 2) * as.vector(markov_occupancy(markov, policy)))
    expect_true(found$details$converged)
    expect_close(expected(unname(policy(found))), expected(shown), 1e-6)
    # And of all weights these are the likeliest.
    expect_close(weight_differences(function(w) {
      wanted <- setting
      wanted$utility[] <- matrix(features, ncol = 2) %*% w
      sum(markov_occupancy(markov, shown) * log(policy(plan_kl(wanted, 0.4))))
    }, tidy(found)$estimate), c(0, 0), 1e-6)
  }
})

test_that("of utilities that do as well the smallest is taken, and what is not seen is counted", {
  setting <- with_seed(7, ranked_setting(3, 2, 0.8))
  found <- infer_matching(plan_kl(setting, 1), setting)
  # What was given is a law: it is imitated to the last digit, though its utility is not found.
  expect_close(unname(policy(found)), unname(policy(plan_kl(setting, 1))), 1e-7)
  expect_identical(found$details$unseen, 3L)
  expect_true(all(is.na(tidy(found)$std.error)))
  expect_match(found$notes, "3 directions", all = FALSE)
  # Shaping leaves behaviour alone, and can only make the answer larger.
  markov <- as_markov(setting)
  smallest <- found$details$utility
  for (i in 1:3) {
    potential <- replace(numeric(3), i, 0.1)
    shaped <- smallest + potential - markov$discount * sapply(markov$transition, function(law) law %*% potential)
    wanted <- setting
    wanted$utility[] <- shaped
    expect_close(unname(policy(plan_kl(wanted, 1))), unname(policy(found)), 1e-7)
    expect_gt(sum(shaped^2), sum(smallest^2))
  }
})

test_that("standard errors are those of the curvature, and of a law there are none", {
  task <- soft_case(8)
  top <- settle_soft(climb_soft(task, numeric(4)), task)
  expect_true(top$converged)
  bend <- weight_differences(function(w) soft_at(w, task)$gradient, top$weights)
  expect_equal(soft_errors(top, task), task$unit * sqrt(diag(solve(-bend))), tolerance = 1e-5)
  task <- soft_case(8, penalty = TRUE)
  top <- settle_soft(climb_soft(task, numeric(4)), task)
  bend <- weight_differences(function(w) soft_at(w, task)$gradient, top$weights)
  expect_equal(soft_errors(top, task), task$unit * sqrt(diag(solve(-bend))), tolerance = 1e-5)
  expect_close(top$gradient / sum(task$counts), numeric(4), 1e-8)
})

test_that("what is never done where it could be makes utilities grow: that is said, and a prior is the remedy", {
  setting <- with_seed(9, ranked_setting(3, 3, 0.5))
  shown <- rbind(c(0.5, 0.5, 0), c(0.3, 0.3, 0.4), c(0.2, 0.7, 0.1))
  found <- infer_matching(shown, setting)
  expect_match(found$notes, "never done", all = FALSE)
  expect_true(found$details$converged)
  expect_lt(max(abs(policy(found) - shown)), 1e-4)
  sure <- infer_matching(shown, setting, prior = 2)
  expect_false(any(grepl("never done", sure$notes)))
  expect_gt(min(policy(sure)), 1e-4)
})

test_that("units do not matter", {
  for (unit in c(1e6, 1e-6)) {
    one <- with_seed(10, ranked_setting(3, 2))
    other <- with_seed(10, ranked_setting(3, 2, scale = unit))
    expect_equal(other$utility, one$utility * unit)
    visits <- ranked_visits(one, 50)
    for (planner in c("kl", "boltzmann")) {
      small <- infer_matching(visits, one, planner, terms = c("utility[s1,u1]", "utility[s2,u2]"), alpha = 1)
      large <- infer_matching(visits, other, planner, terms = c("utility[s1,u1]", "utility[s2,u2]"), alpha = unit)
      expect_equal(tidy(large)$estimate / unit, tidy(small)$estimate, tolerance = 1e-6)
      expect_equal(tidy(large)$std.error / unit, tidy(small)$std.error, tolerance = 1e-5)
      expect_equal(large$objective, small$objective, tolerance = 1e-9)
    }
    # Features too may be of any size.
    features <- with_seed(10, array(stats::rnorm(12), c(3, 2, 2)))
    small <- infer_matching(visits, one, features = features)
    large <- infer_matching(visits, one, features = features * unit)
    expect_equal(tidy(large)$estimate * unit, tidy(small)$estimate, tolerance = 1e-6)
  }
})

test_that("the top is found from where choices are as good as sure and nothing bends", {
  visits <- ranked_visits(with_seed(1, ranked_setting(3, 2, 0.8)), 50)
  for (scale in c(10, 1e6)) {
    setting <- with_seed(1, ranked_setting(3, 2, 0.8, scale = scale))
    for (planner in c("kl", "boltzmann")) {
      found <- infer_matching(visits, setting, planner, "utility[s1,u1]")
      height <- function(at) {
        setting$utility[1, 1] <- at
        sum(log_lik(if (planner == "kl") plan_kl(setting, 1) else plan_boltzmann(setting, 1), visits))
      }
      top <- tidy(found)$estimate
      expect_true(found$details$converged)
      expect_gt(height(top), max(vapply(top + scale * c(-1, -0.3, 0.3, 1), height, 0)))
      expect_gt(height(top), max(vapply(top + c(-1, 1), height, 0)))
    }
  }
})
