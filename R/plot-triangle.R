# The triangle of beliefs over three states: where a belief is drawn. And the small triangles that mark the beliefs of a
# path in every picture of a plan.

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

# Corners of a simplex, each with the name of its state.
draw_names <- function(corners) {
  ggplot2::geom_text(data = corners, size = 2.6, lineheight = 0.85,
                     ggplot2::aes(label = .data$label, hjust = .data$across, vjust = .data$up))
}

# What the numbered triangles are.
triangle_words <- function(data, observations) {
  if (is.null(observations)) return(NULL)
  seen <- as_label(as.character(observations))
  seen[is.na(seen)] <- "nothing"
  paste0("Triangles: the belief at the start (0) and after each observation: ",
         listing(paste(seq_along(seen), seen), 12), ".")
}

# Seen on a white ground and on a dark one.
triangle_colour <- "#D6322F"

# Triangles at columns `across` and `up` of a path, with the number of their visit, as many as can be told apart: to the
# right of one that was come to from the left, and to the left of others, away from the line.
draw_triangles <- function(path) {
  came <- stats::ave(path$across, path$panel, FUN = function(x) c(-diff(x[1:2]), diff(x)))
  path$beside <- ifelse(came %in% NA | came >= 0, -0.9, 1.9)
  last <- max(path$visit)
  shown <- path[path$visit %in% if (last > 8) c(0, last) else path$visit, ]
  list(
    ggplot2::geom_path(data = path, ggplot2::aes(.data$across, .data$up, group = .data$panel), colour = "grey45",
                       linewidth = 0.4, inherit.aes = FALSE),
    ggplot2::geom_point(data = path, ggplot2::aes(.data$across, .data$up), shape = 17, size = 1.7,
                        colour = triangle_colour, inherit.aes = FALSE),
    ggplot2::geom_text(data = shown, ggplot2::aes(.data$across, .data$up, label = .data$visit, hjust = .data$beside),
                       size = 2.4, colour = triangle_colour, inherit.aes = FALSE)
  )
}
