smooth_kinds <- c("kl", "reverse_kl", "jensen_shannon", "squares")

# Divergences in words of their definition, of all occupancies.
divergence_twin <- function(kind, target, x) {
  kl <- function(p, q) sum((p * log(p / q))[p > 0])
  switch(kind, kl = kl(target, x), reverse_kl = kl(x, target), squares = sum((x - target)^2) / 2,
         total_variation = sum(abs(x - target)) / 2,
         jensen_shannon = (kl(target, (x + target) / 2) + kl(x, (x + target) / 2)) / 2)
}

causal_entropy <- function(x) -sum((x * log(x / rowSums(x)))[x > 0])

random_target <- function(n_states, n_actions) {
  x <- matrix(stats::rexp(n_states * n_actions), n_states)
  x / sum(x)
}

test_that("slopes and curvatures of divergences are those of finite differences", {
  with_seed(1, {
    target <- as.vector(random_target(3, 2))
    x <- as.vector(random_target(3, 2))
    for (kind in smooth_kinds) {
      f <- smooth_divergences[[kind]]
      expect_equal(f$value(x, target), divergence_twin(kind, target, x), tolerance = 1e-12)
      for (k in seq_along(x)) {
        by <- 1e-6 * (seq_along(x) == k)
        expect_equal(f$slope(x, target)[k], (f$value(x + by, target) - f$value(x - by, target)) / 2e-6,
                     tolerance = 1e-6)
        expect_equal(f$curvature(x, target)[k], (f$slope(x + by, target) - f$slope(x - by, target))[k] / 2e-6,
                     tolerance = 1e-6)
      }
    }
  })
})

test_that("where a policy has the occupancies, the divergence is 0 and the policy the answer", {
  skip_if_not_installed("lpSolve")
  with_seed(2, for (discount in c(0, 0.9)) {
    setting <- random_markov(4, 3, discount)
    shown <- random_rows(4, 3)
    markov <- as_markov(setting)
    target <- markov_occupancy(markov, shown)
    for (kind in divergence_kinds) {
      inferred <- infer_distribution(shown, setting, kind)
      expect_identical(glance(inferred)$divergence, 0)
      expect_equal(unname(policy(inferred)), shown, tolerance = 1e-9)
      # The solver, which does not look whether it is so, says the same.
      open <- open_pairs(markov, target >= 0)
      problem <- flow_problem(target, markov, open, shaping_matrix(markov))
      out <- if (kind == "total_variation") least_variation(problem) else
        least_divergence(problem, smooth_divergences[[kind]], 0)
      expect_lt(abs(out$divergence), 1e-9)
      expect_lt(max(abs(out$x - target[open])), 1e-5)
    }
  })
})

test_that("no other policy diverges less, and the gap bounds what could", {
  skip_if_not_installed("lpSolve")
  with_seed(3, for (discount in c(0.5, 0.95)) {
    markov <- as_markov(random_markov(4, 3, discount))
    target <- random_target(4, 3)
    for (kind in divergence_kinds) for (entropy in if (kind == "total_variation") 0 else c(0, 0.1, 1e6)) {
      out <- match_occupancies(target, markov, kind, entropy)
      expect_lt(out$gap, 1e-7)
      expect_lt(out$flow, 1e-9)
      worth <- function(x) divergence_twin(kind, target, x) - entropy * causal_entropy(x)
      expect_equal(out$objective, worth(out$occupancy), tolerance = 1e-8)
      law <- conditional_policy(out$occupancy)$policy
      for (i in 1:10) {
        mix <- 10^-stats::runif(1, 0, 3)
        other <- markov_occupancy(markov, (1 - mix) * law + mix * random_rows(4, 3))
        expect_gte(worth(other), out$objective - out$gap - 1e-12 * max(1, entropy))
      }
    }
  })
})

test_that("with entropy the answer is a soft agent's whose utility is minus the slope of the divergence", {
  with_seed(4, for (discount in c(0, 0.9)) for (kind in smooth_kinds) {
    markov <- as_markov(random_markov(4, 2, discount))
    target <- random_target(4, 2)
    out <- match_occupancies(target, markov, kind, 0.2)
    utility <- -smooth_divergences[[kind]]$slope(out$occupancy, target)
    expect_equal(markov_soft(markov, 0.2, utility = utility)$policy, conditional_policy(out$occupancy)$policy,
                 tolerance = 1e-6)
  })
})

