plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.8), diag_models(), resolution = 20)
visits <- simulate(plan, 150, seed = 1)
actions <- diag_setting()$actions

test_that("frequencies are counts with one more", {
  model <- fit_baseline(visits, "frequencies")
  count <- as.vector(table(visits$action)) + 1 / 3
  law <- as.matrix(predict(model, visits))
  expect_close(law[1, ], count / sum(count), 1e-12)
  expect_close(law[nrow(law), ], law[1, ], 1e-15)
  expect_identical(colnames(law), actions)
})

test_that("rules by visit number and by the action before count within their visits", {
  number <- sequence(rle(visits$id)$lengths)
  overall <- (as.vector(table(visits$action)) + 1 / 3) / (nrow(visits) + 1)
  law <- as.matrix(predict(fit_baseline(visits, "visit_number"), visits))
  second <- as.vector(table(visits$action[number == 2])) + overall
  expect_close(law[which(number == 2)[1], ], second / sum(second), 1e-12)
  # Every action but one ends a trajectory: what follows the other is what follows the first visit.
  after <- as.vector(table(visits$action[number > 1])) + overall
  law <- as.matrix(predict(fit_baseline(visits, "previous_action"), visits))
  expect_close(law[which(number > 1)[1], ], after / sum(after), 1e-12)
  later <- trajectories(data.frame(id = 1, time = 1:99, action = "monitor", observation = "negative"))
  expect_close(rowSums(predict(fit_baseline(visits, "visit_number"), later, )), rep(1, 99), 1e-12)
})

test_that("a logistic regression of two actions is glm's", {
  data <- as.data.frame(visits)
  data$action <- factor(ifelse(data$action == "monitor", "monitor", "declare"), c("declare", "monitor"))
  two <- trajectories(data)
  model <- fit_baseline(two, "logistic")
  first <- !duplicated(data$id)
  before <- c(NA, as.character(data$observation)[-nrow(data)])
  before[first] <- "none"
  frame <- data.frame(y = data$action == "declare", before)
  glm <- stats::glm(y ~ before, stats::binomial(), frame)
  # One more visit among so many moves little.
  expect_lt(max(abs(predict(model, two)$declare - stats::fitted(glm))), 0.02)
  expect_close(as.numeric(rowSums(predict(model, two))), rep(1, nrow(two)), 1e-12)
})

test_that("every rule has the face of a decision model, on visits with gaps too", {
  gaps <- as.data.frame(visits)
  gaps$observation[c(3, 10, 11)] <- NA
  last <- which(!duplicated(gaps$id, fromLast = TRUE))[1:5]
  gaps$action[last] <- NA
  gaps$known <- !is.na(gaps$action)
  gaps <- trajectories(gaps, scored = "known")
  for (rule in c("frequencies", "visit_number", "previous_action", "logistic")) {
    model <- fit_baseline(gaps, rule, last = 3)
    law <- as.matrix(predict(model, gaps))
    expect_close(unname(rowSums(law)), rep(1, nrow(gaps)), 1e-12)
    expect_gt(min(law), 0)
    each <- log(law[cbind(seq_len(nrow(gaps)), as.integer(gaps$action))])
    each[is.na(each)] <- 0
    sums <- vapply(split(each, gaps$id), sum, 0)
    expect_close(unname(log_lik(model, gaps)), unname(sums), 1e-12)
    expect_identical(glance(model)$rule, rule)
    expect_gt(nrow(tidy(model)), 2)
    expect_output(print(model), "A rule of behaviour")
  }
})

test_that("separation leaves coefficients finite", {
  data <- data.frame(id = rep(1:30, each = 4), time = rep(1:4, 30), observation = rep(c("a", "b"), 60))
  data$action <- ifelse(c(NA, data$observation[-120]) %in% "a", "x", "y")
  model <- fit_baseline(trajectories(data), "logistic")
  expect_lt(max(abs(tidy(model)$estimate)), 30)
  expect_gt(mean(as.matrix(predict(model, trajectories(data)))[cbind(1:120, match(data$action, c("x", "y")))]), 0.9)
})

