test_that("the table of parameters is whole", {
  wanted <- c("inverse", "per", "support", "rational", "slot", "unit", "inverse_unit", "meaning", "inverse_meaning")
  for (one in parameters) {
    expect_named(one, wanted, ignore.order = TRUE)
    expect_true(one$per %in% c("agent", "action"))
    expect_true(one$support %in% c("positive", "unit", "real", "simplex"))
    expect_match(one$meaning, "[.]$")
    expect_identical(is.na(one$inverse), is.na(one$inverse_meaning))
    expect_identical(is.na(one$inverse), is.na(one$inverse_unit))
  }
  expect_identical(unname(parameter_column("slot")), seq_along(parameters))
  # What takes a number per action stands last.
  expect_identical(which(parameter_column("per") == "action"), c(action_prior = length(parameters)))
  expect_identical(parameter_terms(), c("alpha", "flexibility", "beta", "optimism", "eta", "adaptivity", "discount",
                                        "habit", "action_prior"))
  expect_identical(price_inverses, c(alpha = "flexibility", beta = "optimism", eta = "adaptivity"))
})

test_that("agents, priors and help know every parameter of the table", {
  expect_true(all(c(names(price_inverses), price_inverses, "habit", "action_prior") %in% names(formals(bounded_agent))))
  rational <- bounded_agent()
  for (name in names(price_inverses)) expect_identical(rational[[name]], parameters[[name]]$rational)
  help <- paste(as.character(tools::Rd_db("ibrc")[["ibrc_prior.Rd"]]), collapse = "")
  for (term in parameter_terms()) expect_match(help, term, fixed = TRUE)
})

test_that("a name leads to its quantity and its meaning", {
  expect_identical(unname(quantity_of(c("optimism", "alpha", "discount", "action_prior[a|rest]"))),
                   c("beta", "alpha", "discount", "action_prior"))
  expect_match(meaning_of("optimism"), "^1 / beta")
  expect_identical(vapply(c("eta", "adaptivity", "utility[ill,wait]", "action_prior[wait]", "accuracy"), unit_of, "",
                          USE.NAMES = FALSE),
                   c("utility per nat", "nats / utility", "utility", "probability", ""))
  expect_match(meaning_of("action_prior[wait]"), "without deliberating")
  expect_identical(meaning_of("utility[ill,wait]"), "Worth of an action in a state.")
  expect_identical(fixed_words(list(eta = 0, action_prior = c(0.25, 0.75))), "eta = 0, action_prior = (0.25, 0.75)")
})

test_that("C reads each slot as the table has it", {
  # One parameter at a time, moved: the likelihood of a batch is that of a plan made with it.
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, bounded_agent(2), diag_models(), resolution = 20), 20, seed = 1)
  inverse <- list(problem = build_problem(setting, diag_models(), 20), tolerance = 1e-9,
                  histories = list(build_histories(code_visits(visits, setting), setting)),
                  prior = ibrc_prior(alpha ~ lognormal(0, 1)))
  for (fixed in list(list(), list(beta = 1), list(eta = 0.5), list(discount = 0.8), list(flexibility = 0.7, eta = 0.1),
                     list(action_prior = c(0.2, 0.3, 0.5)), list(habit = 0.7))) {
    inverse$fixed <- fixed[setdiff(names(fixed), "flexibility")]
    theta <- matrix(log(if (is.null(fixed$flexibility)) 2 else 1 / 0.7))
    evaluator <- inverse_evaluator(inverse)
    found <- evaluate_batch(evaluator, theta, matrix(0, evaluator$n_values, 1))$log_likelihood
    own <- setting
    if (!is.null(fixed$discount)) own$discount <- fixed$discount
    prices <- fixed[names(fixed) %in% c("beta", "eta", "action_prior", "habit")]
    agent <- do.call(bounded_agent, c(list(alpha = exp(theta[1])), prices))
    expect_close(found, sum(log_lik(plan_agent(own, agent, diag_models(), resolution = 20), visits)), 1e-7)
  }
})
