test_that("the network is its plain twin", {
  set.seed(1)
  for (k in 1:3) {
    one <- random_rnn(c(1, 8, 19)[k])
    law <- .Call(ffi_rnn_predict, one$shape, one$weights, one$data)
    expect_close(law, rnn_log_law(one$weights, one$shape, one$data), 1e-10)
    all <- seq_len(length(one$data$first) - 1L) - 1L
    found <- .Call(ffi_rnn_gradient, one$shape, one$weights, one$data, sample(all))
    expect_close(found$loss, rnn_loss(one$weights, one$shape, one$data), 1e-10)
    expect_identical(found$counted, sum(one$data$action >= 0) + 0)
  }
})

test_that("gradients are finite differences", {
  set.seed(2)
  one <- random_rnn()
  found <- .Call(ffi_rnn_gradient, one$shape, one$weights, one$data, 0:10)$gradient
  step <- 1e-5
  by_differences <- vapply(seq_along(one$weights), function(k) {
    up <- down <- one$weights
    up[k] <- up[k] + step
    down[k] <- down[k] - step
    (rnn_loss(up, one$shape, one$data) - rnn_loss(down, one$shape, one$data)) / (2 * step)
  }, 0)
  expect_lt(max(abs(found - by_differences) / (1 + abs(by_differences))), 1e-6)
  # Of some of the trajectories, in whatever order.
  parts <- .Call(ffi_rnn_gradient, one$shape, one$weights, one$data, c(4L, 9L, 0L))$gradient +
    .Call(ffi_rnn_gradient, one$shape, one$weights, one$data, c(1:3, 5:8, 10L))$gradient
  expect_close(parts, found, 1e-10)
})

test_that("steps are Adam's", {
  set.seed(3)
  one <- random_rnn()
  n <- length(one$weights)
  weights <- matrix(one$weights, n, 1)
  state <- list(weights = weights, first = 0 * weights, second = 0 * weights)
  batches <- c(0:4, 3:7, 10:6)
  found <- .Call(ffi_rnn_train, one$shape, state, 0, one$data, as.integer(batches), 5L, 0.01, 1L)
  w <- one$weights
  first <- second <- numeric(n)
  for (step in 1:3) {
    at <- .Call(ffi_rnn_gradient, one$shape, w, one$data, as.integer(batches[(step - 1) * 5 + 1:5]))
    g <- at$gradient / at$counted
    first <- 0.9 * first + 0.1 * g
    second <- 0.999 * second + 0.001 * g^2
    w <- w - 0.01 * first / (1 - 0.9^step) / (sqrt(second / (1 - 0.999^step)) + 1e-8)
    expect_close(found$loss[step], at$loss / at$counted, 1e-10)
  }
  expect_close(found$weights, w, 1e-10)
})

small <- function(visits, ..., seed = 1) fit_rnn(visits, units = c(6, 5), refresh = 0, seed = seed, ...)
plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
visits <- simulate(plan, 60, seed = 1)

test_that("training does not depend on threads, nor on being interrupted", {
  whole <- small(visits, max_steps = 60)
  expect_identical(small(visits, max_steps = 60, cores = 2)$state, whole$state)
  part <- small(visits, max_steps = 30)
  expect_identical(small(visits, max_steps = 60, start = part)$state, whole$state)
  expect_error(small(visits, max_steps = 60, rate = 0.1, start = part), class = "ibrc_error_input")
  expect_error(small(visits[-1, ], max_steps = 60, start = part), class = "ibrc_error_input")
  expect_false(identical(small(visits, max_steps = 60, seed = 2)$state$best, whole$state$best))
})

test_that("an interrupt gives back what there is", {
  skip_without_signals()
  said <- 0
  part <- withCallingHandlers(
    suppressWarnings(fit_rnn(visits, units = c(6, 5), refresh = 10, seed = 1, max_steps = 60),
                     "ibrc_warning_interrupted"),
    message = function(m) {
      said <<- said + 1
      if (said == 3) send_interrupt()
      invokeRestart("muffleMessage")
    }
  )
  expect_true(glance(part)$interrupted)
  expect_lt(glance(part)$steps, 60)
  expect_output(print(part), "interrupted")
  expect_identical(small(visits, max_steps = 60, start = part)$state, small(visits, max_steps = 60)$state)
})

test_that("training ends when those held out are not predicted better", {
  model <- small(visits, patience = 20, max_steps = 5000, rate = 0.05)
  expect_true(all(model$state$steps < 5000))
  expect_true(all(model$state$steps - model$state$best_step >= 20))
  history <- tidy(model)
  for (network in 1:2) {
    expect_equal(min(history$held_out[history$network == network]), model$state$best_loss[network])
  }
})

test_that("it has the face of a decision model", {
  model <- small(visits, max_steps = 40)
  law <- as.matrix(predict(model, visits))
  expect_close(unname(rowSums(law)), rep(1, nrow(visits)), 1e-12)
  each <- log(law[cbind(seq_len(nrow(visits)), as.integer(visits$action))])
  expect_close(unname(log_lik(model, visits)), unname(vapply(split(each, visits$id), sum, 0)), 1e-12)
  # What comes later changes nothing.
  cut <- visits[sequence(rle(visits$id)$lengths) <= 2, ]
  expect_close(as.matrix(predict(model, cut)), law[sequence(rle(visits$id)$lengths) <= 2, ], 1e-12)
  expect_output(print(model), "A recurrent network of 6 and 5 units, the mean of 2")
  gaps <- visits
  gaps$observation[c(2, 5)] <- NA
  expect_false(anyNA(predict(model, gaps)))
  # No identifier stays in it.
  named <- as.data.frame(visits)
  named$id <- paste0("person", named$id)
  expect_false(grepl("person", paste(deparse(unclass(small(trajectories(named), max_steps = 10))), collapse = "")))
})

test_that("it learns what depends on the visit before", {
  rows <- with_seed(5, lapply(1:120, function(i) {
    seen <- sample(c("low", "high"), 5, TRUE)
    chance <- ifelse(c("none", seen[-5]) == "high", 0.9, 0.2)
    data.frame(id = i, time = 1:5, action = ifelse(stats::runif(5) < chance, "test", "wait"), observation = seen,
               chance = chance)
  }))
  drawn <- do.call(rbind, rows)
  model <- fit_rnn(trajectories(drawn[drawn$id <= 90, ]), units = c(8, 8), networks = 1, rate = 0.01, seed = 1,
                   max_steps = 1000, refresh = 0)
  held <- drawn[drawn$id > 90, ]
  truth <- vapply(split(with(held, log(ifelse(action == "test", chance, 1 - chance))), held$id), sum, 0)
  apart <- log_lik(model, trajectories(held)) - truth
  expect_lt(abs(mean(apart)), 2 * stats::sd(apart) / sqrt(length(apart)) + 0.1)
})

test_that("it recovers what was simulated from a network", {
  # 300 trajectories to learn from, 300 held out, three times.
  network <- function(visits, seed) {
    fit_rnn(visits, units = c(8, 8), networks = 1, rate = 0.01, seed = seed, max_steps = 600, refresh = 0)
  }
  truth <- network(taught_visits(300, seed = 1), 1)
  for (seed in 1:3) {
    learned_from <- drawn_from(truth, 300, 10 + seed)
    held <- drawn_from(truth, 300, 50 + seed)
    expect_lt(beside_truth(log_lik(network(learned_from, seed), held), log_lik(truth, held)), 2)
    expect_gt(beside_truth(log_lik(fit_baseline(learned_from), held), log_lik(truth, held)), 4)
  }
})
