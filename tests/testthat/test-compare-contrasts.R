test_that("pairs are those with the reference, or all", {
  expect_identical(group_pairs(c("a", "b", "c"), NULL), list(group = c("b", "c"), reference = "a"))
  expect_identical(group_pairs(c("a", "b", "c"), "all")$reference, c("a", "a", "b"))
  expect_refused(group_pairs(c("a", "b"), "z"), "reference")
})

test_that("draws that always hold together are as probable as one of them", {
  draws <- matrix(c(1, 2, 3, -1), 4)
  contrasts <- list(new_contrast(list(term = "x"), draws, 0 * draws, "difference"),
                    new_contrast(list(term = "x"), 0 * draws, draws, "difference"),
                    new_contrast(list(term = "x"), exp(draws), exp(0 * draws), "ratio"))
  expect_identical(joint_probability(contrasts[1]), 0.75)
  expect_identical(joint_probability(contrasts), 0.75)
  expect_refused(new_contrast(list(term = "x"), draws, draws, "ratio"), "scale")
})
