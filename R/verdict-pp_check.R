#' Compare decisions with those of a fitted agent
#'
#' Compares what was done with what agents drawn from the posterior do one step ahead: at every visit, given what had
#' really been done and observed until then. Where the observed points lie outside the bars of the replicates, the
#' behaviour has something that the model cannot produce. [behaviour_check()] tests this and [verdict()] reduces it to
#' one number.
#'
#' @param object A fit ([ibrc()]) that was not made with `keep_data = FALSE` ([ibrc_control()]). Where people differ
#'   (`effects` of [ibrc()]), cells are taken together, and `group` is `"all"`.
#' @param type What to compare: how often each action is taken, one step ahead. By `"visit"`, the number of the visit;
#'   by `"belief"`, in ten bins; by `"last_action"` or by `"last_observation"`. Beliefs are those of the agent (and of
#'   the dynamics, where these were inferred) at the posterior median ([project_behavior()]), in the second of two
#'   states, or else in the likeliest. Or `"length"`: how long trajectories are, with outcomes drawn anew
#'   ([posterior_predict()]). It is refused where no action ends a trajectory, since follow-up is then the data's own
#'   and agrees by construction.
#' @param draws,seed As in [posterior_predict()].
#' @param ... Not used.
#' @return `pp_check()`: a `ggplot` object; it needs the package ggplot2. Of two actions it draws the second alone,
#'   since the shares of the first are the rest. Points of fewer than 5 visits are hollow.
#'
#'   `pp_data()`: the data frame behind it, with both actions:
#'   * `group`: the group.
#'   * `visit`, `belief` (the middle of the bin), `last_action`, `last_observation` or `length`.
#'   * `action`: the action, except for lengths.
#'   * `n`: the visits or trajectories seen there.
#'   * `observed`: the share among them.
#'   * `replicated`, `conf.low` and `conf.high`: the median replicated share with its central 90% interval.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 300, seed = 1,
#'             control = ibrc_control(check = FALSE))
#' pp_data(fit, "last_observation", draws = 20, seed = 1)
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   pp_check(fit, "belief", draws = 20, seed = 1)
#' }
pp_check <- function(object, ...) {
  check_given(object)
  UseMethod("pp_check")
}

pp_types <- c("visit", "belief", "last_action", "last_observation", "length")

#' @rdname pp_check
#' @rawNamespace S3method(bayesplot::pp_check, ibrc_fit)
#' @export
pp_check.ibrc_fit <- function(object, type = c("visit", "belief", "last_action", "last_observation", "length"),
                              draws = 50, seed = NULL, ...) {
  check_unused(...)
  type <- check_choice(type, pp_types, "type")
  require_package("ggplot2", "Drawing a check")
  draw_check(pp_data(object, type, draws, seed), type, object)
}

#' @export
pp_check.default <- function(object, ...) hand_on(object, "bayesplot", "pp_check", ...)

#' @rdname pp_check
#' @export
pp_data <- function(object, type = c("visit", "belief", "last_action", "last_observation", "length"), draws = 50,
                    seed = NULL) {
  check_given(object)
  type <- check_choice(type, pp_types, "type")
  need_data(object, "A check against the data")
  refuse_several(object, "object", "pp_check()")
  object <- only_met(object)
  if (type == "length" && !length(object$problem$setting$stop_actions)) {
    abort_input("type", "= \"length\" says nothing here: no action of the setting ends a trajectory, so ",
                "replicates are as long as what was seen. Look at \"visit\".")
  }
  chosen <- spaced_draws(object, draws)
  plans <- group_plans(object)
  ends <- if (type == "length") follow_up(object, NULL)
  # Cells of a population are counted together: one by one they are small.
  groups <- if (has_population(object)) list(all = seq_along(object$draws)) else
    stats::setNames(as.list(seq_along(object$draws)), names(object$draws))
  pieces <- drawn_from(seed, lapply(names(groups), function(name) {
    own <- groups[[name]]
    out <- if (type == "length") length_shares(object, own, chosen, ends) else
      one_step_shares(object, own, chosen, plans, type)
    cbind(group = factor(name, levels = names(groups)), out)
  }))
  out <- do.call(rbind, pieces)
  attr(out, "seed") <- NULL
  rownames(out) <- NULL
  out
}

