setting <- diag_setting()
models <- diag_models()
prior <- ibrc_prior(alpha ~ lognormal(0, 1.5), optimism ~ normal(0, 1))
visits <- clinic_visits()
both <- function(x, y = x) list(north = x, south = y)
fit_with <- function(setting, models, ...) {
  ibrc(visits, setting, models, prior, by = "clinic", chains = 2, iter = 200, warmup = 100, seed = 5,
       resolution = 30, ...)
}

# A clinic whose test is better, and whose patients are more often ill.
sharp_setting <- function() {
  out <- setting
  out$emission[, , "monitor"] <- rbind(c(0.9, 0.1), c(0.1, 0.9))
  out$start <- c(healthy = 0.3, diseased = 0.7)
  out
}
sharp_models <- function() perturb_models(sharp_setting(), by = 0.05)
own_fit <- function() {
  cached("own_fit", fit_with(both(setting, sharp_setting()), both(models, sharp_models())))
}
part_of <- function(group) trajectories(as.data.frame(visits)[visits$clinic == group, ], covariates = "clinic")

test_that("the same dynamics for every group are those that groups share", {
  shared <- fit_with(setting, models)
  for (own in list(fit_with(both(setting), both(models)), fit_with(both(setting), models),
                   fit_with(setting, rev(both(models))))) {
    expect_identical(own$draws, shared$draws)
    expect_identical(own$log_posterior, shared$log_posterior)
    expect_identical(tidy(own), tidy(shared))
    expect_identical(augment(own, visits), augment(shared, visits))
    expect_identical(log_lik(own, draws = 5), log_lik(shared, draws = 5))
  }
  expect_null(shared$problems)
})

test_that("a mode takes groups with dynamics of their own, as a fit does", {
  find <- function(visits, ...) ibrc_mode(visits, ..., prior = prior, starts = 2, seed = 1, resolution = 20)
  own <- find(visits, both(setting, sharp_setting()), both(models, sharp_models()), by = "clinic")
  south <- find(part_of("south"), sharp_setting(), sharp_models())
  expect_close(tidy(own)$estimate[3:4], tidy(south)$estimate, 1e-4)
  shared <- find(visits, setting, models, by = "clinic")
  expect_gt(max(abs(tidy(own)$estimate[3:4] - tidy(shared)$estimate[3:4])), 0.01)
  expect_identical(tidy(own)$estimate[1:2], tidy(shared)$estimate[1:2])
  expect_identical(project_behavior(own)$south$setting$start, c(healthy = 0.3, diseased = 0.7))
  expect_error(find(visits, both(setting), models), "name their columns in `by`", class = "ibrc_error_input")
  expect_s3_class(profile_likelihood(own, "alpha", n = 3), "ibrc_profile")
})

test_that("each group is judged by its own dynamics", {
  own <- own_fit()
  at <- project_behavior(own)
  expect_identical(at$south$setting$start, c(healthy = 0.3, diseased = 0.7))
  expect_identical(at$south$models, validate_ibrc_models(sharp_models(), setting))
  # The posterior density that the sampler saw is the one worked out from a plan made anew.
  for (group in c("north", "south")) {
    draw <- own$draws[[group]][100, 1, ]
    agent <- bounded_agent(alpha = draw[["alpha"]], optimism = draw[["optimism"]])
    plan <- plan_agent(both(setting, sharp_setting())[[group]], agent, both(models, sharp_models())[[group]],
                       resolution = 30)
    likelihood <- sum(log_lik(plan, part_of(group)))
    theta <- prior_unconstrain(prior, matrix(draw, 1, dimnames = list(NULL, names(draw))))
    chain <- if (group == "north") 1 else 3
    expect_equal(own$log_posterior[100, chain], likelihood + unname(prior_log_density(prior, theta)),
                 tolerance = 1e-6)
    each <- log_lik(own, draws = NULL)[100, own$trajectory_group == match(group, names(own$draws))]
    expect_equal(each, unname(log_lik(plan, part_of(group))), tolerance = 1e-6)
  }
  shared <- fit_with(setting, models)
  expect_identical(own$draws$north, shared$draws$north)
  expect_false(identical(own$draws$south, shared$draws$south))
})

test_that("what looks at a fit plans for each group", {
  own <- own_fit()
  paths <- belief_paths(own, visits)
  first <- paths[paths$.visit == 1, ]
  expect_equal(unique(first$.belief_diseased[first$.group == "south"]), 0.7)
  expect_equal(unique(first$.belief_diseased[first$.group == "north"]), 0.5)
  # The rational agent has the group's models, too.
  expect_equal(unique(first$.rational_belief_diseased[first$.group == "south"]), 0.7)
  kept <- augment(own)
  expect_equal(kept$.probability, augment(own, visits)$.probability)
  replicated <- posterior_predict(own, draws = 3, seed = 1)
  expect_setequal(as.character(replicated$group), c("north", "south"))
  expect_identical(levels(pp_data(own, "belief", draws = 3, seed = 1)$group), c("north", "south"))
  expect_identical(nrow(compare_groups(own)), 2L)
  expect_identical(nrow(identifiability(own)), 4L)
  south <- visits$id[visits$clinic == "south"][1]
  drawn <- simplex_data(own, visits, id = south)
  start <- drawn[drawn$part == "path" & drawn$visit %in% 1, ]
  expect_equal(unique(start$diseased), 0.7)
  skip_if_not_installed("loo")
  expect_s3_class(suppressWarnings(loo(own, draws = 100)), "loo")
})

