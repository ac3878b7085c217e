#' Draw plans
#'
#' Draws what each plan does at every belief or in every state, and where given observations lead.
#'
#' With two hidden states: the probability of each action against the belief, and under it the path that the belief
#' takes over given observations, as in the paper's Figure 2: a triangle for each visit, with its number. With three:
#' the belief simplex coloured by the likeliest action, darker where it is surer, with the path on it. The caption says
#' what was seen.
#'
#' Where the state is seen: a bar for each state, divided by how likely each action is there, and to the right of the
#' bars the states that given observations lead through, visit by visit.
#'
#' A plan by [plan_history_q_learning()] has a bar for each of the histories that were met most often, up to 12.
#'
#' @param x A plan ([plan_agent()] or another of the [planners()]), or a projection ([project_behavior()]), whose plan
#'   is drawn.
#' @param plans A list of plans for one setting; names become panel titles. The state is seen in all of them, or in
#'   none.
#' @param observations What is seen, visit by visit; `NULL` draws no path.
#' @param actions The actions taken meanwhile, one for all visits or one per visit.
#'   By default the likeliest action at each belief that does not end the
#'   trajectory.
#' @param state With two hidden states, whose probability is on the axis: the second by
#'   default.
#' @param columns Number of panels side by side.
#' @param ... Not used.
#'
#' @return A `ggplot` object; it needs the package ggplot2. `plans_data()` returns
#'   the data frame behind the picture: `panel`, `part` (`"policy"` or `"path"`),
#'   `visit`, one column per state, `action` and `probability`. Where the state is seen, the beliefs in it are the sure
#'   ones, one for each state. The data of a plan by history are those of [tidy()][tidy.ibrc_plan].
#' @family pictures
#' @export
#' @examples
#' setting <- diag_setting()
#' neutral <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' optimist <- update(neutral, bounded_agent(alpha = 0.5, beta = 1.25))
#' plans <- list(neutral = neutral, optimist = optimist)
#' tail(plans_data(plans, observations = c("positive", "positive")), 3)
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   plot_plans(plans, observations = rep("positive", 3))
#' }
#' states <- c("well", "ill")
#' seen <- decision_setting(
#'   states, c("wait", "treat"), states,
#'   list(wait = rbind(c(0.9, 0.1), c(0, 1)), treat = rbind(c(0.9, 0.1), c(0.7, 0.3))), "identity",
#'   cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9
#' )
#' soft <- plan_kl(seen, alpha = 1)
#' plans_data(soft)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(soft)
plot_plans <- function(plans, observations = NULL, actions = NULL, state = NULL, columns = NULL) {
  check_given(plans)
  plans <- check_plans(plans)
  if (!is.null(columns)) columns <- check_count(columns, "columns")
  if (!is.null(state)) check_choice(state, plans[[1]]$setting$states, "state")
  setting <- plans[[1]]$setting
  seen <- is_vertices(plans[[1]]$space)
  if (seen && !is.null(state)) {
    abort_input("state", "has no effect where the state is seen: each has a bar.")
  }
  refuse_many_states(length(setting$states), seen)
  require_package("ggplot2", "Drawing a plan")
  data <- plans_data(plans, observations, actions)
  draw <- if (seen) draw_state_panels else if (length(setting$states) == 2) draw_line_panels else draw_simplex_panels
  draw(data, setting, columns, triangle_words(data, observations), state)
}

# More bars than that are not told apart.
most_bars <- 40

refuse_many_states <- function(n_states, seen) {
  if (n_states <= if (seen) most_bars else 3) return(invisible())
  abort_input("plans", "can be drawn for ", if (seen) paste("up to", most_bars) else "two or three", " states",
              if (!seen) " that are hidden", ", not ", n_states, "; tidy() gives the numbers as a data frame.")
}

#' @rdname plot_plans
#' @importFrom graphics plot
#' @export
plot.ibrc_plan <- function(x, observations = NULL, actions = NULL, state = NULL, ...) {
  check_unused(...)
  plot_plans(list(x), observations, actions, state)
}

#' @rdname plot_plans
#' @export
plot.ibrc_projection <- function(x, ...) plot(x$plan, ...)