# Shares of actions in each place [place, action], seen and replicated at the real histories, for some groups together.
one_step_shares <- function(fit, groups, chosen, plans, type) {
  parts <- lapply(groups, function(group) one_step_counts(fit, group, chosen, plans[[group]], type))
  at <- common_places(lapply(parts, `[[`, "at"))
  actions <- fit$problem$setting$actions
  size <- numeric(length(at))
  seen <- matrix(0, length(at), length(actions))
  made <- array(0, c(length(at), length(actions), nrow(chosen)))
  for (part in parts) {
    own <- match(as.character(part$at), as.character(at))
    size[own] <- size[own] + part$size
    seen[own, ] <- seen[own, ] + part$seen
    made[own, , ] <- made[own, , ] + array(part$made, c(length(own), length(actions), nrow(chosen)))
  }
  shares_table(at, actions, size, as.vector(seen) / size, matrix(made, ncol = nrow(chosen)) / size, type)
}

common_places <- function(places) {
  if (length(places) == 1) return(places[[1]])
  if (!is.factor(places[[1]])) return(sort(unique(unlist(places))))
  levels <- unique(unlist(lapply(places, levels)))
  factor(levels[levels %in% unlist(lapply(places, as.character))], levels)
}

one_step_counts <- function(fit, group, chosen, plan, type) {
  tree <- fit$histories[[group]]
  n <- colSums(tree$count)
  n_states <- length(plan$setting$states)
  place <- if (type == "belief") belief_bin(read_histories(plan, tree, beliefs = n_states == 2), n_states) else
    history_places(tree, plan)[[type]]
  # Where no decision counts there is nothing to compare.
  counts <- unique(place[n > 0])
  at <- if (is.factor(place)) factor(levels(place)[levels(place) %in% counts], levels(place)) else sort(counts)
  cell <- match(place, at, nomatch = 1L)
  size <- as.vector(rowsum(n, cell))
  made <- read_draws(fit, group, chosen, function(plan) {
    as.vector(rowsum(draw_counts(n, t(exp(read_histories(plan, tree, beliefs = FALSE)$log_policy))), cell))
  }, reduce = cbind)
  list(at = at, size = size, seen = rowsum(t(tree$count), cell), made = made)
}

# Counts [row, action] of n draws from each row's law.
draw_counts <- function(n, law) {
  out <- matrix(0, nrow(law), ncol(law))
  left <- n
  rest <- rep(1, length(n))
  for (u in seq_len(ncol(law))) {
    chance <- ifelse(rest > 0, pmin(1, law[, u] / rest), 0)
    out[, u] <- if (u < ncol(law)) stats::rbinom(length(n), left, chance) else left
    left <- left - out[, u]
    rest <- pmax(0, rest - law[, u])
  }
  out
}

# Shares of trajectories by their length, one replicate at a time.
length_shares <- function(fit, groups, chosen, follow_up) {
  ends <- unlist(follow_up[groups])
  seen <- numeric(max(ends))
  made <- matrix(0, max(ends), nrow(chosen))
  for (group in groups) {
    seen <- seen + tabulate(tabulate(trajectory_of(fit$histories[[group]])), max(ends))
    own <- follow_up[[group]]
    made <- made + read_draws(fit, group, chosen, function(plan) {
      tabulate(rle(replicate_visits(plan, own)$id)$lengths, max(ends)) / length(ends)
    }, reduce = cbind)
  }
  at <- which(seen > 0 | rowSums(made) > 0)
  out <- shares_table(at, "any", seen[at], seen[at] / length(ends), made[at, , drop = FALSE], "length")
  out$action <- NULL
  out
}

shares_table <- function(at, actions, size, observed, made, type) {
  spread <- t(apply(made, 1, stats::quantile, c(0.5, 0.05, 0.95), na.rm = TRUE, names = FALSE))
  out <- data.frame(place = rep(at, length(actions)),
                    action = factor(rep(actions, each = length(at)), levels = actions),
                    n = rep(as.integer(size), length(actions)), observed = observed,
                    replicated = spread[, 1], conf.low = spread[, 2], conf.high = spread[, 3])
  names(out)[1] <- type
  out
}

# How many shares lie within their bars, of how many: with two actions each place counts once.
shares_inside <- function(data, actions) {
  told <- if (is.null(data$action)) rep(TRUE, nrow(data)) else
    length(actions) > 2 | data$action == actions[length(actions)]
  data <- data[told & !is.na(data$observed), ]
  inside <- data$observed >= data$conf.low - 1e-9 & data$observed <= data$conf.high + 1e-9
  c(inside = sum(inside), of = length(inside))
}

