test_that("a rule by logits is the same rule by centres", {
  with_seed(1, for (i in 1:20) {
    logits <- matrix(stats::rnorm(6, sd = 3), 2)
    rule <- centres_of_logits(logits)
    again <- centre_scores(rule$centres, rule$sharpness)
    expect_close(again - again[, 1], logits - logits[, 1], 1e-8)
  })
})

test_that("believed dynamics go from the setting's own to even chances, and what is possible stays so", {
  clinic <- small_clinic()
  expect_null(believed_models(clinic, 0))
  half <- believed_setting(clinic, 0.5)
  expect_true(half$fully_observed)
  expect_identical(half$transition > 0, clinic$transition > 0)
  expect_equal(unname(half$transition["severe", , "wait"]), c(0, 0.3, 0.7))
  blurred <- believed_setting(clinic, 0.3, seeing = TRUE)
  expect_false(blurred$fully_observed)
  expect_equal(unname(diag(blurred$emission[, , 1])), rep(0.8, 3))
})

test_that("a share of chance that was believed in is found again", {
  clinic <- small_clinic()
  truth <- plan_boltzmann(clinic, 0.5, models = believed_models(clinic, 0.6))
  visits <- simulate(truth, 600, seed = 1, horizon = 10)
  found <- subjective_recipe(list(visits = visits, setting = clinic, resolution = 10, seed = 1L))
  estimate <- stats::setNames(found$estimates$estimate, found$estimates$term)
  expect_lt(abs(estimate[["chance"]] - 0.6), 0.2)
  expect_lt(abs(log(estimate[["alpha"]] / 0.5)), 0.3)
})

test_that("the nearest of policies without chance is the nearest of all of them", {
  clinic <- small_clinic()
  shown <- demonstrated(small_visits(), clinic)
  shares <- demonstrated_shares(shown, as_markov(clinic), "visits")
  all <- as.matrix(expand.grid(1:2, 1:2, 1:2))
  far <- apply(all, 1, function(choice) {
    sum(abs(markov_occupancy(shares$markov, sure_policy(choice, 2)) - shares$occupancy))
  })
  expect_identical(unname(nearest_choice(c(1L, 1L, 1L), shares)), unname(all[which.min(far), ]))
})

test_that("the best share is found inside and at both ends", {
  expect_equal(best_share(function(x) -(x - 0.3)^2)$share, 0.3, tolerance = 0.02)
  expect_identical(best_share(function(x) -x)$share, 0)
  expect_identical(best_share(function(x) x)$share, 1)
})

test_that("every class has a recipe", {
  expect_identical(names(model_recipes), decision_models()$model)
})