test_that("profiles are those of each group's dynamics", {
  own <- own_fit()
  profile <- profile_likelihood(own, "alpha", values = 1)
  south <- ibrc_mode(part_of("south"), sharp_setting(), sharp_models(), prior, estimate = "mle", starts = 2, seed = 1,
                     conf.level = NULL, resolution = 30)
  alone <- profile_likelihood(south, "alpha", values = 1)
  expect_equal(profile$log_likelihood[profile$group == "south" & profile$alpha == 1],
               alone$log_likelihood[alone$alpha == 1], tolerance = 1e-5)
})

test_that("models that differ in settings that do not have rational agents that differ", {
  own <- fit_with(setting, both(models, perturb_models(setting, by = 0.2)))
  rational <- rational_plans(group_plans(own))
  expect_false(identical(rational[[1]]$solution, rational[[2]]$solution))
  expect_identical(rational[[2]]$models, own$problems$south$models)
})

test_that("a file goes on with each group's dynamics, here or in processes", {
  own <- own_fit()
  path <- withr::local_tempfile(fileext = ".ibrc")
  stop_at <- function(step) {
    real <- sampler_step
    local_replacement("sampler_step", function(state, log_density) {
      if (state$iteration == step) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
      real(state, log_density)
    })
    tryCatch(suppressMessages(fit_with(both(setting, sharp_setting()), both(models, sharp_models()), file = path)),
             ibrc_error_interrupted = function(e) NULL)
  }
  stop_at(60)
  again <- resume(path)
  expect_identical(again$draws, own$draws)
  expect_equal(augment(again, visits), augment(own, visits))

  local_replacement("can_spread", function() TRUE)
  local_replacement("spread", function(pieces, work, over) lapply(pieces, work))
  local_replacement("cores_of_piece", function(cores, over) cores)
  spread <- fit_with(both(setting, sharp_setting()), both(models, sharp_models()))
  expect_identical(spread$draws, own$draws)
})

test_that("a default prior is on the scale of the largest stakes", {
  high <- setting
  high$utility <- 10 * setting$utility
  fit <- ibrc(visits, both(setting, high), models, by = "clinic", chains = 1, iter = 4, seed = 1, resolution = 5)
  expect_identical(prior_summary(fit), prior_summary(default_prior(high)))
  expect_error(cost_benefit(fit), class = "ibrc_error_input")
})

test_that("lists that do not fit the groups are refused before any work", {
  refused <- function(pattern, ...) {
    error <- suppressWarnings(
      expect_error(ibrc(visits, ..., prior = prior, iter = 4, resolution = 5), class = "ibrc_error_input"),
      classes = "ibrc_warning_one_model"
    )
    expect_match(conditionMessage(error), pattern)
    error
  }
  expect_identical(refused("name their columns in `by`", both(setting), models)$argument, "setting")
  expect_identical(refused("name their columns in `by`", setting, both(models))$argument, "models")
  refused("no entry for \"south\"", list(north = setting), models, by = "clinic")
  error <- refused("groups that are not there; there are \"north\" and \"south\"",
                   c(both(setting), list(SECRET22 = setting)), models, by = "clinic")
  expect_false(grepl("SECRET22", conditionMessage(error)))
  refused("no entry for \"south\"", setting, list(north = models), by = "clinic")
  refused("must be a list named by group", unname(both(setting)), models, by = "clinic")
  refused("entry 2 of it has no name", list(north = setting, setting), models, by = "clinic")
  refused("same name; .* entry 2", list(north = setting, north = setting), models, by = "clinic")
  refused("entry 2 of the list is an object of class \"ibrc_models\"", both(setting, models), models, by = "clinic")
  refused("must come from model_prior", setting, both(models, setting), by = "clinic")
  refused("empty", list(), models, by = "clinic")
  renamed <- setting
  renamed$states <- rev(renamed$states)
  refused("same states .* entry 2 of the list differs from entry 1", both(setting, renamed), models, by = "clinic")
  renamed <- setting
  renamed$stop_actions <- character()
  refused("same stop actions", both(setting, renamed), models, by = "clinic")
  refused("decision_setting", "not a setting", models)

  seen <- setting
  seen$emission[] <- rep(diag(2), 3)
  seen$fully_observed <- TRUE
  refused("seen in \"south\"", both(setting, seen), NULL, by = "clinic")
})

test_that("what a group's own dynamics rule out is refused with its rows", {
  sure <- setting
  sure$emission[, , "monitor"] <- rbind(c(1, 0), c(1, 0))
  alone <- ibrc_prior(alpha ~ lognormal(0, 1))
  error <- expect_error(ibrc(visits, both(setting, sure), NULL, alone, by = "clinic", iter = 4, resolution = 5),
                        class = "ibrc_error_data")
  expect_true(all(visits$clinic[error$rows] == "south" & visits$observation[error$rows] == "positive"))
})

