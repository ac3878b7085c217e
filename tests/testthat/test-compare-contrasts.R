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

test_that("a comparison prints probabilities that draws can speak for, and numbers with their digits", {
  contrast <- function(a, b) new_contrast(list(term = "alpha", group = "south", reference = "north"), a, b, "ratio")
  made <- new_ibrc_comparison(list(contrast(c(1, 2, 3), c(10, 20, 30)), contrast(c(30, 20, 40), c(0.01, 0.02, 0.03))),
                              0.95, TRUE, NULL, function(row) "ok")
  said <- utils::capture.output(print(made))
  expect_match(said[2], "< 0.001", fixed = TRUE)
  expect_match(said[2], "0.100", fixed = TRUE)
  expect_match(said[3], "> 0.999", fixed = TRUE)
  expect_match(said[3], "1,333", fixed = TRUE)
  expect_no_match(paste(said, collapse = " "), "0.0000", fixed = TRUE)
  expect_match(paste(said, collapse = " "), "sign of their estimate is > 0.999", fixed = TRUE)
})