test_that("both sides of Ho and Ermon's equality give the same policy, also where no policy has the occupancies", {
  with_seed(5, for (i in 1:8) {
    setting <- random_markov(sample(2:5, 1), sample(2:3, 1), c(0, 0.5, 0.9, 0.98)[1 + i %% 4])
    setting$start[] <- c(1, rep(0, length(setting$start) - 1))
    penalty <- 10^stats::runif(1, -3, 0)
    shown <- random_rows(length(setting$states), length(setting$actions))
    visits <- simulate(plan_agent(setting, bounded_agent(alpha = 1)), nsim = 15, horizon = 7, seed = i)
    margin <- infer_soft_margin(shown, setting, alpha = 3, penalty = penalty)
    matched <- infer_distribution(shown, setting, "squares", entropy = penalty)
    expect_lt(max(abs(policy(margin) - policy(matched))), 1e-7)
    margin <- infer_soft_margin(visits, setting, alpha = 0.1, penalty = penalty, occupancies = "visits")
    matched <- infer_distribution(visits, setting, "squares", entropy = penalty, occupancies = "visits")
    reached <- rowsum(tidy(matched)$occupancy, tidy(matched)$state)[setting$states, ] > 1e-8
    expect_lt(max(abs(policy(margin) - policy(matched))[reached, ]), 1e-7)
    # The objectives are those of a dual pair.
    expect_equal(-(1 - setting$discount) * (glance(margin)$objective / 0.1 + log(length(setting$actions)) /
                                              (1 - setting$discount)),
                 glance(matched)$objective / penalty, tolerance = 1e-6)
  })
})

test_that("what can never be reached, and what was never demonstrated, is handled or refused", {
  transition <- array(0, c(3, 3, 2))
  transition[, , 1] <- rbind(c(0, 1, 0), c(1, 0, 0), c(0, 0, 1))
  transition[, , 2] <- rbind(c(1, 0, 0), c(0, 1, 0), c(1, 0, 0))
  names <- c("a", "b", "c")
  setting <- decision_setting(names, c("go", "stay"), names, transition, "identity", matrix(0, 3, 2), discount = 0.5,
                              start = c(1, 0, 0))
  markov <- as_markov(setting)
  expect_identical(rowSums(open_pairs(markov, matrix(TRUE, 3, 2))), c(2, 2, 0))
  target <- rbind(c(0.4, 0.3), c(0.3, 0), 0)
  for (kind in smooth_kinds) {
    out <- match_occupancies(target, markov, kind, 0)
    expect_identical(conditional_policy(out$occupancy)$lost, 3L)
    expect_lt(out$gap, 1e-7)
  }
  expect_lt(match_occupancies(target, markov, "reverse_kl", 0)$occupancy[2, 2], 1e-12)
  # Nothing was demonstrated in b, to which every way from a leads.
  expect_error(match_occupancies(rbind(c(1, 0), 0, 0), markov, "reverse_kl", 0), "jensen_shannon",
               class = "ibrc_error_input")
  expect_error(match_occupancies(rbind(c(0.5, 0), 0, c(0.5, 0)), markov, "kl", 0), "infinite",
               class = "ibrc_error_input")
  lost <- match_occupancies(rbind(c(0.5, 0), 0, c(0.5, 0)), markov, "jensen_shannon", 0)
  expect_equal(lost$divergence, divergence_twin("jensen_shannon", rbind(c(0.5, 0), 0, c(0.5, 0)), lost$occupancy),
               tolerance = 1e-9)
  inferred <- infer_distribution(rbind(c(0.5, 0.5), c(1, 0), NA), setting)
  expect_match(paste(inferred$notes, collapse = " "), "spends no time in 1 state (c)", fixed = TRUE)
  expect_equal(unname(policy(inferred)[3, ]), c(0.5, 0.5))
})

test_that("visits are matched, and the answer predicts", {
  skip_if_not_installed("lpSolve")
  with_seed(6, {
    setting <- random_markov(4, 2, 0.8)
    setting$start[] <- c(1, 0, 0, 0)
    visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.5)), nsim = 40, horizon = 6, seed = 1)
    for (kind in divergence_kinds) {
      inferred <- infer_distribution(visits, setting, kind, occupancies = "visits")
      expect_gt(glance(inferred)$divergence, 0)
      expect_lt(glance(inferred)$gap, 1e-7)
      expect_equal(sum(tidy(inferred)$occupancy), 1, tolerance = 1e-8)
      expect_length(log_lik(inferred, visits), 40)
    }
    expect_output(print(inferred), "Distribution matching")
  })
})

