visits <- data.frame(
  who = c("b", "b", "b", "a", "a", "a", "a", "c", "c", "d", NA, "d"),
  day = c(0, 200, 100, 0, 90, 500, 600, 0, 100, 0, 0, NA),
  marker = c(1, 3, 2, 5, 6, 5, 5, NA, 2, 1, 1, 1),
  assay = c(10, NA, 30, NA, 20, 10, 10, 10, NA, NA, 1, 1),
  sex = c(rep("f", 7), rep("m", 5))
)
panel <- function(data = visits, ..., id = "who", time = "day", marker = "marker", test = "assay",
                  marker_cuts = c(-Inf, 2), test_cuts = c(15, 25)) {
  panel_trajectories(data, id, time, marker, test, marker_cuts = marker_cuts, test_cuts = test_cuts, ...)
}
# Without cuts: text is its own classes.
classed <- function(data = visits, ...) panel_trajectories(data, "who", "day", "marker", "assay", ...)
lines_of <- function(cohort) paste(cohort$who, cohort$day, cohort$action, cohort$observation)

test_that("a table of visits becomes trajectories", {
  cohort <- panel(max_gap = 150, covariates = "sex")
  expect_s3_class(cohort, c("ibrc_cohort", "ibrc_trajectories", "data.frame"), exact = TRUE)
  expect_identical(lines_of(cohort), c(
    "b 0 assay marker_low_assay_low", "b 100 assay marker_low_assay_high", "b 200 no_assay marker_high_assay_none",
    "a 0 no_assay marker_high_assay_none", "a 90 assay marker_high_assay_middle",
    "c 100 no_assay marker_low_assay_none", "d 0 no_assay marker_low_assay_none"
  ))
  expect_named(cohort, c("who", "day", "action", "observation", "sex"))
  expect_identical(levels(cohort$observation), cross_labels(
    c("marker_low", "marker_high"), c("assay_none", "assay_low", "assay_middle", "assay_high")
  ))
  counts <- as.data.frame(flow(cohort))
  expect_identical(counts$step, c("read", "visit", "duplicate", "marker", "gap"))
  expect_identical(counts$patients, rep(4L, 5))
  expect_identical(counts$visits, c(12L, 10L, 10L, 9L, 7L))
  expect_identical(attr(cohort, "cuts"), list(marker = 2, test = c(15, 25)))
  expect_identical(nrow(panel()), 9L)
})

test_that("of rows at the same time the first complete one stays", {
  twice <- data.frame(who = "x", day = c(0, 0, 0, 0, 5, 5), marker = c(NA, 1, 2, 3, NA, 4),
                      assay = c(20, NA, 20, 30, 20, NA))
  cohort <- panel(twice)
  expect_identical(lines_of(cohort), c("x 0 assay marker_low_assay_middle", "x 5 no_assay marker_high_assay_none"))
  expect_identical(flow(cohort)$dropped_visits, c(0L, 0L, 4L, 0L, 0L))
})

test_that("visits are rounded to intervals where one is planned", {
  rough <- data.frame(who = "x", day = c(10, 100, 110, 195, 285, 460), marker = 1:6, assay = NA_real_)
  # Intervals of 90 from day 10: 0, 1, 1, 2, 3, 5.
  cohort <- panel(rough, interval = 90)
  expect_identical(cohort$day, c(10, 100, 195, 285))
  expect_identical(flow(cohort)$step, c("read", "visit", "duplicate", "marker", "interval", "gap"))
  expect_identical(flow(cohort)$dropped_visits, c(0L, 0L, 0L, 0L, 1L, 1L))
  expect_identical(panel(rough, interval = 90, max_gap = 180)$day, c(10, 100, 195, 285, 460))
  expect_identical(nrow(panel(rough, max_gap = 95)), 5L)
  dated <- transform(rough, day = as.Date("2001-01-01") + day)
  expect_identical(panel(dated, interval = 90)$day, dated$day[c(1, 2, 4, 5)])
})

