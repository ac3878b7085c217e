test_that("the data are the probabilities of the setting", {
  setting <- diag_setting()
  data <- setting_data(setting)
  expect_named(data, c("part", "action", "from", "to", "probability"))
  expect_true(all(data$probability > 0))
  expect_equal(data$probability[data$part == "start"], c(0.5, 0.5))
  for (part in c("transition", "emission")) {
    own <- data[data$part == part, ]
    expect_equal(own$probability, setting[[part]][cbind(own$from, own$to, as.character(own$action))])
    expect_equal(sum(own$probability), 6)
  }
  seen <- setting_data(small_clinic())
  expect_false("emission" %in% seen$part)
  expect_identical(nrow(seen), 1L + sum(small_clinic()$transition > 0))
})

test_that("settings that are kept by rows have the same data", {
  rows <- data.frame(from = c("a", "a", "b"), to = c("a", "b", "b"), probability = c(0.3, 0.7, 1))
  both <- rbind(cbind(rows, action = "stay"), cbind(rows, action = "go"))
  sparse <- decision_setting(c("a", "b"), c("stay", "go"), c("a", "b"), both, "identity", matrix(0, 2, 2),
                             discount = 0.5)
  dense <- decision_setting(c("a", "b"), c("stay", "go"), c("a", "b"), rbind(c(0.3, 0.7), c(0, 1)), "identity",
                            matrix(0, 2, 2), discount = 0.5)
  in_order <- function(data) {
    data <- data[order(data$part, data$action, data$from, data$to), ]
    rownames(data) <- NULL
    data
  }
  expect_equal(in_order(setting_data(sparse)), in_order(setting_data(dense)))
})

test_that("few states are a diagram: boxes, arrows with their probabilities, and what is seen", {
  skip_if_not_installed("ggplot2")
  picture <- plot(diag_setting())
  built <- expect_silent(ggplot2::ggplot_build(picture))
  # Both diagnoses do the same: one panel for the two, and one to monitor.
  expect_identical(as.character(built$layout$layout$panel),
                   c("declare healthy (ends),\ndeclare diseased (ends)", "monitor"))
  boxes <- built$data[[3]]
  expect_setequal(boxes$label, c("healthy\nstays 0.50", "diseased\nstays 0.50", "healthy\nstays 1.00",
                                 "diseased\nstays 1.00"))
  # Nobody changes state while monitored: arrows in the first panel alone.
  expect_identical(as.character(unique(built$data[[1]]$PANEL)), "1")
  expect_identical(built$data[[4]]$label, c("0.50", "0.50"))
  expect_match(built$data[[5]]$label, "^seen:\n(negative|positive) 0.70\n(negative|positive) 0.30$")
  expect_match(ggplot2::get_alt_text(picture), "A diagram of 2 states")
  expect_match(gsub("\n", " ", picture$labels$caption), "Start: healthy 0.50, diseased 0.50.", fixed = TRUE)
  for (n in 2:4) expect_silent(ggplot2::ggplot_build(plot(with_seed(n, random_setting(n)))))
  expect_silent(ggplot2::ggplot_build(plot(small_clinic())))
})

test_that("arrows end at the edges of boxes and do not cross them", {
  moves <- data.frame(panel = "a", start = c(1, 3), end = c(3, 1), probability = 0.2)
  arcs <- arc_rows(moves)
  expect_true(all(abs(arcs$y) >= 0.4 - 1e-12))
  expect_equal(range(arcs$x), c(1.16, 2.84))
  expect_identical(tapply(arcs$y, arcs$arc, function(y) unique(sign(y)))[1:2], c("1" = 1, "2" = -1), ignore_attr = TRUE)
})

test_that("many states are a heat map, and more are refused", {
  skip_if_not_installed("ggplot2")
  setting <- with_seed(1, random_setting(7))
  picture <- plot(setting)
  tiles <- ggplot2::ggplot_build(picture)$data[[1]]
  data <- setting_data(setting)
  panels <- unique(panels_of_actions(data, setting))
  expect_identical(nrow(tiles), sum(data$part == "transition" & data$action %in% setting$actions[
    !duplicated(panels_of_actions(data, setting))]))
  expect_identical(nrow(ggplot2::ggplot_build(picture)$layout$layout), length(panels))
  expect_match(ggplot2::get_alt_text(picture), "A heat map of transitions between 7 states")
  rooms <- 61
  ring <- data.frame(from = seq_len(rooms), to = c(seq_len(rooms)[-1], 1), action = "on", probability = 1)
  walk <- decision_setting(paste("room", seq_len(rooms)), "on", paste("room", seq_len(rooms)), ring, "identity",
                           matrix(0, rooms, 1), discount = 0.5)
  expect_error(plot(walk), "up to 60", class = "ibrc_error_input")
  expect_identical(sum(setting_data(walk)$part == "transition"), 61L)
  expect_error(plot(setting, colour = 1), class = "ibrc_error_input")
  expect_error(setting_data(1), "decision_setting", class = "ibrc_error_input")
})

test_that("a small probability is not 0", {
  expect_identical(chance_label(c(0.0001, 0.005, 0.126, 1)), c("<0.01", "0.01", "0.13", "1.00"))
})
