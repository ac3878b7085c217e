#' Behaviour replicated from a fit
#'
#' Simulates what agents with parameters drawn from the posterior would have done: as
#' many trajectories in each group as were seen, in the setting of the fit.
#'
#' With `horizon = NULL`, follow-up is that of the data. A trajectory that ended
#' without a stop action was cut off there, and so is its replicate; one that ended by
#' a stop action may go on for as long as the longest seen. In a setting without stop
#' actions the lengths are therefore those seen, as they carry no information about
#' the agent.
#'
#' @param object A fit ([ibrc()]).
#' @param draws How many draws from the posterior to take, evenly spaced over the
#'   chains; each gives a replicate of the whole data. `NULL` takes all of them.
#' @param seed A number to set the random generator with; the generator's state is put
#'   back afterwards. `NULL` draws from the present state, and moves it on.
#' @param horizon The most visits that a trajectory may have; by default as far as the
#'   data go. It must be given for a fit made with `keep_data = FALSE`.
#' @param ... Not used.
#' @return A data frame with a row a visit: `.draw` (as in
#'   [as.data.frame()][as.data.frame.ibrc_fit]), `group`, `id` (numbered through the
#'   groups; not an identifier of the data), `time` (from 0), `action` and
#'   `observation`. No observation is missing in it.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 300, seed = 1)
#' replicated <- posterior_predict(fit, draws = 10, seed = 1)
#' head(replicated)
posterior_predict <- function(object, ...) {
  check_given(object)
  UseMethod("posterior_predict")
}

#' @rdname posterior_predict
#' @rawNamespace S3method(rstantools::posterior_predict, ibrc_fit)
#' @export
posterior_predict.ibrc_fit <- function(object, draws = 50, seed = NULL, horizon = NULL, ...) {
  check_unused(...)
  ends <- follow_up(object, horizon)
  chosen <- spaced_draws(object, draws)
  groups <- names(object$draws)
  before <- cumsum(c(0L, lengths(ends)))
  pieces <- drawn_from(seed, lapply(seq_along(groups), function(group) {
    replicates <- read_draws(object, group, chosen, function(plan) replicate_visits(plan, ends[[group]]))
    n_rows <- vapply(replicates, nrow, 0L)
    out <- do.call(rbind, replicates)
    out$id <- out$id + before[group]
    cbind(.draw = rep(chosen$.draw, n_rows), group = factor(groups[group], levels = groups), out)
  }))
  out <- do.call(rbind, pieces)
  out <- out[order(out$.draw), ]
  rownames(out) <- NULL
  out
}

#' @export
posterior_predict.default <- function(object, ...) hand_on(object, "rstantools", "posterior_predict", ...)

# A generic of ours may hide another package's of the same name: what is not a fit goes
# there, so that the order of library() calls does not matter.
hand_on <- function(object, package, generic, ...) {
  known <- requireNamespace(package, quietly = TRUE) && (...length() || has_method(object, package, generic))
  if (!known) check_class(object, "ibrc_fit", "object", "ibrc()")
  # Methods are looked for where a generic is called: called from here, it would find ours.
  do.call(getExportedValue(package, generic), list(object, ...), quote = TRUE, envir = globalenv())
}

# Whether a package's generic has a method for just this class of object.
has_method <- function(object, package, generic) {
  any(vapply(c(class(object), typeof(object)), function(class) {
    !is.null(utils::getS3method(generic, class, optional = TRUE, envir = asNamespace(package)))
  }, NA))
}

# One replicate of a group; trajectory i has at most ends[i] visits.
replicate_visits <- function(plan, ends) {
  visits <- as.data.frame(simulate(plan, nsim = length(ends), horizon = max(ends)))
  visits[visits$time < ends[visits$id], ]
}