# Starts that differ -------------------------------------------------------------------

quick_fit <- function(...) {
  suppressWarnings(ibrc(..., chains = 2, iter = 40, refresh = 0, resolution = 20))
}
two_terms <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))

test_that("starts by the groups of a fit are one setting per group, and need one table", {
  visits <- starts_visits(40)
  shared <- quick_fit(visits, starts_setting(), diag_models(), two_terms, by = "age", seed = 1)
  own <- quick_fit(visits, apart_settings(), diag_models(), two_terms, by = "age", seed = 1)
  expect_null(shared$problems)
  expect_identical(shared$draws, own$draws)
  expect_equal(log_lik(shared, draws = 5), log_lik(own, draws = 5))
  expect_equal(predict(shared, draws = 5), predict(own, draws = 5))
  expect_equal(belief_paths(shared, visits), belief_paths(own, visits))
  expect_equal(augment(shared), augment(own))
  expect_match(utils::capture.output(print(shared)), "Beliefs start by age", all = FALSE)
})

test_that("every trajectory keeps its start, whatever the fit is grouped by", {
  visits <- starts_visits(40)
  data <- as.data.frame(visits)
  setting <- starts_setting()
  theta <- list(alpha = 0.7, optimism = 0.5)
  plan <- plan_agent(setting, bounded_agent(alpha = 0.7, optimism = 0.5), diag_models(), resolution = 20)
  each <- log_lik(plan, visits)
  at <- function(by) {
    inverse <- read_inverse(visits, setting, diag_models(), two_terms, list(), by, FALSE)
    inverse <- build_inverse(group_inverse(inverse, visits, by), 20, ibrc_control(), 1L)
    evaluator <- inverse_evaluator(inverse)
    n <- length(inverse$histories)
    position <- prior_unconstrain(two_terms, matrix(unlist(theta), n, 2, TRUE, list(NULL, names(theta))))
    evaluate_batch(evaluator, position, matrix(0, 21, n))$log_likelihood
  }
  sex <- data$sex[!duplicated(data$id)]
  age <- data$age[!duplicated(data$id)]
  expect_close(at(NULL), sum(each), 1e-8)
  expect_close(at("sex"), as.vector(tapply(each, sex, sum)), 1e-8)
  expect_close(at("age"), as.vector(tapply(each, age, sum)), 1e-8)
  expect_close(at("id"), unname(each), 1e-8)
})

test_that("what looks at a fit uses the start of each trajectory; a fit goes on after a stop", {
  visits <- starts_visits(40)
  path <- tempfile(fileext = ".ibrc")
  on.exit(unlink(path))
  fit <- quick_fit(visits, starts_setting(), diag_models(), two_terms, by = "sex", seed = 1, file = path)
  held <- suppressWarnings(resume(path, refresh = 0))
  expect_identical(held$draws, fit$draws)
  expect_identical(held$histories, fit$histories)
  expect_identical(held$problem$setting$start, fit$problem$setting$start)
  data <- as.data.frame(visits)
  own <- trajectories(data[data$sex == "f", ], covariates = c("age", "sex"))
  expect_equal(unname(log_lik(fit, draws = 5)[, data$sex[!duplicated(data$id)] == "f"]),
               unname(log_lik(fit, draws = 5, newdata = own)))
  first <- belief_paths(fit, visits)
  first <- first[first$.visit == 1, ]
  expect_equal(first$.belief_healthy, ifelse(data$age[!duplicated(data$id)] == "old", 0.2, 0.7))
  replicated <- posterior_predict(fit, 2, seed = 1)
  expect_identical(length(unique(replicated$id)), 40L)
  drawn <- simulate(fit, 20, seed = 1)
  expect_setequal(attr(drawn, "roles")$covariates, c("sex", "age"))
  expect_setequal(drawn$age, c("old", "young"))
  expect_true(all(is.finite(log_lik(fit, newdata = drawn, draws = 3))))
  # Without its data a fit still knows how many started how.
  bare <- without_data(fit)
  expect_identical(bare$start_sizes, start_sizes(fit))
  expect_identical(lapply(start_labels(bare), table), lapply(start_labels(fit), table))
  expect_identical(nrow(posterior_predict(bare, 1, horizon = 1, seed = 1)), 40L)
  # Folds are built from the tree again.
  tree <- fit$histories[[1]]
  expect_identical(build_histories(coded_from_tree(tree, fit$visit_actions[[1]]), starts_setting()), tree)
  # A mode is read the same way.
  mode <- ibrc_mode(visits, starts_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), starts = 1, seed = 1,
                    resolution = 20)
  expect_close(sum(log_lik(mode)), sum(log_lik(project_behavior(mode), visits)), 1e-8)
})

test_that("settings by group have starts of the same groups", {
  other <- list(old = starts_setting(), young = diag_setting())
  expect_error(as_settings(other, "age"), "starts of the same groups", class = "ibrc_error_input")
})
