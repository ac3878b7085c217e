#' Simulate behaviour
#'
#' Draws trajectories: the environment moves and is seen by its own dynamics,
#' while the agent carries its own beliefs and acts by its plan. A trajectory ends
#' after a stop action or at the horizon.
#'
#' @param object A plan ([plan_agent()]).
#' @param nsim Number of trajectories.
#' @param seed A number to set the random generator with, as in
#'   [stats::simulate()]: the generator's state is put back afterwards. `NULL`
#'   draws from the present state, and moves it on.
#' @param horizon The most visits that a trajectory may have.
#' @param environment What really happens: a setting with the same states, actions
#'   and observations. The plan's own setting by default. The first state follows
#'   the environment's `start`; the agent's first belief is its own setting's.
#' @param cores Threads to use. Draws do not depend on it.
#' @param ... Not used.
#' @return Trajectories ([trajectories()]): a data frame with columns `id`, `time`
#'   (from 0), `action` and `observation` (what was seen after the action). The
#'   state of the generator before drawing is kept as the attribute `"seed"`.
#' @family planning
#' @importFrom stats simulate
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models())
#' visits <- simulate(plan, nsim = 100, seed = 1)
#' visits
simulate.ibrc_plan <- function(object, nsim = 1, seed = NULL, horizon = 50, environment = NULL,
                               cores = getOption("ibrc.cores", 1), ...) {
  check_unused(...)
  nsim <- check_count(nsim, "nsim", most = most_at_once)
  horizon <- check_count(horizon, "horizon", most = 1e6)
  cores <- check_count(cores, "cores")
  setting <- object$setting
  world <- if (is.null(environment)) setting else check_same_names(environment, setting)
  run <- drawn_from(seed, roll_out(object, world, nsim, horizon, cores))
  refuse_impossible(run, setting)
  visits <- sequence(run$length)
  keep <- as.vector(row(run$action) <= rep(run$length, each = horizon))
  out <- data.frame(
    id = rep(seq_len(nsim), run$length),
    time = visits - 1L,
    action = factor(setting$actions[run$action[keep] + 1L], levels = setting$actions),
    observation = factor(setting$observations[run$observation[keep] + 1L], levels = setting$observations)
  )
  out <- new_ibrc_trajectories(out, id = "id", time = "time", action = "action", observation = "observation")
  attr(out, "seed") <- attr(run, "seed")
  out
}

# In pieces, so that noise never takes much memory; the stream of uniforms is
# the same however it is cut.
roll_out <- function(plan, world, nsim, horizon, cores) {
  n_noise <- 1 + 3 * horizon
  at_once <- max(1, floor(2e6 / n_noise))
  models <- stack_models(plan$models)
  environment <- stack_models(own_model(world))
  stops <- as.integer(plan$setting$actions %in% plan$setting$stop_actions)
  pieces <- lapply(split(seq_len(nsim), ceiling(seq_len(nsim) / at_once)), function(rows) {
    noise <- matrix(stats::runif(n_noise * length(rows)), n_noise)
    .Call(ffi_rollout, plan, models, environment, unname(world$start), unname(plan$setting$start), stops,
          horizon, noise, cores)
  })
  list(action = do.call(cbind, lapply(pieces, `[[`, "action")),
       observation = do.call(cbind, lapply(pieces, `[[`, "observation")),
       length = unlist(lapply(pieces, `[[`, "length"), use.names = FALSE),
       code = unlist(lapply(pieces, `[[`, "code"), use.names = FALSE))
}

refuse_impossible <- function(run, setting) {
  bad <- which(run$code != 0)
  if (!length(bad)) return(invisible())
  visit <- run$length[bad[1]]
  abort("observation", "The environment produced observation ",
        enumerate(setting$observations[run$observation[visit, bad[1]] + 1L]), " after action ",
        enumerate(setting$actions[run$action[visit, bad[1]] + 1L]),
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

# What `code` draws, as stats::simulate() documents it: its attribute "seed" says from where.
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
