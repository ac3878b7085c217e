clinic <- small_clinic()
visits <- small_visits()
project <- function(...) project_behavior(..., setting = clinic, seed = 1, replicates = 20)

test_that("an agent that was matched is acted on whole, whatever else both functions take", {
  hidden <- diag_setting()
  truth <- plan_agent(hidden, bounded_agent(alpha = 0.5, optimism = 1, eta = 1), diag_models(), resolution = 10)
  seen <- simulate(truth, 60, seed = 1)
  run <- function(...) {
    project_behavior("agent", "matching", seen, setting = hidden, models = diag_models(), resolution = 10, starts = 1,
                     seed = 1, replicates = 20, ...)
  }
  for (made in list(run(), run(cores = 1), run(control = ibrc_control(tolerance = 1e-7)))) {
    found <- stats::setNames(tidy(made)$estimate, tidy(made)$term)
    expect_equal(unlist(made$plan$agent[c("alpha", "eta")]), found[c("alpha", "eta")])
    expect_equal(1 / made$plan$agent$beta, found[["optimism"]])
    expect_equal(policy(made), policy(made$inferred), tolerance = 1e-6)
    expect_equal(log_lik(made, seen), log_lik(made$inferred, seen), tolerance = 1e-6)
  }
})

test_that("a rule on beliefs is the one that was fitted, with or without a resolution", {
  hidden <- diag_setting()
  seen <- simulate(plan_agent(hidden, bounded_agent(0.5), resolution = 10), 60, seed = 1)
  run <- function(...) project_behavior("rule", "matching", seen, setting = hidden, seed = 1, replicates = 20, ...)
  expect_identical(policy(run(resolution = 100), c(0.5, 0.5)), policy(run(), c(0.5, 0.5)))
  expect_identical(policy(run(resolution = 10), c(0.5, 0.5)), policy(run(resolution = 10)$inferred, c(0.5, 0.5)))
})

test_that("a price that was inferred is the planner's, and the one held goes on as it is", {
  for (made in list(project("kl", "matching", visits, terms = "alpha"),
                    project("kl", "matching", visits, terms = "alpha", tolerance = 1e-9),
                    project("differentiable", "matching", visits, terms = "alpha", steps = 400))) {
    expect_equal(made$plan$parameters$alpha, tidy(made)$estimate)
    expect_close(policy(made), policy(made$inferred), 1e-6)
  }
  soft <- project("agent", "soft_margin", visits, alpha = 2, penalty = 0.01)
  expect_identical(soft$plan$agent$alpha, 2)
  expect_close(policy(soft), policy(plan_agent(soft$inferred$plan$setting, bounded_agent(alpha = 2))), 1e-8)
  expect_identical(project("boltzmann", "matching", visits, alpha = 3)$plan$parameters$temperature, 3)
})

test_that("what would put something else in the place of what is inferred is refused before work starts", {
  other <- soften_models(clinic, 0.2, vary = "transition")
  refused <- list(
    list("kl", "matching", terms = "alpha", alpha = 1), list("boltzmann", "matching", temperature = 1),
    list("kl", "matching", prior = ibrc_prior(alpha ~ lognormal(0, 1)), alpha = 1),
    list("agent", "matching", agent = bounded_agent(1)), list("agent", "ibrc_mode", agent = bounded_agent(1)),
    list("agent", "matching", alpha = 1), list("rule", "matching", rule = c(0.5, 0.5)),
    list("rule", "distribution", rule = c(0.5, 0.5)), list("iohmm_rule", "matching", sharpness = 1),
    list("rule", "matching", models = other), list("mdp", "matching", models = other),
    list("soft_q_learning", "matching", action_prior = c(0.2, 0.8)),
    list("kl", "custom", start = c(a = 1), tolerance = 1)
  )
  for (asked in refused) {
    error <- expect_error(do.call(project, c(asked[1:2], list(visits), asked[-(1:2)])), class = "ibrc_error_input")
    expect_identical(error$argument, utils::tail(names(asked), 1))
    expect_match(error$message, "inferred|infer_matching|infer_custom")
  }
})

