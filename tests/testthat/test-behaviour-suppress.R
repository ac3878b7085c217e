# All counts that would be shown in this way, with this total.
possible_counts <- function(shown, total, below) {
  range <- lapply(shown, function(text) {
    if (text == paste0("<", below)) seq_len(below - 1)
    else if (text == paste0(">=", below)) below:total
    else as.numeric(text)
  })
  all <- as.matrix(expand.grid(range))
  all[rowSums(all) == total, , drop = FALSE]
}

# What is wrong with how counts are shown, or nothing.
betrayed <- function(x, below) {
  shown <- suppress_counts(x, below)
  small <- x > 0 & x < below
  if (any(shown[small] != paste0("<", below)) || any(shown[x == 0] != "0")) return("not hidden")
  if (!any(small) && any(shown != x)) return("hidden for nothing")
  if (attr(shown, "total") != sum(x)) return(NULL)
  left <- possible_counts(shown, sum(x), below)
  if (any(apply(left[, small, drop = FALSE], 2, function(one) length(unique(one))) < below - 1)) "worked out"
}

test_that("a small count could be any small number for whoever knows the total", {
  cases <- as.matrix(expand.grid(c(0, 1, 3, 5, 6), c(1:3, 7), c(1, 2, 5, 12)))
  for (below in c(3, 5)) expect_null(unlist(apply(cases, 1, betrayed, below, simplify = FALSE)))
  # The check itself finds what is not protected.
  expect_identical(nrow(possible_counts(c("<5", ">=5"), 6, 5)), 1L)
})

test_that("no more is hidden than needed", {
  hidden <- suppress_counts(c(north = 120, south = 3, east = 41))
  expect_identical(as.vector(hidden), c("120", "<5", ">=5"))
  expect_named(hidden, c("north", "south", "east"))
  expect_identical(attr(hidden, "total"), "164")
  # A group of as many as the hidden one would bound it.
  expect_identical(as.vector(suppress_counts(c(4, 10, 10))), c("<5", ">=5", ">=5"))
  expect_identical(attr(suppress_counts(c(1, 5)), "total"), ">=5")
  expect_identical(attr(suppress_counts(c(1, 2)), "total"), "<5")
  expect_identical(as.vector(suppress_counts(c(2, 3, 2, 3, 12345))), c("<5", "<5", "<5", "<5", "12,345"))
  expect_identical(as.vector(suppress_counts(c(7, NA))), c("7", NA))
})

test_that("columns of a data frame are hidden each for itself", {
  table <- data.frame(clinic = c("a", "b", "c"), n = c(120L, 3L, 41L), m = c(9, 8, 7))
  out <- suppress_counts(table, columns = c("n", "m"))
  expect_identical(out, data.frame(clinic = c("a", "b", "c"), n = c("120", "<5", ">=5"), m = c("9", "8", "7")))
})

test_that("what is not a count is refused", {
  expect_error(suppress_counts("3"), class = "ibrc_error_input")
  expect_error(suppress_counts(c(1, 2.5)), class = "ibrc_error_input")
  expect_error(suppress_counts(-1), class = "ibrc_error_input")
  expect_error(suppress_counts(3, below = 1), class = "ibrc_error_input")
  expect_error(suppress_counts(3, columns = "n"), class = "ibrc_error_input")
  table <- data.frame(n = 1)
  expect_error(suppress_counts(table), "columns", class = "ibrc_error_input")
  expect_error(suppress_counts(table, columns = "m"), class = "ibrc_error_input")
  expect_error(suppress_counts(table, columns = 1), class = "ibrc_error_input")
})

test_that("a fit prints the sizes of its groups, small ones hidden", {
  fit <- clinic_fit()
  expect_output(print(fit), "Trajectories: north 80, south 80")
  fit$group_sizes[] <- c(157L, 3L)
  expect_output(print(fit), "A fit to 160 trajectories")
  expect_output(print(fit), "Trajectories: north >=5, south <5")
  expect_output(print(fit, suppress = NULL), "north 157, south 3")
  expect_output(print(summary(fit, suppress = 200)), "north <200, south <200")
  fit$group_sizes[] <- c(5L, 1L)
  expect_output(print(fit), "A fit to >=5 trajectories")
  expect_error(summary(fit, suppress = 1), class = "ibrc_error_input")
  expect_no_match(utils::capture.output(print(pooled_fit())), "Trajectories:")
})
