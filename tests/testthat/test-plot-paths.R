test_that("visits that share belief and action share a mark, and others stand beside it", {
  path <- data.frame(panel = "1", agent = "fitted", visit = 1:5, x = c(0, 0, 0, 0.4, 0), y = c(0, 0, 0, 0.3, 0),
                     mark = c("u", "u", "w", "u", "u"))
  placed <- place_marks(path)
  expect_identical(placed$times, c(3L, 3L, 1L, 1L, 3L))
  expect_identical(placed[c(2, 5), c("x", "y")], placed[c(1, 1), c("x", "y")], ignore_attr = TRUE)
  expect_identical(unlist(placed[1, c("x", "y")], use.names = FALSE), c(0, 0))
  expect_close(sqrt(placed$x[3]^2 + placed$y[3]^2), 0.08)
  expect_gt(placed$y[3], 0)
  # Arrows join places, not marks of one place.
  expect_identical(arrow_rows(placed, 0.03)$visit, c(3L, 4L))
})

test_that("visits are counted from the first, about five of them marked", {
  expect_identical(visit_breaks(c(-3.6, -0.4)), c(1, 2, 3))
  expect_identical(visit_breaks(c(-20.6, -0.4)), c(1, 5, 9, 13, 17))
})

test_that("tints are lighter, and as many", {
  expect_identical(tinted(c("#000000", "#FFFFFF"), 0.5), c("#808080", "#FFFFFF"))
})
