# Every way through the loops of kernels; on processors that lack one, the next narrower is taken.
ways <- 0:2

test_that("the network is its plain twin", {
  set.seed(1)
  shapes <- list(c(7L, 3L, 4L, 3L), c(7L, 3L, 4L, 3L), c(7L, 9L, 17L, 3L), c(7L, 16L, 5L, 3L))
  for (k in 1:4) for (way in ways) {
    one <- random_rnn(c(1, 8, 19, 70)[k], shapes[[k]])
    law <- .Call(ffi_rnn_predict, one$shape, one$weights, one$data, way)
    expect_close(law, rnn_log_law(one$weights, one$shape, one$data), 1e-10)
    all <- seq_len(length(one$data$first) - 1L) - 1L
    found <- .Call(ffi_rnn_gradient, one$shape, one$weights, one$data, sample(all), 1L, way)
    expect_close(found$loss, rnn_loss(one$weights, one$shape, one$data), 1e-10)
    expect_identical(found$counted, sum(one$data$action >= 0) + 0)
  }
})

test_that("answers are the same by every way, and with any number of threads", {
  set.seed(4)
  # As many trajectories as make several slices.
  one <- random_rnn(150, c(7L, 20L, 11L, 3L))
  slopes <- lapply(ways, function(way) .Call(ffi_rnn_gradient, one$shape, one$weights, one$data, 0:149, 1L, way))
  for (way in ways[-1]) {
    expect_close(slopes[[way + 1]]$gradient, slopes[[1]]$gradient, 1e-10)
    expect_close(slopes[[way + 1]]$loss, slopes[[1]]$loss, 1e-10)
  }
  for (way in ways) {
    expect_identical(.Call(ffi_rnn_gradient, one$shape, one$weights, one$data, 0:149, 2L, way), slopes[[way + 1]])
  }
  weights <- matrix(one$weights)
  step <- function(threads, way) {
    .Call(ffi_rnn_train, one$shape, list(weights = weights, first = 0 * weights, second = 0 * weights), 0, one$data,
          0:149, 150L, 0.001, threads, way)
  }
  for (way in ways) {
    expect_identical(step(2L, way), step(1L, way))
    expect_close(step(1L, way)$weights, step(1L, 0L)$weights, 1e-10)
  }
})

test_that("trajectories that begin alike are worked out together, and count each", {
  set.seed(5)
  one <- random_rnn(1)
  visits <- length(one$data$action)
  five <- lapply(one$data, rep, 5)
  five$first <- visits * 0:5
  alone <- .Call(ffi_rnn_gradient, one$shape, one$weights, one$data, 0L, 1L, 2L)
  together <- .Call(ffi_rnn_gradient, one$shape, one$weights, five, 0:4, 1L, 2L)
  expect_close(together$gradient, 5 * alone$gradient, 1e-12)
  expect_close(together$loss, 5 * alone$loss, 1e-12)
  expect_identical(together$counted, 5 * alone$counted)
})

test_that("bent numbers are those of the mathematical library", {
  x <- c(seq(-40, 40, length.out = 20001), seq(-1e-3, 1e-3, length.out = 2001), 10^(-300:2), -10^(-300:2))
  for (way in ways) {
    bent <- .Call(ffi_rnn_bend, x, way)
    expect_lt(max(abs(bent$logistic / stats::plogis(x) - 1)), 1e-14)
    expect_lt(max(abs(bent$tanh - tanh(x)) / pmax(abs(tanh(x)), 1e-300)), 1e-14)
    far <- .Call(ffi_rnn_bend, c(0, -1e4, 1e4, -Inf, Inf, NaN, NA), way)
    expect_close(far$logistic[1:5], c(0.5, 0, 1, 0, 1), 1e-300)
    expect_identical(far$tanh[1:5], c(0, -1, 1, -1, 1))
    expect_true(all(is.na(far$logistic[6:7])) && all(is.na(far$tanh[6:7])))
  }
})

