# A prior policy that remembers the last action: kernels against the twin (helper-reference-habit.R), limits, and the
# whole way from an agent to a posterior.

with_habit <- function(agent, habit) {
  agent$habit <- habit
  agent
}
habit_pairs <- function(plan, V) .Call(ffi_backup, plan$tables, plan$problem, as.vector(V), 0L, 1L)

test_that("a backup and its fixed point are the twin's, for every sign and limit", {
  with_seed(1, for (n_states in 2:3) {
    setting <- random_setting(n_states, discount = 0.6)
    models <- random_models(setting)
    for (name in names(agents_to_try)) {
      agent <- with_habit(agents_to_try[[name]], c(-2, 0.7, 3)[match(name, names(agents_to_try)) %% 3 + 1])
      plan <- plan_agent(setting, agent, models, resolution = 3, tolerance = 1e-11)
      twin <- twin_of(plan)
      V <- matrix(stats::rnorm(3 * plan$space$n_nodes, sd = 5), ncol = 3)
      mine <- habit_pairs(plan, V)
      exact <- twin_habit_backup(twin, V)
      expect_close(mine$value, exact$V)
      expect_close(turned(mine$action_value), exact$Q)
      expect_close(turned(mine$model_value), exact$K)
      expect_close(aperm(mine$policy, c(2, 1, 3)), exact$after)
      expect_close(turned(mine$sigma), exact$sigma)
      expect_identical(.Call(ffi_backup, plan$tables, plan$problem, as.vector(V), 0L, 2L), mine)
      solved <- twin_habit_solve(twin)
      expect_close(plan$solution$value, solved$first)
      expect_close(plan$solution$after, solved$V)
      expect_close(turned(plan$solution$action_value), solved$Q)
      expect_close(turned(plan$solution$model_value), solved$K)
      expect_close(policy(plan), solved$policy)
      expect_close(policy(plan, last = "u2"), solved$after[, , 2])
      expect_close(value(plan, last = "u3"), solved$V[, 3])
    }
  })
})

test_that("a habit so strong that other actions have no chance left to add up is the twin's too", {
  with_seed(12, {
    setting <- random_setting(2, discount = 0.6)
    models <- random_models(setting)
    for (habit in c(800, -800)) {
      plan <- plan_agent(setting, bounded_agent(alpha = 1e-3, optimism = 0.5, habit = habit), models, resolution = 80)
      V <- matrix(stats::rnorm(3 * plan$space$n_nodes, sd = 5), ncol = 3)
      exact <- twin_habit_backup(twin_of(plan), V)
      expect_close(habit_pairs(plan, V)$value, exact$V)
      expect_close(aperm(habit_pairs(plan, V)$policy, c(2, 1, 3)), exact$after)
    }
  })
})

test_that("a backup with a habit contracts by the discount and moves by it with a constant", {
  with_seed(2, {
    setting <- random_setting(3, discount = 0.8)
    for (agent in agents_to_try) {
      plan <- plan_agent(setting, with_habit(agent, 1.5), random_models(setting), resolution = 4)
      V <- stats::rnorm(3 * plan$space$n_nodes)
      U <- stats::rnorm(3 * plan$space$n_nodes)
      gap <- max(abs(habit_pairs(plan, V)$value - habit_pairs(plan, U)$value))
      expect_lte(gap, 0.8 * max(abs(V - U)) + 1e-12)
      expect_close(habit_pairs(plan, V + 3)$value, habit_pairs(plan, V)$value + 0.8 * 3, 1e-12)
    }
  })
})

test_that("without a habit nothing is different, and a small one is close to none", {
  plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 1e-3), diag_models())
  none <- update(plan, bounded_agent(0.5, 1.25, 1e-3, habit = 0))
  expect_null(none$solution$after)
  fresh <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 1e-3, habit = 0), diag_models())
  expect_identical(fresh$solution, plan$solution)
  expect_identical(policy(plan, last = "monitor"), policy(plan))
  expect_identical(value(plan, last = "monitor"), value(plan))
  tiny <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 1e-3, habit = 1e-9), diag_models())
  expect_close(tiny$solution$value, plan$solution$value, 1e-6)
  expect_close(tiny$solution$after, rep(plan$solution$value, 3), 1e-6)
  expect_identical(simulate(fresh, 50, seed = 1), simulate(plan, 50, seed = 1))
})

