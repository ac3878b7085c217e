setting <- diag_setting()
plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
visits <- simulate(plan, 50, seed = 1)
crossed <- cross_validate(visits, c("frequencies", "visit_number", "logistic"), folds = 5)

test_that("scores are those of the predictions", {
  found <- accuracy(crossed, resamples = 0)
  table <- tidy(crossed)
  later <- table[table$method == "logistic" & table$visit >= 2, ]
  law <- as.matrix(later[setting$actions])
  action <- as.integer(later$action)
  own <- found[found$method == "logistic", ]
  expect_close(own$estimate[own$score == "brier"], brier_score(law, action), 1e-12)
  expect_close(own$estimate[own$score == "log_score"], log_score(law, action), 1e-12)
  for (k in 1:3) {
    mine <- own$action %in% setting$actions[k]
    areas <- c(roc_area(law[, k], action == k), precision_recall_area(law[, k], action == k))
    expect_close(own$estimate[mine], areas, 1e-12)
  }
  folds <- vapply(1:5, function(f) brier_score(law[later$fold == f, ], action[later$fold == f]), 0)
  expect_close(unlist(own[1, c("fold_mean", "fold_sd")]), c(mean(folds), stats::sd(folds)), 1e-12)
  expect_identical(unique(found$visits), nrow(later))
  expect_true(all(is.na(found$conf.low)))
})

test_that("differences are paired and have intervals", {
  found <- accuracy(crossed, resamples = 200, seed = 2, reference = "frequencies")
  own <- found[found$method == "logistic", ]
  base <- found[found$method == "frequencies", ]
  expect_close(own$difference, own$estimate - base$estimate, 1e-12)
  expect_true(all(is.na(base$difference)))
  expect_true(all(own$conf.low <= own$estimate & own$estimate <= own$conf.high))
  expect_true(all(own$difference.low <= own$difference & own$difference <= own$difference.high))
  # Paired intervals are shorter than those of methods apart would be.
  apart <- sqrt((own$conf.high - own$conf.low)^2 + (base$conf.high - base$conf.low)^2)
  expect_lt((own$difference.high - own$difference.low)[1], apart[1])
  expect_identical(accuracy(crossed, resamples = 200, seed = 2, reference = "frequencies"), found)
})

test_that("intervals over patients have the spread of a mean over patients", {
  found <- accuracy(crossed, resamples = 2000, from = 1)
  table <- tidy(crossed)
  mine <- table[table$method == "frequencies", ]
  squares <- rowSums((as.matrix(mine[setting$actions]) - diag(3)[as.integer(mine$action), ])^2) / 2
  sums <- rowsum(cbind(squares, 1), visits$id)
  # A ratio of means over patients.
  ratio <- sum(sums[, 1]) / sum(sums[, 2])
  error <- sqrt(sum((sums[, 1] - ratio * sums[, 2])^2)) / sum(sums[, 2])
  row <- found[found$method == "frequencies" & found$score == "brier", ]
  expect_lt(abs((row$conf.high - row$conf.low) / (2 * 1.96 * error) - 1), 0.15)
})

test_that("what cannot be scored is said", {
  data <- as.data.frame(visits)
  data$action <- factor(ifelse(data$action == "monitor", "monitor", "declare"), c("declare", "monitor", "operate"))
  found <- accuracy(cross_validate(trajectories(data), "frequencies", folds = 2), resamples = 20)
  never <- found[found$action %in% "operate", ]
  expect_true(all(is.na(never$estimate)))
  expect_identical(unique(never$note), "the action was always or never taken")
  expect_error(accuracy(crossed, from = 99), class = "ibrc_error_input")
  expect_error(accuracy(crossed, action = "none"), class = "ibrc_error_input")
  expect_error(accuracy(crossed, reference = "none"), class = "ibrc_error_input")
  expect_output(print(found), "always or never taken")
})

test_that("of two actions the rarer one is scored", {
  data <- as.data.frame(visits)
  data$action <- ifelse(data$action == "monitor", "monitor", "declare")
  found <- accuracy(cross_validate(trajectories(data), "frequencies", folds = 2), resamples = 0, from = 1)
  expect_identical(unique(stats::na.omit(found$action)), names(which.min(table(data$action))))
  shown <- capture.output(print(found))
  expect_match(shown[1], "Predictions of .* actions, from visit 1 on")
})
