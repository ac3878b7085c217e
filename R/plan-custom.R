#' Plan for an objective of your own
#'
#' The general planner looks for the behaviour that is best by any measure you can compute. Behaviour here is how
#' likely each action is at each belief and, if asked for, how much weight each model of the dynamics gets when
#' beliefs are updated. Use it to try an idea on a small setting before it has a planner of its own: a risk measure, a
#' fairness constraint as a penalty, a cost of changing one's mind.
#'
#' The objective is called with a plan, which holds one of the behaviours that are tried. It may read this plan like any
#' other: [value()] (what it is worth, without any cost), [policy()], [action_value()], [occupancy()], [complexity()],
#' [model_weights()]. It returns one number. Larger numbers are better.
#'
#' Probabilities are written as squares that sum to 1, and `stats::nlminb()` (a quasi-Newton method, with derivatives by
#' differences) searches for the best ones from several starts. Then the probabilities of each node are replaced by each
#' single action as long as that improves the objective, so that behaviour without chance is found exactly. There is no
#' guarantee that the best of several local optima is the best of all. Nodes that behaviour never reaches do not matter
#' to most objectives, and keep the probabilities that they started with. The effort grows with the square of the number
#' of probabilities. Settings that need more than 100 free probabilities are refused.
#'
#' @param setting A setting ([decision_setting()]).
#' @param objective A function of a plan and, by name, of the elements of `parameters`. It returns one number.
#' @param parameters A named list of further arguments of `objective`: what the planner depends on, such as a price.
#' @param start Where to begin: a rule as in [plan_rule()]. `NULL`: all actions are equally likely.
#' @param starts How many starts to try: the first is `start`, and the others are drawn at random.
#' @param resolution Number of steps from 0 to 1 in each belief. It plays no part if the state is seen.
#' @param models What may be believed about the dynamics ([model_prior()]); the setting's own by default.
#' @param recognition Whether to search for the weights of the models as well, at each node and action. `FALSE` leaves
#'   them as they are in `models`.
#' @param max_steps The most steps that a search may take from each start.
#' @param seed A whole number. The same number draws the same starts again.
#' @param refresh After how many starts to print progress; 0 prints nothing.
#'
#' @return A plan of class `ibrc_planned`. It is read in the same way as a plan of [plan_agent()]. [value()] is the
#'   utility that the behaviour brings. `plan$report$objective` is the objective that was reached, and
#'   `plan$report$starts` has the objective that was reached from each start.
#' @seealso [planners()] for the planners that have a name.
#' @family framework
#' @export
#' @examples
#' states <- c("low", "high")
#' setting <- decision_setting(
#'   states, c("wait", "push"), states,
#'   list(wait = diag(2), push = rbind(c(0.2, 0.8), c(0.5, 0.5))), "identity",
#'   cbind(wait = c(0, 1), push = c(-0.1, 0.9)), discount = 0.8, start = c(1, 0)
#' )
#' # Utility, less a price for acting differently from usual, as in plan_kl().
#' careful <- function(plan, price) {
#'   0.2 * value(plan, c(1, 0)) - price * complexity(plan)$nats[1]
#' }
#' plan_custom(setting, careful, list(price = 0.5), starts = 1)
plan_custom <- function(setting, objective, parameters = list(), start = NULL, starts = 3, resolution = 10,
                        models = NULL, recognition = FALSE, max_steps = 200, seed = NULL,
                        refresh = if (interactive()) 1 else 0) {
  check_given(setting, objective)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  if (!is.function(objective)) {
    abort_input("objective", "must be a function of a plan that returns one number, not ", describe(objective), ".")
  }
  parameters <- check_parameters(parameters, objective)
  if (!is.null(start)) start <- check_rule(start, setting, "start")
  starts <- check_count(starts, "starts", most = 1000)
  recognition <- check_flag(recognition, "recognition")
  max_steps <- check_count(max_steps, "max_steps")
  if (!is.null(seed)) seed <- check_seed(seed)
  refresh <- check_count(refresh, "refresh", least = 0)
  refuse_large_search(setting, models, check_count(resolution, "resolution"), recognition)
  problem <- build_problem(setting, models, resolution)
  frame <- custom_frame(problem, parameters)
  judge <- function(behaviour) judge_plan(custom_plan(frame, behaviour), objective, parameters)
  begin <- first_behaviours(problem, start, starts, recognition, seed)
  runs <- lapply(seq_along(begin), function(i) {
    run <- climb_behaviour(begin[[i]], judge, max_steps)
    if (refresh > 0 && i %% refresh == 0) {
      tell(message("start ", i, " of ", length(begin), ": objective ", format_number(run$objective, 6)))
    }
    run
  })
  reached <- vapply(runs, `[[`, 0, "objective")
  best <- runs[[which.max(reached)]]
  if (!best$settled) {
    warn("unsettled", "The search for the best behaviour was still moving after `max_steps` = ", max_steps,
         " steps: raise it, or try more `starts`.")
  }
  plan <- custom_plan(frame, best$behaviour)
  plan$parameters$objective_reached <- best$objective
  plan$report[c("objective", "starts")] <- list(best$objective, reached)
  plan
}

