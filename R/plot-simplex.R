# The belief simplex of three states as an equilateral triangle: first state at
# the lower left, second at the lower right, third on top.

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

# Corners of each small triangle around its centre, three rows a triangle.
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

draw_simplex_panels <- function(data, setting, columns) {
  states <- setting$states
  cells <- do.call(rbind, lapply(split(data[data$part == "policy", ], ~panel), function(one) {
    wide <- one[one$action == setting$actions[1], ]
    chances <- matrix(one$probability, nrow(wide))
    best <- max.col(chances, ties.method = "first")
    shape <- simplex_cells(as.matrix(wide[states]))
    shape$panel <- one$panel[1]
    shape$action <- factor(setting$actions[best], levels = setting$actions)[shape$cell]
    shape$probability <- chances[cbind(seq_along(best), best)][shape$cell]
    shape
  }))
  cells$group <- paste(cells$panel, cells$cell)
  frame <- cbind(simplex_xy(diag(3)), label = as_label(states), across = c(0, 1, 0.5), up = c(1.7, 1.7, -0.8))
  floor_chance <- 1 / length(setting$actions)
  picture <- ggplot2::ggplot(cells, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::geom_polygon(ggplot2::aes(group = .data$group, fill = .data$action, alpha = .data$probability)) +
    ggplot2::geom_polygon(data = frame, fill = NA, colour = "grey30", linewidth = 0.4) +
    ggplot2::geom_text(data = frame, size = 3.2,
                       ggplot2::aes(label = .data$label, hjust = .data$across, vjust = .data$up)) +
    ggplot2::scale_fill_manual(values = action_palette(length(setting$actions)), labels = as_label, drop = FALSE) +
    ggplot2::scale_alpha_continuous(range = c(0.25, 0.95), limits = c(floor_chance, 1)) +
    ggplot2::coord_equal(clip = "off", ylim = c(-0.07, 0.95)) +
    ggplot2::labs(x = NULL, y = NULL, fill = "Likeliest action", alpha = "Probability") +
    theme_ibrc() +
    ggplot2::theme(axis.text = ggplot2::element_blank(), panel.grid = ggplot2::element_blank())
  path <- data[data$part == "path", ]
  if (nrow(path)) {
    path <- cbind(path, simplex_xy(as.matrix(path[states])))
    picture <- picture +
      ggplot2::geom_path(data = path, colour = "grey15", linewidth = 0.5) +
      ggplot2::geom_point(data = path, shape = 17, size = 2, colour = "#B2182B")
  }
  add_panels(picture, data, columns)
}
