setting <- diag_setting()
models <- diag_models()
plan <- plan_agent(setting, bounded_agent(0.5, 2, 0.1), models, resolution = 10)
visits <- trajectories(cbind(as.data.frame(simulate(plan, 20, seed = 1)), clinic = "north"), covariates = "clinic")
visits$clinic[visits$id > 10] <- "south"
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
fit <- suppressWarnings(
  ibrc(visits, setting, models, prior, by = "clinic", chains = 2, iter = 40, seed = 1, resolution = 10)
)
mode <- ibrc_mode(visits, setting, models, prior, resolution = 10, starts = 2, seed = 1)
paid <- suppressWarnings(ibrc(visits, setting, models, irl_prior(setting), fixed = list(alpha = 1), chains = 2,
                              iter = 40, seed = 1, resolution = 10))
differing <- suppressWarnings(ibrc(visits, setting, models, prior, effects = list(optimism ~ clinic, alpha ~ (1 | id)),
                                   chains = 2, iter = 10, seed = 1, resolution = 10,
                                   control = ibrc_control(check = FALSE)))
iohmm <- fit_iohmm(visits, 2, starts = 2, seed = 1)
cohort <- read_adni(adni_rows(
  adni_row(1, "bl", "0", 6642), adni_row(1, "m06", "0.5"), adni_row(1, "m12", "2.5", 6029.4),
  adni_row(2, "bl", "18", 7254.5)
))
learned <- local({
  both <- cohort[rep(1:4, 6), ]
  both$RID <- rep(1:12, rep(c(3, 1), 6))
  fit_iohmm(both, 2, starts = 2, seed = 1)
})
panel <- data.frame(who = rep(1:6, each = 3), day = rep(0:2, 6), marker = 1:18, assay = c(NA, 1:5), sex = "f")
checkpoint <- withr::local_tempfile(fileext = ".ibrc")
invisible(ibrc(visits, setting, models, prior, chains = 1, iter = 10, seed = 1, resolution = 10, file = checkpoint))

# What is right though it looks wrong, by argument.
seed <- c("null", "minus", "zero")
share <- c("zero", "fraction")
amount <- c("zero", "fraction", "huge")
signed <- c("minus", amount)
level <- list(conf.level = "fraction")
price <- c("null", "infinite", "minus_infinite", signed)

