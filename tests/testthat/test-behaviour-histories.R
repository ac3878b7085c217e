test_that("the tree holds each distinct beginning once", {
  setting <- diag_setting()
  visits <- trajectories(utils::read.csv(reference_file("diag_flexible.csv")), setting = setting)
  coded <- code_visits(visits, setting)
  tree <- build_histories(coded, setting)
  expect_identical(sum(tree$count), as.numeric(nrow(visits)))
  expect_lt(tree$n_histories, nrow(visits) / 5)
  # By pasting every beginning together.
  step <- paste(coded$action, coded$observation)
  before <- unlist(tapply(step, coded$trajectory, function(s) {
    Reduce(paste, s[-length(s)], accumulate = TRUE, init = "")
  }))
  expect_identical(length(unique(before)), tree$n_histories)
  expect_identical(match(before, unique(before)), tree$visit)
  expect_true(all(tree$parent[-1] < seq_along(tree$parent)[-1] - 1))
})

test_that("random trees reach their visits by their own steps", {
  with_seed(111, for (i in 1:20) {
    lengths <- sample(1:6, 30, replace = TRUE)
    coded <- list(trajectory = rep(seq_along(lengths), lengths), action = sample(0:2, sum(lengths), TRUE),
                  observation = sample(-1:2, sum(lengths), TRUE))
    tree <- build_histories(coded, diag_setting())
    first <- !duplicated(coded$trajectory)
    expect_true(all(tree$visit[first] == 1L))
    later <- which(!first)
    at <- tree$visit[later]
    expect_identical(cbind(tree$parent[at] + 1L, tree$action[at], tree$observation[at]),
                     cbind(tree$visit[later - 1], coded$action[later - 1], coded$observation[later - 1]))
    expect_identical(sum(tree$count), as.numeric(sum(lengths)))
  })
})
