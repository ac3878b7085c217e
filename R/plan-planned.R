# Plans of the framework's planners: what plan_mdp(), plan_rule() and the others return. Each is an `ibrc_plan` of a
# problem, so that whatever reads, simulates or judges a plan does so here too, and has beside it
#
#   planner      the key of its row in planners()
#   parameters   what it was given, by name, for print()
#
# Its `agent` has as alpha the price that deciding has in the value (0 where utility is all that counts); the
# temperature by which values become a policy is `problem$alpha`. The two differ for an agent that errs for free.

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

# A plan whose policy is the softmax of action_value [node, action] at temperature `alpha`, times the action prior;
# 0 takes the best, ties shared. Between nodes values are interpolated and then made a policy. `price`: what straying
# from the prior costs in `value`, per nat.
plan_with_values <- function(problem, planner, alpha, action_value, value, prior = NULL, parameters = list(),
                             report = list(), price = alpha) {
  if (alpha == 0) action_value <- share_ties(action_value)
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

# A plan of a given policy [node, action]. Values are what it is worth in the setting; between nodes the policy itself
# is interpolated.
plan_with_policy <- function(problem, planner, policy, parameters = list(), report = list()) {
  agent <- bounded_agent()
  problem$by_value <- 0L
  problem$interpolate <- "policy"
  numbers <- agent_problem(problem, agent)
  policy <- t(check_probability_rows(policy, "policy"))
  report <- planned_report(problem, report)
  sigma <- neutral_sigma(problem)
  worth <- .Call(ffi_policy_value, problem$tables, numbers, policy, sigma, report$tolerance, 10000L, 1L)
  refuse_unsolved(worth, report$tolerance)
  report[c("backups", "products", "bound")] <- worth[c("backups", "products", "bound")]
  step <- .Call(ffi_backup, problem$tables, numbers, worth$value, 0L, 1L)
  solution <- solution_of(problem, worth$value, step$action_value, policy)
  new_ibrc_planned(new_ibrc_plan(problem, agent, numbers, solution, report), planner, parameters)
}

# A plan that plan_agent()'s own solver makes, as the plan of a planner: exact limits of bounded rational control.
plan_by_solving <- function(problem, planner, agent, parameters = list(), tolerance = solve_tolerance(problem)) {
  new_ibrc_planned(solve_problem(problem, agent, tolerance), planner, parameters)
}

# As kernels read it: action_value and policy [action, node]. Models keep their neutral weights, so that between nodes
# no value of a model is ever looked at.
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

# The most that values of this problem can be, and how near to the right ones a solve is asked to be: in the utility's
# own unit.
value_scale <- function(problem) {
  most <- max(abs(problem$reward))
  if (most > 0) most / (1 - problem$setting$discount) else 1
}
solve_tolerance <- function(problem, share = 1e-11) {
  max(share, 16 * .Machine$double.eps / (1 - problem$setting$discount)) * value_scale(problem)
}

# Values [node, action] that differ from the best of their node by no more than rounding are the best as well.
share_ties <- function(action_value, width = tie_width(action_value)) {
  best <- do.call(pmax, unname(split(action_value, col(action_value))))
  tied <- best - action_value <= width
  action_value[tied] <- best[row(action_value)[tied]]
  action_value
}
tie_width <- function(action_value) 1e-9 * max(abs(action_value))

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
  if (is.na(report$bound)) return(NULL)
  paste0("  solved to ", signif(report$bound, 2),
         if (!is.na(report$backups)) paste(" in", plural(report$backups, "backup")))
}

#' @export
update.ibrc_planned <- function(object, ...) {
  abort_input("object", "was made by plan_", object$planner, "(), whose plans are not updated: plan again with ",
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
  cat("  decisions stray from the action prior by ", column(x$complexity$nats[1]), " nats\n", sep = "")
  invisible(x)
}

#' @export
glance.ibrc_planned <- function(x, ...) {
  out <- NextMethod()
  out$alpha <- x$problem$alpha
  cbind(planner = x$planner, out)
}
