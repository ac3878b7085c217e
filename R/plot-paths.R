# Drawing the paths of beliefs that simplex_data() gives.

agent_titles <- c(fitted = "Fitted agent", rational = "Rational agent")

# Lighter by mixing with white, not by transparency: pieces of one ground may overlap.
tinted <- function(colours, share = 0.72) {
  mixed <- grDevices::col2rgb(colours) / 255 * (1 - share) + share
  grDevices::rgb(mixed[1, ], mixed[2, ], mixed[3, ])
}

end_mark <- "Belief at the end"

# Grounds stand in their own legend, not in that of the marks.
ground_keys <- c(fill = TRUE, colour = FALSE, shape = FALSE, size = FALSE)

# What both kinds of picture share: grounds and marks by action, a legend for either, and
# panels. Solid shapes on white ones a little larger stand out on any ground.
scale_paths <- function(setting) {
  n <- length(setting$actions)
  marks <- c(setting$actions, end_mark)
  list(
    ggplot2::scale_fill_manual(values = stats::setNames(tinted(action_palette(n)), setting$actions), labels = as_label,
                               drop = FALSE, limits = setting$actions),
    ggplot2::scale_colour_manual(values = stats::setNames(c(action_palette(n), "black"), marks), labels = as_label,
                                 limits = marks),
    ggplot2::scale_shape_manual(values = c(rep_len(c(16, 17, 15, 8), n), 18), labels = as_label, limits = marks),
    ggplot2::scale_size_manual(values = c(rep(1.9, n), 2.9), labels = as_label, limits = marks),
    ggplot2::labs(x = NULL, y = NULL, fill = "Likeliest action", colour = "Action taken", shape = "Action taken",
                  size = "Action taken"),
    ggplot2::facet_grid(panel ~ agent, switch = "y", labeller = ggplot2::labeller(agent = agent_titles)),
    ggplot2::guides(fill = path_legend(setting$actions, 1), colour = path_legend(marks, 2),
                    shape = path_legend(marks, 2), size = path_legend(marks, 2)),
    theme_ibrc(),
    ggplot2::theme(legend.box.just = "left", plot.margin = ggplot2::margin(4, 14, 4, 4))
  )
}

path_legend <- function(labels, order) keys_in_lines(labels, order = order, title.position = "top")

draw_marks <- function(path) {
  marks <- path[!duplicated(path[c("panel", "agent", "x", "y")]), ]
  often <- marks[marks$times > 1, ]
  keys <- c(fill = FALSE, colour = TRUE, shape = TRUE, size = TRUE)
  list(
    ggplot2::geom_point(data = marks, colour = "white", size = 2.7),
    ggplot2::geom_point(data = marks, show.legend = keys,
                        ggplot2::aes(colour = .data$mark, shape = .data$mark, size = .data$mark)),
    ggplot2::geom_point(data = marks[marks$visit == 1, ], shape = 1, size = 3.6, stroke = 0.5, colour = "black"),
    if (nrow(often)) ggplot2::geom_text(data = often, ggplot2::aes(label = paste0("x", .data$times)), size = 2.3,
                                        hjust = 0, nudge_x = 0.05)
  )
}

mark_names <- function(action) ifelse(is.na(action), end_mark, as.character(action))

# Visits that share a belief and an action share a mark, with how many they are; other marks at
# that belief stand beside it, a mark's width apart towards the middle.
place_marks <- function(path, width = 0.08) {
  place <- paste(path$panel, path$agent, round(path$x / 0.015), round(path$y / 0.015))
  first <- match(place, place)
  turn <- stats::ave(seq_along(place), place, FUN = function(i) match(path$mark[i], unique(path$mark[i])) - 1)
  path$times <- stats::ave(seq_along(place), place, path$mark, FUN = length)
  inward <- atan2(sqrt(3) / 6 - path$y[first], 0.5 - path$x[first])
  path$x <- path$x[first] + width * turn * cos(inward)
  path$y <- path$y[first] + width * turn * sin(inward)
  path
}

# From each mark to the next, ending short of either. Moves too small for an arrow have none.
arrow_rows <- function(path, gap) {
  n <- nrow(path)
  from <- path[-n, ]
  to <- path[-1, ]
  dx <- to$x - from$x
  dy <- to$y - from$y
  length <- sqrt(dx^2 + dy^2)
  from$x_end <- to$x - gap * dx / length
  from$y_end <- to$y - gap * dy / length
  from$x <- from$x + gap * dx / length
  from$y <- from$y + gap * dy / length
  same <- from$panel == to$panel & from$agent == to$agent
  from[same & length > 3 * gap, ]
}

