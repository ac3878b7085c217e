setting <- diag_setting()
truth <- plan_agent(setting, bounded_agent(0.5, 1.25), diag_models())
north <- cbind(as.data.frame(simulate(truth, 30, seed = 1)), clinic = "north")
south <- cbind(as.data.frame(simulate(update(truth, bounded_agent(3)), 20, seed = 2)), clinic = "south")
south$id <- south$id + 30
visits <- trajectories(rbind(north, south), covariates = "clinic", setting = setting)
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
pooled <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 200, seed = 1)
grouped <- ibrc(visits, setting, diag_models(), prior, by = "clinic", chains = 2, iter = 200, seed = 1)

test_that("replicates have the shape of the data", {
  made <- posterior_predict(grouped, draws = 4, seed = 1)
  expect_named(made, c(".draw", "group", "id", "time", "action", "observation"))
  expect_identical(unique(made$.draw), spaced_draws(grouped, 4)$.draw)
  first <- made[made$time == 0, ]
  expect_identical(as.vector(table(first$group, first$.draw)), rep(c(30L, 20L), 4))
  expect_identical(first$id, rep(1:50, 4))
  expect_lte(max(made$time) + 1, max(table(visits$id)))
  expect_s3_class(trajectories(made[made$.draw == made$.draw[1], ], setting = setting), "ibrc_trajectories")
})

test_that("a seed repeats the replicates and leaves the generator as it was", {
  with_seed(3, {
    before <- .Random.seed
    one <- posterior_predict(pooled, draws = 3, seed = 8)
    expect_identical(.Random.seed, before)
    expect_identical(posterior_predict(pooled, draws = 3, seed = 8), one)
    posterior_predict(pooled, draws = 3)
    expect_false(identical(.Random.seed, before))
  })
})

test_that("replicated actions follow the law of the draws", {
  chosen <- spaced_draws(pooled, 100)
  laws <- read_draws(pooled, 1, chosen, function(plan) policy(plan, setting$start)[1, ])
  expected <- Reduce(`+`, laws) / length(laws)
  made <- posterior_predict(pooled, draws = 100, seed = 5, horizon = 2)
  first <- made[made$time == 0, ]
  n <- nrow(first)
  error <- sqrt(expected * (1 - expected) / n)
  expect_true(all(abs(table(first$action) / n - expected) < 4 * error + 1e-4))
  # Who does not stop has a second visit.
  expect_identical(sum(made$time == 1), sum(first$action == "monitor"))
})

test_that("follow-up ends where the data were cut off", {
  endless <- decision_setting(
    states = c("a", "b"), actions = c("look", "wait"), observations = c("x", "y"),
    transition = list(look = diag(2), wait = diag(2)), emission = matrix(c(0.8, 0.2, 0.2, 0.8), 2),
    utility = cbind(look = c(-1, 0), wait = c(0, -1)), discount = 0.9
  )
  plan <- plan_agent(endless, bounded_agent(alpha = 1))
  seen <- as.data.frame(simulate(plan, 30, seed = 1, horizon = 6))
  seen <- trajectories(seen[seen$time < 1 + seen$id %% 6, ], setting = endless)
  fit <- ibrc(seen, endless, prior = prior, chains = 2, iter = 60, seed = 1)
  made <- posterior_predict(fit, draws = 2, seed = 1)
  expect_identical(as.vector(table(made$id, made$.draw)), rep(1L + 1:30 %% 6L, 2))
  # One that stopped may go on for as long as the longest; one that did not was cut off.
  short <- visits[visits$time < 1 + 3 * visits$id %% 2, ]
  last <- tapply(as.character(short$action), short$id, utils::tail, 1)
  cut <- ibrc(short, setting, diag_models(), prior, chains = 2, iter = 20, seed = 1)
  ends <- follow_up(cut, NULL)[[1]]
  expect_equal(ends, as.vector(ifelse(last == "monitor", table(short$id), 4)))
  expect_setequal(ends, c(1, 4))
  made <- posterior_predict(cut, draws = 2, seed = 1)
  expect_true(all(made$time < ends[made$id]))
})

