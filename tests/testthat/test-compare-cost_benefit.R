test_that("the ratio is that of the sums, draw by draw", {
  fit <- fit_irl(bounded_agent(alpha = 0.5), irl_prior(diag_setting()))
  draws <- fit$draws$all
  expected <- (draws[, , 2] + draws[, , 3]) / (draws[, , 1] + draws[, , 4])
  each <- cost_benefit(fit, draws = TRUE)
  expect_named(each, c(".chain", ".iteration", ".draw", "ratio"))
  expect_identical(each$ratio, as.vector(expected))
  table <- cost_benefit(fit, conf.level = 0.9)
  expect_identical(table$estimate, stats::median(expected))
  # As (1 - 0.9) / 2 comes out in doubles.
  tail <- (1 - 0.9) / 2
  range <- stats::quantile(expected, c(tail, 1 - tail), names = FALSE)
  expect_identical(c(table$conf.low, table$conf.high), range)
  # The stated utilities have -72 / 20; rational behaviour shows about that.
  expect_lt(table$conf.low, -3.6 + 0.6)
  chosen <- cost_benefit(fit, cost = "utility[healthy,declare_diseased]",
                         benefit = "utility[healthy,declare_healthy]", draws = TRUE)
  expect_identical(chosen$ratio, as.vector(draws[, , 3] / draws[, , 1]))
})

test_that("what is not free counts as stated", {
  only <- data.frame(state = c("healthy", "diseased"), action = c("declare_diseased", "declare_healthy"))
  fit <- fit_irl(bounded_agent(alpha = 0.5), irl_prior(diag_setting(), entries = only))
  expected <- as.vector(fit$draws$all[, , 1] + fit$draws$all[, , 2]) / 20
  expect_identical(cost_benefit(fit, draws = TRUE)$ratio, expected)
})

test_that("what has no ratio is refused", {
  plain <- fit_irl(bounded_agent(alpha = 0.5), ibrc_prior(eta ~ lognormal(0, 1)), iter = 100)
  expect_error(cost_benefit(plain), "irl_prior", class = "ibrc_error_input")
  fit <- fit_irl(bounded_agent(alpha = 0.5), irl_prior(diag_setting()), iter = 100)
  expect_error(cost_benefit(fit, cost = "utility[ill,monitor]"), class = "ibrc_error_input")
  expect_error(cost_benefit(fit, benefit = 2), class = "ibrc_error_input")
  expect_error(cost_benefit(fit, conf.level = 2), class = "ibrc_error_input")
})
