test_that("tables hold every probability once, with what is behind it", {
  fit <- clinic_iohmm()
  table <- tidy(fit)
  expect_named(table, c("parameter", "state", "action", "outcome", "estimate", "count"))
  expect_identical(nrow(table), 3L + 18L + 30L)
  cell <- table[table$parameter == "transition" & table$state == "state2" & table$action == "u2" &
                  table$outcome == "state3", ]
  expect_identical(cell$estimate, fit$transition["state2", "state3", "u2"])
  expect_equal(cell$count, sum(fit$counts$transition["state2", , "u2"]))
  cell <- table[table$parameter == "emission" & table$state == "state3" & table$action == "u1" &
                  table$outcome == "x2", ]
  expect_identical(cell$estimate, fit$emission["state3", "x2", "u1"])
  expect_equal(cell$count, sum(fit$counts$emission["state3", , "u1"]))
  expect_identical(coef(fit)[["transition[state2,state3,u2]"]], fit$transition["state2", "state3", "u2"])
  expect_identical(coef(fit)[["start[state1]"]], fit$start[["state1"]])
  expect_equal(sum(fit$counts$transition), 3200)
  shared <- fit_iohmm(clinic_iohmm_visits(40), 2, 2, transitions = "shared", seed = 1)
  moves <- tidy(shared)[tidy(shared)$parameter == "transition", ]
  expect_identical(nrow(moves), 4L)
  expect_equal(sum(unique(moves$count)), 320)
})

test_that("what was learned makes a setting, models and a plan", {
  fit <- clinic_iohmm()
  setting <- as_setting(fit, utility = cbind(rep(0, 3), rep(-1, 3)), discount = 0.9)
  expect_equal(setting$transition, fit$transition)
  expect_equal(setting$emission, fit$emission)
  expect_equal(setting$start, fit$start)
  direct <- decision_setting(fit$states, fit$actions, fit$observations, fit$transition, fit$emission,
                             utility = cbind(rep(0, 3), rep(-1, 3)), discount = 0.9, start = fit$start)
  expect_identical(setting, mark_learned(direct))
  expect_identical(n_models(perturb_models(setting)), 3L)
  expect_identical(n_models(soften_models(setting)), 2L)
  draws <- model_draws(fit, 2, 2, 1, seed = 1)
  plan <- plan_agent(setting, bounded_agent(alpha = 1, beta = 2), draws, resolution = 10)
  expect_true(all(is.finite(value(plan))))
})

test_that("fits print in sentences", {
  fit <- clinic_iohmm()
  expect_output(print(fit), "Hidden dynamics of 3 states learned from 400 trajectories with 3,200 visits")
  expect_output(print(fit), "of 20 starts reached it")
  expect_output(print(summary(fit)), "What is seen \\(rows: the new state\\)")
  expect_output(print(iohmm_prior(1, 2, 3, stay = 4)), "transition  2, and 4 for staying")
})

test_that("what a fit cannot answer is refused", {
  visits <- clinic_iohmm_visits(10)
  bare <- fit_iohmm(visits, 2, 2, seed = 1, keep_data = FALSE)
  expect_error(model_draws(bare), "keep_data", class = "ibrc_error_input")
  expect_error(predict(bare), "keep_data", class = "ibrc_error_input")
  expect_error(simulate(bare), "keep_data", class = "ibrc_error_input")
  expect_identical(nrow(predict(bare, visits)), nrow(visits))
  expect_error(predict(bare, visits, type = "path"), class = "ibrc_error_input")
  expect_error(predict(bare, visits, when = "never"), class = "ibrc_error_input")
  expect_error(predict(bare, as.data.frame(visits)), class = "ibrc_error_input")
  expect_error(predict(bare, visits, level = 1), class = "ibrc_error_input")
  odd <- visits
  odd$observation[odd$action == "u1"][2] <- "x5"
  error <- expect_error(predict(bare, odd), class = "ibrc_error_data")
  expect_identical(error$rows, which(odd$action == "u1")[2])
  fit <- clinic_iohmm()
  expect_error(model_draws(1), class = "ibrc_error_input")
  expect_error(model_draws(fit, 0), class = "ibrc_error_input")
  expect_error(model_draws(fit, 1, warmup = -1), class = "ibrc_error_input")
  expect_error(model_draws(fit, 1, thin = 0), class = "ibrc_error_input")
  expect_error(simulate(fit, missing = "drop"), class = "ibrc_error_input")
  expect_error(tidy(fit, 1), class = "ibrc_error_input")
})

test_that("a summary shows one transition where it is shared, and the numbers of states that were tried", {
  fit <- fit_iohmm(clinic_iohmm_visits(60), 1:2, 2, transitions = "shared", seed = 1, tolerance = 1e-3)
  said <- utils::capture.output(print(summary(fit)))
  expect_length(grep("^ after u[12]$", said), 2)
  expect_match(said, "Numbers of states tried", all = FALSE)
  apart <- fit_iohmm(clinic_iohmm_visits(60), 2, 2, seed = 1, tolerance = 1e-3)
  said <- utils::capture.output(print(summary(apart)))
  expect_length(grep("^ after u[12]$", said), 4)
  expect_no_match(said, "Numbers of states tried")
  expect_identical(nobs(fit), sum(!is.na(clinic_iohmm_visits(60)$observation)))
})
