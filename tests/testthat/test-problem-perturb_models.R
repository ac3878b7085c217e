test_that("perturbing DIAG together is the paper's three models", {
  mine <- perturb_models(diag_setting(), by = 0.1)
  expect_equal(unname(lapply(mine$models, `[[`, "emission")), unname(lapply(diag_models()$models, `[[`, "emission")))
  expect_equal(unname(lapply(mine$models, `[[`, "transition")),
               unname(lapply(diag_models()$models, `[[`, "transition")))
})

test_that("rows can move apart: sensitivity, specificity and prevalence", {
  nine <- perturb_models(diag_setting(), apart = TRUE)
  expect_identical(n_models(nine), 9L)
  sensitivity <- vapply(nine$models, function(m) m$emission["diseased", "positive", "monitor"], 0)
  specificity <- vapply(nine$models, function(m) m$emission["healthy", "negative", "monitor"], 0)
  expect_equal(unname(sort(unique(round(sensitivity, 10)))), c(0.6, 0.7, 0.8))
  expect_identical(nrow(unique(round(cbind(sensitivity, specificity), 10))), 9L)
  all_three <- perturb_models(diag_setting(), vary = "both", apart = TRUE)
  expect_identical(n_models(all_three), 27L)
  prevalence <- vapply(all_three$models, function(m) m$transition["healthy", "healthy", "declare_healthy"], 0)
  expect_equal(unname(sort(unique(round(prevalence, 10)))), c(0.4, 0.5, 0.6))
  # What is certain stays: monitoring keeps the state.
  expect_true(all(vapply(all_three$models, function(m) identical(unname(m$transition[, , "monitor"]), diag(2)), NA)))
})

test_that("what is possible stays possible", {
  setting <- with_seed(71, random_setting(3, zeros = 0.4))
  for (law in c("emission", "transition")) {
    for (model in perturb_models(setting, by = 0.9, vary = law)$models) {
      expect_identical(model[[law]] > 0, setting[[law]] > 0)
      expect_close(apply(model[[law]], c(1, 3), sum), rep(1, 9), 1e-14)
    }
  }
  for (model in soften_models(setting, c(0, 0.5, 1))$models) {
    expect_identical(model$emission > 0, setting$emission > 0)
  }
})

test_that("steps out of range are refused", {
  setting <- diag_setting()
  expect_error(perturb_models(setting, by = 0), class = "ibrc_error_input")
  expect_error(perturb_models(setting, by = 1.5), class = "ibrc_error_input")
  expect_error(perturb_models(setting, vary = "utility"), class = "ibrc_error_input")
  expect_error(perturb_models(setting, apart = NA), class = "ibrc_error_input")
  expect_error(perturb_models(with_seed(72, random_setting(4, n_obs = 5)), apart = TRUE), "models, one for each",
               class = "ibrc_error_input")
  expect_error(perturb_models(1), class = "ibrc_error_input")
})

test_that("where everything is certain there is nothing to perturb", {
  certain <- decision_setting(c("a", "b"), "u", c("x", "y"), diag(2), diag(2), matrix(0, 2, 1), discount = 0.5)
  for (vary in c("emission", "transition", "both")) {
    expect_error(perturb_models(certain, vary = vary), "nothing to perturb", class = "ibrc_error_input")
  }
})

test_that("rows next to certainty, as EM leaves them, are perturbed as others are", {
  rows <- list(c(1e-20, 1), c(1, 1e-20), c(1e-300, 1), c(4.9e-324, 1), c(1e-17, 1 - 1e-12, 1e-12), c(1e-9, 0, 1 - 1e-9),
               c(0.5e-6, 1 - 1e-6, 0.5e-6))
  for (row in rows) {
    for (step in c(-0.1, -0.9, 0.1, 1e-9)) {
      moved <- shift_row(row / sum(row), step)
      expect_equal(sum(moved), 1, tolerance = 1e-10)
      expect_identical(moved > 0, row > 0)
      top <- which.max(row)
      expect_equal(moved[top], if (step < 0) max(row[top] + step, row[top] / 2) else 1, tolerance = 2e-6)
      # Others keep their proportions.
      if (min(row[row > 0]) > 1e-100) expect_equal(moved[-top] / sum(moved[-top]), row[-top] / sum(row[-top]))
    }
  }
  expect_identical(shift_row(c(1e-20, 1), 0.1), c(0.5e-20, 1))
  # The two ways to work it out meet.
  near <- c(1e-6, 1 - 1e-6)
  expect_equal(shift_sure_row(near, 2, -0.1), shift_row(near, -0.1), tolerance = 1e-9)
  expect_equal(shift_sure_row(near, 2, 0.1), shift_row(near, 0.1), tolerance = 1e-9)
  setting <- diag_setting()
  setting$emission["healthy", , ] <- c(1, 1e-20)
  for (vary in c("emission", "both")) {
    made <- perturb_models(setting, vary = vary)
    expect_true(all(vapply(made$models, function(model) all(is.finite(unlist(model))), NA)))
  }
})

test_that("models remember their step, and are made again with another", {
  setting <- diag_setting()
  for (vary in c("emission", "both")) {
    models <- perturb_models(setting, by = 0.1, vary = vary, apart = TRUE)
    expect_identical(models$step, list(by = 0.1, vary = vary, apart = TRUE))
    # Whatever setting they stand beside: what was perturbed is in their middle.
    expect_equal(models_at_step(models, diag_setting(0.9), 0.2), perturb_models(setting, 0.2, vary, apart = TRUE))
  }
  weighted <- perturb_models(setting, by = 0.1, weights = c(0.2, 0.3, 0.5))
  expect_identical(unname(models_at_step(weighted, setting, 0.05)$weights), c(0.2, 0.3, 0.5))
  expect_null(models_at_step(diag_models(), setting, 0.2))
  weighted$models[[1]]$emission[1, , 3] <- c(0.5, 0.5)
  expect_null(models_at_step(weighted, setting, 0.2))
})

test_that("rows move together as they move one by one", {
  rows <- with_seed(4, matrix(stats::rexp(60)^3, 12))
  rows[cbind(1:5, 1:5)] <- 0
  rows[12, ] <- c(1e-20, 1, 0, 0, 0)
  rows <- rows / rowSums(rows)
  for (step in c(-0.3, -0.05, 0.05, 0.3)) {
    expect_identical(shift_each_row(rows, step), t(apply(rows, 1, shift_row, step)))
  }
})
