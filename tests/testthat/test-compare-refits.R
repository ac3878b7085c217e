test_that("some trajectories of a group are taken out of it with what was done in them", {
  fit <- clinic_fit()
  keep <- rep(FALSE, 160)
  keep[c(2, 90, 91)] <- TRUE
  part <- part_of_group(fit, 2, keep)
  expect_identical(length(unique(trajectory_of(part$tree))), 2L)
  data <- as.data.frame(clinic_visits())
  data <- data[data$id %in% unique(data$id)[90:91], ]
  expect_identical(fit$problem$setting$actions[part$action], as.character(data$action))
  # As likely as they are in the whole.
  plan <- project_behavior(fit)$south
  law <- read_histories(plan, part$tree, beliefs = FALSE)$log_policy
  found <- trajectory_sums(scored_log_policy(law, part$tree, part$action), trajectory_of(part$tree))
  expect_close(found, log_lik(plan, clinic_visits())[90:91], 1e-9)
})

test_that("refits run by whatever work they are given, in their order", {
  pieces <- lapply(1:3, function(i) list(run = list(cores = 1L), value = i))
  expect_identical(run_refits(pieces, 0, function(piece) piece$value * 2), list(2, 4, 6))
})