# Of several statistics the message says which one failed.
own_statistic <- list(statistics = "statistics$own")
# Of what is no argument, it says the name.
no_argument <- list(... = "nonsense")
entries <- list(
  decision_setting = call_entry(
    c(setting[1:3], list(transition = setting$transition, emission = setting$emission, utility = setting$utility,
                         discount = 0.9)),
    fine = list(belief_utility = "null", discount = share, start = "null", stop_actions = c("null", "no_text"),
                start_by = "null"),
    says = list(actions = "transition", observations = "emission")
  ),
  diag_setting = call_entry(list(), fine = list(accuracy = share, discount = share)),
  diag_models = call_entry(list(), fine = list(accuracy = c(share, "large_matrix"), weights = "null")),
  tiger_setting = call_entry(list(), fine = list(accuracy = share, discount = share)),
  adni_setting = call_entry(list(iohmm = learned), fine = list(mri_cost = amount, certainty = signed, above = share,
                                                               discount = share)),
  adni_like_truth = call_entry(list()),
  as_setting = call_entry(list(x = setting)),
  as_setting.character = call_entry(
    list(x = system.file("extdata", "tiger.POMDP", package = "ibrc")),
    fine = list(discount = c("null", share), stop_actions = c("null", "no_text")), leave = "x"
  ),
  as_setting.ibrc_iohmm = call_entry(
    list(x = iohmm, utility = matrix(0, 2, 3), discount = 0.9), leave = "x",
    fine = list(discount = share, belief_utility = "null", stop_actions = c("null", "no_text"), start = "null")
  ),
  certainty_bonus = call_entry(list(worth = 1), fine = list(worth = signed, above = share)),
  model_prior = call_entry(list(models = list(setting[c("transition", "emission")])),
                           fine = list(weights = "null", setting = "null")),
  perturb_models = call_entry(list(setting = setting), fine = list(by = "fraction", apart = "flag", weights = "null")),
  soften_models = call_entry(list(setting = setting), fine = list(mix = c(share, "large_matrix"), weights = "null")),
  model_draws = call_entry(list(iohmm = iohmm, n = 2, warmup = 2, thin = 1), fine = list(warmup = "zero", seed = seed)),
  bounded_agent = call_entry(list(), fine = list(
    alpha = price, beta = price, eta = c("null", signed), flexibility = price, optimism = price,
    adaptivity = setdiff(price, "zero"), habit = c("null", signed), action_prior = "null",
    belief_prior = c("null", "a_function", "nothing")
  )),
  plan_agent = call_entry(list(setting = setting, agent = bounded_agent(0.5), models = models, resolution = 10),
                          fine = list(models = "null", tolerance = c("fraction", "huge"), max_bytes = "huge")),
  update.ibrc_plan = call_entry(list(object = plan, agent = bounded_agent(0.5)), leave = "object",
                                fine = list(tolerance = c("fraction", "huge"))),
  value = call_entry(list(object = plan), fine = list(beliefs = c("null", "empty_matrix"))),
  value.ibrc_plan = call_entry(list(object = plan), fine = list(beliefs = c("null", "empty_matrix")), leave = "object"),
  policy = call_entry(list(object = plan), fine = list(beliefs = c("null", "empty_matrix"))),
  action_value = call_entry(list(object = plan), fine = list(beliefs = c("null", "empty_matrix"))),
  model_weights = call_entry(list(object = plan, beliefs = c(0.5, 0.5), action = "monitor"),
                             fine = list(beliefs = c("null", "empty_matrix"))),
  update_belief = call_entry(list(plan = plan, belief = c(0.5, 0.5), action = "monitor", observation = "positive"),
                             fine = list(belief = "empty_matrix", observation = c("missing", "missing_text"))),
  evaluate_policy = call_entry(list(plan = plan), fine = list(policy = "null", sigma = "null",
                                                              beliefs = c("null", "empty_matrix"))),
  occupancy = call_entry(list(plan = plan), fine = list(start = "null")),
  complexity = call_entry(list(plan = plan), fine = list(start = "null")),
  simulate.ibrc_plan = call_entry(list(object = plan, nsim = 2, horizon = 3), leave = "object",
                                  fine = list(seed = seed, environment = "null", start_group = "null")),
  plot.ibrc_plan = call_entry(list(x = plan), leave = "x", fine = list(
    observations = c("null", "missing", "missing_text", "no_text"), actions = "null", state = "null"
  )),
  plot_plans = call_entry(list(plans = plan, observations = "positive"), fine = list(
    observations = c("null", "missing", "missing_text", "no_text"), actions = "null", state = "null", columns = "null"
  )),
  plans_data = call_entry(list(plans = plan), fine = list(
    observations = c("null", "missing", "missing_text", "no_text"), actions = "null"
  )),
  trajectories = call_entry(list(data = as.data.frame(visits)), says = list(data = "id"),
                            fine = list(time = "null", covariates = c("null", "no_text"), setting = "null",
                                        scored = "null")),
  log_lik = call_entry(list(object = plan, visits = visits)),
  log_lik.ibrc_plan = call_entry(list(object = plan, visits = visits), leave = "object"),
  log_lik.ibrc_mode = call_entry(list(object = mode, visits = visits), leave = "object", fine = list(visits = "null")),
  log_lik.ibrc_iohmm = call_entry(list(object = iohmm, visits = visits), leave = "object",
                                  fine = list(visits = "null")),
  confint.ibrc_mode = call_entry(list(object = mode), leave = "object", fine = list(parm = "named")),
  predict.ibrc_plan = call_entry(list(object = plan, visits = visits), leave = "object"),
  predict.ibrc_fit = call_entry(list(object = fit, visits = visits, draws = 2), leave = "object",
                                fine = list(visits = "null", draws = "null", summary = "flag")),
  predict.ibrc_mode = call_entry(list(object = mode, visits = visits), leave = "object", fine = list(visits = "null")),
  simulate.ibrc_fit = call_entry(list(object = fit, nsim = 2, horizon = 3, draws = 2), leave = "object",
                                 fine = list(seed = seed, environment = "null")),
  simulate.ibrc_mode = call_entry(list(object = mode, nsim = 2, horizon = 3), leave = "object",
                                  fine = list(seed = seed, environment = "null")),
  belief_paths = call_entry(list(object = fit, visits = visits)),
  belief_paths.ibrc_fit = call_entry(list(object = fit, visits = visits), leave = "object",
                                     fine = list(final = "flag", draws = "null")),
  belief_paths.ibrc_plan = call_entry(list(object = plan, visits = visits), leave = "object",
                                      fine = list(final = "flag")),
  ibrc_prior = call_entry(list()),
  irl_prior = call_entry(list(setting = setting), fine = list(sd = c("null", "fraction", "huge"), mean = signed,
                                                              entries = "null")),
  ibrc = call_entry(
    list(visits = visits, setting = setting, models = models, prior = prior, chains = 1, iter = 10, resolution = 10),
    fine = list(models = "null", fixed = c("list", "table"), by = "null", iter = "null", warmup = c("null", "zero"),
                seed = seed, refresh = "zero", file = c("null", "text"), control = c("null", "list"),
                dynamics = "null", effects = "null", problem = "null"),
    says = no_argument
  ),
  ibrc_control = call_entry(
    list(), leave = "start",
    fine = list(tolerance = c("fraction", "huge"), max_iter = "null", keep_data = "flag", overwrite = "flag",
                check = "flag")
  ),
  ibrc_mode = call_entry(
    list(visits = visits, setting = setting, models = models, prior = prior, resolution = 10, starts = 1),
    fine = list(models = "null", fixed = c("list", "table"), by = "null", conf.level = c("null", "fraction"),
                seed = seed, control = c("null", "list"), effects = "null", problem = "null"),
    says = no_argument
  ),
  one_problem = call_entry(list(object = problem_fit(), problem = "easy")),
  profile_likelihood = call_entry(list(object = mode, term = "alpha", n = 2), fine = list(
    term = "null", values = c("null", "fraction", "huge", "named", "large_matrix")
  )),
  sensitivity_analysis = call_entry(list(fit = mode, over = list(discount = 0.9), starts = 1), fine = c(level, list(
    method = "null", reference = "null", draws = "null", grid = "flag", seed = c("minus", "zero"), refresh = "zero"
  )), says = no_argument),
  sensitivity_data = call_entry(list(sensitivity = sensitivity_analysis(mode, list(discount = 0.9), starts = 1)),
                                fine = list(type = "null", terms = "null")),
  profile_data = call_entry(list(profile = profile_likelihood(mode, "alpha", n = 2))),
  resume = call_entry(list(file = checkpoint), fine = list(cores = "null", refresh = c("null", "zero"),
                                                           check = "flag", setting = "null", models = "null")),
  extend_fit = call_entry(list(fit = fit, iter = 10), fine = list(
    iter = "null", cores = "null", refresh = c("null", "zero"), file = c("null", "text"), control = c("null", "list")
  ), says = no_argument),
  summary.ibrc_fit = call_entry(list(object = fit), leave = "object", fine = c(level, suppress = "null")),
  # Generics of another package, which has the say about other objects.
  tidy = call_entry(list(x = fit), leave = "x"),
  glance = call_entry(list(x = fit), leave = "x"),
  augment = call_entry(list(x = fit), leave = "x"),
  # Text in the second place says what is asked for.
  tidy.ibrc_fit = call_entry(list(x = fit), leave = "x", fine = level, says = list(conf.level = "what")),
  augment.ibrc_fit = call_entry(list(x = fit), leave = "x", fine = list(visits = "null", draws = "null")),
  log_lik.ibrc_fit = call_entry(list(object = fit, draws = 2), leave = "object",
                                fine = list(draws = "null", newdata = "null", visits = "null")),
  kfold = call_entry(list(x = fit, folds = 2, iter = 10, draws = 4)),
  kfold.ibrc_fit = call_entry(list(x = fit, folds = 2, iter = 10, draws = 4), leave = "x", fine = list(
    chains = "null", iter = "null", warmup = c("null", "zero"), thin = "null", draws = "null", cores = "null",
    seed = c("minus", "zero"), refresh = "zero"
  )),
  posterior_predict = call_entry(list(object = fit, draws = 2)),
  posterior_predict.ibrc_fit = call_entry(list(object = fit, draws = 2), leave = "object",
                                          fine = list(draws = "null", seed = seed, horizon = "null")),
  pp_data = call_entry(list(object = fit, draws = 2), fine = list(draws = "null", seed = seed)),
  prior_summary = call_entry(list(object = fit)),
  identifiability = call_entry(list(fit = fit)),
  verdict = call_entry(list(fit = fit), fine = list(statistics = c("null", "list")), says = own_statistic),
  add_verdict = call_entry(list(fit = fit), fine = list(statistics = c("null", "list")), says = own_statistic),
  behaviour_check = call_entry(list(fit = fit), fine = list(statistics = c("null", "list")), says = own_statistic),
  compare_groups = call_entry(list(fit = fit), fine = c(level, reference = "null", scale = "null", adjusted = "flag",
                                                        joint = "flag")),
  spread_shares = call_entry(list(fit = differing), fine = level),
  shrinkage_data = call_entry(list(fit = differing), fine = c(level, term = "null")),
  decision_effects = call_entry(
    list(fit = fit, observations = "positive", actions = "monitor", draws = 2, nsim = 2, horizon = 3),
    fine = c(level, list(beliefs = "null", observations = c("missing", "missing_text"), actions = "null",
                         reference = "null", draws = "null", nsim = "zero", horizon = "null",
                         seed = c("minus", "zero"), refresh = "zero")),
    says = list(observations = "actions")
  ),
  effects_data = call_entry(list(effects = decision_effects(fit, draws = 2, nsim = 2))),
  cost_benefit = call_entry(list(fit = paid), fine = c(level, cost = "null", benefit = "null", draws = "flag")),
  project_behavior = call_entry(list(planner = fit), says = list(planner = "inverse")),
  fit_plot_data = call_entry(list(fit = fit), fine = list(type = "null", terms = "null")),
  groups_data = call_entry(list(fit = fit), fine = c(level, terms = "null", suppress = "null")),
  # `named` holds ids of these visits.
  simplex_data = call_entry(list(fit = fit, visits = visits), fine = list(id = c("null", "named"), show_id = "flag",
                                                                          draws = "null")),
  suppress_counts = call_entry(list(x = data.frame(n = 1:9), columns = "n"), says = list(x = "columns")),
  fit_iohmm = call_entry(
    list(visits = visits, states = 2, starts = 1), says = list(actions = "action", observations = "observation"),
    fine = list(states = "named", actions = "null", observations = "null", prior = c("null", amount), sort_by = "null",
                names = "null", tolerance = c("fraction", "huge"), seed = seed, keep_data = "flag", start_by = "null")
  ),
  iohmm_prior = call_entry(list(), fine = list(start = amount, transition = amount, stay = amount,
                                               emission = c(amount, "large_matrix", "empty_matrix"))),
  predict.ibrc_iohmm = call_entry(list(object = iohmm), leave = "object", fine = list(visits = "null")),
  simulate.ibrc_iohmm = call_entry(list(object = iohmm), leave = "object",
                                   fine = list(seed = seed, visits = "null", states = "flag")),
  read_adni = call_entry(list(file = adni_row(1, "bl")), fine = list(
    mean = c("fraction", "huge"), sd = c("fraction", "huge"), stable_diagnosis = "flag", age_cut = c("fraction", "huge")
  )),
  panel_trajectories = call_entry(
    list(data = panel, id = "who", time = "day", marker = "marker", test = "assay", marker_cuts = 2, test_cuts = 2),
    says = list(data = "id", max_gap = "test_cuts", interval = "test_cuts"),
    fine = list(marker_cuts = c("minus", share, "named"), test_cuts = c("minus", share, "named"),
                max_gap = c("null", "infinite", "fraction", "huge"), interval = c("null", "fraction", "huge"),
                covariates = c("null", "no_text"), marker_labels = "null", test_labels = "null", action_labels = "null",
                missing_codes = c("null", "minus", "zero", "fraction", "huge", "no_numbers", "named"))
  ),
  flow = call_entry(list(cohort = cohort), fine = list(suppress = "null")),
  flow_data = call_entry(list(flow = flow(cohort))),
  setting_data = call_entry(list(setting = setting)),
  visits_data = call_entry(list(visits = visits))
)
entries <- c(entries, framework_entries(signed, amount, share, seed))

