#' ibrc: how bounded does a decision maker look?
#'
#' The input is what was observed and what was done, visit by visit, and a stated standard of what should be wanted.
#' From these the package reads how flexible, optimistic and adaptive a decision maker looks. This page lists every
#' function by task. The function that infers is [ibrc()]; `vignette("ibrc")` begins at the beginning.
#'
#' @section State a problem:
#' * What there is to know, do, see and want: [decision_setting()],
#'   [certainty_bonus()].
#' * Ready made: [diag_setting()], [tiger_setting()], [adni_setting()]; from `.POMDP`
#'   files, objects of the package pomdp or learned dynamics: [as_setting()].
#' * What the decision maker may believe about the dynamics: [model_prior()],
#'   [diag_models()], [perturb_models()], [soften_models()].
#'
#' @section Bring data:
#' * Visits as a data frame: [trajectories()]; from a table with a marker and a test: [panel_trajectories()]; from the
#'   tables of ADNI: [read_adni()]; who was left out: [flow()], [flow_data()].
#' * A synthetic cohort: [adni_like], and what is true of it: [adni_like_truth()].
#' * Counts too small to be shown: [suppress_counts()].
#'
#' @section Learn dynamics:
#' * Hidden states from visits: [fit_iohmm()], [iohmm_prior()]; the fit as a data frame:
#'   [tidy()][tidy.ibrc_iohmm]; what comes next: [predict()][predict.ibrc_iohmm].
#' * From there to a problem: [as_setting()][as_setting.ibrc_iohmm], [model_draws()].
#'
#' @section Plan:
#' * How the agent is bounded: [bounded_agent()]; its plan: [plan_agent()]; another
#'   agent's: [update()][update.ibrc_plan].
#' * Read a plan: [value()], [policy()], [action_value()], [model_weights()],
#'   [update_belief()], [tidy()][tidy.ibrc_plan].
#' * Judge behaviour: [evaluate_policy()], [occupancy()], [complexity()].
#' * Behave: [simulate()][simulate.ibrc_plan].
#'
#' @section Other planners:
#' * The table: [planners()]. Where the state is seen: [plan_mdp()], [plan_kl()], [plan_differentiable()] with
#'   [plan_gradient()]; by trial: [plan_q_learning()], [plan_soft_q_learning()].
#' * Where it is hidden: [plan_pomdp()], [plan_belief_aware()], [plan_history_q_learning()], which has its own
#'   [policy()][read_history_plan] and [predict()][predict.ibrc_history_plan].
#' * Rules: [plan_rule()], [plan_iohmm_rule()]; noise: [plan_boltzmann()]; any objective: [plan_custom()].
#' * Agents that others have studied: [agents()]; [random_agent()], [optimal_agent()], [boltzmann_agent()],
#'   [minimum_information_agent()], [max_entropy_agent()], [kl_agent()], [robust_agent()].
#'
#' @section Infer:
#' * Priors: [ibrc_prior()], [irl_prior()] for a utility, [prior_summary()].
#' * Draw from the posterior: [ibrc()]; how it is computed: [ibrc_control()]; go on after a stop: [resume()]; make a fit
#'   longer: [extend_fit()]; find only a point: [ibrc_mode()]; one of several problems: [one_problem()].
#' * Read a fit: [summary()][summary.ibrc_fit], [tidy()][summary.ibrc_fit],
#'   [glance()][summary.ibrc_fit], [as.data.frame()][as.data.frame.ibrc_fit],
#'   [cost_benefit()].
#'
#' @section Other inverse planners:
#' * The table: [inverse_planners()]; what they return: [tidy()][tidy.ibrc_inferred].
#' * From actions that are assumed to be the best: [infer_perturbation()], [infer_margin()], [infer_experiments()].
#' * From how often things are done: [infer_soft_margin()], [infer_matching()], [infer_distribution()],
#'   [infer_soft_policies()], [infer_shared_utility()].
#' * From judgements: [infer_scores()], [infer_preferences()]; by any comparison: [infer_custom()].
#'
#' @section Predict:
#' * The chances of each action at each visit, by a plan, a fit, a mode or learned dynamics, all in the same way:
#'   [predict()][predict.ibrc_plan].
#' * The likelihood of visits, old or new: [log_lik()]; that of a fit: [log_lik()][log_lik.ibrc_fit].
#' * New behaviour like the fitted one: [simulate()][simulate.ibrc_fit].
#' * Without a stated problem: by simple rules, [fit_baseline()], by a network, [fit_rnn()], or by beliefs,
#'   [fit_iohmm_bc()] and [simulate()][simulate.ibrc_iohmm_bc], all with [predict()][predict.ibrc_learned].
#' * By rewards that are learned, also with the dynamics: [fit_po_irl()], [simulate()][simulate.ibrc_po_irl].
#' * How well any of them predicts patients it has not seen: [cross_validate()],
#'   [accuracy()][accuracy.ibrc_cross_validation], [plot()][plot.ibrc_cross_validation], [accuracy_data()].
#' * How well they imitate known decision makers: [interpole_task()], [imitation_error()], [imitation_study()].
#'
#' @section Compare:
#' * What decision makers do, in words a clinician uses, and how groups differ in it: [decision_effects()],
#'   [plot()][plot.ibrc_effects], [effects_data()].
#' * Groups: [compare_groups()], [plot_groups()], [groups_data()].
#' * People who differ: [compare_groups()] for adjusted differences, [spread_shares()], [plot_shrinkage()],
#'   [shrinkage_data()].
#' * The behaviour that a fit stands for, and planners joined with inverse planners: [project_behavior()],
#'   [tidy()][tidy.ibrc_projection].
#' * Classes of decision models: [decision_models()], [compare_models()], [tidy()][tidy.ibrc_model_comparison],
#'   [plot()][plot.ibrc_model_comparison], [model_comparison_data()]; what a wrong one costs:
#'   [misspecification_study()], [plot()][plot.ibrc_misspecification], [misspecification_data()].
#' * Fits: [loo()]; by fitting again: [kfold()].
#'
#' @section Plan a study:
#' * Say who decides, for how many patients, how groups differ, which clinicians vary, how it is analysed:
#'   [study_design()].
#' * What the study would find: [power_study()]; whether truths are found again: [recovery_study()]; as pictures:
#'   [plot()][plot.ibrc_power_study], [power_data()], [recovery_data()].
#'
#' @section Look:
#' * Settings: [plot()][plot.ibrc_setting], [setting_data()]; visits: [plot()][plot.ibrc_trajectories], [visits_data()].
#' * Plans: [plot_plans()], [plot()][plot.ibrc_plan], [plans_data()]; with sliders for the
#'   bounds: [explore_agent()].
#' * Fits: [plot()][plot.ibrc_fit], [fit_plot_data()].
#' * The beliefs behind decisions: [belief_paths()], [plot_simplex()],
#'   [simplex_data()].
#' * All of it on one page, or in Word: [ibrc_report()], [report_sections()].
#'
#' @section Write a paper:
#' * The methods, and what they should say: [methods_text()], [reporting_checklist()].
#' * Tables: [tbl_agents()], [tbl_groups()]; of these and of other results: [as_gt()].
#'
#' @section Check:
#' * Whether a fit may be used: [verdict()], [add_verdict()].
#' * Whether the fitted agent decides as people did: [behaviour_check()].
#' * What the data say about a term, and what they do not say: [identifiability()], [profile_likelihood()],
#'   [profile_data()].
#' * How far the answer moves with what was assumed: [sensitivity_analysis()], [plot()][plot.ibrc_sensitivity],
#'   [sensitivity_data()].
#' * Observed decisions beside those of the fitted agent, one step ahead: [pp_check()], [pp_data()]; whole new
#'   trajectories: [posterior_predict()].
#' * Every visit: [augment()][augment.ibrc_fit].
#'
#' @section Conventions:
#' An argument that is one number, text or flag takes a vector of length one and nothing longer. Names and choices are
#' case-sensitive. Counts are whole numbers, of type integer or double. Prices are in units of the utility.
#'
#' @section Options:
#' `ibrc.cores` (1): the threads that functions with a `cores` argument use. `ibrc.check` (`TRUE`): whether `ibrc()`, by
#' `ibrc_control()`, and `resume()` make the checks of `verdict()` at the end. `ibrc.max_bytes` (2e9): the most memory
#' that a plan's tables may take. `ibrc.memory` (what the machine has free, if that is known, else 16): the most memory,
#' in GB, that a call may ask for. A call that needs more is refused before any work.
#'
#' @section Vignettes:
#' `vignette("ibrc")`, get started; `vignette("glossary")`, symbols and words. The site has more: other planners and
#' inverse planners, and which of them answers which question (framework), how well they predict (accuracy), the theory
#' and where it is computed (math), a cohort worked through (adni), choices in a task (choices), a real trial (pbc), the
#' paper's own case (paper), many groups, patients and beliefs (scale), and what was tested and how to test it again
#' (trust).
#'
#' @aliases NULL ibrc-package
#' @useDynLib ibrc, .registration = TRUE
"_PACKAGE"
