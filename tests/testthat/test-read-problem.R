visits <- problem_visits()
fit <- problem_fit()

test_that("one problem of several is a fit of that problem", {
  hard <- one_problem(fit, "hard")
  own <- visits[visits$test == "hard", ]
  expect_identical(hard$draws, fit$draws)
  expect_identical(unname(sum(hard$group_sizes)), 30)
  expect_identical(hard$problem$setting$emission, diag_setting(accuracy = 0.6)$emission)
  expect_close(unname(log_lik(hard, 5)), unname(log_lik(hard, 5, newdata = own)))
  expect_s3_class(plot(pp_check(hard, draws = 5)), "ggplot")
  expect_identical(nrow(augment(hard, own)), nrow(own))
  expect_output(print(hard), "of the problem \"hard\"")
  expect_error(one_problem(fit, "other"), class = "ibrc_error_input")
  expect_error(one_problem(hard, "hard"), "has one problem only", class = "ibrc_error_input")
  expect_error(one_problem(1, "hard"), class = "ibrc_error_input")
  # By the wrong setting nothing is judged.
  expect_error(augment(hard, visits), "of another problem", class = "ibrc_error_data")
  expect_error(predict(hard, visits), "of another problem", class = "ibrc_error_data")
})

test_that("groups that have not met a problem are not in it", {
  grouped <- problem_run(by = "person")
  hard <- one_problem(grouped, "hard")
  expect_identical(names(hard$draws), c("b", "c"))
  expect_identical(hard$draws$c, grouped$draws$c)
  expect_identical(hard$log_posterior, grouped$log_posterior[, 3:6])
  expect_identical(names(project_behavior(hard)), c("b", "c"))
  tests <- behaviour_check(grouped)
  expect_setequal(tests$group[tests$problem == "hard"], c("b", "c", NA))
  # Without its data a fit knows as much of its problems.
  bare <- problem_run(by = "person", control = list(check = FALSE, keep_data = FALSE))
  expect_equal(one_problem(bare, "hard")$group_sizes, hard$group_sizes)
  expect_error(log_lik(bare), "keep_data", class = "ibrc_error_input")
  expect_close(unname(log_lik(bare, 3, newdata = visits)), log_lik(grouped, 3), 1e-8)
})