entries$action_value.ibrc_plan <- entries$value.ibrc_plan
no_last <- list(last = c("null", "missing", "missing_text"))
entries$value.ibrc_plan$fine <- c(entries$value.ibrc_plan$fine, no_last)
entries$policy.ibrc_plan <- entries$value.ibrc_plan
entries$tidy.ibrc_plan <- call_entry(list(x = plan), fine = no_last, leave = "x")
entries$model_weights.ibrc_plan <- utils::modifyList(entries$model_weights, list(leave = "object"))
# Where nobody has a method, the first argument alone is looked at.
for (generic in c("value", "policy", "action_value", "model_weights", "belief_paths")) {
  others <- setdiff(names(formals(get(paste0(generic, ".default")))), c("object", "x"))
  entries[[paste0(generic, ".default")]] <- utils::modifyList(entries[[generic]], list(leave = others))
}
if (requireNamespace("ggplot2", quietly = TRUE)) {
  entries$plot.ibrc_fit <- call_entry(list(x = fit), leave = "x", fine = list(type = "null", terms = "null"))
  entries$plot.ibrc_sensitivity <- call_entry(list(x = sensitivity_analysis(mode, list(discount = 0.9), starts = 1)),
                                              leave = "x", fine = list(type = "null", terms = "null"))
  entries$plot.ibrc_effects <- call_entry(list(x = decision_effects(fit, draws = 2, nsim = 2)), leave = "x")
  entries$plot.ibrc_cross_validation <- call_entry(list(x = entries$accuracy_data$valid$object), leave = "x",
                                                   fine = list(action = "null", from = "null"))
  entries$plot.ibrc_model_comparison <- call_entry(list(x = entries$model_comparison_data$valid$comparison),
                                                      leave = "x")
  entries$plot.ibrc_misspecification <- call_entry(list(x = entries$misspecification_data$valid$study), leave = "x")
  entries$plot.ibrc_power_study <- call_entry(list(x = entries$power_data$valid$study), leave = "x",
                                              fine = list(measures = "null"))
  entries$plot_shrinkage <- call_entry(list(fit = differing), fine = entries$shrinkage_data$fine)
  entries$plot.ibrc_trajectories <- call_entry(list(x = visits), leave = "x")
  entries$plot_groups <- call_entry(list(fit = fit), fine = entries$groups_data$fine)
  entries$plot_simplex <- call_entry(list(fit = fit, visits = visits), fine = entries$simplex_data$fine)
  entries$pp_check <- call_entry(list(object = fit))
  entries$pp_check.ibrc_fit <- call_entry(list(object = fit, draws = 2), leave = "object", fine = entries$pp_data$fine)
}
if (requireNamespace("ggplot2", quietly = TRUE) && requireNamespace("shiny", quietly = TRUE)) {
  entries$explore_agent <- call_entry(
    list(setting = setting, resolution = 10, launch = FALSE), leave = "launch",
    fine = list(models = "null", resolution = "null", actions = "null",
                observations = c("null", "missing", "missing_text", "no_text"))
  )
}
entries$reporting_checklist <- entries$methods_text <- call_entry(
  list(fit = fit), fine = list(sensitivity = "null", contrasts = "null", iohmm = "null", suppress = "null")
)
entries$tbl_agents <- call_entry(list(fit = fit), fine = level)
entries$tbl_groups <- call_entry(list(fit = fit), fine = c(level, list(reference = "null", joint = "flag")))
if (requireNamespace("gt", quietly = TRUE)) entries$as_gt <- call_entry(list(x = tbl_agents(fit)))
if (requireNamespace("ggplot2", quietly = TRUE)) {
  entries$report_sections <- call_entry(
    list(fit = fit, visits = visits, draws = 2, patients = 1),
    fine = list(visits = "null", iohmm = "null", show_id = "flag", suppress = "null", patients = "zero",
                sensitivity = "null")
  )
  entries$ibrc_report <- call_entry(
    list(fit = fit, file = "report.html", overwrite = TRUE, open = FALSE), leave = "open",
    fine = c(entries$report_sections$fine, list(title = c("text", "empty_text"), overwrite = "flag"))
  )
}
if (requireNamespace("loo", quietly = TRUE)) {
  # Its own methods take matrices and functions, and further arguments.
  weighed <- ibrc(visits, setting, models, ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 600, seed = 1,
                  resolution = 10)
  entries$loo <- call_entry(list(x = weighed, draws = 100), leave = c("x", "..."))
  entries$loo.ibrc_fit <- call_entry(list(x = weighed, draws = 100), leave = "x",
                                     fine = list(draws = "null", visits = "null"))
}

