test_that("three states are drawn as a simplex with the path on it", {
  skip_if_not_installed("ggplot2")
  setting <- with_seed(2, random_setting(3))
  plan <- plan_agent(setting, bounded_agent(alpha = 0.5), resolution = 12)
  picture <- plot(plan, observations = c("x1", "x2"))
  built <- ggplot2::ggplot_build(picture)
  expect_identical(nrow(built$data[[1]]), as.integer(3 * 144))
  expect_identical(nrow(built$data[[5]]), 3L)
  # Several plans are panels, each with its corners named.
  other <- update(plan, bounded_agent(alpha = 3))
  panels <- ggplot2::ggplot_build(plot_plans(list(a = plan, b = other), c("x1", "x2"), columns = 2))
  expect_identical(nrow(panels$data[[3]]), 6L)
  # Colour follows the likeliest action at the centre.
  centres <- simplex_centres(12)
  best <- max.col(policy(plan, centres), ties.method = "first")
  expect_equal(as.vector(table(factor(built$data[[1]]$fill, levels = action_palette(3)))),
               3 * tabulate(best, 3))
})

three <- with_seed(2, random_setting(3, n_actions = 2))
plan <- plan_agent(three, bounded_agent(alpha = 0.5, beta = 1), soften_models(three, c(0, 0.5)), resolution = 12)
visits <- as.data.frame(simulate(plan, 9, seed = 1, horizon = 6))
visits$id <- c("k", "p", "a", "q", "z", "m", "b", "w", "s")[visits$id]
names(visits)[c(1, 3)] <- c("who", "did")
visits <- trajectories(visits, id = "who", action = "did", setting = three)

test_that("the data behind the picture are regions, boundaries and paths of either agent", {
  data <- simplex_data(plan, visits, id = c("b", "k"))
  expect_named(data, c("panel", "agent", "part", "piece", "visit", "s1", "s2", "s3", "action"))
  expect_identical(levels(data$panel), c("Patient 1", "Patient 2"))
  paths <- belief_paths(plan, visits, final = TRUE)
  paths <- paths[paths$who == "b", ]
  one <- data[data$panel == "Patient 1" & data$part == "path", ]
  expect_identical(one$visit, rep(paths$.visit, 2))
  expect_equal(one$s2, c(paths$.belief_s2, paths$.rational_belief_s2))
  expect_identical(as.character(one$action), rep(as.character(paths$did), 2))
  ground <- data[data$panel == "Patient 2" & data$agent == "rational" & data$part != "path", ]
  rational <- decision_regions(update(plan, bounded_agent()))
  expect_equal(ground[names(rational)], rational, ignore_attr = "row.names")
  # Identifiers only where they are asked for.
  expect_false(any(grepl("b|k", levels(data$panel))))
  expect_identical(levels(simplex_data(plan, visits, id = c("b", "k"), show_id = TRUE)$panel), c("b", "k"))
  expect_equal(simplex_data(plan, visits), simplex_data(plan, visits, id = "k"))
})

test_that("a fit is drawn by the plan of the patient's group", {
  south <- unique(clinic_visits()$id[clinic_visits()$clinic == "south"])[2]
  data <- simplex_data(clinic_fit(), clinic_visits(), id = south)
  expect_identical(levels(data$panel), "Patient 1 (south)")
  ground <- data[data$agent == "fitted" & data$part != "path", ]
  expected <- decision_regions(project_behavior(clinic_fit())$south)
  expect_equal(ground[names(expected)], expected, ignore_attr = "row.names")
})

test_that("paths are drawn on the simplex, beside those of the rational agent", {
  skip_if_not_installed("ggplot2")
  built <- expect_silent(ggplot2::ggplot_build(plot_simplex(plan, visits, id = c("a", "b"))))
  expect_identical(nrow(built$layout$layout), 4L)
  data <- simplex_data(plan, visits, id = c("a", "b"))
  expect_identical(nrow(built$data[[1]]), sum(data$part == "region"))
  # Grounds are lighter than marks of the same action.
  expect_true(all(built$data[[1]]$fill %in% tinted(action_palette(2))))
  shown <- built$data[[length(built$data) - 1]]
  expect_true(all(shown$colour %in% c(action_palette(2), "black")))
  expect_identical(sum(shown$colour == "black"), 4L)
  # Two states: visits go down.
  lines <- expect_silent(ggplot2::ggplot_build(plot_simplex(clinic_fit(), clinic_visits(), id = 3)))
  expect_identical(nrow(lines$layout$layout), 2L)
})

test_that("what cannot be drawn is refused, without a word of who", {
  four <- plan_agent(with_seed(1, random_setting(4)), bounded_agent(1), resolution = 3)
  seen <- simulate(four, 2, seed = 1, horizon = 3)
  expect_error(plot_simplex(four, seen), "4 states", class = "ibrc_error_input")
  expect_error(simplex_data(1, visits), class = "ibrc_error_input")
  expect_error(simplex_data(plan, as.data.frame(visits)), class = "ibrc_error_input")
  error <- expect_error(simplex_data(plan, visits, id = c("a", "secret")), class = "ibrc_error_input")
  expect_identical(error$rows, 2L)
  expect_false(grepl("secret", conditionMessage(error)))
  expect_error(simplex_data(plan, visits, id = c("a", "a")), "more than once", class = "ibrc_error_input")
  expect_error(simplex_data(plan, visits, id = list(1)), class = "ibrc_error_input")
  expect_error(simplex_data(plan, visits, show_id = NA), class = "ibrc_error_input")
  expect_error(plot_simplex(plan, visits, colour = 1), class = "ibrc_error_input")
})
