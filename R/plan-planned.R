# Plans of the framework's planners: what plan_mdp(), plan_rule() and the others return. Each is an `ibrc_plan` of a
# problem, so that all functions that read, simulate or judge a plan work here too. In addition it has
#
#   planner      the key of its row in planners()
#   parameters   what it was given, by name, for print()
#
# The alpha of its `agent` is the price of deliberating that the value includes (0 if only utility counts). The
# temperature at which values become a policy is `problem$alpha`. The two differ for an agent that errs for free.

new_ibrc_planned <- function(plan, planner, parameters) {
  plan$planner <- planner
  plan$parameters <- parameters
  class(plan) <- c("ibrc_planned", "ibrc_plan")
  plan
}

# In words, after "A plan by". Names are the keys of planners().
planner_words <- c(
  rule = "a decision rule",
  q_learning = "Q-learning",
  soft_q_learning = "soft Q-learning",
  mdp = "a model-based planner that sees the state",
  differentiable = "a differentiable planner",
  kl = "a KL-regularised planner that sees the state",
  iohmm_rule = "a decision rule on beliefs",
  history_q_learning = "Q-learning on the last visits",
  pomdp = "a model-based planner of hidden states",
  belief_aware = "a planner to whom beliefs have a worth of their own",
  agent = "a boundedly rational agent",
  boltzmann = "a planner whose choices are noisy",
  custom = "a planner of the user's own"
)

# A plan whose policy is the softmax of action_value [node, action] at temperature `alpha`, times the action prior.
# With `alpha` = 0 it takes the best action: those in `best` [node, action] are equally likely. Between nodes, values
# are interpolated and then become a policy. `price`: what departing from the prior costs in `value`, per nat.
plan_with_values <- function(problem, planner, alpha, action_value, value, prior = NULL, parameters = list(),
                             report = list(), price = alpha, best = equal_best(action_value)) {
  if (alpha == 0) action_value <- share_best(action_value, best)
  agent <- bounded_agent(alpha = price, action_prior = prior)
  problem$by_value <- 1L
  problem$interpolate <- "value"
  numbers <- agent_problem(problem, agent)
  numbers$alpha <- alpha
  law <- .Call(ffi_soft_mean, matrix(as.numeric(action_value), nrow(action_value)), unname(numbers$action_prior),
               as.numeric(alpha))$weights
  solution <- solution_of(problem, as.numeric(value), t(unname(action_value)), t(law))
  new_ibrc_planned(new_ibrc_plan(problem, agent, numbers, solution, planned_report(problem, report)), planner,
                   parameters)
}

# A plan with a given policy [node, action]. Its values are what the policy is worth in the setting. Between nodes the
# policy itself is interpolated.
plan_with_policy <- function(problem, planner, policy, parameters = list(), report = list()) {
  agent <- bounded_agent()
  problem$by_value <- 0L
  problem$interpolate <- "policy"
  numbers <- agent_problem(problem, agent)
  policy <- t(check_probability_rows(policy, "policy"))
  report <- planned_report(problem, report)
  sigma <- neutral_sigma(problem)
  worth <- .Call(ffi_policy_value, problem$tables, numbers, policy, sigma, report$tolerance, 10000L, 1L)
  refuse_unplanned(worth, report$tolerance)
  report[c("backups", "products", "bound")] <- worth[c("backups", "products", "bound")]
  step <- .Call(ffi_backup, problem$tables, numbers, worth$value, 0L, 1L)
  solution <- solution_of(problem, worth$value, step$action_value, policy)
  new_ibrc_planned(new_ibrc_plan(problem, agent, numbers, solution, report), planner, parameters)
}

# A planner's plan that the solver of plan_agent() makes: an exact limit of bounded rational control.
plan_by_solving <- function(problem, planner, agent, parameters = list(), tolerance = solve_tolerance(problem)) {
  new_ibrc_planned(solve_planned(problem, agent, tolerance, "loosen `tolerance`, or "), planner, parameters)
}

# The solver of plan_agent(), called where the user cannot set its arguments. `advice`: what to do first.
solve_planned <- function(problem, agent, tolerance, advice = NULL) {
  tryCatch(
    solve_problem(problem, agent, tolerance),
    ibrc_error_convergence = function(e) {
      code <- if (is.null(e$bound)) 2 else 1
      refuse_unplanned(list(code = code, bound = e$bound, backups = e$backups), tolerance, advice)
    }
  )
}

refuse_unplanned <- function(result, tolerance, advice = NULL) {
  if (result$code == 0) return(invisible())
  if (result$code == 2) refuse_unsolved(result, tolerance)
  abort("convergence", "The values are known to ", signif(result$bound, 3), " after ",
        plural(result$backups, "backup"), ", not to the ", signif(tolerance, 3), " that were wanted. Rounding alone ",
        "may exceed that where some utilities are very large or the discount is near 1: ", advice,
        "state smaller utilities in the setting.",
        argument = "setting", fields = list(bound = result$bound, backups = result$backups))
}

