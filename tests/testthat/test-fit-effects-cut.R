# Fits of people who differ under draws of the dynamics, and what cannot be had with either.

test_that("what cannot go with effects and dynamics is refused before any work, or said", {
  refused <- function(argument, pattern, ...) expect_refused(doctor_run(...), argument, pattern)
  for (uncertainty in c("joint", "cut")) {
    refused("cells", "one by one", uncertainty = uncertainty, control = list(cells = "interpolated"))
    refused("sampler", "adaptive", uncertainty = uncertainty, control = list(sampler = "paper"))
    refused("start", "cannot be given", uncertainty = uncertainty, control = list(start = data.frame(alpha = 1)))
  }
  priced <- function(dynamics, bonus) clinic_of(dynamics, bonus)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), bonus ~ lognormal(0.7, 0.3))
  refused("uncertainty", "quantities that are inferred", setting = priced, prior = prior, uncertainty = "cut")
  refused("models", "function of the setting", models = clinic_step(clinic_of(clinic_truth())))
  local_replacement("many_cells", 6L)
  expect_warning(look_at_cells(doctor_inverse(), list(chains = 2L), "auto", FALSE), "6 cells in 2 chains",
                 class = "ibrc_warning_cells")
  local_replacement("many_cells", 7L)
  expect_no_warning(look_at_cells(doctor_inverse(), list(chains = 2L), "auto", FALSE))
})

test_that("a run under draws of the dynamics goes on as if it had not been stopped, and ends as one fit", {
  local_replacement("cut_draws", 2L)
  whole <- expect_resumed(function(...) doctor_run(uncertainty = "cut", iter = 20, warmup = 10, ...), c(4, 12))
  expect_identical(whole$dynamics$uncertainty, "cut")
  expect_refused(extend_fit(whole), "fit", "cannot be extended")
})

test_that("draws of the dynamics are fitted one by one, each by chains of its own", {
  fit <- doctor_cut()
  expect_identical(dim(fit$population$draws)[2], 6L)
  expect_identical(fit$run$chains, 6L)
  expect_identical(fit$dynamics$chains_per_draw, 2L)
  # Laws stay, and are those of the draw.
  laws <- fit$dynamics$draws
  expect_true(all(laws == laws[rep(1, 20), c(1, 1, 3, 3, 5, 5), ]))
  expect_gt(max(abs(laws[1, 1, ] - laws[1, 3, ])), 0.001)
  held <- function(k) {
    recipe <- fit$recipe
    inverse <- doctor_inverse()
    inverse["recipe"] <- list(NULL)
    inverse$problem <- problems_at_laws(recipe, rbind(laws[1, k, ]), fit$problem)[[1]]
    population_evaluator(inverse, 1, 1L)
  }
  for (k in c(1, 6)) {
    evaluator <- held(k)
    shape <- evaluator$population
    at <- fit$population$draws[5, k, ]
    b <- rbind(c(log(at[1]), at[2:3]))
    u <- rbind(fit$population$intercepts[5, k, ])
    cells <- cell_log_lik(evaluator, cells_of(shape, b, u), matrix(0, evaluator$agent$n_values, 6))
    expect_close(log_population(shape, b, rbind(log(at[4])), u) + sum(cells$log_likelihood),
                 fit$population$log_posterior[5, k], 1e-5)
  }
  table <- suppressWarnings(tidy(fit))
  one <- fit$population$draws[, , "alpha"]
  each <- vapply(c(1, 3, 5), function(c) posterior::rhat(one[, c + 0:1]), 0)
  expect_equal(table$rhat[1], max(each))
  expect_output(suppressWarnings(print(fit)), "under each of 3 draws")
})
