test_that("a method's outcome tells what failed, what was warned of, and the worst verdict", {
  stream <- streams_from_seed(1)[[1]]
  in_words <- function(e, phase) paste(phase, conditionMessage(e))
  tried <- function(method, use = identity) try_method(method, 1, use, stream, in_words = in_words)
  fine <- tried(function(visits) visits + 1, function(model) 2 * model)
  expect_identical(fine[c("value", "failure", "warning", "verdict")],
                   list(value = 4, failure = NA_character_, warning = NA_character_, verdict = NA_character_))
  expect_identical(tried(function(visits) stop("no"))$failure, "learn no")
  expect_identical(tried(function(visits) visits, function(model) stop("no"))$failure, "use no")
  warned <- tried(function(visits) {
    for (i in 1:2) warning("odd")
    1
  })
  expect_identical(warned$warning, "odd")
  rows <- rbind(verdict_rows("settled", "a", "b", "ok", ""), verdict_rows("whole", "a", "b", "caution", "c"))
  expect_identical(tried(function(visits) list(verdict = rows))$verdict, "caution")
  expect_null(tried(function(visits) list(interrupted = TRUE)))
  expect_identical(tried(function(visits) getOption("ibrc.cores"))$value, getOption("ibrc.cores", 1))
  expect_identical(try_method(function(visits) getOption("ibrc.cores"), 1, identity, stream, cores = 3)$value, 3)
})

test_that("an error is a failure whatever its message is", {
  failure <- function(condition) {
    try_method(function(visits) stop(condition), 1, identity, streams_from_seed(1)[[1]])$failure
  }
  none <- structure(class = c("odd", "error", "condition"), list())
  expect_identical(failure(none), "an error without a message")
  expect_identical(failure(errorCondition(NA_character_)), "an error without a message")
  expect_identical(failure(errorCondition(c("one", "two"))), "one two")
  visits <- trajectories(data.frame(id = rep(1:6, each = 3), time = 1:3, action = c("a", "b", "a"), observation = "o"))
  methods <- list("frequencies", odd = function(visits) stop(none), na = function(visits) stop(errorCondition(NA)))
  crossed <- suppressMessages(suppressWarnings(cross_validate(visits, methods, folds = 2)))
  expect_identical(whole_methods(crossed), "frequencies")
})

test_that("random numbers of a method go by its name", {
  expect_identical(method_streams(1, "a", 3), method_streams(1, "a", 3))
  expect_false(identical(method_streams(1, "a", 1), method_streams(1, "b", 1)))
  expect_false(identical(method_streams(1, "a", 1), method_streams(2, "a", 1)))
})

test_that("remarks name method, place and how often", {
  status <- data.frame(method = rep(c("a", "b"), each = 2), verdict = c("ok", "caution", NA, NA),
                       warning = c(NA, NA, NA, "slow"))
  expect_identical(remark_lines(status, "fold"), c("a: verdict \"caution\" in 1 of 2 folds",
                                                   "b warned in 1 of 2 folds: slow"))
  expect_identical(unname(worst_verdicts(status)), c("caution", NA))
})
