# Fits of people who differ whose dynamics are inferred with them.

test_that("a run with laws goes on from any of its files as if it had not been stopped, on any number of threads", {
  go <- function(...) doctor_run(iter = 20, warmup = 10, ...)
  whole <- expect_resumed(go, c(4, 12))
  stopped <- suppressWarnings(stop_population_at(15, go()))
  expect_true(stopped$interrupted)
  expect_identical(stopped$population$draws, whole$population$draws[1:5, , , drop = FALSE])
  expect_identical(stopped$dynamics$draws, whole$dynamics$draws[1:5, , , drop = FALSE])
  longer <- suppressWarnings(extend_fit(stopped, 5))
  expect_identical(longer$dynamics$draws, whole$dynamics$draws)
  expect_identical(longer$draws, whole$draws)
})

test_that("draws of laws stand beside those of the population, and cells follow from them", {
  fit <- doctor_fit()
  expect_identical(dim(fit$dynamics$draws), c(30L, 2L, 7L))
  laws <- tidy(fit, "dynamics")
  expect_identical(nrow(laws), 14L)
  expect_true(all(c("estimate", "learned", "rhat") %in% names(laws)))
  expect_identical(dimnames(posterior::as_draws_array(fit))$variable,
                   c("alpha", "optimism", "optimism[wardwest]", "sd(optimism|doctor)", laws$term))
  # The density that is kept is that of the draw.
  evaluator <- population_evaluator(doctor_inverse(), 1, 1L, tree = fit$dynamics$tree)
  shape <- evaluator$population
  at <- fit$population$draws[7, 2, ]
  b <- rbind(c(log(at[1]), at[2:3]))
  s <- rbind(log(at[4]))
  u <- rbind(fit$population$intercepts[7, 2, ])
  d <- rbind(stats::qlogis(fit$dynamics$draws[7, 2, ]))
  cells <- cell_log_lik(at_laws(evaluator, d), cells_of(shape, b, u), matrix(0, evaluator$agent$n_values, 6))
  total <- log_population(shape, b, s, u) + log_laws(shape, d) + seen_log_lik(evaluator, d) + sum(cells$log_likelihood)
  expect_close(total, fit$population$log_posterior[7, 2], 1e-5)
  # What looks at draws plans for each with its laws.
  people <- log_lik(fit, draws = 4)
  expect_true(all(is.finite(people)))
  expect_output(print(fit), "lattice, models, habit: not looked at")
})

test_that("without data laws and people have the density of their priors", {
  fit <- doctor_run(sample_prior = "only", iter = 30, warmup = 10)
  shape <- population_shape(fit$effects, fit$prior)
  at <- fit$population$draws[9, 1, ]
  d <- stats::qlogis(fit$dynamics$draws[9, 1, ])
  by_hand <- log_population(shape, rbind(c(log(at[1]), at[2:3])), rbind(log(at[4])),
                            rbind(fit$population$intercepts[9, 1, ])) +
    sum(prior_log_density(fit$recipe$codec$prior, rbind(d)))
  expect_close(fit$population$log_posterior[9, 1], by_hand, 1e-8)
  expect_gt(length(unique(fit$dynamics$draws[, 1, 1])), 5)
})