test_that("distribution matching without chance is the nearest of all policies without chance", {
  made <- project("rule", "distribution", visits, deterministic = TRUE)
  expect_true(all(policy(made) %in% 0:1))
  expect_identical(as.vector(unname(policy(made))), tidy(made)$estimate)
  shares <- demonstrated_shares(demonstrated(visits, clinic), as_markov(clinic), "policy")
  all <- as.matrix(expand.grid(1:2, 1:2, 1:2))
  far <- apply(all, 1, function(choice) {
    sum(abs(markov_occupancy(shares$markov, sure_policy(choice, 2)) - shares$occupancy)) / 2
  })
  expect_equal(made$inferred$objective, min(far))
  expect_identical(unname(nearest_choice(c(1L, 1L, 1L), shares)), unname(all[which.min(far), ]))
  expect_false(identical(policy(project("rule", "distribution", visits, deterministic = FALSE)), policy(made)))
  for (bad in list("x", NA, 1, NULL)) {
    expect_error(project("rule", "distribution", visits, deterministic = bad), class = "ibrc_error_input")
  }
  expect_error(project("rule", "matching", visits, deterministic = TRUE), "infer_distribution",
               class = "ibrc_error_input")
  expect_error(project("rule", "distribution", visits, deterministic = TRUE, divergence = "kl"),
               class = "ibrc_error_input")
})

test_that("only numbers that are free can have followed the scatter", {
  free <- function(...) project_pair(..., visits = visits, setting = clinic, seed = 1L)$n_free
  expect_identical(free("rule", "matching"), 3L)
  expect_identical(free("kl", "soft_margin", given = list(penalty = 0.01)), 3L)
  expect_identical(free("kl", "matching", given = list(terms = "alpha")), 1L)
  expect_identical(free("rule", "distribution", given = list(deterministic = TRUE)), 0L)
  # One price leaves two of three degrees of scatter, which are taken off.
  made <- project("kl", "matching", visits, terms = "alpha")
  scores <- collect_scores(list(a = predict(made, visits)), code_scored(visits, clinic), clinic)
  states <- scores$by_state
  plain <- plug_in_divergence(t(colSums(states$count)), t(colSums(states$law[[1]])), nrow(visits))
  corrected <- max(plain - 2 / (2 * nrow(visits)), 0)
  expect_close(made$divergence$estimate[4], corrected, 1e-12)
})

test_that("what infer_custom() infers of a planner with a name is what that planner acts on", {
  far <- function(shown, imitating) mean((as.matrix(predict(imitating, shown))[, 1] - (shown$action == "wait"))^2)
  starts <- list(kl = c(alpha = 1, discount = 0.5), boltzmann = c(discount = 0.5),
                 mdp = c("utility[ill,treat]" = -2.5), pomdp = c("utility[ill,treat]" = -2.5, discount = 0.5))
  for (planner in names(starts)) {
    made <- project(planner, "custom", visits, discrepancy = far, start = starts[[planner]], starts = 1)
    alone <- infer_custom(visits, clinic, planner, far, starts[[planner]], starts = 1, seed = 1)
    expect_identical(coef(made$inferred), coef(alone))
    expect_identical(unname(policy(made)), unname(policy(alone)))
    found <- coef(alone)
    acted <- made$plan$setting
    acted_on <- c(alpha = made$plan$parameters$alpha, discount = acted$discount,
                  "utility[ill,treat]" = acted$utility["ill", "treat"])
    expect_identical(acted_on[names(found)], found)
  }
})

test_that("planners of which infer_custom() knows no parameters are refused, and so is a policy for plan_custom()", {
  far <- function(shown, imitating) 0
  others <- setdiff(planner_needs$planner, c(known_to_custom, "own"))
  expect_length(others, nrow(planners()) - length(known_to_custom))
  for (planner in others) {
    error <- expect_error(project(planner, "custom", visits, discrepancy = far, start = c(discount = 0.5)),
                          class = "ibrc_error_input")
    expect_identical(error$argument, "inverse")
    expect_match(error$message, "function(setting, theta)", fixed = TRUE)
  }
  worth <- function(plan) value(plan, c(1, 0, 0))
  error <- expect_error(project("custom", "distribution", visits, objective = worth), "utility",
                        class = "ibrc_error_input")
  expect_identical(error$argument, "inverse")
  # One that gives a utility goes with it.
  made <- project("custom", "soft_margin", visits, objective = worth, penalty = 0.01, starts = 1)
  expect_identical(made$plan$setting$utility, made$inferred$plan$setting$utility)
})

