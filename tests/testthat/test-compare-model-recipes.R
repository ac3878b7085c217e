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
  found <- subjective_recipe(NULL, list(visits = visits, setting = clinic, resolution = 10, seed = 1L))
  estimate <- stats::setNames(found$estimates$estimate, found$estimates$term)
  expect_lt(abs(estimate[["chance"]] - 0.6), 0.2)
  expect_lt(abs(log(estimate[["alpha"]] / 0.5)), 0.3)
})

test_that("the best share is found inside and at both ends", {
  expect_equal(best_share(function(x) -(x - 0.3)^2)$share, 0.3, tolerance = 0.02)
  expect_identical(best_share(function(x) -x)$share, 0)
  expect_identical(best_share(function(x) x)$share, 1)
})

test_that("a robust agent leans to what hurts, and one that does not is not taken for one", {
  clinic <- small_clinic()
  models <- neighbouring_models(clinic)
  run <- function(optimism, n = 1500) {
    agent <- plan_agent(clinic, bounded_agent(alpha = 1, optimism = optimism), models)
    robust_recipe(NULL, list(visits = simulate(agent, n, seed = 1, horizon = 10), setting = clinic, resolution = 10,
                             seed = 1L))
  }
  aversion <- function(made) made$estimates$estimate[made$estimates$term == "aversion"]
  wary <- run(-1)
  # In the range of the utility, 7, an optimism of -1 is an aversion of 7.
  expect_gt(aversion(wary), 2)
  expect_lt(aversion(run(1)), 0.5)
  expect_equal(unname(policy(wary$plan)),
               unname(policy(plan_agent(clinic, bounded_agent(alpha = 0, optimism = -aversion(wary) / 7), models))))
  expect_lt(wary$plan$agent$beta, 0)
})

test_that("an aversion at the end of its range is said to be there, and is no estimate", {
  expect_match(aversion_note(list(share = 1, bounded = c(TRUE, FALSE)), FALSE), "20 is the largest value.*bound, not")
  expect_match(aversion_note(list(share = 0.4, bounded = c(FALSE, FALSE)), FALSE), "not identified")
  expect_null(aversion_note(list(share = 0.4, bounded = c(TRUE, TRUE)), FALSE))
})

test_that("prices and shares are settled only where the data tell them from the ends", {
  steep <- best_price(1, function(alpha) -10 * log(alpha)^2)
  expect_true(price_estimate(steep)$identified)
  expect_null(price_note(steep))
  rising <- best_price(1, function(alpha) -10 / alpha)
  expect_false(price_estimate(rising)$identified)
  expect_match(price_note(rising), "from above")
  expect_false(share_estimate(best_share(function(x) -x))$identified)
  expect_true(share_estimate(best_share(function(x) -9 * x))$identified)
})

test_that("where a discount leaves states without weight, every visit counts", {
  clinic <- small_clinic()
  classes <- decision_models()
  some <- classes[classes$model %in% c("BC-IL", "Stoc. DM-IL", "ME-IRL"), ]
  for (discount in c(0, 0.05)) {
    clinic$discount <- discount
    seen <- simulate(plan_kl(clinic, 0.5), 400, seed = 1, horizon = 6)
    compared <- compare_models(seen, clinic, some, seed = 1, replicates = 10)
    expect_lt(diff(range(compared$log_loss)), 0.003)
    expect_match(compared$note[2:3], "every visit counted as a first one", all = TRUE)
    plan <- attr(compared, "made")[["ME-IRL"]]$plan
    expect_identical(plan$setting$start, clinic$start)
  }
})

test_that("follow-up that ends early does not change what distribution matching finds", {
  clinic <- small_clinic()
  clinic$discount <- 0.95
  classes <- decision_models()
  some <- classes[classes$model %in% c("BC-IL", "Det. DM-IL", "Stoc. DM-IL"), ]
  seen <- simulate(plan_kl(clinic, 2), 2000, seed = 1, horizon = 3)
  compared <- compare_models(seen, clinic, some, seed = 1, replicates = 10)
  policies <- lapply(attr(compared, "made"), function(made) unname(policy(made$plan)))
  expect_close(policies[["Stoc. DM-IL"]], policies[["BC-IL"]], 1e-6)
  # One that always does the same is found whole.
  sure <- simulate(plan_mdp(clinic), 200, seed = 1, horizon = 3)
  compared <- compare_models(sure, clinic, some, seed = 1, replicates = 10)
  expect_identical(compared$agreement, rep(1, 3))
})

test_that("what the data do not settle of an agent is flagged", {
  task <- list(visits = small_visits(), setting = small_clinic(), resolution = 10, seed = 1L)
  made <- bounded_recipe(NULL, task)
  expect_identical(made$estimates$identified, made$estimates$term == "alpha")
  expect_match(made$note, "do not bound optimism: not identified")
  expect_no_match(made$note, "conf.level")
})

test_that("every class has a recipe", {
  expect_identical(names(model_recipes), decision_models()$model)
})
