# The triangle of beliefs over three states: where a belief is drawn.

simplex_xy <- function(beliefs) {
  data.frame(x = beliefs[, 2] + beliefs[, 3] / 2, y = sqrt(3) / 2 * beliefs[, 3])
}

# The small triangles that tile the simplex at a resolution: their centres as
# beliefs, upright ones first.
simplex_centres <- function(n) {
  upright <- expand.grid(a = 0:(n - 1), b = 0:(n - 1))
  upright <- upright[upright$a + upright$b <= n - 1, ]
  turned <- upright[upright$a + upright$b <= n - 2, ]
  second <- c(upright$a + 1 / 3, turned$a + 2 / 3) / n
  third <- c(upright$b + 1 / 3, turned$b + 2 / 3) / n
  unname(cbind(1 - second - third, second, third))
}

# Corners of each small triangle around its centre, three rows per triangle.
simplex_cells <- function(beliefs) {
  n <- round(simplex_side(nrow(beliefs)))
  base <- floor(beliefs[, 2:3, drop = FALSE] * n + 1e-9)
  turned <- rowSums(beliefs[, 2:3, drop = FALSE] * n - base) > 1
  corner <- function(up, down) {
    shift <- ifelse(turned, list(down), list(up))
    shift <- do.call(rbind, shift)
    at <- (base + shift) / n
    cbind(1 - rowSums(at), at)
  }
  corners <- rbind(corner(c(0, 0), c(1, 0)), corner(c(1, 0), c(0, 1)), corner(c(0, 1), c(1, 1)))
  cbind(simplex_xy(corners), cell = rep(seq_len(nrow(beliefs)), 3))
}

# n^2 small triangles tile the simplex.
simplex_side <- function(n_cells) sqrt(n_cells)
