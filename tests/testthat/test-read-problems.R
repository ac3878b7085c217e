visits <- problem_visits()
fit <- problem_fit()

test_that("what is said of visits stands in their order", {
  # Rows of the two problems mixed.
  order <- with_seed(1, sample(unique(visits$id)))
  table <- as.data.frame(visits)[order(match(visits$id, order), visits$time), ]
  mixed <- trajectories(table, covariates = c("test", "person"))
  shuffled <- problem_run(mixed)
  expect_close(unname(log_lik(shuffled, 4)), unname(log_lik(shuffled, 4, newdata = mixed)))
  expect_close(as.matrix(predict(shuffled, draws = 20)), as.matrix(predict(shuffled, mixed, draws = 20)))
  expect_identical(colnames(log_lik(shuffled, 2, newdata = mixed)), as.character(order))
  for (name in c("easy", "hard")) {
    rows <- which(mixed$test == name)
    own <- predict(one_problem(shuffled, name), mixed[rows, ], draws = 20)
    expect_close(as.matrix(predict(shuffled, mixed, draws = 20))[rows, ], as.matrix(own))
    expect_close(predict(shuffled, mixed, draws = 3, summary = FALSE)[, rows, ],
                 predict(one_problem(shuffled, name), mixed[rows, ], draws = 3, summary = FALSE))
  }
  # A few of them, of one problem.
  some <- mixed[mixed$id == order[2], ]
  expect_identical(dim(log_lik(shuffled, 2, newdata = some)), c(2L, 1L))
})

test_that("problems with other actions are predicted one by one", {
  names <- c("easy", "tiger")
  other <- problem_run(problem_visits(names), problem_settings()[names], NULL, iter = 60,
                       prior = ibrc_prior(alpha ~ lognormal(0, 1)))
  expect_error(predict(other), "one_problem\\(object, \"easy\"\\)", class = "ibrc_error_input")
  expect_identical(names(predict(one_problem(other, "tiger"), draws = 2)), tiger_setting()$actions)
  expect_identical(ncol(log_lik(other, 2)), 60L)
})

test_that("what takes several problems says which there are, and all else refuses", {
  expect_output(print(fit), "of 2 problems \\(easy, hard\\)")
  expect_identical(unique(behaviour_check(fit)$problem), c("easy", "hard"))
  found <- verdict(fit)
  expect_identical(sum(grepl("in \"hard\"$", slow_checks(fit)$seen)), 2L)
  expect_setequal(as.character(found$check), c("settled", "whole", "behaves", "identified", "assumed"))
  expect_false(any(grepl("could not be looked at", found$seen)))
  expect_s3_class(profile_likelihood(fit, "alpha", n = 3), "ibrc_profile")
  hard <- one_problem(fit, "hard")
  mode <- problem_mode()
  of_one <- list(pp_check = pp_check, pp_data = pp_data, augment = augment, simulate = stats::simulate,
                 project_behavior = project_behavior, posterior_predict = posterior_predict,
                 decision_effects = decision_effects, cost_benefit = cost_benefit,
                 belief_paths = function(x) belief_paths(x, visits), plot_simplex = function(x) plot_simplex(x, visits),
                 simplex_data = function(x) simplex_data(x, visits), report = function(x) report_sections(x),
                 ibrc_report = function(x) ibrc_report(x, file = tempfile(fileext = ".html")))
  for (read in of_one) expect_error(read(fit), "one_problem\\(", class = "ibrc_error_input")
  for (read in of_one[c("simulate", "project_behavior", "decision_effects")]) {
    expect_error(read(mode), "one_problem\\(", class = "ibrc_error_input")
  }
  for (read in list(kfold, function(x) sensitivity_analysis(x, list(discount = 0.9)))) {
    expect_error(read(fit), "fit the problems one by one", class = "ibrc_error_input")
    expect_error(read(hard), "is asked of the whole fit", class = "ibrc_error_input")
  }
  of_whole <- list(extend_fit, verdict, add_verdict, profile_likelihood)
  for (read in of_whole) expect_error(read(hard), "is asked of the whole fit", class = "ibrc_error_input")
  expect_error(logLik(one_problem(mode, "hard")), "is asked of the whole fit", class = "ibrc_error_input")
  expect_output(print(one_problem(mode, "hard")), "of all problems")
  # Draws are those of the agent, whatever it met.
  for (read in list(tidy, glance, coef, as.data.frame, posterior::as_draws_df, identifiability, prior_summary)) {
    expect_no_error(read(fit))
  }
})
