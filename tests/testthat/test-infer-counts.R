test_that("counts are those of a plain loop, discounted or not", {
  setting <- with_seed(1, ranked_setting(start = 1:2))
  visits <- cut_visits(ranked_visits(setting, 20), 2:6)
  counted <- trajectory_counts(visits, setting)
  expect_close(counted$counts, twin_counts(visits, setting), 1e-14)
  expect_close(trajectory_counts(visits, setting, discounted = FALSE)$counts, twin_counts(visits, setting, 1), 1e-14)
  expect_identical(counted$n_visits, rep(2:6, 4))
  # Only first visits are not known.
  expect_identical(counted$unsure, rep(1L, 20))
  expect_true(all(counted$complete))
})

test_that("hidden states count by what was believed before the visit", {
  setting <- diag_setting()
  data <- data.frame(id = "a", time = 0:2, action = c("monitor", "monitor", "declare_diseased"),
                     observation = c("positive", "positive", NA))
  counted <- trajectory_counts(trajectories(data), setting)
  ill <- c(0.5, 0.7, 0.49 / (0.49 + 0.09))
  monitor <- ill[1] + 0.95 * ill[2]
  expect_close(matrix(counted$counts, 2)[2, ], c(0, 0.95^2 * ill[3], monitor), 1e-14)
  expect_identical(counted$unsure, 3L)
})

test_that("a trajectory with a missing action is not complete, unless it is the last", {
  setting <- diag_setting()
  data <- data.frame(id = rep(c("a", "b"), each = 2), time = rep(0:1, 2), scored = rep(c(TRUE, FALSE), 2),
                     action = c("monitor", NA, NA, "monitor"), observation = "positive")
  data$scored[is.na(data$action)] <- FALSE
  counted <- trajectory_counts(trajectories(data, scored = "scored"), setting)
  expect_identical(counted$complete, c(TRUE, FALSE))
  expect_identical(counted$n_visits, c(1L, 0L))
  expect_close(counted$counts[2, ], rep(0, 6), 0)
})

test_that("what beliefs are worth is added up beside", {
  setting <- with_seed(1, ranked_setting())
  visits <- ranked_visits(setting, 5, 3)
  setting$belief_utility <- function(beliefs, action) rep(2, nrow(beliefs))
  counted <- trajectory_counts(visits, setting)
  expect_close(counted$offset, rep(2 * (1 + 0.8 + 0.64), 5), 1e-14)
})

test_that("utilities as large or as small as anybody's leave counts alone", {
  setting <- with_seed(1, ranked_setting(discount = 0.99))
  visits <- ranked_visits(setting, 5, 3)
  setting$utility[] <- setting$utility * 1e12
  expect_close(trajectory_counts(visits, setting)$counts, twin_counts(visits, setting), 1e-14)
})

test_that("directions are seen or not, and so are entries", {
  design <- rbind(c(1, 1, 0), c(2, 2, 0))
  seen <- seen_directions(design)
  expect_identical(ncol(seen$shown), 1L)
  expect_identical(entries_seen(seen$shown), c(FALSE, FALSE, FALSE))
  expect_identical(entries_seen(seen_directions(rbind(c(1, 1, 0), c(0, 0, 3)))$shown), c(FALSE, FALSE, TRUE))
  expect_length(seen_directions(matrix(0, 2, 3))$size, 0)
  expect_null(unseen_note(3, 3, ""))
  expect_match(unseen_note(3, 1, "So."), "2 directions out of 3.*So[.]")
})

test_that("who wants a utility plans for it", {
  setting <- with_seed(2, ranked_setting())
  wanted <- with_seed(3, matrix(rnorm(6), 3))
  plan <- plan_for_utility(setting, wanted, 0, 100)
  best <- markov_hard(as_markov(setting), wanted)
  expect_close(value(plan), best$value, 1e-8)
  expect_close(policy(plan), best$policy, 1e-12)
  expect_identical(plan$planner, "mdp")
  soft <- plan_for_utility(setting, wanted, 2, 100)
  expect_close(policy(soft), markov_soft(as_markov(setting), 2, utility = wanted)$policy, 1e-8)
  expect_identical(plan_for_utility(diag_setting(), diag_setting()$utility, 0, 10)$planner, "pomdp")
  expect_error(check_alpha(-1), class = "ibrc_error_input")
})
