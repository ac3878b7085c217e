plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 1e-3), diag_models())

test_that("between nodes, by value and by policy, as the twin has it", {
  with_seed(61, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    models <- random_models(setting)
    beliefs <- random_beliefs(30, n_states)
    weights <- twin_interpolate(beliefs, n_states, 5)
    for (agent in agents_to_try[c("flexible", "pessimist", "habit")]) {
      by_value <- plan_agent(setting, agent, models, 5)
      by_policy <- plan_agent(setting, agent, models, 5, interpolate = "policy")
      Q <- weights %*% turned(by_value$solution$action_value)
      expect_close(action_value(by_value, beliefs), Q)
      expect_close(value(by_value, beliefs), weights %*% by_value$solution$value)
      prior <- unname(by_value$problem$action_prior)
      expect_close(policy(by_value, beliefs), t(apply(Q, 1, twin_soft_weights, prior, agent$alpha)))
      expect_close(policy(by_policy, beliefs), weights %*% turned(by_policy$solution$policy))
      K <- weights %*% turned(by_value$solution$model_value)[, 2, ]
      prior <- unname(by_value$models$weights)
      expect_close(model_weights(by_value, beliefs, "u2"), t(apply(K, 1, twin_soft_weights, prior, agent$beta)))
      expect_close(model_weights(by_policy, beliefs, "u2"), weights %*% turned(by_policy$solution$sigma)[, 2, ])
    }
  })
})

test_that("recognition is the twin's, missing observations included", {
  with_seed(62, for (n_states in 2:4) {
    setting <- random_setting(n_states, zeros = 0)
    plan <- plan_agent(setting, agents_to_try$flexible, random_models(setting), 6)
    beliefs <- random_beliefs(24, n_states)
    actions <- sample(setting$actions, 24, replace = TRUE)
    seen <- sample(c(setting$observations, NA), 24, replace = TRUE)
    mine <- update_belief(plan, beliefs, actions, seen)
    for (b in 1:24) {
      sigma <- model_weights(plan, beliefs[b, ], actions[b])[1, ]
      expect_close(mine[b, ], twin_recognise(plan$models$models, sigma, beliefs[b, ],
                                             match(actions[b], setting$actions), match(seen[b], setting$observations)))
    }
    expect_close(rowSums(mine), rep(1, 24), 1e-12)
  })
})

test_that("models that rule an observation out are left aside", {
  # Only the second model can see "c".
  certain <- list(transition = diag(2), emission = rbind(c(0.9, 0.1, 0), c(0.2, 0.8, 0)))
  open <- list(transition = diag(2), emission = rbind(c(0.5, 0.25, 0.25), c(0.25, 0.25, 0.5)))
  setting <- decision_setting(c("s1", "s2"), "wait", c("a", "b", "c"), diag(2), open$emission, cbind(c(0, 1)),
                              discount = 0.5)
  plan <- plan_agent(setting, bounded_agent(alpha = 1), model_prior(list(certain, open), c(0.9, 0.1)))
  expect_close(update_belief(plan, c(0.5, 0.5), "wait", "c"), c(1 / 3, 2 / 3), 1e-12)
  alone <- plan_agent(setting, bounded_agent(alpha = 1), model_prior(list(certain)))
  error <- expect_error(update_belief(alone, rbind(c(0.5, 0.5), c(0.4, 0.6)), "wait", c("a", "c")),
                        class = "ibrc_error_observation")
  expect_identical(error$rows, 2L)
})

test_that("one belief in, one belief out", {
  out <- update_belief(plan, c(0.5, 0.5), "monitor", "positive")
  expect_named(out, c("healthy", "diseased"))
  expect_identical(update_belief(plan, c(diseased = 0.5, healthy = 0.5), "monitor", "positive"), out)
  expect_identical(dim(update_belief(plan, rbind(c(0.5, 0.5)), "monitor", "positive")), c(1L, 2L))
})

test_that("optimists overreact and pessimists underreact", {
  after <- function(agent) update_belief(update(plan, agent), c(0.5, 0.5), "monitor", "positive")[["diseased"]]
  expect_gt(after(bounded_agent(0.5, 1.25)), after(bounded_agent(0.5)))
  expect_lt(after(bounded_agent(0.5, -0.75)), after(bounded_agent(0.5)))
})

test_that("tidy has one row per node and action, with the user's own names", {
  out <- tidy(plan)
  expect_named(out, c("healthy", "diseased", "action", "probability", "action_value", "value"))
  expect_identical(nrow(out), 303L)
  expect_close(tapply(out$probability, out$diseased, sum), rep(1, 101), 1e-12)
  at <- out[out$action == "monitor", ]
  expect_close(at$probability, policy(plan)[, "monitor"], 1e-14)
  expect_close(at$action_value, action_value(plan)[, "monitor"], 1e-12)
})

test_that("strange beliefs, actions and observations are refused by name and row", {
  refused <- function(code, argument, rows = NULL) {
    error <- expect_error(code, class = "ibrc_error_input")
    expect_identical(error$argument, argument)
    if (!is.null(rows)) expect_identical(error$rows, rows)
  }
  refused(value(plan, c(0.5, 0.6)), "beliefs", 1L)
  refused(policy(plan, rbind(c(0.5, 0.5), c(1.5, -0.5))), "beliefs", 2L)
  refused(policy(plan, matrix(1 / 3, 2, 3)), "beliefs")
  refused(policy(plan, cbind(well = 0.5, ill = 0.5)), "beliefs")
  refused(action_value(plan, "a"), "beliefs")
  refused(model_weights(plan, c(0.5, 0.5)), "action")
  refused(model_weights(plan, c(0.5, 0.5), "wait"), "action", 1L)
  refused(model_weights(plan, c(0.5, 0.5), c("monitor", "monitor")), "action")
  refused(update_belief(plan, c(0.5, 0.5), "monitor", "unclear"), "observation", 1L)
  refused(update_belief(plan, c(0.5, 0.5), NA_character_, "positive"), "action", 1L)
  refused(update_belief(plan, c(0.5, NaN), "monitor", "positive"), "belief", 1L)
  refused(update_belief(1, c(0.5, 0.5), "monitor", "positive"), "plan")
  expect_error(value(plan, c(0.5, 0.5), 3), class = "ibrc_error_input")
})

test_that("a plan is glanced at in one row", {
  plan <- plan_agent(tiger_setting(), bounded_agent(alpha = 2, beta = 3, eta = 0.1), resolution = 10)
  row <- glance(plan)
  expect_identical(dim(row), c(1L, 13L))
  expect_identical(unlist(row[c("states", "actions", "observations", "models", "nodes")], use.names = FALSE),
                   c(2L, 3L, 2L, 1L, 11L))
  expect_identical(unlist(row[c("alpha", "beta", "eta", "discount")], use.names = FALSE), c(2, 3, 0.1, 0.95))
  expect_identical(row$value, value(plan, c(0.5, 0.5)))
  expect_lte(row$bound, 1e-8)
  expect_error(glance(plan, 1), class = "ibrc_error_input")
})
