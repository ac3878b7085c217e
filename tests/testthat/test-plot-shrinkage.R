test_that("own estimates are where the visits of a level are likeliest", {
  fit <- differing_fit()
  data <- shrinkage_data(fit)
  expect_named(data, c("term", "factor", "level", "trajectories", "own", "own.low", "own.high", "pooled", "pooled.low",
                       "pooled.high", "shrinkage"))
  expect_identical(data$level, paste0("c", 1:6))
  expect_identical(data$trajectories, rep(6L, 6))
  people <- as.data.frame(tidy(fit, effects = "people"))
  expect_identical(unname(data[c("pooled", "pooled.low", "pooled.high")]),
                   unname(people[c("estimate", "conf.low", "conf.high")]))
  # By hand for one level that has an estimate.
  one <- which(!is.na(data$own))[1]
  base <- median_cells(fit)
  cells <- which(fit$effects$factors[[1]]$level == one)
  evaluator <- inverse_evaluator(fit)
  height <- function(u) {
    sum(vapply(cells, function(g) {
      theta <- base$cells[g, , drop = FALSE]
      theta[, 2] <- theta[, 2] - base$u[[1]][one, 1] + u
      log_likelihood_at(evaluator, theta, g)
    }, 0))
  }
  best <- stats::optimize(height, c(-6, 6), maximum = TRUE, tol = 1e-6)
  expect_lt(abs(data$own[one] - best$maximum), 0.02)
  bend <- (height(best$maximum + 0.1) - 2 * best$objective + height(best$maximum - 0.1)) / 0.01
  expect_equal((data$own.high - data$own)[one], stats::qnorm(0.975) / sqrt(-bend), tolerance = 0.05)
})

test_that("levels whose decisions say the same at every end have no own estimate", {
  data <- shrinkage_data(personal_fit(), "alpha")
  expect_identical(unique(data$term), "alpha")
  expect_true(anyNA(data$own))
  expect_identical(is.na(data$own.low), is.na(data$own))
})

test_that("the picture draws the data, and says in words what it shows", {
  skip_if_not_installed("ggplot2")
  fit <- differing_fit()
  picture <- plot_shrinkage(fit)
  data <- shrinkage_data(fit)
  built <- ggplot2::ggplot_build(picture)
  points <- built$data[[length(built$data)]]
  expect_equal(points$y, data$pooled[!is.na(data$own)])
  expect_match(ggplot2::get_alt_text(picture), "6 levels of clinician for optimism")
})

test_that("where no level has an own estimate, the error says what there is instead", {
  skip_if_not_installed("ggplot2")
  fit <- differing_fit()
  data <- shrinkage_data(fit)
  data[c("own", "own.low", "own.high", "shrinkage")] <- NA_real_
  expect_refused(draw_shrinkage(data, fit), "fit", "shrinkage_data\\(fit\\) has the pooled")
  # One level is enough.
  data$own[2] <- 0.1
  expect_s3_class(draw_shrinkage(data, fit), "ggplot")
})

test_that("fits without random intercepts or without data are refused", {
  expect_refused(shrinkage_data(clinic_fit()), "fit", "random intercepts")
  expect_refused(plot_shrinkage(clinic_fit()), "fit")
  expect_refused(shrinkage_data(differing_fit(), "alpha"), "term")
  expect_refused(shrinkage_data(differing_fit(), cores = 0), "cores")
  bare <- differing_fit()
  bare["histories"] <- list(NULL)
  expect_refused(shrinkage_data(bare), "fit", "keep_data")
})

test_that("all terms are drawn, and those on a logarithm say so", {
  skip_if_not_installed("ggplot2")
  fit <- people_run(list(alpha ~ (1 | clinician), optimism ~ (1 | clinician)))
  picture <- plot_shrinkage(fit)
  drawn <- unique(shrinkage_data(fit)$term)
  expect_identical(drawn, c("alpha", "optimism"))
  panels <- ggplot2::ggplot_build(picture)$layout$layout$panel
  expect_identical(as.character(panels), c("log alpha, by clinician", "optimism, by clinician"))
  expect_match(gsub("\n", " ", picture$labels$caption), "their lengths cannot be compared")
})
