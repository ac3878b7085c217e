# The same as kfold() makes of one fold, by ibrc() and log_lik().
by_hand <- function(fit, visits, effects, folds, fold, run) {
  ids <- first_visits(visits)$id
  out <- visits$id %in% ids[folds == fold]
  refits <- plan_population_refits(fit, folds)
  again <- fit_differing(effects, visits[!out, ], iter = run$iter, seed = refits$seed[fold])
  list(fit = again, elpd = log_mean_exp(log_lik(again, newdata = visits[out, ], draws = 40)))
}

test_that("a fold is one refit without its people, who are then judged as people that it has not met", {
  fit <- differing_fit()
  visits <- differing_visits()
  # One clinician as a whole, and some of the others' patients.
  folds <- ifelse(first_visits(visits)$clinician == "c2" | seq_along(first_visits(visits)$id) %in% c(1, 20), 2L, 1L)
  crossed <- suppressWarnings(kfold(fit, folds = folds, iter = 60, draws = 40))
  expect_identical(crossed$refits$left_out, c(28L, 8L))
  expect_identical(as.character(crossed$refits$group), c("all", "all"))
  again <- by_hand(fit, visits, list(optimism ~ arm + sex + (1 | clinician), alpha ~ age * sex), folds, 2L,
                   list(iter = 60))
  expect_false("c2" %in% again$fit$effects$factors[[1]]$levels)
  # Ages are centred where those of the whole fit were: the same model, with other numbers.
  expect_equal(unname(crossed$pointwise[folds == 2, 1]), again$elpd, tolerance = 0.5)
  expect_true(all(crossed$pointwise[, 1] < 0))
})

test_that("numbers are those of ibrc() where nothing is centred, person by person", {
  visits <- differing_visits(3, 3)
  effects <- list(optimism ~ sex + (1 | p | id), alpha ~ (1 | p | id))
  fit <- personal_fit()
  expect_identical(unique(fold_groups(fit)), 1L)
  folds <- c(1L, 1L, 2L, 1L, 2L, 1L, 1L, 1L, 2L)
  crossed <- suppressWarnings(kfold(fit, folds = folds, iter = 40, draws = 40))
  again <- by_hand(fit, visits, effects, folds, 2L, list(iter = 40))
  expect_equal(unname(crossed$pointwise[folds == 2, 1]), again$elpd)
})

test_that("a design with some of its cells has the levels of these", {
  design <- differing_fit()$effects
  some <- which(design$factors[[1]]$level %in% c(2, 5))
  part <- part_of_design(design, some)
  expect_identical(part$factors[[1]]$levels, c("c2", "c5"))
  expect_identical(part$factors[[1]]$levels[part$factors[[1]]$level],
                   design$factors[[1]]$levels[design$factors[[1]]$level[some]])
  expect_identical(nrow(part$matrices$alpha), length(some))
  expect_identical(part$cells, design$cells[some])
  expect_refused(kfold(differing_fit(), start = "fit"), "start", "differ")
})
