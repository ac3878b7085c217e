test_that("the table has the paper's rows, in its order, with what each allows for", {
  table <- decision_models()
  expect_identical(table$model, c(
    "BC-IL", "Subj. BC-IL", "Det. DM-IL", "Stoc. DM-IL", "Det. IRL", "Stoc. IRL", "Subj. IRL", "RS-IRL",
    "Det. PO-IRL", "Stoc. PO-IRL", "Subj. PO-IRL", "ME-IRL", "Subj. ME-IRL", "Inverse bounded rational control"
  ))
  expect_named(table, c("model", "title", "controllable", "observable", "purposeful", "subjective", "stochastic",
                        "uncertain_knowledge", "decision_complexity", "specification_complexity",
                        "recognition_complexity", "planner", "inverse", "arguments", "adds", "reference"))
  allows <- as.matrix(table[3:11])
  expect_type(allows, "logical")
  expect_true(all(table$controllable))
  expect_identical(table$model[table$observable],
                   c("BC-IL", "Subj. BC-IL", "Det. PO-IRL", "Stoc. PO-IRL", "Subj. PO-IRL",
                     utils::tail(table$model, 1)))
  expect_identical(table$model[!table$purposeful], table$model[1:4])
  expect_identical(table$model[!table$stochastic], c("Det. DM-IL", "Det. IRL", "RS-IRL", "Det. PO-IRL"))
  expect_identical(table$model[table$subjective],
                   c("Subj. BC-IL", "Subj. IRL", "RS-IRL", "Subj. PO-IRL", "Subj. ME-IRL", table$model[14]))
  expect_identical(table$model[table$uncertain_knowledge], c("RS-IRL", table$model[14]))
  expect_identical(table$model[table$decision_complexity], c("ME-IRL", "Subj. ME-IRL", table$model[14]))
  expect_identical(which(table$specification_complexity), 14L)
  expect_identical(which(table$recognition_complexity), 14L)
})

test_that("titles spell abbreviations out, and every row has a reference with a year", {
  table <- decision_models()
  expect_false(any(grepl("IRL|IL\\b|Subj|Det\\.|Stoc", table$title)))
  expect_match(table$reference, "[(](19|20)[0-9]{2}[)]$", all = TRUE)
  expect_identical(anyDuplicated(table$title), 0L)
})

test_that("functions that it names are exported", {
  table <- decision_models()
  expect_identical(setdiff(c(table$planner, table$inverse), getNamespaceExports("ibrc")), character())
})

# What a row gives to its pair, read from the table as a user would.
told_arguments <- function(row, setting) {
  known <- list(unit = utility_unit(setting), hidden = !setting$fully_observed, setting = setting)
  eval(str2lang(paste0("list(", row$arguments, ")")), known, asNamespace("ibrc"))
}

test_that("every pair runs as a pair, and where the class is the pair compare_models() does the same", {
  skip_if_not_installed("lpSolve")
  clinic <- small_clinic()
  visits <- small_visits()
  table <- decision_models()
  compared <- compare_models(visits, clinic, seed = 1, replicates = 10)
  made <- attr(compared, "made")
  pairs <- lapply(stats::setNames(seq_len(nrow(table)), table$model), function(i) {
    do.call(project_behavior, c(list(table$planner[i], table$inverse[i], visits, setting = clinic, seed = 1,
                                     replicates = 10), told_arguments(table[i, ], clinic)))
  })
  alone <- table$model[table$adds == ""]
  expect_length(alone, 9)
  for (model in alone) {
    expect_close(policy(pairs[[model]]), policy(made[[model]]$plan), 1e-3)
  }
  # A class is stochastic or not, and its pair is, where it is the class.
  sure <- vapply(pairs[alone], function(pair) all(policy(pair) %in% 0:1), NA)
  expect_identical(unname(sure), !table$stochastic[match(alone, table$model)])
  sure <- vapply(made, function(one) all(policy(one$plan) %in% 0:1), NA)
  expect_identical(unname(sure), !table$stochastic)
})

test_that("what a class adds to its pair is what its column says: dynamics", {
  clinic <- small_clinic()
  visits <- simulate(plan_boltzmann(clinic, 0.5, models = believed_models(clinic, 0.6)), 200, seed = 1, horizon = 10)
  table <- decision_models()
  expect_identical(table$model[table$adds != ""],
                   c("Subj. BC-IL", "Subj. IRL", "RS-IRL", "Subj. PO-IRL", "Subj. ME-IRL"))
  some <- table[table$model %in% c("Subj. IRL", "Subj. ME-IRL"), ]
  compared <- compare_models(visits, clinic, some, seed = 1, replicates = 10)
  plans <- lapply(attr(compared, "made"), `[[`, "plan")
  found <- tidy(compared, "estimates")
  chance <- found$estimate[found$term == "chance"]
  expect_true(all(chance > 0.1))
  by_models <- project_behavior("boltzmann", "matching", visits, setting = clinic, terms = "alpha", seed = 1,
                                models = believed_models(clinic, chance[1]), replicates = 10)
  expect_close(policy(by_models), policy(plans[["Subj. IRL"]]), 0.01)
  by_setting <- project_behavior("kl", "matching", visits, setting = believed_setting(clinic, chance[2]),
                                 terms = "utility", alpha = 7, prior = 21, seed = 1, replicates = 10)
  expect_close(policy(by_setting), policy(plans[["Subj. ME-IRL"]]), 1e-3)
})

test_that("where the state is hidden, pairs that need not see it run as pairs, too", {
  hidden <- diag_setting()
  visits <- simulate(plan_agent(hidden, bounded_agent(1), resolution = 10), 40, seed = 1)
  table <- decision_models()
  some <- table[table$model %in% c("BC-IL", "Det. PO-IRL", "Stoc. PO-IRL"), ]
  made <- attr(compare_models(visits, hidden, some, seed = 1, replicates = 10, resolution = 10), "made")
  for (i in seq_len(nrow(some))) {
    more <- c(told_arguments(some[i, ], hidden), if (some$model[i] != "BC-IL") list(starts = 1))
    pair <- do.call(project_behavior, c(list(some$planner[i], some$inverse[i], visits, setting = hidden, seed = 1,
                                             replicates = 10, resolution = 10), more))
    expect_close(policy(pair), policy(made[[some$model[i]]]$plan), 1e-3)
  }
})
