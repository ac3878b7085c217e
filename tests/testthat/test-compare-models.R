clinic <- small_clinic()
visits <- small_visits()
classes <- decision_models()
cheap <- classes[classes$model %in% c("BC-IL", "Stoc. DM-IL", "ME-IRL"), ]

test_that("all fourteen run end to end on one setting, by one call", {
  skip_if_not_installed("lpSolve")
  compared <- compare_models(visits, clinic, seed = 1, replicates = 100)
  expect_s3_class(compared, "ibrc_model_comparison")
  expect_identical(compared$model, classes$model)
  expect_identical(unique(compared$status), "run")
  expect_true(all(compared$n_parameters > 0))
  expect_true(all(is.finite(compared$brier) & compared$agreement > 0))
  # Those that are not stochastic rule something out, and no others.
  expect_identical(is.infinite(compared$log_loss), !classes$stochastic)
  expect_identical(compared$ruled_out > 0, !classes$stochastic)
  fine <- is.finite(compared$log_loss)
  expect_true(all(compared$log_loss_low[fine] < compared$log_loss[fine]))
  expect_true(all(compared$log_loss[fine] < compared$log_loss_high[fine]))
  # Each agrees with the likelihood of its plan.
  plans <- lapply(attr(compared, "made"), `[[`, "plan")
  found <- vapply(plans, function(plan) -sum(log_lik(plan, visits)) / nrow(visits), 0)
  expect_equal(unname(found), compared$log_loss, tolerance = 1e-10)
  # Who inferred dynamics did infer something of them.
  estimates <- tidy(compared, "estimates")
  for (model in c("Subj. BC-IL", "Subj. IRL", "Subj. PO-IRL", "Subj. ME-IRL")) {
    expect_true("chance" %in% estimates$term[estimates$model == model], label = model)
  }
  expect_true("aversion" %in% estimates$term[estimates$model == "RS-IRL"])
  # What the data do not settle is flagged, in the table, in the estimates and in print.
  expect_named(estimates, c("model", "title", "term", "estimate", "std.error", "identified"))
  expect_false(any(estimates$identified[startsWith(estimates$term, "utility[")]))
  expect_false(estimates$identified[estimates$term == "optimism"])
  expect_true(all(estimates$identified[estimates$model == "BC-IL"]))
  expect_identical(compared$identified, as.vector(tapply(estimates$identified, estimates$model, all)[compared$model]))
  told <- paste(format(compared), collapse = " ")
  told <- gsub(" +", " ", told)
  expect_match(told, "do not settle [^:]*optimism")
  expect_match(told, "Compare them by Brier score[.]")
  expect_match(told, "Do not use it to rank models that rule actions out against others")
  expect_match(told, "smallest log loss on these visits")
  expect_output(print(compared), "behavioural cloning")
  said <- utils::capture.output(print(compared))
  expect_no_match(said, "IRL|BC-IL|DM-IL")
  expect_identical(glance(compared)$run, 14L)
  # Nothing of the visits is kept.
  expect_no_match(names(unlist(attributes(compared), recursive = TRUE)), "visits[.]id")
})

test_that("differences are to the best by default, or to the one asked for", {
  compared <- compare_models(visits, clinic, cheap, seed = 1, replicates = 100)
  # Of those that differ by rounding alone, the first.
  best <- compared$model[compared$log_loss <= min(compared$log_loss) + 1e-12][1]
  expect_identical(attr(compared, "reference"), best)
  expect_true(all(compared$difference >= 0))
  expect_identical(compared$difference[compared$model == best], 0)
  other <- compare_models(visits, clinic, cheap, seed = 1, replicates = 100, reference = "ME-IRL")
  expect_equal(other$difference, other$log_loss - other$log_loss[other$model == "ME-IRL"])
  expect_no_match(format(other), "do not include that choice|smallest log loss")
  expect_error(compare_models(visits, clinic, cheap, reference = "nobody"), class = "ibrc_error_input")
})

test_that("the unit of the utility changes nothing", {
  skip_if_not_installed("lpSolve")
  table <- function(unit) {
    compared <- compare_models(visits, small_clinic(unit), seed = 1, replicates = 20)
    as.data.frame(compared)[c("log_loss", "brier", "agreement")]
  }
  one <- table(1)
  for (unit in c(1e-6, 1e6)) expect_equal(table(unit), one, tolerance = 1e-3)
})

