test_that("the weights of features are found again, and behaviour by any other name", {
  setting <- with_seed(1, ranked_setting(3, 2, 0.8))
  features <- with_seed(1, array(stats::rnorm(12), c(3, 2, 2), list(NULL, NULL, c("cost", "ease"))))
  setting$utility[] <- matrix(features, ncol = 2) %*% c(-1, 0.5)
  visits <- ranked_visits(setting, 400)
  found <- infer_matching(visits, setting, features = features)
  expect_s3_class(found, "ibrc_inferred")
  expect_identical(tidy(found)$term, c("cost", "ease"))
  expect_true(all(abs(tidy(found)$estimate - c(-1, 0.5)) < 3 * tidy(found)$std.error))
  expect_identical(found$details$planner, "kl")
  expect_equal(tidy(infer_matching(visits, setting, "soft_q_learning", features = features)), tidy(found))
  as_list <- list(cost = features[, , 1], ease = features[, , 2])
  expect_equal(tidy(infer_matching(visits, setting, features = as_list)), tidy(found))
  # What was found can be used as what was shown.
  again <- infer_matching(found, setting, features = features)
  expect_equal(tidy(again)$estimate, tidy(found)$estimate, tolerance = 1e-6)
  hard <- infer_matching(visits, setting, "mdp", starts = 1, seed = 1)
  expect_identical(hard$details$planner, "boltzmann")
  expect_equal(tidy(hard), tidy(infer_matching(visits, setting, "boltzmann", "alpha", starts = 1, seed = 1)))
})

test_that("objects can be printed, predicted from and simulated", {
  setting <- with_seed(2, ranked_setting(3, 2, 0.8))
  visits <- ranked_visits(setting, 40)
  for (planner in c("kl", "rule", "boltzmann")) {
    found <- infer_matching(visits, setting, planner, starts = 1, seed = 1)
    expect_output(print(found))
    expect_close(rowSums(as.matrix(predict(found, visits))), rep(1, nrow(visits)), 1e-9)
    expect_equal(sum(log_lik(found, visits)), found$objective, tolerance = 1e-8)
    expect_s3_class(simulate(found, 3, horizon = 3, seed = 1), "ibrc_trajectories")
    expect_s3_class(project_behavior(found), "ibrc_plan")
    expect_identical(glance(found)$visits, nrow(visits))
  }
})

test_that("the parameters of a planner of one's own are found again, and its failures are counted", {
  setting <- with_seed(3, ranked_setting(2, 2, 0.8))
  own <- function(setting, theta) {
    setting$transition["s1", , "u1"] <- c(1 - theta[["risk"]], theta[["risk"]])
    plan_kl(setting, alpha = 1)
  }
  visits <- simulate(own(setting, c(risk = 0.3)), 1000, horizon = 6, seed = 1)
  found <- infer_matching(visits, setting, own, start = c(risk = 0.6), lower = c(risk = 0), upper = c(risk = 1),
                          starts = 1, seed = 1)
  expect_lt(abs(tidy(found)$estimate - 0.3), 3 * tidy(found)$std.error)
  expect_identical(found$details$planner, "function")
  shaky <- function(setting, theta) if (theta[["risk"]] < 0.25) stop("no") else own(setting, theta)
  same <- infer_matching(visits, setting, shaky, start = c(risk = 0.6), lower = c(risk = 0), upper = c(risk = 1),
                         starts = 3, seed = 1)
  expect_match(same$notes, "failed at", all = FALSE)
  # By a prior, which says what there is, as well.
  drawn <- infer_matching(visits, setting, own, start = c(risk = 0.6), lower = c(risk = 0), upper = c(risk = 1),
                          prior = 0.01, starts = 1, seed = 1)
  expect_lt(tidy(drawn)$estimate, tidy(found)$estimate)
})

