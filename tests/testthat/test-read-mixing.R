# One row per variable, by the package that defines them.
by_posterior <- function(draws) {
  out <- t(apply(draws, 3, function(x) {
    x <- matrix(x, dim(draws)[1])
    suppressWarnings(c(posterior::rhat(x), posterior::ess_bulk(x), posterior::ess_tail(x)))
  }))
  dimnames(out) <- list(NULL, mixing_names)
  out
}

# Chains that remember; `stay`: the share of steps that are not taken.
remembering <- function(n, chains, variables, memory, stay = 0) {
  size <- c(n, chains, variables)
  out <- array(stats::filter(matrix(stats::rnorm(prod(size)), n), memory, "recursive"), size)
  for (i in seq_len(n)[-1]) {
    stays <- stats::runif(chains * variables) < stay
    out[i, , ][stays] <- out[i - 1, , ][stays]
  }
  out
}

test_that("R-hat and effective draws are those of the package posterior", {
  with_seed(1, {
    for (n in c(2, 3, 15:19, 50, 333)) for (memory in c(-0.5, 0, 0.9)) for (chains in c(1, 4)) {
      draws <- remembering(n, chains, 5, memory, stay = 0.3)
      expect_equal(mixing_of(draws), by_posterior(draws), tolerance = 1e-12)
    }
    # Chains of which one lies apart, or has another spread.
    draws <- remembering(200, 4, 2, 0.5)
    draws[, 2, 1] <- draws[, 2, 1] + 2
    draws[, 3, 2] <- 5 * draws[, 3, 2]
    expect_equal(mixing_of(draws), by_posterior(draws), tolerance = 1e-12)
    expect_gt(min(mixing_of(draws)[, "rhat"]), 1.05)
  })
})

test_that("what is strange is left to posterior", {
  draws <- with_seed(2, remembering(40, 2, 8, 0.5))
  draws[, , 1] <- 1
  draws[3, 1, 2] <- NA
  draws[3, 1, 3] <- Inf
  draws[, , 4] <- draws[, , 4] * 1e-20
  draws[, , 5] <- rep(c(-1, 1), each = 40)
  draws[, , 6] <- rep(c(-1, 1), 40)
  draws[, , 7] <- round(draws[, , 7])
  expect_equal(mixing_of(draws), by_posterior(draws), tolerance = 1e-12)
  # More effective draws than it believes, of which nobody need be warned.
  for (n in c(12, 100)) {
    draws <- with_seed(3, remembering(n, 2, 1, -0.99))
    suppressWarnings(expect_warning(c(posterior::ess_bulk(draws[, , 1]), posterior::ess_tail(draws[, , 1])), "capped"))
    expect_silent(found <- mixing_of(draws))
    expect_equal(found, by_posterior(draws), tolerance = 1e-12)
  }
  expect_identical(dim(mixing_of(draws[, , 0, drop = FALSE])), c(0L, 3L))
})

test_that("many variables cost less than with posterior", {
  draws <- with_seed(4, remembering(500, 4, 40, 0.8, stay = 0.5))
  mixing_of(draws[, , 1:2])
  cost <- function(code) sum(system.time(code)[1:2])
  expect_lt(cost(for (i in 1:3) mixing_of(draws)), 0.8 * cost(for (i in 1:3) by_posterior(draws)))
})
