test_that("the right model finds the utility up to what does not matter, a wrong one does not", {
  clinic <- small_clinic()
  soft <- c("boltzmann", "max_entropy")
  study <- misspecification_study(clinic, soft, soft, n = Inf)
  expect_identical(study$right, study$agent == study$model)
  expect_true(all(study$distance[study$right] < 0.01))
  expect_true(all(study$distance[!study$right] > 2 * max(study$distance[study$right])))
  expect_true(all(study$regret >= 0 & study$regret <= 1))
  expect_output(print(study), "taken for")
})

test_that("distance does not see shaping, constants and scale, and opposites are 1 apart", {
  clinic <- small_clinic()
  markov <- as_markov(clinic)
  utility <- unname(clinic$utility)
  shaped <- utility + matrix(shaping_matrix(markov) %*% c(1, -2, 3), 3)
  expect_close(utility_distance(3 * shaped + 1, utility, markov), 0, 1e-8)
  expect_close(utility_distance(-utility, utility, markov), 1, 1e-8)
})
