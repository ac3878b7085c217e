#' Draw a decision setting
#'
#' One panel per action, or per set of actions that have the same effect. With up to four states it is a diagram: a box
#' for each state with the probability of staying there, arrows to the states that can follow, and below each state what
#' is seen there, the likeliest first. Beside actions that end a trajectory stands "(ends)". With 5 to 60 states it is a
#' heat map of the transitions: rows are states before the action, columns are states after it. What is seen is not
#' drawn then.
#'
#' Utilities are not in the picture: `summary()` of a setting prints them.
#'
#' @param x,setting A setting ([decision_setting()]).
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. Its alternative text says what is drawn. `setting_data()`
#'   returns the data frame behind it, one row per probability above 0: `part` (`"start"`, `"transition"` or
#'   `"emission"`), `action`, `from` (the state before the action, or in which something is seen; `NA` for starts), `to`
#'   (the state after it, or what is seen) and `probability`. Where groups start differently, starts are their mean.
#'   Where the state itself is seen there are no rows of `"emission"`.
#' @family pictures
#' @export
#' @examples
#' head(setting_data(diag_setting()), 4)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(diag_setting())
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(adni_like_truth()$setting)
plot.ibrc_setting <- function(x, ...) {
  check_unused(...)
  n <- length(x$states)
  if (n > most_tiles) {
    abort_input("x", "has ", format_count(n), " states: settings can be drawn with up to ", most_tiles,
                ". setting_data() gives the numbers as a data frame.")
  }
  require_package("ggplot2", "Drawing a setting")
  draw_setting(setting_data(x), x[c("states", "actions", "observations", "stop_actions", "fully_observed", "start_by")])
}

# Up to so many states a diagram can be read, and a heat map has room.
most_boxes <- 4
most_tiles <- 60

#' @rdname plot.ibrc_setting
#' @export
setting_data <- function(setting) {
  check_given(setting)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  start <- mean_start(setting)
  out <- rbind(
    data.frame(part = "start", action = NA_character_, from = NA_character_, to = setting$states,
               probability = unname(start)),
    chance_rows("transition", setting$transition, setting$states, setting$states, setting$actions),
    if (!setting$fully_observed) chance_rows("emission", setting$emission, setting$states, setting$observations,
                                          setting$actions)
  )
  out <- out[out$probability > 0, ]
  out$action <- factor(out$action, setting$actions)
  rownames(out) <- NULL
  out
}

chance_rows <- function(part, law, from, to, actions) {
  if (is_by_rows(law)) {
    row <- entry_rows(law) - 1L
    return(data.frame(part = part, action = actions[row %/% law$size[1] + 1L], from = from[row %% law$size[1] + 1L],
                      to = to[law$to], probability = law$probability))
  }
  each <- expand.grid(from = from, to = to, action = actions, stringsAsFactors = FALSE)
  data.frame(part = part, action = each$action, from = each$from, to = each$to, probability = as.vector(law))
}

draw_setting <- function(data, words) {
  panels <- panels_of_actions(data, words)
  data$panel <- panels[as.character(data$action)]
  # Of actions with the same laws the first stands for all.
  data <- data[is.na(data$action) | data$action %in% names(panels)[!duplicated(panels)], ]
  data$panel <- factor(data$panel, unique(panels))
  picture <- if (length(words$states) > most_boxes) draw_setting_tiles(data, words) else draw_setting_boxes(data, words)
  picture + ggplot2::facet_wrap(~panel, ncol = if (length(words$states) > 2 && length(words$states) <= most_boxes) 1) +
    ggplot2::labs(alt = setting_alt(data, words))
}

# The title of each action's panel, the same for actions whose laws are the same.
panels_of_actions <- function(data, words) {
  laws <- data[data$part != "start", ]
  key <- vapply(words$actions, function(action) {
    own <- laws[laws$action == action, ]
    paste(own$part, own$from, own$to, signif(own$probability, 9), collapse = "\r")
  }, "")
  shown <- paste0(as_label(words$actions), ifelse(words$actions %in% words$stop_actions, " (ends)", ""))
  # Two panels side by side have half the room each.
  room <- if (length(words$states) %in% 3:most_boxes) 44 else 24
  title <- vapply(key, function(one) in_lines(paste(shown[key == one], collapse = ", "), room), "")
  stats::setNames(unname(title), words$actions)
}

