test_that("small triangles tile the simplex", {
  for (n in c(1, 2, 7)) {
    centres <- simplex_centres(n)
    expect_identical(nrow(centres), as.integer(n^2))
    expect_close(rowSums(centres), rep(1, n^2), 1e-12)
    expect_true(all(centres > 0))
    cells <- simplex_cells(centres)
    area <- vapply(split(cells, cells$cell), function(one) {
      abs((one$x[2] - one$x[1]) * (one$y[3] - one$y[1]) - (one$x[3] - one$x[1]) * (one$y[2] - one$y[1])) / 2
    }, 0)
    expect_close(area, rep(sqrt(3) / 4 / n^2, n^2), 1e-12)
    # Each around its own centre.
    expect_close(tapply(cells$x, cells$cell, mean), simplex_xy(centres)$x, 1e-12)
    expect_close(tapply(cells$y, cells$cell, mean), simplex_xy(centres)$y, 1e-12)
  }
})

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
