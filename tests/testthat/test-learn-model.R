test_that("what was done and seen before is coded by place", {
  expect_identical(earlier(c(0L, 1L, NA, 0L), c(1L, 2L, 3L, 1L), 1L, 2L), c(0L, 1L, 2L, 0L))
  expect_identical(earlier(c(0L, -1L, 1L, 0L), c(1L, 2L, 3L, 4L), 1L, 2L), c(0L, 1L, 3L, 2L))
  expect_identical(earlier(c(0L, 1L, 1L), c(1L, 2L, 3L), 2L, 2L), c(0L, 0L, 1L))
})

test_that("words are those given, or those in the visits", {
  visits <- trajectories(data.frame(id = c(1, 1), time = 1:2, action = c("b", "a"), observation = c("y", NA)))
  expect_identical(learned_words(visits)$actions, c("a", "b"))
  expect_identical(learned_words(visits, actions = c("b", "a", "c"))$actions, c("b", "a", "c"))
  expect_error(learned_visits(visits, learned_words(visits, actions = c("a", "c"))), class = "ibrc_error_data")
})

test_that("rows come back in the order they were given", {
  visits <- simulate(plan_agent(tiger_setting(), bounded_agent(alpha = 20), resolution = 10), 20, seed = 1, horizon = 4)
  mixed <- visits[order(visits$time, visits$id), ]
  model <- fit_baseline(visits, "visit_number")
  expect_equal(predict(model, mixed)[order(mixed$id, mixed$time), ], predict(model, visits), ignore_attr = TRUE)
})
