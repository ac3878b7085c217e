small_effects <- function() {
  cached("small_effects", decision_effects(
    clinic_fit(), observations = list("two positive tests" = c("positive", "positive")), draws = 12, nsim = 60
  ))
}

test_that("levels are medians and quantiles over draws, differences are taken draw by draw", {
  told <- as.data.frame(small_effects())
  expect_named(told, c("quantity", "at", "action", "detail", "group", "reference", "estimate", "conf.low", "conf.high",
                       "probability", "rational", "rational_low", "rational_high", "gap", "gap_low", "gap_high", "unit",
                       "simulation_error", "verdict"))
  fit <- clinic_fit()
  chosen <- spaced_draws(fit, 12)
  # By hand, from plans at the same draws.
  monitored <- vapply(names(fit$draws), function(group) {
    unlist(read_draws(fit, group, chosen, function(plan) {
      belief <- c(0.5, 0.5)
      for (t in 1:2) belief <- update_belief(plan, belief, "monitor", "positive")
      policy(plan, belief)[1, "monitor"]
    }))
  }, numeric(12))
  row <- function(...) {
    told[told$quantity == "probability" & told$at == "after two positive tests" & told$action == "monitor", ][c(...), ]
  }
  numbers <- function(row) unlist(row[c("estimate", "conf.low", "conf.high")], use.names = FALSE)
  central <- function(x) stats::quantile(x, c(0.5, 0.025, 0.975), names = FALSE)
  expect_identical(row(1:3)$group, c("north", "south", "south"))
  expect_identical(row(1:3)$reference, c(NA, NA, "north"))
  expect_equal(numbers(row(1)), central(monitored[, "north"]))
  expect_equal(numbers(row(2)), central(monitored[, "south"]))
  expect_equal(numbers(row(3)), central(monitored[, "south"] - monitored[, "north"]))
  expect_equal(row(3)$probability, mean(monitored[, "south"] > monitored[, "north"]))
  expect_identical(row(1:2)$probability, c(NA_real_, NA_real_))
  # One setting for all draws: one rational agent, and the distance to it moves as what is done.
  expect_true(all(is.na(c(told$rational_low, told$rational_high))))
  known <- !is.na(told$rational)
  expect_equal(told[known, c("gap", "gap_low", "gap_high")],
               told[known, c("estimate", "conf.low", "conf.high")] - told$rational[known], ignore_attr = TRUE)
})

test_that("a single draw has no interval", {
  told <- decision_effects(uneven_fit("clinic"), draws = 1, nsim = 20)
  bounds <- c("conf.low", "conf.high", "probability", "rational_low", "rational_high", "gap_low", "gap_high")
  expect_true(all(is.na(unlist(as.data.frame(told)[bounds]))))
  expect_true(all(is.finite(c(told$estimate, told$gap))))
  expect_output(print(told), "at one draw")
  expect_no_match(format(told), " to [0-9-]")
})

test_that("rows carry the verdict, and what is simulated says how well it is known", {
  told <- small_effects()
  rows <- standing_verdict(clinic_fit())
  expect_identical(unique(told$verdict[told$group == "north"]),
                   as.character(worst_of(rows$verdict[is.na(rows$group) | rows$group == "north"])))
  simulated <- told$quantity %in% c("visits", "count", "cost", "cost_share")
  expect_true(all(told$simulation_error[simulated] > 0))
  expect_true(all(told$simulation_error[told$quantity %in% c("probability", "accuracy", "weight")] == 0))
  expect_identical(unique(told$quantity), names(effect_titles))
  probabilities <- told[told$unit == "probability" & is.na(told$reference), ]
  expect_true(all(probabilities$estimate >= 0 & probabilities$estimate <= 1))
  expect_true(all(told$estimate[told$quantity == "cost" & is.na(told$reference)] >= 0))
})

