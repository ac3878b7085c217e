setting <- diag_setting()
truth <- plan_agent(setting, bounded_agent(0.5, 1.25), diag_models())
north <- cbind(as.data.frame(simulate(truth, 25, seed = 1)), clinic = "north")
south <- cbind(as.data.frame(simulate(update(truth, bounded_agent(3)), 25, seed = 2)), clinic = "south")
south$id <- south$id + 25
data <- rbind(north, south)
data <- data[order(data$time, (data$id * 7) %% 50), ]
data$observation[seq(3, nrow(data), by = 9)] <- NA
names(data) <- c("patient", "when", "did", "saw", "clinic")
visits <- trajectories(data, "patient", "when", "did", "saw", covariates = "clinic", setting = setting)
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
pooled <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 200, seed = 1)
grouped <- ibrc(visits, setting, diag_models(), prior, by = "clinic", chains = 2, iter = 200, seed = 1)

test_that("each visit has its belief, the probability of its action, and the likeliest", {
  told <- augment(pooled, visits)
  expect_identical(told[names(data)], as.data.frame(visits))
  expect_named(told, c(names(data), ".belief_healthy", ".belief_diseased", ".probability", ".fitted", ".rational",
                       ".differs", ".due", ".late"))
  plan <- project_behavior(pooled)
  beliefs <- as.matrix(told[c(".belief_healthy", ".belief_diseased")])
  law <- policy(plan, unname(beliefs))
  expect_close(told$.probability, law[cbind(seq_len(nrow(law)), as.integer(told$did))], 1e-10)
  expect_identical(as.character(told$.fitted), setting$actions[max.col(law, "first")])
  expect_close(sum(log(told$.probability)), sum(log_lik(plan, visits)), 1e-8)
})

test_that("beliefs are carried by the agent's own update", {
  told <- augment(pooled, visits)
  plan <- project_behavior(pooled)
  longest <- names(which.max(table(told$patient)))
  one <- told[told$patient == longest, ]
  belief <- setting$start
  for (t in seq_len(nrow(one))) {
    expect_close(one$.belief_diseased[t], belief[["diseased"]], 1e-12)
    belief <- update_belief(plan, belief, as.character(one$did[t]), as.character(one$saw[t]))
  }
})

test_that("with groups each visit is read by the plan of its group", {
  told <- augment(grouped, visits)
  plans <- project_behavior(grouped)
  for (clinic in names(plans)) {
    mine <- told$clinic == clinic
    alone <- trajectories(data[mine, ], "patient", "when", "did", "saw", setting = setting)
    expect_close(sum(log(told$.probability[mine])), sum(log_lik(plans[[clinic]], alone)), 1e-8)
  }
  # Visits of one group only.
  some <- trajectories(data[data$clinic == "south", ], "patient", "when", "did", "saw", "clinic")
  expect_equal(augment(grouped, some)$.probability, told$.probability[told$clinic == "south"])
})

test_that("without visits those kept are read, without identifiers", {
  for (fit in list(pooled, grouped)) {
    kept <- augment(fit)
    told <- augment(fit, visits)
    trajectory <- match(told$patient, unique(told$patient))
    told <- told[order(trajectory), ]
    expect_identical(kept$trajectory, sort(trajectory))
    expect_identical(as.integer(kept$action), as.integer(told$did))
    expect_identical(kept$.probability, told$.probability)
    for (flag in c(".fitted", ".rational", ".differs", ".due", ".late")) expect_identical(kept[[flag]], told[[flag]])
    expect_equal(kept$visit, told$when + 1)
  }
  expect_identical(as.character(kept$group), told$clinic)
  expect_false("group" %in% names(augment(pooled)))
})

test_that("visits are flagged where a perfectly rational agent would have done otherwise", {
  told <- augment(grouped, visits)
  paths <- belief_paths(grouped, visits)
  expect_identical(told[c(".rational", ".differs")], paths[c(".rational", ".differs")])
  expect_identical(told$.differs, told$did != told$.rational)
  expect_true(any(told$.differs) && !all(told$.differs))
})

