test_that("where to look follows from bounds and where to begin", {
  start <- c(free = 2, positive = 3, share = 0.4, above = 5, nought = 0)
  ends <- function(fill, ...) replace(stats::setNames(rep(fill, 5), names(start)), names(c(...)), c(...))
  law <- search_law(start, ends(-Inf, positive = 0, share = 0, above = 1), ends(Inf, share = 1))
  expect_identical(vapply(unclass(law), function(entry) entry$distribution, "", USE.NAMES = FALSE),
                   c("normal", "lognormal", "uniform", "normal", "normal"))
  draws <- prior_natural(law, with_seed(1, prior_draw(law, 500)))
  expect_gt(min(draws[, 2]), 0)
  expect_true(all(draws[, 3] > 0 & draws[, 3] < 1))
  expect_gt(min(draws[, 4]), 1)
})

# The logarithm of a normal density of natural values: what a search is to find is known.
hill <- function(mean, sd) function(theta) -sum(((theta - mean) / sd)^2) / 2

test_that("tops and their standard errors are those of a hill that is known", {
  mean <- c(a = 3, b = 2, c = 0.3)
  sd <- c(0.5, 0.02, 0.01)
  law <- search_law(c(a = 1, b = 1, c = 0.5), c(a = -Inf, b = 0, c = 0), c(a = Inf, b = Inf, c = 1))
  run <- list(starts = 2, seed = 1)
  found <- searched(hill(mean, sd), law, c(1, 1, 0.5), FALSE, "maximum_likelihood", run)
  expect_true(found$converged)
  expect_equal(found$theta, mean, tolerance = 1e-4)
  expect_equal(found$estimates$std.error, sd, tolerance = 1e-3)
  expect_lt(abs(found$log_lik), 1e-6)
  expect_identical(found$details$unseen, 0L)
})

test_that("directions that do not matter are counted, and have no standard error", {
  law <- search_law(c(a = 1, b = 1, c = 1), c(a = -Inf, b = -Inf, c = -Inf), c(a = Inf, b = Inf, c = Inf))
  sum_only <- function(theta) -(theta[["a"]] + theta[["b"]] - 1)^2 * 50 - (theta[["c"]] - 2)^2
  found <- searched(sum_only, law, c(1, 1, 1), FALSE, "maximum_likelihood", list(starts = 1, seed = 1))
  expect_identical(found$details$unseen, 1L)
  expect_identical(is.na(found$estimates$std.error), c(TRUE, TRUE, FALSE))
  expect_equal(found$estimates$std.error[3], sqrt(1 / 2), tolerance = 1e-3)
  expect_match(found$notes, "1 direction", all = FALSE)
  # With a prior there is a top, where it is believed.
  prior <- new_ibrc_prior(list(new_prior_entry("a", "normal", c(mean = 1, sd = 1)),
                               new_prior_entry("b", "normal", c(mean = 0, sd = 1)),
                               new_prior_entry("c", "normal", c(mean = 0, sd = 1))))
  found <- searched(sum_only, prior, c(0, 0, 0), TRUE, "maximum_likelihood", list(starts = 1, seed = 1))
  expect_identical(found$details$unseen, 0L)
  expect_equal(found$theta, c(a = 1, b = 0, c = 4 / 3), tolerance = 1e-4)
})

test_that("heights that are infinite or no numbers are ruled out, and all of them is an error", {
  law <- search_law(c(a = 1), c(a = -Inf), c(a = Inf))
  for (height in list(function(theta) NaN, function(theta) -Inf, function(theta) Inf)) {
    error <- expect_error(searched(height, law, 1, FALSE, "maximum_likelihood", list(starts = 2, seed = 1)),
                          class = "ibrc_error_impossible")
    expect_identical(error$argument, "start")
    error <- expect_error(sample_law(height, law, 2, 20, 10, 1), class = "ibrc_error_impossible")
    expect_identical(error$argument, "prior")
  }
  wall <- function(theta) if (theta[["a"]] < 0.5) NaN else -(theta[["a"]] - 1)^2
  found <- searched(wall, law, 2, FALSE, "maximum_likelihood", list(starts = 2, seed = 1))
  expect_equal(found$theta, c(a = 1), tolerance = 1e-4)
})

test_that("chains draw from the posterior that is known", {
  # Normal in a, with a normal prior: all of it is known.
  law <- new_ibrc_prior(list(new_prior_entry("a", "normal", c(mean = 0, sd = 2))))
  draws <- sample_law(hill(3, 1), law, 4, 2000, 1000, 1)
  expect_identical(dim(draws), c(1000L, 4L, 1L))
  table <- draws_summary(draws)
  expect_equal(table$estimate, 3 * 4 / 5, tolerance = 0.1)
  expect_equal(table$std.error, sqrt(4 / 5), tolerance = 0.1)
  expect_equal(c(table$conf.low, table$conf.high), 2.4 + c(-1.96, 1.96) * sqrt(4 / 5), tolerance = 0.15)
  expect_lt(table$rhat, 1.02)
  expect_null(draws_notes(transform(table, rhat = 1, ess = 1000)))
  expect_match(draws_notes(transform(table, rhat = 1.2)), "not settled")
  # A gamma posterior of a price, on its own scale: its prior's density counts once, there.
  law <- new_ibrc_prior(list(new_prior_entry("b", "lognormal", c(meanlog = 0, sdlog = 1))))
  height <- function(theta) 5 * log(theta[["b"]]) - 2 * theta[["b"]]
  grid <- exp(seq(-8, 4, length.out = 4000))
  weight <- grid^5 * exp(-2 * grid) * stats::dlnorm(grid) * grid
  draws <- sample_law(height, law, 4, 2000, 1000, 2)
  expect_equal(mean(draws), sum(grid * weight) / sum(weight), tolerance = 0.05)
})

test_that("draws are one row each and term, and repeatable by their seed", {
  law <- new_ibrc_prior(list(new_prior_entry("a", "normal", c(mean = 0, sd = 2)),
                             new_prior_entry("b", "uniform", c(lower = 0, upper = 1))))
  height <- hill(c(1, 0.5), c(1, 0.1))
  draws <- sample_law(height, law, 2, 60, 20, 3)
  table <- draws_table(draws)
  expect_identical(names(table), c(".chain", ".iteration", ".draw", "term", "value"))
  expect_identical(nrow(table), 160L)
  at <- table[table$.chain == 2 & table$term == "b", ]
  expect_identical(at$value, as.vector(draws[, 2, "b"]))
  expect_identical(at$.draw, 41:80)
  state <- with_seed(1, {
    before <- .Random.seed
    again <- sample_law(height, law, 2, 60, 20, 3)
    identical(before, .Random.seed)
  })
  expect_true(state)
  expect_identical(again, draws)
})
