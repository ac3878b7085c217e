actions <- diag_setting()$actions

test_that("a stick is broken and put together again", {
  p <- rbind(c(0.2, 0.3, 0.5), c(0.9, 0.05, 0.05), c(1, 2, 3) / 6)
  expect_close(from_sticks(to_sticks(p)), p, 1e-14)
  expect_close(rowSums(from_sticks(matrix(stats::runif(40), 10))), rep(1, 10), 1e-12)
  expect_close(from_sticks(matrix(0.3)), rbind(c(0.3, 0.7)), 1e-15)
})

test_that("the fractions' priors make up the Dirichlet distribution", {
  a <- c(2, 1, 0.5)
  prior <- validate_ibrc_prior(ibrc_prior(alpha ~ lognormal(0, 1), action_prior ~ dirichlet(2, 1, 0.5)), diag_setting())
  expect_named(prior, c("alpha", "action_prior[declare_healthy]", "action_prior[declare_diseased|rest]"))
  expect_identical(simplex_columns(prior, "action_prior"), 2:3)
  # The density of the fractions, with the Jacobian of breaking the stick, is that of the probabilities.
  p <- c(0.2, 0.3, 0.5)
  v <- to_sticks(rbind(p))
  log_dirichlet <- sum((a - 1) * log(p)) + lgamma(sum(a)) - sum(lgamma(a))
  broken <- sum(log(mapply(natural_density, unclass(prior)[2:3], v)))
  expect_close(broken - log(1 - v[1]), log_dirichlet, 1e-12)
  # Each probability has a beta distribution by itself.
  marginal <- reported_prior(prior, actions)
  expect_named(marginal, c("alpha", simplex_terms("action_prior", actions)))
  draws <- with_seed(1, prior_natural(prior, prior_draw(prior, 4000)))
  values <- reported_values(prior, draws, actions)
  expect_identical(colnames(values), names(marginal))
  for (k in 1:3) {
    expect_gt(stats::ks.test(values[, k + 1], stats::pbeta, a[k], sum(a[-k]))$p.value, 0.001)
    expect_identical(marginal[[k + 1]]$args, c(shape1 = a[k], shape2 = sum(a[-k])))
  }
  # One number is for all, and names may stand in any order.
  one <- validate_ibrc_prior(ibrc_prior(action_prior ~ dirichlet(3)), diag_setting())
  expect_identical(one[[1]]$args, c(shape1 = 3, shape2 = 6))
  by_name <- ibrc_prior(action_prior ~ dirichlet(monitor = 0.5, declare_healthy = 2, declare_diseased = 1))
  expect_identical(lapply(unclass(validate_ibrc_prior(by_name, diag_setting())), `[[`, "args"),
                   lapply(unclass(prior)[2:3], `[[`, "args"))
})

test_that("a prior that is no Dirichlet prior of a simplex is refused", {
  refused <- function(pattern, ...) expect_error(..., pattern, class = "ibrc_error_input")
  refused("is a simplex", ibrc_prior(action_prior ~ normal(0, 1)))
  refused("0.05 or more", ibrc_prior(action_prior ~ dirichlet(1, 0)))
  refused("empty place", ibrc_prior(action_prior ~ dirichlet(1, , 2)))
  refused("needs numbers", ibrc_prior(action_prior ~ dirichlet()))
  refused("needs numbers", ibrc_prior(action_prior ~ dirichlet("a")))
  refused("2 numbers in dirichlet\\(\\) for 3 actions",
          validate_ibrc_prior(ibrc_prior(action_prior ~ dirichlet(1, 2)), diag_setting()))
  refused("alpha", ibrc_prior(alpha ~ dirichlet(1)))
  visits <- clinic_visits()
  refused("do one or the other", ibrc(visits, diag_setting(), prior = ibrc_prior(alpha ~ lognormal(0, 1),
                                                                                action_prior ~ dirichlet(1)),
                                      fixed = list(action_prior = c(0.2, 0.3, 0.5))))
  refused("action_prior", ibrc(visits, diag_setting(), prior = ibrc_prior(alpha ~ lognormal(0, 1)),
                               fixed = list(action_prior = c(0.5, 0.5))))
  expect_error(ibrc(visits, diag_setting(), prior = ibrc_prior(alpha ~ lognormal(0, 1)),
                    fixed = list(action_prior = c(0, 0.5, 0.5))), "prior probability 0", class = "ibrc_error_data")
})

