test_that("where the state is seen, places are states and counts are how often", {
  setting <- with_seed(1, ranked_setting(3, 2))
  visits <- ranked_visits(setting, 30)
  evidence <- matching_evidence(visits, setting)
  expect_true(evidence$seen)
  expect_true(evidence$sampled)
  expect_close(evidence$counts, colSums(twin_counts(visits, setting, discount = 1)))
  expect_identical(evidence$details$n_visits, nrow(visits))
  law <- with_seed(1, random_rows(3, 2))
  evidence <- matching_evidence(law, setting)
  expect_false(evidence$sampled)
  expect_close(evidence$counts, markov_occupancy(as_markov(setting), law))
  expect_match(evidence$notes, "no standard errors", all = FALSE)
})

test_that("where states are hidden, places are histories and beliefs are carried along", {
  setting <- with_seed(2, random_setting(3, 2, 3, zeros = 0.2))
  visits <- simulate(plan_agent(setting, bounded_agent(0.5), resolution = 5), 20, horizon = 5, seed = 1)
  evidence <- with_beliefs(matching_evidence(visits, setting), setting)
  expect_false(evidence$seen)
  expect_close(rowSums(evidence$beliefs), rep(1, nrow(evidence$beliefs)), 1e-12)
  # What is met as often at the same beliefs, by a plain loop.
  twin <- twin_beliefs(visits, setting)
  taken <- outer(as.data.frame(visits)$action, setting$actions, `==`) + 0
  expect_close(colSums(evidence$taken), colSums(taken))
  expect_close(crossprod(evidence$beliefs, evidence$taken), crossprod(twin, taken), 1e-8)
  expect_close(crossprod(evidence$beliefs^2, evidence$taken), crossprod(twin^2, taken), 1e-8)
  # What the beliefs are is no matter of what is wanted, nor of what beliefs are worth.
  setting$utility[] <- 1e6
  again <- with_beliefs(matching_evidence(visits, setting), setting)
  expect_identical(again$beliefs, evidence$beliefs)
})

test_that("the likelihood of a plan is log_lik()'s", {
  seen <- with_seed(3, ranked_setting(3, 2))
  visits <- ranked_visits(seen, 20)
  plan <- plan_kl(seen, 0.7)
  expect_equal(evidence_log_lik(matching_evidence(visits, seen), plan, seen), sum(log_lik(plan, visits)))
  hidden <- diag_setting()
  plan <- plan_boltzmann(hidden, 2, resolution = 20)
  visits <- simulate(plan, 30, horizon = 5, seed = 1)
  expect_equal(evidence_log_lik(matching_evidence(visits, hidden), plan, hidden), sum(log_lik(plan, visits)))
})

test_that("what a plan rules out is -Inf, never NaN, and what was never done is no matter", {
  setting <- with_seed(4, ranked_setting(2, 2))
  evidence <- matching_evidence(ranked_visits(setting, 20), setting)
  expect_identical(evidence_log_lik(evidence, plan_mdp(setting), setting), -Inf)
  expect_identical(counted_log_lik(rbind(c(0, -Inf)), rbind(c(3, 0))), 0)
  expect_identical(counted_log_lik(rbind(c(-Inf, 0)), rbind(c(3, 0))), -Inf)
  expect_identical(counted_log_lik(rbind(c(NaN, 0)), rbind(c(3, 0))), -Inf)
  hidden <- diag_setting()
  visits <- simulate(plan_boltzmann(hidden, 5, resolution = 20), 30, horizon = 5, seed = 1)
  hard <- plan_pomdp(hidden, resolution = 20)
  expect_identical(evidence_log_lik(matching_evidence(visits, hidden), hard, hidden), -Inf)
})

test_that("logits of any size become probabilities", {
  logits <- rbind(c(1, 2, 3), c(1e6, 0, -1e6), c(-800, -800, -801))
  expect_close(exp(log_softmax(logits))[1, ], exp(1:3) / sum(exp(1:3)))
  expect_close(log_softmax(logits)[2, ], c(0, -1e6, -2e6))
  expect_close(rowSums(exp(log_softmax(logits))), c(1, 1, 1))
})

test_that("visits that do not count and actions that are missing play no part", {
  setting <- diag_setting()
  data <- as.data.frame(simulate(plan_boltzmann(setting, 5, resolution = 20), 20, horizon = 4, seed = 1))
  evidence <- matching_evidence(trajectories(data), setting)
  last <- which(!duplicated(data$id, fromLast = TRUE))[1:3]
  data$action[last] <- NA
  less <- matching_evidence(suppressWarnings(trajectories(data)), setting)
  expect_equal(sum(evidence$counts) - sum(less$counts), 3)
  data$action <- NA_character_
  error <- expect_error(matching_evidence(suppressWarnings(trajectories(data)), setting), class = "ibrc_error")
  expect_identical(error$argument, "visits")
})

test_that("starts that groups have of their own are used", {
  setting <- starts_setting()
  visits <- starts_visits(30)
  evidence <- with_beliefs(matching_evidence(visits, setting), setting)
  parts <- lapply(names(apart_settings()), function(group) {
    data <- as.data.frame(visits)
    own <- trajectories(data[data$age == group, c("id", "time", "action", "observation")])
    apart <- apart_settings()[[group]]
    with_beliefs(matching_evidence(own, apart), apart)
  })
  expect_close(colSums(evidence$taken), colSums(do.call(rbind, lapply(parts, `[[`, "taken"))))
  total <- Reduce(`+`, lapply(parts, function(part) crossprod(part$beliefs, part$taken)))
  expect_close(crossprod(evidence$beliefs, evidence$taken), total, 1e-8)
})

test_that("what cannot be read is refused", {
  seen <- with_seed(5, ranked_setting(2, 2))
  hidden <- diag_setting()
  refused <- function(visits, setting) {
    error <- expect_error(matching_evidence(visits, setting), class = "ibrc_error")
    expect_identical(error$argument, "visits")
  }
  for (bad in list(NULL, NA, "x", -1, list(), mean, matrix(0, 0, 2), data.frame(a = 1))) {
    refused(bad, seen)
    refused(bad, hidden)
  }
  refused(rbind(c(0.5, 0.5), NA), seen)
  # A law of hidden states is not visits.
  refused(plan_boltzmann(hidden, 1, resolution = 5), hidden)
  # An observation that cannot follow.
  stuck <- seen
  stuck$transition[, , ] <- c(1, 0, 0, 1)
  visits <- data.frame(id = "secret", time = 0:1, action = "u1", observation = "s2")
  error <- expect_error(matching_evidence(trajectories(visits), stuck), class = "ibrc_error")
  expect_no_match(conditionMessage(error), "secret")
})
