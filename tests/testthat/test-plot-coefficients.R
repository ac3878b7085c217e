test_that("a picture of people who differ has their coefficients, each kind in its panel", {
  fit <- personal_fit()
  data <- fit_plot_data(fit)
  table <- tidy(fit)
  expect_identical(as.character(data$label), table$term)
  expect_identical(data$estimate, table$estimate)
  expect_identical(levels(data$panel), c("alpha at the reference", "optimism at the reference",
                                         "Differences in optimism", "Standard deviations of random intercepts",
                                         "Correlations"))
  expect_identical(as.character(data$panel[data$label == "sd(alpha|id)"]), "Standard deviations of random intercepts")
  expect_identical(nrow(fit_plot_data(fit, terms = c("alpha", "sd(alpha|id)"))), 2L)
  expect_refused(fit_plot_data(fit, terms = "eta"), "terms")
  expect_refused(fit_plot_data(clinic_fit(), "coefficients"), "type", "effects")
  skip_if_not_installed("ggplot2")
  picture <- expect_silent(plot(fit))
  expect_silent(ggplot2::ggplot_build(picture))
  expect_match(ggplot2::get_alt_text(picture), "Medians and 95% intervals of alpha, ")
  data$conf.low[data$label == "optimism[sexm]"] <- 0.1
  data$conf.high[data$label == "optimism[sexm]"] <- 0.2
  expect_match(coefficients_alt(data), "leave out 0: optimism[sexm]", fixed = TRUE)
})

test_that("other pictures draw coefficients and spreads as terms, against their priors", {
  fit <- differing_fit()
  data <- fit_plot_data(fit, "density", "optimism[sexm]")
  expect_identical(as.character(unique(data$term)), "optimism[sexm]")
  prior <- data[data$part == "prior", ]
  expect_equal(prior$density, stats::dnorm(prior$value, 0, 1), tolerance = 1e-6)
  expect_identical(nrow(fit_plot_data(fit, "trace", "alpha")), 200L)
  skip_if_not_installed("ggplot2")
  expect_silent(ggplot2::ggplot_build(plot(fit, "joint", c("alpha", "sd(optimism|clinician)"))))
})
