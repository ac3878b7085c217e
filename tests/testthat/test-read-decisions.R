test_that("a fit predicts the mean over its draws, group by group, on its own visits too", {
  fit <- clinic_fit()
  visits <- clinic_visits()
  # Each trajectory's rows stand together there, in order of first appearance.
  expect_close(as.matrix(predict(fit, draws = 20)), as.matrix(predict(fit, visits, draws = 20)), 1e-12)
  expect_identical(dim(predict(fit, draws = 4, summary = FALSE)), c(4L, nrow(visits), 3L))
  expect_close(predict(fit, draws = 4, summary = FALSE), predict(fit, visits, draws = 4, summary = FALSE), 1e-12)
  # By hand, for one group at one draw.
  south <- visits[visits$clinic == "south", ]
  at <- spaced_draws(fit, 1)
  drawn <- fit$draws$south[at$.iteration, at$.chain, ]
  agent <- bounded_agent(alpha = drawn[["alpha"]], optimism = drawn[["optimism"]], eta = 0)
  own <- predict(plan_agent(diag_setting(), agent, diag_models()), south)
  expect_close(as.matrix(predict(fit, south, draws = 1)), as.matrix(own), 1e-7)
})

test_that("groups are taken from the visits, and must be known", {
  fit <- clinic_fit()
  visits <- clinic_visits()
  both <- as.matrix(predict(fit, visits, draws = 5))
  swapped <- visits
  swapped$clinic <- ifelse(visits$clinic == "north", "south", "north")
  expect_gt(max(abs(as.matrix(predict(fit, swapped, draws = 5)) - both)), 0.01)
  south <- visits$clinic == "south"
  expect_close(as.matrix(predict(fit, visits[south, ], draws = 5)), both[south, ], 1e-12)
  visits$clinic[1:200] <- "west"
  expect_error(predict(fit, visits), class = "ibrc_error")
  visits$clinic <- NULL
  expect_error(predict(fit, visits), class = "ibrc_error")
})

test_that("a mode predicts what the plan at its estimates predicts", {
  visits <- clinic_visits()
  prior <- ibrc_prior(alpha ~ lognormal(0, 1.5), optimism ~ normal(0, 1))
  mode <- ibrc_mode(visits, diag_setting(), diag_models(), prior, by = "clinic", resolution = 20, starts = 2,
                    conf.level = NULL, seed = 1)
  plans <- project_behavior(mode)
  for (clinic in c("north", "south")) {
    mine <- visits$clinic == clinic
    expect_close(as.matrix(predict(mode, visits)[mine, ]), as.matrix(predict(plans[[clinic]], visits[mine, ])), 1e-12)
    who <- as.character(unique(visits$id[mine]))
    expect_close(log_lik(mode, visits)[who], log_lik(plans[[clinic]], visits[mine, ]), 1e-12)
  }
  expect_close(sum(log_lik(mode, visits)), as.numeric(logLik(mode)), 1e-6)
  # Those it was made from, of which it knows no names.
  expect_close(as.matrix(predict(mode)), as.matrix(predict(mode, visits)), 1e-12)
  expect_identical(log_lik(mode), unname(log_lik(mode, visits)))
  # One of the groups alone.
  expect_named(log_lik(mode, visits[visits$clinic == "south", ]), as.character(81:160))
})

test_that("a fit without its data predicts other visits only, and not more than memory holds", {
  fit <- without_data(pooled_fit())
  expect_error(predict(fit), "keep_data", class = "ibrc_error_input")
  visits <- clinic_visits()
  expect_identical(nrow(predict(fit, visits, draws = 2)), nrow(visits))
  withr::local_options(ibrc.memory = 1e-4)
  expect_error(predict(fit, visits, draws = 100, summary = FALSE), class = "ibrc_error_memory")
})

test_that("visits have either name in log_lik() of a fit, and both places", {
  fit <- pooled_fit()
  visits <- clinic_visits()[1:30, ]
  expected <- log_lik(fit, draws = 3, newdata = visits)
  expect_identical(log_lik(fit, draws = 3, visits = visits), expected)
  expect_identical(log_lik(fit, visits, draws = 3), expected)
  expect_identical(log_lik(fit, visits), log_lik(fit, newdata = visits))
  expect_error(log_lik(fit, newdata = visits, visits = visits), "give one", class = "ibrc_error_input")
})
