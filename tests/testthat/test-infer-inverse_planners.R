test_that("the table has a row for each of the paper's, in its order", {
  table <- inverse_planners()
  expect_identical(table$inverse, c("perturbation", "margin", "soft_margin", "experiments", "scores", "soft_policies",
                                    "preferences", "matching", "distribution", "custom"))
  expect_named(table, c("inverse", "title", "demonstrator", "helper", "setting", "packages", "objective", "function",
                        "reference"))
  expect_false(anyNA(table))
  expect_true(all(vapply(table, is.character, NA)))
  expect_identical(anyDuplicated(table$title), 0L)
})

test_that("an inverse planner that is not in the table has a title too", {
  expect_identical(ibrc:::inverse_title("margin"), "Maximum margin")
  expect_identical(ibrc:::inverse_title("shared_utility"), "Shared utility")
})

test_that("every function in the table is there to be called, and names what it lacks", {
  for (name in inverse_planners()[["function"]]) {
    f <- get0(name, asNamespace("ibrc"), mode = "function")
    expect_type(f, "closure")
    expect_true(name %in% getNamespaceExports("ibrc"))
    expect_error(f(), class = "ibrc_error_input")
  }
})

test_that("every function in the table answers in a small setting", {
  for (package in c("lpSolve", "quadprog")) skip_if_not_installed(package)
  setting <- with_seed(1, seen_setting(2, 2, start = c(1, 0)))
  plan <- plan_agent(setting, bounded_agent(alpha = 1))
  visits <- simulate(plan, nsim = 20, horizon = 6, seed = 1)
  shown <- policy(plan)
  rest <- list(
    perturbation = list(visits, setting), margin = list(visits, setting), soft_margin = list(visits, setting),
    experiments = list(list(visits), list(setting), limits = FALSE),
    scores = list(visits, setting, stats::setNames(with_seed(2, stats::rnorm(20)), unique(visits$id))),
    soft_policies = list(list(visits, visits), setting),
    preferences = list(visits, setting, data.frame(worse = 1:10, better = 11:20), prior_sd = 1),
    matching = list(visits, setting, planner = "rule"), distribution = list(visits, setting),
    custom = list(unname(shown), setting, "kl", function(demonstrated, imitating) {
      sum((policy(imitating) - demonstrated)^2)
    }, start = c(alpha = 1), starts = 1, seed = 1)
  )
  table <- inverse_planners()
  expect_setequal(names(rest), table$inverse)
  for (i in seq_len(nrow(table))) {
    inferred <- do.call(table[["function"]][i], rest[[table$inverse[i]]])
    expect_s3_class(inferred, "ibrc_inferred")
    expect_identical(inferred$inverse, table$inverse[i])
    expect_true(all(c("term", "estimate") %in% names(tidy(inferred))))
    plans <- project_behavior(inferred)
    if (!inherits(plans, "ibrc_plan")) plans <- plans[[1]]
    expect_equal(rowSums(policy(plans)), c(1, 1), ignore_attr = TRUE)
  }
})

test_that("the table says who can do without seeing the state, and others say who can", {
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, bounded_agent(alpha = 1), resolution = 5), 5, horizon = 3, seed = 1)
  table <- inverse_planners()
  expect_setequal(table$setting, c("seen", "seen or hidden"))
  for (name in table[["function"]][table$setting == "seen"]) {
    shown <- if (name %in% c("infer_experiments", "infer_soft_policies")) list(visits) else visits
    error <- expect_error(do.call(name, list(shown, if (name == "infer_experiments") list(setting) else setting)),
                          class = "ibrc_error_input")
    expect_match(conditionMessage(error), "infer_matching()", fixed = TRUE)
  }
  needed <- unlist(strsplit(table$packages, "[; ]"))
  expect_true(all(c("lpSolve", "quadprog") %in% needed))
})
