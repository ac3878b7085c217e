test_that("fits, modes and jobs have one evaluator", {
  fit <- clinic_fit()
  evaluator <- inverse_evaluator(fit)
  theta <- prior_unconstrain(fit$prior, rbind(c(0.5, 0.2), c(4, 0.2)))
  at <- evaluate_batch(evaluator, theta, matrix(0, fit$problem$space$n_nodes, 2))
  # One vector per group, worked out from plans made anew.
  for (g in 1:2) {
    group <- names(fit$draws)[g]
    plan <- plan_agent(diag_setting(), bounded_agent(alpha = c(0.5, 4)[g], optimism = 0.2), diag_models())
    part <- trajectories(as.data.frame(clinic_visits())[clinic_visits()$clinic == group, ])
    expect_close(at$log_likelihood[g], sum(log_lik(plan, part)), 1e-6)
  }
  mode <- ibrc_mode(clinic_visits(), diag_setting(), diag_models(), fit$prior, by = "clinic", starts = 1, seed = 1,
                    conf.level = NULL)
  expect_identical(evaluate_batch(inverse_evaluator(mode), theta, matrix(0, fit$problem$space$n_nodes, 2)), at)
})

test_that("the plan at natural values is the one that their likelihood was worked out with", {
  fit <- pooled_fit()
  natural <- rbind(c(alpha = 0.7, optimism = -0.4))
  theta <- prior_unconstrain(fit$prior, natural)
  at <- evaluate_batch(inverse_evaluator(fit), theta, matrix(0, fit$problem$space$n_nodes, 1))
  plan <- plan_at(fit, natural)
  expect_identical(plan$solution$value, at$value[, 1])
  expect_close(sum(log_lik(plan, clinic_visits())), at$log_likelihood, 1e-9)
})

test_that("with something else assumed, the rest stays, and what is held goes by what it is", {
  fit <- pooled_fit()
  same <- changed_inverse(fit, list())
  expect_identical(same[c("problem", "prior", "fixed", "tolerance", "histories")],
                   unclass(fit)[c("problem", "prior", "fixed", "tolerance", "histories")])
  fit$fixed <- list(adaptivity = 2, discount = 0.9)
  changed <- changed_inverse(fit, list(fixed = list(eta = 0.1), discount = 0.8))
  expect_mapequal(changed$fixed, list(eta = 0.1, discount = 0.8))
  fit$problems <- list(north = fit$problem)
  changed <- changed_inverse(fit, list(utility = function(utility) 2 * utility, resolution = 5))
  expect_identical(changed$problem, changed$problems$north)
  expect_equal(changed$problem$setting$utility, 2 * fit$problem$setting$utility)
  expect_identical(changed$problem$resolution, 5L)
})