check_parameters <- function(parameters, objective) {
  named <- names(parameters)
  if (!is.list(parameters) || is.data.frame(parameters) ||
      length(parameters) && (is.null(named) || any(is.na(named) | !nzchar(named)) || anyDuplicated(named))) {
    abort_input("parameters", "must be a list with a name for each further argument of `objective`, not ",
                describe(parameters), ".")
  }
  takes <- names(formals(args(objective)))
  unknown <- setdiff(named, takes)
  if (length(unknown) && !"..." %in% takes) {
    abort_input("parameters", "has ", enumerate(unknown), ", which `objective` does not take.")
  }
  parameters
}

# The most probabilities that are searched.
most_searched <- 100

refuse_large_search <- function(setting, models, resolution, recognition) {
  if (is.null(models)) models <- own_model(setting)
  check_class(models, "ibrc_models", "models", "model_prior()")
  space <- space_for(validate_ibrc_models(models, setting), length(setting$states), resolution)
  n_actions <- length(setting$actions)
  per_node <- n_actions - 1 + if (recognition) n_actions * (n_models(models) - 1) else 0
  if (space$n_nodes * per_node <= most_searched) return(invisible())
  abort_input(if (is_vertices(space)) "setting" else "resolution", "makes the search too large: ",
              format_count(space$n_nodes), if (is_vertices(space)) " states" else " belief nodes", " by ",
              plural(n_actions - 1, "free probability", "free probabilities"), " of actions",
              if (recognition) paste0(" and ", n_actions * (n_models(models) - 1), " of models"), " are ",
              format_count(space$n_nodes * per_node), " numbers, and at most ", most_searched, " are searched.",
              if (!is_vertices(space)) " Lower it.")
}

# ---- behaviours: a policy [node, action] and perhaps sigma [node * action, model], for models that are possible ----

# Rows of probabilities as free numbers, and back: squares that are rescaled. If an action is almost never taken, this
# is much easier to search than logarithms, and a probability of 0 is not infinitely far away.
theta_of <- function(behaviour) unlist(lapply(behaviour, function(law) sqrt(pmax(law, 1e-6))), use.names = FALSE)

# The behaviour that free numbers stand for, in the shape of another behaviour.
behaviour_of <- function(theta, like) {
  end <- cumsum(lengths(like))
  Map(function(law, end) {
    square <- matrix(theta[end - length(law) + seq_along(law)]^2, nrow(law))
    total <- rowSums(square)
    square[total == 0, ] <- 1
    square / rowSums(square)
  }, like, end)
}

# One behaviour per start: the first as the user asked for it, the others drawn at random.
first_behaviours <- function(problem, start, starts, recognition, seed) {
  n_actions <- length(problem$setting$actions)
  even <- rep(1 / n_actions, n_actions)
  policy <- unname(rule_at_nodes(if (is.null(start)) even else start, problem, "start"))
  weights <- problem$models$weights[problem$models$weights > 0]
  first <- list(policy = policy)
  if (recognition) first$sigma <- matrix(weights, nrow(policy) * n_actions, length(weights), byrow = TRUE)
  if (starts == 1) return(list(first))
  theta <- theta_of(first)
  drawn <- with_stream(streams_from_seed(seed)[[1]], matrix(stats::rnorm(length(theta) * (starts - 1)), length(theta)))
  c(list(first), lapply(seq_len(starts - 1), function(i) behaviour_of(drawn[, i], first)))
}

# A plan into which behaviours are put. The laws of its steps are one matrix: one row per model, action and node
# (models fastest, nodes slowest), and one column per next node. There are few nodes, so values are found exactly by
# solving linear equations. They must be exact, because differences of the objective are taken.
custom_frame <- function(problem, parameters) {
  even <- matrix(1 / length(problem$setting$actions), problem$space$n_nodes, length(problem$setting$actions))
  plan <- plan_with_policy(problem, "custom", even, parameters)
  plan$report[c("backups", "products", "bound")] <- list(NA_integer_, NA_integer_, NA_real_)
  nodes <- seq_len(problem$space$n_nodes)
  steps <- vapply(nodes, function(j) {
    as.vector(.Call(ffi_table_expect, problem$tables, as.numeric(nodes == j)))
  }, numeric(length(plan$solution$sigma)))
  list(plan = plan, steps = steps)
}