# The definitions of the help page, a trajectory at a time.
late_by_hand <- function(one, certain) {
  stops <- c("declare_healthy", "declare_diseased")
  due <- which(one$.rational %in% stops)[1]
  made <- which(one$did %in% stops)[1]
  c(due, made - due)
}

test_that("with stop actions a diagnosis is late when it is declared late", {
  told <- augment(grouped, visits)
  for (one in split(told, told$patient)) {
    expect_equal(c(one$.due[1], one$.late[1]), late_by_hand(one))
    expect_length(unique(one$.late), 1)
  }
  each <- told[!duplicated(told$patient), ]
  # The clinic that is less flexible is late at times.
  expect_true(any(each$.late > 0, na.rm = TRUE) && any(each$.late == 0, na.rm = TRUE) && anyNA(each$.late))
  expect_true(all(each$.late >= 0, na.rm = TRUE))
})

test_that("without stop actions it is late when the agent is sure of the state late", {
  watch <- decision_setting(
    states = c("a", "b", "c"), actions = c("wait", "test"), observations = c("x", "y", "z"),
    transition = 0.98 * diag(3) + 0.02 / 3,
    emission = list(wait = 0.4 * diag(3) + 0.2, test = 0.7 * diag(3) + 0.1),
    utility = cbind(wait = c(1, 0, 0), test = c(0, 0, 0.5)), discount = 0.9
  )
  models <- soften_models(watch, c(0, 0.4))
  pessimist <- plan_agent(watch, bounded_agent(0.5, optimism = -3), models, resolution = 20)
  seen <- simulate(pessimist, 40, seed = 1, horizon = 8)
  fit <- ibrc(seen, watch, models, ibrc_prior(alpha ~ lognormal(0, 1)), fixed = list(optimism = -3), chains = 1,
              iter = 40, seed = 1, resolution = 20)
  told <- augment(fit, seen, certain = 0.8)
  paths <- belief_paths(fit, seen)
  states <- c("a", "b", "c")
  by_hand <- function(one) {
    best <- as.matrix(one[paste0(".rational_belief_", states)])
    own <- as.matrix(one[paste0(".belief_", states)])
    due <- which(apply(best, 1, max) >= 0.8)[1]
    if (is.na(due)) return(c(NA, NA))
    c(due, which(own[, which.max(best[due, ])] >= 0.8)[1] - due)
  }
  expected <- vapply(split(paths, paths$id), by_hand, c(0, 0))
  each <- told[!duplicated(told$id), ]
  expect_equal(each$.due, unname(expected[1, ]))
  expect_equal(each$.late, unname(expected[2, ]))
  expect_true(any(each$.late != 0, na.rm = TRUE))
  for (bad in list(0.5, 1.1, NA, "sure")) {
    expect_error(augment(fit, seen, certain = bad), "certain", class = "ibrc_error_input")
  }
})

test_that("what cannot be read is refused", {
  bare <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 20, seed = 1,
               control = ibrc_control(keep_data = FALSE))
  expect_error(augment(bare), "keep_data", class = "ibrc_error_input")
  expect_identical(nrow(augment(bare, visits)), nrow(visits))
  plain <- trajectories(data, "patient", "when", "did", "saw", setting = setting)
  expect_error(augment(grouped, plain), "clinic", class = "ibrc_error_input")
  elsewhere <- trajectories(transform(data, clinic = "secret"), "patient", "when", "did", "saw", "clinic")
  error <- expect_error(augment(grouped, elsewhere), "not met", class = "ibrc_error_input")
  expect_false(grepl("secret", conditionMessage(error)))
  expect_error(augment(pooled, data), class = "ibrc_error_input")
  expect_error(augment(pooled, visits, se = TRUE), class = "ibrc_error_input")
})
