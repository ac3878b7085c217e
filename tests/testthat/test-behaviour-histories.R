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

test_that("actions that do not count move the tree and are not counted in it", {
  setting <- diag_setting()
  data <- as.data.frame(simulate(plan_agent(setting, bounded_agent(1), resolution = 10), 30, seed = 1))
  data$free <- rep_len(c(TRUE, TRUE, FALSE), nrow(data))
  all <- code_visits(trajectories(data), setting)
  some <- code_visits(trajectories(data, scored = "free"), setting)
  tree <- build_histories(all, setting)
  fewer <- build_histories(some, setting)
  same <- c("n_histories", "n_actions", "parent", "action", "observation", "visit")
  expect_identical(fewer[same], tree[same])
  left_out <- which(!some$scored)
  for (v in left_out) {
    at <- cbind(some$action[v] + 1L, tree$visit[v])
    tree$count[at] <- tree$count[at] - 1
  }
  expect_identical(fewer$count, tree$count)
  expect_identical(c(visit_counts(list(fewer)), scored_counts(list(fewer))),
                   c(nrow(data), nrow(data) - length(left_out)) + 0)
  expect_null(fewer$stops)
})

test_that("a missing action is a step of its own, and not one that ends", {
  setting <- diag_setting()
  coded <- list(trajectory = c(0L, 0L, 1L, 1L, 2L), action = c(NA, 0L, 2L, 1L, NA),
                observation = c(1L, -1L, 1L, -1L, -1L))
  tree <- build_histories(coded, setting)
  expect_identical(tree$action, c(-1L, -1L, 2L))
  expect_identical(tree$visit, c(1L, 2L, 1L, 3L, 1L))
  expect_identical(tree$stops, c(1L, 1L, 0L))
  expect_identical(tree$scored, !is.na(coded$action))
  expect_identical(sum(tree$count), 3)
  # Nothing follows it: there is no step.
  expect_null(build_histories(lapply(coded, `[`, 3:5), setting)$stops)
  # Kernels refuse an unknown action where none was announced, and one that counts.
  plan <- plan_agent(setting, bounded_agent(1), resolution = 10)
  expect_error(read_histories(plan, tree[names(tree) != "stops"]), "not a tree")
  expect_error(.Call(ffi_history_build, 0L, -1L, -1L, 1L, 0L, 3L), "no such action")
})