test_that("classes of equal size come from the quantiles of the visits kept", {
  even <- data.frame(who = 1:12, day = 0, marker = 1:12, assay = c(rep(NA, 4), 1:8))
  cohort <- panel(even, marker_cuts = 3, test_cuts = 2)
  size <- table(sub("_assay.*", "", cohort$observation))
  expect_identical(as.vector(size[paste0("marker_", c("low", "middle", "high"))]), c(4L, 4L, 4L))
  expect_equal(attr(cohort, "cuts")$test, 4.5)
  expect_error(panel(transform(even, marker = c(1, rep(2, 11))), marker_cuts = 3), class = "ibrc_error_input")
  expect_error(panel(transform(even, assay = NA_real_), test_cuts = 2), "no values", class = "ibrc_error_input")
})

test_that("classes can be the levels of a factor, and have names of one's own", {
  cohort <- classed(transform(visits, marker = factor(ifelse(marker > 2, "bad", "good"), c("good", "bad")),
                              assay = c("", "hi")[1 + (!is.na(assay) & assay > 15)]),
                    marker_labels = c("fine", "poor"), action_labels = c("wait", "look"))
  expect_identical(levels(cohort$observation),
                   c("fine_assay_none", "fine_assay_hi", "poor_assay_none", "poor_assay_hi"))
  expect_identical(levels(cohort$action), c("wait", "look"))
  expect_identical(cohort$action == "look", !grepl("none", cohort$observation))
  expect_identical(class_words(4), c("1", "2", "3", "4"))
})

test_that("what cannot be used is refused by the argument's name", {
  refused <- function(argument, ..., class = "ibrc_error_input") {
    expect_identical(expect_error(panel(...), class = class)$argument, argument)
  }
  refused("data", data = 1)
  refused("data", data = visits[0, ], class = "ibrc_error_data")
  refused("data", data = transform(visits, marker = NA_real_), class = "ibrc_error_data")
  refused("id", id = "patient")
  refused("id", id = "day")
  refused("time", time = "sex")
  refused("marker", marker = 3)
  refused("marker", data = transform(visits, marker = marker > 2))
  refused("marker", data = transform(visits, marker = ifelse(marker == 6, Inf, marker)), class = "ibrc_error_data")
  refused("data", data = transform(visits, action = 1), covariates = "action")
  refused("covariates", covariates = 1)
  refused("covariates", covariates = "arm")
  refused("max_gap", max_gap = 0)
  refused("max_gap", max_gap = "a year")
  refused("interval", interval = -1)
  for (bad in list("a", NA, c(2, 1), c(1, 1), c(-Inf, Inf), NULL)) refused("marker_cuts", marker_cuts = bad)
  refused("test_cuts", test_cuts = numeric())
  refused("marker_labels", marker_labels = "one")
  refused("test_labels", test_labels = c("a", "a", "b"))
  refused("action_labels", action_labels = "one")
})

test_that("the trial in survival reads as it is counted", {
  skip_if_not_installed("survival")
  pbcseq <- survival::pbcseq
  cohort <- panel_trajectories(pbcseq, "id", "day", "bili", "chol", marker_cuts = c(1.1, 3), test_cuts = 2,
                               covariates = c("sex", "age", "trt"))
  expect_identical(nrow(cohort), 1945L)
  expect_identical(sum(cohort$action == "no_chol"), sum(is.na(pbcseq$chol)))
  expect_identical(length(unique(cohort$id)), 312L)
  cut_short <- panel_trajectories(pbcseq, "id", "day", "bili", "chol", max_gap = 400)
  longest <- tapply(cut_short$day, cut_short$id, function(day) max(c(0, diff(day))))
  expect_lte(max(longest), 400)
  counts <- flow(cut_short)
  expect_identical(counts$patients[5], 312L)
  expect_identical(sum(counts$dropped_visits), 1945L - nrow(cut_short))
})