#' @rdname plot_plans
#' @export
plot.ibrc_history_plan <- function(x, ...) {
  check_unused(...)
  require_package("ggplot2", "Drawing a plan")
  data <- tidy(x)
  met <- data[!duplicated(data$history), ]
  if (!nrow(met)) abort_input("x", "knows no history yet: there is nothing to draw. Plan with more `steps`.")
  often <- met$history[utils::head(order(-met$met), 12)]
  data <- data[data$history %in% often, ]
  words <- function(history) gsub(", then ", "\nthen ", as_label(history))
  data$row <- factor(words(data$history), levels = rev(words(often)))
  data$panel <- factor("")
  draw_bars(data, x$setting$actions) + ggplot2::labs(y = "After") +
    ggplot2::scale_x_continuous(breaks = c(0, 0.5, 1))
}

#' @rdname plot_plans
#' @export
plans_data <- function(plans, observations = NULL, actions = NULL) {
  check_given(plans)
  plans <- check_plans(plans)
  panels <- lapply(seq_along(plans), function(i) {
    plan <- plans[[i]]
    states <- plan$setting$states
    inside <- length(states) == 3 && !is_vertices(plan$space)
    where <- if (inside) simplex_centres(min(plan$space$resolution, 60)) else node_beliefs(plan$space)
    colnames(where) <- states
    probability <- policy(plan, where)
    n <- nrow(where)
    lines <- data.frame(
      part = "policy", visit = NA_integer_, where[rep(seq_len(n), ncol(probability)), , drop = FALSE],
      action = factor(rep(plan$setting$actions, each = n), levels = plan$setting$actions),
      probability = as.vector(probability), check.names = FALSE
    )
    cbind(panel = factor(names(plans)[i], levels = names(plans)),
          rbind(lines, path_data(plan, observations, actions)))
  })
  out <- do.call(rbind, panels)
  rownames(out) <- NULL
  out
}

check_plans <- function(plans) {
  if (inherits(plans, "ibrc_plan")) plans <- list(plans)
  if (!is.list(plans) || length(plans) == 0 || !all(vapply(plans, inherits, NA, "ibrc_plan"))) {
    if (inherits(plans, "ibrc_history_plan")) {
      abort_input("plans", "go by histories, not by beliefs: draw each with plot(), and read it with tidy().")
    }
    abort_input("plans", "must be a plan or a list of plans from plan_agent(), not ", describe(plans), ".")
  }
  same <- vapply(plans, function(p) {
    identical(p$setting[c("states", "actions", "observations")],
              plans[[1]]$setting[c("states", "actions", "observations")])
  }, NA)
  if (!all(same)) {
    abort_input("plans", "must all have the same states, actions and observations; plan ",
                which(!same)[1], " has others.", rows = which(!same))
  }
  seen <- vapply(plans, function(p) is_vertices(p$space), NA)
  if (any(seen) && !all(seen)) {
    abort_input("plans", "must not mix plans where the state is seen with plans where it is hidden; plan ",
                which(seen != seen[1])[1], " is of the other kind.", rows = which(seen != seen[1]))
  }
  if (is.null(names(plans))) names(plans) <- rep("", length(plans))
  unnamed <- is.na(names(plans)) | !nzchar(names(plans))
  if (length(plans) > 1) names(plans)[unnamed] <- paste("plan", which(unnamed))
  names(plans) <- make.unique(names(plans), " ")
  plans
}

# The beliefs over a run of observations, the first before any.
path_data <- function(plan, observations, actions) {
  if (is.null(observations)) {
    if (!is.null(actions)) abort_input("actions", "has no effect without `observations` to go with it.")
    return(NULL)
  }
  states <- plan$setting$states
  going_on <- setdiff(plan$setting$actions, plan$setting$stop_actions)
  if (is.null(actions) && !length(going_on)) {
    abort_input("actions", "must be given: every action of this setting ends the trajectory.")
  }
  observations <- plan$setting$observations[
    as_positions(observations, plan$setting$observations, "observations", "observation", missing_ok = TRUE)
  ]
  if (!is.null(actions)) {
    actions <- plan$setting$actions[as_positions(actions, plan$setting$actions, "actions", "action")]
    actions <- match_length(actions, length(observations), "actions", "observation")
  }
  beliefs <- matrix(mean_start(plan$setting), 1, dimnames = list(NULL, states))
  taken <- NA_character_
  for (t in seq_along(observations)) {
    now <- beliefs[t, ]
    act <- if (is.null(actions)) going_on[which.max(policy(plan, now)[1, going_on])] else actions[t]
    beliefs <- rbind(beliefs, update_belief(plan, now, act, observations[t]))
    taken <- c(taken, act)
  }
  data.frame(part = "path", visit = seq_len(nrow(beliefs)) - 1L, beliefs,
             action = factor(taken, levels = plan$setting$actions), probability = NA_real_,
             check.names = FALSE)
}

