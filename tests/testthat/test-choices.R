# A task of choices: sequences in blocks per person, some of whose choices were missed or forced.

sides <- c("left", "right")
wins <- function(choice) {
  p <- ifelse(sides == choice, 0.8, 0.2)
  cbind(loss = 1 - p, win = p)
}
change <- rbind(c(0.9, 0.1), c(0.1, 0.9))
task <- decision_setting(states = sides, actions = sides, observations = c("loss", "win"),
                         transition = list(left = change, right = change),
                         emission = list(left = wins("left"), right = wins("right")),
                         utility = cbind(left = c(0.8, 0.2), right = c(0.2, 0.8)), discount = 0.7)
plan_for <- function(alpha, habit) plan_agent(task, bounded_agent(alpha = alpha, habit = habit), resolution = 10)
plan <- plan_for(0.2, 1)
choices <- do.call(rbind, lapply(1:3, function(i) {
  made <- as.data.frame(simulate(plan_for(c(0.1, 0.2, 0.4)[i], c(0, 1, 2)[i]), 2, horizon = 12, seed = i))
  data.frame(person = paste0("p", i), block = paste0("p", i, " block ", made$id), trial = made$time,
             choice = as.character(made$action), outcome = as.character(made$observation), counts = TRUE)
}))
as_blocks <- function(table) {
  trajectories(table, id = "block", time = "trial", action = "choice", observation = "outcome", scored = "counts",
               covariates = "person")
}

test_that("a forced choice stays in the sequence and is not scored", {
  forced <- choices
  forced$counts[c(3, 8)] <- FALSE
  chance <- as.matrix(predict(plan, as_blocks(forced)))
  taken <- log(chance[cbind(seq_len(nrow(forced)), match(forced$choice, sides))])
  own <- tapply(ifelse(forced$counts, taken, 0), factor(forced$block, unique(forced$block)), sum)
  expect_close(unname(log_lik(plan, as_blocks(forced))), as.vector(own))
  expect_gt(min(abs(log_lik(plan, as_blocks(choices))[1] - own[1])), 1e-3)
  # What came of it was seen: later choices are foreseen by it, and by its being the last choice.
  other <- forced
  other$outcome[3] <- setdiff(c("loss", "win"), forced$outcome[3])
  expect_gt(abs(as.matrix(predict(plan, as_blocks(other)))[4, 1] - chance[4, 1]), 1e-3)
  expect_close(as.matrix(predict(plan, as_blocks(other)))[1:3, ], chance[1:3, ])
  repeated <- as.matrix(predict(plan_for(0.2, 0), as_blocks(forced)))
  expect_gt(abs(repeated[4, 1] - chance[4, 1]), 1e-3)
})

test_that("a missed choice has a row, and no say", {
  missed <- choices
  missed$choice[3] <- NA
  missed$outcome[3] <- NA
  missed$counts[3] <- FALSE
  blocks <- as_blocks(missed)
  chance <- as.matrix(predict(plan, blocks))
  taken <- log(chance[cbind(seq_len(nrow(missed)), match(missed$choice, sides))])
  own <- tapply(ifelse(missed$counts, taken, 0), factor(missed$block, unique(missed$block)), sum)
  expect_close(unname(log_lik(plan, blocks)), as.vector(own))
  mode <- suppressWarnings(ibrc_mode(blocks, task, prior = ibrc_prior(alpha ~ lognormal(-1, 1)),
                                     fixed = list(habit = 1), resolution = 5, starts = 1, conf.level = NULL, seed = 1))
  expect_identical(unname(mode$n_visits - mode$n_scored), 1)
})

test_that("blocks of one person begin anew, and count together", {
  blocks <- as_blocks(choices)
  first <- which(!duplicated(choices$block))
  # No belief, and no last choice, comes from the block before.
  expect_close(as.matrix(predict(plan, blocks))[first, ], matrix(0.5, 6, 2, dimnames = list(NULL, sides)), 1e-6)
  find <- function(visits, ...) {
    suppressWarnings(ibrc_mode(visits, task, prior = ibrc_prior(alpha ~ lognormal(-1, 1), habit ~ normal(0, 1)),
                               resolution = 5, starts = 1, conf.level = NULL, seed = 1, ...))
  }
  together <- find(blocks, by = "person")
  expect_identical(unname(together$group_sizes), rep(2L, 3))
  for (person in c("p1", "p3")) {
    alone <- find(as_blocks(choices[choices$person == person, ]))
    expect_close(tidy(together)$estimate[tidy(together)$group == person], tidy(alone)$estimate, 1e-3)
  }
  pooled <- suppressWarnings(ibrc(blocks, task, prior = ibrc_prior(alpha ~ lognormal(-1, 1)), chains = 2, iter = 40,
                                  seed = 1, effects = list(alpha ~ (1 | person)), resolution = 5,
                                  control = list(check = FALSE)))
  expect_identical(tidy(pooled, effects = "people")$level, c("p1", "p2", "p3"))
  expect_identical(unname(pooled$group_sizes), rep(2L, 3))
})
