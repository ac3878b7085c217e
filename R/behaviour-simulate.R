#' Simulate behaviour
#'
#' Draws trajectories. States and observations follow the dynamics of the environment,
#' while the agent holds its own beliefs and acts by its plan. A trajectory ends
#' after a stop action or at the horizon.
#'
#' The memory used is that of the visits returned, however long the horizon is. The time grows with `nsim` times
#' `horizon`, because random numbers are drawn for every visit that might be made. It is an error to ask for more visits
#' than the session can hold (its option `ibrc.memory`). If nothing ends a trajectory, the error comes before any visit
#' is drawn; otherwise it comes when the first trajectories show how long they are.
#'
#' @param object A plan ([plan_agent()]).
#' @param nsim Number of trajectories.
#' @param seed A number to set the random generator with, as in
#'   [stats::simulate()]: the generator's state is put back afterwards. `NULL`
#'   draws from the present state, and moves it on.
#' @param horizon The most visits that a trajectory may have.
#' @param environment What really happens: a setting with the same states, actions
#'   and observations. The plan's own setting by default. The first state follows
#'   the environment's `start`. The agent's first belief is that of its own setting.
#' @param cores Threads to use. Draws do not depend on it.
#' @param start_group In a setting with starts that differ ([decision_setting()]), the name of the group of each
#'   trajectory: one name for all, or `nsim` names. By default groups are drawn by their shares.
#' @param ... Not used.
#' @return Trajectories ([trajectories()]): a data frame with columns `id`, `time`
#'   (from 0), `action` and `observation` (what was seen after the action). With starts that differ it also has the
#'   columns that name the groups. The state of the generator before drawing is kept as the attribute `"seed"`.
#' @family planning
#' @importFrom stats simulate
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models())
#' visits <- simulate(plan, nsim = 100, seed = 1)
#' visits
simulate.ibrc_plan <- function(object, nsim = 1, seed = NULL, horizon = 50, environment = NULL,
                               cores = getOption("ibrc.cores", 1), start_group = NULL, ...) {
  check_unused(...)
  cores <- check_count(cores, "cores")
  roll <- function(world, starts, begin, horizon) roll_out(object, world, starts, begin, horizon, cores)
  simulate_visits(object$setting, nsim, seed, horizon, environment, start_group, roll)
}

# What all plans have in common when they simulate. `roll` draws the visits that are made, as roll_pieces() returns
# them.
simulate_visits <- function(setting, nsim, seed, horizon, environment, start_group, roll) {
  nsim <- check_count(nsim, "nsim", most = most_at_once)
  horizon <- check_count(horizon, "horizon", most = 1e6)
  world <- if (is.null(environment)) setting else check_same_names(environment, setting)
  refuse_many_visits(nsim, horizon, if (!length(setting$stop_actions)) nsim * as.numeric(horizon) else nsim)
  starts <- common_starts(world, setting)
  begin <- check_start_group(start_group, starts, nsim)
  run <- drawn_from(seed, {
    if (is.null(begin)) begin <- draw_start_groups(starts, nsim)
    roll(world, starts, begin, horizon)
  })
  refuse_impossible(run, setting)
  out <- data.frame(
    id = rep(seq_len(nsim), run$length),
    time = sequence(run$length) - 1L,
    action = as_factor(run$action, setting$actions),
    observation = as_factor(run$observation, setting$observations)
  )
  if (!is.null(starts$by)) out <- add_group_columns(out, starts$groups[rep(begin, run$length)], starts$by)
  roles <- names(out)
  out <- new_ibrc_trajectories(out, roles[1], roles[2], roles[3], roles[4], as.character(starts$by))
  attr(out, "seed") <- attr(run, "seed")
  out
}

# Where trajectories begin: the laws of the world and the beliefs of the agent [state, start], and to which group they
# belong. If only one of the two has groups, the other gets the same groups, all with the same start.
common_starts <- function(world, setting) {
  told <- if (has_starts(setting)) setting else world
  if (has_starts(world) && has_starts(setting) &&
      !identical(list(world$start_by, start_groups(world)), list(setting$start_by, start_groups(setting)))) {
    abort_input("environment", "must have starts of the same groups (`start_by`) as the plan's setting, or one start.")
  }
  n <- nrow(start_matrix(told))
  spread <- function(one) {
    start <- start_matrix(one)
    t(unname(start[rep_len(seq_len(nrow(start)), n), , drop = FALSE]))
  }
  list(world = spread(world), belief = spread(setting), groups = start_groups(told), by = told$start_by,
       share = start_shares(told))
}