test_that("limits are exact: the best action ignores habit, an inflexible agent plays it", {
  setting <- diag_setting()
  best <- plan_agent(setting, bounded_agent(habit = 2), diag_models())
  plain <- plan_agent(setting, bounded_agent(), diag_models())
  expect_close(value(best, last = "monitor"), value(plain), 1e-7)
  idle <- plan_agent(setting, bounded_agent(flexibility = 0, habit = 1.5, action_prior = c(0.2, 0.3, 0.5)))
  after <- twin_prior_after(c(0.2, 0.3, 0.5), 1.5, match("monitor", setting$actions))
  expect_close(policy(idle, c(0.3, 0.7), last = "monitor"), after, 1e-12)
  expect_close(policy(idle, c(0.3, 0.7)), c(0.2, 0.3, 0.5), 1e-12)
  # Far beyond what a double's exponential holds, either way.
  for (habit in c(-2000, 2000)) {
    plan <- plan_agent(setting, bounded_agent(0.5, habit = habit), diag_models())
    stays <- policy(plan, c(0.5, 0.5), last = "monitor")[1, "monitor"]
    expect_identical(unname(round(stays, 12)), as.numeric(habit > 0))
  }
  # An action that is out of the question stays so after it was taken.
  never <- plan_agent(setting, bounded_agent(0.5, habit = 3, action_prior = c(monitor = 0, declare_healthy = 0.5,
                                                                              declare_diseased = 0.5)), diag_models())
  expect_identical(policy(never, c(0.5, 0.5), last = "monitor"), policy(never, c(0.5, 0.5)))
})

test_that("behind an action that ends a trajectory comes a first visit, in plans as in behaviour", {
  with_seed(8, for (stops in list("u2", c("u1", "u3"), c("u1", "u2", "u3"))) {
    setting <- random_setting(2, discount = 0.6)
    setting$stop_actions <- stops
    plan <- plan_agent(setting, bounded_agent(0.7, 2, 0.1, habit = 1.8), random_models(setting), resolution = 3,
                       tolerance = 1e-11)
    solved <- twin_habit_solve(twin_of(plan))
    expect_close(plan$solution$after, solved$V)
    expect_close(turned(plan$solution$action_value), solved$Q)
    for (stop in stops) {
      expect_identical(value(plan, last = stop), value(plan))
      expect_identical(policy(plan, last = stop), policy(plan))
    }
    # The evaluator of a posterior plans in the same way.
    visits <- simulate(plan, 80, horizon = 4, seed = 1)
    mode <- function(habit) sum(log_lik(update(plan, bounded_agent(0.7, 2, 0.1, habit = habit)), visits))
    fit <- ibrc(visits, setting, plan$models, ibrc_prior(habit ~ normal(0, 1)), list(alpha = 0.7, beta = 2, eta = 0.1),
                chains = 1, iter = 12, warmup = 6, seed = 1, resolution = 3,
                control = list(check = FALSE, tolerance = 1e-11))
    draw <- fit$draws[[1]][1, 1, "habit"]
    expect_equal(sum(log_lik(fit)[1, ]), mode(draw), tolerance = 1e-8)
    if (setequal(stops, setting$actions)) {
      # Nothing is ever done twice in a row.
      expect_close(value(plan), value(update(plan, bounded_agent(0.7, 2, 0.1))), 1e-9)
    }
  })
})

test_that("where the state is seen the same holds, many states and few", {
  with_seed(3, for (n in c(4, 300)) {
    walk <- function() {
      p <- matrix(0, n, n)
      near <- abs(row(p) - col(p)) <= 1
      p[near] <- stats::rexp(sum(near))
      p / rowSums(p)
    }
    setting <- decision_setting(paste0("s", seq_len(n)), c("a", "b"), paste0("s", seq_len(n)),
                                list(a = walk(), b = walk()), diag(n),
                                matrix(stats::rnorm(2 * n), n), discount = 0.95)
    plan <- plan_agent(setting, bounded_agent(0.4, habit = 2), tolerance = 1e-10)
    V <- plan$solution$after
    Q <- vapply(1:2, function(u) {
      setting$utility[, u] + 0.95 * as.vector(as.matrix(setting$transition[, , u]) %*% V[, u])
    }, numeric(n))
    expect_close(t(plan$solution$action_value), Q, 1e-9)
    for (last in 1:2) {
      prior <- twin_prior_after(c(0.5, 0.5), 2, last)
      expect_close(V[, last], apply(Q, 1, twin_soft_mean, prior, 0.4), 1e-9)
    }
  })
})

