#' ibrc: how bounded does a decision maker look?
#'
#' Given what was observed and what was done, visit by visit, and a stated
#' standard of what should be wanted, this package reads how flexible, optimistic
#' and adaptive a decision maker looks.
#'
#' **State a problem**: [decision_setting()], [diag_setting()], [tiger_setting()],
#' [as_setting()]; what the agent may believe: [model_prior()], [diag_models()],
#' [perturb_models()], [soften_models()].
#'
#' **Plan**: [bounded_agent()], [plan_agent()], [update()][update.ibrc_plan];
#' [value()], [policy()], [action_value()], [model_weights()], [update_belief()],
#' [tidy()][tidy.ibrc_plan], [evaluate_policy()], [occupancy()], [complexity()].
#'
#' **Behave**: [simulate()][simulate.ibrc_plan], [trajectories()].
#'
#' **Infer**: [ibrc_prior()], [ibrc()], [resume()], [log_lik()]; [ibrc_mode()] for a
#' point estimate; [irl_prior()] and [cost_benefit()] for reward learning;
#' [summary()][summary.ibrc_fit], [as.data.frame()][as.data.frame.ibrc_fit],
#' [prior_summary()].
#'
#' **Compare**: [compare_groups()], [project_behavior()], [loo()].
#'
#' **Check**: [identifiability()], [profile_likelihood()], [pp_check()],
#' [posterior_predict()], [augment()][augment.ibrc_fit].
#'
#' **Look**: [plot()][plot.ibrc_plan] a plan, [plot_plans()], [plot()][plot.ibrc_fit] a
#' fit.
#'
#' @section Options:
#' `ibrc.cores` (1): threads that functions with a `cores` argument use.
#' `ibrc.max_bytes` (2e9): the most memory that a plan's tables may take.
#'
#' @aliases ibrc-package
#' @keywords internal
#' @useDynLib ibrc, .registration = TRUE
"_PACKAGE"