# Nothing to get wrong: arguments that the generic asks for and that are not used, and methods for
# objects of packages that tests do without; and a method that always refuses.
exempt <- c("as.data.frame.ibrc_fit", "as_setting.MDP", "as_setting.POMDP", "model_weights.ibrc_history_plan",
            "simulate.ibrc_learned")
if (!requireNamespace("gt", quietly = TRUE)) exempt <- c(exempt, "as_gt")
# Where programmes cannot be solved they say what to install, whatever else is wrong.
solvers <- c(infer_perturbation = "quadprog", infer_margin = "lpSolve", infer_experiments = "lpSolve")
unsolved <- names(solvers)[!vapply(solvers, requireNamespace, NA, quietly = TRUE)]
entries[unsolved] <- NULL
exempt <- c(exempt, unsolved)

judge_all <- function(entries, chosen) {
  values <- wrong_values()
  # Pages take a while, and are not what is looked at here.
  local_replacement("need_report_tools", function() NULL)
  local_replacement("render_report", function(...) raw(1))
  told <- lapply(names(entries), function(name) {
    # Text may be a file to write to.
    withr::local_dir(withr::local_tempdir())
    judge_entry(name, entries[[name]], values, chosen)
  })
  list(problems = as.character(unlist(lapply(told, `[[`, "problems"))), calls = sum(vapply(told, `[[`, 0L, "calls")))
}

