visits_of <- function(action, observation, id = rep(1, length(action))) {
  trajectories(data.frame(id, time = stats::ave(id, id, FUN = seq_along), action, observation))
}

test_that("names are a factor's levels or come in alphabetical order, unless they are given", {
  visits <- visits_of(factor(c("z", "a"), c("z", "never", "a")), c("pos", "neg"))
  words <- iohmm_words(visits, NULL, NULL)
  expect_identical(words$actions, c("z", "never", "a"))
  expect_identical(words$observations, c("neg", "pos"))
  expect_identical(iohmm_words(visits, c("a", "z"), "pos")[1:2], list(actions = c("a", "z"), observations = "pos"))
  expect_identical(levels_of(c("b", NA, "B", "a")), c("B", "a", "b"))
  expect_error(iohmm_words(visits_of(c("a", "b"), factor(c(NA, NA), "x")), NULL, NULL), "no observation",
               class = "ibrc_error_data")
})

test_that("pairs are counted where something was seen, and rule out what was not", {
  visits <- visits_of(c("u1", "u1", "u2", "u1", "u3"), c("x1", "x2", "x1", "x1", NA))
  words <- iohmm_words(visits, NULL, c("x1", "x2", "x3"))
  coded <- code_visits(visits, words)
  pairs <- count_pairs(coded, words)
  expect_identical(unname(pairs), rbind(c(2L, 1L, 0L), c(1L, 0L, 0L), 0L))
  expect_identical(dimnames(pairs), list(action = words$actions, observation = words$observations))
  # After an action that showed nothing everything can be.
  expect_identical(unname(possible_pairs("data", pairs, coded, words)),
                   rbind(c(TRUE, TRUE, FALSE), c(TRUE, FALSE, FALSE), TRUE))
  expect_true(all(possible_pairs("none", pairs, coded, words)))
})

test_that("a trajectory has one more state than visits, and all states stand in order", {
  coded <- list(trajectory = c(1L, 1L, 2L), action = c(0L, 1L, 1L), observation = c(3L, -1L, 2L))
  states <- with_ends(coded)
  expect_identical(states$trajectory, c(1L, 1L, 1L, 2L, 2L))
  expect_identical(states$visit, c(1L, 2L, 4L))
  expect_identical(states$end, c(3L, 5L))
  expect_identical(states$action[states$visit], coded$action)
  expect_identical(states$observation[states$visit], coded$observation)
  expect_identical(states$observation[states$end], c(-1L, -1L))
})

test_that("the tree shares histories, the chains do not, and both hold every trajectory", {
  with_seed(471, {
    paths <- random_paths(60, longest = 4)
    words <- iohmm_words_of()
    coded <- code_visits(paths_to_visits(paths), words)
  })
  tree <- iohmm_tree(coded, words)
  chains <- iohmm_chains(coded)
  expect_identical(sum(tree$ends), 60)
  expect_identical(sum(chains$ends), 60)
  expect_identical(chains$n_nodes, length(coded$row) + 60L)
  expect_identical(sum(tree$through), as.numeric(chains$n_nodes))
  # As many nodes as there are distinct beginnings, the empty one counted.
  beginnings <- unlist(lapply(paths, function(path) {
    steps <- paste(path$action, path$observation)
    vapply(0:length(steps), function(n) paste(steps[seq_len(n)], collapse = "/"), "")
  }))
  expect_identical(tree$n_nodes, length(unique(beginnings)))
  expect_lt(tree$n_nodes, chains$n_nodes)
  # From each leaf back to the root the visits are those of the trajectory.
  back <- function(node) {
    out <- character()
    while (tree$parent[node + 1] >= 0) {
      seen <- tree$observation[node + 1]
      out <- c(paste(tree$action[node + 1] + 1, if (seen < 0) NA else seen + 1), out)
      node <- tree$parent[node + 1]
    }
    out
  }
  for (i in seq_along(paths)) {
    expect_identical(back(tree$leaf[i]), paste(paths[[i]]$action, paths[[i]]$observation))
  }
})

test_that("kernels read the laws of a fit as they stand", {
  laws <- with_seed(472, random_iohmm_laws(3))
  expect_equal(iohmm_laws(dressed_laws(laws)), kernel_laws(laws))
})