# The start of each trajectory, counted from 1. NULL means that it has to be drawn.
check_start_group <- function(start_group, starts, nsim) {
  if (is.null(start_group)) return(NULL)
  if (is.null(starts$by)) abort_input("start_group", "has no meaning here: all trajectories start alike.")
  at <- as_positions(start_group, starts$groups, "start_group", "group")
  if (!length(at) %in% c(1, nsim)) {
    abort_input("start_group", "must be one name, or one per trajectory (", nsim, "), not ", length(at), ".")
  }
  rep_len(at, nsim)
}

draw_start_groups <- function(starts, nsim) {
  n <- length(starts$share)
  if (n == 1) rep(1L, nsim) else sample.int(n, nsim, replace = TRUE, prob = starts$share)
}

# A factor from codes that are counted from 0.
as_factor <- function(code, levels) structure(code + 1L, levels = levels, class = "factor")

# Four columns of whole numbers, and the copies of them that are made on the way.
visit_bytes <- 40

# `n`: the visits that there will be at least, or as many as can be expected.
refuse_many_visits <- function(nsim, horizon, n, n_groups = 1) {
  refuse_many_rows(n, visit_bytes, if (nsim > horizon) "nsim" else "horizon",
                   "`nsim` = ", format_count(nsim), " trajectories of up to `horizon` = ",
                   plural(horizon, "visit"), if (n_groups > 1) paste(" in each of", n_groups, "groups"), " would be ",
                   format_count(ceiling(n)), " visits", advice = "simulate fewer, or shorter ones")
}

roll_out <- function(plan, world, starts, begin, horizon, cores) {
  models <- stack_models(plan$models)
  environment <- stack_models(own_model(world))
  stops <- as.integer(plan$setting$actions %in% plan$setting$stop_actions)
  roll_pieces(length(begin), horizon, function(these, noise) {
    .Call(ffi_rollout, plan, models, environment, starts$world, starts$belief, begin[these] - 1L, stops, horizon, noise,
          cores)
  })
}

# Trajectories are drawn in pieces, and only the visits that were made are kept. The noise and the space for visits that
# were not made therefore never take much memory. The stream of uniform numbers does not depend on the pieces. `run`
# makes trajectories from noise.
roll_pieces <- function(nsim, horizon, run) {
  n_noise <- 1 + 3 * horizon
  at_once <- max(1, floor(2e6 / n_noise))
  first <- seq(1, nsim, by = at_once)
  pieces <- vector("list", length(first))
  n_visits <- 0
  for (i in seq_along(first)) {
    n <- min(at_once, nsim - first[i] + 1)
    noise <- stats::runif(n_noise * n)
    dim(noise) <- c(n_noise, n)
    pieces[[i]] <- run(first[i] - 1 + seq_len(n), noise)
    n_visits <- n_visits + sum(pieces[[i]]$length)
    done <- first[i] + n - 1
    # It is not known beforehand when an agent stops. The first trajectories show what the others will be like.
    refuse_many_visits(nsim, horizon, if (done >= 50) n_visits * nsim / done else n_visits)
  }
  parts <- c("action", "observation", "length", "code")
  stats::setNames(lapply(parts, function(part) unlist(lapply(pieces, `[[`, part), use.names = FALSE)), parts)
}

refuse_impossible <- function(run, setting) {
  bad <- which(run$code != 0)
  if (!length(bad)) return(invisible())
  visit <- run$length[bad[1]]
  at <- sum(run$length[seq_len(bad[1])])
  abort("observation", "The environment produced observation ",
        enumerate(setting$observations[run$observation[at] + 1L]), " after action ",
        enumerate(setting$actions[run$action[at] + 1L]),
        ", which no model of the agent allows (trajectory ", bad[1], ", visit ", visit,
        "). Give the agent a model under which it is possible: see soften_models().", rows = bad)
}

check_same_names <- function(environment, setting) {
  check_class(environment, "ibrc_setting", "environment", "decision_setting()")
  for (part in c("states", "actions", "observations")) {
    if (!identical(environment[[part]], setting[[part]])) {
      abort_input("environment", "must have the same ", part, " as the plan's setting, in the same order.")
    }
  }
  environment
}

# What `code` draws. As stats::simulate() documents, the attribute "seed" holds the state from which it was drawn.
drawn_from <- function(seed, code) {
  if (is.null(seed)) {
    if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) stats::runif(1)
    state <- get(".Random.seed", envir = globalenv())
    value <- force(code)
  } else {
    value <- keep_random_state({
      set.seed(check_seed(seed))
      state <- structure(seed, kind = as.list(RNGkind()))
      force(code)
    })
  }
  structure(value, seed = state)
}
