#' Work out what a bounded agent does
#'
#' Plans for an agent in a setting, over a lattice (a regular grid) of beliefs.
#' The plan says what each belief is worth to the agent, how likely the agent is to take each
#' action there, and which weights it gives to each model of the dynamics. A *backup* is one
#' pass over the lattice that works out values from those of the next visit. A plan
#' is found when backups no longer change anything.
#'
#' The lattice holds every belief whose entries are multiples of
#' `1 / resolution`. Between nodes, values are interpolated linearly on the
#' Freudenthal triangulation. If the state is seen in every model, the
#' states themselves are the nodes and `resolution` plays no part. The tables
#' that a plan needs do not depend on the agent. [update()][update.ibrc_plan] a
#' plan with another agent to reuse them and to start from its solution.
#'
#' @param setting A setting ([decision_setting()]).
#' @param agent An agent ([bounded_agent()]).
#' @param models What the agent may believe about the dynamics
#'   ([model_prior()]). By default the setting's own dynamics alone.
#' @param resolution Number of steps from 0 to 1 in each belief.
#' @param tolerance How far a value may be from the exact one on the lattice,
#'   rounding included. With large utilities or a discount near 1 it must be looser.
#'   It is an error if this precision cannot be guaranteed.
#' @param interpolate Between nodes, `"value"` interpolates action and model
#'   values and then forms policies; `"policy"` interpolates the policies.
#' @param surprise What can surprise: `"belief"` counts observations that lead to
#'   the same belief as one; `"observation"` counts each by itself.
#' @param max_backups The most backups that a solve may take.
#' @param max_bytes The most memory that the tables may take.
#' @param cores Threads to use. Results do not depend on it.
#'
#' @return An object of class `ibrc_plan`. Read it with [value()], [policy()],
#'   [action_value()], [model_weights()], [update_belief()], [occupancy()],
#'   [complexity()], [tidy()][tidy.ibrc_plan], [plot()][plot.ibrc_plan] and
#'   [simulate()][simulate.ibrc_plan]; `summary()` prints what a visit is worth and how far the
#'   agent departs from its priors.
#' @aliases summary.ibrc_plan
#' @family planning
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5, beta = 1.25, eta = 1e-3),
#'                    diag_models())
#' plan
#' head(tidy(plan))
plan_agent <- function(setting, agent, models = NULL, resolution = 100, tolerance = 1e-8,
                       interpolate = c("value", "policy"), surprise = c("belief", "observation"),
                       max_backups = 10000, max_bytes = getOption("ibrc.max_bytes", 2e9),
                       cores = getOption("ibrc.cores", 1)) {
  check_given(setting, agent)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  agent <- validate_ibrc_agent(check_bounded(agent))
  action_prior_of(agent, setting)
  problem <- build_problem(setting, models, resolution, interpolate, surprise, max_bytes, cores)
  solve_problem(problem, agent, tolerance, max_backups, check_count(cores, "cores"))
}

new_ibrc_plan <- function(problem, agent, numbers, solution, report) {
  structure(c(unclass(problem)[problem_parts],
              list(agent = agent, problem = numbers, solution = solution, report = report)), class = "ibrc_plan")
}

# The tables together with one agent: the struct that a backup reads.
agent_problem <- function(problem, agent) {
  surprise <- problem$tables$entropy
  log_prior <- if (!is.null(agent$belief_prior)) {
    at_nodes(problem$space, function(beliefs) log_belief_prior_at(agent, beliefs))
  }
  if (!is.null(log_prior)) surprise <- surprise + as.vector(.Call(ffi_table_expect, problem$tables, log_prior))
  list(
    alpha = agent$alpha, beta = agent$beta, eta = agent$eta, discount = problem$setting$discount,
    habit = habit_of(agent), action_prior = action_prior_of(agent, problem$setting),
    ends = as.integer(problem$setting$actions %in% problem$setting$stop_actions),
    model_weights = problem$models$weights,
    reward = as.vector(t(problem$reward)), surprise = surprise
  )
}

# Solves a problem for an agent, which gives a plan. `problem` may itself be a plan that is solved for another agent.
# `start` are values to begin from.
solve_problem <- function(problem, agent, tolerance = 1e-8, max_backups = 10000, cores = 1L,
                          start = numeric(problem$space$n_nodes)) {
  tolerance <- check_positive(tolerance, "tolerance")
  max_backups <- check_count(max_backups, "max_backups")
  numbers <- agent_problem(problem, agent)
  start <- start_values(problem, agent, start)
  result <- .Call(ffi_solve, problem$tables, numbers, start, tolerance, max_backups, cores)
  refuse_unsolved(result, tolerance)
  parts <- c("value", "action_value", "model_value", "policy", "sigma", if (!is.null(result$after)) "after")
  new_ibrc_plan(problem, agent, numbers, result[parts],
                c(result[c("backups", "products", "bound")], tolerance = tolerance))
}

