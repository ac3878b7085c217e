read_reference <- function(name) {
  trajectories(utils::read.csv(reference_file(name)), setting = diag_setting())
}

test_that("log-likelihoods of the authors' data are the reference's", {
  expected <- rbind(
    flexible = c(-944.163183674, -2396.55951787, -1514.23931322),
    optimistic = c(-788.129382958, -250.334620803, -429.865547027)
  )
  agents <- list(bounded_agent(0.5, 1e3, 1e-3), bounded_agent(0.5, 1.25, 1e-3), bounded_agent(1, 2, 5))
  plan <- plan_agent(diag_setting(), agents[[1]], diag_models(), surprise = "observation", interpolate = "policy")
  for (data in rownames(expected)) {
    visits <- read_reference(paste0("diag_", data, ".csv"))
    mine <- vapply(agents, function(agent) sum(log_lik(update(plan, agent), visits)), 0)
    expect_close(mine, expected[data, ], 1e-6)
  }
})

test_that("each trajectory's is the twin's, for both ways between nodes and with missing observations", {
  with_seed(101, for (n_states in 2:4) {
    setting <- random_setting(n_states, zeros = 0)
    models <- random_models(setting)
    for (interpolate in c("value", "policy")) {
      plan <- plan_agent(setting, agents_to_try$flexible, models, 6, interpolate = interpolate)
      visits <- simulate(plan, 15, seed = 4, horizon = 6)
      visits$observation[sample(nrow(visits), 20)] <- NA
      rows <- data.frame(trajectory = visits$id, action = as.integer(visits$action),
                         observation = as.integer(visits$observation))
      twin <- twin_log_likelihood(
        rows, plan$models$models, policy = function(z) policy(plan, z)[1, ],
        sigma = function(z, u) model_weights(plan, z, setting$actions[u])[1, ], start = unname(setting$start)
      )
      expect_close(log_lik(plan, visits), twin, 1e-10)
    }
  })
})

test_that("actions that are missing or do not count are carried along as the twin carries them", {
  with_seed(102, for (n_states in 2:4) {
    setting <- random_setting(n_states, zeros = 0)
    setting$stop_actions <- setting$actions[1]
    models <- random_models(setting)
    for (interpolate in c("value", "policy")) {
      plan <- plan_agent(setting, agents_to_try$flexible, models, 6, interpolate = interpolate)
      data <- as.data.frame(simulate(plan, 25, seed = 4, horizon = 6))
      data$free <- stats::runif(nrow(data)) > 0.3
      data$observation[sample(nrow(data), 15)] <- NA
      # One that ended its trajectory may be missing, too: nothing follows it.
      data$action[sample(nrow(data), 15)] <- NA
      visits <- suppressWarnings(trajectories(data, scored = "free"), classes = "ibrc_warning_missing_action")
      rows <- data.frame(trajectory = data$id, action = as.integer(data$action),
                         observation = as.integer(data$observation), scored = data$free)
      twin <- twin_log_likelihood(
        rows, plan$models$models, policy = function(z) policy(plan, z)[1, ],
        sigma = function(z, u) model_weights(plan, z, setting$actions[u])[1, ], start = unname(setting$start), stops = 1
      )
      expect_close(log_lik(plan, visits), twin, 1e-10)
      expect_false(isTRUE(all.equal(twin, twin_log_likelihood(
        rows, plan$models$models, policy = function(z) policy(plan, z)[1, ],
        sigma = function(z, u) model_weights(plan, z, setting$actions[u])[1, ], start = unname(setting$start)
      ))))
    }
  })
})

