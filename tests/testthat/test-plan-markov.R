random_policy <- function(n_states, n_actions) random_rows(n_states, n_actions)

test_that("a policy's value is where its own backup changes nothing, and its occupancy adds up to that value", {
  with_seed(1, for (discount in c(0, 0.5, 0.99)) {
    setting <- random_markov(6, 3, discount)
    markov <- as_markov(setting)
    policy <- random_policy(6, 3)
    value <- markov_value(markov, policy)
    expect_close(rowSums(policy * twin_action_value(setting, value)), value, 1e-10)
    expect_close(markov$utility + discount * markov_next(markov, value), twin_action_value(setting, value), 1e-12)
    share <- markov_occupancy(markov, policy)
    expect_equal(sum(share), 1)
    expect_close(sum(share * setting$utility), (1 - discount) * sum(setting$start * value), 1e-10)
    other <- c(1, numeric(5))
    expect_close(sum(markov_occupancy(markov, policy, other) * setting$utility), (1 - discount) * value[1], 1e-10)
  })
})

test_that("the best values are the rational agent's, and ties are shared", {
  with_seed(2, for (discount in c(0, 0.9, 0.99)) {
    setting <- random_markov(7, 4, discount)
    hard <- markov_hard(as_markov(setting))
    plan <- plan_agent(setting, bounded_agent())
    expect_close(hard$value, value(plan), 1e-8)
    expect_close(hard$action_value, action_value(plan), 1e-8)
    expect_close(hard$policy, policy(plan), 1e-8)
  })
  setting <- random_markov(4, 2)
  twice <- decision_setting(setting$states, c("a", "b", "c"), setting$states,
                            unname(setting$transition[, , c(1, 2, 1)]), "identity",
                            unname(setting$utility[, c(1, 2, 1)]), discount = 0.95)
  hard <- markov_hard(as_markov(twice))
  expect_identical(hard$policy[, 1], hard$policy[, 3])
  expect_true(all(hard$policy %in% c(0, 0.5, 1)))
  closed <- markov_hard(as_markov(twice), prior = c(0.5, 0, 0.5))
  expect_close(closed$policy, matrix(c(0.5, 0, 0.5), 4, 3, byrow = TRUE), 0)
})

test_that("soft values are those of plan_agent(), with its limits, for utilities of any size", {
  with_seed(3, for (scale in c(1e-6, 1, 1e6)) {
    setting <- random_markov(5, 3, 0.95, scale = scale)
    markov <- as_markov(setting)
    prior <- c(0.2, 0.5, 0.3)
    for (alpha in c(0.01, 0.5, 20) * scale) {
      soft <- markov_soft(markov, alpha, prior)
      plan <- plan_agent(setting, bounded_agent(alpha = alpha, action_prior = prior), tolerance = 1e-9 * scale)
      expect_close(soft$value / scale, value(plan) / scale, 1e-8)
      expect_close(soft$action_value / scale, action_value(plan) / scale, 1e-8)
      expect_close(soft$policy, policy(plan), 1e-6)
    }
    expect_close(markov_soft(markov, Inf, prior)$policy, matrix(prior, 5, 3, byrow = TRUE), 0)
    expect_identical(markov_soft(markov, 0), markov_hard(markov))
    closed <- markov_soft(markov, scale, c(0.4, 0, 0.6))
    expect_close(closed$policy[, 2], rep(0, 5), 0)
    expect_true(all(is.finite(closed$value)))
  })
})

test_that("another utility may stand in place of the setting's", {
  setting <- with_seed(4, random_markov(4, 2))
  other <- setting
  other$utility[] <- with_seed(5, stats::rnorm(8))
  expect_equal(markov_hard(as_markov(setting), unname(other$utility)), markov_hard(as_markov(other)),
               ignore_attr = TRUE)
  expect_equal(markov_soft(as_markov(setting), 1, utility = other$utility), markov_soft(as_markov(other), 1))
})