# The solution as kernels read it: action_value and policy [action, node]. Models keep their neutral weights, so that
# the value of a model is never needed between nodes.
solution_of <- function(problem, value, action_value, policy) {
  n <- n_models(problem$models)
  list(value = value, action_value = action_value,
       model_value = array(rep(action_value, each = n), c(n, dim(action_value))), policy = policy,
       sigma = neutral_sigma(problem))
}

# [model, action, node]
neutral_sigma <- function(problem) {
  size <- c(n_models(problem$models), length(problem$setting$actions), problem$space$n_nodes)
  array(unname(problem$models$weights), size)
}

planned_report <- function(problem, report) {
  given <- list(backups = NA_integer_, products = NA_integer_, bound = NA_real_, tolerance = solve_tolerance(problem))
  given[names(report)] <- report
  given
}

# The largest possible value of this problem, and how near to the right values a solve must come, both in the unit of
# the utility.
value_scale <- function(problem) {
  most <- max(abs(problem$reward))
  if (most > 0) most / (1 - problem$setting$discount) else 1
}
solve_tolerance <- function(problem, share = 1e-11) {
  max(share, 16 * .Machine$double.eps / (1 - problem$setting$discount)) * value_scale(problem)
}

# Which actions may be the best at their node, [node, action], if each value may be wrong by its error.
near_best <- function(action_value, error) {
  at <- cbind(seq_len(nrow(action_value)), max.col(action_value, "first"))
  action_value[at] - action_value <= error[at] + error
}

# Gives the same value to all values [node, action] that count as the best of their node.
share_best <- function(action_value, best) {
  most <- action_value[cbind(seq_len(nrow(action_value)), max.col(action_value, "first"))]
  action_value[best] <- most[row(action_value)[best]]
  action_value
}
# The actions whose values differ from the best by no more than about a hundred roundings of numbers of that size.
equal_best <- function(action_value) near_best(action_value, 256 * .Machine$double.eps * abs(action_value))

#' @export
format.ibrc_planned <- function(x, ...) {
  n_nodes <- x$space$n_nodes
  c(
    paste0("A plan by ", planner_words[[x$planner]], ", on ",
           if (is_vertices(x$space)) plural(n_nodes, "state") else
             paste0(plural(n_nodes, "belief node"), " (resolution ", x$space$resolution, ")")),
    format_parameters(x$parameters),
    format_starts(x),
    format_solved(x$report)
  )
}

format_parameters <- function(parameters) {
  if (!length(parameters)) return(NULL)
  words <- vapply(parameters, parameter_text, "")
  paste0("  ", format(gsub("_", " ", names(parameters))), "  ", words)
}

parameter_text <- function(x) {
  if (is.function(x)) return("a function")
  if (is.atomic(x) && is.null(dim(x)) && length(x) <= 8) {
    text <- if (is.numeric(x)) vapply(x, format_plain, "", digits = 4) else as.character(x)
    if (!is.null(names(x))) text <- paste(names(x), text)
    return(paste(text, collapse = ", "))
  }
  describe(x)
}

format_solved <- function(report) {
  if (!is.null(report$tries)) return(format_learned(report))
  if (is.na(report$bound)) return(NULL)
  paste0("  solved to ", signif(report$bound, 2),
         if (!is.na(report$backups)) paste(" in", plural(report$backups, "backup")))
}

# For a plan that was learned by trial: from how many tries, and how near it came.
format_learned <- function(report) {
  never <- sum(report$tries == 0)
  of <- paste0(" of the ", format_count(length(report$tries)), " pairs of a state and an action")
  c(
    if (!is.na(report$bound)) paste0("  learned so far: values differ by up to ", signif(report$bound, 2),
                                     " from those of a planner who knows the setting"),
    if (never) paste0("  ", format_count(never), of, if (never == 1) " was" else " were", " never tried; nothing is ",
                      "known of them") else
      paste0("  each", of, " was tried ", format_count(min(report$tries)), " times or more")
  )
}

#' @export
update.ibrc_planned <- function(object, ...) {
  abort_input("object", "was made by plan_", object$planner, "(), whose plans cannot be updated. Plan again with ",
              "other arguments.")
}

#' @export
summary.ibrc_planned <- function(object, ...) {
  structure(list(plan = object, utility = mean_terms(object)[["utility"]], complexity = complexity(object)),
            class = "summary.ibrc_planned")
}

#' @export
print.summary.ibrc_planned <- function(x, digits = 4, ...) {
  print(x$plan)
  column <- function(v) formatC(v, format = "f", digits = digits)
  cat("\nPer visit, on discounted average\n")
  cat("  utility ", column(x$utility), "\n", sep = "")
  cat("  decisions depart from the action prior by ", column(x$complexity$nats[1]), " nats\n", sep = "")
  invisible(x)
}

#' @export
glance.ibrc_planned <- function(x, ...) {
  out <- NextMethod()
  out$alpha <- x$problem$alpha
  cbind(planner = x$planner, out)
}
