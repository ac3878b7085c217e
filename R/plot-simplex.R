#' Draw the beliefs behind decisions on a patient
#'
#' Draws the path that beliefs took over the visits of a patient, on the belief simplex: the closer to a corner, the
#' more probable its state. The left side shows how the fitted agent saw the patient. The right side shows how a
#' perfectly rational agent (`bounded_agent()`) with the same setting would have, given the same actions and
#' observations. The ground shows which action the agent is likeliest to take at each belief, and lines show where that
#' changes. Marks show which action was taken. A mark on the ground of another action was not to be expected of that
#' agent. With two states the simplex is an interval, and visits follow each other downwards.
#'
#' Regions are exact for the plan: they are worked out on its lattice, not drawn from a grid of points. On a simplex,
#' visits that share a belief and an action share a mark, with their number beside it. Marks of other actions at that
#' belief stand next to it, towards the middle.
#'
#' With three states, two actions and a bonus for being sure ([certainty_bonus()]), an agent may not ask for a test
#' where it knows least. Such a patch in the middle is explained in the caption: by how much one test raises the chance
#' to be sure there, and where it is asked for.
#'
#' A path ends where its agent has no belief any more ([belief_paths()]); `simplex_data()` has `NA` there.
#'
#' With `draws`, beliefs are means over draws of the posterior, as in [belief_paths()]. The ground then shows the action
#' with the highest mean probability. For the rational agent that is the action which is best at most draws. The ground
#' is worked out at the nodes of the lattice, with straight lines between them. The caption says how many draws there
#' are.
#'
#' @param fit A fit ([ibrc()]), drawn at the posterior medians of the patient's group or averaged over draws, or a
#'   plan ([plan_agent()]). It must have two or three states.
#' @param visits Trajectories ([trajectories()]). For a fit with groups they must have the columns that it was grouped
#'   by. For one by the column of identifiers they must be those of the fit.
#' @param id Which patients: values in the `id` column of `visits`. By default the first.
#' @param show_id Whether panels are titled with these values. They are numbered by default,
#'   so that a picture can be shown without giving anyone away.
#' @param draws How many draws of a fit to average over. `NULL` draws the agent at the posterior medians. Of a fit whose
#'   dynamics were inferred ([ibrc()] with `dynamics`) it averages over 50 draws, each with its own dynamics.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. `simplex_data()` returns the data frame behind it:
#'   * `panel`: the patient.
#'   * `agent`: `"fitted"` or `"rational"`.
#'   * `part`: `"region"`, `"boundary"` or `"path"`.
#'   * `piece`: which polygon or line; for two states, which interval or point.
#'   * `visit`: the visit of a path, from 1.
#'   * One column per state with the belief.
#'   * `action`: the likeliest in a region, the one taken on a path. The last row of a path is the belief that it ended
#'     on ([belief_paths()]) and has no action.
#' @family pictures
#' @export
#' @examples
#' # Testing for one of three conditions, with a test that may be left out.
#' seen <- rbind(c(0.8, 0.1, 0.1), c(0.1, 0.8, 0.1), c(0.1, 0.1, 0.8))
#' setting <- decision_setting(
#'   states = c("a", "b", "c"), actions = c("wait", "test"), observations = c("x", "y", "z"),
#'   transition = 0.9 * diag(3) + 0.1 / 3,
#'   emission = list(wait = matrix(1 / 3, 3, 3), test = seen),
#'   utility = cbind(wait = c(0, 0, 0), test = c(-1, -1, -1)),
#'   belief_utility = function(beliefs, action) 3 * (apply(beliefs, 1, max) > 0.7), discount = 0.9
#' )
#' plan <- plan_agent(setting, bounded_agent(alpha = 1), resolution = 30)
#' visits <- simulate(plan, nsim = 8, seed = 1, horizon = 5)
#' tail(simplex_data(plan, visits, id = c(3, 8)))
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   plot_simplex(plan, visits, id = c(3, 8))
#' }
plot_simplex <- function(fit, visits, id = NULL, show_id = FALSE, draws = NULL, ...) {
  check_given(fit, visits)
  check_unused(...)
  setting <- check_drawable(fit)
  require_package("ggplot2", "Drawing beliefs")
  draw_paths(simplex_data(fit, visits, id, show_id, draws), setting, path_caption(fit, draws))
}