test_that("occupancy is that of pairs, and utility less costs is value", {
  with_seed(4, for (n_states in 2:3) {
    setting <- random_setting(n_states, discount = 0.6)
    models <- random_models(setting)
    for (agent in agents_to_try[c("flexible", "pessimist", "contrary", "habit")]) {
      plan <- plan_agent(setting, with_habit(agent, 1.2), models, resolution = 3, tolerance = 1e-10)
      twin <- twin_of(plan)
      solved <- twin_habit_solve(twin)
      process <- twin_habit_process(twin, solved$policy, solved$after, solved$sigma)
      start <- twin_interpolate(matrix(setting$start, 1), n_states, 3)[1, ]
      mass <- twin_occupancy(process, c(start, numeric(3 * length(start))), setting$discount)
      expect_close(occupancy_of(plan), mass, 1e-9)
      expect_close(sum(occupancy(plan)$occupancy), 1, 1e-10)
      account <- account(plan)
      expect_close(sum(account$amount[1:4]), account$amount[5], 1e-8)
      expect_close(complexity(plan)$nats[1], sum(mass * process$decision), 1e-8)
      expect_close(evaluate_policy(plan), value(plan), 1e-8)
    }
    # A policy that does not mind what was done last pays for straying from the prior that does.
    even <- matrix(1 / 3, plan$space$n_nodes, 3)
    expect_true(all(evaluate_policy(update(plan, bounded_agent(0.5, 1, habit = 1)), even) <=
                      value(update(plan, bounded_agent(0.5, 1, habit = 1))) + 1e-8))
  })
})

test_that("behaviour and its likelihood are the twin's, missing and unscored actions included", {
  with_seed(5, for (interpolate in c("value", "policy")) {
    setting <- random_setting(2, zeros = 0, discount = 0.6)
    models <- random_models(setting)
    agent <- bounded_agent(0.8, 1.5, 0.05, habit = 1.3)
    plan <- plan_agent(setting, agent, models, resolution = 5, interpolate = interpolate, tolerance = 1e-11)
    twin <- twin_of(plan)
    between <- twin_habit_agent(twin, twin_habit_solve(twin), 5, interpolate)
    belief <- c(0.37, 0.63)
    for (last in c(NA, 1:3)) {
      expect_close(policy(plan, belief, if (is.na(last)) NULL else setting$actions[last]), between$policy(belief, last))
    }
    visits <- simulate(plan, 12, seed = 3, horizon = 8)
    coded <- code_visits(visits, setting)
    rows <- data.frame(trajectory = coded$trajectory, action = coded$action + 1L, observation = coded$observation + 1L)
    expect_close(log_lik(plan, visits), twin_habit_log_likelihood(rows, models$models, between, setting$start), 1e-9)
    # An unscored action still is what was done last; after a missing one nothing was.
    holes <- as.data.frame(visits)
    holes$scored <- TRUE
    holes$scored[c(2, 11, 30)] <- FALSE
    holes$action[c(5, 20)] <- NA
    holes$scored[c(5, 20)] <- FALSE
    holes <- trajectories(holes, setting = setting, scored = "scored")
    rows$scored <- !seq_len(nrow(rows)) %in% c(2, 5, 11, 20, 30)
    rows$action[c(5, 20)] <- NA
    expect_close(log_lik(plan, holes), twin_habit_log_likelihood(rows, models$models, between, setting$start), 1e-9)
    likelier <- predict(plan, visits, type = "action")
    expect_close(rowSums(as.matrix(likelier[setting$actions])), rep(1, nrow(visits)), 1e-12)
  })
})

test_that("simulated actions come as often as the policy after the last one says", {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(3, habit = 1.5), diag_models(), resolution = 20)
  visits <- as.data.frame(simulate(plan, 4000, seed = 1, horizon = 3))
  first <- visits[!duplicated(visits$id), ]
  shares <- function(rows) as.vector(table(factor(rows$action, setting$actions))) / nrow(rows)
  expect_lt(max(abs(shares(first) - policy(plan, setting$start)[1, ])), 4 * sqrt(0.25 / nrow(first)))
  seen <- first$id[first$action == "monitor" & first$observation == "positive"]
  second <- visits[which(visits$id %in% seen & duplicated(visits$id)), ]
  second <- second[!duplicated(second$id), ]
  belief <- update_belief(plan, setting$start, "monitor", "positive")
  law <- policy(plan, belief, last = "monitor")[1, ]
  expect_lt(max(abs(shares(second) - law)), 4 * sqrt(0.25 / nrow(second)))
  # And not as if nothing had been done.
  expect_gt(max(abs(shares(second) - policy(plan, belief)[1, ])), 4 * sqrt(0.25 / nrow(second)))
})

