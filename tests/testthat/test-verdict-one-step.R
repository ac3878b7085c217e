tree_of <- function(visits, setting) build_histories(code_visits(visits, setting), setting)
setting <- diag_setting()
plan <- plan_agent(setting, bounded_agent(alpha = 3), diag_models())
visits <- simulate(plan, 200, seed = 1)
tree <- tree_of(visits, setting)
fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 300, seed = 1)

test_that("a history stands where its visits stand", {
  places <- history_places(tree, plan)
  rows <- as.data.frame(visits)
  expect_identical(places$visit[tree$visit], rows$time + 1L)
  before <- c(NA, as.character(rows$action))[seq_len(nrow(rows))]
  before[rows$time == 0] <- "none"
  expect_identical(as.character(places$last_action[tree$visit]), before)
  seen <- c(NA, as.character(rows$observation))[seq_len(nrow(rows))]
  seen[rows$time == 0] <- "none"
  expect_identical(as.character(places$last_observation[tree$visit]), seen)
})

test_that("what was not seen is a place of its own", {
  rows <- as.data.frame(visits)
  rows$observation[rows$time == 0] <- NA
  places <- history_places(tree_of(trajectories(rows, setting = setting), setting), plan)
  expect_true("missing" %in% places$last_observation)
})

test_that("small cells join others, and no visit is lost", {
  n <- c(50, 3, 4, 30, 2, 1)
  expect_identical(pool_neighbours(n), c(1L, 2L, 2L, 2L, 2L, 2L))
  expect_identical(pool_small(n), c(1L, 3L, 3L, 2L, 3L, 3L))
  expect_identical(pool_neighbours(c(5, 5)), c(1L, 1L))
  chosen <- spaced_draws(fit, 20)
  fine <- one_step_moments(fit, 1, chosen, list(visit = history_family(tree, history_depth(tree))))$visit
  to <- pool_neighbours(fine$n)
  merged <- merge_cells(fine, to)
  # The same as cells that were put together before.
  whole <- one_step_moments(fit, 1, chosen, list(visit = history_family(tree, to[history_depth(tree)])))$visit
  for (part in c("n", "observed", "expected", "spread", "fitted")) expect_close(merged[[part]], whole[[part]], 1e-9)
  # A cell without visits is no cell.
  later <- list(visit = history_family(tree, to[history_depth(tree)] + 1L))
  empty <- merge_cells(one_step_moments(fit, 1, chosen, later)$visit, seq_len(max(to) + 1L))
  expect_close(empty$observed, whole$observed, 1e-12)
  twice <- add_moments(whole, whole)
  expect_close(twice$fitted, 2 * whole$fitted, 1e-12)
})

test_that("beliefs over three states are told apart by the likeliest", {
  expect_identical(as.character(belief_cell(c(1:3, NA), c(0.34, 0.9, 1, NaN), c("a", "b", "c"))),
                   c("a, least sure", "b, most sure", "c, most sure", "none"))
  expect_identical(belief_bin(list(belief = rbind(c(0.95, 0.2), c(0.05, 0.8)))), c(0.05, 0.75))
})

test_that("moments are those of the laws, added up by hand", {
  chosen <- spaced_draws(fit, 5)
  cell <- pmin(history_depth(tree), 3L)
  found <- one_step_moments(fit, 1, chosen, list(visit = history_family(tree, cell)))$visit
  laws <- read_draws(fit, 1, chosen, function(plan) t(exp(read_histories(plan, tree)$log_policy)))
  n <- colSums(tree$count)
  by_hand <- t(vapply(laws, function(law) as.vector(rowsum(n * law, cell)), numeric(max(cell) * 3)))
  expect_close(found$fitted, by_hand, 1e-12)
  law <- Reduce(`+`, laws) / 5
  in_first <- cell == 1
  variance <- Reduce(`+`, lapply(which(in_first), function(h) n[h] * (diag(law[h, ]) - tcrossprod(law[h, ]))))
  expect_close(found$spread[1, , ], variance, 1e-12)
  expect_identical(found$observed, unname(rowsum(t(tree$count), cell)))
  # The same by visits instead of histories.
  again <- one_step_moments(fit, 1, chosen, list(visit = visit_family(tree, cell[tree$visit], fit$visit_actions[[1]])))
  expect_close(again$visit$spread, found$spread, 1e-9)
  expect_equal(again$visit$observed, found$observed)
})