# Values from which a solve for this agent can begin. With a habit there is one for each node and last action.
start_values <- function(problem, agent, start) {
  n <- problem$space$n_nodes
  if (habit_of(agent) == 0) return(start[seq_len(n)])
  rep_len(start, n * length(problem$setting$actions))
}

# Values of a plan from which another solve can begin. If they differ by the last action, those after each action.
values_from <- function(plan) if (is.null(plan$solution$after)) plan$solution$value else plan$solution$after

refuse_unsolved <- function(result, tolerance) {
  if (result$code == 0) return(invisible())
  if (result$code == 2) {
    abort("convergence", "The values are not finite: utilities or prices (alpha, beta, eta) are too ",
          "large for a double. Rescale them.", argument = "setting", fields = list(backups = result$backups))
  }
  abort("convergence", "The solve stopped after ", plural(result$backups, "backup"), " with values known to ",
        signif(result$bound, 3), ", not to the `tolerance` of ", signif(tolerance, 3),
        ". Loosen `tolerance` (rounding alone may exceed it where utilities are large or the discount is near 1), ",
        "or raise `max_backups`.",
        argument = "tolerance", fields = list(bound = result$bound, backups = result$backups))
}

#' Plan again for another agent
#'
#' Keeps a plan's setting, models and lattice, and starts from its solution. Planning for many
#' agents in one setting therefore takes little more time than planning for one.
#'
#' @param object A plan ([plan_agent()]).
#' @param agent The new agent ([bounded_agent()]).
#' @param tolerance,max_backups,cores As in [plan_agent()].
#' @param ... Not used.
#' @return An `ibrc_plan`.
#' @family planning
#' @importFrom stats update
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models())
#' update(plan, bounded_agent(alpha = 0.5, optimism = 0.8))
update.ibrc_plan <- function(object, agent, tolerance = object$report$tolerance, max_backups = 10000,
                             cores = getOption("ibrc.cores", 1), ...) {
  check_unused(...)
  check_bounded(agent)
  solve_problem(object, agent, tolerance, max_backups, check_count(cores, "cores"), values_from(object))
}

#' @export
format.ibrc_plan <- function(x, ...) {
  c(
    paste0("A plan on ", plural(x$space$n_nodes, "belief node"),
           if (x$space$n_nodes > length(x$setting$states)) paste0(" (resolution ", x$space$resolution, ")"),
           " with ", plural(n_models(x$models), "model"), " of the dynamics"),
    format(x$agent)[-1],
    format_starts(x),
    paste0("  solved to ", signif(x$report$bound, 2), " in ", plural(x$report$backups, "backup"))
  )
}

# What is done first, and what that is worth: one line per start, for the first few starts.
format_starts <- function(plan, most = 6) {
  setting <- plan$setting
  start <- start_matrix(setting)
  shown <- seq_len(min(most, nrow(start)))
  lines <- vapply(shown, function(i) {
    at_start <- policy(plan, start[i, ])[1, ]
    likely <- names(sort(at_start, decreasing = TRUE))
    likely <- utils::head(likely[at_start[likely] >= 0.005], 3)
    paste0("  from the start", if (has_starts(setting)) paste(" of", rownames(start)[i]), " (",
           listing(paste(setting$states, format(start[i, ], digits = 3, trim = TRUE))),
           "): ", listing(paste0(likely, " ", round(100 * at_start[likely]), "%")),
           "; value ", format(value(plan, start[i, ]), digits = 5))
  }, "")
  c(lines, if (nrow(start) > most) paste("  and from", nrow(start) - most, "more"))
}

#' @export
print.ibrc_plan <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

#' @export
summary.ibrc_plan <- function(object, ...) {
  structure(list(plan = object, account = account(object), complexity = complexity(object)),
            class = "summary.ibrc_plan")
}

#' @export
print.summary.ibrc_plan <- function(x, digits = 4, ...) {
  print(x$plan)
  cat("\nWhat a visit is worth to the agent, on discounted average\n")
  column <- function(v) formatC(v, format = "f", digits = digits)
  writeLines(paste0("  ", format(x$account$item), "  ", format(column(x$account$amount), justify = "right")))
  cat("\nHow far it departs from its priors, in nats per visit\n")
  writeLines(paste0("  ", format(x$complexity$complexity), "  ",
                    format(column(x$complexity$nats), justify = "right")))
  invisible(x)
}