# "0.07"; what is less than half of 0.01 is not 0.
chance_label <- function(p) ifelse(p < 0.005, "<0.01", sprintf("%.2f", p))

# States in a line. Arrows to the right go above it, those to the left below, the further the wider.
draw_setting_boxes <- function(data, words) {
  states <- words$states
  moves <- data[data$part == "transition", ]
  moves$start <- match(moves$from, states)
  moves$end <- match(moves$to, states)
  away <- moves[moves$start != moves$end, ]
  arcs <- arc_rows(away)
  # Laws are drawn down to here: what is seen goes below.
  low <- min(-0.4, arcs$y)
  notes <- seen_rows(data[data$part == "emission", ], states, low - 0.12)
  boxes <- box_rows(moves, states)
  labels <- arcs[arcs$top, ]
  labels$label <- chance_label(labels$probability)
  picture <- ggplot2::ggplot(boxes, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::geom_path(data = arcs, ggplot2::aes(group = .data$arc, linewidth = .data$probability), colour = "grey35",
                       arrow = ggplot2::arrow(length = ggplot2::unit(1.5, "mm"), type = "closed")) +
    ggplot2::geom_tile(width = 0.68, height = 0.8, fill = tinted(action_colours[1]), colour = "grey30",
                       linewidth = 0.3) +
    ggplot2::geom_text(ggplot2::aes(label = .data$label), size = 2.3, lineheight = 0.9) +
    ggplot2::scale_linewidth_continuous(range = c(0.25, 1), limits = c(0, 1), guide = "none")
  # Between their arrows and the boxes.
  labels$y <- labels$y - 0.15 * sign(labels$y)
  words_at <- function(data, ...) {
    if (nrow(data)) ggplot2::geom_text(data = data, ggplot2::aes(label = .data$label), size = 2.2, ...)
  }
  picture <- picture + words_at(labels) + words_at(notes, vjust = 1, lineheight = 0.95, colour = "grey20")
  lines <- max(0, notes$lines)
  picture +
    ggplot2::coord_cartesian(xlim = c(0.6, length(states) + 0.4),
                             ylim = c(low - 0.12 - 0.25 * lines, max(0.4, arcs$y) + 0.08), clip = "off") +
    ggplot2::labs(caption = in_lines(setting_caption(data, words))) +
    theme_diagram()
}

# A box for each state in each panel, with how probable it is to stay there.
box_rows <- function(moves, states) {
  out <- merge(data.frame(panel = unique(moves$panel)), data.frame(x = seq_along(states)))
  stays <- moves[moves$start == moves$end, ]
  stay <- stays$probability[match(paste(out$panel, out$x), paste(stays$panel, stays$start))]
  out$label <- paste0(as_narrow_label(states[out$x], 12),
                      ifelse(is.na(stay), "", paste0("\nstays ", chance_label(stay))))
  out$y <- 0
  out
}

# Points along arrows, and which of them is the top, where its probability stands.
arc_rows <- function(away) {
  steps <- seq(0, 1, length.out = 21)
  pieces <- lapply(seq_len(nrow(away)), function(i) {
    one <- away[i, ]
    side <- sign(one$end - one$start)
    far <- abs(one$end - one$start)
    from <- one$start + side * 0.16
    to <- one$end - side * 0.16
    # A parabola that leaves the edge of a box and comes down on that of another.
    y <- side * (0.4 + 4 * (0.14 + 0.26 * far) * steps * (1 - steps))
    data.frame(panel = one$panel, arc = i, x = from + (to - from) * steps, y = y, probability = one$probability,
               top = steps == 0.5)
  })
  if (!length(pieces)) {
    return(data.frame(panel = factor(), arc = integer(), x = numeric(), y = numeric(), probability = numeric(),
                      top = logical()))
  }
  do.call(rbind, pieces)
}

# What is seen in each state, the likeliest first, in a few lines.
seen_rows <- function(seen, states, y, most = 3) {
  if (!nrow(seen)) {
    return(data.frame(panel = factor(), x = numeric(), y = numeric(), label = character(), lines = numeric()))
  }
  width <- if (length(states) == 2) 18 else floor(64 / length(states))
  pieces <- lapply(split(seen, list(seen$panel, factor(seen$from, states)), drop = TRUE), function(one) {
    one <- one[order(-one$probability), ]
    rest <- if (nrow(one) > most) seq(most, nrow(one)) else integer()
    shown <- one[setdiff(seq_len(nrow(one)), rest), ]
    lines <- c(paste(as_label(shown$to), chance_label(shown$probability)),
               if (length(rest)) paste(length(rest), "others", chance_label(sum(one$probability[rest]))))
    lines <- unlist(lapply(lines, strwrap, width))
    data.frame(panel = one$panel[1], x = match(one$from[1], states), y = y,
               label = paste(c("seen:", lines), collapse = "\n"), lines = length(lines) + 1)
  })
  do.call(rbind, pieces)
}

setting_caption <- function(data, words) {
  start <- data[data$part == "start", ]
  paste0("Boxes: states. Arrows: probabilities of the next state",
         if (words$fully_observed) "; the state is seen. " else ". Below: what is seen in the new state. ",
         if (is.null(words$start_by)) "Start: " else "Mean start: ",
         listing(paste(as_label(start$to), chance_label(start$probability))), ".")
}

# Rows before, columns after; numbers where there is room, names where there are few.
draw_setting_tiles <- function(data, words) {
  states <- words$states
  n <- length(states)
  moves <- data[data$part == "transition", ]
  moves$start <- match(moves$from, states)
  moves$end <- match(moves$to, states)
  ticks <- if (n <= 15) seq_len(n) else unique(round(pretty(c(1, n), 5)))
  ticks <- ticks[ticks >= 1 & ticks <= n]
  named <- if (n <= 15) as_label(states) else format_plain(ticks)
  picture <- ggplot2::ggplot(moves, ggplot2::aes(.data$end, .data$start)) +
    ggplot2::geom_tile(ggplot2::aes(fill = .data$probability)) +
    ggplot2::scale_fill_gradient(low = tinted(action_colours[1], 0.9), high = action_colours[1], limits = c(0, 1),
                                 breaks = c(0, 0.5, 1),
                                 guide = ggplot2::guide_colourbar(title.position = "top")) +
    ggplot2::scale_x_continuous(breaks = ticks, labels = named, expand = ggplot2::expansion(add = 0.1)) +
    ggplot2::scale_y_reverse(breaks = ticks, labels = named, expand = ggplot2::expansion(add = 0.1)) +
    ggplot2::coord_equal() +
    theme_ibrc() +
    ggplot2::guides(x = ggplot2::guide_axis(angle = if (n <= 15) 60)) +
    ggplot2::labs(x = if (n <= 15) "State after" else "State after, by number",
                  y = if (n <= 15) "State before" else "State before, by number", fill = "Probability",
                  caption = in_lines(paste0("White: cannot follow. ", if (!words$fully_observed)
                    "What is seen is not drawn: setting_data() has it.")))
  if (n > 8) return(picture)
  picture + ggplot2::geom_text(ggplot2::aes(label = chance_label(.data$probability)), size = 1.9,
                               colour = ifelse(moves$probability > 0.6, "white", "black"))
}

# What the picture shows, for who cannot see it.
setting_alt <- function(data, words) {
  likely <- data[data$part == "transition" & data$from != data$to, ]
  likely <- utils::head(likely[order(-likely$probability), ], 6)
  paste0(if (length(words$states) > most_boxes) "A heat map of transitions between " else "A diagram of ",
         plural(length(words$states), "state"), ", one panel for each of ", plural(nlevels(data$panel), "set"),
         " of actions with the same effect. ",
         if (nrow(likely)) paste0("Likeliest moves: ", paste0(likely$from, " to ", likely$to, " ",
                                                             chance_label(likely$probability), " (", likely$action, ")",
                                                             collapse = "; "), "."))
}
