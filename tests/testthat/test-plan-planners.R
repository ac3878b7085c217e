test_that("the table has the rows of the paper's, and each names a function of the package", {
  table <- planners()
  expect_identical(nrow(table), 13L)
  expect_setequal(table$planner, names(planner_words))
  expect_identical(setdiff(table$`function`, getNamespaceExports("ibrc")), character())
  expect_true(all(nzchar(as.matrix(table))))
  expect_identical(anyDuplicated(table$planner), 0L)
})

test_that("every planner in the table returns a plan that behaves", {
  setting <- seen_clinic()
  table <- planners()
  for (i in seq_len(nrow(table))) {
    arguments <- planner_arguments(table$planner[i])
    plan <- suppressWarnings(do.call(table$`function`[i], c(list(setting), arguments)))
    visits <- simulate(plan, 5, seed = 1, horizon = 4)
    law <- predict(plan, visits, type = "action")
    expect_close(unname(rowSums(law)), rep(1, nrow(visits)), 1e-8)
    expect_length(log_lik(plan, visits), 5)
    expect_output(print(plan))
    expect_s3_class(glance(plan), "data.frame")
  }
})

test_that("the table says of each planner where it plans", {
  seen <- seen_clinic()
  n <- length(seen$states)
  noisy <- matrix(0.1, n, n) + diag(1 - 0.1 * n, n)
  hidden <- decision_setting(seen$states, seen$actions, seen$observations, unname(seen$transition), noisy,
                             unname(seen$utility), discount = seen$discount)
  table <- planners()
  # Above, every one of them planned where the state is seen.
  expect_identical(setdiff(table$setting, c("seen", "seen or hidden")), character())
  for (i in seq_len(nrow(table))) {
    arguments <- planner_arguments(table$planner[i])
    if (table$planner[i] == "custom") arguments$resolution <- 2
    plan <- function() suppressWarnings(do.call(table$`function`[i], c(list(hidden), arguments)))
    if (table$setting[i] == "seen") expect_error(plan(), class = "ibrc_error_input") else
      expect_s3_class(plan(), if (table$planner[i] == "agent") "ibrc_plan" else "ibrc_planned")
  }
})
