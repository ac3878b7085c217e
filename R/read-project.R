#' The behaviour that a fit stands for
#'
#' Plans for the agent at a fit's posterior medians, or at a mode. Among all behaviour that the model can produce, this
#' one stands for what was seen (the paper's projection).
#'
#' Where dynamics were inferred ([ibrc()] with `dynamics`), their laws are at their medians as well. Medians of laws and
#' of agents need not fit together: [predict()][predict.ibrc_fit], [belief_paths()], [plot_simplex()] and
#' [decision_effects()] average over draws instead.
#'
#' @param planner A fit ([ibrc()]), a mode ([ibrc_mode()]) or the answer of an inverse planner ([infer_margin()] and
#'   others, see [inverse_planners()]).
#' @param ... Not used.
#' @return A plan ([plan_agent()]), or with groups a list of plans named by group.
#' @family inference
#' @name project_behavior
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 300, seed = 1)
#' project_behavior(fit)
NULL

#' @rdname project_behavior
#' @export
project_behavior.ibrc_fit <- function(planner, ...) {
  check_unused(...)
  refuse_several(planner, "planner", "project_behavior()")
  fit <- planner
  plans <- lapply(stats::setNames(nm = names(fit$draws)), function(group) {
    middle <- apply(fit$draws[[group]], 3, stats::median)
    # Inferred dynamics are at their medians as well (`at` of the recipe).
    plan_at(fit, matrix(middle, 1, dimnames = list(NULL, prior_terms(fit$prior))), problem_of(fit, group))
  })
  if (is_grouped(fit)) plans else plans[[1]]
}

#' @rdname project_behavior
#' @export
project_behavior.ibrc_mode <- function(planner, ...) {
  check_unused(...)
  refuse_several(planner, "planner", "project_behavior()")
  mode <- planner
  plans <- lapply(stats::setNames(nm = names(mode$tops)), function(group) {
    plan_at(mode, prior_natural(mode$prior, matrix(mode$tops[[group]]$theta, 1)), problem_of(mode, group))
  })
  if (is_grouped_mode(mode)) plans else plans[[1]]
}

#' @export
project_behavior.default <- function(planner, ...) check_class(planner, "ibrc_fit", "planner", "ibrc()")