draw_arrows <- function(moves, curvature) {
  if (!nrow(moves)) return(NULL)
  ggplot2::geom_curve(data = moves, ggplot2::aes(xend = .data$x_end, yend = .data$y_end), curvature = curvature,
                      linewidth = 0.3, colour = "grey15",
                      arrow = ggplot2::arrow(length = ggplot2::unit(3, "pt"), type = "closed"))
}

draw_simplex_paths <- function(data, setting) {
  data <- cbind(data, simplex_xy(as.matrix(data[setting$states])))
  ground <- data[data$part == "region", ]
  edges <- data[data$part == "boundary", ]
  path <- data[data$part == "path", ]
  path$mark <- mark_names(path$action)
  path <- place_marks(path)
  corners <- simplex_xy(diag(3))
  named <- cbind(corners, across = c(0, 1, 0.5), up = c(1, 1, 0),
                 label = vapply(strwrap(as_label(setting$states), 10, simplify = FALSE), paste, "", collapse = "\n"))
  # Away from marks in the corners.
  named$y <- named$y + c(-0.06, -0.06, 0.08)
  ggplot2::ggplot(ground, ggplot2::aes(.data$x, .data$y)) +
    # Its own colour around each piece closes the seams between them.
    ggplot2::geom_polygon(ggplot2::aes(group = .data$piece, fill = .data$action,
                                       colour = ggplot2::after_scale(.data$fill)), linewidth = 0.1,
                          show.legend = ground_keys) +
    ggplot2::geom_line(data = edges, ggplot2::aes(group = .data$piece), colour = "grey25", linewidth = 0.4,
                       orientation = "x") +
    ggplot2::geom_polygon(data = corners, fill = NA, colour = "grey30", linewidth = 0.4) +
    draw_names(named) +
    draw_arrows(arrow_rows(path, gap = 0.03), curvature = 0.2) +
    draw_marks(path) +
    ggplot2::coord_equal(clip = "off", xlim = c(0, 1), ylim = c(-0.2, 1)) +
    scale_paths(setting) +
    ggplot2::theme(axis.text = ggplot2::element_blank(), panel.grid = ggplot2::element_blank())
}

# Two states: belief across, visits downwards.
draw_interval_paths <- function(data, setting) {
  state <- setting$states[2]
  path <- data[data$part == "path", ]
  path$x <- path[[state]]
  path$y <- path$visit
  path$mark <- mark_names(path$action)
  path$times <- 1
  ends <- data[data$part == "region", ]
  odd <- seq(1, nrow(ends), by = 2)
  ground <- cbind(ends[odd, ], from = ends[[state]][odd], to = ends[[state]][odd + 1])
  edges <- data[data$part == "boundary", ]
  edges$at <- edges[[state]]
  ggplot2::ggplot(path, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::geom_rect(data = ground, inherit.aes = FALSE,
                       ggplot2::aes(xmin = .data$from, xmax = .data$to, ymin = -Inf, ymax = Inf,
                                    fill = .data$action), show.legend = ground_keys) +
    ggplot2::geom_vline(data = edges, ggplot2::aes(xintercept = .data$at), colour = "grey25", linewidth = 0.4) +
    ggplot2::geom_path(ggplot2::aes(group = .data$panel), colour = "grey15", linewidth = 0.3) +
    draw_marks(path) +
    ggplot2::scale_x_continuous(limits = c(0, 1), breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1"),
                                expand = ggplot2::expansion(0.02)) +
    ggplot2::scale_y_reverse(breaks = visit_breaks, expand = ggplot2::expansion(add = 0.6)) +
    ggplot2::coord_cartesian(clip = "off") +
    scale_paths(setting) +
    ggplot2::labs(x = paste0("Belief: probability of \"", as_label(state), "\""), y = "Visit") +
    ggplot2::theme(panel.grid = ggplot2::element_blank(), strip.placement = "outside")
}

# From the first visit on, about five.
visit_breaks <- function(range) {
  last <- max(abs(range))
  seq(1, max(1, last), by = max(1, round(last / 5)))
}
