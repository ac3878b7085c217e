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
