setting <- diag_setting()
truth <- plan_agent(setting, bounded_agent(0.5, 1.25), diag_models())
north <- cbind(as.data.frame(simulate(truth, 25, seed = 1)), clinic = "north")
south <- cbind(as.data.frame(simulate(update(truth, bounded_agent(3)), 25, seed = 2)), clinic = "south")
south$id <- south$id + 25
visits <- trajectories(rbind(north, south), covariates = "clinic", setting = setting)
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), discount ~ uniform(0.9, 0.99))
grouped <- ibrc(visits, setting, diag_models(), prior, by = "clinic", chains = 2, iter = 200, seed = 1)
prices <- ibrc_prior(alpha ~ lognormal(0, 1), eta ~ lognormal(0, 1))
pooled <- ibrc(visits, setting, diag_models(), prices, chains = 2, iter = 200, seed = 1)

area <- function(x, y) sum(diff(x) * (y[-1] + y[-length(y)]) / 2)

test_that("densities have mass 1 on their axis, bounds or not, and stand beside the prior", {
  data <- fit_plot_data(grouped, "density")
  expect_named(data, c("part", "group", "term", "value", "density", "scale"))
  posterior <- data[data$part == "posterior", ]
  for (one in split(posterior, ~ term + group, drop = TRUE)) {
    x <- if (one$scale[1] == "log10") log10(one$value) else one$value
    expect_close(area(x, one$density), 1, 0.02)
  }
  expect_identical(unique(data$scale[data$term == "alpha"]), "log10")
  expect_identical(unique(data$scale[data$term == "optimism"]), "linear")
  before <- data[data$part == "prior", ]
  expect_true(all(is.na(before$group)))
  flat <- before[before$term == "discount", ]
  expect_equal(flat$density, rep(1 / 0.09, 256))
  expect_true(all(flat$value >= 0.9 & flat$value <= 0.99))
  alpha <- before[before$term == "alpha", ]
  expect_equal(alpha$density, stats::dnorm(log(alpha$value)) * log(10))
})

test_that("a density is reflected at its bounds", {
  x <- with_seed(1, stats::runif(4000))
  at <- seq(0, 1, length.out = 256)
  found <- bounded_density(x, at, c(0, 1))
  expect_close(area(at, found), 1, 1e-3)
  expect_close(found[c(1, 256)], c(1, 1), 0.15)
})

test_that("draws behind the other pictures are the fit's", {
  draws <- as.data.frame(grouped)
  trace <- fit_plot_data(grouped, "trace", c("optimism", "alpha"))
  expect_identical(levels(trace$term), c("optimism", "alpha"))
  expect_identical(trace$value[trace$term == "alpha"], draws$value[draws$term == "alpha"])
  joint <- fit_plot_data(grouped, "joint")
  expect_named(joint, c(".draw", ".iteration", ".chain", "group", "alpha", "optimism"))
  expect_identical(joint$alpha, draws$value[draws$term == "alpha"])
  expect_identical(joint$.chain, draws$.chain[draws$term == "alpha"])
  pairs <- fit_plot_data(grouped, "pairs")
  expect_identical(nrow(pairs), 3L * nrow(joint))
  last <- pairs[pairs$term_x == "optimism" & pairs$term_y == "discount", ]
  expect_identical(last$x, joint$optimism)
  expect_identical(last$y, draws$value[draws$term == "discount"])
  expect_identical(nrow(wide_draws(grouped, "alpha", most = 10)), 20L)
})

test_that("pictures are drawn", {
  skip_if_not_installed("ggplot2")
  built <- expect_silent(ggplot2::ggplot_build(plot(grouped)))
  expect_identical(as.character(built$layout$layout$panel), c("alpha", "optimism", "discount"))
  expect_identical(unique(built$data[[2]]$colour), action_palette(2))
  expect_identical(unique(built$data[[3]]$linetype), "dashed")
  built <- expect_silent(ggplot2::ggplot_build(plot(pooled)))
  expect_identical(as.character(built$layout$layout$panel), c("alpha", "eta"))
  built <- expect_silent(ggplot2::ggplot_build(plot(grouped, "joint")))
  joint <- fit_plot_data(grouped, "joint")
  expect_equal(built$data[[2]]$x, log10(joint$alpha))
  expect_equal(built$data[[2]]$y, joint$optimism)
  expect_identical(unique(built$data[[3]]$colour), action_palette(2))
  built <- ggplot2::ggplot_build(plot(grouped, "trace"))
  expect_identical(nrow(built$layout$layout), 6L)
  expect_identical(nrow(built$data[[1]]), nrow(as.data.frame(grouped)))
  expect_identical(nrow(ggplot2::ggplot_build(plot(pooled, "trace", "eta"))$layout$layout), 1L)
  built <- expect_silent(ggplot2::ggplot_build(plot(grouped, "pairs")))
  expect_identical(nrow(unique(built$data[[2]]["PANEL"])), 3L)
})