test_that("where only one action can have been, not to know it makes no difference", {
  # Monitoring is the one action of DIAG that goes on.
  plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25), diag_models())
  data <- as.data.frame(simulate(plan, 40, seed = 2))
  data$free <- data$time != 1
  forced <- log_lik(plan, trajectories(data, scored = "free"))
  data$action[!data$free] <- NA
  expect_close(log_lik(plan, trajectories(data, scored = "free")), forced, 1e-12)
  # What was seen tells it as well: after listening it is quiet in no other state, and doors are silent.
  setting <- tiger_setting()
  shows <- array(0, c(2, 3, 3), list(setting$states, c("hear_left", "hear_right", "nothing"), setting$actions))
  shows[, "nothing", ] <- 1
  shows[, , "listen"] <- rbind(c(0.85, 0.15, 0), c(0.15, 0.85, 0))
  told <- decision_setting(setting$states, setting$actions, dimnames(shows)[[2]], setting$transition, shows,
                           setting$utility, discount = 0.95, start = c(0.5, 0.5))
  plan <- plan_agent(told, bounded_agent(alpha = 20), resolution = 40)
  data <- as.data.frame(simulate(plan, 40, seed = 3, horizon = 8))
  data$free <- !(data$action == "listen" & data$time %in% c(1, 4))
  expected <- log_lik(plan, trajectories(data, scored = "free"))
  data$action[!data$free] <- NA
  expect_close(log_lik(plan, trajectories(data, scored = "free")), expected, 1e-12)
})

test_that("a sequence goes on as if a forced visit had been judged by nobody", {
  plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25), diag_models())
  data <- as.data.frame(simulate(plan, 40, seed = 2))
  # What is held out and what is not add up to the whole.
  data$early <- data$time < 2
  data$late <- !data$early
  parts <- log_lik(plan, trajectories(data, scored = "early")) + log_lik(plan, trajectories(data, scored = "late"))
  expect_close(parts, log_lik(plan, trajectories(data)), 1e-12)
  data$none <- FALSE
  expect_identical(unname(log_lik(plan, trajectories(data, scored = "none"))), numeric(40))
})

test_that("a likelihood does not underflow", {
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 1e-3), diag_models())
  odd <- trajectories(data.frame(id = 1, time = 1:2, action = c("declare_healthy", "monitor"), observation = NA)[1, ])
  # Declaring at an even belief is worth about 18 less: 18,000 nats at this price.
  expect_lt(log_lik(plan, odd), -1e4)
  expect_true(is.finite(log_lik(plan, odd)))
})

test_that("order of rows, names of columns and kinds of identifier do not matter", {
  plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25), diag_models())
  visits <- simulate(plan, 20, seed = 2)
  expected <- log_lik(plan, visits)
  data <- as.data.frame(visits)
  mixed <- data[order(data$time, data$id), ]
  names(mixed) <- c("who", "when", "did", "saw")
  mixed$who <- factor(paste0("p", mixed$who))
  again <- log_lik(plan, trajectories(mixed, "who", "when", "did", "saw"))
  expect_equal(unname(again), unname(expected))
  expect_identical(names(again), paste0("p", 1:20))
})

test_that("what cannot happen is refused by its rows", {
  sure <- plan_agent(diag_setting(), bounded_agent(alpha = 1), diag_models(accuracy = 1))
  visits <- data.frame(id = c(7, 7, 7, 8), time = c(1, 2, 3, 1), action = "monitor",
                       observation = c("positive", "negative", NA, "positive"))
  error <- expect_error(log_lik(sure, trajectories(visits)), class = "ibrc_error_data")
  expect_identical(error$rows, 2L)
  never <- plan_agent(diag_setting(), bounded_agent(alpha = 1, action_prior = c(0.5, 0.5, 0)), diag_models())
  error <- expect_error(log_lik(never, trajectories(visits)), "prior probability 0", class = "ibrc_error_data")
  expect_identical(error$rows, 1:4)
  expect_error(log_lik(sure, visits), class = "ibrc_error_input")
  expect_error(log_lik(sure), class = "ibrc_error_input")
  wrong <- trajectories(transform(visits, action = "wait"))
  expect_error(log_lik(sure, wrong), class = "ibrc_error_data")
})

test_that("a price far below the rounding of values leaves the likelihood of choices right", {
  setting <- diag_setting()
  sure <- plan_agent(setting, bounded_agent(alpha = 0), diag_models())
  visits <- simulate(sure, 20, seed = 1)
  for (alpha in c(1e-30, 1e-14)) {
    # The best action has probability 1, and rational behaviour is nothing but that.
    expect_close(sum(log_lik(update(sure, bounded_agent(alpha = alpha)), visits)), 0, 1e-12)
  }
  # The worst is one of two wrong declarations, which are as bad as each other at the start.
  worst <- plan_agent(setting, bounded_agent(alpha = -1e-30), diag_models())
  expect_close(sum(log_lik(worst, simulate(worst, 20, seed = 1))), 20 * log(0.5), 1e-12)
})