draw_line_panels <- function(data, setting, columns, caption, state) {
  state <- if (is.null(state)) setting$states[2] else state
  data$belief <- data[[state]]
  lines <- data[data$part == "policy", ]
  path <- data[data$part == "path", ]
  # Triangles go down, visit by visit, over half the height of the panel at most.
  path$up <- -0.07 - min(0.09, 0.5 / max(path$visit, 1)) * path$visit
  picture <- ggplot2::ggplot(lines, ggplot2::aes(.data$belief, .data$probability, colour = .data$action)) +
    ggplot2::geom_line(ggplot2::aes(linetype = .data$action), linewidth = 0.7) +
    scale_names(setting$actions, "colour") +
    ggplot2::scale_linetype_manual(values = rep_len(c("solid", "longdash", "dotted"), length(setting$actions)),
                                   labels = as_label, limits = setting$actions,
                                   guide = keys_in_lines(setting$actions)) +
    ggplot2::scale_y_continuous(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1")) +
    ggplot2::scale_x_continuous(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1")) +
    ggplot2::labs(x = paste0("Belief: probability of \"", as_label(state), "\""),
                  y = "Probability of action", colour = NULL, linetype = NULL, caption = in_lines(caption)) +
    theme_ibrc() +
    ggplot2::theme(legend.key.width = ggplot2::unit(17, "pt"))
  if (nrow(path)) {
    path$across <- path$belief
    picture <- picture + draw_triangles(path) + ggplot2::coord_cartesian(clip = "off")
  }
  add_panels(picture, data, columns)
}

# One bar per `row`, the first on top, divided by action.
draw_bars <- function(data, actions) {
  ggplot2::ggplot(data, ggplot2::aes(.data$probability, .data$row)) +
    ggplot2::geom_col(ggplot2::aes(fill = .data$action), width = 0.7, orientation = "y", colour = "white",
                      linewidth = 0.3, position = ggplot2::position_stack(reverse = TRUE)) +
    ggplot2::geom_text(ggplot2::aes(label = share_label(.data$probability), group = .data$action),
                       size = 2.6, colour = "white",
                       position = ggplot2::position_stack(vjust = 0.5, reverse = TRUE)) +
    scale_names(actions, "fill") +
    ggplot2::labs(x = "Probability of action", fill = NULL) +
    theme_ibrc() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank())
}

# A number where there is room for it.
share_label <- function(probability) ifelse(probability >= 0.14, paste0(round(100 * probability), "%"), "")

draw_state_panels <- function(data, setting, columns, caption, state) {
  sure <- as.matrix(data[setting$states])
  named <- as_narrow_label(setting$states, 22)
  data$row <- factor(named[max.col(sure, "first")], levels = rev(named))
  # Before anything was seen several states may be possible: such a visit has no place.
  path <- data[data$part == "path" & apply(sure, 1, max) > 1 - 1e-9, ]
  path$across <- 1.08 + 0.1 * path$visit
  caption <- if (nrow(path)) {
    sub("the belief at the start (0) and", if (any(path$visit == 0)) "the state at the start (0) and" else "the state",
        caption, fixed = TRUE)
  }
  picture <- draw_bars(data[data$part == "policy", ], setting$actions) +
    ggplot2::scale_x_continuous(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1")) +
    ggplot2::labs(y = "State seen", caption = in_lines(caption))
  if (nrow(path)) {
    path$up <- path$row
    picture <- picture + draw_triangles(path)
  }
  add_panels(picture, data, columns)
}