test_that("an action prior is recovered, held and inferred, and reported as probabilities", {
  setting <- diag_setting()
  truth <- c(0.1, 0.2, 0.7)
  plan <- plan_agent(setting, bounded_agent(alpha = 4, action_prior = truth), diag_models(), resolution = 30)
  visits <- simulate(plan, 400, seed = 1)
  fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1.5), action_prior ~ dirichlet(1)),
              list(optimism = 0), chains = 2, iter = 2400, seed = 1, resolution = 30)
  table <- tidy(fit)
  expect_identical(table$term, c("alpha", simplex_terms("action_prior", actions)))
  inside <- table$conf.low < c(4, truth) & c(4, truth) < table$conf.high
  expect_true(all(inside))
  expect_true(all(table$conf.high[-1] - table$conf.low[-1] < 0.2))
  expect_true(all(table$contraction > 0.9))
  wide <- posterior::as_draws_matrix(fit)
  expect_close(unname(rowSums(wide[, -1])), rep(1, nrow(wide)), 1e-12)
  expect_identical(levels(as.data.frame(fit)$term), table$term)
  expect_named(coef(fit), table$term)
  expect_identical(prior_summary(fit)$term, table$term)
  expect_identical(levels(fit_plot_data(fit)$term), table$term)
  # Taken for uniform, alpha is off; held at the truth it is not.
  alpha_with <- function(fixed) {
    tidy(ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1.5)), c(list(optimism = 0), fixed),
              chains = 2, iter = 600, seed = 1, resolution = 30))
  }
  held <- alpha_with(list(action_prior = truth))
  expect_true(held$conf.low < 4 && 4 < held$conf.high)
  uniform <- alpha_with(list())
  expect_false(uniform$conf.low < 4 && 4 < uniform$conf.high)
  # A plan of it, a mode, a checkpoint and a comparison.
  imitated <- project_behavior(fit)
  expect_close(imitated$agent$action_prior, truth, 0.06)
  mode <- ibrc_mode(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1.5), action_prior ~ dirichlet(1)),
                    list(optimism = 0), starts = 1, seed = 1, resolution = 30)
  expect_identical(tidy(mode)$term, table$term)
  expect_close(tidy(mode)$estimate[-1], table$estimate[-1], 0.03)
  expect_close(sum(tidy(mode)$estimate[-1]), 1, 1e-12)
  # The profile of the first, the curvature of the others: about the intervals of the posterior.
  expect_close(tidy(mode)$conf.low, table$conf.low, 0.4)
  expect_close(tidy(mode)$conf.high[-1], table$conf.high[-1], 0.03)
  expect_named(coef(mode), table$term)
  # The same words about every probability, and pages that show them.
  said <- identifiability(fit)
  expect_identical(said$term, table$term)
  expect_identical(said$verdict, rep("identified", 4))
  skip_if_not_installed("htmltools")
  skip_if_not_installed("ggplot2")
  expect_type(report_sections(fit), "list")
  expect_gt(as.numeric(logLik(mode)), sum(log_lik(plan, visits)))
})

test_that("a fit with an action prior goes on exactly, and its groups are compared by probabilities", {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1.5), action_prior ~ dirichlet(2, 2, 2))
  path <- withr::local_tempfile(fileext = ".ibrc")
  fit <- ibrc(clinic_visits(), diag_setting(), diag_models(), prior, by = "clinic", chains = 2, iter = 60, seed = 1,
              resolution = 20, file = path)
  expect_identical(resume(path)$draws, fit$draws)
  compared <- compare_groups(fit)
  expect_identical(compared$term, c("alpha", simplex_terms("action_prior", actions)))
  expect_identical(compared$scale, c("ratio", rep("difference", 3)))
  expect_close(sum(compared$estimate[-1]), 0, 0.2)
})

test_that("the prior of a fit is taken by the names of its actions", {
  stated <- ibrc_prior(alpha ~ lognormal(0, 1), action_prior ~ dirichlet(monitor = 9, declare_healthy = 2,
                                                                        declare_diseased = 1))
  known <- validate_ibrc_prior(stated, diag_setting())
  expect_identical(validate_ibrc_prior(known, diag_setting()), known)
  turned <- diag_setting()
  turned$actions <- rev(turned$actions)
  again <- validate_ibrc_prior(known, turned)
  numbers <- function(prior) lapply(unclass(prior), `[[`, "args")
  expect_identical(numbers(again), numbers(validate_ibrc_prior(stated, turned)))
  expect_identical(again[[2]]$args, c(shape1 = 9, shape2 = 3))
  other <- diag_setting()
  other$actions[1] <- "wait"
  expect_error(validate_ibrc_prior(known, other), "action_prior", class = "ibrc_error_input")
  expect_error(validate_ibrc_prior(new_ibrc_prior(unclass(known)[-2]), diag_setting()), "part of an action prior",
               class = "ibrc_error_input")
  collide <- diag_setting()
  collide$actions <- c("b|rest", "b", "z")
  plain <- ibrc_prior(action_prior ~ dirichlet(1))
  expect_error(validate_ibrc_prior(plain, collide), "rest", class = "ibrc_error_input")
})

test_that("what is held is printed by name, and chains start from what a fit reports", {
  held <- named_fixed(list(action_prior = c(monitor = 0.6, declare_healthy = 0.1, declare_diseased = 0.3), eta = NULL),
                      diag_setting())
  expect_identical(fixed_words(held), "action_prior = (declare_healthy 0.1, declare_diseased 0.3, monitor 0.6)")
  prior <- validate_ibrc_prior(ibrc_prior(alpha ~ lognormal(0, 1), action_prior ~ dirichlet(1)), diag_setting())
  start <- cbind(alpha = 2, "action_prior[declare_healthy]" = 0.2, "action_prior[declare_diseased]" = 0.3,
                 "action_prior[monitor]" = 0.5)
  theta <- given_start(prior, start, 1)
  expect_close(from_sticks(prior_natural(prior, theta)[, 2:3, drop = FALSE])[1, ], c(0.2, 0.3, 0.5), 1e-12)
})
