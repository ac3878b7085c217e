test_that("places are called by what they are", {
  setting <- diag_setting()
  at <- function(...) vapply(with_own_labels(belief_places(..., setting, TRUE)), `[[`, "", "at")
  expect_identical(at(NULL), c("start (even odds)", "80% healthy", "80% diseased"))
  expect_identical(at(list(c(0.5, 0.5), sick = c(0.1, 0.9), c(1, 0))), c("even odds", "sick", "sure of healthy"))
  expect_identical(at(rbind(c(0.25, 0.75), c(0.25, 0.75))), c("75% diseased", "75% diseased 1"))
  expect_identical(at(data.frame(healthy = c(0.5, 0), diseased = c(0.5, 1), row.names = c("a", "b"))), c("a", "b"))
  expect_identical(belief_words(c(0.125, 0.8, 0.075), c("a", "b_c", "d")), "12.5% a, 80% b c, 7.5% d")
  after <- observed_places(list(c("positive", NA), no = "negative"), NULL, setting)
  expect_identical(vapply(after, `[[`, "", "at"), c("after positive, nothing seen", "after no"))
  expect_identical(after[[1]]$actions, c("monitor", "monitor"))
  truth <- adni_like_truth()$setting
  expect_identical(vapply(default_places(truth, TRUE), `[[`, "", "at")[1:2], c("start", "even odds"))
  expect_length(default_places(truth, FALSE), 5)
})

test_that("a belief and observations of one label are two places", {
  fit <- clinic_fit()
  ask <- function(...) {
    effects <- decision_effects(fit, observations = list("positive", positive = c("positive", "positive")), draws = 5,
                                nsim = 0, ...)
    effects[effects$quantity == "probability" & !is.na(effects$reference), ]
  }
  same <- ask(list("after positive" = c(0.9, 0.1)))
  expect_identical(unique(same$at), c("after positive", "after positive 1", "after positive 2"))
  other <- ask(list(sure = c(0.9, 0.1)))
  expect_identical(unique(other$at), c("sure", "after positive", "after positive 1"))
  expect_equal(same$estimate, other$estimate)
})
