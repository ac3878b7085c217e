setting <- diag_setting()
plan <- plan_history_q_learning(setting, memory = 2, steps = 20000, alpha = 3, seed = 1)

test_that("behaviour is the twin's, from the same noise", {
  with_seed(1, for (one in list(plan, plan_history_q_learning(random_markov(3, 2), 1, steps = 200, seed = 1))) {
    horizon <- 6
    begin <- stats::runif(1)
    visits <- simulate(one, 50, seed = 3, horizon = horizon)
    noise <- withr::with_seed(3, matrix(stats::runif(50 * (1 + 3 * horizon)), 1 + 3 * horizon))
    policies <- twin_policies(one)
    twin <- lapply(seq_len(50), function(i) {
      twin_recall_run(one$setting, policies, one$memory, one$setting$start, noise[, i], horizon)
    })
    expect_identical(as.integer(visits$action), as.integer(do.call(rbind, twin)[, 1]))
    expect_identical(as.integer(visits$observation), as.integer(do.call(rbind, twin)[, 2]))
    expect_identical(visits$id, rep(seq_len(50), vapply(twin, nrow, 0L)))
  })
})

test_that("trajectories are those of any plan: kinds of columns, seeds and ends", {
  visits <- simulate(plan, 40, seed = 1)
  agent <- simulate(plan_agent(setting, bounded_agent(alpha = 3)), 40, seed = 1)
  expect_s3_class(visits, "ibrc_trajectories")
  expect_identical(lapply(visits, class), lapply(agent, class))
  expect_identical(attributes(visits)[c("roles", "seed", "class")], attributes(agent)[c("roles", "seed", "class")])
  expect_identical(levels(visits$action), setting$actions)
  stopped <- visits$action %in% setting$stop_actions
  expect_true(all(!stopped[duplicated(visits$id, fromLast = TRUE)]))
  expect_identical(simulate(plan, 40, seed = 1), visits)
  expect_false(identical(simulate(plan, 40), visits))
  expect_true(all(table(simulate(plan, 5, seed = 1, horizon = 2)$id) <= 2))
  sure <- setting
  sure$emission[, "positive", "monitor"] <- 1
  sure$emission[, "negative", "monitor"] <- 0
  seen <- simulate(plan, 20, seed = 1, environment = sure)
  expect_true(all(seen$observation[seen$action == "monitor"] == "positive"))
  expect_error(simulate(plan, 0), class = "ibrc_error_input")
  expect_error(simulate(plan, 1, environment = tiger_setting()), class = "ibrc_error_input")
  expect_error(simulate(plan, 1, start_group = "a"), class = "ibrc_error_input")
  expect_error(simulate(plan, 1, nonsense = 1), class = "ibrc_error_input")
})

test_that("predictions are the policy at what was remembered, in the order of rows, and add up to log_lik()", {
  visits <- simulate(plan, 60, seed = 2)
  data <- as.data.frame(visits)
  set.seed(1)
  data <- data[order(data$time, sample(nrow(data))), ]
  data$free <- data$time %% 3 != 1
  mixed <- trajectories(data, scored = "free")
  chances <- predict(plan, mixed)
  expect_identical(dim(chances), c(nrow(mixed), 3L))
  expect_identical(names(chances), setting$actions)
  expect_close(rowSums(chances), rep(1, nrow(mixed)), 1e-12)
  for (i in c(1, 70, nrow(data))) {
    before <- data[data$id == data$id[i] & data$time < data$time[i], ]
    expect_equal(unlist(chances[i, ]), policy(plan, histories = before[order(before$time), ])[1, ])
  }
  each <- log(as.matrix(chances)[cbind(seq_len(nrow(data)), as.integer(data$action))])
  each[!data$free] <- 0
  expect_equal(log_lik(plan, mixed), vapply(split(each, factor(data$id, unique(data$id))), sum, 0))
})

test_that("missing actions and observations are read by what agrees, and do not count", {
  visits <- as.data.frame(simulate(plan, 40, seed = 3))
  long <- visits$id %in% visits$id[visits$time == 2]
  gappy <- visits
  gappy$observation[long & gappy$time == 0] <- NA
  gappy$action[long & gappy$time == 1] <- NA
  gappy$known <- !is.na(gappy$action)
  gappy <- trajectories(gappy, scored = "known")
  chances <- predict(plan, gappy)
  expect_false(anyNA(chances))
  expect_close(rowSums(chances), rep(1, nrow(chances)), 1e-12)
  at <- which(long & visits$time == 2)[1]
  before <- gappy[gappy$id == gappy$id[at] & gappy$time < 2, c("action", "observation")]
  expect_equal(unlist(chances[at, ]), policy(plan, histories = before)[1, ])
  expect_true(all(is.finite(log_lik(plan, gappy))))
  # A best action alone has a probability.
  cold <- plan_history_q_learning(setting, memory = 2, steps = 20000, seed = 1)
  expect_true(any(log_lik(cold, trajectories(visits)) == -Inf))
  expect_close(log_lik(cold, simulate(cold, 10, seed = 1)), numeric(10), 1e-12)
})

test_that("starts that differ are drawn, and their columns kept", {
  grouped <- decision_setting(setting$states, setting$actions, setting$observations, setting$transition,
                              setting$emission, setting$utility, discount = 0.95, stop_actions = setting$stop_actions,
                              start = rbind(a = c(1, 0), b = c(0, 1)), start_by = "group")
  learned <- plan_history_q_learning(grouped, steps = 2000, alpha = 5, seed = 1)
  visits <- simulate(learned, 30, seed = 1)
  expect_true(all(visits$group %in% c("a", "b")))
  expect_identical(nrow(predict(learned, visits)), nrow(visits))
  expect_identical(unique(simulate(learned, 5, seed = 1, start_group = "b")$group), "b")
})

test_that("what is no trajectories is refused", {
  for (bad in list(NULL, NA, "x", -1, list(), data.frame())) {
    expect_error(predict(plan, bad), class = "ibrc_error")
    expect_error(log_lik(plan, bad), class = "ibrc_error")
  }
  expect_error(predict(plan), class = "ibrc_error_input")
  expect_error(log_lik(plan), class = "ibrc_error_input")
  expect_error(predict(plan, simulate(plan, 2, seed = 1), type = "state"), class = "ibrc_error_input")
})
