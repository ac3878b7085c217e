test_that("models that need no second look are stacked as those that do", {
  setting <- diag_setting()
  models <- perturb_models(setting, vary = "both")
  expect_identical(valid_stack(models, setting), stack_models(validate_ibrc_models(models, setting)))
  # Without names, in another form, by rows: the long way.
  other <- model_prior(list(list(transition = unname(setting$transition), emission = setting$emission[, 2:1, ])))
  expect_identical(valid_stack(other, setting), stack_models(validate_ibrc_models(other, setting)))
  bad <- models
  bad$models[[2]]$emission[1] <- 0.9
  expect_refused(valid_stack(bad, setting), "models[[2]]$emission", "sum to 1")
})

test_that("worlds that differ in their numbers are stacked together as each by itself", {
  setting_of <- function(p) {
    decision_setting(c("well", "ill"), c("wait", "test"), c("low", "middle", "high"), rbind(c(p, 1 - p), c(0.1, 0.9)),
                     rbind(c(p, 0.7 * (1 - p), 0.3 * (1 - p)), c(0.2, 0.3, 0.5)), matrix(0, 2, 2), discount = 0.9)
  }
  world <- function(p) {
    setting <- setting_of(p)
    list(setting = setting, models = soften_models(setting, c(0, 0.3)))
  }
  worlds <- lapply(c(0.6, 0.7, 0.9), world)
  # Rows that add up to 1 but for their last digits are rescaled, whoever stands beside them.
  worlds[[2]]$models$models[[1]]$emission <- worlds[[2]]$models$models[[1]]$emission * (1 + 1e-12)
  alone <- function(worlds) lapply(worlds, function(one) valid_stack(one$models, one$setting))
  expect_identical(valid_stacks(worlds), alone(worlds))
  expect_identical(valid_stacks(worlds[1]), alone(worlds[1]))
  # One of them in another form, or with another number of models.
  odd <- worlds
  odd[[3]]$models$models <- lapply(odd[[3]]$models$models, lapply, unname)
  odd[[3]]$models$models[[2]]$transition <- odd[[3]]$models$models[[2]]$transition[, , 1]
  expect_identical(valid_stacks(odd), alone(odd))
  odd[[3]]$models <- model_prior(worlds[[3]]$models$models[1])
  expect_identical(valid_stacks(odd), alone(odd))
  # As many observations as states: each may be seen or hidden.
  seen <- lapply(c(0.5, 1), function(accuracy) {
    setting <- diag_setting(accuracy)
    list(setting = setting, models = own_model(setting))
  })
  expect_identical(valid_stacks(seen), alone(seen))
  worlds[[2]]$models$models[[2]]$emission[1] <- 0.9
  expect_refused(valid_stacks(worlds), "models[[2]]$emission", "sum to 1")
})