draw_paths <- function(data, setting, caption = path_caption()) {
  data <- data[!(data$part == "path" & is.na(data[[setting$states[1]]])), ]
  draw <- if (length(setting$states) == 2) draw_interval_paths else draw_simplex_paths
  ground <- data[data$part == "region" & data$agent == "fitted", ]
  if (length(setting$states) == 3 && nrow(ground)) {
    pieces <- ground_pieces(ground, setting$states)
    caption <- c(caption, island_words(setting, pieces$beliefs, pieces$action, pieces$area))
  }
  draw(data, setting) + ggplot2::labs(caption = in_lines(paste(caption, collapse = " ")))
}

path_caption <- function(fit = NULL, draws = NULL) {
  averaged <- averaged_over(fit, draws)
  paste0("Ring: first visit.", if (!is.null(averaged)) paste0(" Means over ", plural(nrow(averaged), "draw"), "."))
}

#' @rdname plot_simplex
#' @export
simplex_data <- function(fit, visits, id = NULL, show_id = FALSE, draws = NULL) {
  check_given(fit, visits)
  setting <- check_drawable(fit)
  check_visits(visits)
  show_id <- check_flag(show_id, "show_id")
  who <- plain_visits(visits)[[attr(visits, "roles")$id]]
  known <- id_text(who[!duplicated(id_codes(who))])
  chosen <- chosen_trajectories(id, known)
  averaged <- averaged_over(fit, draws)
  if (inherits(fit, "ibrc_fit")) fit <- with_new_cells(fit, visits, only = chosen)
  plans <- group_plans(fit)
  rational <- rational_plans(plans)
  paths <- trace_paths(fit, visits, TRUE, chosen, averaged, plans, rational)
  ground_of <- path_grounds(fit, plans, rational, averaged)
  groups <- if (is.null(paths$.group)) 1L else unique(as.integer(paths$.group))
  grounds <- stats::setNames(lapply(groups, ground_of), groups)
  labels <- if (show_id) known[chosen] else paste("Patient", seq_along(chosen))
  pieces <- lapply(seq_along(chosen), function(i) {
    mine <- paths[paths$.trajectory == chosen[i], ]
    group <- if (is.null(mine$.group)) 1L else as.integer(mine$.group[1])
    label <- paste0(labels[i], if (length(plans) > 1) paste0(" (", names(plans)[group], ")"))
    ground <- grounds[[as.character(group)]]
    cbind(panel = label, rbind(agent_rows("fitted", ground$own, mine, visits, setting),
                               agent_rows("rational", ground$best, mine, visits, setting)))
  })
  out <- do.call(rbind, pieces)
  out$panel <- factor(out$panel, levels = unique(out$panel))
  rownames(out) <- NULL
  out
}

# A function of the number of a group: where each action is the likeliest to the agent and to the rational one.
path_grounds <- function(fit, plans, rational, averaged) {
  function(group) {
    if (is.null(averaged)) {
      return(list(own = decision_regions(plans[[group]]), best = decision_regions(rational[[group]])))
    }
    lapply(mean_policies(fit, group, averaged), function(score) decision_regions(plans[[group]], score))
  }
}

check_drawable <- function(fit) {
  if (!inherits(fit, "ibrc_plan")) check_class(fit, "ibrc_fit", "fit", "ibrc() or plan_agent()")
  refuse_several(fit, "fit", "plot_simplex()")
  setting <- if (inherits(fit, "ibrc_plan")) fit$setting else fit$problem$setting
  n <- length(setting$states)
  if (n > 3) {
    abort_input("fit", "has ", n, " states: beliefs can be drawn for two or three. ",
                "belief_paths() gives the numbers as a data frame.")
  }
  setting
}