# How many visits each trajectory may have, a vector a group.
follow_up <- function(fit, horizon) {
  if (!is.null(horizon)) {
    horizon <- check_count(horizon, "horizon", most = 1e6)
    return(lapply(unname(fit$group_sizes), function(n) rep(horizon, n)))
  }
  need_data(fit, "Follow-up as in the data (horizon = NULL)")
  seen <- lapply(fit$histories, function(tree) tabulate(trajectory_of(tree)))
  longest <- max(unlist(seen))
  stops <- which(fit$plan$setting$actions %in% fit$plan$setting$stop_actions)
  unname(Map(function(length, actions) {
    stopped <- actions[cumsum(length)] %in% stops
    ifelse(stopped, longest, length)
  }, seen, fit$visit_actions))
}

#' Check a fit against the behaviour that it replicates
#'
#' Compares what was done with what agents drawn from the posterior do in
#' [posterior_predict()]. Where the points seen lie outside the bars of the
#' replicates, the behaviour has something that the model cannot produce.
#'
#' @param object A fit ([ibrc()]), not made with `keep_data = FALSE`.
#' @param type What to compare. `"visit"`: how often each action is taken at the first
#'   visit, the second, and so on, among trajectories that get there. `"belief"`: how
#'   often it is taken at each belief, in ten bins; beliefs are those of the agent at
#'   the posterior median ([project_behavior()]), in the second state where there are
#'   two and else in the likeliest. `"length"`: how long trajectories are.
#' @param draws,seed As in [posterior_predict()].
#' @param ... Not used.
#' @return `pp_check()`: a `ggplot` object; it needs the package ggplot2. `pp_data()`:
#'   the data frame behind it: `group`; `visit`, `belief` (the middle of the bin) or
#'   `length`; `action` (but for lengths); `n`, the visits or trajectories seen there;
#'   `observed`, the share among them; and the median `replicated` share with its
#'   central 90% interval, `conf.low` to `conf.high`.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 300, seed = 1)
#' pp_data(fit, "length", draws = 20, seed = 1)
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   pp_check(fit, "belief", draws = 20, seed = 1)
#' }
pp_check <- function(object, ...) {
  check_given(object)
  UseMethod("pp_check")
}

#' @rdname pp_check
#' @rawNamespace S3method(bayesplot::pp_check, ibrc_fit)
#' @export
pp_check.ibrc_fit <- function(object, type = c("visit", "belief", "length"), draws = 50, seed = NULL, ...) {
  check_unused(...)
  type <- check_choice(type, c("visit", "belief", "length"), "type")
  require_package("ggplot2", "Drawing a check")
  draw_check(pp_data(object, type, draws, seed), type, object)
}

#' @export
pp_check.default <- function(object, ...) hand_on(object, "bayesplot", "pp_check", ...)

#' @rdname pp_check
#' @export
pp_data <- function(object, type = c("visit", "belief", "length"), draws = 50, seed = NULL) {
  check_given(object)
  type <- check_choice(type, c("visit", "belief", "length"), "type")
  need_data(object, "A check against the data")
  replicated <- posterior_predict.ibrc_fit(object, draws, seed)
  plans <- project_behavior(object)
  if (!is_grouped(object)) plans <- list(plans)
  pieces <- lapply(seq_along(object$draws), function(group) {
    mine <- replicated[as.integer(replicated$group) == group, ]
    both <- rbind(seen_places(object, group, plans[[group]], type), made_places(mine, plans[[group]], type))
    out <- compare_shares(both, type, object$plan$setting$actions)
    cbind(group = factor(names(object$draws)[group], levels = names(object$draws)), out)
  })
  out <- do.call(rbind, pieces)
  rownames(out) <- NULL
  out
}

# Where each visit stands (or each trajectory, for lengths): .draw, 0 for what was seen;
# `place`, on the axis of the picture; `action`, a number.
seen_places <- function(fit, group, plan, type) {
  tree <- fit$histories[[group]]
  trajectory <- trajectory_of(tree)
  belief <- if (type == "belief") read_histories(plan, tree)$belief[, tree$visit, drop = FALSE]
  places_of(rep(0L, length(trajectory)), trajectory, fit$visit_actions[[group]], belief, type)
}

