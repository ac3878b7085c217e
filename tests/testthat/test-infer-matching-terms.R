test_that("terms have the names of the setting's entries, and a utility is put together from them", {
  setting <- with_seed(1, ranked_setting(3, 2))
  entries <- all_entries(setting)
  expect_identical(entries[c(1, 5)], c("utility[s1,u1]", "utility[s2,u2]"))
  expect_identical(entry_place("utility[s2,u2]", setting), list(state = "s2", action = "u2"))
  moved <- setting_at(setting, c("utility[s2,u2]" = 9, discount = 0.1), NULL)
  expect_equal(moved$utility["s2", "u2"], 9)
  expect_identical(moved$discount, 0.1)
  expect_equal(moved$utility[-5], setting$utility[-5])
  features <- check_features(list(one = setting$utility, two = diag(3)[, 1:2]), setting, "kl")
  expect_close(setting_at(setting, c(one = 2, two = -1), features)$utility,
               2 * setting$utility - diag(3)[, 1:2])
  # A feature without a term has no part.
  expect_close(setting_at(setting, c(one = 2), features)$utility, 2 * setting$utility)
})

test_that("prices and temperatures are found again", {
  setting <- with_seed(2, ranked_setting(3, 2, 0.7))
  for (planner in c("kl", "boltzmann")) {
    plan <- if (planner == "kl") plan_kl(setting, 0.6) else plan_boltzmann(setting, 0.6)
    visits <- simulate(plan, 400, horizon = 6, seed = 1)
    found <- infer_matching(visits, setting, planner, "alpha", starts = 1, seed = 1)
    expect_true(found$details$converged)
    expect_lt(abs(tidy(found)$estimate - 0.6) / tidy(found)$std.error, 3)
    expect_equal(found$objective, sum(log_lik(found, visits)), tolerance = 1e-9)
    # By R's own search along the one line there is.
    own <- stats::optimize(function(a) {
      sum(log_lik(if (planner == "kl") plan_kl(setting, a) else plan_boltzmann(setting, a), visits))
    }, c(0.3, 1.2), maximum = TRUE, tol = 1e-6)
    expect_equal(tidy(found)$estimate, own$maximum, tolerance = 1e-4)
    expect_equal(found$objective, own$objective, tolerance = 1e-8)
  }
})

test_that("derivatives and search find the same", {
  setting <- with_seed(3, ranked_setting(3, 2, 0.7))
  visits <- ranked_visits(setting, 60)
  terms <- c("utility[s1,u1]", "utility[s2,u2]")
  height <- matching_evidence(visits, setting)
  held <- list(alpha = 1, action_prior = NULL, models = NULL, resolution = 10)
  for (planner in c("kl", "boltzmann")) {
    exact <- infer_matching(visits, setting, planner, terms, prior = 3)
    law <- terms_law(terms, setting, NULL, 3, held, NULL)
    search <- matched_by_search(height, setting, planner, terms, NULL, NULL, law, TRUE, "maximum_likelihood", held,
                                list(starts = 1, seed = 1))
    expect_equal(tidy(exact)$estimate, unname(search$theta), tolerance = 1e-3)
    expect_equal(tidy(exact)$std.error, search$estimates$std.error, tolerance = 1e-2)
    expect_equal(exact$objective, search$log_lik, tolerance = 1e-6)
  }
})

test_that("utility, price and discount together, with what is not inferred held", {
  setting <- with_seed(4, ranked_setting(3, 2, 0.6))
  visits <- ranked_visits(setting, 400, alpha = 0.8)
  terms <- c("alpha", "discount", "utility[s3,u1]")
  found <- infer_matching(visits, setting, terms = terms, starts = 2, seed = 1)
  true <- c(0.8, 0.6, setting$utility[3, 1])
  expect_identical(tidy(found)$term, terms)
  expect_identical(tidy(found)$state, c(NA, NA, "s3"))
  expect_true(all(abs(tidy(found)$estimate - true) < 4 * tidy(found)$std.error))
  expect_equal(found$details$utility[-3], setting$utility[-3])
  expect_gt(found$objective, sum(log_lik(plan_kl(setting, 0.8), visits)))
  expect_false(any(grepl("in units", found$notes)))
})

