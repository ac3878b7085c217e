test_that("contrasts are those of the draws", {
  fit <- clinic_fit()
  table <- compare_groups(fit)
  expect_named(table, c("term", "group", "reference", "scale", "estimate", "conf.low", "conf.high", "probability",
                        "verdict"))
  expect_identical(table$scale, c("ratio", "difference"))
  ratio <- fit$draws$south[, , "alpha"] / fit$draws$north[, , "alpha"]
  expect_identical(table$estimate[1], stats::median(ratio))
  expect_identical(table$probability[1], mean(ratio > 1))
  # The clinics differ in flexibility, which was put in.
  expect_gt(table$conf.low[1], 1)
  expect_lt(table$conf.low[2], 0)
  expect_gt(table$conf.high[2], 0)
  turned_round <- compare_groups(fit, reference = "south")
  expect_equal(turned_round$probability, 1 - table$probability)
  expect_equal(compare_groups(fit, scale = "difference")$estimate[1],
               stats::median(fit$draws$south[, , "alpha"] - fit$draws$north[, , "alpha"]))
  expect_identical(nrow(compare_groups(fit, reference = "all")), 2L)
})

test_that("what cannot be compared is refused", {
  expect_error(compare_groups(pooled_fit()), "no groups", class = "ibrc_error_input")
  expect_error(compare_groups(1), class = "ibrc_error_input")
  expect_error(compare_groups(clinic_fit(), reference = "east"), class = "ibrc_error_input")
  expect_error(compare_groups(clinic_fit(), scale = "odds"), class = "ibrc_error_input")
  expect_error(compare_groups(clinic_fit(), scale = "ratio"), "changes sign", class = "ibrc_error_input")
  expect_error(compare_groups(clinic_fit(), conf.level = 0), class = "ibrc_error_input")
})
