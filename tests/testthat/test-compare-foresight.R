visits <- with_seed(1, {
  data <- data.frame(id = rep(1:30, each = 4), time = 1:4, action = sample(c("a", "b"), 120, TRUE),
                     observation = sample(c("lo", "hi"), 120, TRUE))
  # The rows of a trajectory do not stand together.
  trajectories(data[order(data$time), ])
})

# A method whose model says b with the chance that `f` gives at each visit, in order of time.
by_hand <- function(f) {
  force(f)
  function(visits) structure(list(f = f), class = "by_hand")
}
predict.by_hand <- function(object, visits, ...) {
  out <- numeric(nrow(visits))
  for (rows in split(seq_len(nrow(visits)), visits$id)) {
    rows <- rows[order(visits$time[rows])]
    out[rows] <- object$f(visits[rows, ])
  }
  data.frame(a = 1 - out, b = out)
}
registerS3method("predict", "by_hand", predict.by_hand, asNamespace("stats"))
predict.nothing_said <- function(object, visits, ...) NULL
registerS3method("predict", "nothing_said", predict.nothing_said, asNamespace("stats"))
failures <- function(methods) {
  crossed <- suppressMessages(suppressWarnings(cross_validate(visits, methods, folds = 2)))
  vapply(names(methods), function(name) crossed$status$failure[crossed$status$method == name][1], "")
}
earlier_is <- function(x, what) c(0.5, ifelse(utils::head(x, -1) == what, 0.7, 0.2))

test_that("a method that looks at what it is to predict fails, and others do not", {
  found <- failures(list(
    same_action = by_hand(function(v) ifelse(v$action == "b", 0.9, 0.1)),
    same_observation = by_hand(function(v) ifelse(v$observation == "hi", 0.6, 0.4)),
    next_action = by_hand(function(v) c(ifelse(v$action[-1] == "b", 0.6, 0.4), 0.5)),
    before = by_hand(function(v) earlier_is(v$action, "b")),
    seen_before = by_hand(function(v) earlier_is(v$observation, "hi")),
    drawn = by_hand(function(v) stats::runif(nrow(v)))
  ))
  expect_match(found[1:3], "use only earlier rows of the same trajectory")
  expect_true(all(is.na(found[4:6])))
})

test_that("who cannot predict other visits, or says something else each time, is not judged", {
  asked <- 0
  count <- function(v) {
    asked <<- asked + 1
    rep(1 / (1 + asked), nrow(v))
  }
  known <- paste(visits$id, visits$time, visits$action)
  strict <- function(v) {
    number <- as.integer(sub("trajectory ", "", v$id))
    if (!all(paste(unique(visits$id)[number], v$time, v$action) %in% known)) stop("never seen")
    rep(0.5, nrow(v))
  }
  expect_true(all(is.na(failures(list(count = by_hand(count), strict = by_hand(strict))))))
})

test_that("ends get a pair that was learned from, and other rows stay", {
  words <- function(x) factor(x, c("a", "b", "c"))
  learned <- trajectories(data.frame(id = 1, time = 1:3, action = words(c("a", "b", "b")),
                                     observation = words(c("b", NA, "a"))))
  test <- trajectories(data.frame(id = c(1, 1, 2), time = c(1, 2, 1), action = words(c("a", "b", "a")),
                                  observation = words(c("c", "a", NA))))
  other <- with_other_ends(test, c(2, 3), learned)
  expect_identical(other[1, ], test[1, ])
  expect_identical(as.character(other$action), c("a", "a", "b"))
  expect_identical(as.character(other$observation), c("c", "b", "a"))
})

test_that("an error of predict() says where it comes from", {
  found <- failures(list(
    glm = function(visits) stats::glm(action == "b" ~ time, stats::binomial, as.data.frame(visits)),
    empty = function(visits) structure(list(), class = "nothing_said")
  ))
  expect_match(found[["glm"]], "^predict\\(model, visits, type = \"action\"\\) said: 'arg'")
  expect_match(found[["empty"]], "not one row per visit")
})
