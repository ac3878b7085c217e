setting <- diag_setting()
visits <- uneven_visits()
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
pooled <- uneven_fit()
grouped <- uneven_fit("clinic")

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

test_that("what cannot be replicated is refused", {
  bare <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 20, seed = 1,
               control = ibrc_control(keep_data = FALSE))
  expect_error(posterior_predict(bare), "keep_data", class = "ibrc_error_input")
  expect_identical(max(posterior_predict(bare, draws = 2, seed = 1, horizon = 3)$id), 50L)
  expect_error(posterior_predict(pooled, horizon = 0), class = "ibrc_error_input")
  expect_error(posterior_predict(pooled, n = 3), class = "ibrc_error_input")
})

test_that("more replicates than fit into memory are refused with the arithmetic", {
  withr::local_options(ibrc.memory = 1e-6)
  error <- expect_error(posterior_predict(pooled, draws = 50), class = "ibrc_error_memory")
  expect_match(conditionMessage(error), "draws. = 50 of up to [0-9,]+ visits each is [0-9,]+ visits")
})