test_that("the same seed gives the same numbers, and leaves the generator alone", {
  ask <- function() decision_effects(uneven_fit("clinic"), draws = 3, nsim = 20)
  set.seed(4)
  before <- .Random.seed
  first <- ask()
  expect_identical(.Random.seed, before)
  expect_identical(ask(), first)
})

test_that("without groups there are none, and every pair can be asked for", {
  alone <- decision_effects(uneven_fit(), draws = 3, nsim = 0)
  expect_false(any(c("group", "reference") %in% names(alone)))
  expect_identical(unique(alone$quantity), c("probability", "accuracy", "weight"))
  fit <- uneven_fit("clinic")
  against <- decision_effects(fit, draws = 3, nsim = 0, reference = "south")
  expect_identical(unique(stats::na.omit(against$reference)), "south")
  expect_refused(decision_effects(uneven_fit(), reference = "all"), "reference")
  expect_refused(decision_effects(fit, reference = "nobody"), "reference")
})

test_that("a mode gives estimates without intervals", {
  mode <- ibrc_mode(uneven_visits(), diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
                    by = "clinic", starts = 2, conf.level = NULL, seed = 1, resolution = 20)
  told <- decision_effects(mode, beliefs = c(0.5, 0.5), nsim = 0)
  plans <- project_behavior(mode)
  expect_equal(told$estimate[told$quantity == "probability" & told$group == "south" & is.na(told$reference)],
               policy(plans$south, c(0.5, 0.5))[1, ], ignore_attr = TRUE)
  expect_true(all(is.na(c(told$conf.low, told$conf.high, told$probability))))
  expect_output(print(told), "at the estimates")
})

test_that("groups with dynamics of their own are read with their own", {
  settings <- list(north = diag_setting(0.7), south = diag_setting(0.8))
  models <- list(north = diag_models(), south = perturb_models(settings$south, 0.05))
  fit <- suppressWarnings(ibrc(uneven_visits(), settings, models, ibrc_prior(alpha ~ lognormal(0, 1)), by = "clinic",
                               chains = 2, iter = 40, seed = 1, resolution = 10))
  told <- as.data.frame(decision_effects(fit, draws = 3, nsim = 20))
  accuracy <- told[told$quantity == "accuracy" & told$at == "start" & told$detail == "all states", ]
  expect_equal(accuracy$rational, c(0.7, 0.8, 0.1))
  # Models go by other names there: their weights are not compared.
  expect_false(any(told$quantity == "weight" & !is.na(told$reference)))
})

test_that("inferred utilities, discounts and action priors are those of each draw", {
  fit <- suppressWarnings(ibrc(
    uneven_visits(), diag_setting(), diag_models(), chains = 2, iter = 40, seed = 1, resolution = 10,
    prior = ibrc_prior(alpha ~ lognormal(0, 1), discount ~ uniform(0.5, 0.9),
                       utility(healthy, monitor) ~ normal(-1, 0.5), action_prior ~ dirichlet(2, 2, 2))
  ))
  told <- decision_effects(fit, beliefs = list(c(0.8, 0.2)), draws = 4, nsim = 20)
  hand <- unlist(read_draws(fit, 1, spaced_draws(fit, 4), function(plan) policy(plan, c(0.8, 0.2))[1, "monitor"]))
  expect_equal(told$estimate[told$quantity == "probability" & told$action == "monitor"], stats::median(hand))
  expect_true(all(is.finite(told$estimate)))
})

