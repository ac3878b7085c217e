# A problem is a setting, what may be believed about it, and a space of beliefs. They are put into the tables that every
# plan and every likelihood reads. A problem has no agent: it is built once and can be solved for any number of agents.

build_problem <- function(setting, models = NULL, resolution = 100, interpolate = c("value", "policy"),
                          surprise = c("belief", "observation"), max_bytes = getOption("ibrc.max_bytes", 2e9),
                          cores = 1L) {
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  check_discount(setting$discount)
  if (is.null(models)) models <- own_model(setting)
  check_class(models, "ibrc_models", "models", "model_prior()")
  models <- validate_ibrc_models(models, setting)
  resolution <- check_count(resolution, "resolution")
  interpolate <- check_choice(interpolate, c("value", "policy"), "interpolate")
  surprise <- check_choice(surprise, c("belief", "observation"), "surprise")
  max_bytes <- check_positive(max_bytes, "max_bytes")
  cores <- check_count(cores, "cores")
  space <- space_for(models, length(setting$states), resolution)
  tables <- build_tables(models, space, surprise, cores, max_bytes)
  space <- open_space(space, setting$states)
  new_ibrc_problem(setting, models, space, interpolate, surprise, tables, reward = reward_at_nodes(setting, space))
}

new_ibrc_problem <- function(setting, models, space, interpolate, surprise, tables, reward) {
  structure(
    list(setting = setting, models = models, space = space, resolution = space$resolution, interpolate = interpolate,
         by_value = as.integer(interpolate == "value"), surprise = surprise, nodes = space$nodes, reward = reward,
         tables = tables),
    class = "ibrc_problem"
  )
}

# A plan contains all parts of its problem: these are the parts of the problem alone.
problem_parts <- c("setting", "models", "space", "resolution", "interpolate", "by_value", "surprise", "nodes", "reward",
                   "tables")

# What beliefs are worth by themselves, in addition to the worth of states: [node, action].
belief_worth <- function(problem) unname(problem$reward - expect_at_nodes(problem$space, problem$setting$utility))

# The same problem with another utility of states.
with_utility <- function(problem, utility) {
  worth <- belief_worth(problem)
  problem$setting$utility[] <- utility
  problem$reward <- unname(expect_at_nodes(problem$space, problem$setting$utility) + worth)
  problem
}

# The same problem under other assumptions. Such problems are made only here. `change` holds any of `resolution`;
# `models`, or another `step` for the models that it has; `utility`, a matrix; `bonus` and `above` of a certainty bonus.
# Tables are built again only if they depend on the change.
changed_problem <- function(problem, change, cores = 1L, max_bytes = getOption("ibrc.max_bytes", 2e9)) {
  setting <- changed_setting(problem$setting, change)
  models <- change$models
  if (!is.null(change$step)) models <- models_at_step(problem$models, setting, change$step)
  if (is.null(models)) models <- problem$models
  out <- problem
  out$setting <- setting
  if (length(intersect(names(change), c("resolution", "models", "step")))) {
    resolution <- if (is.null(change$resolution)) problem$resolution else change$resolution
    out <- build_problem(setting, models, resolution, problem$interpolate, problem$surprise, max_bytes, cores)
  }
  out$reward <- reward_at_nodes(setting, out$space)
  worth <- lost_worth(problem)
  if (is.null(worth)) return(out)
  # If the nodes are not the same, it is read off at the old nodes.
  if (!identical(out$space, problem$space)) {
    worth <- at_nodes(out$space, function(beliefs) interpolate_at(problem$space, t(worth), beliefs))
  }
  out$reward <- unname(out$reward + worth)
  out
}

# A worth of beliefs whose function is no longer known (after resume()), as [node, action]. NULL if there is none.
lost_worth <- function(problem) {
  if (!is.null(problem$setting$belief_utility)) return(NULL)
  worth <- belief_worth(problem)
  if (max(abs(worth)) >= 1e-12) worth
}

changed_setting <- function(setting, change) {
  if (!is.null(change$utility)) setting$utility[] <- change$utility
  if (length(intersect(names(change), c("bonus", "above")))) {
    given <- list(worth = change$bonus, above = change$above)
    setting$belief_utility <- do.call(changed_bonus, c(list(setting$belief_utility), Filter(Negate(is.null), given)))
  }
  setting
}

#' @export
format.ibrc_problem <- function(x, ...) {
  paste0("A problem on ", plural(x$space$n_nodes, "belief node"),
         if (x$space$n_nodes > length(x$setting$states)) paste0(" (resolution ", x$resolution, ")"),
         " with ", plural(length(x$setting$actions), "action"), " and ", plural(n_models(x$models), "model"),
         " of the dynamics")
}

#' @export
print.ibrc_problem <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}
