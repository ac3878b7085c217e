#' Simulate behaviour from a fit or a mode
#'
#' Draws trajectories of agents like those that were fitted. With a fit, each trajectory is that of an agent drawn from
#' the posterior. With a mode, all are those of the agent at the estimates. Unlike [posterior_predict()], which
#' replicates the data, it makes as many trajectories as are asked for.
#'
#' @param object A fit ([ibrc()]) or a mode ([ibrc_mode()]).
#' @param nsim Number of trajectories; with groups, in each group. Where people differ (`effects` of [ibrc()]), in all:
#'   each belongs to somebody like one of the fit's people, drawn at random, and has the covariates of that person in
#'   columns.
#' @param seed A number that sets the random generator, as in [stats::simulate()]; the generator's state is put back
#'   afterwards. `NULL` draws from the present state, and moves it on.
#' @param horizon The most visits that a trajectory may have.
#' @param environment What really happens, as in [simulate()][simulate.ibrc_plan] for a plan: by default the setting of
#'   the fit, or of each group where groups have their own.
#' @param draws From how many different draws of the posterior to take agents, in each group; the draws are chosen at
#'   random, and trajectories are shared out among them. Each needs its own plan, which takes time.
#' @param ... Not used.
#' @return Trajectories ([trajectories()]) with the columns `id` (numbered through the groups), `time` (from 0),
#'   `action` and `observation`; with groups also the columns that the fit was grouped by, as text, so that `predict()`
#'   and `log_lik()` take them. (If it was grouped by a column of one of those names, the new one has a point before its
#'   name.) The state of the generator before drawing is kept as the attribute `"seed"`.
#' @family decision models
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 300, seed = 1,
#'             control = ibrc_control(check = FALSE))
#' simulate(fit, nsim = 20, seed = 1, draws = 5)
simulate.ibrc_fit <- function(object, nsim = 1, seed = NULL, horizon = 50, environment = NULL, draws = 50, ...) {
  check_unused(...)
  refuse_several(object, "object", "simulate()")
  nsim <- check_count(nsim, "nsim", most = most_at_once)
  horizon <- check_count(horizon, "horizon", most = 1e6)
  draws <- check_count(draws, "draws")
  all <- prod(dim(object$draws[[1]])[1:2])
  make <- function(group, n, watch) simulate_group(object, group, n, min(n, draws, all), horizon, environment, watch)
  if (has_population(object)) return(simulate_people(object, nsim, seed, horizon, make))
  watch <- visit_watch(nsim, horizon, length(object$draws), object$problem$setting)
  pieces <- drawn_from(seed, lapply(seq_along(object$draws), make, nsim, watch))
  as_group_visits(pieces, names(object$draws), object$by, nsim, attr(pieces, "seed"), object$problem$setting$start_by)
}

# Refuses more visits than there is memory for, before any is made: `nsim` trajectories in each group have so many at
# least. Returns a function that does so while they are made. It is told of `visits` of `made` more trajectories, and
# how many are `left` in this group, with how many visits each: those of groups to come may be shorter.
visit_watch <- function(nsim, horizon, n_groups, setting) {
  shortest <- if (length(setting$stop_actions)) 1 else horizon
  to_begin <- as.numeric(nsim) * n_groups
  n_visits <- 0
  refuse <- function(left, pace) {
    refuse_many_visits(nsim, horizon, n_visits + left * pace + (to_begin - left) * shortest, n_groups)
  }
  refuse(0, 0)
  function(made, visits, left = 0, pace = shortest) {
    to_begin <<- to_begin - made
    n_visits <<- n_visits + visits
    refuse(left, pace)
  }
}