test_that("an agent is inferred by ibrc_mode()", {
  setting <- diag_setting()
  agent <- bounded_agent(alpha = 2, beta = 5, eta = 0)
  models <- diag_models()
  visits <- simulate(plan_agent(setting, agent, models, resolution = 10), 200, horizon = 6, seed = 1)
  fixed <- list(eta = 0, beta = 5)
  found <- infer_matching(visits, setting, models = models, prior = ibrc_prior(alpha ~ lognormal(0, 2)),
                          fixed = fixed, resolution = 10, starts = 1, seed = 1)
  expect_identical(found$details$planner, "agent")
  expect_identical(rownames(found$estimates), "1")
  expect_lt(abs(tidy(found)$estimate - 2), 3 * tidy(found)$std.error)
  mode <- ibrc_mode(visits, setting, models, prior = ibrc_prior(alpha ~ lognormal(0, 2)), fixed = fixed,
                    estimate = "map", resolution = 10, starts = 1, seed = 1, conf.level = NULL)
  expect_equal(tidy(found)$estimate, tidy(mode)$estimate)
  expect_equal(found$objective, sum(log_lik(found, visits)), tolerance = 1e-8)
  error <- expect_error(infer_matching(visits, setting, "agent", method = "bayesian",
                                       prior = ibrc_prior(alpha ~ lognormal(0, 2))), class = "ibrc_error_input")
  expect_identical(error$argument, "method")
})

test_that("draws from a posterior lie around what is true, and chains agree", {
  setting <- with_seed(4, ranked_setting(2, 2, 0.5))
  visits <- ranked_visits(setting, 200)
  terms <- "utility[s1,u1]"
  found <- infer_matching(visits, setting, terms = terms, prior = 2, method = "bayesian", chains = 2, iter = 1000,
                          seed = 1)
  peak <- infer_matching(visits, setting, terms = terms, prior = 2)
  table <- tidy(found)
  expect_lt(table$rhat, 1.05)
  expect_gt(table$ess, 50)
  expect_true(table$conf.low < setting$utility[1, 1] && setting$utility[1, 1] < table$conf.high)
  # As good as normal, with so many visits.
  expect_lt(abs(table$estimate - tidy(peak)$estimate), 0.3 * tidy(peak)$std.error)
  expect_equal(table$std.error, tidy(peak)$std.error, tolerance = 0.2)
  expect_identical(names(found$details$draws), c(".chain", ".iteration", ".draw", "term", "value"))
  expect_identical(nrow(found$details$draws), 1000L)
  # A price by a prior with its name.
  drawn <- infer_matching(visits, setting, "boltzmann", prior = ibrc_prior(alpha ~ lognormal(0, 1)),
                          method = "bayesian", chains = 2, iter = 200, seed = 1)
  again <- infer_matching(visits, setting, "boltzmann", prior = ibrc_prior(alpha ~ lognormal(0, 1)),
                          method = "bayesian", chains = 2, iter = 200, seed = 1)
  expect_identical(tidy(again), tidy(drawn))
  expect_gt(min(drawn$details$draws$value), 0)
})

test_that("behaviour that a planner rules out is an error of its own", {
  setting <- with_seed(5, ranked_setting(2, 2, 0.5))
  visits <- ranked_visits(setting, 20)
  hard <- function(setting, theta) {
    setting$utility[1, 1] <- theta[["worth"]]
    plan_mdp(setting)
  }
  error <- expect_error(infer_matching(visits, setting, hard, start = c(worth = 1), starts = 2, seed = 1),
                        class = "ibrc_error_impossible")
  expect_identical(error$argument, "start")
  error <- expect_error(infer_matching(visits, setting, action_prior = c(0, 1)), class = "ibrc_error_impossible")
  expect_s3_class(error, "ibrc_error_data")
  expect_error(infer_matching(visits, setting, hard, prior = 2, start = c(worth = 1), method = "bayesian", chains = 1,
                              iter = 20, seed = 1), class = "ibrc_error_impossible")
})

