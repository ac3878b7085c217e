# States of the walk, checked apart from files.

walk_prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), eta ~ lognormal(0, 1))
log_density <- function(theta) prior_log_density(walk_prior, theta) - rowSums(theta^2)
run <- list(chains = 3L, warmup = 70L, iter = 150L, max_iter = 200L, thin = 2L)
state_at <- function(step) {
  start <- matrix(c(0.1, -0.2, 0.3), 3, 3)
  state <- walk_start(start, log_density, streams_from_seed(1L, 3), rep(0, 3), diag(3), run$warmup, run$iter, run$thin)
  for (i in seq_len(step)) state <- walk_step(state, log_density)
  with_fresh(state)
}
# As far as it can be told without a problem.
accepts <- function(state) {
  local_replacement("check_joint_values", function(...) NULL)
  local_replacement("check_joint_likelihood", function(...) NULL)
  job <- list(evaluator = list(prior = walk_prior, likelihood = TRUE), run = run)
  tryCatch({
    check_held_walk(list(state = state, value = matrix(0, 1, 3)), job)
    TRUE
  }, error = function(e) FALSE)
}

test_that("a state is accepted after every step, also as it comes back from a file", {
  state <- state_at(0)
  taken <- accepts(state)
  for (step in seq_len(run$iter)) {
    state <- walk_step(state, log_density)
    if (step < 5 || step %% 8 == 0 || abs(step - 70) < 4 || step > 147) {
      taken <- c(taken, accepts(with_fresh(state)))
      again <- chain_from_plain(chain_to_plain(list(state = state, value = 1)))
      expect_identical(again, list(state = with_fresh(state), value = 1))
    }
  }
  expect_true(all(taken))
  # A run that grew.
  expect_true(accepts(walk_grow(with_fresh(state), 180)))
  expect_false(accepts(walk_grow(with_fresh(state), 201)))
})

test_that("every field of a state is in the table, or is looked at apart", {
  fields <- names(state_at(1))
  expect_identical(setdiff(fields, c(names(walk_fields), walk_apart)), character())
  expect_identical(setdiff(c(names(walk_fields), walk_apart), fields), character())
  for (state in list(state_at(30), state_at(140))) for (field in fields) {
    expect_false(accepts(state[names(state) != field]) && !field %in% c("points", "tried"),
                 label = paste("without", field))
    for (value in list("x", -1, NA_real_, list(1), state[[field]][-1])) {
      if (!identical(value, state[[field]])) expect_false(accepts(replace(state, field, list(value))), label = field)
    }
  }
  expect_false(accepts(c(state_at(30), list(more = 1))))
})

test_that("a state that no step leaves is refused", {
  whole <- state_at(140)
  with <- function(...) {
    changes <- list(...)
    for (field in names(changes)) whole[field] <- changes[field]
    accepts(whole)
  }
  expect_true(with(scale = whole$scale))
  expect_false(with(iteration = 142L))
  expect_false(with(iteration = 200L))
  expect_false(with(frozen = FALSE))
  expect_false(with(thin = 1L))
  expect_false(with(scale = Inf))
  expect_false(with(turn = 1))
  expect_false(with(axis = -whole$axis))
  expect_false(with(n_accepted = rep(71L, 3)))
  expect_false(with(positions = whole$positions + 1))
  expect_false(with(log_density = whole$log_density + 100))
  expect_false(with(inverse = whole$inverse * 2))
  expect_false(with(factor = whole$factor[3:1, ]))
  expect_false(with(covariance = whole$covariance + row(whole$covariance)))
  expect_false(with(covariance = -whole$covariance))
  expect_false(with(points = whole$points[, 1:2]))
  expect_false(with(points = matrix(0, 500, 3)))
  expect_false(with(recent = whole$kept))
  expect_false(with(kept = whole$kept[-1]))
  expect_false(with(kept = replace(whole$kept, 3, list(whole$kept[[3]] + 50))))
  expect_false(with(kept = replace(whole$kept, 35, whole$kept[34])))
  expect_false(with(noise = NULL))
  expect_false(with(noise = replace(whole$noise, "kind", list(whole$noise$kind + 1))))
  expect_false(with(streams = whole$streams[c(1, 2)]))
  learning <- state_at(30)
  expect_false(accepts(replace(learning, "recent", list(learning$recent[-1]))))
  expect_false(accepts(replace(learning, "recent", list(rev(learning$recent)))))
})

test_that("what was tried in warm-up may be kept or not, may be impossible, and is gone when warm-up is", {
  learning <- state_at(30)
  with <- function(tried, state = learning) replace(state, "tried", list(tried))
  for (tried in list(NULL, learning$tried, lapply(learning$tried, function(x) replace(x, 11, -Inf)))) {
    expect_true(accepts(with(tried)))
    expect_identical(chain_from_plain(chain_to_plain(list(state = with(tried))))$state, with(tried))
  }
  for (tried in list(learning$tried[-1], 1, lapply(learning$tried, function(x) replace(x, 11, NaN)),
                     lapply(learning$tried, function(x) replace(x, 11, 5)), lapply(learning$tried, `[`, -1))) {
    expect_false(accepts(with(tried)))
  }
  frozen <- state_at(80)
  expect_true(accepts(with(list(), frozen)))
  expect_false(accepts(with(learning$tried, frozen)))
})