test_that("many states are solved by kernels, and agree with the dense solve", {
  skip_if_not_installed("Matrix")
  setting <- with_seed(6, sparse_markov(400, 2, 4))
  many <- as_markov(setting)
  expect_s4_class(many$transition[[1]], "dgCMatrix")
  few <- many
  few$problem <- NULL
  few$transition <- lapply(many$transition, as.matrix)
  policy <- with_seed(7, random_policy(400, 2))
  expect_close(markov_value(many, policy), markov_value(few, policy), 1e-9)
  expect_close(markov_occupancy(many, policy), markov_occupancy(few, policy), 1e-12)
  expect_close(markov_hard(many)$value, markov_hard(few)$value, 1e-8)
  expect_close(markov_soft(many, 0.3)$value, markov_soft(few, 0.3)$value, 1e-8)
})

test_that("what sure beliefs are worth counts, and settings by rows with few states are plain matrices", {
  setting <- with_seed(8, random_markov(3, 2))
  setting$belief_utility <- function(beliefs, action) if (action == "u1") 5 * beliefs[, 2] else 0
  expect_equal(unname(as_markov(setting)$utility - setting$utility), cbind(c(0, 5, 0), 0))
  rows <- with_seed(9, sparse_markov(20, 2, 3))
  expect_true(is.matrix(as_markov(rows)$transition[[1]]))
  expect_equal(rowSums(as_markov(rows)$transition[[2]]), rep(1, 20))
})

test_that("a setting whose state is hidden is refused", {
  expect_error(as_markov(diag_setting()), "plan_pomdp", class = "ibrc_error_input")
  expect_error(observed_problem(diag_setting()), "plan_pomdp", class = "ibrc_error_input")
  expect_error(observed_problem(3), class = "ibrc_error_input")
  expect_s3_class(observed_problem(with_seed(1, random_markov(3))), "ibrc_problem")
})

test_that("ties that sums in another order would part are shared, near a discount of 1 as well", {
  n <- 12
  with_seed(8, for (discount in c(0.5, 0.99, 0.9999)) {
    order <- sample(n)
    rows <- list(random_rows(n, n), random_rows(n, n))
    first <- random_rows(1, n)
    utility <- matrix(stats::rnorm(2 * n), n) + 1e4
    # From the first state one comes to one of two copies of a chain, the second with its states in another order.
    law <- lapply(1:2, function(u) {
      out <- matrix(0, 2 * n + 1, 2 * n + 1)
      out[1, -1] <- if (u == 1) c(first, numeric(n)) else c(numeric(n), first[order])
      out[1 + seq_len(n), 1 + seq_len(n)] <- rows[[u]]
      out[1 + n + seq_len(n), 1 + n + seq_len(n)] <- rows[[u]][order, order]
      out
    })
    states <- paste0("s", seq_len(2 * n + 1))
    setting <- decision_setting(states, c("x", "y"), states, law, "identity", rbind(0, utility, utility[order, ]),
                                discount = discount)
    hard <- markov_hard(as_markov(setting))
    expect_identical(unname(hard$policy[1, ]), c(0.5, 0.5))
    # What is a little better is not a tie.
    markov <- as_markov(setting)
    markov$utility[1, 1] <- 0.01
    expect_identical(unname(markov_hard(markov)$policy[1, ]), c(1, 0))
  })
})

test_that("it begins from values near the best, and nodes of a problem are states", {
  setting <- with_seed(9, random_markov(6, 3))
  markov <- as_markov(setting)
  hard <- markov_hard(markov)
  expect_equal(markov_hard(markov, value = hard$value + 0.1), hard, tolerance = 1e-12)
  nodes <- markov_hard(problem_markov(observed_problem(setting)))
  expect_equal(nodes, hard, tolerance = 1e-9, ignore_attr = TRUE)
})

test_that("a setting with hidden states is told which planners there are", {
  expect_error(check_observed(tiger_setting()), "plan_pomdp.*plan_agent.*plan_history_q_learning",
               class = "ibrc_error_input")
})
