# The kernel on noise of our own, cut into calls of so many steps.
kernel_run <- function(setting, noise, first, cuts = ncol(noise), alpha = 0, bonus = 0, ...) {
  problem <- observed_problem(setting)
  n <- c(length(setting$actions), length(setting$states))
  learner <- list(utility = as.vector(t(problem$reward)), prior = rep(1 / n[1], n[1]), temperature = alpha,
                  bonus = bonus, discount = setting$discount, ...)
  progress <- list(action_value = matrix(0, n[1], n[2]), tries = matrix(0, n[1], n[2]),
                   state = as.integer(first - 1), made = 0L)
  models <- stack_models(problem$models)
  last <- cumsum(cuts)
  for (i in seq_along(cuts)) {
    part <- noise[, seq(last[i] - cuts[i] + 1, last[i]), drop = FALSE]
    progress <- .Call(ffi_qlearn, learner, models, progress, as.vector(part))
  }
  list(action_value = t(progress$action_value), tries = t(progress$tries), state = progress$state + 1L)
}

test_that("the kernel is its twin, for all schedules, hard and soft, and however a run is cut", {
  with_seed(1, for (round in 1:6) {
    setting <- random_markov(sample(2:6, 1), sample(1:4, 1), stats::runif(1, 0, 0.99))
    noise <- matrix(stats::runif(3 * 1500), 3)
    how <- list(exploration = c(0, 0.3, 1)[round %% 3 + 1], patience = stats::runif(1, 0.5, 20),
                power = c(1, 0.7)[round %% 2 + 1], episode = c(1L, 7L, 2000L)[round %% 3 + 1])
    for (alpha in c(0, 0.4)) {
      bonus <- alpha * log(length(setting$actions))
      twin <- do.call(twin_q_learning, c(list(setting, noise, 2, alpha, bonus), how))
      whole <- do.call(kernel_run, c(list(setting, noise, 2, alpha = alpha, bonus = bonus), how))
      cut <- do.call(kernel_run, c(list(setting, noise, 2, c(1, 700, 99, 700), alpha, bonus), how))
      expect_close(whole$action_value, twin$action_value, 1e-10)
      expect_identical(whole$tries, twin$tries)
      expect_equal(whole$state, twin$state)
      expect_identical(cut, whole)
    }
  })
})

test_that("Q-learning reaches value iteration's policy, and its action values within 2 percent", {
  with_seed(2, for (n in c(3, 6, 10)) {
    for (discount in c(0.8, 0.95)) {
      setting <- random_markov(n, 3, discount)
      right <- action_value(plan_mdp(setting, "value_iteration"))
      learned <- plan_q_learning(setting, seed = 1)
      size <- max(abs(right))
      expect_lte(max(abs(action_value(learned) - right)), 0.02 * size)
      best <- apply(right, 1, max)
      second <- apply(right, 1, function(q) sort(q, decreasing = TRUE)[2])
      clear <- best - second > 0.01 * size
      expect_gte(sum(clear), n / 2)
      expect_close(policy(learned)[clear, ], policy(plan_mdp(setting))[clear, ], 0)
      expect_true(all(learned$report$tries > 1000))
    }
  })
})

test_that("every pair is tried, also where a state cannot be left or come to", {
  trap <- decision_setting(letters[1:3], c("x", "y"), letters[1:3], matrix(c(0, 0, 0, 0.5, 1, 0, 0.5, 0, 1), 3),
                           "identity", matrix(c(1, 2, 3, 3, 2, 1), 3), discount = 0.5, start = c(0, 1, 0))
  learned <- plan_q_learning(trap, steps = 30000, exploration = 0.2, seed = 1)
  expect_true(all(learned$report$tries > 100))
  expect_equal(sum(learned$report$tries), 30000)
  expect_close(value(learned), value(plan_mdp(trap)), 0.1)
})

test_that("where the future does not count or nothing is left to chance, learning is exact", {
  myopic <- with_seed(3, random_markov(4, 3, discount = 0))
  expect_close(action_value(plan_q_learning(myopic, steps = 5000, seed = 1)), myopic$utility, 1e-12)
  certain <- decision_setting(letters[1:2], c("stay", "go"), letters[1:2], list(diag(2), diag(2)[2:1, ]), "identity",
                              matrix(c(1, 0, 0, 2), 2), discount = 0.5)
  expect_close(action_value(plan_q_learning(certain, seed = 1)), action_value(plan_mdp(certain)), 1e-3)
})

test_that("the same seed gives the same plan, and the generator is left as it was", {
  setting <- with_seed(4, random_markov(4, 2))
  expect_identical(plan_q_learning(setting, 120000, seed = 7), plan_q_learning(setting, 120000, seed = 7))
  learned <- function(seed = NULL) value(plan_q_learning(setting, 1000, seed = seed))
  expect_false(identical(learned(7), learned(8)))
  with_seed(5, {
    before <- .Random.seed
    plan_q_learning(setting, 1000, seed = 7)
    expect_identical(.Random.seed, before)
    one <- plan_q_learning(setting, 1000)
    expect_false(identical(.Random.seed, before))
    expect_false(identical(value(one), value(plan_q_learning(setting, 1000))))
  })
  expect_identical(with_seed(6, learned()), with_seed(6, learned()))
})

