# A setting that only takes laws, of dynamics with shared transitions, with those of each action, and by start group.
plain_clinic <- function(d) {
  as_setting(d, cbind(wait = c(0, 0), test = c(-1, -1)), 0.9, belief_utility = certainty_bonus(2, 0.8))
}
stepped_dynamics <- function() {
  list(ward_iohmm(transitions = "shared"), ward_iohmm(prior = iohmm_prior(0.5, 0.3, 0.2, stay = 1)),
       ward_iohmm(transitions = "shared", start_by = "ward"))
}
step_recipe <- function(iohmm, models) {
  recipe <- read_recipe(plain_clinic, models, character(), list(), "d")
  open_recipe(with_codec(recipe, new_codec(iohmm)), ward_prior())
}
# What the function returns at each of the recipe's vectors.
laws_one_by_one <- function(recipe) {
  lapply(seq_len(nrow(recipe$vectors)), function(i) {
    law_of(world_at(recipe, list(), laws_from(recipe$codec, recipe$vectors[i, ])), recipe, list())
  })
}

test_that("models a step away are those of the function, to the last bit, for all worlds at once", {
  for (iohmm in stepped_dynamics()) {
    for (models in list(
      clinic_step, function(setting) ibrc::perturb_models(setting, 0.3, "transition"),
      function(setting) perturb_models(by = 0.05, vary = "both", setting = setting, weights = c(0.6, rep(0.05, 8)))
    )) {
      recipe <- step_recipe(iohmm, models)
      expect_false(is.null(recipe$step))
      n_terms <- length(recipe$codec$prior)
      recipe$vectors <- vectors_of(recipe$codec, with_seed(1, matrix(stats::plogis(3 * stats::rnorm(5 * n_terms)), 5)))
      expect_identical(stepped_laws(recipe, 1:5), laws_one_by_one(recipe))
      expect_identical(stepped_laws(recipe, 4L), laws_one_by_one(recipe)[4])
      recipe$tilt <- 2L
      expect_identical(stepped_laws(recipe, 1:5), laws_one_by_one(recipe))
    }
  }
})

test_that("where a law has become certain the function is asked, and says what it always says", {
  recipe <- step_recipe(ward_iohmm(transitions = "shared"), function(setting) perturb_models(setting, 0.1, "both"))
  fractions <- matrix(rep(recipe$at, 2), 2, byrow = TRUE)
  fractions[2, startsWith(names(recipe$codec$prior), "transition")] <- 1
  recipe$vectors <- vectors_of(recipe$codec, fractions)
  expect_null(stepped_laws(recipe, 1:2))
  expect_null(stepped_laws(recipe, 2L))
  expect_error(laws_one_by_one(recipe), "as many models at all values", class = "ibrc_error_input")
  # Rows that move apart are not moved together.
  expect_null(step_recipe(ward_iohmm(transitions = "shared"), function(setting) {
    perturb_models(setting, apart = TRUE)
  })$step)
  expect_null(move_laws(list(array(NA_real_, c(2, 2, 1))), 0))
  expect_null(move_laws(list(array(c(-1, 2, 2, -1), c(2, 2, 1))), 0))
})

test_that("a variable that changes after a recipe was opened changes nothing, for chains or for what is made of them", {
  step <- 0.1
  recipe <- step_recipe(ward_iohmm(transitions = "shared"), function(setting) perturb_models(setting, step))
  recipe$vectors <- vectors_of(recipe$codec, matrix(recipe$at, 1))
  before <- laws_one_by_one(recipe)
  step <- 0.4
  expect_identical(laws_one_by_one(recipe), before)
  expect_identical(stepped_laws(recipe, 1L), before)
  natural <- cbind(alpha = 1, optimism = 0)
  found <- recipe_problem(recipe, natural, ward_prior(), build_problem(recipe$like$setting, recipe$like$models, 6))
  expect_identical(found$models$step$by, 0.1)
})

test_that("a posterior is the same whether the function is asked or not", {
  iohmm <- ward_iohmm(transitions = "shared")
  inverse <- ward_inverse(setting = plain_clinic)
  expect_false(is.null(inverse$recipe$step))
  evaluator <- joint_evaluator(inverse, dynamics_tree(iohmm), 3, 1L)
  theta <- cbind(matrix(stats::qlogis(evaluator$joint$codec$estimate), 3, length(evaluator$joint$codec$prior), TRUE),
                 log(0.5), 0.3, log(0.4), -0.2)
  theta <- theta + with_seed(1, stats::rnorm(length(theta), sd = 0.1))
  asked <- evaluator
  asked$agent$recipe$step <- NULL
  start <- matrix(0, 2 * evaluator$agent$n_values, 3)
  expect_identical(evaluate_joint(evaluator, theta, start), evaluate_joint(asked, theta, start))
})
