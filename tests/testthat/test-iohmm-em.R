em_problem <- function(shared = FALSE, visits = clinic_iohmm_visits(40), prior = NULL) {
  words <- iohmm_words(visits, NULL, NULL)
  coded <- code_visits(visits, words)
  pairs <- count_pairs(coded, words)
  list(words = words, pairs = pairs, possible = possible_pairs("data", pairs, coded, words), shared = shared,
       taken = tabulate(coded$action + 1L, length(words$actions)), tree = iohmm_tree(coded, words),
       prior = check_iohmm_prior(prior, words), n_trajectories = 40, n_visits = length(coded$row))
}

test_that("random laws are laws, keep what is impossible at 0, and rather stay than move", {
  for (shared in c(FALSE, TRUE)) {
    problem <- em_problem(shared)
    with_seed(481, for (i in 1:20) {
      laws <- random_laws(problem, 3)
      transition <- array(laws$transition, c(3, 3, 2))
      emission <- array(laws$emission, c(3, 5, 2))
      expect_close(sum(laws$start), 1, 1e-12)
      expect_close(apply(transition, c(1, 3), sum), rep(1, 6), 1e-12)
      expect_close(apply(emission, c(1, 3), sum), rep(1, 6), 1e-12)
      for (u in 1:2) {
        expect_true(all(diag(transition[, , u]) >= 0.5))
        expect_true(all(emission[, !problem$possible[u, ], u] == 0))
        expect_true(all(emission[, problem$possible[u, ], u] > 0))
      }
      expect_identical(identical(transition[, , 1], transition[, , 2]), shared)
    })
  }
})

test_that("climbs end where they end however few steps a call makes, and no later than they may", {
  problem <- em_problem()
  at <- with_seed(482, {
    laws <- list(random_laws(problem, 2), random_laws(problem, 2))
    list(n_states = 2L, n_actions = 2L, n_obs = 5L, start = sapply(laws, `[[`, "start"),
         transition = sapply(laws, `[[`, "transition"), emission = sapply(laws, `[[`, "emission"))
  })
  run <- list(max_iter = 500L, tolerance = 1e-4, cores = 1L)
  whole <- climb_all(problem, at, run)
  expect_true(all(whole$converged))
  local_replacement("steps_at_once", function(...) 3L)
  expect_equal(climb_all(problem, at, run)[c("laws", "objective", "log_lik", "iterations")],
               whole[c("laws", "objective", "log_lik", "iterations")], tolerance = 1e-12)
  short <- climb_all(problem, at, list(max_iter = 4L, tolerance = 1e-12, cores = 1L))
  expect_identical(short$iterations, c(4L, 4L))
  expect_identical(short$converged, c(FALSE, FALSE))
  expect_true(all(short$objective < whole$objective))
})

test_that("climbs that take long come one after the other, and end where they end", {
  problem <- em_problem()
  at <- with_seed(483, {
    laws <- replicate(5, random_laws(problem, 2), simplify = FALSE)
    list(n_states = 2L, n_actions = 2L, n_obs = 5L, start = sapply(laws, `[[`, "start"),
         transition = sapply(laws, `[[`, "transition"), emission = sapply(laws, `[[`, "emission"))
  })
  run <- list(max_iter = 60L, tolerance = 1e-4, cores = 2L)
  local_replacement("steps_at_once", function(...) 1L)
  whole <- climb_all(problem, at, run)
  made <- 0L
  local_replacement("step_work", function(...) {
    made <<- made + 1L
    Inf
  })
  expect_identical(climb_all(problem, at, run), whole)
  # As many at once as there are threads.
  prior <- prior_for_kernel(problem$prior, problem$possible, problem$shared)
  parts <- climb_in_parts(problem, at, prior, rep(NA_real_, 5), 1:5, 2L, FALSE, run)
  expect_identical(dim(parts$trace), c(2L, 5L))
  expect_length(parts$code, 5)
  expect_gt(made, 0L)
})

test_that("a call takes fewer steps the more there is to do, one at least", {
  steps <- function(nodes, states, moving) {
    steps_at_once(list(tree = list(n_nodes = nodes)), list(n_states = states), moving)
  }
  expect_identical(steps(10, 2, 1), 100L)
  expect_lt(steps(1e5, 3, 5), steps(1e5, 3, 1))
  expect_lt(steps(1e5, 10, 1), steps(1e5, 2, 1))
  expect_identical(steps(1e9, 10, 20), 1L)
})

test_that("a failed climb says which way it failed", {
  expect_null(refuse_failed_climb(c(0L, 0L)))
  said <- c("not finite", "became impossible", "likelihood fell")
  for (code in 2:4) {
    expect_error(refuse_failed_climb(c(0L, code)), said[code - 1], class = "ibrc_error_convergence")
  }
})