test_that("spread starts leave first visits out, and starts of groups are theirs", {
  setting <- with_seed(6, ranked_setting(2, 2, 0.5, start = 1:2))
  visits <- ranked_visits(setting, 30)
  found <- infer_matching(visits, setting, "kl", "alpha", starts = 1, seed = 1)
  expect_identical(found$details$left_out, 30L)
  expect_match(found$notes, "left out", all = FALSE)
  parts <- unclass(setting)
  grouped <- decision_setting(parts$states, parts$actions, parts$observations, parts$transition, "identity",
                              parts$utility, discount = 0.5, start = rbind(old = c(1, 0), young = c(0, 1)),
                              start_by = "age")
  visits <- simulate(plan_kl(grouped, 1), 100, horizon = 5, seed = 1)
  for (planner in c("kl", "boltzmann", "rule", "iohmm_rule")) {
    found <- infer_matching(visits, grouped, planner, starts = 1, seed = 1)
    expect_identical(found$details$left_out, 0L)
    expect_equal(sum(log_lik(found, visits)), found$objective, tolerance = 1e-7)
  }
  # Where states are hidden too.
  visits <- starts_visits(30)
  for (planner in c("boltzmann", "rule", "iohmm_rule")) {
    found <- infer_matching(visits, starts_setting(), planner, resolution = 10, starts = 1, seed = 1)
    expect_equal(sum(log_lik(found, visits)), found$objective, tolerance = 1e-7)
  }
})

test_that("every argument is checked, and says its name", {
  setting <- with_seed(7, ranked_setting(2, 2))
  good <- list(visits = ranked_visits(setting, 5), setting = setting)
  refused <- function(argument, bad, ...) {
    call <- c(good[setdiff(names(good), argument)], list(...))
    call[argument] <- list(bad)
    error <- expect_error(do.call(infer_matching, call), class = "ibrc_error")
    expect_identical(error$argument, argument)
  }
  nonsense <- list(NA, "x", -1, Inf, list(), matrix(0, 0, 2), mean, NULL)
  for (bad in nonsense) for (argument in names(good)) refused(argument, bad)
  for (argument in names(good)) {
    error <- expect_error(do.call(infer_matching, good[setdiff(names(good), argument)]), class = "ibrc_error")
    expect_identical(error$argument, argument)
  }
  may_be_null <- c("planner", "terms", "features", "start", "prior", "action_prior", "models", "lower", "upper", "seed")
  for (bad in nonsense[1:7]) {
    for (argument in setdiff(may_be_null, c("planner", "seed"))) refused(argument, bad)
  }
  for (bad in nonsense[1:6]) refused("planner", bad)
  for (bad in list(NA, "x", list(), mean, Inf)) refused("seed", bad)
  for (argument in c("method", "alpha", "resolution", "starts", "chains", "iter", "warmup")) {
    for (bad in nonsense[-8]) refused(argument, bad)
  }
  for (argument in c("alpha", "resolution", "starts", "chains", "iter", "warmup")) refused(argument, NULL)
  refused("prior", NULL, method = "bayesian")
  refused("features", list(a = matrix(0, 3, 3)))
  refused("features", list(matrix(0, 2, 2)))
  refused("action_prior", c(0.5, 0.6))
  expect_error(do.call(infer_matching, c(good, list(fixed = 1))), class = "ibrc_error_input")
})

