# Groups that start differently: the setting's side. See helper-starts.R for the settings.

test_that("a setting has one start, or one per group", {
  setting <- starts_setting()
  expect_identical(setting$start_by, "age")
  expect_identical(dimnames(setting$start), list(group = c("old", "young"), state = setting$states))
  expect_identical(start_groups(setting), c("old", "young"))
  expect_equal(kernel_starts(setting), cbind(c(0.2, 0.8), c(0.7, 0.3)))
  expect_equal(start_shares(setting), c(0.5, 0.5))
  expect_equal(mean_start(setting), c(healthy = 0.45, diseased = 0.55))
  one <- diag_setting()
  expect_false(has_starts(one))
  expect_null(start_groups(one))
  expect_identical(kernel_starts(one), unname(one$start))
  expect_identical(start_matrix(one), matrix(c(0.5, 0.5), 1, dimnames = list(NULL, one$states)))
  expect_identical(mean_start(one), one$start)
  # Columns by name, rows rescaled.
  turned <- starts_setting(rbind(old = c(diseased = 0.8, healthy = 0.2), young = c(0.3, 0.7)))
  expect_equal(turned$start, setting$start)
})

test_that("a setting says how its groups start", {
  expect_match(format(starts_setting()), "start +by age", all = FALSE)
  expect_match(format(starts_setting()), "old +healthy 0.2, diseased 0.8", all = FALSE)
  many <- matrix(0.5, 9, 2, dimnames = list(letters[1:9], c("healthy", "diseased")))
  expect_match(start_texts(many), "and 3 more groups", all = FALSE)
})

test_that("what cannot be a start is refused, and says what to do", {
  start <- rbind(old = c(0.2, 0.8), young = c(0.7, 0.3))
  refused <- function(start, message, start_by = "age", argument = "start") {
    e <- expect_error(starts_setting(start, start_by), message, class = "ibrc_error_input")
    expect_identical(e$argument, argument)
  }
  refused(start, "name in `start_by`", NULL)
  refused(c(0.5, 0.5), "one row per group")
  refused(unname(start), "row 1 has no name")
  refused(rbind(old = c(0.2, 0.8), old = c(0.7, 0.3)), "two rows of the same name")
  refused(rbind(old = c(0.2, 0.8), young = c(0.7, 0.4)), "sum to 1", argument = "start[2, ]")
  refused(cbind(start, 0), "3 entries for 2 states", argument = "start[1, ]")
  refused(start, "must name columns", 1, "start_by")
  refused(start, "must name columns", character(), "start_by")
  refused(start, "more than once", c("age", "age"), "start_by")
  # Put there by hand.
  by_hand <- diag_setting()
  by_hand$start <- start
  expect_error(kernel_starts(by_hand), "no `start_by`", class = "ibrc_error_input")
})

test_that("plans tell each start, and average over them where they must", {
  setting <- starts_setting()
  plan <- plan_agent(setting, bounded_agent(0.5), diag_models(), resolution = 40)
  expect_match(format(plan), "from the start of old \\(healthy 0.2", all = FALSE)
  expect_equal(glance(plan)$value, mean(value(plan, setting$start)))
  expect_equal(occupancy(plan)$occupancy,
               (occupancy(plan, "old")$occupancy + occupancy(plan, "young")$occupancy) / 2)
  expect_equal(occupancy(plan, "old"), occupancy(plan, c(0.2, 0.8)))
  expect_error(occupancy(plan, "middle"), class = "ibrc_error_input")
  account <- summary(plan)$account
  expect_equal(sum(account$amount[1:4]), account$amount[5], tolerance = 1e-6)
  expect_equal(plans_data(plan, "positive")$healthy[plans_data(plan, "positive")$part == "path"][1], 0.45)
})
