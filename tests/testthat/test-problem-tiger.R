tiger_value <- function(agent, resolution) {
  value(plan_agent(tiger_setting(), agent, resolution = resolution), c(0.5, 0.5))
}
resolutions <- c(50, 100, 200, 400)

test_that("Tiger's values are the reference's, made with a price of 1e-6", {
  values <- vapply(resolutions, function(n) tiger_value(bounded_agent(alpha = 1e-6), n), 0)
  expect_identical(sprintf("%.5f", values), c("19.47311", "19.37470", "19.37135", "19.37135"))
})

test_that("at the exact limit the price is not paid: alpha log 3 / (1 - discount) more", {
  values <- vapply(resolutions, function(n) tiger_value(bounded_agent(), n), 0)
  expect_close(values, c(19.47311, 19.37470, 19.37135, 19.37135) + 1e-6 * log(3) / 0.05, 6e-6)
  expect_identical(sprintf("%.2f", values[4]), "19.37")
  # Convex values, one model, no surprise: upper bounds that fall as nested lattices refine.
  expect_false(is.unsorted(rev(values)))
})

test_that("refining nested lattices only lowers rational values, at every belief", {
  with_seed(81, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    coarse <- plan_agent(setting, bounded_agent(), resolution = 3)
    fine <- plan_agent(setting, bounded_agent(), resolution = 6)
    expect_true(all(value(fine, coarse$nodes) <= value(coarse) + 1e-7))
  })
})

test_that("a rational agent listens when it does not know", {
  plan <- plan_agent(tiger_setting(), bounded_agent())
  expect_identical(policy(plan, c(0.5, 0.5))[1, ], c(listen = 1, open_left = 0, open_right = 0))
  expect_identical(policy(plan, c(0.99, 0.01))[1, "open_right"], c(open_right = 1))
})
