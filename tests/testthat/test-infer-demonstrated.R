demonstrated <- ibrc:::demonstrated

two_states <- function(...) {
  decision_setting(
    states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
    transition = list(wait = rbind(c(0.5, 0.5), c(0, 1)), treat = rbind(c(1, 0), c(0.5, 0.5))), emission = "identity",
    utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.5, ...
  )
}

rows <- data.frame(
  id = c(1, 1, 1, 2, 2), time = c(1, 2, 3, 1, 2),
  action = c("wait", "treat", "treat", "wait", "wait"), observation = c("ill", "well", "well", "well", "ill")
)

test_that("the state of a visit is what was seen after the action before it", {
  seen <- demonstrated(trajectories(rows), two_states(start = c(1, 0)))
  expect_equal(unname(seen$counts), rbind(c(3, 1), c(0, 1)))
  expect_equal(unname(seen$policy), rbind(c(0.75, 0.25), c(0, 1)))
  expect_identical(c(seen$n_trajectories, seen$n_visits, seen$left_out), c(2L, 5L, 0L))
  expect_identical(seen$source, "visits")
  expect_equal(seen$start, c(1, 0))
  # First visits weigh 1, second ones a half, third ones a quarter; then one trajectory is well, and one ill.
  expect_equal(seen$flow, list(seen = rbind(c(2.5, 0.25), c(0, 0.5)) / 2, ahead = c(1 / 8, 1 / 4) / 2,
                               after = matrix(0, 2, 2)))
})

test_that("a first visit is left out where the start is spread, and said so", {
  setting <- two_states()
  seen <- demonstrated(trajectories(rows), setting)
  expect_equal(unname(seen$counts), rbind(c(1, 1), c(0, 1)))
  expect_identical(c(seen$n_trajectories, seen$n_visits, seen$left_out), c(2L, 3L, 2L))
  # Counted from the second visit, which is the first that is known.
  expect_equal(seen$flow, list(seen = rbind(c(1, 0.5), c(0, 1)) / 2, ahead = c(1 / 4, 1 / 2) / 2,
                               after = matrix(0, 2, 2)))
  expect_equal(seen$start, c(0.5, 0.5))
  expect_match(ibrc:::demonstration_notes(seen, setting), "2 visits were left out because the state was not known")
  # The remedy is said, and is one.
  expect_match(ibrc:::demonstration_notes(seen, setting), "start_by = \"first\"", fixed = TRUE)
  known <- two_states(start = rbind(well = c(1, 0), ill = c(0, 1)), start_by = "first")
  first <- transform(rows, first = c("ill", "ill", "ill", "well", "well"))
  expect_identical(demonstrated(trajectories(first, covariates = "first"), known)$left_out, 0L)
  last <- demonstrated(trajectories(rows[1:2, ]), setting)
  expect_identical(last$policy["well", "wait"], NA_real_)
  notes <- ibrc:::demonstration_notes(last, setting)
  expect_match(notes[1], "1 visit was left out")
  expect_match(notes[2], "Nobody was seen in 1 state (well)", fixed = TRUE)
  # With no later visit there is nothing at all.
  expect_error(demonstrated(trajectories(rows[1, ]), setting), "state is known", class = "ibrc_error_data")
})

test_that("only actions that are known and scored count", {
  marked <- transform(rows, scored = c(TRUE, FALSE, TRUE, TRUE, FALSE))
  marked$action[5] <- NA
  seen <- demonstrated(trajectories(marked, scored = "scored"), two_states(start = c(1, 0)))
  expect_equal(unname(seen$counts), rbind(c(2, 1), c(0, 0)))
  expect_identical(seen$left_out, 0L)
})

test_that("a state that was not seen is known where only one can follow", {
  lost <- rows
  # From well by treat only well can follow; after wait either may.
  lost$observation <- c("well", NA, NA, NA, "ill")
  lost$action <- c("wait", "treat", "wait", "wait", "wait")
  seen <- demonstrated(trajectories(lost), two_states(start = c(1, 0)))
  expect_equal(unname(seen$counts), rbind(c(3, 1), c(0, 0)))
  expect_identical(seen$left_out, 1L)
  # No first visit is missing: only what was not seen is named.
  expect_match(ibrc:::demonstration_notes(seen, two_states()), "nothing was seen after the action before", all = FALSE)
  expect_no_match(ibrc:::demonstration_notes(seen, two_states()), "start_by")
  triplets <- data.frame(from = c(1, 1, 2, 1, 2, 2), to = c(1, 2, 2, 1, 1, 2), action = c(1, 1, 1, 2, 2, 2),
                         probability = c(0.5, 0.5, 1, 1, 0.5, 0.5))
  by_rows <- decision_setting(
    states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"), transition = triplets,
    emission = "identity", utility = matrix(0, 2, 2), discount = 0.5, start = c(1, 0)
  )
  expect_equal(demonstrated(trajectories(lost), by_rows)[c("counts", "left_out")], seen[c("counts", "left_out")])
})

