setting <- diag_setting()
visits <- uneven_visits()
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
pooled <- uneven_fit()
grouped <- uneven_fit("clinic")

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
  expect_equal(belief_bin(list(surest = c(1 / 3, 0.4, 1, NaN)), 3), c(1 / 3 + 1 / 30, 1 / 3 + 1 / 30, 1 - 1 / 30, NaN))
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
  for (type in pp_types) {
    data <- pp_data(grouped, type, draws = 10, seed = 1)
    data <- data[data$n > 0 | type == "length" & data$conf.high > 0, ]
    built <- ggplot2::ggplot_build(pp_check(grouped, type, draws = 10, seed = 1))
    expect_identical(nrow(built$layout$layout), 2L)
    share <- if (startsWith(type, "last_")) c("x", "xmax") else c("y", "ymax")
    expect_equal(sort(built$data[[2]][[share[1]]]), sort(data$observed))
    expect_equal(sort(built$data[[1]][[share[2]]]), sort(data$conf.high))
  }
  expect_identical(nrow(ggplot2::ggplot_build(pp_check(pooled, draws = 5))$layout$layout), 1L)
  skip_if_not_installed("bayesplot")
  expect_s3_class(bayesplot::pp_check(pooled, "length", draws = 5), "ggplot")
})

test_that("of two actions one is drawn, and nothing where nobody was", {
  skip_if_not_installed("ggplot2")
  fit <- list(problem = list(setting = list(actions = c("wait", "treat"), states = c("well", "ill"))),
              draws = list(all = 1))
  data <- data.frame(group = "all", visit = rep(1:4, 2), action = factor(rep(c("wait", "treat"), each = 4)),
                     n = c(90L, 3L, 0L, 20L), observed = c(0.6, 0.3, NaN, 0.5, 0.4, 0.7, NaN, 0.5),
                     replicated = 0.5, conf.low = 0.2, conf.high = 0.8)
  picture <- draw_check(data, "visit", fit)
  built <- ggplot2::ggplot_build(picture)$data
  expect_equal(built[[2]]$y, c(0.4, 0.7, 0.5))
  expect_equal(as.numeric(built[[1]]$x), c(1, 2, 4))
  expect_identical(unique(built[[1]]$colour), named_palette(c("wait", "treat"))[["treat"]])
  # Of few visits, a hollow point.
  expect_equal(built[[2]]$shape, c(16, 1, 16))
  expect_match(picture$labels$y, "treat")
  expect_match(gsub("\n", " ", picture$labels$caption), "The rest is \"wait\".", fixed = TRUE)
})

test_that("the axis of beliefs names the second of two states, or the likeliest of more", {
  expect_identical(belief_axis(c("well", "very_ill")), "Belief: probability of \"very ill\"")
  expect_identical(belief_axis(c("a", "b", "c")), "Belief in the likeliest state")
})

test_that("replicates stand at the histories that came", {
  # Two draws, both the same agent: what is replicated is a binomial count of its law at each history.
  fit <- pooled
  middle <- stats::median(fit$draws$all)
  fit$draws$all[] <- middle
  plan <- project_behavior(fit)
  law <- exp(read_histories(plan, fit$histories[[1]])$log_policy)
  n <- colSums(fit$histories[[1]]$count)
  second <- history_depth(fit$histories[[1]]) == 2
  share <- sum(law[3, second] * n[second]) / sum(n[second])
  data <- pp_data(fit, "visit", draws = 400, seed = 1)
  mine <- data[data$visit == 2 & data$action == "monitor", ]
  expect_lt(abs(mine$replicated - share), 0.5 / sum(n[second]) + 0.02)
  error <- sqrt(sum(n[second] * law[3, second] * (1 - law[3, second]))) / sum(n[second])
  expect_lt(abs(mine$conf.high - mine$conf.low - 2 * 1.645 * error), 0.3 * error + 1 / sum(n[second]))
})

test_that("a schedule of outcomes that the setting does not foresee is no fault of the agent", {
  # Every outcome is positive, which the setting holds for unlikely; the agent acts on what it saw.
  fixed <- setting
  fixed$emission[, "positive", ] <- 1
  fixed$emission[, "negative", ] <- 0
  plan <- plan_agent(setting, bounded_agent(alpha = 4), diag_models())
  seen <- simulate(plan, 300, seed = 3, horizon = 8, environment = fixed)
  expect_identical(as.character(unique(seen$observation)), "positive")
  fit <- ibrc(seen, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 400, seed = 1)
  tests <- behaviour_check(fit)
  expect_gt(min(tests$p.value, na.rm = TRUE), 0.005)
  data <- pp_data(fit, "visit", draws = 100, seed = 1)
  data <- data[data$n >= 20, ]
  expect_gt(shares_inside(data, setting$actions)[["inside"]] / nrow(data), 0.7)
})

test_that("counts drawn add up, and follow their law", {
  law <- rbind(c(0.2, 0.3, 0.5), c(0, 1, 0), c(0, 0, 1), c(1 / 3, 1 / 3, 1 / 3))
  n <- c(1000, 7, 5, 0)
  made <- with_seed(1, draw_counts(n, law))
  expect_identical(rowSums(made), n)
  expect_identical(made[2:4, ], rbind(c(0, 7, 0), c(0, 0, 5), c(0, 0, 0)))
  expect_true(all(abs(made[1, ] / 1000 - law[1, ]) < 0.06))
})

test_that("with two actions a place counts once", {
  data <- data.frame(visit = c(1, 1, 2, 2), action = factor(c("a", "b")), n = 9, observed = c(0.2, 0.8, 0.5, 0.5),
                     conf.low = 0.4, conf.high = c(0.9, 0.6, 0.9, 0.9))
  expect_identical(shares_inside(data, c("a", "b")), c(inside = 1L, of = 2L))
  expect_identical(shares_inside(data, c("a", "b", "c")), c(inside = 2L, of = 4L))
})

test_that("lengths are refused where nothing ends a trajectory", {
  endless <- with_seed(4, random_setting(2, zeros = 0))
  seen <- simulate(plan_agent(endless, bounded_agent(alpha = 1), resolution = 8), 30, seed = 1, horizon = 4)
  fit <- ibrc(seen, endless, prior = prior, chains = 2, iter = 40, seed = 1, resolution = 8)
  error <- expect_error(pp_check(fit, "length"), class = "ibrc_error_input")
  expect_match(conditionMessage(error), "no action of the setting ends a trajectory")
  expect_named(pp_data(fit, "last_action", draws = 3, seed = 1)[1:2], c("group", "last_action"))
})

test_that("a check of what was not kept, or is not known, is refused", {
  bare <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 20, seed = 1,
               control = ibrc_control(keep_data = FALSE))
  expect_error(pp_data(bare), "keep_data", class = "ibrc_error_input")
  expect_error(pp_check(bare), "keep_data", class = "ibrc_error_input")
  expect_error(pp_check(pooled, "time"), class = "ibrc_error_input")
  expect_error(pp_data(project_behavior(pooled)), class = "ibrc_error_input")
})