# Of two actions the shares of one say all; it is the last, as in shares_inside().
drawn_actions <- function(actions) if (length(actions) == 2) actions[2] else actions

# Fewer visits than that say little: their points are hollow.
few_to_share <- 5

draw_check <- function(data, type, fit) {
  setting <- fit$problem$setting
  by_action <- type != "length"
  told <- if (by_action) drawn_actions(setting$actions) else "any"
  if (!by_action) data$action <- factor("any")
  data <- data[data$action %in% told, ]
  # Where nobody was there is nothing to draw; nor is there where nobody could have been.
  data <- data[if (by_action) data$n > 0 else data$n > 0 | data$conf.high > 0, ]
  data$kind <- ifelse(by_action & data$n < few_to_share, "few", "seen")
  colours <- if (by_action) setting$actions else "any"
  named <- type %in% c("last_action", "last_observation")
  share <- if (length(told) == 1 && by_action) paste0("Share of visits with \"", as_label(told), "\"") else
    if (by_action) "Share of visits there" else "Share of trajectories"
  side <- ggplot2::position_dodge(width = if (length(told) == 1) 0 else if (type == "belief") 0.05 else 0.5)
  picture <- (if (named) named_check(data, type, side) else numbered_check(data, type, side, setting$states)) +
    scale_names(colours, "colour", keys = length(told) > 1) +
    ggplot2::scale_shape_manual(values = c(seen = 16, few = 1), guide = "none") +
    theme_ibrc() +
    ggplot2::labs(colour = NULL, caption = in_lines(check_caption(type, setting$actions, any(data$kind == "few"))))
  picture <- picture + if (named) ggplot2::labs(x = share) else ggplot2::labs(y = in_lines(share, 24))
  if (is_grouped(fit) && !has_population(fit)) {
    picture <- picture + ggplot2::facet_wrap(~group, labeller = ggplot2::label_wrap_gen(16))
  }
  picture
}

# Shares up, over numbers.
numbered_check <- function(data, type, side, states) {
  width <- if (length(unique(data[[type]])) > 15) 0.9 else 1.8
  axis <- switch(type, visit = "Visit", length = "Visits of a trajectory", belief = belief_axis(states))
  ticks <- if (type == "belief") ggplot2::scale_x_continuous(n.breaks = 3) else
    ggplot2::scale_x_continuous(breaks = function(range) unique(round(pretty(range, 4))))
  ggplot2::ggplot(data, ggplot2::aes(.data[[type]], colour = .data$action)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$conf.low, ymax = .data$conf.high), position = side,
                            linewidth = width, alpha = 0.35, na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(y = .data$observed, shape = .data$kind), position = side, size = 1.4,
                        na.rm = TRUE) +
    ggplot2::expand_limits(y = 0) + ticks + ggplot2::labs(x = axis)
}

# Names have room at the side: shares go across, the first name on top.
named_check <- function(data, type, side) {
  named <- levels(factor(data[[type]]))
  data$place <- factor(data[[type]], rev(named))
  title <- c(last_action = "Last action", last_observation = "Last observation")[[type]]
  ggplot2::ggplot(data, ggplot2::aes(y = .data$place, colour = .data$action)) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$conf.low, xmax = .data$conf.high), position = side,
                            linewidth = 1.8, alpha = 0.35, na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(x = .data$observed, shape = .data$kind), position = side, size = 1.4,
                        na.rm = TRUE) +
    ggplot2::expand_limits(x = 0) + ggplot2::scale_x_continuous(n.breaks = 4) +
    ggplot2::scale_y_discrete(labels = function(name) as_narrow_label(name, 26)) + ggplot2::labs(y = title)
}

check_caption <- function(type, actions, few = FALSE) {
  if (type == "length") return("Points: seen. Bars: replicated, central 90%.")
  paste0("Points: seen. Bars: one step ahead, given what had been seen and done; central 90%.",
         if (length(actions) == 2) paste0(" The rest is \"", as_label(actions[1]), "\"."),
         if (few) paste0(" Hollow: fewer than ", few_to_share, " visits."))
}

belief_axis <- function(states) {
  if (length(states) > 2) return("Belief in the likeliest state")
  paste0("Belief: probability of \"", as_label(states[2]), "\"")
}