test_that("trajectories begin in the state of their own group", {
  setting <- two_states(start = rbind(a = c(1, 0), b = c(0.5, 0.5)), start_by = "group")
  grouped <- transform(rows, group = c("a", "a", "a", "b", "b"))
  seen <- demonstrated(trajectories(grouped, covariates = "group"), setting)
  expect_identical(seen$left_out, 1L)
  expect_equal(unname(seen$counts), rbind(c(2, 1), c(0, 1)))
})

test_that("visits that cannot happen are refused by their rows", {
  impossible <- rows
  # Who is well and treated stays well.
  impossible$observation[3] <- "ill"
  impossible <- rbind(impossible[1:3, ], data.frame(id = 1, time = 4, action = "wait", observation = "ill"))
  error <- expect_error(demonstrated(trajectories(impossible), two_states()), class = "ibrc_error_data")
  expect_identical(error$rows, 3L)
  # What is most often the cause is named, here and where counts are asked for.
  expect_match(conditionMessage(error), "the states have to move up by one visit")
  expect_no_match(conditionMessage(error), "prior")
  counted <- expect_error(ibrc:::trajectory_counts(trajectories(impossible), two_states()), class = "ibrc_error_data")
  expect_match(conditionMessage(counted), "the states have to move up by one visit")
})

# Occupancies by a plain loop: each trajectory's visits as long as they tell, then `policy` for so long that nothing is
# left of the discount.
twin_shares <- function(data, setting, policy, known, ahead = 200) {
  size <- dim(setting$utility)
  of_one <- function(rows) {
    out <- array(0, size)
    state <- known[rows[1]]
    for (t in seq_along(rows)) {
      row <- rows[t]
      if (is.na(state) || !data$scored[row]) break
      action <- match(data$action[row], setting$actions)
      out[state, action] <- out[state, action] + setting$discount^(t - 1)
      law <- setting$transition[state, , action]
      state <- match(data$observation[row], setting$states)
      t <- t + 1
    }
    if (!is.na(state)) law <- as.numeric(seq_along(setting$states) == state)
    for (later in t - 1 + 0:ahead) {
      out <- out + setting$discount^later * law * policy
      law <- Reduce(`+`, lapply(seq_len(size[2]), function(u) (law * policy[, u]) %*% setting$transition[, , u]))[1, ]
    }
    (1 - setting$discount) * out
  }
  Reduce(`+`, lapply(split(seq_len(nrow(data)), data$id), of_one)) / length(unique(data$id))
}

test_that("shares of visits go on by the policy where trajectories are cut, by a plain loop", {
  with_seed(11, {
    setting <- seen_setting(3, 2, discount = 0.8, start = c(1, 0, 0))
    data <- as.data.frame(simulate(plan_agent(setting, bounded_agent(1)), 12, horizon = 6, seed = 1))
    data <- data[data$time < rep_len(2:6, 12)[data$id], ]
    data$scored <- stats::runif(nrow(data)) < 0.9
    data$action[which(!data$scored)[1]] <- NA
    # Some endings are not seen.
    data$observation[cumsum(rep_len(2:6, 12))[c(2, 5)]] <- NA
    seen <- demonstrated(trajectories(data, scored = "scored"), setting)
    markov <- as_markov(setting)
    shares <- ibrc:::demonstrated_shares(seen, markov, "visits")
    twin <- twin_shares(data, setting, ibrc:::filled_policy(seen), ifelse(data$time == 0, 1, NA))
    expect_close(shares$occupancy, twin, 1e-12)
    expect_equal(sum(shares$occupancy), 1)
  })
})

test_that("a plan and a policy demonstrate what they do", {
  with_seed(4, {
    setting <- seen_setting(4, 3)
    plan <- plan_agent(setting, bounded_agent(alpha = 0.5))
    seen <- demonstrated(plan, setting)
    expect_equal(unname(seen$policy), unname(policy(plan)))
    expect_identical(seen$source, "policy")
    expect_null(seen$counts)
    expect_equal(sum(seen$occupancy), 1)
    by_name <- seen$policy[4:1, c(2, 3, 1)]
    expect_equal(demonstrated(by_name, setting), seen)
    partly <- seen$policy
    partly[2, ] <- NA
    expect_null(demonstrated(partly, setting)$occupancy)
    # Visits of the plan show the same in the long run.
    visits <- simulate(plan, 400, seed = 1, horizon = 40)
    expect_lt(max(abs(demonstrated(visits, setting)$policy - seen$policy)), 0.05)
  })
})

test_that("what is no demonstration is refused", {
  setting <- two_states()
  for (wrong in list(NULL, NA, "x", -1, list(), mean, matrix(0, 0, 2), matrix(0.5, 3, 2), matrix(0.7, 2, 2),
                     matrix(NA_real_, 2, 2), data.frame(a = 1))) {
    expect_refused(demonstrated(wrong, setting, "shown"), "shown")
  }
  expect_refused(demonstrated(plan_agent(diag_setting(), bounded_agent(1), resolution = 4), setting), "visits")
  expect_refused(demonstrated(trajectories(rows), diag_setting()), "setting", "the state is seen")
  expect_refused(demonstrated(trajectories(rows), 1), "setting")
})