# `nsim` trajectories of a group, shared out among `n` of its draws. Once 50 are made it is known about how many visits
# each of the others will have.
simulate_group <- function(object, group, nsim, n, horizon, environment, watch) {
  all <- prod(dim(object$draws[[1]])[1:2])
  chosen <- draws_at(object, sort(sample.int(all, n)))
  size <- as.integer(nsim %/% n + (seq_len(n) <= nsim %% n))
  done <- 0L
  n_visits <- 0
  made <- read_draws(object, group, chosen, function(plan) {
    done <<- done + 1L
    visits <- as.data.frame(simulate(plan, size[done], horizon = horizon, environment = environment,
                                     start_group = draw_start_labels(object, group, size[done])))
    n_visits <<- n_visits + nrow(visits)
    so_far <- sum(size[seq_len(done)])
    if (so_far >= 50) watch(size[done], nrow(visits), nsim - so_far, n_visits / so_far) else
      watch(size[done], nrow(visits))
    visits
  })
  join_ids(made, size)
}

# People of a population; each cell is drawn as often as there are people in it. `make`: this many of a cell, which
# tells a watch of visits.
simulate_people <- function(object, nsim, seed, horizon, make) {
  watch <- visit_watch(nsim, horizon, 1, object$problem$setting)
  columns <- visit_columns(object$effects)
  pieces <- drawn_from(seed, {
    size <- as.vector(stats::rmultinom(1, nsim, object$group_sizes))
    cells <- which(size > 0)
    lapply(cells, function(cell) {
      made <- make(cell, size[cell], watch)
      names(made)[1:4] <- ifelse(names(made)[1:4] %in% names(columns), paste0(".", names(made)[1:4]), names(made)[1:4])
      made <- made[setdiff(names(made), names(columns))]
      made <- cbind(made, columns[rep(cell, nrow(made)), , drop = FALSE])
      attr(made, "size") <- size[cell]
      made
    })
  })
  out <- join_ids(pieces, vapply(pieces, attr, 0L, "size"))
  rownames(out) <- NULL
  roles <- names(out)[1:4]
  out <- new_ibrc_trajectories(out, roles[1], roles[2], roles[3], roles[4], setdiff(names(out), roles))
  attr(out, "seed") <- attr(pieces, "seed")
  out
}

#' @rdname simulate.ibrc_fit
#' @export
simulate.ibrc_mode <- function(object, nsim = 1, seed = NULL, horizon = 50, environment = NULL, ...) {
  check_unused(...)
  refuse_several(object, "object", "simulate()")
  nsim <- check_count(nsim, "nsim", most = most_at_once)
  horizon <- check_count(horizon, "horizon", most = 1e6)
  make <- function(group, n, watch) {
    visits <- as.data.frame(simulate(plans[[group]], n, horizon = horizon, environment = environment,
                                     start_group = draw_start_labels(object, group, n)))
    watch(n, nrow(visits))
    visits
  }
  watch <- visit_watch(nsim, horizon, if (has_population(object)) 1 else length(object$tops), object$problem$setting)
  plans <- group_plans(object)
  if (has_population(object)) return(simulate_people(object, nsim, seed, horizon, make))
  pieces <- drawn_from(seed, lapply(seq_along(plans), make, nsim, watch))
  as_group_visits(pieces, names(plans), object$by, nsim, attr(pieces, "seed"), object$problem$setting$start_by)
}

# Visits one piece after the other, each with `size` trajectories, with ids that continue.
join_ids <- function(pieces, size) {
  before <- cumsum(c(0L, size))
  do.call(rbind, lapply(seq_along(pieces), function(i) {
    # The column may have another name, where `id` is taken.
    pieces[[i]][[1]] <- pieces[[i]][[1]] + before[i]
    pieces[[i]]
  }))
}

# One piece per group. Columns that say how a trajectory starts are there already.
as_group_visits <- function(pieces, groups, by, nsim, seed, start_by = NULL) {
  n_rows <- vapply(pieces, nrow, 0L)
  out <- join_ids(pieces, rep(nsim, length(pieces)))
  starts <- out[setdiff(start_by, by)]
  # A column that the fit was grouped by keeps its name.
  if (!is.null(by)) out <- add_group_columns(out[1:4], rep(groups, n_rows), by)
  roles <- names(out)
  if (!is.null(by)) out <- cbind(out, starts)
  out <- new_ibrc_trajectories(out, roles[1], roles[2], roles[3], roles[4], unique(c(as.character(by), start_by)))
  attr(out, "seed") <- seed
  out
}
