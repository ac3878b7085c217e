learn <- function(setting, memory, noise, exploration = 0.3, episode = 7) {
  none <- matrix(0, length(setting$actions), 0)
  learner <- list(memory = as.integer(memory), utility = unname(setting$utility), discount = setting$discount,
                  exploration = exploration, initial = mean(range(setting$utility)) / (1 - setting$discount),
                  episode = as.integer(episode))
  run <- list(key = numeric(), action_value = none, tried = none, state = 0L, history = 0, visit = 0L)
  # In two calls, as a long run is split.
  for (part in split(seq_len(ncol(noise)), seq_len(ncol(noise)) > ncol(noise) / 3)) {
    run <- .Call(ffi_recall_learn, learner, stack_models(own_model(setting)), unname(setting$start), run, run,
                 noise[, part])
  }
  run
}

test_that("what is learned is the twin's, where states are hidden and where they are seen", {
  with_seed(1, for (memory in 1:3) {
    for (setting in list(random_setting(3, 2, 2), random_markov(3, 2), random_markov(4, 3, discount = 0))) {
      noise <- matrix(stats::runif(5 * 900), 5)
      run <- learn(setting, memory, noise)
      twin <- twin_recall_learn(setting, memory, 0.3, mean(range(setting$utility)) / (1 - setting$discount), 7,
                                setting$start, noise)
      expect_identical(length(run$key), length(twin$worth))
      expect_close(run$action_value, unname(do.call(cbind, twin$worth)), 1e-10)
      expect_identical(run$tried, unname(do.call(cbind, twin$tried)))
    }
  })
})

test_that("a run is the same however it is cut, and a seed gives it back", {
  setting <- tiger_setting()
  learner <- list(memory = 2L, utility = unname(setting$utility), discount = 0.95, exploration = 0.2, initial = 0,
                  episode = 9L)
  expect_identical(learn_histories(setting, learner, 5000, 1, at_once = 700),
                   learn_histories(setting, learner, 5000, 1))
  set.seed(5)
  before <- .Random.seed
  plan <- plan_history_q_learning(setting, steps = 3000, seed = 2)
  expect_identical(.Random.seed, before)
  expect_identical(plan_history_q_learning(setting, steps = 3000, seed = 2), plan)
  expect_false(identical(plan_history_q_learning(setting, steps = 3000), plan))
  expect_false(identical(.Random.seed, before))
})

test_that("where the state is seen, the last visit tells it, and the policy is value iteration's", {
  with_seed(2, for (i in 1:4) {
    setting <- random_markov(sample(3:5, 1), sample(2:3, 1), discount = 0.8)
    best <- markov_hard(as_markov(setting))
    plan <- plan_history_q_learning(setting, memory = 1, steps = 4e5, exploration = 0.5, seed = i)
    known <- known_visits(plan)
    after <- known$length == 1
    state <- known$observation[after, 1]
    # Actions that are worth nearly the same are not told apart.
    lost <- best$value[state] - rowSums(policy(plan)[after, ] * best$action_value[state, , drop = FALSE])
    expect_lte(max(lost), 0.02 * diff(range(best$action_value)))
    expect_lte(max(abs(action_value(plan)[after, ] - best$action_value[state, ])), 0.05 * diff(range(best$action_value)))
    # At the first visit nothing was seen yet.
    expect_close(glance(plan)$value, max(setting$start %*% best$action_value), 0.05 * diff(range(best$action_value)))
  })
})

test_that("without a future, action values are mean utilities", {
  with_seed(3, {
    setting <- random_setting(3, 2, 2, discount = 0)
    plan <- plan_history_q_learning(setting, memory = 1, steps = 2e5, exploration = 1, episode = 2, seed = 1)
    expect_close(action_value(plan)["start", ], as.vector(setting$start %*% setting$utility), 0.1)
  })
})

test_that("memory pays where states are hidden: Tiger", {
  setting <- tiger_setting()
  worth <- vapply(1:2, function(memory) {
    plan <- plan_history_q_learning(setting, memory, steps = 3e5, exploration = 0.1, seed = 1)
    visits <- simulate(plan, 400, seed = 1, horizon = 60)
    # What is heard tells where the tiger is likely, not where it is: utilities are averaged by a plan that believes.
    judge <- plan_agent(setting, bounded_agent(), resolution = 20)
    path <- read_histories(judge, build_histories(code_visits(visits, setting), setting))
    tree <- build_histories(code_visits(visits, setting), setting)
    belief <- t(path$belief)[tree$visit, ]
    each <- rowSums(belief * t(setting$utility)[as.integer(visits$action), ])
    mean(vapply(split(each * 0.95^visits$time, visits$id), sum, 0))
  }, 0)
  expect_gt(worth[2], worth[1] + 2)
  expect_lt(worth[2], 19.4)
})