test_that("an action prior is held, and what it rules out is impossible", {
  setting <- with_seed(5, ranked_setting(2, 2, 0.6))
  habit <- c(0.8, 0.2)
  visits <- simulate(plan_kl(setting, 1, habit), 400, horizon = 6, seed = 1)
  found <- infer_matching(visits, setting, terms = "utility[s1,u1]", action_prior = habit)
  expect_lt(abs(tidy(found)$estimate - setting$utility[1, 1]), 4 * tidy(found)$std.error)
  for (terms in c("utility", "alpha")) {
    expect_error(infer_matching(visits, setting, terms = terms, action_prior = c(1, 0), starts = 1, seed = 1),
                 class = "ibrc_error_impossible")
  }
})

test_that("discount 0 is the choice of a day", {
  setting <- with_seed(6, ranked_setting(3, 2, 0))
  visits <- ranked_visits(setting, 60)
  counts <- matrix(colSums(twin_counts(visits, setting, discount = 1)), 3)
  for (planner in c("kl", "boltzmann")) {
    found <- infer_matching(visits, setting, planner, "utility")
    # Only differences between actions are seen: they are log odds, and the smallest utility shares them out.
    odds <- log(counts[, 2] / counts[, 1])
    expect_close(found$details$utility, cbind(-odds, odds) / 2, 1e-5)
    expect_identical(found$details$unseen, 3L)
  }
  found <- infer_matching(visits, setting, terms = "alpha", starts = 1, seed = 1)
  expect_lt(abs(tidy(found)$estimate - 1), 4 * tidy(found)$std.error)
})

test_that("units do not matter to the search either", {
  terms <- c("alpha", "utility[s1,u1]")
  one <- with_seed(7, ranked_setting(3, 2, 0.7))
  visits <- ranked_visits(one, 100)
  found <- infer_matching(visits, one, terms = terms, starts = 1, seed = 1)
  for (unit in c(1e6, 1e-6)) {
    other <- with_seed(7, ranked_setting(3, 2, 0.7, scale = unit))
    scaled <- infer_matching(visits, other, terms = terms, alpha = unit, starts = 1, seed = 1)
    expect_equal(tidy(scaled)$estimate / unit, tidy(found)$estimate, tolerance = 1e-3)
    expect_equal(scaled$objective, found$objective, tolerance = 1e-6)
  }
  # Of features, too, wherever the search begins.
  features <- with_seed(7, array(stats::rnorm(6), c(3, 2, 1)))
  for (seed in 1:4) {
    small <- infer_matching(visits, one, features = features, terms = c("discount", "utility"), starts = 1, seed = seed)
    for (unit in c(1e6, 1e-6)) {
      large <- infer_matching(visits, one, features = features * unit, terms = c("discount", "utility"), starts = 1,
                              seed = seed)
      expect_true(large$details$converged)
      expect_equal(large$objective, small$objective, tolerance = 1e-9)
      expect_equal(tidy(large)$estimate * c(1, unit), tidy(small)$estimate, tolerance = 1e-4)
      expect_equal(tidy(large)$std.error * c(1, unit), tidy(small)$std.error, tolerance = 1e-2)
    }
  }
})

test_that("a feature that is nowhere is not seen", {
  setting <- with_seed(7, ranked_setting(3, 2, 0.7))
  visits <- ranked_visits(setting, 30)
  features <- list(one = diag(3)[, 1:2], none = matrix(0, 3, 2))
  exact <- infer_matching(visits, setting, features = features)
  expect_identical(exact$details$unseen, 1L)
  expect_identical(tidy(exact)$estimate[2], 0)
  search <- infer_matching(visits, setting, features = features, terms = c("discount", "utility"), starts = 1, seed = 1)
  expect_identical(is.na(tidy(search)$std.error[tidy(search)$term != "discount"]), c(FALSE, TRUE))
})

