# The data behind every picture is a function.
twins <- c(
  plot_plans = "plans_data", plot.ibrc_plan = "plans_data", plot.ibrc_history_plan = "plans_data",
  plot.ibrc_projection = "plans_data",
  plot.ibrc_fit = "fit_plot_data", pp_check = "pp_data", plot_groups = "groups_data",
  plot_shrinkage = "shrinkage_data",
  plot_simplex = "simplex_data", plot.ibrc_flow = "flow_data",
  plot.ibrc_profile = "profile_data", plot.ibrc_sensitivity = "sensitivity_data", plot.ibrc_effects = "effects_data",
  plot.ibrc_cross_validation = "accuracy_data", plot.ibrc_model_comparison = "model_comparison_data",
  plot.ibrc_misspecification = "misspecification_data", plot.ibrc_power_study = "power_data",
  plot.ibrc_recovery_study = "recovery_data", plot.ibrc_setting = "setting_data",
  plot.ibrc_trajectories = "visits_data"
)

test_that("every picture has a function that returns its data frame, on the same help page", {
  package <- parseNamespaceFile("ibrc", dirname(system.file(package = "ibrc")))
  methods <- package$S3methods
  generics <- c("plot", "autoplot", "lines", "points", "pairs")
  drawn <- methods[sub("^.*::", "", methods[, 1]) %in% generics, , drop = FALSE]
  pictures <- c(grep("^(plot_|autoplot)|^pp_check$", package$exports, value = TRUE),
                paste(drawn[, 1], drawn[, 2], sep = "."))
  # What has no picture says what has one.
  expect_setequal(setdiff(pictures, c("plot.ibrc_accuracy", "plot.ibrc_inferred", "plot.ibrc_mode")), names(twins))
  expect_identical(setdiff(twins, package$exports), character())
  file <- system.file("help", "aliases.rds", package = "ibrc")
  skip_if_not(nzchar(file), "installed without help")
  pages <- readRDS(file)
  expect_identical(unname(pages[names(twins)]), unname(pages[twins]))
})

test_that("a profile's picture shows its data", {
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
  visits <- as.data.frame(simulate(plan, 60, seed = 1))
  visits$half <- ifelse(visits$id <= 30, "first", "second")
  visits <- trajectories(visits, covariates = "half", setting = setting)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
  mode <- ibrc_mode(visits, setting, diag_models(), prior, by = "half", resolution = 10, starts = 2, seed = 1,
                    conf.level = NULL)
  profile <- profile_likelihood(mode, "alpha", n = 4)
  data <- profile_data(profile)
  expect_named(data, c("term", "group", "value", "height", "cut", "scale"))
  expect_identical(data$group, profile$group)
  expect_identical(data$value, profile$value)
  expect_true(all(data$height <= 0))
  expect_equal(data$height, -profile$below_maximum)
  expect_equal(unique(data$cut), -stats::qchisq(0.95, 1) / 2)
  expect_identical(unique(data$scale), "log10")
  signed <- profile_data(profile_likelihood(mode, "optimism", n = 4))
  expect_identical(unique(signed$scale), "linear")
  expect_error(profile_data(data), "profile_likelihood", class = "ibrc_error_input")
  skip_if_not_installed("ggplot2")
  built <- ggplot2::ggplot_build(plot(profile))
  expect_equal(built$data[[2]]$y, data$height)
  expect_equal(built$data[[2]]$x, log10(data$value))
})
