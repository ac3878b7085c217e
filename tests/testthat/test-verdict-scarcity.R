# A fit of people in cells of these sizes, with ten visits each; no draws are looked at.
people_of <- function(sizes, formula, ...) {
  cells <- data.frame(...)
  x <- stats::model.matrix(formula, cells)
  levels <- lapply(Filter(function(one) is.character(one) || is.factor(one), cells), function(one) sort(unique(one)))
  list(group_sizes = sizes, n_scored = 10L * sizes,
       effects = list(matrices = list(alpha = x), formulas = list(alpha = list(levels = levels))))
}
scarce <- function(...) scarce_coefficients(people_of(...))

test_that("a coefficient rests on each of the kinds of people between whom it is the difference", {
  arms <- c("a", "b")
  expect_length(scarce(c(60L, 60L), ~ arm, arm = arms), 0)
  expect_identical(scarce(c(60L, 3L), ~ arm, arm = arms), "alpha[armb]")
  expect_identical(scarce(c(3L, 60L), ~ arm, arm = arms), c("alpha", "alpha[armb]"))
  # The same, however it is written.
  for (z in list(c(0, 1), c(FALSE, TRUE), c(10, 20) - 10)) {
    expect_length(scarce(c(3L, 60L), ~ z, z = z), 2)
    expect_length(scarce(c(60L, 3L), ~ z, z = z), 1)
  }
  # Of three arms the others differ from the first.
  arms <- c("a", "b", "c")
  expect_identical(scarce(c(60L, 60L, 3L), ~ arm, arm = arms), "alpha[armc]")
  expect_identical(scarce(c(3L, 60L, 60L), ~ arm, arm = arms), c("alpha", "alpha[armb]", "alpha[armc]"))
  # A column of which little is known says nothing against others.
  cells <- expand.grid(arm = c("a", "b"), sex = c("m", "w"), stringsAsFactors = FALSE)
  expect_identical(scarce(c(60L, 60L, 2L, 1L), ~ arm + sex, arm = cells$arm, sex = cells$sex), "alpha[sexw]")
})

test_that("products and numbers rest on those whom they are learnt from", {
  cells <- expand.grid(sex = c("f", "m"), arm = c("a", "b"), stringsAsFactors = FALSE)
  found <- function(sizes) scarce(sizes, ~ arm * sex, arm = cells$arm, sex = cells$sex)
  expect_length(found(c(60L, 60L, 60L, 60L)), 0)
  # Men of arm a: the difference of sexes there, and how it differs in arm b.
  expect_identical(found(c(60L, 3L, 60L, 60L)), c("alpha[sexm]", "alpha[armb:sexm]"))
  expect_setequal(found(c(3L, 60L, 60L, 60L)), c("alpha", "alpha[armb]", "alpha[sexm]", "alpha[armb:sexm]"))
  expect_identical(found(c(60L, 60L, 60L, 3L)), "alpha[armb:sexm]")
  # A slope within three people.
  age <- c(seq(-2, 2, length.out = 100), -1, 0, 1)
  arm <- rep(c("a", "b"), c(100, 3))
  expect_identical(scarce(rep(1L, 103), ~ age * arm, age = age, arm = arm), c("alpha[armb]", "alpha[age:armb]"))
  expect_length(scarce(rep(1L, 100), ~ age, age = age[1:100]), 0)
  # Two people of a hundred who differ from all others.
  expect_identical(scarce(rep(1L, 102), ~ dose, dose = c(rep(0, 100), 1, 2)), "alpha[dose]")
})

test_that("what is asked of a combination does not depend on units or on which level is first", {
  sizes <- c(3L, 80L, 80L)
  one <- people_of(sizes, ~ arm, arm = c("a", "b", "c"))
  expect_false(rests_on_few(one, "alpha", c(0, -1, 1)))
  expect_true(rests_on_few(one, "alpha", c(0, 0, 1)))
  other <- people_of(sizes, ~ arm, arm = factor(c("a", "b", "c"), c("b", "c", "a")))
  expect_false(rests_on_few(other, "alpha", c(0, 1, 0)))
  expect_identical(scarce_cells(one, "alpha"), scarce_cells(other, "alpha"))
  expect_identical(unname(scarce_cells(one, "alpha")), c(TRUE, FALSE, FALSE))
  x <- with_seed(1, stats::rnorm(40))
  for (unit in c(1e-6, 1, 1e9)) {
    small <- people_of(rep(1L, 40), ~ x, x = unit * x)
    expect_false(rests_on_few(small, "alpha", c(0, 1)))
    small$n_scored <- rep(1L, 40)
    expect_true(rests_on_few(small, "alpha", c(0, 1)))
  }
  # Nobody's pull.
  expect_false(rests_on_few(one, "alpha", c(0, 0, 0)))
})

small_arm <- function(sizes, levels = names(sizes)) {
  setting <- diag_setting()
  visits <- do.call(rbind, lapply(seq_along(sizes), function(k) {
    plan <- plan_agent(setting, bounded_agent(c(0.5, 0.5, 1)[k]), diag_models(), resolution = 10)
    data <- as.data.frame(simulate(plan, sizes[[k]], seed = k))
    data$id <- paste(k, data$id)
    cbind(data, arm = names(sizes)[k])
  }))
  visits$arm <- factor(visits$arm, levels)
  suppressWarnings(ibrc(
    trajectories(visits, covariates = "arm"), setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
    fixed = list(eta = 0, optimism = 0), effects = list(alpha ~ arm), chains = 4, iter = 1500, seed = 1,
    resolution = 10, control = ibrc_control(check = FALSE)
  ))
}

test_that("verdict, identifiability() and comparisons of groups say the same of a small arm, wherever it stands", {
  last <- small_arm(c(a = 80, b = 80, c = 3))
  expect_identical(identifiability(last)$verdict[3], "too few data")
  rows <- standing_verdict(last)
  rows <- rows[rows$check == "identified", ]
  expect_identical(as.character(rows$verdict)[3], "do not use")
  expect_match(rows$advice[3], "people with too few visits")
  first <- small_arm(c(a = 80, b = 80, c = 3), c("c", "a", "b"))
  expect_identical(unique(identifiability(first)$verdict), "too few data")
  # a against b has people enough in both.
  said <- function(fit, ...) {
    found <- as.data.frame(compare_groups(fit, reference = "all", ...))
    stats::setNames(found$verdict == "do not use", apply(found[c("group", "reference")], 1, function(pair) {
      paste(sort(pair), collapse = " ")
    }))
  }
  for (fit in list(last, first)) {
    for (adjusted in c(TRUE, FALSE)) {
      expect_identical(said(fit, adjusted = adjusted)[c("a b", "a c", "b c")],
                       c("a b" = FALSE, "a c" = TRUE, "b c" = TRUE))
    }
    cells <- tidy(fit, effects = "cells")
    expect_identical(cells$verdict == "do not use", as.character(cells$arm) == "c")
  }
})
