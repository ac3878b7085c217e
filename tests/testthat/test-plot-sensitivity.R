setting <- diag_setting()
models <- perturb_models(setting, by = 0.1)
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
moved_by <- function(by = NULL) {
  mode <- ibrc_mode(clinic_visits(), setting, models, prior, by = by, conf.level = NULL, resolution = 10, starts = 1,
                    seed = 1)
  sensitivity_analysis(mode, list(step = c(0.05, 0.2), discount = 0.5), starts = 1)
}

test_that("the data are the rows of the table, beside those of the fit", {
  moved <- moved_by("clinic")
  data <- sensitivity_data(moved)
  table <- as.data.frame(moved)
  contrasts <- table[!is.na(table$reference), ]
  expect_equal(data$estimate, contrasts$estimate)
  expect_identical(levels(data$panel), c("alpha, south / north", "optimism, south - north"))
  expect_equal(data$own_estimate, rep(contrasts$estimate[contrasts$baseline], 4))
  expect_identical(data$scale, rep(c("log10", "linear"), 4))
  expect_identical(levels(data$what), c("", "step", "discount"))
  expect_identical(as.character(data$label[1]), "as fitted")
  expect_identical(data$fits == "better", data$log_lik_difference > 2)
  levels <- sensitivity_data(moved, "level", "alpha")
  expect_identical(levels(levels$panel), c("alpha, north", "alpha, south"))
  expect_identical(nrow(levels), 8L)
  # The verdict of each row comes along; a mode has none.
  expect_identical(data$verdict, rep(NA_character_, 8))
  moved$verdict <- ifelse(is.na(moved$reference), "ok", ifelse(moved$term == "alpha", "caution", "do not use"))
  expect_identical(sensitivity_data(moved)$verdict, rep(c("caution", "do not use"), 4))
  expect_identical(unique(sensitivity_data(moved, "level")$verdict), "ok")
})

test_that("what cannot be drawn is refused", {
  moved <- moved_by()
  expect_identical(levels(sensitivity_data(moved)$panel), c("alpha", "optimism"))
  expect_error(sensitivity_data(moved, "contrast"), "needs groups", class = "ibrc_error_input")
  expect_error(sensitivity_data(moved, terms = "eta"), "optimism", class = "ibrc_error_input")
  expect_error(sensitivity_data(data.frame()), "sensitivity_analysis", class = "ibrc_error_input")
})

test_that("the picture shows them, with words for who cannot see it, and keeps nothing of the call", {
  skip_if_not_installed("ggplot2")
  moved <- moved_by("clinic")
  # An alternative without numbers has a row, and no warning.
  moved[moved$what == "discount", c("estimate", "conf.low", "conf.high", "log_lik_difference")] <- NA
  picture <- plot(moved)
  data <- sensitivity_data(moved)
  expect_silent(built <- ggplot2::ggplot_build(picture))
  position <- data$estimate
  position[data$scale == "log10"] <- log10(position[data$scale == "log10"])
  expect_setequal(round(built$data[[4]]$x, 8), round(position, 8))
  # The first alternative stands above the next.
  first <- built$data[[4]][built$data[[4]]$PANEL == built$layout$layout$PANEL[built$layout$layout$what == "step"][1], ]
  expect_identical(order(-first$y), 1:2)
  expect_match(ggplot2::get_alt_text(picture), "under 3 alternatives .* optimism, south - north from .* to ")
  expect_match(gsub("\n", " ", picture$labels$caption), "95% interval. Dashed line and grey band: as fitted.",
               fixed = TRUE)
  expect_silent(ggplot2::ggplot_build(plot(moved_by(), terms = "alpha")))
})
