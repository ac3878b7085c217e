words <- iohmm_words_of()

test_that("one number stands for every entry of every law, and nothing for no pseudo-counts", {
  none <- check_iohmm_prior(NULL, words)
  expect_identical(none[c("start", "transition", "stay")], list(start = 0, transition = 0, stay = 0))
  expect_identical(unname(none$emission), matrix(0, 2, 4))
  half <- check_iohmm_prior(0.5, words)
  expect_identical(half[c("start", "transition", "stay")], list(start = 0.5, transition = 0.5, stay = 0))
  expect_true(all(half$emission == 0.5))
  expect_identical(dimnames(half$emission), list(words$actions, words$observations))
})

test_that("a matrix of pseudo-counts is read by its names where it has any", {
  counts <- matrix(1:8 + 0, 2, 4, dimnames = list(c("u2", "u1"), c("x4", "x3", "x2", "x1")))
  by_name <- check_iohmm_prior(iohmm_prior(emission = counts), words)$emission
  for (u in words$actions) for (x in words$observations) expect_identical(by_name[[u, x]], counts[[u, x]])
  by_place <- check_iohmm_prior(iohmm_prior(emission = unname(counts)), words)$emission
  expect_identical(unname(by_place), unname(counts))
  dimnames(counts)[[1]] <- c("u1", "u9")
  expect_error(check_iohmm_prior(iohmm_prior(emission = counts), words), "u9", class = "ibrc_error_input")
})

test_that("kernels read the matrix with observations fastest", {
  counts <- matrix(1:8 + 0, 2, 4)
  possible <- matrix(c(TRUE, FALSE, TRUE, TRUE, FALSE, TRUE, TRUE, TRUE), 2, 4)
  kernel <- prior_for_kernel(check_iohmm_prior(iohmm_prior(1, 2, counts, stay = 3), words), possible, TRUE)
  expect_identical(kernel[c("start", "transition", "stay", "shared")],
                   list(start = 1, transition = 2, stay = 3, shared = 1L))
  for (u in 1:2) for (x in 1:4) {
    expect_identical(kernel$emission[(u - 1) * 4 + x], counts[u, x])
    expect_identical(kernel$possible[(u - 1) * 4 + x], as.integer(possible[u, x]))
  }
})

test_that("pseudo-counts are finite and not negative, and are named when they are not", {
  for (argument in c("start", "transition", "emission", "stay")) {
    for (bad in list(-1, NA, Inf, "1", NULL, c(1, 2))) {
      error <- expect_error(do.call(iohmm_prior, stats::setNames(list(bad), argument)), class = "ibrc_error_input")
      expect_identical(error$argument, argument)
    }
  }
  for (bad in list(matrix(-1, 1, 1), matrix("a", 1, 1), matrix(Inf, 1, 1))) {
    expect_error(iohmm_prior(emission = bad), "emission", class = "ibrc_error_input")
  }
})

test_that("a prior prints each law's pseudo-counts on a line", {
  said <- format(iohmm_prior(1, 0.5, matrix(c(0, 0.25, 2, 1), 2), stay = 2))
  expect_match(said, "start +1$", all = FALSE)
  expect_match(said, "transition +0.5, and 2 for staying$", all = FALSE)
  expect_match(said, "emission +0.* to 2", all = FALSE)
  expect_no_match(format(iohmm_prior(emission = 3)), "staying| to ")
  prior <- iohmm_prior(1)
  expect_output(expect_identical(withVisible(print(prior)), list(value = prior, visible = FALSE)), "Pseudo-counts")
})
