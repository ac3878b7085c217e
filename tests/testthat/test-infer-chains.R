test_that("draws are laid flat one chain after the other, with their terms", {
  draws <- array(1:12, c(3, 2, 2), list(NULL, NULL, c("alpha", "eta")))
  expect_identical(flat_draws(draws), cbind(alpha = 1:6, eta = 7:12))
  expect_identical(flat_draws(unname(draws)), cbind(1:6, 7:12))
  expect_identical(flat_draws(draws[1, , , drop = FALSE]), cbind(alpha = c(1L, 4L), eta = c(7L, 10L)))
})

test_that("an interrupt leaves the chain at the last whole step, also while somebody looks", {
  at <- function(iteration, iter = 5) list(state = list(iteration = iteration, iter = iter))
  press <- function() signalCondition(structure(class = c("interrupt", "condition"), list()))
  onward <- function(chain) at(chain$state$iteration + 1, chain$state$iter)
  seen <- numeric()
  look <- function(chain) seen <<- c(seen, chain$state$iteration)
  expect_identical(until_interrupted(at(0, 3), onward, look), c(at(3, 3), interrupted = FALSE))
  expect_identical(seen, c(1, 2, 3))
  torn <- function(chain) {
    if (chain$state$iteration == 2) press()
    onward(chain)
  }
  expect_identical(until_interrupted(at(0), torn, look), c(at(2), interrupted = TRUE))
  expect_identical(until_interrupted(at(0), onward, function(chain) if (chain$state$iteration == 2) press()),
                   c(at(2), interrupted = TRUE))
  # Nothing is left to do.
  expect_identical(until_interrupted(at(5), torn, look), c(at(5), interrupted = FALSE))
})
