drawn_effects <- function() {
  cached("drawn_effects", decision_effects(uneven_fit("clinic"), draws = 4, nsim = 20))
}

test_that("the data are the levels of the effects", {
  effects <- drawn_effects()
  data <- effects_data(effects)
  expect_named(data, c("panel", "label", "group", "estimate", "conf.low", "conf.high", "rational", "rational_low",
                       "rational_high", "verdict"))
  level <- effects[effects$quantity == "probability" & is.na(effects$reference), ]
  expect_equal(data$estimate, level$estimate)
  expect_identical(data$verdict, level$verdict)
  expect_identical(levels(data$panel), c("declare healthy", "declare diseased", "monitor"))
  expect_identical(levels(data$label), unique(level$at))
  course <- effects_data(effects, "course")
  expect_identical(levels(course$panel), c("Visits", "P(decision)", "Declare healthy, times", "Declare diseased, times",
                                           "Monitor, times", "Cost per visit", "Cost, share"))
  expect_identical(nrow(effects_data(effects, "weight")), 18L)
  expect_identical(nrow(effects_data(effects, "accuracy")), 18L)
  alone <- decision_effects(uneven_fit(), draws = 2, nsim = 0)
  expect_identical(levels(effects_data(alone)$group), "all")
  expect_refused(effects_data(alone, "course"), "type", "nothing to draw")
})

test_that("every type is drawn, with the verdict below and an alternative text", {
  skip_if_not_installed("ggplot2")
  effects <- drawn_effects()
  for (type in effect_types) {
    picture <- plot(effects, type)
    built <- expect_silent(ggplot2::ggplot_build(picture))
    data <- effects_data(effects, type)
    expect_setequal(built$data[[2]]$x, data$estimate)
    expect_setequal(built$data[[3]]$x, data$rational)
    expect_match(picture$labels$caption, "Verdict: ", fixed = TRUE)
    expect_match(gsub("\n", " ", picture$labels$caption), "median and 95% interval", fixed = TRUE)
    expect_identical(picture$scales$get_scales("colour")$palette(2), named_palette(c("north", "south")))
    expect_match(picture$labels$alt, "north and south", fixed = TRUE)
  }
  expect_silent(ggplot2::ggplot_build(plot(decision_effects(uneven_fit(), draws = 2, nsim = 0))))
})

test_that("a rational agent that differs between draws has its interval drawn", {
  skip_if_not_installed("ggplot2")
  effects <- decision_effects(ward_fit(), draws = 6, nsim = 0)
  data <- effects_data(effects, "accuracy")
  expect_true(all(data$rational_low < data$rational & data$rational < data$rational_high))
  picture <- plot(effects, "accuracy")
  built <- ggplot2::ggplot_build(picture)
  expect_setequal(built$data[[4]]$xmin, data$rational_low)
  expect_setequal(built$data[[4]]$xmax, data$rational_high)
  expect_match(gsub("\n", " ", picture$labels$caption), "Diamonds and thin lines: the setting's own, over draws.",
               fixed = TRUE)
  expect_match(picture$labels$alt, "what the setting states, which has an interval, too.", fixed = TRUE)
  # The weights that models were given are the same in all of them.
  still <- plot(effects, "weight")
  expect_length(ggplot2::ggplot_build(still)$data, 3)
  expect_match(gsub("\n", " ", still$labels$caption), "Diamonds: the neutral weights.", fixed = TRUE)
})

test_that("what cannot be drawn is refused", {
  expect_refused(effects_data(1), "effects")
  expect_refused(effects_data(drawn_effects(), "colour"), "type")
  expect_refused(plot(drawn_effects(), "colour"), "type")
  expect_refused(plot(drawn_effects(), other = 1), "...")
})
