test_that("Brier and log scores are those worked by hand", {
  law <- rbind(c(0.8, 0.2), c(0.3, 0.7), c(0.5, 0.5))
  action <- c(1L, 1L, 2L)
  expect_close(brier_score(law, action), (0.04 + 0.49 + 0.25) / 3, 1e-15)
  expect_close(log_score(law, action), mean(log(c(0.8, 0.3, 0.5))), 1e-15)
  expect_close(brier_score(law, action, c(1, 0, 2)), (0.04 + 2 * 0.25) / 3, 1e-15)
  expect_identical(log_score(rbind(c(1, 0), c(0.5, 0.5)), c(2L, 1L)), -Inf)
  expect_close(log_score(rbind(c(1, 0), c(0.5, 0.5)), c(2L, 1L), c(0, 1)), log(0.5), 1e-15)
})

test_that("the area under ROC counts ties half", {
  chance <- c(0.9, 0.8, 0.8, 0.3, 0.1)
  taken <- c(TRUE, FALSE, TRUE, TRUE, FALSE)
  by_pairs <- mean(outer(chance[taken], chance[!taken], function(x, y) (x > y) + (x == y) / 2))
  expect_close(roc_area(chance, taken), by_pairs, 1e-15)
  expect_close(roc_area(rep(0.4, 5), taken), 0.5, 1e-15)
  expect_identical(roc_area(chance, rep(TRUE, 5)), NA_real_)
  expect_close(roc_area(c(chance, 0.9), c(taken, TRUE)), roc_area(chance, taken, c(2, 1, 1, 1, 1)), 1e-15)
})

test_that("the area under precision and recall is that of a fine division of equal chances", {
  set.seed(1)
  chance <- round(stats::runif(40), 1)
  taken <- stats::runif(40) < chance
  # Each group of equal chances in steps so small that the sum is the integral.
  fine <- function(chance, taken, n = 20000) {
    area <- hits <- misses <- 0
    for (level in sort(unique(chance), decreasing = TRUE)) {
      h <- sum(taken & chance == level)
      m <- sum(!taken & chance == level)
      t <- (seq_len(n) - 0.5) / n
      area <- area + mean((hits + t * h) / (hits + t * h + misses + t * m)) * h
      hits <- hits + h
      misses <- misses + m
    }
    area / hits
  }
  expect_close(precision_recall_area(chance, taken), fine(chance, taken), 1e-6)
  expect_close(precision_recall_area(rep(0.2, 40), taken), mean(taken), 1e-12)
  expect_identical(precision_recall_area(chance, rep(FALSE, 40)), NA_real_)
  # Where it was always taken there is nothing to find.
  expect_identical(precision_recall_area(c(0.2, 0.4, 0.9), rep(TRUE, 3)), NA_real_)
  expect_close(precision_recall_area(as.numeric(taken), taken), 1, 1e-12)
  weight <- sample(0:3, 40, TRUE)
  each <- rep(seq_len(40), weight)
  expect_close(precision_recall_area(chance, taken, weight), precision_recall_area(chance[each], taken[each]), 1e-12)
})

test_that("the curve that is drawn has the area that is said", {
  area_of <- function(points) {
    points <- points[-nrow(points), ]
    sum(diff(points$recall) * (points$precision[-1] + points$precision[-nrow(points)]) / 2)
  }
  # Ten visits at 0.9, nine of them taken, and ninety at 0.1: 0.602.
  chance <- rep(c(0.9, 0.1), c(10, 90))
  taken <- rep(c(TRUE, FALSE, TRUE, FALSE), c(9, 1, 9, 81))
  expect_lt(abs(precision_recall_area(chance, taken) - 0.602), 0.001)
  points <- precision_recall_points(chance, taken, rep(1, 100))
  expect_lt(abs(area_of(points) - precision_recall_area(chance, taken)), 0.002)
  expect_equal(points$precision[c(1, 202)], c(0.9, 0.18))
  # A constant is a line at its share.
  expect_equal(precision_recall_points(rep(0.3, 100), taken, rep(1, 100))$precision, rep(0.18, 202))
  set.seed(3)
  chance <- round(stats::runif(300), 2)
  taken <- stats::runif(300) < chance
  fold <- rep(1:3, c(50, 100, 150))
  by_fold <- vapply(split(seq_along(fold), fold), function(at) precision_recall_area(chance[at], taken[at]), 0)
  points <- precision_recall_points(chance, taken, fold)
  expect_lt(abs(area_of(points) - stats::weighted.mean(by_fold, c(50, 100, 150))), 0.002)
  expect_equal(points$base[1], mean(taken))
  expect_null(precision_recall_points(chance, rep(TRUE, 300), fold))
})

test_that("areas are those of other packages", {
  set.seed(2)
  for (digits in c(1, 8)) {
    chance <- round(stats::runif(200), digits)
    taken <- stats::runif(200) < chance^2
    if (requireNamespace("PRROC", quietly = TRUE)) {
      theirs <- PRROC::pr.curve(scores.class0 = chance, weights.class0 = as.numeric(taken))$auc.integral
      expect_close(precision_recall_area(chance, taken), theirs, 1e-8)
    }
    if (requireNamespace("pROC", quietly = TRUE)) {
      theirs <- as.numeric(pROC::auc(pROC::roc(taken, chance, quiet = TRUE, direction = "<", levels = c(FALSE, TRUE))))
      expect_close(roc_area(chance, taken), theirs, 1e-10)
    }
  }
  skip_if_not_installed("PRROC")
  skip_if_not_installed("pROC")
})

test_that("reliability is what was seen beside what was said", {
  chance <- rep(c(0.1, 0.5, 0.9), each = 10)
  taken <- rep(c(FALSE, TRUE, TRUE), each = 10)
  points <- reliability_points(chance, taken, bins = 3)
  expect_close(points$said, c(0.1, 0.5, 0.9), 1e-12)
  expect_close(points$seen, c(0, 1, 1), 1e-12)
  expect_identical(sum(points$visits), 30)
  one <- reliability_points(rep(0.3, 8), rep(c(TRUE, FALSE), 4))
  expect_close(unlist(one), c(said = 0.3, seen = 0.5, visits = 8), 1e-12)
})