test_that("draws that round to 0 do not spoil a picture", {
  wide <- pooled
  wide$draws$all[1, 1, "eta"] <- 0
  expect_true(all(is.finite(fit_plot_data(wide)$density)))
  skip_if_not_installed("ggplot2")
  built <- expect_silent(ggplot2::ggplot_build(plot(wide, "joint")))
  expect_identical(nrow(built$data[[2]]), 199L)
})

test_that("a group has the same colour in every picture", {
  skip_if_not_installed("ggplot2")
  groups <- names(grouped$draws)
  # By position on the picture's own data: which colour the rows of each group have.
  colours <- function(picture, layer, group, aesthetic = "colour") {
    built <- ggplot2::ggplot_build(picture)$data[[layer]]
    vapply(groups, function(one) unique(built[[aesthetic]][group == one]), "")
  }
  data <- fit_plot_data(grouped)
  density <- colours(plot(grouped), 2, data$group[data$part == "posterior"])
  joint <- colours(plot(grouped, "joint"), 2, fit_plot_data(grouped, "joint")$group)
  built <- ggplot2::ggplot_build(plot(grouped, "pairs", c("alpha", "optimism")))$data[[2]]
  own <- fit_plot_data(grouped, "pairs", c("alpha", "optimism"))
  pair <- vapply(groups, function(one) unique(built$colour[own$group == one]), "")
  expect_identical(density, named_palette(groups))
  expect_identical(joint, named_palette(groups))
  expect_identical(pair, named_palette(groups))
  # Also where one group is drawn without the other, as on the pages of a report.
  south <- draw_groups(groups_data(grouped), grouped, "alpha", "south")
  expect_identical(unique(ggplot2::ggplot_build(south)$data[[3]]$colour), named_palette(groups)[["south"]])
})

test_that("optimism has a line at 0, and other terms have none", {
  skip_if_not_installed("ggplot2")
  lines <- function(picture) {
    zero <- Filter(function(layer) inherits(layer$geom, c("GeomVline", "GeomHline")), picture$layers)
    sum(vapply(zero, function(layer) if (is.null(layer$data$at)) 1L else nrow(layer$data), 0L))
  }
  expect_identical(lines(plot(grouped)), 1L)
  expect_identical(lines(plot(pooled)), 0L)
  expect_identical(lines(plot(grouped, "joint")), 1L)
  expect_identical(lines(plot(grouped, "trace")), 1L)
  expect_match(gsub("\n", " ", plot(grouped)$labels$caption), "Thin line: optimism 0, the neutral view.", fixed = TRUE)
})

test_that("what cannot be drawn is refused", {
  expect_error(plot(pooled, "violin"), class = "ibrc_error_input")
  expect_error(plot(pooled, terms = "beta"), "beta", class = "ibrc_error_input")
  expect_error(plot(pooled, terms = 1), class = "ibrc_error_input")
  expect_error(plot(grouped, "joint", c("alpha", "optimism", "discount")), "two", class = "ibrc_error_input")
  expect_error(plot(grouped, "pairs", "alpha"), class = "ibrc_error_input")
  expect_error(fit_plot_data(truth), class = "ibrc_error_input")
  expect_error(plot(pooled, colour = "red"), class = "ibrc_error_input")
})

test_that("traces of chains that share their dynamics have one colour", {
  skip_if_not_installed("ggplot2")
  picture <- plot(ward_cut(), "trace")
  built <- ggplot2::ggplot_build(picture)$data[[1]]
  expect_identical(length(unique(built$colour)), 3L)
  expect_identical(length(unique(built$group)), 6L)
  expect_match(picture$labels$caption, "draws of the dynamics")
})
