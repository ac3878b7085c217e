# Five visits of two patients, read or refused.

two_patients <- data.frame(
  who = c("p1", "p1", "p1", "p2", "p2"), when = c(0, 6, 12, 0, 6), sex = c("f", "f", "f", "m", "m"),
  did = c("monitor", "monitor", "declare_diseased", "monitor", "declare_healthy"),
  saw = c("positive", "positive", NA, "negative", NA), other = 1:5
)
read_visits <- function(data = two_patients, ..., id = "who", time = "when", action = "did", observation = "saw",
                        setting = diag_setting()) {
  trajectories(data, id = id, time = time, action = action, observation = observation, setting = setting, ...)
}

expect_rows_refused <- function(data, ..., argument, rows, class = "ibrc_error_data") {
  error <- expect_error(read_visits(data, ...), class = class)
  expect_identical(error$argument, argument)
  if (!missing(rows)) {
    expect_identical(as.integer(error$rows), as.integer(rows))
    expect_match(conditionMessage(error), as.character(rows[1]), fixed = TRUE)
  }
  expect_no_match(conditionMessage(error), "p1|p2")
}

change_rows <- function(column, rows, to) {
  two_patients[rows, column] <- to
  two_patients
}
