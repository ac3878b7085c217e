# The whole of a log posterior against its plain-R twin, on a few random problems; a
# thousand pairs are in tests/slow/twins.R.

test_that("log-posterior ratios are the twin's", {
  result <- with_seed(1, do.call(rbind, lapply(c(2, 4, 8, 12), compare_pairs, n = 3)))
  expect_true(all(is.finite(result$twin)))
  expect_lte(max(relative_gap(result$ratio, result$twin)), 1e-10)
  expect_lte(max(relative_gap(result$level, result$twin_level)), 1e-10)
})

test_that("the twin over all nodes is the twin node by node", {
  with_seed(1, for (seed in 1:3) {
    problem <- random_problem(seed)
    reward <- problem$twin$nodes %*% problem$utility
    tables <- problem$twin$tables
    tables$H[] <- problem$twin$H
    for (agent in agents_to_try[c("flexible", "pessimist", "contrary", "near_neutral")]) {
      value <- stats::rnorm(nrow(reward), sd = 5)
      plain <- twin_backup(tables, reward, value, agent, problem$twin$action_prior, problem$twin$weights,
                           problem$discount)
      rows <- twin_backup_rows(problem$twin, value, agent, reward, problem$discount)
      for (part in c("V", "Q", "K")) expect_close(rows[[part]], plain[[part]], 1e-12)
    }
  })
})

test_that("a fault in any part of it is seen", {
  for (fault in c("decision", "surprise", "late", "jacobian")) {
    result <- with_seed(1, compare_pairs(4, n = 1, fault = fault))
    expect_gt(relative_gap(result$ratio, result$twin), 1e-4)
  }
})
