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
    # Within folds, which count as their visits do.
    areas <- vapply(split(seq_along(action), later$fold), function(at) {
      c(roc_area(law[at, k], action[at] == k), precision_recall_area(law[at, k], action[at] == k))
    }, c(0, 0))
    expect_close(own$estimate[mine], apply(areas, 1, stats::weighted.mean, table(later$fold), na.rm = TRUE), 1e-12)
    expect_close(own$fold_mean[mine], rowMeans(areas, na.rm = TRUE), 1e-12)
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
  crossed <- cross_validate(visits, "frequencies", folds = 5, from = 1)
  found <- accuracy(crossed, resamples = 2000)
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
  expect_match(never$note, "the action was always or never taken", fixed = TRUE)
  expect_error(accuracy(crossed, from = 99), class = "ibrc_error_input")
  expect_error(accuracy(crossed, action = "none"), class = "ibrc_error_input")
  expect_error(accuracy(crossed, reference = "none"), class = "ibrc_error_input")
  expect_output(print(found), "roc of \"operate\": the action was always or never taken", fixed = TRUE)
  expect_error(accuracy(crossed, resamples = 1), class = "ibrc_error_input")
  expect_identical(accuracy(crossed, action = c("monitor", "monitor"), resamples = 0),
                   accuracy(crossed, action = "monitor", resamples = 0))
})

test_that("a method that knows nothing has areas that say nothing, however many folds there are", {
  for (folds in c(3, 50)) {
    found <- accuracy(cross_validate(visits, "frequencies", folds = folds), action = "monitor", resamples = 20)
    expect_equal(found$estimate[found$score == "roc"], 0.5)
    expect_match(found$note[3:4], "the same probability at every visit of a fold", fixed = TRUE)
  }
  # Of folds that all have an area, the precision of guessing is the share of the action.
  three <- cross_validate(visits, "frequencies", folds = 3)
  found <- accuracy(three, action = "monitor", resamples = 0)
  expect_equal(found$estimate[found$score == "prc"], mean(visits$action[three$scored] == "monitor"))
})

test_that("pure noise is not worse than chance", {
  rocs <- with_seed(1, vapply(1:30, function(i) {
    data <- data.frame(id = rep(1:30, each = 5), time = 1:5, action = sample(c("a", "b"), 150, TRUE), observation = "o")
    accuracy(cross_validate(trajectories(data), "previous_action", folds = 5), resamples = 0)$estimate[3]
  }, 0))
  # Pooled over folds the mean is 0.43.
  expect_lt(abs(mean(rocs) - 0.5), 3 * stats::sd(rocs) / sqrt(30))
  expect_gt(mean(rocs), 0.47)
})

test_that("few trajectories give no interval of any score", {
  data <- data.frame(id = rep(1:4, each = 5), time = 1:5, action = rep(c("a", "b", "b", "a"), 5), observation = "o")
  found <- accuracy(cross_validate(trajectories(data), c("frequencies", "previous_action"), folds = 2), resamples = 20)
  expect_true(all(is.na(found$conf.low)) && all(is.na(found$difference.high)))
  expect_match(found$note, "no interval, as there are fewer than 5 trajectories", fixed = TRUE)
})

test_that("of an action in few trajectories areas have no interval, and lost resamples are said", {
  data <- with_seed(2, data.frame(id = rep(1:30, each = 6), time = rep(1:6, 30),
                                  action = sample(c("a", "b", "c"), 180, TRUE),
                                  observation = sample(c("lo", "hi"), 180, TRUE)))
  data$action[c(17, 60)] <- "rare"
  found <- accuracy(cross_validate(trajectories(data), c("frequencies", "logistic"), folds = 3), resamples = 50)
  rare <- found[found$action %in% "rare", ]
  expect_true(all(is.na(rare$conf.low)) && all(is.na(rare$difference.low)))
  expect_match(rare$note, "no interval, as it was taken or not taken in fewer than 5 trajectories", fixed = TRUE)
  expect_false(anyNA(found$conf.low[!found$action %in% "rare"]))
  data$action[seq(5, 150, by = 24)] <- "seldom"
  found <- accuracy(cross_validate(trajectories(data), "logistic", folds = 3), action = "seldom", resamples = 50)
  expect_match(found$note[3], "in [0-9]+ of 50 resamples some fold had no area")
})

test_that("a reference that failed, or called impossible what was done, has no differences, which is said", {
  bad <- function(visits) stop("no")
  failed <- suppressMessages(suppressWarnings(cross_validate(visits, list(bad = bad, "frequencies"), folds = 2)))
  found <- accuracy(failed, resamples = 0)
  expect_match(found$note[found$method == "frequencies"], "no difference, as the reference failed", fixed = TRUE)
  expect_error(accuracy(failed, reference = "bad"), class = "ibrc_error_input")
  sure <- crossed
  sure$laws$frequencies[] <- rep(c(1, 0, 0), each = nrow(visits))
  sure$laws$visit_number <- sure$laws$frequencies
  found <- accuracy(sure, action = "monitor", resamples = 20)
  logs <- found[found$score == "log_score", ]
  expect_identical(logs$estimate[1:2], c(-Inf, -Inf))
  expect_true(all(is.na(logs$difference)) && all(is.na(logs$difference.low)))
  expect_match(logs$note[3], "as the reference called impossible what was done", fixed = TRUE)
  expect_identical(logs$fold_sd[1], NA_real_)
})

test_that("of two actions the rarer one is scored", {
  data <- as.data.frame(visits)
  data$action <- ifelse(data$action == "monitor", "monitor", "declare")
  found <- accuracy(cross_validate(trajectories(data), "frequencies", folds = 2, from = 1), resamples = 0)
  expect_identical(unique(stats::na.omit(found$action)), names(which.min(table(data$action))))
})