test_that("every function that users call has an entry here", {
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("loo")
  expect_identical(setdiff(callable_names(), c(names(entries), exempt)), character())
  expect_identical(setdiff(names(entries), callable_names()), character())
})

test_that("calls that the entries are built on work", {
  local_replacement("need_report_tools", function() NULL)
  local_replacement("render_report", function(...) raw(1))
  tried <- names(entries)[names(entries) != "ibrc_prior" & !grepl("[.]default$", names(entries))]
  problems <- lapply(tried, function(name) {
    withr::local_dir(withr::local_tempdir())
    judge_call(get(name), entries[[name]]$valid, "", TRUE, warns = TRUE)
  })
  expect_null(unlist(problems))
})

test_that("whatever takes a fit or a mode takes one of several problems, or says how to ask for one of them", {
  local_replacement("need_report_tools", function() NULL)
  local_replacement("render_report", function(...) raw(1))
  several <- list(ibrc_fit = problem_fit(), ibrc_mode = problem_mode())
  taken <- Filter(function(entry) length(entry$valid) && inherits(entry$valid[[1]], names(several)), entries)
  expect_gt(length(taken), 30)
  of_effects <- c("shrinkage_data", "plot_shrinkage", "spread_shares")
  told <- vapply(setdiff(names(taken), c("one_problem", of_effects)), function(name) {
    withr::local_dir(withr::local_tempdir())
    given <- taken[[name]]$valid
    given[[1]] <- several[[intersect(class(given[[1]]), names(several))[1]]]
    # Visits of the fit are those of another one.
    if (inherits(given$visits, "ibrc_trajectories")) given$visits <- problem_visits()
    if (inherits(given$newdata, "ibrc_trajectories")) given$newdata <- problem_visits()
    tryCatch({
      suppressWarnings(suppressMessages(do.call(name, given)))
      "works"
    }, error = function(e) if (inherits(e, "ibrc_error")) "refused" else conditionMessage(e))
  }, "")
  expect_identical(told[!told %in% c("works", "refused")], stats::setNames(character(), character()))
  expect_true(all(c("works", "refused") %in% told))
})

