test_that("empty places are filled in their order, and those that are full are left", {
  saved <- list()
  seen <- integer()
  run <- fill_in_rounds(list(10, NULL, 30, NULL), function(i, over) i, function(i) i + 0.5,
                        save = function(results) saved[[length(saved) + 1]] <<- results,
                        look = function(results, these) {
                          seen <<- c(seen, these)
                          TRUE
                        })
  expect_identical(run, list(results = list(10, 2.5, 30, 4.5), interrupted = FALSE))
  expect_identical(saved, list(list(10, 2.5, 30, NULL), list(10, 2.5, 30, 4.5)))
  expect_identical(seen, c(2L, 4L))
  expect_identical(count_filled(saved[[1]]), 3L)
  expect_identical(fill_in_rounds(list(1), stop, stop), list(results = list(1), interrupted = FALSE))
})

test_that("a run ends where it is told to, where a piece was interrupted, and where it is interrupted itself", {
  none <- vector("list", 4)
  told <- fill_in_rounds(none, function(i, over) i, identity, look = function(results, these) these < 2)
  expect_identical(told, list(results = list(1L, 2L, NULL, NULL), interrupted = FALSE))
  answered <- fill_in_rounds(none, function(i, over) i, function(i) if (i != 3) i)
  expect_identical(answered, list(results = list(1L, 2L, NULL, NULL), interrupted = TRUE))
  kept <- 0
  stopped <- fill_in_rounds(none, function(i, over) i, function(i) {
    if (i == 2) signalCondition(structure(class = c("interrupt", "condition"), list()))
    i
  }, save = function(results) kept <<- count_filled(results))
  expect_identical(stopped, list(results = list(1L, NULL, NULL, NULL), interrupted = TRUE))
  expect_identical(kept, 1L)
})

test_that("other processes do the same", {
  skip_if_not_installed("future.apply")
  skip_on_cran()
  old <- future::plan(future::multisession, workers = 2)
  withr::defer(future::plan(old))
  rounds <- list()
  run <- fill_in_rounds(vector("list", 5), function(i, over) c(i, over), function(piece) piece * 2,
                        look = function(results, these) {
                          rounds[[length(rounds) + 1]] <<- these
                          TRUE
                        })
  expect_identical(run$results, lapply(1:5, function(i) c(i, TRUE) * 2))
  expect_identical(rounds, list(1:2, 3:4, 5L))
})

test_that("what is left is told from what this run has done", {
  expect_message(say_rounds("fit", 3, 5, Sys.time() - 10, before = 1), "^fit 3 of 5, about 1[0-9] s left")
  expect_message(say_rounds("fit", 0, 5, Sys.time()), "^fit 0 of 5")
})