test_that("a batch equals single plans, with and without a habit side by side", {
  setting <- diag_setting()
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), habit ~ normal(0, 1))
  plan <- plan_agent(setting, bounded_agent(0.5, habit = 1), diag_models())
  tree <- build_histories(code_visits(simulate(plan, 100, seed = 1), setting), setting)
  evaluator <- new_evaluator(plan, list(tree), rep(1L, 4), prior, list(), 1e-10, 1L)
  expect_equal(evaluator$n_values, 303)
  theta <- cbind(log(c(0.5, 1, 0.3, 0.5)), c(0.4, -0.5, 0, 0.4), c(1, -1, 3, 0))
  found <- evaluate_batch(evaluator, theta, matrix(0, 303, 4))
  for (i in 1:4) {
    one <- plan_agent(setting, bounded_agent(exp(theta[i, 1]), optimism = theta[i, 2], habit = theta[i, 3]),
                      diag_models(), tolerance = 1e-10)
    expect_close(found$log_likelihood[i], read_histories(one, tree)$total, 1e-6)
  }
  evaluator$cores <- 2L
  expect_identical(evaluate_batch(evaluator, theta, matrix(0, 303, 4)), found)
  # Without a habit, the numbers of who does not know of it.
  plain <- new_evaluator(plan, list(tree), 1L, prior[1:2], list(), 1e-10, 1L)
  expect_equal(plain$n_values, 101)
  alone <- evaluate_batch(plain, theta[4, 1:2, drop = FALSE], matrix(0, 101, 1))
  expect_identical(alone$log_likelihood, found$log_likelihood[4])
  held <- new_evaluator(plan, list(tree), 1L, prior[1:2], list(habit = 1), 1e-10, 1L)
  expect_close(evaluate_batch(held, theta[1, 1:2, drop = FALSE], matrix(0, 303, 1))$log_likelihood,
               found$log_likelihood[1], 1e-9)
  # What left the doubles is impossible, and no error.
  theta[1, 3] <- Inf
  expect_identical(evaluate_batch(evaluator, theta, matrix(0, 303, 4))$log_likelihood[1], -Inf)
})

test_that("habit is found again, by a mode and by a posterior, and is held where it is fixed", {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(2, habit = 1.5), diag_models(), resolution = 20)
  visits <- simulate(plan, 300, seed = 2)
  prior <- ibrc_prior(alpha ~ lognormal(0, 2), habit ~ normal(0, 2))
  mode <- ibrc_mode(visits, setting, diag_models(), prior, resolution = 20)
  table <- tidy(mode)
  row <- table[table$term == "habit", ]
  expect_lt(abs(row$estimate - 1.5), 4 * row$std.error)
  expect_gt(row$estimate, 4 * row$std.error)
  fit <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 400, resolution = 20, seed = 1, refresh = 0)
  expect_lt(abs(mean(fit$draws[[1]][, , "habit"]) - row$estimate), 3 * row$std.error)
  expect_output(print(fit), "habit")
  held <- ibrc_mode(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 2)),
                    fixed = list(habit = 1.5), resolution = 20)
  expect_lt(abs(tidy(held)$estimate - 2), 0.6)
  expect_gt(sum(log_lik(plan, visits)),
            sum(log_lik(plan_agent(setting, bounded_agent(2), diag_models(), resolution = 20), visits)))
})

test_that("malformed habits are refused by name", {
  for (bad in list(NA_real_, "x", Inf, -Inf, NULL, c(1, 2), list(), TRUE, function(x) x)) {
    if (!is.null(bad)) expect_error(bounded_agent(habit = bad), class = "ibrc_error_input")
  }
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(0.5, habit = 1), diag_models(), resolution = 10)
  for (bad in list("walk", 7, list(), c("monitor", "monitor"), mean)) {
    expect_error(policy(plan, c(0.5, 0.5), last = bad), class = "ibrc_error_input")
    expect_error(value(plan, c(0.5, 0.5), last = bad), class = "ibrc_error_input")
  }
  expect_error(tidy(plan, last = c("monitor", "monitor")), class = "ibrc_error_input")
  expect_false(identical(tidy(plan), tidy(plan, last = "monitor")))
  expect_error(ibrc_mode(simulate(plan, 20, seed = 1), setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
                         fixed = list(habit = Inf), resolution = 10), class = "ibrc_error_input")
  expect_output(print(bounded_agent(0.5, habit = 1)), "habit +1")
  expect_output(print(bounded_agent(0.5, habit = -1)), "avoids")
  # An agent that was saved before there was such a thing.
  old <- bounded_agent(0.5)
  old$habit <- NULL
  expect_identical(plan_agent(setting, old, diag_models(), resolution = 10)$solution,
                   plan_agent(setting, bounded_agent(0.5), diag_models(), resolution = 10)$solution)
})
