test_that("R-hat and effective draws are those of the package posterior, one row per variable", {
  draws <- with_seed(1, array(stats::rnorm(200 * 4 * 2), c(200, 4, 2)))
  # Chains of which one lies apart, or has another spread.
  draws[, 2, 1] <- draws[, 2, 1] + 2
  draws[, 3, 2] <- 5 * draws[, 3, 2]
  found <- mixing_of(draws)
  expect_identical(colnames(found), mixing_names)
  for (k in 1:2) {
    expect_identical(unname(found[k, ]), c(posterior::rhat(draws[, , k]), posterior::ess_bulk(draws[, , k]),
                                           posterior::ess_tail(draws[, , k])))
  }
  expect_gt(min(found[, "rhat"]), 1.05)
  expect_identical(dim(mixing_of(draws[, , 0, drop = FALSE])), c(0L, 3L))
})

test_that("what is strange has none, and nobody is warned of draws that are better than independent ones", {
  draws <- with_seed(2, array(stats::rnorm(40 * 2 * 2), c(40, 2, 2)))
  draws[, , 1] <- 1
  draws[3, 1, 2] <- NA
  expect_true(all(is.na(mixing_of(draws))))
  swinging <- with_seed(3, array(stats::filter(matrix(stats::rnorm(200), 100), -0.99, "recursive"), c(100, 2, 1)))
  expect_warning(posterior::ess_bulk(swinging[, , 1]), "capped")
  expect_silent(mixing_of(swinging))
})
