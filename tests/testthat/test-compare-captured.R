in_frame <- function(code, ...) eval(code, list2env(list(...), parent = globalenv()))

test_that("functions differ by what they captured, and by nothing else", {
  make <- function(k) function(visits) fit_baseline(visits, "logistic", last = k)
  expect_identical(captured_hash(make(1)), captured_hash(make(1)))
  expect_false(captured_hash(make(1)) == captured_hash(make(3)))
  one <- make(1)
  before <- captured_hash(one)
  # Compiled, as R does after a few calls, it is the same.
  expect_identical(captured_hash(compiler::cmpfun(one)), before)
})

test_that("what a function names around it counts, through other functions too", {
  code <- quote(function(visits) inner(visits, function(j) j))
  through <- function(k, other = 1) {
    frame <- list2env(list(k = k, other = other, j = other, visits = other), parent = globalenv())
    frame$inner <- eval(quote(function(visits, f) if (is.null(visits)) inner(1, f) else k), frame)
    eval(code, frame)
  }
  expect_identical(captured_hash(through(1)), captured_hash(through(1)))
  expect_false(captured_hash(through(1)) == captured_hash(through(2)))
  # What is not named does not count, nor what an argument hides, nor a part of something else.
  expect_identical(captured_hash(through(1)), captured_hash(through(1, other = 2)))
  part <- function(k) in_frame(quote(function(visits) visits$k), k = k)
  expect_identical(captured_hash(part(1)), captured_hash(part(2)))
})

test_that("values of all kinds are told apart", {
  of <- function(x) captured_hash(in_frame(quote(function(visits) x), x = x))
  frame <- function(v) list2env(list(v = v), parent = emptyenv())
  values <- list(1, 1L, "1", TRUE, NULL, NA, list(1), list(a = 1), c(a = 1), as.raw(1), 1i, 2i, quote(a + b), y ~ x,
                 y ~ z, frame(1), frame(2), structure(1, class = "k"), structure(1, class = "l"), factor("a"),
                 as.Date("2020-01-01"), function(x) x, function(x) 2 * x, sum, "\xff", data.frame(x = 1),
                 diag_setting(), diag_setting(accuracy = 0.6), ibrc_prior(alpha ~ lognormal(0, 1)),
                 ibrc_prior(alpha ~ lognormal(0, 2)))
  hashes <- vapply(values, of, "")
  expect_identical(anyDuplicated(hashes), 0L)
  expect_identical(vapply(values[-c(16, 17)], of, ""), hashes[-c(16, 17)])
  expect_identical(of(frame(1)), hashes[16])
  selfish <- frame(1)
  selfish$self <- selfish
  expect_match(of(selfish), "^[0-9a-f]+$")
})

test_that("what cannot be known is said", {
  clock <- new.env(parent = globalenv())
  makeActiveBinding("now", function() Sys.time(), clock)
  expect_error(captured_hash(eval(quote(function(visits) now), clock)), "an active binding, `now`",
               class = "ibrc_unknowable")
  expect_error(captured_hash(in_frame(quote(function(visits) e), e = globalenv())), "workspace",
               class = "ibrc_unknowable")
})

test_that("the predictions of a user's own class go with a method, and count as its code", {
  around <- function(p) {
    frame <- list2env(list(p = p), parent = globalenv())
    frame$predict.mine <- eval(quote(function(object, visits, ...) p), frame)
    eval(quote(function(visits) structure(list(), class = "mine")), frame)
  }
  expect_named(own_predictions(around(1)), "predict.mine")
  expect_length(own_predictions(known_methods$logistic), 0)
  expect_false(captured_hash(around(1)) == captured_hash(around(2)))
})