test_that("where states are hidden a temperature and entries are found again", {
  setting <- diag_setting()
  visits <- simulate(plan_boltzmann(setting, 3, resolution = 10), 300, horizon = 6, seed = 1)
  found <- infer_matching(visits, setting, "boltzmann", resolution = 10, starts = 1, seed = 1)
  expect_lt(abs(tidy(found)$estimate - 3), 4 * tidy(found)$std.error)
  found <- infer_matching(visits, setting, "boltzmann", "utility[healthy,monitor]", alpha = 3, resolution = 10,
                          starts = 1, seed = 1)
  expect_lt(abs(tidy(found)$estimate + 1), 4 * tidy(found)$std.error)
})

test_that("terms, priors and starts that do not fit are refused, by name", {
  setting <- with_seed(8, ranked_setting(2, 2))
  visits <- ranked_visits(setting, 5)
  refused <- function(argument, ...) {
    error <- expect_error(infer_matching(visits, setting, ...), class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  refused("terms", terms = "beta")
  refused("terms", terms = "utility[s9,u1]")
  refused("terms", terms = c("alpha", "utility"))
  refused("terms", terms = c("alpha", "alpha"))
  features <- array(1:8, c(2, 2, 2), list(NULL, NULL, c("one", "two")))
  refused("terms", terms = "alpha", features = features)
  refused("terms", terms = c("alpha", "one"), features = features)
  refused("terms", terms = "utility[s1,u1]", features = features)
  refused("start", terms = "alpha", start = c(discount = 0.5))
  refused("start", terms = "alpha", start = c(alpha = -1))
  refused("start", terms = "discount", start = c(discount = 1.5))
  refused("start", start = c(beta = 1))
  refused("prior", terms = c("alpha", "discount"), prior = ibrc_prior(alpha ~ lognormal(0, 1)))
  refused("prior", terms = "discount", prior = ibrc_prior(alpha ~ lognormal(0, 1)))
  refused("prior", prior = ibrc_prior(beta ~ lognormal(0, 1)))
  refused("start", terms = "alpha", start = c(alpha = -1), prior = ibrc_prior(alpha ~ lognormal(0, 1)))
})

test_that("choices by chance, or that are always the best, do not show a price: that is said", {
  setting <- with_seed(9, ranked_setting(3, 2, 0.8))
  even <- matrix(0.5, 3, 2)
  chance <- simulate(plan_rule(setting, even), 50, horizon = 4, seed = 2)
  best <- simulate(plan_mdp(setting), 50, horizon = 4, seed = 2)
  for (planner in c("kl", "boltzmann")) {
    sure <- infer_matching(best, setting, planner, "alpha", starts = 1, seed = 1)
    expect_identical(sure$details$unseen, 1L)
    expect_true(is.na(tidy(sure)$std.error))
    expect_match(sure$notes, "hardly changes", all = FALSE)
    expect_equal(sure$objective, 0, tolerance = 1e-6)
  }
  random <- infer_matching(chance, setting, "boltzmann", "alpha", starts = 1, seed = 1)
  expect_gt(random$objective, nrow(chance) * log(0.5) - 1e-3)
  reversed <- setting
  reversed$utility <- -setting$utility
  contrary <- simulate(plan_boltzmann(reversed, 1), 50, horizon = 4, seed = 2)
  against <- infer_matching(contrary, setting, "kl", "alpha", starts = 1, seed = 1)
  expect_true(is.na(tidy(against)$std.error))
  expect_equal(against$objective, nrow(contrary) * log(0.5), tolerance = 1e-3)
})