test_that("bad input is refused before any work", {
  fit <- uneven_fit()
  expect_refused(decision_effects(1), "fit")
  expect_refused(decision_effects(fit, beliefs = c(0.5, 0.6)), "beliefs")
  expect_refused(decision_effects(fit, beliefs = list()), "beliefs")
  expect_refused(decision_effects(fit, observations = "nothing such"), "observations")
  expect_refused(decision_effects(fit, observations = list(character())), "observations")
  expect_refused(decision_effects(fit, actions = "monitor"), "actions")
  expect_refused(decision_effects(fit, observations = "positive", actions = "declare_healthy"), "actions")
  expect_refused(decision_effects(fit, observations = c("positive", "positive"), actions = rep("monitor", 3)),
                 "actions")
  expect_refused(decision_effects(fit, observations = list("positive"), actions = list("monitor", "monitor")),
                 "actions")
  expect_refused(decision_effects(fit, nsim = -1), "nsim")
  expect_refused(decision_effects(fit, horizon = 0), "horizon")
  expect_refused(decision_effects(fit, conf.level = 1), "conf.level")
  expect_refused(decision_effects(fit, seed = "a"), "seed")
  expect_refused(decision_effects(fit, other = 1), "...")
  truth <- adni_like_truth()$setting
  expect_refused(observed_places("cdr_normal_mri_none", NULL, truth), "actions",
                 "meanwhile.*do not end a trajectory: \"")
  # An MRI cannot have been read that was not made.
  plan <- plan_agent(truth, bounded_agent(), resolution = 5)
  seen <- observed_places("cdr_normal_mri_low", "no_mri", truth)
  expect_refused(refuse_impossible_places(plan, seen), "observations", "cannot all happen")
})

test_that("it says how far it is", {
  expect_message(decision_effects(uneven_fit("clinic"), draws = 2, nsim = 0, refresh = 2), "Draw 2 of 2, group 1 of 2")
})

test_that("where starts differ, a group starts as its trajectories do", {
  setting <- diag_setting()
  setting <- decision_setting(setting$states, setting$actions, setting$observations, setting$transition,
                              setting$emission, setting$utility, discount = 0.95, stop_actions = setting$stop_actions,
                              start = rbind(north = c(0.9, 0.1), south = c(0.4, 0.6)), start_by = "clinic")
  fit <- suppressWarnings(ibrc(uneven_visits(), setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
                               by = "clinic", chains = 2, iter = 40, seed = 1, resolution = 10))
  told <- as.data.frame(decision_effects(fit, observations = "positive", draws = 3, nsim = 30))
  plans <- read_draws(fit, 2, spaced_draws(fit, 3), identity)
  south <- told[told$quantity == "probability" & told$action == "monitor" & told$group == "south" &
                  is.na(told$reference), ]
  at <- function(belief) stats::median(vapply(plans, function(plan) policy(plan, belief(plan))[1, "monitor"], 0))
  expect_equal(south$estimate[south$at == "start"], at(function(plan) c(0.4, 0.6)))
  expect_equal(south$estimate[south$at == "after positive"],
               at(function(plan) update_belief(plan, c(0.4, 0.6), "monitor", "positive")))
  # Even odds are nobody's start here.
  expect_true("even odds" %in% south$at)
  expect_true(all(is.finite(told$estimate)))
  pooled <- suppressWarnings(ibrc(uneven_visits(), setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
                                  chains = 2, iter = 40, seed = 1, resolution = 10))
  told <- as.data.frame(decision_effects(pooled, draws = 3, nsim = 30))
  plans <- read_draws(pooled, 1, spaced_draws(pooled, 3), identity)
  expect_equal(told$estimate[told$quantity == "probability" & told$action == "monitor" & told$at == "start"],
               at(function(plan) c(0.7, 0.3)))
})