test_that("the test is chi-squared where the law is known, and not where it is another", {
  law <- rbind(c(0.2, 0.3, 0.5), c(0.6, 0.3, 0.1), c(0.3, 0.4, 0.3))
  n <- c(200, 300, 100)
  moments_of <- function(counts, law) {
    spread <- array(0, c(3, 3, 3))
    for (cell in 1:3) spread[cell, , ] <- n[cell] * (diag(law[cell, ]) - tcrossprod(law[cell, ]))
    list(n = n, observed = counts, expected = n * law, spread = spread, fitted = matrix(0, 3, 9))
  }
  p <- with_seed(2, replicate(300, {
    counts <- t(vapply(1:3, function(cell) as.vector(stats::rmultinom(1, n[cell], law[cell, ])), numeric(3)))
    test <- moment_test(moments_of(counts, law))
    expect_identical(test$df, 6L)
    stats::pchisq(test$chi_square, test$df, lower.tail = FALSE)
  }))
  expect_gt(stats::chisq.test(table(cut(p, 0:5 / 5)))$p.value, 0.001)
  off <- law + 0.1 * cbind(c(1, -1, 1), c(-1, 1, -1), 0)
  test <- moment_test(moments_of(n * off, law))
  expect_lt(stats::pchisq(test$chi_square, test$df, lower.tail = FALSE), 1e-4)
  expect_equal(test$gap, sqrt(0.02 / 3), tolerance = 0.15)
})

test_that("with two actions every decision counts once", {
  p <- c(0.3, 0.6)
  n <- c(100, 200)
  spread <- array(0, c(2, 2, 2))
  for (cell in 1:2) spread[cell, , ] <- n[cell] * p[cell] * (1 - p[cell]) * rbind(c(1, -1), c(-1, 1))
  observed <- cbind(c(40, 110), c(60, 90))
  test <- moment_test(list(n = n, observed = observed, expected = n * cbind(p, 1 - p), spread = spread,
                           fitted = matrix(0, 3, 4)))
  expect_identical(test$df, 2L)
  expect_equal(test$chi_square, sum((c(40, 110) - n * p)^2 / (n * p * (1 - p))))
})

test_that("what was fitted cannot differ, and is no degree of freedom", {
  # One share, fitted freely: its expectation varies over draws as much as the count does.
  fitted <- with_seed(3, {
    x <- stats::rnorm(4000, 30, sqrt(21))
    cbind(x, 100 - x)
  })
  spread <- array(21 * c(1, -1, -1, 1), c(1, 2, 2))
  test <- moment_test(list(n = 100, observed = cbind(30, 70), expected = cbind(30, 70), spread = spread,
                           fitted = fitted))
  expect_identical(test$df, 0L)
})

test_that("repeats are counted on the diagonal", {
  # Cells: none, a, b. After a: 60 of 100 a; after b: 50 of 100 b; expected 40 and 50.
  observed <- rbind(c(10, 10), c(60, 40), c(50, 50))
  expected <- rbind(c(10, 10), c(40, 60), c(50, 50))
  spread <- array(0, c(3, 2, 2))
  for (cell in 1:3) spread[cell, , ] <- prod(expected[cell, ]) / sum(expected[cell, ]) * rbind(c(1, -1), c(-1, 1))
  test <- repeat_test(list(n = rowSums(observed), observed = observed, expected = expected, spread = spread,
                           fitted = matrix(0, 3, 6)))
  expect_equal(test$gap, 20 / 200)
  expect_equal(test$chi_square, 20^2 / (24 + 25))
})

test_that("dynamics that were drawn without the actions make expectations less certain, not fitted", {
  of_draw <- rep(1:50, each = 40)
  fitted <- with_seed(1, cbind(stats::rnorm(2000), stats::rnorm(2000, sd = 2))) +
    with_seed(2, cbind(stats::rnorm(50, sd = 3), numeric(50)))[of_draw, ]
  expect_identical(fitted_variance(fitted, NULL), stats::cov(fitted))
  found <- fitted_variance(fitted, of_draw)
  # 1 within and about 9 between; 4 within and nothing between.
  between <- stats::var(rowsum(fitted[, 1], of_draw)[, 1] / 40) - 1 / 40
  expect_close(found[1, 1], 1 - between, 0.1)
  expect_close(found[2, 2], 4, 0.5)
  check <- behaviour_check(ward_cut())
  expect_true(all(check$df[check$statistic == "last_action"] > 0))
})