test_that("neither the unit of the utility nor its origin matters", {
  with_seed(4, {
    setting <- random_setting(3, 3, 2)
    plan <- plan_history_q_learning(setting, 2, steps = 5000, seed = 1)
    for (unit in c(2^-20, 2^20)) {
      scaled <- setting
      scaled$utility <- unit * setting$utility
      again <- plan_history_q_learning(scaled, 2, steps = 5000, seed = 1)
      expect_equal(again$table$policy, plan$table$policy)
      expect_equal(again$table$action_value / unit, plan$table$action_value)
    }
    moved <- setting
    moved$utility <- setting$utility + 64
    again <- plan_history_q_learning(moved, 2, steps = 5000, seed = 1)
    expect_equal(again$table$policy, plan$table$policy)
    expect_equal(again$table$action_value, plan$table$action_value + 64 / (1 - setting$discount))
  })
})

# A plan with a table of our own: of memory 2 in Tiger.
planted_plan <- function(histories, policy, met = rep(1, nrow(policy)), setting = tiger_setting()) {
  plan <- plan_history_q_learning(setting, memory = 2, steps = 2, seed = 1)
  plan$table$key <- history_numbers(plan, as_recalled(plan, histories))
  expect_false(is.unsorted(plan$table$key))
  plan$table[c("policy", "action_value", "value", "met")] <- list(policy, 10 * policy, 10 * rowSums(policy^2), met)
  plan$report$known <- length(plan$table$key)
  plan
}
heard <- function(..., action = "listen") {
  seen <- c(...)
  if (!length(seen)) return(data.frame(action = character(), observation = character()))
  data.frame(action = rep_len(action, length(seen)), observation = seen)
}

test_that("numbers of histories and visits are each other's inverse", {
  plan <- plan_history_q_learning(tiger_setting(), memory = 3, steps = 1e5, seed = 1)
  known <- known_visits(plan)
  expect_identical(history_numbers(plan, known), plan$table$key)
  expect_identical(longest_known(plan, plan$table$key), seq_along(plan$table$key))
  expect_identical(names(value(plan))[1:2], c("start", "listen: hear_left"))
  expect_true("listen: hear_left, then listen: hear_right" %in% rownames(policy(plan)))
})

test_that("a history that is not known is read by its longest end, and gaps by all that agree", {
  law <- rbind(c(1, 0, 0), c(0.5, 0.25, 0.25), c(0, 0, 1), c(0, 1, 0))
  plan <- planted_plan(list(heard(), heard("hear_left"), heard("hear_left", "hear_left"),
                            heard("hear_left", "hear_right")), law, met = c(10, 6, 3, 1))
  at <- function(...) unname(policy(plan, histories = list(...)))
  expect_identical(at(heard(), heard("hear_left"), heard("hear_left", "hear_left")), law[1:3, ])
  expect_identical(at(heard("hear_right", "hear_left")), law[2, , drop = FALSE])
  expect_identical(at(heard("hear_right")), law[1, , drop = FALSE])
  # Longer ones count by their last visits.
  expect_identical(at(heard("hear_right", "hear_left", "hear_left")), law[3, , drop = FALSE])
  # Either of the two that agree, by how often they were met.
  expect_equal(at(heard("hear_left", NA)), rbind(0.75 * law[3, ] + 0.25 * law[4, ]))
  expect_equal(at(heard(NA, "hear_right")), law[4, , drop = FALSE])
  expect_equal(at(heard(NA)), law[2, , drop = FALSE])
  expect_equal(at(heard("hear_left", action = NA)), law[2, , drop = FALSE])
  expect_equal(at(heard("hear_right", action = NA)), law[1, , drop = FALSE])
  expect_equal(at(data.frame(action = c("open_left", NA), observation = "hear_left")), law[2, , drop = FALSE])
  expect_equal(unname(value(plan, histories = heard("hear_left", NA))), 0.75 * 10 + 0.25 * 10)
  # What ends a trajectory was not done before a later visit.
  stops <- tiger_setting()
  stops$stop_actions <- c("open_left", "open_right")
  other <- planted_plan(list(heard(), heard("hear_left"), heard("hear_left", action = "open_left")), law[1:3, ],
                        setting = stops)
  expect_equal(unname(policy(other, histories = heard("hear_left", action = NA))), law[2, , drop = FALSE])
  # Nothing is known.
  none <- planted_plan(list(heard("hear_left")), law[2, , drop = FALSE])
  expect_equal(unname(policy(none, histories = heard("hear_right"))), matrix(1 / 3, 1, 3))
  expect_true(is.na(value(none, histories = heard())))
  expect_true(is.na(glance(none)$value))
})

test_that("after few steps little is known, and it still answers", {
  plan <- plan_history_q_learning(tiger_setting(), steps = 1, seed = 1)
  expect_identical(plan$report$known, 0L)
  expect_identical(dim(policy(plan)), c(0L, 3L))
  expect_identical(nrow(tidy(plan)), 0L)
  expect_output(print(plan), "0 histories known, of 1 met")
  expect_output(print(summary(plan)))
  expect_equal(unname(policy(plan, histories = heard())), matrix(1 / 3, 1, 3))
  visits <- simulate(plan, 5, seed = 1, horizon = 3)
  expect_close(log_lik(plan, visits), rep(3 * log(1 / 3), 5), 1e-12)
})

