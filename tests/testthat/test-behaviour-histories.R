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

test_that("with starts that differ there is a root for each that occurs, and the likelihood is the twin's", {
  setting <- starts_setting(rbind(old = c(0.2, 0.8), middle = c(0.5, 0.5), young = c(0.7, 0.3)))
  visits <- starts_visits(40)
  coded <- code_visits(visits, setting)
  tree <- build_histories(coded, setting)
  data <- as.data.frame(visits)
  expect_identical(tree$start, c(0L, 2L))
  expect_identical(tree$parent[1:3] < 0, c(TRUE, TRUE, FALSE))
  age <- data$age[!duplicated(data$id)]
  expect_identical(starts_of(tree), ifelse(age == "old", 1L, 3L))
  expect_identical(trajectory_of(tree), coded$trajectory + 1L)
  expect_equal(sum(tree$count), nrow(data))
  plan <- plan_agent(setting, bounded_agent(0.5, 1.25, 0.01), diag_models(), resolution = 20)
  rows <- as.data.frame(lapply(coded[c("trajectory", "action", "observation")], `+`, 1L))
  wanted <- vapply(unique(rows$trajectory), function(i) {
    twin_log_likelihood(rows[rows$trajectory == i, ], plan$models$models, function(z) policy(plan, z)[1, ],
                        function(z, u) model_weights(plan, z, setting$actions[u])[1, ],
                        unname(setting$start[age[i], ]))
  }, 0)
  expect_close(log_lik(plan, visits), wanted, 1e-10)
  expect_close(read_histories(plan, tree)$total, sum(wanted), 1e-9)
  expect_equal(read_histories(plan, tree)$belief[, 1:2], unname(t(setting$start[c("old", "young"), ])))
})

test_that("a group whose start is not known is refused without its name", {
  data <- as.data.frame(starts_visits(10))
  data$age[data$id == 2] <- "somebody"
  e <- expect_error(code_visits(trajectories(data, covariates = "age"), starts_setting()), "start is not known",
                    class = "ibrc_error_input")
  expect_no_match(conditionMessage(e), "somebody")
  expect_identical(e$argument, "visits")
})

test_that("what is read where nothing is weighed is what an agent reads to whom nothing is worth anything, unsolved", {
  setting <- diag_setting()
  visits <- as.data.frame(simulate(plan_agent(setting, bounded_agent(2), diag_models(), resolution = 10), 20, seed = 1))
  visits$action[seq(1, nrow(visits), 7)] <- NA
  for (interpolate in c("value", "policy")) {
    problem <- build_problem(setting, diag_models(), 10, interpolate)
    tree <- build_histories(code_visits(suppressWarnings(trajectories(visits)), setting), setting)
    for (prior in list(NULL, c(0.2, 0.3, 0.5))) {
      solved <- solve_problem(problem, bounded_agent(flexibility = 0, action_prior = prior))
      expect_identical(read_histories(unweighed(problem, prior), tree), read_histories(solved, tree))
    }
  }
})

test_that("visits are judged whatever utilities an agent avoids", {
  setting <- diag_setting()
  setting$utility[cbind(1:2, 2:1)] <- -1e9
  plan <- plan_agent(setting, optimal_agent(), diag_models(), resolution = 10)
  visits <- simulate(plan, 5, seed = 1)
  expect_equal(unname(log_lik(plan, visits)), numeric(5))
  expect_equal(rowSums(predict(plan, visits)), rep(1, nrow(visits)), ignore_attr = TRUE)
})