test_that("wrong arguments are refused", {
  setting <- random_markov(2, 2)
  shown <- matrix(0.5, 2, 2)
  expect_error(infer_distribution(shown), "setting", class = "ibrc_error_input")
  expect_error(infer_distribution(NULL, setting), "visits", class = "ibrc_error_input")
  expect_error(infer_distribution(shown, tiger_setting()), "state is seen", class = "ibrc_error_input")
  expect_error(infer_distribution(shown, setting, "x"), "divergence", class = "ibrc_error_input")
  expect_error(infer_distribution(shown, setting, entropy = -1), "entropy", class = "ibrc_error_input")
  expect_error(infer_distribution(shown, setting, entropy = 1e7), "from 0 to 1e6", class = "ibrc_error_input")
  expect_error(infer_distribution(shown, setting, "total_variation", entropy = 1), "entropy",
               class = "ibrc_error_input")
  expect_error(infer_distribution(shown, setting, occupancies = 1), "occupancies", class = "ibrc_error_input")
})

test_that("short follow-up and actions that stop it leave the behaviour what it is", {
  skip_if_not_installed("lpSolve")
  clinic <- function(...) {
    decision_setting(
      c("well", "ill"), c("wait", "treat"), c("well", "ill"),
      list(rbind(c(0.8, 0.2), c(0, 1)), rbind(c(0.8, 0.2), c(0.3, 0.7))), "identity", matrix(0, 2, 2),
      discount = 0.95, start = c(1, 0), ...
    )
  }
  truth <- rbind(c(0.5, 0.5), c(0.7, 0.3))
  for (stops in list(character(), "treat")) {
    setting <- clinic(stop_actions = stops)
    visits <- simulate(plan_rule(setting, truth), 4000, seed = 1, horizon = 3)
    for (kind in divergence_kinds) {
      inferred <- infer_distribution(visits, setting, kind, occupancies = "visits")
      # Of some 1,200 visits to the ill a share is known to 0.013; by the truncated shares it was 0.65 and more.
      expect_lt(max(abs(policy(inferred) - truth)), 0.06)
      beyond <- 0.95^if (length(stops)) c(2, 3) else c(3, 3)
      said <- as.numeric(sub("^(.*)% of the discounted time.*", "\\1", grep("discounted time lies", inferred$notes,
                                                                          value = TRUE))) / 100
      expect_gte(said, beyond[2] - 0.006)
    }
    margin <- infer_soft_margin(visits, setting, penalty = 1e-4, occupancies = "visits")
    expect_lt(max(abs(policy(margin) - truth)), 0.06)
    expect_lt(max(abs(tidy(margin)$estimate)), 3)
  }
})

test_that("who always does the same is matched though follow-up is short", {
  with_seed(20, {
    setting <- random_markov(4, 3, 0.95, zeros = 0)
    setting$start[] <- c(1, 0, 0, 0)
    plan <- plan_mdp(setting)
    visits <- simulate(plan, 500, seed = 20, horizon = 3)
    inferred <- infer_distribution(visits, setting, "jensen_shannon", occupancies = "visits")
    expect_lt(max(abs(policy(inferred) - policy(plan))), 0.03)
  })
})

test_that("visits whose action does not count are no reason for other behaviour", {
  with_seed(21, {
    setting <- random_markov(3, 2, 0.9, zeros = 0)
    setting$start[] <- c(1, 0, 0)
    data <- as.data.frame(simulate(plan_kl(setting, 1), 500, seed = 2, horizon = 20))
    visits <- trajectories(transform(data, scored = time > 0), scored = "scored")
    counted <- infer_soft_margin(visits, setting, penalty = 1e-4, occupancies = "visits")
    expect_equal(policy(counted), policy(infer_soft_margin(visits, setting, penalty = 1e-4)), tolerance = 1e-6)
    expect_match(counted$notes, "100% of the discounted time", all = FALSE)
  })
})

test_that("total variation of too many pairs is refused with the arithmetic and a remedy", {
  setting <- with_seed(1, random_markov(250, 2))
  visits <- simulate(plan_rule(setting, matrix(0.5, 250, 2)), 5, seed = 1, horizon = 3)
  expect_refused(infer_distribution(visits, setting, "total_variation", occupancies = "visits"), "setting",
                 "1,250 constraints on 1,000 unknowns")
})