test_that("parameters are counted by hand", {
  # u1 shows x1 and x2, u2 the other three: 1 + 2 free emissions per state.
  expect_identical(iohmm_parameters(em_problem(FALSE), 3), 2 + 2 * 3 * 2 + 3 * 3)
  expect_identical(iohmm_parameters(em_problem(TRUE), 3), 2 + 3 * 2 + 3 * 3)
  expect_identical(iohmm_parameters(em_problem(TRUE), 1), 3)
  # An action that was never taken has laws that the data say nothing about.
  visits <- clinic_iohmm_visits(40)
  visits$action <- factor(as.character(visits$action), c("u1", "u2", "u3"))
  expect_identical(iohmm_parameters(em_problem(FALSE, visits), 3), 2 + 2 * 3 * 2 + 3 * 3)
})

test_that("of several numbers of states the lowest BIC is chosen", {
  one <- function(states, log_lik, n_parameters, tops) {
    list(n_states = states, log_lik = log_lik, n_parameters = n_parameters, objective = max(tops), converged = TRUE,
         table = data.frame(objective = tops))
  }
  problem <- em_problem()
  table <- compare_candidates(list(one(2, -100, 5, c(-100, -100.005, -103)), one(3, -99, 12, c(-99, -101))), problem)
  expect_identical(table$reached, c(2L, 1L))
  expect_identical(table$starts, c(3L, 2L))
  expect_equal(table$AIC, c(210, 222))
  expect_equal(table$BIC, log(sum(problem$pairs)) * c(5, 12) + c(200, 198))
  expect_identical(table$chosen, c(TRUE, FALSE))
})

test_that("groups with starts of their own: counts and likelihood are the twin's, and the sum over hidden paths", {
  with_seed(481, for (n_states in 2:3) {
    laws <- random_iohmm_laws(n_states)
    laws$start <- t(random_rows(3, n_states))
    paths <- random_paths(25, longest = 4)
    group <- sample(3, 25, replace = TRUE)
    coded <- coded_in_groups(paths, group)
    twin <- twin_starts_expect(laws, paths, group)
    brute <- sum(log(mapply(function(path, g) sum(brute_iohmm(twin_start(laws, g), path)$chance), paths, group)))
    for (nodes in list(iohmm_tree(coded, iohmm_words_of()), iohmm_chains(coded))) {
      mine <- .Call(ffi_iohmm_expect, nodes, kernel_laws(laws))
      expect_close(mine$log_lik, twin$log_lik, 1e-10)
      expect_close(mine$log_lik, brute, 1e-10)
      for (law in names(laws)) expect_close(mine[[law]], as.numeric(twin$counts[[law]]), 1e-10)
    }
  })
})

test_that("a step with starts by group is the twin's, and no step loses", {
  with_seed(482, {
    laws <- random_iohmm_laws(3)
    laws$start <- t(random_rows(3, 3))
    paths <- random_paths(40, longest = 5)
    group <- rep_len(1:3, 40)
    tree <- iohmm_tree(coded_in_groups(paths, group), iohmm_words_of())
    prior <- check_iohmm_prior(iohmm_prior(0.5, 0.2, 0.1), iohmm_words_of())
    possible <- matrix(TRUE, 2, 4)
    kernel <- prior_for_kernel(prior, possible, FALSE)
    step <- .Call(ffi_iohmm_em, tree, lapply(kernel_laws(laws), function(x) if (length(x) > 1) matrix(x) else x),
                  kernel, NA_real_, 1L, 0L, 1e-6, 1L)
    counts <- twin_starts_expect(laws, paths, group)$counts
    wanted <- lapply(1:3, function(g) {
      counts$start <- counts$start[, g]
      twin_iohmm_maximise(counts, prior, possible, FALSE)
    })
    expect_close(step$start, unlist(lapply(wanted, `[[`, "start")), 1e-10)
    expect_close(step$transition, as.numeric(wanted[[1]]$transition), 1e-10)
    expect_close(step$emission, as.numeric(wanted[[1]]$emission), 1e-10)
    # What is climbed has the prior of every start in it.
    entries <- c(0.5 * log(laws$start), 0.2 * log(laws$transition), 0.1 * log(laws$emission))
    expect_close(step$trace, twin_starts_expect(laws, paths, group)$log_lik + sum(entries), 1e-9)
    many <- .Call(ffi_iohmm_em, tree, lapply(kernel_laws(laws), function(x) if (length(x) > 1) matrix(x) else x),
                  kernel, NA_real_, 200L, 1L, 1e-9, 1L)
    expect_true(all(diff(many$trace[!is.na(many$trace)]) > -1e-9))
  })
})