test_that("a logistic rule recovers behaviour that follows it", {
  drawn <- with_seed(3, {
    rows <- lapply(1:400, function(i) {
      seen <- sample(c("low", "high"), 6, TRUE)
      chance <- stats::plogis(ifelse(c("none", seen[-6]) == "high", 1.2, -0.8))
      data.frame(id = i, time = 1:6, action = ifelse(stats::runif(6) < chance, "test", "wait"), observation = seen,
                 chance = chance)
    })
    do.call(rbind, rows)
  })
  train <- drawn$id <= 300
  model <- fit_baseline(trajectories(drawn[train, ]), "logistic")
  held <- trajectories(drawn[!train, ])
  truth <- with(drawn[!train, ], ifelse(action == "test", log(chance), log1p(-chance)))
  by_patient <- vapply(split(truth, drawn$id[!train]), sum, 0)
  apart <- log_lik(model, held) - by_patient
  expect_lt(abs(sum(apart)), 2 * stats::sd(apart) * sqrt(length(apart)) + 1)
  expect_gt(sum(log_lik(model, held)), sum(log_lik(fit_baseline(trajectories(drawn[train, ]), "frequencies"), held)))
})

test_that("what teaches nothing is refused", {
  data <- as.data.frame(visits)
  data$none <- FALSE
  expect_error(fit_baseline(trajectories(data, scored = "none")), class = "ibrc_error_data")
  data$action <- "wait"
  expect_error(fit_baseline(trajectories(data)), class = "ibrc_error_data")
  expect_error(fit_baseline(visits, "logistic", last = 4), class = "ibrc_error_input")
})

test_that("a regression has no slope left, however many columns say the same", {
  cohort <- read_adni(adni_like)
  model <- fit_baseline(cohort, "logistic", last = 3)
  coded <- learned_visits(cohort, model$words)
  x <- last_visits_matrix(coded, model$words, 3)
  off <- (coded$action == 0) - drop(stats::plogis(x %*% model$regressions[[1]]))
  # One visit more in all, with the actions as often as overall.
  more <- model$overall[1] - drop(stats::plogis(x %*% model$regressions[[1]]))
  expect_lt(max(abs(crossprod(x, off + more / nrow(x)))), 1e-6)
})

test_that("where nothing was seen, a regression goes by what was done", {
  blind <- trajectories(data.frame(id = rep(1:10, each = 3), time = 1:3, action = rep(c("a", "b", "a"), 10),
                                   observation = NA_character_))
  for (last in 1:3) {
    law <- as.matrix(predict(fit_baseline(blind, "logistic", last = last), blind))
    expect_gt(min(law[cbind(1:30, rep(c(1, 2, 1), 10))]), 0.8)
  }
})

test_that("numbers of visits that few come to are put together", {
  # Everybody waits until the end, which comes once at visits 21 to 30.
  rows <- lapply(1:10, function(i) {
    data.frame(id = i, time = 1:(20 + i), action = rep(c("wait", "stop"), c(19 + i, 1)), observation = "o")
  })
  waiting <- trajectories(do.call(rbind, rows))
  model <- fit_baseline(waiting, "visit_number")
  # 21 to 24 have ten, nine, eight and seven visits; those from 27 on ten in all.
  expect_identical(max(as.integer(tidy(model)$term)), 27L)
  long <- trajectories(data.frame(id = 1, time = 1:60, action = "wait", observation = "o"))
  law <- predict(model, long)$wait
  expect_close(law[27:60], rep((6 + fit_baseline(waiting)$overall[[2]]) / 11, 34), 1e-12)
})

test_that("rules cannot be drawn from, and say so", {
  expect_error(simulate(fit_baseline(visits), 1), "what is seen", class = "ibrc_error_input")
})
test_that("every rule recovers what was simulated from it", {
  # 300 trajectories to learn from, 300 held out, four times.
  taught <- taught_visits(300, seed = 1)
  for (rule in c("frequencies", "visit_number", "previous_action", "logistic")) {
    truth <- fit_baseline(taught, rule)
    for (seed in 1:4) {
      model <- fit_baseline(truth_visits(truth, 300, 10 + seed), rule)
      held <- truth_visits(truth, 300, 50 + seed)
      expect_lt(beside_truth(log_lik(model, held), log_lik(truth, held)), 2)
      # What knows nothing of them is found out.
      plain <- log_lik(fit_baseline(taught), held)
      if (rule != "frequencies") expect_gt(beside_truth(plain, log_lik(truth, held)), 4)
    }
  }
})
