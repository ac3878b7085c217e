visits <- data.frame(
  who = c("p1", "p1", "p1", "p2", "p2"), when = c(0, 6, 12, 0, 6), sex = c("f", "f", "f", "m", "m"),
  did = c("monitor", "monitor", "declare_diseased", "monitor", "declare_healthy"),
  saw = c("positive", "positive", NA, "negative", NA), other = 1:5
)
read_visits <- function(data = visits, ..., id = "who", time = "when", action = "did", observation = "saw",
                        setting = diag_setting()) {
  trajectories(data, id = id, time = time, action = action, observation = observation, setting = setting, ...)
}

test_that("columns keep their names and rows their order", {
  out <- read_visits(covariates = "sex")
  expect_s3_class(out, c("ibrc_trajectories", "data.frame"), exact = TRUE)
  expect_named(out, c("who", "when", "did", "saw", "sex"))
  expect_equal(as.data.frame(out), visits[names(out)])
  expect_identical(nrow(read_visits(visits[c(4, 1, 2, 5, 3), ])), 5L)
  expect_silent(read_visits(transform(visits, when = c("bl", "m06", "m12", "bl", "m06"))))
  expect_silent(read_visits(transform(visits, when = as.Date("2020-01-01") + when)))
  expect_silent(read_visits(time = NULL))
})

refused <- function(data, ..., argument, rows, class = "ibrc_error_data") {
  error <- expect_error(read_visits(data, ...), class = class)
  expect_identical(error$argument, argument)
  if (!missing(rows)) {
    expect_identical(as.integer(error$rows), as.integer(rows))
    expect_match(conditionMessage(error), as.character(rows[1]), fixed = TRUE)
  }
  expect_no_match(conditionMessage(error), "p1|p2")
}

change <- function(column, rows, to) {
  visits[rows, column] <- to
  visits
}

test_that("rows that cannot be are refused by their numbers, never by an identifier", {
  refused(change("who", 2, NA), argument = "id", rows = 2)
  refused(change("when", 3, NA), argument = "time", rows = 3)
  refused(change("when", 2, 0), argument = "time", rows = 2)
  refused(change("when", 1, 9), argument = "time", rows = 2)
  refused(change("did", 4, NA), argument = "action", rows = 4)
  refused(change("did", 4, "wait"), argument = "action", rows = 4)
  refused(change("saw", 2, "unclear"), argument = "observation", rows = 2)
  refused(change("did", 1, "declare_healthy"), argument = "action", rows = 2:3)
  refused(visits[0, ], argument = "data")
})

test_that("columns that are not there are named, with what is", {
  expect_error(read_visits(id = "patient"), "there are \"who\"", class = "ibrc_error_input")
  expect_error(read_visits(id = "Who"), "Did you mean \"who\"", class = "ibrc_error_input")
  expect_error(read_visits(covariates = "age"), class = "ibrc_error_input")
  expect_error(read_visits(action = "who"), class = "ibrc_error_input")
  expect_error(read_visits(id = 1), class = "ibrc_error_input")
  expect_error(read_visits(data = as.matrix(1)), class = "ibrc_error_input")
  expect_error(read_visits(setting = 1), class = "ibrc_error_input")
})

test_that("trajectories print a summary and a few rows", {
  expect_snapshot(read_visits(covariates = "sex"))
})

test_that("subsets stay data frames", {
  out <- read_visits()
  expect_identical(out$did[1], "monitor")
  expect_output(print(out["did"]), "monitor")
  expect_identical(nrow(out[out$who == "p1", ]), 3L)
})