test_that("shares seen by visit and by length are counts of the data", {
  data <- pp_data(grouped, "visit", draws = 10, seed = 1)
  expect_named(data, c("group", "visit", "action", "n", "observed", "replicated", "conf.low", "conf.high"))
  second <- visits[visits$clinic == "south" & visits$time == 1, ]
  mine <- data[data$group == "south" & data$visit == 2, ]
  expect_equal(mine$observed, as.vector(table(second$action) / nrow(second)))
  expect_identical(mine$n, rep(nrow(second), 3))
  expect_true(all(data$conf.low <= data$replicated & data$replicated <= data$conf.high, na.rm = TRUE))
  lengths <- pp_data(grouped, "length", draws = 10, seed = 1)
  seen <- table(table(visits$id[visits$clinic == "north"]))
  mine <- lengths[lengths$group == "north" & lengths$n > 0, ]
  expect_identical(mine$n, as.vector(seen))
  expect_identical(mine$length, as.integer(names(seen)))
  expect_equal(mine$observed, as.vector(seen) / 30)
  expect_equal(sum(lengths$observed), 2)
})

test_that("shares by belief are taken where the projected plan's beliefs are", {
  data <- pp_data(pooled, "belief", draws = 10, seed = 1)
  told <- augment(pooled, visits)
  bin <- pmin(floor(told$.belief_diseased * 10 + 1 - 1e-8), 10) / 10 - 0.05
  expected <- table(round(bin, 6), told$action)
  mine <- data[data$n > 0 & data$action == "monitor", ]
  expect_equal(mine$belief, as.numeric(rownames(expected)))
  expect_identical(mine$n, as.integer(rowSums(expected)))
  expect_equal(mine$observed, unname(expected[, "monitor"] / rowSums(expected)))
})

test_that("with three states the likeliest one's belief is binned", {
  beliefs <- cbind(c(1, 1, 1) / 3, c(0.4, 0.35, 0.25), c(0, 0, 1), c(NaN, NaN, NaN))
  expect_equal(belief_bin(beliefs), c(1 / 3 + 1 / 30, 1 / 3 + 1 / 30, 1 - 1 / 30, NaN))
  other <- with_seed(4, random_setting(3, zeros = 0))
  plan <- plan_agent(other, bounded_agent(alpha = 1), resolution = 8)
  seen <- simulate(plan, 20, seed = 1, horizon = 4)
  fit <- ibrc(seen, other, prior = prior, chains = 2, iter = 40, seed = 1, resolution = 8)
  data <- pp_data(fit, "belief", draws = 5, seed = 1)
  expect_equal(sum(data$n[data$action == "u1"]), nrow(seen))
  expect_gte(min(data$belief), 1 / 3)
})

test_that("checks are drawn", {
  skip_if_not_installed("ggplot2")
  for (type in c("visit", "belief", "length")) {
    data <- pp_data(grouped, type, draws = 10, seed = 1)
    built <- ggplot2::ggplot_build(pp_check(grouped, type, draws = 10, seed = 1))
    expect_identical(nrow(built$layout$layout), 2L)
    expect_equal(sort(built$data[[2]]$y), sort(data$observed))
    expect_equal(sort(built$data[[1]]$ymax), sort(data$conf.high))
  }
  expect_identical(nrow(ggplot2::ggplot_build(pp_check(pooled, draws = 5))$layout$layout), 1L)
  skip_if_not_installed("bayesplot")
  expect_s3_class(bayesplot::pp_check(pooled, "length", draws = 5), "ggplot")
})

test_that("what is not a fit goes to the generic of the same name", {
  expect_error(hand_on(truth, "no.such.package", "posterior_predict"), class = "ibrc_error_input")
  skip_if_not_installed("bayesplot")
  other <- with_seed(1, pp_check(stats::rnorm(20), matrix(stats::rnorm(200), 10), bayesplot::ppc_stat))
  expect_s3_class(other, "ggplot")
})

test_that("what cannot be replicated is refused", {
  bare <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 20, seed = 1, keep_data = FALSE)
  expect_error(posterior_predict(bare), "keep_data", class = "ibrc_error_input")
  expect_identical(max(posterior_predict(bare, draws = 2, seed = 1, horizon = 3)$id), 50L)
  expect_error(pp_data(bare), "keep_data", class = "ibrc_error_input")
  expect_error(pp_check(bare), "keep_data", class = "ibrc_error_input")
  expect_error(pp_check(pooled, "time"), class = "ibrc_error_input")
  expect_error(pp_data(truth), class = "ibrc_error_input")
  expect_error(posterior_predict(pooled, horizon = 0), class = "ibrc_error_input")
  expect_error(posterior_predict(pooled, n = 3), class = "ibrc_error_input")
})

test_that("the axis of beliefs names the second of two states, or the likeliest of more", {
  expect_identical(belief_axis(c("well", "very_ill")), "Belief: probability of \"very ill\"")
  expect_identical(belief_axis(c("a", "b", "c")), "Belief in the likeliest state")
})
