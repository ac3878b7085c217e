visits <- two_patients
refused <- expect_rows_refused
change <- change_rows

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

test_that("rows that cannot be are refused by their numbers, never by an identifier", {
  refused(change("who", 2, NA), argument = "id", rows = 2)
  refused(change("when", 3, NA), argument = "time", rows = 3)
  refused(change("when", 2, 0), argument = "time", rows = 2)
  refused(change("when", 1, 9), argument = "time", rows = 2)
  refused(change("did", 4, " "), argument = "action", rows = 4)
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

test_that("refusals say what to do next", {
  told <- function(data, words) expect_error(read_visits(data), words, class = "ibrc_error_data")
  told(change("who", 2, NA), "Leave these rows out")
  told(change("when", 3, NA), "time = NULL")
  told(change("when", 2, 0), "one visit of them")
  told(change("when", 1, 9), "order\\(data\\[\\[\"who\"]], data\\[\\[\"when\"]]\\)")
  told(change("did", 4, ""), "Name what was done")
  told(change("did", 4, "wait"), "column \"did\" there: names must match exactly\\.")
  told(change("did", 4, " Monitor"), "only in capitals, blanks or signs")
  told(change("did", 5, "declare-healthy"), "only in capitals, blanks or signs")
  told(transform(change("did", 4, "Monitor"), did = sub("declare_healthy", "other", did)), "exactly\\.")
  told(change("saw", 2, "Positive"), "column \"saw\" there.*only in")
  told(change("did", 1, "declare_healthy"), "stop_actions")
})

test_that("a missing action stays in its place and is warned of, unless it is said to be meant", {
  warned <- expect_warning(out <- read_visits(change("did", c(2, 4), NA)), "rows 2 and 4", fixed = TRUE,
                           class = "ibrc_warning_missing_action")
  expect_match(conditionMessage(warned), "give it a name", fixed = TRUE)
  expect_match(conditionMessage(warned), "end the trajectory before it", fixed = TRUE)
  expect_no_match(conditionMessage(warned), "p1|p2")
  expect_identical(which(is.na(out$did)), c(2L, 4L))
  expect_silent(meant <- read_visits(cbind(change("did", 2, NA), free = c(TRUE, FALSE, TRUE, TRUE, TRUE)),
                                     scored = "free"))
  expect_warning(read_visits(cbind(change("did", 2, NA), free = TRUE), scored = "free"), "row 2", fixed = TRUE)
  expect_identical(scored_rows(out), c(TRUE, FALSE, TRUE, FALSE, TRUE))
  expect_identical(scored_rows(meant), c(TRUE, FALSE, TRUE, TRUE, TRUE))
  expect_match(format(meant), "; 1 missing$", all = FALSE)
  expect_match(format(meant), "scored +4 of 5 visits", all = FALSE)
  expect_no_match(format(read_visits()), "scored")
})

test_that("an action that is not a number is missing, as the help says, and not one of that name", {
  coded <- data.frame(id = 1, time = 1:3, action = c(1, NaN, 2), observation = "x")
  expect_warning(out <- trajectories(coded), "row 2", class = "ibrc_warning_missing_action")
  expect_identical(scored_rows(out), c(TRUE, FALSE, TRUE))
  expect_no_match(format(out), "NaN")
  expect_warning(out <- trajectories(coded, setting = decision_setting(
    c("a", "b"), c("1", "2"), c("x", "y"), diag(2), diag(2), matrix(0, 2, 2), discount = 0.5
  )), class = "ibrc_warning_missing_action")
  expect_identical(is.na(out$action), c(FALSE, TRUE, FALSE))
})

test_that("visits of which nothing is known print as that", {
  bare <- data.frame(id = 1, time = 1:8, action = NA_character_, observation = NA_character_)
  out <- suppressWarnings(trajectories(bare))
  expect_identical(format(out)[2:3], c("  actions       8 missing", "  observations  8 missing"))
})

test_that("what is scored is a column of its own, logical and whole", {
  marked <- cbind(visits, free = c(TRUE, FALSE, TRUE, TRUE, TRUE))
  out <- read_visits(marked, scored = "free", covariates = "sex")
  expect_named(out, c("who", "when", "did", "saw", "free", "sex"))
  expect_identical(attr(out, "roles")$scored, "free")
  expect_identical(scored_rows(out), marked$free)
  expect_null(attr(read_visits(), "roles")$scored)
  expect_error(read_visits(marked, scored = "other"), "logical column", class = "ibrc_error_input")
  expect_error(read_visits(marked, scored = "fre"), "Did you mean", class = "ibrc_error_input")
  expect_error(read_visits(marked, scored = "did"), "column of its own", class = "ibrc_error_input")
  expect_error(trajectories(marked, "who", "when", "did", "saw", scored = free), "in quotes",
               class = "ibrc_error_input")
  marked$free[3] <- NA
  refused(marked, scored = "free", argument = "scored", rows = 3)
  # Taken away or changed since.
  lost <- out
  lost$free <- NULL
  expect_error(code_visits(lost, diag_setting()), "no longer have the columns", class = "ibrc_error_input")
  out$free <- as.numeric(out$free)
  expect_error(code_visits(out, diag_setting()), "logical column", class = "ibrc_error_input")
  expect_silent(format(out))
})

test_that("a column without its quotes is named", {
  told <- function(call, words) expect_error(call, words, fixed = TRUE, class = "ibrc_error_input")
  told(trajectories(visits, id = who), "id = \"who\"")
  told(trajectories(visits, "who", "when", "did", saw), "observation = \"saw\"")
  told(trajectories(visits, "who", "when", "did", "saw", covariates = sex), "covariates = \"sex\"")
  # A function of that name is none of ours; a variable is.
  timed <- transform(visits, time = when)
  told(trajectories(timed, "who", time, "did", "saw"), "time = \"time\"")
  time <- NULL
  expect_silent(trajectories(timed, "who", time = time, "did", "saw"))
  who <- "who"
  expect_silent(trajectories(visits, who, "when", "did", "saw"))
})

test_that("dates and numbers as text are warned of where their order may be wrong", {
  written <- function(times) read_visits(transform(visits, when = times))
  expect_silent(written(c("2024-01-31", "2024-02-01", "2024-12-24", "2023-01-01", "2023-01-02")))
  expect_silent(written(c("1", "2", "10", "9", "10")))
  expect_silent(written(factor(c("1", "2", "10", "9", "10"))))
  expect_silent(written(c("bl", "m12", "m06", "bl", "m06")))
  expect_warning(written(c("31/01/2024", "01/02/2024", "05/02/2024", "1", "2")), "as.Date", class = "ibrc_warning_time")
  expect_warning(written(c("2", "1", "10", "9", "10")), "row 2", class = "ibrc_warning_time")
  expect_warning(written(c("1", "10", "2", "9", "10")), "row 3", class = "ibrc_warning_time")
  expect_warning(written(factor(c("2", "1", "10", "9", "10"))), class = "ibrc_warning_time")
  expect_warning(written(c("2024-01-31", "2024-02-01", "2024-01-24", "2023-01-01", "2023-01-02")), "row 3",
                 class = "ibrc_warning_time")
})

test_that("trajectories print a summary and a few rows", {
  expect_snapshot(read_visits(covariates = "sex"))
  # Levels keep their order; those that were not seen are left out.
  graded <- transform(visits, saw = factor(saw, levels = c("positive", "unread", "negative")))
  expect_match(format(read_visits(graded, setting = NULL)), "observations  positive, negative", fixed = TRUE,
               all = FALSE)
})

test_that("subsets stay data frames", {
  out <- read_visits()
  expect_identical(out$did[1], "monitor")
  expect_output(print(out["did"]), "monitor")
  expect_identical(nrow(out[out$who == "p1", ]), 3L)
})

test_that("trajectories without their columns are shown as the table they are", {
  visits <- clinic_visits()
  plain <- as.data.frame(visits)[1:3, "time", drop = FALSE]
  some <- visits[1:3, ]
  some$action <- NULL
  expect_no_match(format(visits), "NULL")
  expect_identical(dim(format(some)), dim(some))
  expect_identical(names(plain), "time")
})
