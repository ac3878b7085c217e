# A design of people with these columns.
design_of <- function(formula, columns) {
  people <- list(columns = columns, n = length(columns[[1]]))
  formula <- learn_formula(read_effect(formula), people)
  x <- formula_matrix(formula, people)
  list(terms = "alpha", formulas = list(alpha = formula), matrices = list(alpha = x), factors = list(),
       cells = paste("cell", seq_len(people$n)))
}

people <- list(sex = c("f", "m", "f", "m"), dose = c(1, 2, 4, 8), site = factor(c("x", "y", "z", "x")),
               old = c(TRUE, FALSE, TRUE, TRUE))

test_that("covariates are those that were given", {
  design <- design_of(alpha ~ sex * dose + site + old, people)
  found <- cell_covariates(design)
  expect_identical(found$sex, people$sex)
  expect_equal(found$dose, people$dose)
  expect_identical(found$site, as.character(people$site))
  expect_identical(found$old, c("TRUE", "FALSE", "TRUE", "TRUE"))
  expect_equal(cell_covariates(design_of(alpha ~ log(dose), people))$`log(dose)`, log(people$dose))
  expect_identical(cell_covariates(design_of(alpha ~ (dose > 2), people))$`dose > 2`, people$dose > 2)
})

test_that("columns at another level are those that a formula gives people who have it", {
  for (formula in list(alpha ~ sex * dose, alpha ~ sex * log(dose) + old, alpha ~ I(dose^2) * sex)) {
    design <- design_of(formula, people)
    set <- columns_at_levels(design, "alpha", "sex")
    expect_named(set, c("f", "m"))
    for (level in c("f", "m")) {
      there <- list(columns = replace(people, "sex", list(rep(level, 4))), n = 4)
      expect_equal(set[[level]], formula_matrix(design$formulas$alpha, there))
    }
  }
  test <- columns_at_levels(design_of(alpha ~ (dose > 2) + sex, people), "alpha", "dose > 2")
  expect_equal(test[["TRUE"]][, 2], rep(1, 4), ignore_attr = TRUE)
  expect_named(factor_variables(design_of(alpha ~ sex * dose + old, people), "alpha"), c("sex", "old"))
})

test_that("variables in products alone cannot be set", {
  design <- design_of(alpha ~ sex + sex:dose, people)
  expect_refused(columns_at_levels(design, "alpha", "sex"), "fit", "a \\* b")
  expect_true("alpha[sexf:dose]" %in% names(cell_covariates(design)))
})

test_that("columns of visits are split where levels are made of several", {
  design <- differing_fit()$effects
  expect_setequal(names(visit_columns(design)), c("arm", "sex", "age", "clinician"))
  design$factors[[1]]$columns <- c("site", "clinician")
  design$factors[[1]]$levels <- paste0("s", 1:6, ":c", 1:6)
  expect_identical(visit_columns(design)$clinician[1], "c1")
  design$factors[[1]]$levels[1] <- "s:1:c1"
  expect_refused(visit_columns(design), "object", "colon")
  # Whose trajectory it was is nobody's business.
  expect_identical(names(visit_columns(personal_fit()$effects)), "sex")
})

test_that("people at another level are the same wherever numbers are measured from", {
  moved <- replace(people, "dose", list(people$dose / 7 - 40))
  for (level in c("f", "m")) {
    here <- columns_at_levels(design_of(alpha ~ sex * dose + old, people), "alpha", "sex")[[level]]
    there <- columns_at_levels(design_of(alpha ~ sex * dose + old, moved), "alpha", "sex")[[level]]
    expect_equal(there, here / rep(ifelse(grepl("dose", colnames(here)), 7, 1), each = 4), tolerance = 1e-10)
  }
  two <- design_of(alpha ~ arm * sex, list(arm = c(3, 3, 8, 8), sex = people$sex))
  expect_equal(cell_covariates(two)$arm, c(3, 3, 8, 8))
  expect_equal(two$matrices$alpha[, "arm:sexm"], c(0, 0, 0, 5))
})