test_that("where a draw has a setting of its own, so has the rational agent beside it", {
  fit <- suppressWarnings(ibrc(uneven_visits(), function(accuracy) diag_setting(accuracy), chains = 2, iter = 40,
                               prior = ibrc_prior(alpha ~ lognormal(0, 1), accuracy ~ beta(8, 2)), seed = 1,
                               resolution = 10, control = ibrc_control(check = FALSE)))
  told <- as.data.frame(decision_effects(fit, beliefs = c(0.2, 0.8), draws = 3, nsim = 20))
  drawn <- flat_draws(fit$draws[[1]])[spaced_draws(fit, 3)$.draw, "accuracy"]
  accuracy <- told[told$quantity == "accuracy" & told$detail == "all states", ]
  expect_equal(accuracy$estimate, stats::median(drawn))
  expect_equal(accuracy$rational, stats::median(drawn))
  hand <- vapply(drawn, function(one) {
    policy(plan_agent(diag_setting(one), bounded_agent(), resolution = 10), c(0.2, 0.8))[1, "monitor"]
  }, 0)
  expect_equal(told$rational[told$quantity == "probability" & told$action == "monitor"], stats::median(hand))
  # With one model nobody leans: the accuracy moves from draw to draw, and the distance to it is nothing.
  expect_equal(unlist(accuracy[c("rational_low", "rational_high")], use.names = FALSE),
               stats::quantile(drawn, c(0.025, 0.975), names = FALSE))
  expect_equal(unlist(accuracy[c("gap", "gap_low", "gap_high")], use.names = FALSE), c(0, 0, 0))
})

test_that("effects of fits with inferred dynamics are those of plans with the dynamics of each draw", {
  for (fit in list(ward_fit(), ward_cut())) {
    found <- decision_effects(fit, beliefs = list(ill = c(0.2, 0.8)), observations = list(bad = "bad"),
                              actions = "wait", draws = 6, nsim = 0)
    plans <- lapply(spaced_draws(fit, 6)$.draw, function(draw) {
      lapply(c("east", "west"), function(group) plan_of_draw(fit, group, draw))
    })
    value <- function(read) vapply(plans, function(pair) vapply(pair, read, 0), c(0, 0))
    # Where a draw starts is its own matter, too.
    at <- list(ill = value(function(plan) policy(plan, c(0.2, 0.8))[, "test"]),
               "after bad" = value(function(plan) {
                 policy(plan, update_belief(plan, plan$setting$start, "wait", "bad"))[, "test"]
               }))
    for (place in names(at)) {
      rows <- found[found$quantity == "probability" & found$at == place & found$action == "test", ]
      middle <- apply(at[[place]], 1, stats::median)
      expect_close(rows$estimate, c(middle, stats::median(at[[place]][2, ] - at[[place]][1, ])), 1e-6)
    }
    # So are the rational agent, and what the setting's own accuracy is.
    best <- value(function(plan) {
      policy(plan_agent(plan$setting, bounded_agent(), resolution = 6), c(0.2, 0.8))[, "test"]
    })
    correct <- value(function(plan) mean(c(plan$setting$emission[1, 3, 2], plan$setting$emission[2, 4, 2])))
    central <- function(x) stats::quantile(x, c(0.5, 0.025, 0.975), names = FALSE)
    is_ill <- found$at == "ill" & found$action == "test"
    rows <- found[is_ill & found$quantity == "probability", ]
    expect_close(unlist(rows[2, c("gap", "gap_low", "gap_high")]), central((at$ill - best)[2, ]), 1e-6)
    expect_close(unlist(rows[3, c("gap", "gap_low", "gap_high")]),
                 central((at$ill - best)[2, ] - (at$ill - best)[1, ]), 1e-6)
    rows <- found[is_ill & found$quantity == "accuracy" & found$detail %in% "all states", ]
    expect_close(unlist(rows[1, c("rational", "rational_low", "rational_high")]), central(correct[1, ]), 1e-6)
    # Shared by both groups: between them there is nothing.
    expect_identical(rows$rational_low[3], NA_real_)
    expect_false(isTRUE(all.equal(rows$gap[1], rows$estimate[1] - rows$rational[1], tolerance = 1e-9)))
    expect_match(grep("acts as if .* after test", format(found), value = TRUE), paste0(
      "than in the setting [(]difference within draws .*; in the setting: [0-9.]+% [(][0-9.]+% to [0-9.]+%[)][.]$"
    ))
    # There is no one start to call by its odds.
    places <- unique(decision_effects(fit, draws = 2, nsim = 0)$at)
    expect_identical(places, c("start", "even odds", "80% well", "80% ill"))
  }
})