test_that("an argument that is wrong is named by a classed error", {
  # Every argument meets four of the values, and each value some argument.
  names <- names(wrong_values())
  turn <- function(argument, i) unique(names[(3 * i + 11 * (0:3)) %% length(names) + 1])
  told <- judge_all(entries, turn)
  expect_identical(told$problems, character())
  expect_gt(told$calls, 300)
})

test_that("what was once taken the wrong way is not", {
  once <- function(name, argument, values) {
    judge_all(entries[name], function(this, i) if (this == argument) values)$problems
  }
  expect_identical(once("bounded_agent", "adaptivity", c("full_list", "environment", "formula")), character())
  expect_identical(once("trajectories", "id", "empty_text"), character())
  expect_identical(once("ibrc", "seed", c("text", "fraction", "complex", "raw", "list", "huge")), character())
  expect_identical(once("ibrc_mode", "seed", c("text", "fraction", "numbers")), character())
  expect_identical(once("compare_groups", "reference", "no_text"), character())
  expect_identical(once("compare_models", "reference", "no_text"), character())
  expect_identical(once("infer_distribution", "entropy", "huge"), character())
  expect_identical(once("infer_matching", "lower", "named"), character())
  expect_identical(once("suppress_counts", "columns", "no_text"), character())
  expect_identical(once("panel_trajectories", "marker_cuts", "huge"), character())
  expect_identical(once("plans_data", "actions", c("text", "environment")), character())
  for (call in list(quote(simulate(plan, 2e9)), quote(simulate(iohmm, 2e9)), quote(model_draws(iohmm, 2e9)),
                    quote(fit_iohmm(visits, 2, starts = 2e9)), quote(profile_likelihood(mode, n = 2e9)),
                    quote(ibrc_mode(visits, setting, models, prior, starts = 2e9)))) {
    expect_error(eval(call), "10,000,000", class = "ibrc_error_input")
  }
  skip_if_not_installed("loo")
  expect_error(loo("text"), class = "ibrc_error_input")
  skip_if_not_installed("bayesplot")
  expect_identical(once("pp_check", "object", c("text", "table")), character())
})

test_that("no argument takes any of the wrong values", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  names <- names(wrong_values())
  told <- judge_all(entries, function(argument, i) names)
  expect_identical(told$problems, character())
  expect_gt(told$calls, 9000)
})

test_that("an argument that is left out is named", {
  for (name in names(entries)) {
    entry <- entries[[name]]
    for (argument in setdiff(names(entry$valid), entry$leave)) {
      if (!identical(formals(get(name))[[argument]], formals(function(none) NULL)$none)) next
      error <- tryCatch(do.call(name, entry$valid[names(entry$valid) != argument], quote = TRUE), error = identity)
      # A method is not met without the argument that its generic goes by.
      expect_s3_class(error, if (name %in% getNamespaceExports("ibrc")) "ibrc_error_input" else "error")
      expect_match(conditionMessage(error), paste0("[`\"]", argument, "[`\"]"),
                   label = paste(name, "without", argument))
    }
  }
})

test_that("a prior that is not one is refused", {
  values <- wrong_values()
  for (name in names(values)) {
    error <- expect_error(do.call(ibrc_prior, unname(values[name]), quote = TRUE), class = "ibrc_error")
    expect_false(is.null(error$argument), label = name)
  }
})
