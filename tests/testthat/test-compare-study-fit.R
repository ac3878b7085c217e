design <- small_design()
visits <- simulate(design, seed = 1)

test_that("intervals of differences add up squares of distances", {
  levels <- study_row_of("optimism", c("reference", "other"), c(1, 3), c(0, 1), c(1.5, 7))
  row <- mode_contrasts(levels, design)
  expect_identical(row$group, "other")
  expect_equal(row$estimate, 2)
  expect_equal(row$conf.low, 2 - sqrt(2^2 + 0.5^2))
  expect_equal(row$conf.high, 2 + sqrt(4^2 + 1^2))
  # With standard errors that is the usual interval.
  even <- study_row_of("optimism", c("reference", "other"), 0, -stats::qnorm(0.975) * c(3, 4),
                       stats::qnorm(0.975) * c(3, 4))
  expect_equal(mode_contrasts(even, design)$conf.high, stats::qnorm(0.975) * 5)
})

test_that("modes are read as ibrc_mode() has them, prices on the logarithm", {
  found <- with_seed(1, analyse_visits(visits, design, contrast = FALSE))
  mode <- ibrc_mode(visits, design$setting, design$models, design$prior, by = "group", resolution = 10, starts = 1,
                    conf.level = NULL, seed = 1)
  table <- tidy(mode)
  alpha <- table$term == "alpha"
  expect_true(found$settled)
  scaled <- table$estimate
  scaled[alpha] <- log(scaled[alpha])
  expect_equal(found$rows$estimate, scaled, tolerance = 1e-4)
  error <- ifelse(alpha, table$std.error / table$estimate, table$std.error)
  expect_equal(found$rows$conf.high - found$rows$estimate, stats::qnorm(0.975) * error, tolerance = 1e-3)
  profile <- small_design(fit = "profile")
  ends <- with_seed(1, analyse_visits(visits, profile, contrast = FALSE))$rows
  known <- tidy(ibrc_mode(visits, design$setting, design$models, design$prior, by = "group", resolution = 10,
                          starts = 1, seed = 1))
  expect_equal(ends$conf.low[!alpha], known$conf.low[!alpha], tolerance = 1e-3)
  expect_equal(ends$conf.high[alpha], log(known$conf.high[alpha]), tolerance = 1e-3)
})

test_that("posteriors are read draw by draw, as compare_groups() does", {
  sampled <- small_design(fit = "posterior", chains = 2, iter = 300)
  set.seed(5)
  found <- suppressWarnings(analyse_visits(visits, sampled, contrast = TRUE))
  set.seed(5)
  fit <- suppressWarnings(ibrc(visits, design$setting, design$models, design$prior, by = "group", chains = 2,
                               iter = 300, resolution = 10, seed = settle_seed(), control = list(check = FALSE)))
  known <- compare_groups(fit)
  mine <- found$rows[match(known$term, found$rows$term), ]
  ratio <- known$scale == "ratio"
  expect_equal(mine$estimate[ratio], log(known$estimate[ratio]), tolerance = 1e-3)
  expect_equal(mine$estimate[!ratio], known$estimate[!ratio])
  expect_equal(mine$conf.low[known$term == "optimism"], known$conf.low[known$term == "optimism"])
  expect_false(found$settled)
  level <- posterior_rows(fit, sampled, contrast = FALSE)
  expect_equal(level$estimate[level$term == "optimism"], unname(coef(fit)[c("optimism[reference]", "optimism[other]")]))
})

test_that("what is handed on reaches the fitting function", {
  made <- with_seed(1, fit_call(visits, small_design(starts = 3, estimate = "mle")))
  expect_identical(made[c("starts", "estimate", "by")], list(starts = 3, estimate = "mle", by = "group"))
  # With effects, groups are terms of a formula.
  design$more$effects <- list(optimism ~ group + (1 | clinician))
  made <- with_seed(1, fit_call(visits, design))
  expect_identical(made$effects, design$more$effects)
  expect_null(made$by)
  expect_null(fit_call(visits, small_design(effect = NULL))$by)
})

test_that("an analysis of the user's own has to say what it found", {
  good <- count_visits(visits, design)
  expect_identical(own_analysis(good, design, TRUE)$rows$group, "other")
  expect_true(own_analysis(good, design, TRUE)$settled)
  expect_false(own_analysis(cbind(good, settled = NA), design, TRUE)$settled)
  expect_error(own_analysis(good[-2], design, TRUE), "data frame with term")
  expect_error(own_analysis(good, design, FALSE), "says the group")
  expect_error(own_analysis(good[c(1, 1), ], design, TRUE), "two rows")
})