test_that("rows may be left out and put in another order, and another pair is run", {
  turned <- compare_models(visits, clinic, cheap[3:1, ], seed = 1, replicates = 50)
  expect_identical(turned$model, rev(cheap$model))
  straight <- compare_models(visits, clinic, cheap, seed = 1, replicates = 50)
  expect_equal(turned$log_loss, rev(straight$log_loss))
  other <- cheap
  other$planner[1] <- "plan_kl"
  other$inverse[1] <- "infer_soft_margin"
  changed <- compare_models(visits, clinic, other, seed = 1, replicates = 50)
  expect_match(changed$title[1], "plan_kl() and infer_soft_margin()", fixed = TRUE)
  expect_identical(changed$status[1], "run")
  other$planner[1] <- "plan_mdp"
  other$inverse[1] <- "infer_distribution"
  expect_error(compare_models(visits, clinic, other), "does not go together", class = "ibrc_error_input")
  other <- cheap
  other$subjective[1] <- TRUE
  expect_error(compare_models(visits, clinic, other), "subjective", class = "ibrc_error_input")
  other <- cheap
  other$model[2] <- "mine"
  expect_error(compare_models(visits, clinic, other), "row 2", class = "ibrc_error_input")
  for (bad in list(NULL, NA, "x", list(), cheap[0, ], cheap[1:3], rbind(cheap, cheap))) {
    error <- expect_error(compare_models(visits, clinic, bad), class = "ibrc_error_input")
    expect_identical(error$argument, "models")
  }
})

test_that("what is held out or new is scored, and is no part of what is inferred from", {
  new <- small_visits(30, seed = 2)
  compared <- compare_models(visits, clinic, cheap, newdata = new, seed = 1, replicates = 50)
  expect_identical(glance(compared)$patients, 30L)
  expect_false(glance(compared)$in_sample)
  held <- compare_models(visits, clinic, cheap, holdout = 0.25, seed = 1, replicates = 50)
  expect_identical(glance(held)$patients, 15L)
  expect_identical(compare_models(visits, clinic, cheap, holdout = 0.25, seed = 1, replicates = 50), held)
  expect_error(compare_models(visits, clinic, cheap, newdata = new, holdout = 0.2), class = "ibrc_error_input")
  expect_error(compare_models(visits, clinic, cheap, holdout = 1), class = "ibrc_error_input")
})

test_that("where the state is hidden, who has to see it says so, and the others run", {
  hidden <- diag_setting()
  plan <- plan_agent(hidden, bounded_agent(1), resolution = 10)
  some <- classes[classes$model %in% c("BC-IL", "Det. IRL", "Subj. PO-IRL", classes$model[14]), ]
  compared <- compare_models(simulate(plan, 40, seed = 1), hidden, some, seed = 1, replicates = 50, resolution = 10)
  expect_identical(compared$status == "run", c(TRUE, FALSE, TRUE, TRUE))
  expect_match(compared$status[2], "has to see it")
  expect_true(is.na(compared$log_loss[2]))
  expect_output(print(compared), "hides the state")
})

test_that("one that fails does not end the others, and names no argument that nobody gave", {
  failing <- model_recipes
  failing[["ME-IRL"]] <- function(row, task) abort_input("penalty", "must be greater than 0.")
  local_replacement("model_recipes", failing)
  compared <- compare_models(visits, clinic, cheap, seed = 1, replicates = 50)
  expect_identical(compared$status, c("run", "run", "not run: its penalty must be greater than 0."))
})

test_that("starts that differ, one patient and no actions are handled or refused", {
  apart <- decision_setting(clinic$states, clinic$actions, clinic$observations, clinic$transition, "identity",
                            clinic$utility, discount = 0.9,
                            start = rbind(old = c(0, 1, 0), young = c(1, 0, 0)), start_by = "age")
  seen <- simulate(plan_kl(apart, 1), 40, seed = 1, horizon = 5)
  compared <- compare_models(seen, apart, cheap, seed = 1, replicates = 50)
  expect_identical(unique(compared$status), "run")
  one <- compare_models(visits[visits$id == 1, ], clinic, cheap, seed = 1, replicates = 50)
  expect_true(all(is.na(one$log_loss_low)))
  expect_output(print(one), "one patient")
  none <- as.data.frame(visits)
  none$action[] <- NA
  none$free <- FALSE
  expect_error(compare_models(trajectories(none, scored = "free"), clinic, cheap), class = "ibrc_error_data")
})
