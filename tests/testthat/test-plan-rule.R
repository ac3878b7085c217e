test_that("of all rules the frequencies of actions fit best", {
  with_seed(1, setting <- random_markov(3, 2))
  setting$start[] <- c(1, 0, 0)
  visits <- simulate(plan_agent(setting, max_entropy_agent(1)), 40, seed = 2, horizon = 12)
  # The state at a visit is what followed on the one before; all begin in the first.
  data <- as.data.frame(visits)
  before <- c(NA, head(as.character(data$observation), -1))
  state <- factor(ifelse(duplicated(data$id), before, "s1"), setting$states)
  counts <- table(state, factor(data$action, setting$actions))
  frequencies <- unclass(counts / rowSums(counts))
  fits <- function(rule) sum(log_lik(plan_rule(setting, rule), visits))
  best <- fits(frequencies)
  expect_close(best, sum(counts * log(frequencies)), 1e-9)
  with_seed(3, for (i in 1:20) {
    nearby <- 0.95 * frequencies + 0.05 * random_rows(3, 2)
    expect_lt(fits(nearby), best)
    expect_lt(fits(random_rows(3, 2)), best)
  })
})

test_that("a rule is worth what its visits bring", {
  with_seed(4, for (n_states in 2:4) {
    setting <- random_markov(n_states)
    rule <- random_rows(n_states, 3)
    plan <- plan_rule(setting, rule)
    expect_s3_class(plan, c("ibrc_planned", "ibrc_plan"), exact = TRUE)
    expect_close(policy(plan), rule, 1e-15)
    worth <- markov_value(as_markov(setting), rule)
    expect_close(value(plan), worth, 1e-9)
    expect_close(action_value(plan), twin_action_value(setting, worth), 1e-9)
  })
})

test_that("rules of the same content are the same, in whatever form", {
  with_seed(5, setting <- random_setting(3))
  by_state <- with_seed(6, random_rows(3, 3))
  colnames(by_state) <- setting$actions
  from_states <- plan_rule(setting, by_state, 6)
  from_beliefs <- plan_rule(setting, function(beliefs) beliefs %*% by_state, 6)
  expect_close(value(from_states), value(from_beliefs), 1e-9)
  beliefs <- with_seed(7, random_beliefs(20, 3))
  expect_close(policy(from_states, beliefs), beliefs %*% by_state, 1e-12)
  expect_close(policy(plan_rule(setting, by_state[, 3:1], 6)), policy(from_states), 1e-15)
  expect_close(policy(plan_rule(setting, as.data.frame(by_state), 6)), policy(from_states), 1e-15)

  even <- c(u2 = 0.5, u1 = 0.2, u3 = 0.3)
  plan <- plan_rule(setting, even, 6)
  expect_close(policy(plan, beliefs), rep(c(0.2, 0.5, 0.3), each = 20), 1e-12)
  expect_close(value(plan), evaluate_policy(plan_pomdp(setting, 6), policy(plan)), 1e-8)
})

test_that("rules that are sure, actions that are one, and several models are fine", {
  with_seed(8, setting <- random_setting(2, 2))
  plan <- plan_rule(setting, rbind(c(1, 0), c(0, 1)), 8)
  expect_true(all(is.finite(value(plan))))
  expect_identical(range(policy(plan)), c(0, 1))
  with_seed(9, one <- random_setting(2, 1))
  expect_true(all(policy(plan_rule(one, 1, 8)) == 1))
  models <- with_seed(10, random_models(setting))
  several <- plan_rule(setting, c(0.5, 0.5), 8, models)
  expect_close(value(several), evaluate_policy(plan_pomdp(setting, 8, models), policy(several)), 1e-7)
  expect_output(print(plan), "a decision rule.*probabilities by state")
})

test_that("wrong arguments are refused by name", {
  setting <- tiger_setting()
  expect_refused(plan_rule(), "setting")
  expect_refused(plan_rule(setting), "rule")
  expect_refused(plan_rule(list(), 1), "setting")
  wrong <- list(NULL, NA, "x", -1, Inf, list(), c(0.5, 0.5), c(0.5, 0.2, 0.2), matrix(0.5, 2, 2), matrix(0.5, 2, 3),
                matrix(numeric(), 0, 3), array(1, c(1, 1, 1)), c(a = 0.5, b = 0.2, c = 0.3),
                function(...) stop("called"), function(...) NULL, function(beliefs) matrix(0.5, nrow(beliefs), 3),
                function(beliefs) matrix(1, 1, 3))
  for (rule in wrong) expect_refused(plan_rule(setting, rule, 4), "rule")
  expect_refused(plan_rule(setting, c(1, 0, 0), 0.5), "resolution")
  expect_refused(plan_rule(setting, c(1, 0, 0), 4, list()), "models")
})