test_that("planners and what they need fit the setting", {
  hidden <- diag_setting()
  visits <- simulate(plan_boltzmann(hidden, 3, resolution = 5), 5, horizon = 3, seed = 1)
  for (planner in c("kl", "soft_q_learning", "mdp")) {
    error <- expect_error(infer_matching(visits, hidden, planner), class = "ibrc_error_input")
    expect_identical(error$argument, "planner")
  }
  seen <- with_seed(8, ranked_setting(2, 2))
  for (bad in list(function(setting, theta) 1, function(setting, theta) stop("no"),
                   function(setting, theta) plan_boltzmann(hidden, 1, resolution = 5))) {
    error <- expect_error(infer_matching(ranked_visits(seen, 5), seen, bad, start = c(a = 1)),
                          class = "ibrc_error_input")
    expect_identical(error$argument, "planner")
  }
  own <- function(setting, theta) plan_kl(setting, theta[["a"]])
  refused <- function(argument, ...) {
    error <- expect_error(infer_matching(ranked_visits(seen, 5), seen, own, ...), class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  refused("start")
  refused("start", start = c(a = 1), lower = c(a = 2))
  refused("start", start = c(a = 1), prior = ibrc_prior(alpha ~ lognormal(0, 1)))
  refused("lower", start = c(a = 1), lower = c(b = 0))
  refused("upper", start = c(a = 1), upper = c(b = 0))
  # Bounds that nothing would look at.
  refused("lower", prior = ibrc_prior(alpha ~ lognormal(0, 1)), lower = c(alpha = 0))
  for (planner in c("kl", "rule")) {
    error <- expect_error(infer_matching(ranked_visits(seen, 5), seen, planner, upper = c(alpha = 2)),
                          class = "ibrc_error_input")
    expect_identical(error$argument, "upper")
  }
})

test_that("what a planner would not look at is refused", {
  seen <- with_seed(8, ranked_setting(2, 2))
  visits <- ranked_visits(seen, 5)
  own <- function(setting, theta) plan_kl(setting, theta[["a"]])
  idle <- list(list("kl", models = model_prior(list(seen))), list("boltzmann", action_prior = c(0.5, 0.5)),
               list("rule", alpha = 2), list("rule", start = c(a = 1)), list("iohmm_rule", alpha = 2),
               list("agent", alpha = 2), list("agent", action_prior = c(0.5, 0.5)), list("agent", start = c(alpha = 1)),
               list(own, alpha = 2), list(own, models = model_prior(list(seen))))
  for (one in idle) {
    error <- expect_error(do.call(infer_matching, c(list(visits, seen), one)), "has no meaning",
                          class = "ibrc_error_input")
    expect_identical(error$argument, names(one)[2])
  }
  # By the name that was given, and with what holds it instead.
  expect_error(infer_matching(visits, seen, "mdp", action_prior = c(0.5, 0.5)), "planner \"mdp\"",
               class = "ibrc_error_input")
  expect_error(infer_matching(visits, seen, "agent", action_prior = c(0.5, 0.5)), "fixed = list(action_prior = ",
               fixed = TRUE, class = "ibrc_error_input")
})

test_that("no identifier is kept", {
  seen <- with_seed(9, ranked_setting(2, 2))
  visits <- with_secret_names(ranked_visits(seen, 10))
  own <- function(setting, theta) plan_kl(setting, theta[["a"]])
  environment(own) <- asNamespace("ibrc")
  expect_false(keeps_word(infer_matching(visits, seen), "secret"))
  expect_false(keeps_word(infer_matching(visits, seen, "rule"), "secret"))
  expect_false(keeps_word(infer_matching(visits, seen, "boltzmann", starts = 1, seed = 1), "secret"))
  expect_false(keeps_word(infer_matching(visits, seen, own, start = c(a = 1), lower = c(a = 0), starts = 1, seed = 1),
                          "secret"))
  hidden <- diag_setting()
  visits <- with_secret_names(simulate(plan_boltzmann(hidden, 3, resolution = 5), 30, horizon = 3, seed = 1))
  for (planner in c("boltzmann", "rule", "iohmm_rule", "agent")) {
    prior <- if (planner == "agent") ibrc_prior(alpha ~ lognormal(0, 1))
    found <- infer_matching(visits, hidden, planner, prior = prior, resolution = 5, starts = 1, seed = 1)
    expect_false(keeps_word(found, "secret"))
  }
})

test_that("an agent is the same whatever unit utilities are counted in, and speaks of no posterior", {
  setting <- with_seed(61, ranked_setting(3, 2))
  visits <- ranked_visits(setting, 40, alpha = 1)
  found <- expect_no_warning(infer_matching(visits, setting, "agent", starts = 2, seed = 1))
  expect_match(found$notes, "not checked", all = FALSE)
  expect_no_match(found$notes, "conf.level")
  for (unit in c(1e-9, 1e6)) {
    setting$utility <- setting$utility * unit
    other <- infer_matching(visits, setting, "agent", starts = 2, seed = 1, fixed = list(eta = 0))
    expect_equal(policy(other), policy(infer_matching(visits, setting, "kl", "alpha", starts = 2, seed = 1)),
                 tolerance = 1e-3)
    setting$utility <- setting$utility / unit
  }
  few <- expect_no_warning(infer_matching(trajectories(as.data.frame(visits)[1:12, ]), setting, "agent", starts = 1,
                                          seed = 1))
  expect_match(few$notes, "few trajectories or visits", all = FALSE)
})

test_that("features that have the name of something else are refused by name", {
  setting <- with_seed(62, ranked_setting(2, 2))
  visits <- ranked_visits(setting, 10)
  for (name in c("alpha", "discount", "utility")) {
    expect_refused(infer_matching(visits, setting, features = stats::setNames(list(diag(2)), name)), "features",
                   "give it another name")
  }
})