# Which of `known` trajectories; what is not among them is said by its position alone.
chosen_trajectories <- function(id, known) {
  if (is.null(id)) return(1L)
  if (!is.atomic(id) || !length(id)) abort_input("id", "must be values of the id column, not ", describe(id), ".")
  at <- match(id_text(plain_ids(id)), known)
  bad <- which(is.na(at))
  if (length(bad)) abort_input("id", "is not in the id column of `visits` at position ", bad[1], ".", rows = bad)
  if (anyDuplicated(at)) {
    abort_input("id", "has the same value more than once (position ", anyDuplicated(at), ").", rows = anyDuplicated(at))
  }
  at
}

agent_rows <- function(agent, ground, path, visits, setting) {
  prefix <- if (agent == "fitted") ".belief_" else ".rational_belief_"
  beliefs <- path[paste0(prefix, setting$states)]
  names(beliefs) <- setting$states
  taken <- as.character(path[[attr(visits, "roles")$action]])
  steps <- data.frame(part = "path", piece = NA_integer_, visit = path$.visit, beliefs,
                      action = factor(taken, levels = setting$actions), check.names = FALSE)
  ground <- cbind(ground[c("part", "piece")], visit = NA_integer_, ground[c(setting$states, "action")])
  cbind(agent = factor(agent, levels = c("fitted", "rational")), rbind(ground, steps))
}

# The belief simplex of three states as an equilateral triangle: first state at
# the lower left, second at the lower right, third on top.

draw_simplex_panels <- function(data, setting, columns, caption, state) {
  states <- setting$states
  cells <- do.call(rbind, lapply(split(data[data$part == "policy", ], ~panel), function(one) {
    wide <- one[one$action == setting$actions[1], ]
    chances <- matrix(one$probability, nrow(wide))
    best <- max.col(chances, ties.method = "first")
    shape <- simplex_cells(as.matrix(wide[states]))
    shape$panel <- one$panel[1]
    shape$action <- factor(setting$actions[best], levels = setting$actions)[shape$cell]
    shape$probability <- chances[cbind(seq_along(best), best)][shape$cell]
    cbind(shape, wide[states][shape$cell, ])
  }))
  cells$group <- paste(cells$panel, cells$cell)
  frame <- cbind(simplex_xy(diag(3)), label = as_label(states), across = c(0, 1, 0.5), up = c(1.7, 1.7, -0.8))
  floor_chance <- 1 / length(setting$actions)
  first <- cells[!duplicated(cells$group), ]
  caption <- paste(c(caption, island_words(setting, as.matrix(first[states]), first$action)), collapse = " ")
  picture <- ggplot2::ggplot(cells, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::geom_polygon(ggplot2::aes(group = .data$group, fill = .data$action, alpha = .data$probability)) +
    ggplot2::geom_polygon(data = frame, fill = NA, colour = "grey50", linewidth = 0.4) +
    draw_names(frame) +
    scale_names(setting$actions, "fill", order = 1) +
    ggplot2::scale_alpha_continuous(range = c(0.25, 0.95), limits = c(floor_chance, 1), n.breaks = 4) +
    ggplot2::guides(alpha = ggplot2::guide_legend(nrow = 1, order = 2)) +
    ggplot2::coord_equal(clip = "off", ylim = c(-0.07, 0.95)) +
    ggplot2::labs(fill = "Likeliest action", alpha = "Its probability",
                  caption = if (nzchar(caption)) in_lines(caption, 50)) +
    theme_diagram()
  path <- data[data$part == "path", ]
  if (nrow(path)) {
    path[c("across", "up")] <- simplex_xy(as.matrix(path[states]))
    picture <- picture + draw_triangles(path)
  }
  add_panels(picture, data, columns)
}
