# Calls of the framework's functions that work, and what else is right in them (helper-malformed.R).

framework_entries <- function(signed, amount, share, seed) {
  setting <- seen_clinic()
  plan <- plan_kl(setting, 1)
  visits <- simulate(plan, 12, horizon = 5, seed = 1)
  hidden <- diag_setting()
  shown <- infer_soft_margin(plan, setting)
  crossed <- cross_validate(visits, "frequencies", folds = 2)
  by_history <- plan_history_q_learning(setting, steps = 500, seed = 1)
  unrolled <- plan_differentiable(setting, 1, 5)
  scores <- stats::setNames(seq_len(12) / 12, 1:12)
  entry <- call_entry
  positive <- c("fraction", "huge")
  one_of <- list(models = "null", seed = seed)
  model <- fit_baseline(visits)
  wanting <- fit_po_irl(visits, setting, chains = 1, iter = 4, draws = 2, seed = 1)
  planned <- small_design(patients = 5)
  powered <- power_study(small_design(fit = count_visits, prior = NULL, patients = 5), 5, replicates = 1)
  projected <- project_behavior("rule", "matching", visits, setting = setting, replicates = 10, seed = 1)
  compared <- compare_models(visits, setting, decision_models()[1, ], replicates = 10, seed = 1)
  list(
    agents = entry(list()), planners = entry(list()), inverse_planners = entry(list()), decision_models = entry(list()),
    random_agent = entry(list()), optimal_agent = entry(list()),
    boltzmann_agent = entry(list(temperature = 1), fine = list(temperature = c("zero", positive))),
    max_entropy_agent = entry(list(alpha = 1), fine = list(alpha = positive)),
    kl_agent = entry(list(alpha = 1, action_prior = c(0.5, 0.5)), fine = list(alpha = positive)),
    minimum_information_agent = entry(list(), fine = list(belief_prior = c("null", "a_function", "nothing"),
                                                          action_prior = "null")),
    robust_agent = entry(list(beta = -1), fine = list(beta = "minus")),
    plan_rule = entry(list(setting = setting, rule = matrix(0.5, 3, 2)), fine = one_of),
    plan_mdp = entry(list(setting = setting), fine = list(tolerance = positive)),
    plan_kl = entry(list(setting = setting, alpha = 1), fine = list(
      alpha = c("zero", "infinite", positive), action_prior = "null", tolerance = positive)),
    plan_q_learning = entry(list(setting = setting, steps = 200), fine = list(
      steps = "null", seed = seed, exploration = c(share, "flag"), patience = c("null", positive), power = "fraction")),
    plan_soft_q_learning = entry(list(setting = setting, alpha = 1, steps = 200), fine = list(
      steps = "null", seed = seed, alpha = positive, exploration = share, patience = c("null", positive),
      power = "fraction")),
    plan_differentiable = entry(list(setting = setting, alpha = 1, steps = 5), fine = list(alpha = positive)),
    plan_gradient = entry(list(plan = unrolled, weights = matrix(1, 3, 2))),
    plan_iohmm_rule = entry(list(setting = setting, centres = rbind(c(1, 0, 0), c(0, 1, 0)), sharpness = 1),
                            fine = c(one_of, list(sharpness = c("zero", positive)))),
    plan_history_q_learning = entry(list(setting = setting, steps = 200), fine = list(
      steps = "null", seed = seed, exploration = share, alpha = c("zero", positive))),
    plan_pomdp = entry(list(setting = hidden, resolution = 5), fine = one_of),
    plan_belief_aware = entry(list(setting = hidden, resolution = 5), fine = c(one_of, list(belief_utility = "null"))),
    plan_boltzmann = entry(list(setting = setting, temperature = 1), fine = c(one_of, list(
      temperature = c("zero", positive)))),
    plan_custom = entry(list(setting = setting, objective = function(plan) value(plan, c(1, 0, 0)), starts = 1,
                             max_steps = 2),
                        fine = c(one_of, list(start = "null", recognition = "flag", refresh = c("zero", "flag"),
                                              parameters = c("list", "named_list", "null"))), warns = TRUE),
    infer_perturbation = entry(list(visits = visits, setting = setting), fine = list(
      norm = "infinite", margin = c("zero", positive))),
    infer_margin = entry(list(visits = visits, setting = setting), fine = list(
      bound = c("null", positive), penalty = amount)),
    infer_experiments = entry(list(visits = list(visits), settings = list(setting)), fine = list(
      bound = c("null", positive), penalty = amount, limits = "flag"), says = list(visits = "visits[[1]]")),
    infer_soft_margin = entry(list(visits = visits, setting = setting), fine = list(
      alpha = positive, penalty = amount)),
    infer_distribution = entry(list(visits = visits, setting = setting), fine = list(entropy = share)),
    infer_soft_policies = entry(list(visits = list(visits, visits), setting = setting), fine = list(
      alpha = positive, smoothing = amount)),
    infer_shared_utility = entry(list(visits = list(visits), settings = list(setting)), fine = list(
      alpha = positive, smoothing = amount)),
    infer_scores = entry(list(visits = visits, setting = setting, scores = scores), fine = list(
      discounted = "flag", alpha = amount)),
    infer_preferences = entry(list(visits = visits, setting = setting, prior_sd = 1,
                                   preferences = data.frame(worse = 1:6, better = 7:12)), fine = list(
      discounted = "flag", alpha = amount, prior_sd = c("null", positive))),
    infer_matching = entry(list(visits = visits, setting = setting), fine = list(
      planner = "null", terms = "null", features = "null", start = "null", prior = c("null", positive),
      alpha = positive, action_prior = "null", models = "null", lower = "null", upper = "null", warmup = "zero",
      seed = seed), says = list(planner = "start")),
    infer_custom = entry(list(visits = visits, setting = setting, starts = 1, start = c(alpha = 1),
                              lower = c(alpha = 0.1),
                              planner = function(setting, theta) plan_kl(setting, theta[["alpha"]]),
                              discrepancy = function(visits, plan) -sum(log_lik(plan, visits))),
                         fine = list(lower = "null", upper = "null", seed = seed)),
    predict.ibrc_inferred = entry(list(object = shown, visits = visits), leave = "object",
                                  fine = list(setting = "null")),
    log_lik.ibrc_inferred = entry(list(object = shown, visits = visits), leave = "object",
                                  fine = list(setting = "null")),
    simulate.ibrc_inferred = entry(list(object = shown, nsim = 2), leave = c("object", "..."), fine = list(
      seed = seed, setting = "null")),
    confint.ibrc_inferred = entry(list(object = projected$inferred), leave = "object", fine = list(
      parm = "named", level = "fraction")),
    policy.ibrc_inferred = entry(list(object = shown), leave = "object", fine = list(
      beliefs = c("null", "empty_matrix"), setting = "null")),
    predict.ibrc_history_plan = entry(list(object = by_history, visits = visits), leave = "object"),
    log_lik.ibrc_history_plan = entry(list(object = by_history, visits = visits), leave = "object"),
    simulate.ibrc_history_plan = entry(list(object = by_history, nsim = 2), leave = "object", fine = list(
      seed = seed, environment = "null", start_group = "null")),
    fit_baseline = entry(list(visits = visits), fine = list(last = "flag", actions = "null", observations = "null"),
                         says = list(actions = "action", observations = "observation")),
    fit_rnn = entry(list(visits = visits, units = c(2, 2), networks = 1, max_steps = 10), fine = list(
      units = "named", rate = positive, held_out = share, actions = "null", observations = "null", start = "null",
      seed = seed, refresh = "zero"), says = list(actions = "action", observations = "observation")),
    fit_iohmm_bc = entry(list(visits = visits, states = 2, starts = 2, joint = TRUE, max_iter = 5), fine = list(
      joint = "flag", sharpness = c("null", "fraction"), actions = "null", observations = "null",
      prior = c("null", amount), sort_by = "null", names = "null", centre_sd = c(positive, "infinite"),
      sharpness_sd = c(positive, "infinite"), tolerance = positive, seed = seed, refresh = "zero"),
      says = list(actions = "action", observations = "observation")),
    simulate.ibrc_iohmm_bc = entry(list(object = known_clone(), nsim = 2), leave = c("object", "..."), fine = list(
      seed = seed, horizon = "null", stop_actions = c("null", "no_text"))),
    fit_po_irl = entry(list(visits = visits, setting = setting, chains = 1, iter = 4, draws = 2), fine = list(
      setting = "null", joint = "flag", dynamics = "null", discount = share, sd = "fraction", iter = "null",
      warmup = "null", actions = "null", observations = "null", seed = seed, refresh = "zero")),
    simulate.ibrc_po_irl = entry(list(object = wanting, nsim = 2), leave = "object", fine = list(
      seed = seed, environment = "null", start_group = "null")),
    tidy.ibrc_po_irl = entry(list(x = wanting), leave = "x", fine = list(conf.level = "fraction")),
    predict.ibrc_learned = entry(list(object = model, visits = visits), leave = "object"),
    log_lik.ibrc_learned = entry(list(object = model, visits = visits), leave = "object"),
    cross_validate = entry(list(visits = visits, methods = "frequencies", folds = 2), fine = list(
      stratify = "null", seed = c("minus", "zero"), file = c("null", "text"), refresh = "zero")),
    accuracy.ibrc_cross_validation = entry(list(object = crossed, resamples = 10), leave = "object", fine = list(
      action = "null", reference = "null", conf.level = "fraction", resamples = "zero", seed = c("minus", "zero"))),
    accuracy = entry(list(object = crossed, resamples = 10), leave = c("object", "...")),
    policy.ibrc_history_plan = entry(list(object = by_history), leave = c("object", "beliefs"), fine = list(
      histories = "null")),
    value.ibrc_history_plan = entry(list(object = by_history), leave = c("object", "beliefs"), fine = list(
      histories = "null")),
    action_value.ibrc_history_plan = entry(list(object = by_history), leave = c("object", "beliefs"), fine = list(
      histories = "null")),
    compare_models = entry(list(visits = visits, setting = setting, models = decision_models()[1, ], replicates = 10),
                           fine = list(newdata = "null", holdout = c("null", "fraction"), reference = "null",
                                       seed = seed, conf.level = "fraction", refresh = "zero")),
    misspecification_study = entry(list(setting = setting, agents = "optimal", models = "max_entropy", n = 5),
                                   fine = list(n = "infinite", alpha = c("null", positive), seed = seed,
                                               refresh = "zero")),
    tidy.ibrc_model_comparison = entry(list(x = compared), leave = "x"),
    model_comparison_data = entry(list(comparison = compared)),
    misspecification_data = entry(list(study = misspecification_study(setting, "max_entropy", "max_entropy", Inf))),
    study_design = entry(
      list(setting = hidden, agents = bounded_agent(0.5), prior = planned$prior, resolution = 5),
      fine = list(models = "null", effect = "null", clusters = "null", spread = "null", crossed = "flag",
                  confounder = "null", fixed = c("list", "table"), fit = c("a_function", "nothing"),
                  conf.level = "fraction"), says = list(... = "nonsense")),
    simulate.ibrc_study_design = entry(list(object = planned, nsim = 2), leave = "object", fine = list(seed = seed)),
    power_study = entry(list(design = planned, patients = 5, replicates = 1), fine = list(
      patients = "named", null = "flag", seed = c("null", "minus", "zero"), file = c("null", "text"),
      refresh = "zero")),
    recovery_study = entry(list(design = planned, replicates = 1), fine = list(
      seed = c("null", "minus", "zero"), file = c("null", "text"), refresh = "zero")),
    power_data = entry(list(study = powered), fine = list(measures = "null")),
    recovery_data = entry(list(study = recovery_study(planned, replicates = 2))),
    project_behavior.function = entry(list(planner = plan_rule, inverse = infer_matching, visits = visits,
                                           setting = setting, replicates = 10), leave = c("planner", "..."),
                                      fine = list(newdata = "null", conf.level = "fraction", seed = seed)),
    project_behavior.character = entry(list(planner = "rule", inverse = "matching", visits = visits,
                                            setting = setting, replicates = 10), leave = c("planner", "..."),
                                       fine = list(newdata = "null", conf.level = "fraction", seed = seed)),
    predict.ibrc_projection = entry(list(object = projected, visits = visits), leave = "object"),
    log_lik.ibrc_projection = entry(list(object = projected, visits = visits), leave = "object"),
    simulate.ibrc_projection = entry(list(object = projected, nsim = 2), leave = c("object", "..."), fine = list(
      seed = seed)),
    policy.ibrc_projection = entry(list(object = projected), leave = "object", fine = list(
      beliefs = c("null", "empty_matrix"), last = c("null", "missing", "missing_text"))),
    tidy.ibrc_projection = entry(list(x = projected), leave = "x"),
    accuracy_data = entry(list(object = crossed), fine = list(action = "null", from = "null")),
    interpole_task = entry(list(resolution = 2)),
    imitation_error = entry(list(truth = interpole_task(resolution = 2), model = interpole_task(resolution = 2),
                                 nsim = 2, horizon = 3), fine = list(seed = seed)),
    imitation_study = entry(list(truth = interpole_task(resolution = 2), methods = "frequencies", runs = 1,
                                 trajectories = 2, nsim = 2, horizon = 9), fine = list(
                                   runs = "flag", seed = c("minus", "zero"), refresh = "zero"))
  )
}
