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
