# States of the sampler, checked apart from files.

prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
log_density <- function(theta) cbind(prior_log_density(prior, theta), -rowSums(theta^2))
run <- list(warmup = 120L, iter = 300L, thin = 2L)
state_at <- function(step, sampler = "adaptive", groups = c(1L, 1L, 2L, 2L)) {
  streams <- streams_from_seed(1L, length(groups))
  start <- matrix(0.1, length(groups), 2, dimnames = list(NULL, names(prior)))
  state <- sampler_start(start, log_density, streams, groups, run$warmup, run$iter, run$thin, sampler)
  for (i in seq_len(step)) state <- sampler_step(state, log_density)
  state
}
expected <- function(state) {
  list(group = state$group, n_groups = max(state$group), prior = prior, likelihood = TRUE, run = run,
       sampler = state$sampler)
}
accepts <- function(state, as = expected(state)) {
  tryCatch({
    check_held_state(state, as)
    TRUE
  }, error = function(e) FALSE)
}

test_that("a state is accepted after every step", {
  for (sampler in c("adaptive", "paper")) for (groups in list(c(1L, 1L), c(1L, 2L, 2L))) {
    state <- state_at(0, sampler, groups)
    taken <- accepts(state)
    for (step in seq_len(run$iter)) {
      state <- sampler_step(state, log_density)
      if (step < 70 || step %% 16 == 0 || abs(step - 120) < 3 || step > 297) taken <- c(taken, accepts(state))
    }
    expect_true(all(taken))
  }
})

test_that("a state that no step leaves is refused", {
  whole <- state_at(290)
  expect_true(accepts(whole))
  with <- function(...) {
    changes <- list(...)
    state <- whole
    for (field in names(changes)) state[field] <- changes[field]
    accepts(state, expected(whole))
  }
  expect_false(with(iteration = 291L))
  expect_false(with(iteration = 301L))
  expect_false(with(frozen = FALSE))
  expect_false(with(step = 1e300))
  expect_false(with(scale = c(1, Inf)))
  expect_false(with(n_accepted = rep(171L, 4)))
  expect_false(with(positions = whole$positions + 1))
  expect_false(with(log_density = whole$log_density + 1))
  expect_false(with(log_likelihood = -whole$log_likelihood))
  expect_false(with(log_mixture = whole$log_mixture + 1))
  expect_false(with(accepted = !whole$accepted))
  expect_false(with(draws = replace(whole$draws, 1, NA)))
  expect_false(with(draws = replace(whole$draws, length(whole$draws), 0)))
  expect_false(with(draws = replace(whole$draws, 1, 1e200)))
  expect_false(with(history = array(0, c(120, 4, 2))))
  expect_false(with(recent = whole$recent[1:255]))
  expect_false(with(moves = NULL))
  moves <- whole$moves
  moves$shift <- moves$shift * 2
  expect_false(with(moves = moves))
  law <- whole$law
  law$mixture$constant <- law$mixture$constant + 1
  expect_false(with(law = law))
  law <- whole$law
  law$mixture$whiten[[1]][1] <- 5
  expect_false(with(law = law))
  law <- whole$law
  law$mixture$cumulative <- law$mixture$cumulative[rev(seq_len(nrow(law$mixture$cumulative))), ]
  expect_false(with(law = law))
})

test_that("streams are those that R's generator takes as they are", {
  streams <- streams_from_seed(1L, 2)
  accepts_streams <- function(at, value) {
    streams[[2]][at] <- value
    tryCatch({
      check_held_streams(streams, 2)
      TRUE
    }, error = function(e) FALSE)
  }
  expect_true(accepts_streams(1, streams[[2]][1]))
  expect_true(accepts_streams(3, -1000L))
  # A number without a sign that has no other name.
  expect_true(accepts_streams(3, NA))
  expect_false(accepts_streams(1, 10403L))
  expect_false(accepts_streams(1, NA))
  expect_false(accepts_streams(2:4, 0L))
  expect_false(accepts_streams(5:7, 0L))
  expect_false(accepts_streams(3, -1L))
  expect_false(accepts_streams(6, -20000L))
  expect_false(accepts_streams(8, 1L))
  expect_error(check_held_streams(streams, 3), class = "ibrc_error_checkpoint")
})

test_that("draws are where the prior can be, up to the step made and not beyond", {
  as <- expected(state_at(0))
  steps <- array(0.5, c(10, 2, 2))
  steps[7:10, , ] <- NA
  density <- matrix(-50, 10, 2)
  density[7:10, ] <- NA
  expect_silent(check_filled(steps, 6, density, as, "draws"))
  expect_error(check_filled(steps, 5, density, as, "draws"), class = "ibrc_error_checkpoint")
  expect_error(check_filled(steps, 7, density, as, "draws"), class = "ibrc_error_checkpoint")
  # No likelihood is above 1.
  expect_error(check_filled(steps, 6, density + 60, as, "draws"), class = "ibrc_error_checkpoint")
})
