test_that("the right model finds the utility up to what does not matter, a wrong one does not", {
  clinic <- small_clinic()
  soft <- c("boltzmann", "max_entropy")
  study <- misspecification_study(clinic, soft, soft, n = Inf)
  expect_identical(study$right, study$agent == study$model)
  expect_true(all(study$distance[study$right] < 0.01))
  expect_true(all(study$distance[!study$right] > 2 * max(study$distance[study$right])))
  expect_true(all(study$regret >= 0 & study$regret <= 1))
  expect_output(print(study), "taken for +right")
  expect_output(print(study), "max_entropy max_entropy +yes")
  expect_output(print(study), "max_entropy +boltzmann +no")
})

test_that("distance does not see shaping, constants and scale, and opposites are 1 apart", {
  clinic <- small_clinic()
  markov <- as_markov(clinic)
  utility <- unname(clinic$utility)
  shaped <- utility + matrix(shaping_matrix(markov) %*% c(1, -2, 3), 3)
  expect_close(utility_distance(3 * shaped + 1, utility, markov), 0, 1e-8)
  expect_close(utility_distance(-utility, utility, markov), 1, 1e-8)
})

test_that("regret and disagreement are those worked by hand", {
  # One state for ever: what is gained is the mean utility of what is done.
  stay <- list(a = diag(2), b = diag(2), c = diag(2))
  shop <- decision_setting(c("open", "shut"), c("a", "b", "c"), c("open", "shut"), stay, "identity",
                           rbind(c(4, 1, 0), 0), discount = 0.5, start = c(1, 0))
  truth <- study_truth(shop)
  expect_close(utility_regret(rbind(c(0, 1, 0), 0), truth), 3 / 4, 1e-8)
  expect_close(utility_regret(rbind(c(0, 0, 1), 0), truth), 1, 1e-8)
  expect_close(utility_regret(rbind(c(1, 0, 0), 0), truth), 0, 1e-8)
  gap <- behaviour_gap(rbind(c(0.5, 0.3, 0.2), 1 / 3), rbind(c(0.2, 0.3, 0.5), 1 / 3), truth$markov)
  expect_close(gap[["disagreement"]], 0.3, 1e-10)
  expect_close(gap[["divergence"]], 0.5 * log(0.5 / 0.2) + 0.2 * log(0.2 / 0.5), 1e-10)
  # The study hands on what they say.
  names <- list(agents = list(mine = function(setting) plan_rule(setting, c(0.5, 0.3, 0.2))),
                models = list(theirs = function(visits, setting) {
                  setting$utility[1, ] <- c(0, 1, 0)
                  plan_kl(setting, 1)
                }))
  study <- misspecification_study(shop, names$agents, names$models, n = Inf)
  expect_close(study$regret, 3 / 4, 1e-8)
  law <- exp(c(0, 1, 0)) / sum(exp(c(0, 1, 0)))
  expect_close(study$disagreement, sum(abs(c(0.5, 0.3, 0.2) - law)) / 2, 1e-6)
  expect_false(study$right)
})
