test_that("every number of actions has distinct colours", {
  for (n in c(1, 3, 8, 12)) expect_length(unique(action_palette(n)), n)
})

test_that("labels read as words", {
  expect_identical(as_label("declare_healthy"), "declare healthy")
})