test_that("what is learned scales with the utility", {
  setting <- with_seed(7, random_markov(4, 3))
  other <- setting
  other$utility <- setting$utility * 2^20
  expect_identical(action_value(plan_q_learning(other, 5000, seed = 1)),
                   2^20 * action_value(plan_q_learning(setting, 5000, seed = 1)))
})

test_that("learning is from as many transitions as there are, by rows too", {
  setting <- with_seed(8, sparse_markov(2000, 2, 3))
  plan <- plan_q_learning(setting, steps = 100000, seed = 1)
  expect_true(all(is.finite(value(plan))))
  expect_gt(mean(plan$report$tries > 0), 0.99)
})

test_that("a plan that was learned is read like any other", {
  setting <- with_seed(9, random_markov(3, 2))
  plan <- plan_q_learning(setting, steps = 20000, seed = 1)
  expect_match(format(plan), "Q-learning", all = FALSE)
  expect_match(format(plan), "steps +20,000", all = FALSE)
  visits <- simulate(plan, nsim = 3, seed = 1, horizon = 4)
  # Where choices are certain, what was simulated has probability 1.
  expect_close(log_lik(plan, visits), rep(0, 3), 1e-12)
  expect_close(evaluate_policy(plan), value(plan_mdp(setting)), 0.2)
})

test_that("what cannot be learned from is refused before work starts", {
  setting <- with_seed(10, random_markov(3, 2))
  expect_error(plan_q_learning(), class = "ibrc_error_input")
  expect_error(plan_q_learning(tiger_setting()), "plan_pomdp", class = "ibrc_error_input")
  nonsense <- list(NA, "x", -1, Inf, list(), mean, matrix(0, 0, 2), c(1, 2))
  for (argument in c("steps", "exploration", "patience", "power", "episode", "seed")) {
    for (bad in nonsense) {
      if (argument == "seed" && identical(bad, -1)) next
      given <- stats::setNames(list(setting, bad), c("setting", argument))
      expect_error(do.call(plan_q_learning, given), argument, class = "ibrc_error_input")
    }
  }
  expect_error(plan_q_learning(setting, exploration = NULL), "exploration", class = "ibrc_error_input")
  for (bad in c(0.5, 1e308)) expect_error(plan_q_learning(setting, steps = bad), "steps", class = "ibrc_error_input")
})

test_that("an interrupt is answered between calls", {
  setting <- with_seed(11, random_markov(3, 2))
  expect_lt(learned_at_once * 3, 1e6)
  # Nobody waits for ever: a run that is far too long ends as soon as a time limit is reached.
  started <- Sys.time()
  expect_error({
    setTimeLimit(elapsed = 0.5, transient = TRUE)
    on.exit(setTimeLimit())
    plan_q_learning(setting, steps = 1e12, seed = 1)
  }, "time limit")
  setTimeLimit()
  expect_lt(as.numeric(Sys.time() - started, units = "secs"), 10)
})

test_that("what was never tried is not preferred, and is told", {
  setting <- with_seed(12, random_markov(30, 4, 0.9))
  setting$utility <- setting$utility - max(setting$utility) - 1
  plan <- plan_q_learning(setting, steps = 60, seed = 1)
  tries <- plan$report$tries
  tried <- rowSums(tries) > 0
  expect_gt(sum(tried), 10)
  expect_true(all(policy(plan)[tried, ][tries[tried, ] == 0] == 0))
  # Where nothing was tried all are as likely.
  expect_true(all(policy(plan)[!tried, ] == 0.25))
  told <- paste0(sum(tries == 0), " of the 120 pairs of a state and an action were never tried")
  expect_match(format(plan), told, all = FALSE)
  enough <- plan_q_learning(setting, steps = 50000, seed = 1)
  expect_match(format(enough), "each of the 120 pairs .* was tried [0-9]+ times or more", all = FALSE)
})

test_that("how far values came is told", {
  setting <- with_seed(13, random_markov(4, 3, 0.95))
  plan <- plan_q_learning(setting, steps = 20000, seed = 1)
  expect_close(plan$report$bound, max(abs(value(plan) - value(plan_mdp(setting)))), 1e-6)
  expect_match(format(plan), "values differ by up to", all = FALSE)
  expect_lt(plan_q_learning(setting, seed = 1)$report$bound, plan$report$bound)
  soft <- plan_soft_q_learning(setting, 0.5, steps = 20000, seed = 1)
  level <- 0.5 * log(3) / (1 - 0.95)
  expect_close(soft$report$bound, max(abs(value(soft) - value(plan_kl(setting, 0.5)) - level)), 1e-6)
})

test_that("where utility is counted from does not matter", {
  setting <- with_seed(14, random_markov(4, 3, 0.5))
  other <- setting
  other$utility <- setting$utility - 100
  one <- plan_q_learning(setting, 2000, seed = 1)
  two <- plan_q_learning(other, 2000, seed = 1)
  expect_close(value(one) - 100 / (1 - 0.5), value(two), 1e-9)
  expect_identical(policy(one), policy(two))
})
