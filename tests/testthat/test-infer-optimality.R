gap_rows <- ibrc:::gap_rows
as_markov <- ibrc:::as_markov
best_completion <- ibrc:::best_completion

test_that("gaps are what the demonstrated action is worth beside each other one", {
  with_seed(1, for (discount in c(0, 0.6, 0.99)) {
    setting <- seen_setting(4, 3, discount)
    choice <- c(2L, 3L, 1L, 1L)
    gaps <- gap_rows(as_markov(setting), choice, always(choice, 3))
    expect_identical(dim(gaps$rows), c(8L, 12L))
    utility <- matrix(stats::rnorm(12), 4)
    worth <- seen_action_value(setting, always(choice, 3), utility)
    expect_close(gaps$rows %*% as.vector(utility),
                 worth[cbind(gaps$state, choice[gaps$state])] - worth[cbind(gaps$state, gaps$action)], 1e-10)
    # What is the same everywhere makes no gap.
    expect_lt(max(abs(rowSums(gaps$rows))), 1e-12)
  })
})

test_that("gaps ask nothing of states in which nobody was seen, and one action leaves none", {
  with_seed(2, {
    setting <- seen_setting(4, 3)
    gaps <- gap_rows(as_markov(setting), c(2L, NA, 1L, NA), ibrc:::completed_policy(c(2L, NA, 1L, NA), 3))
    expect_identical(sort(unique(gaps$state)), c(1L, 3L))
    expect_identical(nrow(gap_rows(as_markov(seen_setting(3, 1)), c(1L, 1L, 1L), matrix(1, 3, 1))$rows), 0L)
  })
})

test_that("a completion is the best of all there are", {
  with_seed(3, for (i in 1:5) {
    setting <- seen_setting(4, 3)
    choice <- c(2L, NA, 3L, NA)
    found <- best_completion(as_markov(setting), choice, unname(setting$utility))
    expect_identical(found[c(1, 3), ], always(c(2, 3), 3))
    value_of <- function(policy) rowSums(policy * seen_action_value(setting, policy))
    all <- expand.grid(2L, 1:3, 3L, 1:3)
    others <- apply(all, 1, function(actions) value_of(always(actions, 3)))
    expect_close(value_of(found), apply(others, 1, max), 1e-9)
  })
})

test_that("the most frequent action is taken for the demonstrated one, and said", {
  with_seed(4, {
    setting <- seen_setting(4, 2)
    shown <- rbind(c(0.7, 0.3), c(0.5, 0.5), c(0, 1), c(NA, NA))
    chosen <- ibrc:::demonstrated_choice(ibrc:::demonstrated(shown, setting), setting)
    expect_identical(chosen$choice, c(1L, 1L, 2L, NA))
    expect_match(chosen$notes[1], "In 2 states more than one action was seen")
    expect_match(chosen$notes[2], "In 1 state (s2) several actions were seen equally often", fixed = TRUE)
    visits <- trajectories(data.frame(id = 1, time = 1:4, action = c("u1", "u1", "u1", "u2"),
                                      observation = rep("s1", 4)))
    counted <- ibrc:::demonstrated_choice(ibrc:::demonstrated(visits, setting), setting, " of setting 2")
    expect_match(counted$notes, "In 1 state of setting 2 more than one", fixed = TRUE)
    expect_match(counted$notes, "67% of the visits show it")
    sure <- ibrc:::demonstrated_choice(ibrc:::demonstrated(always(c(1, 2, 1, 1)), setting), setting)
    expect_null(sure$notes)
  })
})

test_that("a programme that never settles ends with a choice that is held", {
  with_seed(5, {
    setting <- seen_setting(3, 2)
    cases <- list(list(markov = as_markov(setting), choice = c(1L, NA, NA)))
    flips <- 0
    # Answers that change sides every time.
    solved <- ibrc:::settle_completions(cases, list(ibrc:::completed_policy(c(1L, NA, NA), 2)), function(gaps) {
      flips <<- flips + 1
      list(utility = (-1)^flips * matrix(c(0, 0, 0, 1, 1, 1), 3), gaps = gaps)
    })
    expect_identical(flips, 21)
    expect_match(ibrc:::completion_note(solved), "did not settle")
  })
})

test_that("what settles is an answer under which all is optimal, and trying all ways is no worse", {
  skip_if_not_installed("quadprog")
  settled <- 0
  with_seed(7, for (i in 1:5) {
    setting <- seen_setting(5, 2)
    default <- unname(setting$utility)
    choice <- c(1L, 2L, 1L, NA, NA)
    cases <- list(list(markov = as_markov(setting), choice = choice))
    solve <- function(gaps) {
      change <- ibrc:::smallest_change(gaps[[1]]$rows, as.vector(default), 0, 2)
      list(utility = default + change, cost = sqrt(sum(change^2)))
    }
    first <- best_completion(cases[[1]]$markov, choice, default)
    one <- ibrc:::settle_completions(cases, list(first), solve)
    all <- ibrc:::solve_completed(cases, list(first), solve)
    expect_identical(all$way, "tried")
    expect_lte(all$cost, one$cost + 1e-9)
    settled <- settled + (one$way == "settled")
    for (answer in list(one, all)) {
      regrets <- apply(expand.grid(1, 2, 1, 1:2, 1:2), 1, function(a) seen_regret(setting, a, answer$utility))
      expect_lt(min(regrets), 1e-7)
    }
  })
  expect_gt(settled, 0)
})

test_that("more states than the session can hold are refused", {
  withr::local_options(ibrc.memory = 1e-6)
  with_seed(6, {
    setting <- seen_setting(4, 3)
    expect_error(gap_rows(as_markov(setting), rep(1L, 4), always(rep(1, 4), 3)), class = "ibrc_error_memory")
  })
})