test_that("one action, one observation and ties are no trouble", {
  with_seed(5, {
    one <- plan_history_q_learning(random_setting(2, 1, 2), 2, steps = 500, seed = 1)
    expect_true(all(policy(one) == 1))
    flat <- random_setting(2, 3, 2)
    flat$utility[] <- 1
    plan <- plan_history_q_learning(flat, 1, steps = 3000, seed = 1)
    expect_close(policy(plan), matrix(1 / 3, nrow(policy(plan)), 3), 1e-12)
    expect_close(value(plan), rep(10, nrow(policy(plan))), 1e-9)
  })
})

test_that("a temperature makes choices noisy", {
  cold <- plan_history_q_learning(tiger_setting(), steps = 20000, seed = 1)
  warm <- plan_history_q_learning(tiger_setting(), steps = 20000, seed = 1, alpha = 20)
  expect_identical(warm$table$action_value, cold$table$action_value)
  weight <- exp(warm$table$action_value / 20)
  expect_close(unname(policy(warm)), weight / rowSums(weight), 1e-10)
  expect_true(all(policy(cold) %in% c(0, 1)))
})

test_that("starts that differ are learned from alike", {
  setting <- diag_setting()
  grouped <- decision_setting(setting$states, setting$actions, setting$observations, setting$transition,
                              setting$emission, setting$utility, discount = 0.95, stop_actions = setting$stop_actions,
                              start = rbind(a = c(0.9, 0.1), b = c(0.1, 0.9)), start_by = "group")
  even <- setting
  even$start[] <- c(0.5, 0.5)
  expect_identical(plan_history_q_learning(grouped, steps = 2000, seed = 1)$table,
                   plan_history_q_learning(even, steps = 2000, seed = 1)$table)
})

test_that("it has the face of a plan, and refuses what needs beliefs", {
  plan <- plan_history_q_learning(tiger_setting(), 2, steps = 20000, seed = 1)
  expect_s3_class(plan, c("ibrc_history_plan", "ibrc_planned"), exact = TRUE)
  expect_output(print(plan), "A plan by Q-learning on the last 2 visits")
  expect_output(print(summary(plan)), "met most often")
  table <- tidy(plan)
  expect_named(table, c("history", "met", "action", "probability", "action_value", "value"))
  expect_identical(nrow(table), 3L * plan$report$known)
  expect_named(glance(plan), c("planner", "states", "actions", "observations", "models", "nodes", "alpha", "beta", "eta",
                               "discount", "value", "bound", "backups", "memory", "steps"))
  expect_identical(glance(plan)$value, table$value[1])
  believes <- function(code) {
    expect_error(code, "beliefs|plan_history_q_learning", class = "ibrc_error_input")
  }
  believes(update_belief(plan, c(0.5, 0.5), "listen", "hear_left"))
  believes(occupancy(plan))
  believes(complexity(plan))
  believes(evaluate_policy(plan))
  believes(model_weights(plan))
  believes(policy(plan, c(0.5, 0.5)))
  believes(value(plan, c(0.5, 0.5)))
  believes(action_value(plan, c(0.5, 0.5)))
  believes(update(plan, bounded_agent()))
})

test_that("nonsense is refused by the name of the argument", {
  setting <- tiger_setting()
  expect_input <- function(code, argument) {
    expect_identical(expect_error(code, class = "ibrc_error_input")$argument, argument)
  }
  expect_input(plan_history_q_learning(), "setting")
  learn <- function(...) plan_history_q_learning(setting, steps = 10, seed = 1, ...)
  for (bad in list(NULL, NA, "x", -1, Inf, list(), mean, matrix(0, 0, 2), 1.5)) {
    expect_input(plan_history_q_learning(bad), "setting")
    expect_input(learn(memory = bad), "memory")
    expect_input(plan_history_q_learning(setting, steps = bad), "steps")
    expect_input(learn(exploration = bad), "exploration")
    expect_input(learn(episode = bad), "episode")
    if (!identical(bad, 1.5)) expect_input(learn(alpha = bad), "alpha")
    if (!is.null(bad) && !identical(bad, -1)) expect_input(plan_history_q_learning(setting, steps = 10, seed = bad), "seed")
  }
  expect_input(learn(exploration = 0), "exploration")
  expect_input(learn(memory = 40), "memory")
  bonus <- setting
  bonus$belief_utility <- certainty_bonus(1, above = 0.9)
  expect_input(plan_history_q_learning(bonus), "setting")
  plan <- learn()
  for (bad in list(NA, "x", -1, list(), mean, matrix(0, 0, 2), list(1), data.frame(action = "listen"),
                   data.frame(action = "shout", observation = "hear_left"),
                   data.frame(action = "listen", observation = 1))) {
    expect_input(policy(plan, histories = bad), "histories")
    expect_input(value(plan, histories = bad), "histories")
  }
  withr::with_options(list(ibrc.memory = 1e-3), {
    expect_error(plan_history_q_learning(setting, 9, steps = 1e6), class = "ibrc_error_memory")
  })
  large <- setting
  large$utility[1] <- 1.7e308
  expect_error(plan_history_q_learning(large, steps = 100), class = "ibrc_error_convergence")
})