made_places <- function(visits, plan, type) {
  trajectory <- cumsum(visits$time == 0L)
  action <- as.integer(visits$action)
  belief <- NULL
  if (type == "belief") {
    tree <- build_histories(list(trajectory = trajectory - 1L, action = action - 1L,
                                 observation = as.integer(visits$observation) - 1L), plan$setting)
    belief <- read_histories(plan, tree)$belief[, tree$visit, drop = FALSE]
  }
  places_of(visits$.draw, trajectory, action, belief, type)
}

places_of <- function(draw, trajectory, action, belief, type) {
  length <- tabulate(trajectory)
  if (type == "length") return(data.frame(.draw = draw[!duplicated(trajectory)], place = length, action = 1L))
  place <- if (type == "visit") sequence(length) else belief_bin(belief)
  data.frame(.draw = draw, place = place, action = action)
}

# The middle of the tenth of the range that each belief [state, visit] lies in.
belief_bin <- function(belief) {
  n_states <- nrow(belief)
  lowest <- if (n_states == 2) 0 else 1 / n_states
  watched <- if (n_states == 2) belief[2, ] else apply(belief, 2, max)
  width <- (1 - lowest) / 10
  bin <- pmin(pmax(ceiling((watched - lowest) / width - 1e-9), 1), 10)
  lowest + (bin - 0.5) * width
}

# Shares by place and action, seen and replicated; of trajectories for lengths.
compare_shares <- function(places, type, actions) {
  if (type == "length") actions <- "any"
  at <- sort(unique(places$place))
  count <- table(factor(places$place, at), factor(places$action, seq_along(actions)), places$.draw)
  share <- prop.table(count, if (type == "length") 3 else c(1, 3))
  n_draws <- dim(share)[3]
  size <- apply(count[, , 1, drop = FALSE], 1, sum)
  made <- matrix(share[, , -1], ncol = n_draws - 1)
  spread <- t(apply(made, 1, stats::quantile, c(0.5, 0.05, 0.95), na.rm = TRUE, names = FALSE))
  out <- data.frame(
    place = rep(at, length(actions)), action = factor(rep(actions, each = length(at)), levels = actions),
    n = rep(as.integer(size), length(actions)), observed = as.vector(share[, , 1]),
    replicated = spread[, 1], conf.low = spread[, 2], conf.high = spread[, 3]
  )
  out$observed[is.nan(out$observed)] <- NA
  names(out)[1] <- type
  if (type == "length") out$action <- NULL
  out
}

draw_check <- function(data, type, fit) {
  setting <- fit$plan$setting
  by_action <- type != "length"
  axis <- switch(type, visit = "Visit", length = "Visits of a trajectory",
                 belief = belief_axis(setting$states))
  if (!by_action) data$action <- factor("any")
  width <- if (type == "belief") 0.05 else 0.5
  side <- ggplot2::position_dodge(width = width * by_action)
  picture <- ggplot2::ggplot(data, ggplot2::aes(.data[[type]], colour = .data$action)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$conf.low, ymax = .data$conf.high), position = side,
                            linewidth = 2.2, alpha = 0.35, na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(y = .data$observed), position = side, size = 1.7, na.rm = TRUE) +
    ggplot2::scale_colour_manual(values = action_palette(length(setting$actions)), labels = as_label,
                                 guide = if (by_action) "legend" else "none") +
    ggplot2::expand_limits(y = 0) +
    ggplot2::labs(x = axis, y = if (by_action) "Share of visits there" else "Share of trajectories",
                  colour = NULL, caption = "Points: seen. Bars: replicated, central 90%.") +
    theme_ibrc()
  if (type != "belief") {
    picture <- picture + ggplot2::scale_x_continuous(breaks = function(range) unique(round(pretty(range))))
  }
  if (is_grouped(fit)) picture <- picture + ggplot2::facet_wrap(~group)
  picture
}

belief_axis <- function(states) {
  if (length(states) > 2) return("Belief in the likeliest state")
  paste0("Belief: probability of \"", as_label(states[2]), "\"")
}