# The plan of a behaviour. Its values are the utility that it brings, under the dynamics that it believes in.
custom_plan <- function(frame, behaviour) {
  plan <- frame$plan
  policy <- t(behaviour$policy)
  sigma <- plan$solution$sigma
  if (!is.null(behaviour$sigma)) sigma[plan$models$weights > 0, , ] <- as_kernel_sigma(behaviour$sigma, nrow(policy))
  n <- ncol(policy)
  taken <- as.vector(sigma) * rep(as.vector(policy), each = dim(sigma)[1])
  chain <- colSums(array(frame$steps * taken, c(length(taken) / n, n, n)))
  value <- solve(diag(n) - plan$setting$discount * chain, rowSums(behaviour$policy * plan$reward))
  ahead <- array(plan$setting$discount * (frame$steps %*% value), dim(sigma))
  plan$solution <- list(value = value, action_value = t(plan$reward) + colSums(sigma * ahead), model_value = ahead,
                        policy = policy, sigma = sigma)
  plan
}

# [node * action, model] as [model, action, node].
as_kernel_sigma <- function(sigma, n_actions) {
  aperm(array(sigma, c(nrow(sigma) / n_actions, n_actions, ncol(sigma))), c(3, 2, 1))
}

judge_plan <- function(plan, objective, parameters) {
  number <- call_user(function() do.call(objective, c(list(plan), parameters), quote = TRUE), argument = "objective")
  if (!is.numeric(number) || length(number) != 1 || !is.finite(number)) {
    abort_input("objective", "must return one finite number; it returned ", describe(number), ".")
  }
  as.numeric(number)
}

# ---- the search -----------------------------------------------------------------------------------------------------

# From one behaviour to the best nearby: list(behaviour, objective, settled).
climb_behaviour <- function(behaviour, judge, max_steps) {
  theta <- theta_of(behaviour)
  at_start <- judge(behaviour)
  here <- list(behaviour = behaviour, objective = at_start, settled = TRUE)
  if (all(vapply(behaviour, ncol, 0L) == 1)) return(here)
  # The objective gets a unit of its own, so that the search stops at the same point whatever its scale.
  unit <- objective_unit(theta, at_start, function(theta) judge(behaviour_of(theta, behaviour)))
  loss <- function(theta) (at_start - judge(behaviour_of(theta, behaviour))) / unit
  found <- stats::nlminb(theta, loss, function(theta) slopes(loss, theta),
                         control = list(iter.max = max_steps, eval.max = 2 * max_steps, rel.tol = 1e-13))
  if (found$objective < 0) {
    here <- list(behaviour = behaviour_of(found$par, behaviour), objective = at_start - unit * found$objective,
                 settled = !grepl("limit", found$message, fixed = TRUE))
  }
  sharpen(here, judge, 1e-12 * unit)
}

slopes <- function(f, theta, step = 1e-4) {
  vapply(seq_along(theta), function(i) {
    by <- replace(numeric(length(theta)), i, step)
    (f(theta + by) - f(theta - by)) / (2 * step)
  }, 0)
}

# How much the objective changes with a moderate change of behaviour.
objective_unit <- function(theta, at_start, f) {
  turns <- rep_len(c(0.5, -0.3, 0.1), length(theta))
  moved <- max(abs(f(theta + turns) - at_start), abs(f(theta - turns) - at_start))
  if (moved > 0) return(moved)
  if (at_start != 0) abs(at_start) else 1
}

# In each row of probabilities in turn, one entry becomes 1, as long as that is better by more than rounding.
sharpen <- function(here, judge, least) {
  repeat {
    before <- here$objective
    for (law in names(here$behaviour)) {
      for (i in seq_len(nrow(here$behaviour[[law]]))) here <- sharpen_row(here, law, i, judge, least)
    }
    if (here$objective <= before + least) break
  }
  # If every choice is certain, nothing was left to settle.
  here$settled <- here$settled || all(unlist(here$behaviour) %in% c(0, 1))
  here
}

sharpen_row <- function(here, law, i, judge, least) {
  for (k in seq_len(ncol(here$behaviour[[law]]))) {
    if (here$behaviour[[law]][i, k] == 1) next
    other <- here$behaviour
    other[[law]][i, ] <- 0
    other[[law]][i, k] <- 1
    objective <- judge(other)
    if (objective > here$objective + least) here[c("behaviour", "objective")] <- list(other, objective)
  }
  here
}
