test_that("every form of an entry gives the array written by hand", {
  setting <- as_setting(test_path("pomdp", "forms.POMDP"))
  expect_equal(setting$states, c("0", "1", "2"))
  expect_equal(setting$actions, c("wait", "move"))
  expect_equal(setting$observations, c("low", "high"))
  expect_equal(setting$discount, 0.9)
  expect_equal(unname(setting$start), c(0.5, 0, 0.5))

  wait <- rbind(c(0.5, 0.25, 0.25), c(0.15, 0.6, 0.25), c(0, 0, 1))
  move <- rbind(c(1, 0, 0), rep(1 / 3, 3), c(0.5, 0, 0.5))
  expect_equal(as.vector(setting$transition), c(wait, move))
  seen_wait <- rbind(c(0.9, 0.1), c(0.9, 0.1), c(0.2, 0.8))
  seen_move <- rbind(c(1, 0), c(0.5, 0.5), c(0, 1))
  expect_equal(as.vector(setting$emission), c(seen_wait, seen_move))

  # move from 1 goes anywhere: (0: 1.0 low, -1) (1: half low, -1) (2: high, -6).
  # move from 2 goes to 0 (low, 1) or to 2 (high, 6).
  expect_equal(unname(setting$utility), cbind(c(-1, -1, 2.5), c(-1, (-1 - 1 - 6) / 3, (1 + 6) / 2)),
               ignore_attr = TRUE)
})

test_that("rewards are averaged over where an action leads and what is seen there", {
  set.seed(4)
  reward <- array(round(stats::rnorm(16), 3), c(2, 2, 2, 2)) # action, start, end, observation
  transition <- array(c(0.25, 0.5, 0.75, 0.5, 0.1, 0.6, 0.9, 0.4), c(2, 2, 2))
  emission <- array(c(0.3, 0.8, 0.7, 0.2, 1, 0.5, 0, 0.5), c(2, 2, 2))
  rows <- function(x) apply(x, 1, paste, collapse = " ")
  dynamics <- opening
  matrices <- single <- character()
  for (i in 1:2) {
    dynamics <- c(dynamics, paste("T:", i - 1), rows(transition[, , i]),
                  paste("O:", i - 1), rows(emission[, , i]))
    for (s in 1:2) {
      here <- paste("R:", i - 1, ":", s - 1)
      matrices <- c(matrices, here, rows(reward[i, s, , ]))
      single <- c(single, paste(here, ": 0 :", 0:1, reward[i, s, 1, ]),
                  paste(here, ": b", paste(reward[i, s, 2, ], collapse = " ")))
    }
  }
  expected <- matrix(0, 2, 2)
  for (i in 1:2) for (s in 1:2) for (end in 1:2) for (seen in 1:2) {
    weight <- transition[s, end, i] * emission[end, seen, i]
    expected[s, i] <- expected[s, i] + weight * reward[i, s, end, seen]
  }
  expect_utility <- function(lines, expected) {
    expect_equal(unname(setting_of(lines)$utility), expected, ignore_attr = TRUE)
  }
  expect_utility(c(dynamics, matrices), expected)
  expect_utility(sub("reward", "cost", c(dynamics, matrices)), -expected)
  # Later entries win, whatever their form.
  expect_utility(c(dynamics, "R: * : * : * : * 99", single), expected)
  expect_utility(c(dynamics, matrices, "R: * : * : * : * 99"), matrix(99, 2, 2))
})

test_that("entries that do not follow the format name their line", {
  bad_entry <- function(lines, line, message) expect_line(c(opening, plain, lines), 7 + line, message)
  bad_entry("T: w identity", 1, "not an action")
  bad_entry("T: 2 identity", 1, "numbered from 0")
  bad_entry("T: -1 identity", 1, "not an action")
  bad_entry("T: 0.5 identity", 1, "not an action")
  bad_entry("T: u : x uniform", 1, "not a start state")
  bad_entry("O: u : a : a 1", 1, "not an observation")
  bad_entry("R: u : a : a : 2 1", 1, "not an observation")
  bad_entry(c("T: u", "1 0", "0"), 3, "4 numbers")
  bad_entry(c("T: u", "1 0", "0 1", "0"), 4, "4 numbers")
  bad_entry("T: u : a : b", 1, "1 number")
  bad_entry("T: u : a : b : x 1", 1, "at most")
  bad_entry(c("T: u :", "", "O: u uniform"), 1, "expected a start state")
  bad_entry("T:", 1, "expected an action")
  bad_entry("T: : a 1 0", 1, "expected an action")
  bad_entry("T u identity", 1, "colon")
  bad_entry("T: u : a identity", 1, "2 numbers")
  bad_entry("T: u uniform 1", 1, "nothing more")
  bad_entry("T: u : a : b uniform", 1, "1 number")
  bad_entry("O: u reset", 1, "4 numbers")
  bad_entry("T: u : a : b 1.5", 1, "from 0 to 1")
  bad_entry("T: u : a 1.5 -0.5", 1, "from 0 to 1")
  bad_entry(c("T: u : a", "0.5", "0.4"), 1, "sum to 0.9")
  bad_entry(c("O: u : b : x 0", "O: v : a : x 1"), 1, "sum to 0.5")
  bad_entry("R: u 1 2 3 4", 1, "start state")
  bad_entry("R: u : a : a 1", 1, "2 numbers")
  bad_entry("R: u : a 1 2 3", 1, "4 numbers")
  bad_entry("R: u : a : a : x", 1, "1 number")
  bad_entry("R: u : a : a : x uniform", 1, "1 number")
  bad_entry("R: u : a : a : x 1 2", 1, "1 number")
  bad_entry(c("", "R: * : * : * : *", "1e999"), 3, "too large")
  bad_entry("R: * : * : * : * 3x", 1, "neither a number nor a name")
  bad_entry("R: * : * : * : * 1 %", 1, "no meaning")
  bad_entry("states: a b", 1, "before")
})