test_that("gradients are finite differences", {
  set.seed(2)
  one <- random_rnn()
  found <- .Call(ffi_rnn_gradient, one$shape, one$weights, one$data, 0:10, 1L, 2L)$gradient
  step <- 1e-5
  by_differences <- vapply(seq_along(one$weights), function(k) {
    up <- down <- one$weights
    up[k] <- up[k] + step
    down[k] <- down[k] - step
    (rnn_loss(up, one$shape, one$data) - rnn_loss(down, one$shape, one$data)) / (2 * step)
  }, 0)
  expect_lt(max(abs(found - by_differences) / (1 + abs(by_differences))), 1e-6)
  # Of some of the trajectories, in whatever order.
  parts <- .Call(ffi_rnn_gradient, one$shape, one$weights, one$data, c(4L, 9L, 0L), 1L, 2L)$gradient +
    .Call(ffi_rnn_gradient, one$shape, one$weights, one$data, c(1:3, 5:8, 10L), 1L, 2L)$gradient
  expect_close(parts, found, 1e-10)
})

test_that("steps are Adam's", {
  set.seed(3)
  one <- random_rnn()
  n <- length(one$weights)
  weights <- matrix(one$weights, n, 1)
  state <- list(weights = weights, first = 0 * weights, second = 0 * weights)
  batches <- c(0:4, 3:7, 10:6)
  found <- .Call(ffi_rnn_train, one$shape, state, 0, one$data, as.integer(batches), 5L, 0.01, 1L, 2L)
  w <- one$weights
  first <- second <- numeric(n)
  for (step in 1:3) {
    at <- .Call(ffi_rnn_gradient, one$shape, w, one$data, as.integer(batches[(step - 1) * 5 + 1:5]), 1L, 2L)
    g <- at$gradient / at$counted
    first <- 0.9 * first + 0.1 * g
    second <- 0.999 * second + 0.001 * g^2
    w <- w - 0.01 * first / (1 - 0.9^step) / (sqrt(second / (1 - 0.999^step)) + 1e-8)
    expect_close(found$loss[step], at$loss / at$counted, 1e-10)
  }
  # So close that the root in it must have all its digits.
  expect_close(found$weights, w, 1e-14)
})

# Of few steps nobody need be told that they are too few.
small <- function(visits, ..., seed = 1) {
  suppressWarnings(fit_rnn(visits, units = c(6, 5), refresh = 0, seed = seed, ...), "ibrc_warning_convergence")
}
plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
visits <- simulate(plan, 60, seed = 1)

test_that("training does not depend on threads, nor on being interrupted", {
  whole <- small(visits, max_steps = 60)
  expect_identical(small(visits, max_steps = 60, cores = 2)$state, whole$state)
  # Batches of several slices, by more threads than there are networks.
  large <- function(cores) small(visits, networks = 1, batch = 50, max_steps = 20, cores = cores)$state
  expect_identical(large(2), large(1))
  part <- small(visits, max_steps = 30)
  expect_identical(small(visits, max_steps = 60, start = part)$state, whole$state)
  expect_error(small(visits, max_steps = 60, rate = 0.1, start = part), class = "ibrc_error_input")
  expect_error(small(visits[-1, ], max_steps = 60, start = part), class = "ibrc_error_input")
  expect_false(identical(small(visits, max_steps = 60, seed = 2)$state$best, whole$state$best))
})

test_that("training goes on after any number of steps as if it had not ended there", {
  fast <- function(steps, start = NULL, ...) {
    small(visits, networks = 2, rate = 0.05, max_steps = steps, start = start, ...)
  }
  whole <- fast(60)
  part <- fast(15)
  # A look at the end: what is best by then is kept.
  expect_equal(tidy(part)$step, c(10, 10, 15, 15))
  expect_identical(fast(60, fast(33, fast(15, fast(4))))$state, whole$state)
  expect_identical(fast(60, part)$state, whole$state)
  nobody <- fast(25, held_out = 0)
  expect_identical(fast(40, nobody, held_out = 0)$state, fast(40, held_out = 0)$state)
})