test_that("a matched agent acts as it was inferred, and what computes it goes by its control", {
  setting <- diag_setting()
  models <- diag_models()
  made_by <- plan_agent(setting, bounded_agent(alpha = 0.5, beta = 2, eta = 0.3), models, resolution = 6)
  seen <- simulate(made_by, 20, seed = 3)
  for (inverse in c("ibrc_mode", "matching")) {
    ask <- function(...) {
      project_behavior("agent", inverse, seen, setting, models = models, resolution = 6, starts = 1, seed = 1,
                       prior = ibrc_prior(alpha ~ lognormal(0, 1)), fixed = list(beta = 2, eta = -2),
                       replicates = 10, ...)
    }
    for (control in list(ibrc_control(interpolate = "policy"), ibrc_control(surprise = "observation"))) {
      made <- ask(control = control, cores = 1)
      expect_close(sum(log_lik(made$plan, seen)), made$inferred$objective, 1e-8)
    }
    for (one in list(list(interpolate = "policy"), list(surprise = "observation"), list(tolerance = 1e-6))) {
      expect_error(do.call(ask, one), "ibrc_control", class = "ibrc_error_input")
    }
    for (one in list(list(max_backups = 5), list(max_bytes = 1e9))) {
      expect_error(do.call(ask, one), "computed as it was there", class = "ibrc_error_input")
    }
  }
})

test_that("a number as prior does not change what is inferred", {
  for (planner in c("kl", "boltzmann", "mdp")) {
    found <- project(planner, "matching", visits, prior = 3, alpha = 2, starts = 1)
    expect_identical(nrow(found$inferred$estimates), length(clinic$utility))
    expect_identical(found$inferred$details$alpha, 2)
  }
})

test_that("what is wanted of beliefs is wanted while the rest is inferred", {
  setting <- diag_setting()
  seen <- simulate(plan_boltzmann(setting, 1, resolution = 5), 20, seed = 3)
  surely <- function(beliefs, action) 3 * rowSums(beliefs^2)
  ask <- function(setting, ...) {
    project_behavior("belief_aware", "matching", seen, setting, resolution = 5, terms = "alpha", starts = 1, seed = 1,
                     replicates = 10, ...)
  }
  made <- ask(setting, belief_utility = surely)
  stated <- setting
  stated$belief_utility <- surely
  expect_identical(coef(made), coef(ask(stated)))
  expect_false(isTRUE(all.equal(coef(made), coef(ask(setting)))))
  expect_identical(made$plan$setting$belief_utility, made$inferred$plan$setting$belief_utility)
  expect_error(ask(setting, belief_utility = 1), class = "ibrc_error_input")
})

test_that("an action prior that the inverse planner does not assume is refused", {
  error <- expect_error(project("kl", "soft_margin", visits, penalty = 0.01, action_prior = c(0.2, 0.8)),
                        "infer_matching", class = "ibrc_error_input")
  expect_identical(error$argument, "action_prior")
  half <- list(visits, visits)
  error <- expect_error(project("kl", "soft_policies", half, action_prior = c(0.2, 0.8)), class = "ibrc_error_input")
  expect_identical(error$argument, "action_prior")
})

test_that("a plan of histories is hard unless it is given an alpha", {
  learned <- function(...) plan_history_q_learning(clinic, steps = 1000, seed = 1, ...)
  expect_true(is_hard(learned()))
  expect_false(is_hard(learned(alpha = 1)))
  # One that was inferred is acted on.
  made <- project("history_q_learning", "matching", visits, terms = "alpha", starts = 1, steps = 1000)
  expect_identical(made$plan$parameters$alpha, coef(made)[["alpha"]])
})
