plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25), diag_models(), resolution = 20)
visits <- simulate(plan, 20, seed = 1)

test_that("a plan predicts its policy at the belief that its agent holds", {
  mixed <- trajectories(as.data.frame(visits)[order(visits$time, visits$id), ])
  chances <- as.matrix(predict(plan, mixed))
  beliefs <- as.matrix(belief_paths(plan, mixed)[paste0(".belief_", diag_setting()$states)])
  expect_close(chances, policy(plan, unname(beliefs)), 1e-12)
  expect_close(chances[cbind(seq_len(nrow(mixed)), as.integer(mixed$action))], belief_paths(plan, mixed)$.probability)
})

test_that("the next action can be asked for", {
  # A patient who has not decided yet.
  open <- data.frame(id = 1, time = 0:2, action = c("monitor", "monitor", NA),
                     observation = c("positive", "positive", NA), free = c(TRUE, TRUE, FALSE))
  chances <- predict(plan, trajectories(open, scored = "free"))
  belief <- update_belief(plan, update_belief(plan, c(0.5, 0.5), "monitor", "positive"), "monitor", "positive")
  expect_close(as.numeric(chances[3, ]), policy(plan, belief)[1, ], 1e-12)
  # Names that are no names for R stay.
  odd <- decision_setting(c("a", "b"), c("do it", "2"), c("x", "y"), array(0.5, c(2, 2, 2)), array(0.5, c(2, 2, 2)),
                          diag(2), discount = 0.5)
  odd <- plan_agent(odd, bounded_agent(1), resolution = 4)
  expect_named(predict(odd, simulate(odd, 2, seed = 1, horizon = 3)), c("do it", "2"))
})

test_that("where the agent has no belief there is no prediction, and the log-likelihood is that of what cannot be", {
  # Sure of the best case, that nobody falls ill, it does not hold possible what it then sees.
  same <- function(x, over) array(x, c(2, 2, 2), c(list(c("well", "ill")), list(over), list(c("wait", "look"))))
  best <- list(transition = same(diag(2), c("well", "ill")), emission = same(diag(2), c("no", "yes")))
  worse <- list(transition = same(rbind(c(0.5, 0.5), c(0, 1)), c("well", "ill")),
                emission = same(rbind(c(0.9, 0.1), c(0.1, 0.9)), c("no", "yes")))
  setting <- decision_setting(c("well", "ill"), c("wait", "look"), c("no", "yes"), worse$transition, worse$emission,
                              rbind(c(1, 1), c(0, 0)), discount = 0.9, start = c(1, 0))
  sure <- plan_agent(setting, bounded_agent(alpha = 1, optimism = Inf), model_prior(list(best, worse)), resolution = 10)
  seen <- trajectories(data.frame(id = 1, time = 1:3, action = "look", observation = c("no", "yes", "no")))
  chances <- predict(sure, seen)
  expect_identical(is.na(chances$look), c(FALSE, FALSE, TRUE))
  expect_identical(unname(log_lik(sure, seen)), -Inf)
})

test_that("a missing action that the agent would not have taken leaves it without a belief", {
  seen <- trajectories(unlikely_data(), scored = "free")
  rational <- unlikely_plan(0)
  expect_identical(is.na(predict(rational, seen)$wait), c(FALSE, FALSE, TRUE, TRUE))
  expect_identical(unname(log_lik(rational, seen)), -Inf)
  # Any other agent might have looked.
  bounded <- unlikely_plan(1)
  chances <- as.matrix(predict(bounded, seen))
  expect_false(anyNA(chances))
  expect_close(sum(log(chances[c(1, 3, 4), "wait"])), log_lik(bounded, seen)[[1]], 1e-12)
})

test_that("an action of prior probability 0 is none to predict with, but no bar to it; its likelihood is refused", {
  never <- bounded_agent(alpha = 1, action_prior = c(0.5, 0.5, 0))
  plan <- plan_agent(diag_setting(), never, diag_models(), resolution = 10)
  taken <- trajectories(data.frame(id = 1, time = 1:3, action = "monitor", observation = "positive"))
  expect_identical(predict(plan, taken)$monitor, numeric(3))
  expect_identical(expect_error(log_lik(plan, taken), "prior probability 0", class = "ibrc_error_data")$rows, 1:3)
  others <- trajectories(data.frame(id = 1:8, time = 1, action = rep(diag_setting()$actions[1:2], 4),
                                    observation = NA_character_))
  inverse <- list(others, diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), resolution = 10, seed = 1,
                  fixed = list(action_prior = c(0.5, 0.5, 0)))
  fit <- suppressWarnings(do.call(ibrc, c(inverse, chains = 1, iter = 10, control = list(ibrc_control(check = FALSE)))))
  mode <- suppressWarnings(do.call(ibrc_mode, c(inverse, starts = 1, list(conf.level = NULL))))
  for (model in list(fit, mode)) {
    expect_identical(predict(model, taken)$monitor, numeric(3))
    error <- expect_error(log_lik(model, visits = taken), "prior probability 0", class = "ibrc_error_data")
    expect_identical(error$rows, 1:3)
  }
})

test_that("what is missing or cannot be is refused", {
  expect_error(predict(plan), "must be given", class = "ibrc_error_input")
  expect_error(predict(plan, visits, type = c("action", "state")), class = "ibrc_error_input")
  certain <- plan_agent(diag_setting(), bounded_agent(1), diag_models(accuracy = 1), resolution = 10)
  wrong <- trajectories(data.frame(id = 1, time = 1:3, action = "monitor",
                                   observation = c("positive", "negative", "negative")))
  error <- expect_error(predict(certain, wrong), "cannot happen", class = "ibrc_error_data")
  expect_identical(as.integer(error$rows), 2L)
})