test_that("nobody who is held out is trained on", {
  opposite <- trajectories(data.frame(id = rep(c("a", "b"), each = 20), time = rep(1:20, 2),
                                      action = rep(c("x", "y"), each = 20), observation = "o"))
  for (seed in 1:6) {
    model <- suppressWarnings(fit_rnn(opposite, units = c(4, 4), networks = 1, held_out = 0.5, max_steps = 100,
                                      patience = 100, rate = 0.05, seed = seed, refresh = 0))
    held <- rep(1:2, each = 20) == model$state$held
    law <- as.matrix(predict(model, opposite))[cbind(1:40, rep(1:2, each = 20))]
    # Nobody has shown it what is done there.
    expect_lt(mean(law[held]), 0.6)
  }
})

test_that("who is held out has actions that count, and somebody is wherever there are two", {
  data <- as.data.frame(visits)
  data$free <- data$id <= 9
  model <- suppressWarnings(small(trajectories(data, scored = "free"), networks = 1, max_steps = 20))
  expect_length(model$state$held, 1)
  expect_lte(model$state$held, 9)
  expect_false(anyNA(tidy(model)$held_out))
  few <- suppressWarnings(small(visits[visits$id <= 9, ], networks = 1, max_steps = 20))
  expect_length(few$state$held, 1)
  expect_output(print(small(visits[visits$id <= 9, ], networks = 1, max_steps = 10, held_out = 0)), "held out +none")
})

test_that("a network that diverges is not kept, and said", {
  warned <- testthat::capture_warnings(
    model <- fit_rnn(visits, units = c(6, 5), networks = 1, rate = 1e308, max_steps = 60, seed = 1, refresh = 0))
  expect_match(warned, "became infinite|worse than action frequencies", all = FALSE)
  expect_false(anyNA(predict(model, visits)))
  expect_warning(fit_rnn(visits, units = c(6, 5), networks = 1, rate = 1000, max_steps = 30, seed = 1),
                 "worse than action frequencies", class = "ibrc_warning_convergence")
  expect_no_warning(fit_rnn(visits, units = c(6, 5), networks = 1, rate = 0.01, max_steps = 300, seed = 1))
})

test_that("frequencies are of all actions that are named, taken or not", {
  data <- list(first = c(0L, 2L, 4L), done = integer(4), seen = integer(4), action = c(0L, 1L, 0L, 0L))
  # One trajectory with one of each, and one count over three actions.
  expect_equal(frequency_loss(list(held = 2L), data, 3), -log((1 + 1 / 3) / 3))
  expect_no_error(suppressWarnings(fit_rnn(visits, units = c(3, 3), networks = 1, max_steps = 20, seed = 1, refresh = 0,
                                           actions = c(levels(factor(visits$action)), "never"))))
})

test_that("an interrupt before the first steps leaves nothing, and says so", {
  model <- small(visits, max_steps = 10)
  data <- rnn_data(learned_visits(visits, model$words), model$words)
  begun <- begin_rnn(model$shape, data, model$run, 1)
  skip_without_signals()
  cores <- function() {
    send_interrupt()
    linger()
    1
  }
  expect_error(train_rnn(begun, model$shape, data, model$run, cores(), 0), class = "ibrc_error_interrupted")
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
    learned_from <- truth_visits(truth, 300, 10 + seed)
    held <- truth_visits(truth, 300, 50 + seed)
    expect_lt(beside_truth(log_lik(network(learned_from, seed), held), log_lik(truth, held)), 2)
    expect_gt(beside_truth(log_lik(fit_baseline(learned_from), held), log_lik(truth, held)), 4)
  }
})
