test_that("what is held, inferred or not there is said as it is", {
  fit <- uneven_fit()
  expect_null(habit_said(fit))
  expect_match(model_said(fit), "every action with equal probability", all = FALSE)
  fit$fixed <- list(habit = 1.5, action_prior = c(0.5, 0.25, 0.25), discount = 0.5)
  expect_match(habit_said(fit), "held at 1.5")
  expect_no_match(model_said(fit), "equal probability")
  expect_match(model_said(fit), "Held, not inferred: habit = 1.5", all = FALSE)
  expect_match(discount_said(fit), "counts 0.5 times")
  names(fit$prior)[1] <- "habit"
  expect_match(habit_said(fit), "was inferred")
  names(fit$prior)[1] <- "discount"
  expect_identical(discount_said(fit), "The discount was inferred.")
})

test_that("what a fit infers of actions and utilities is told, and draws from the prior are told as such", {
  visits <- uneven_visits()
  quick <- function(prior, ...) {
    suppressWarnings(ibrc(visits, diag_setting(), diag_models(), prior, chains = 1, iter = 10, seed = 1,
                          resolution = 5, control = ibrc_control(check = FALSE, thin = 2), ...))
  }
  habits <- quick(ibrc_prior(alpha ~ lognormal(0, 1), action_prior ~ dirichlet(1)))
  expect_no_match(model_said(habits), "equal probability")
  expect_match(sampler_said(habits), "one of every 2 steps", all = FALSE)
  paid <- quick(irl_prior(diag_setting()), fixed = list(alpha = 1))
  expect_match(standard_said(paid), "Of the 6 entries of the utility 4 were inferred")
  empty <- quick(ibrc_prior(alpha ~ lognormal(0, 1)), sample_prior = "only")
  expect_match(data_said(empty, 5, NULL), "no data were used")
  expect_match(format(methods_text(empty, "plain"))[1], "^Do not use")
  empty$fixed <- list(eta = 0.1)
  expect_match(model_said(empty), "These terms were drawn from the prior: alpha.", fixed = TRUE, all = FALSE)
  expect_match(model_said(empty), "^Held: eta = 0.1", all = FALSE)
  expect_match(model_said(habits), "These terms were inferred: alpha", all = FALSE)
  words <- paste(c(format(methods_text(empty, "plain")), reporting_checklist(empty)$done), collapse = " ")
  expect_no_match(words, "inferred|was checked")
  expect_output(print(empty), "^Draws from the prior \\(no data were used\\): 1 chain of 10 steps")
  others <- quick(ibrc_prior(habit ~ normal(0, 1), discount ~ uniform(0, 0.9)), sample_prior = "only",
                  fixed = list(alpha = 1))
  expect_match(c(habit_said(others), discount_said(others)), "was drawn from the prior[.]$")
})

test_that("a small utility is told entry by entry, a large one by its range", {
  fit <- uneven_fit()
  expect_match(standard_said(fit), "Declare healthy is worth 10 in healthy, -36 in diseased; declare diseased is",
               all = FALSE)
  local_replacement("most_worths", 3)
  expect_match(standard_said(fit), "6 entries, from -36 to 10", all = FALSE)
  fit$problem$setting$belief_utility <- certainty_bonus(2.5, above = 0.9)
  expect_match(standard_said(fit), "a belief is worth: .*2.5", all = FALSE)
  other <- fit$problem
  other$setting$utility[1] <- 0
  fit$problems <- list(a = fit$problem, b = other)
  expect_match(standard_said(fit), "differs between groups")
})

test_that("dynamics are told with how they were learned, and with which uncertainty", {
  expect_match(dynamics_said(ward_fit(), NULL), "inferred together with the agents", all = FALSE)
  cut <- paste(dynamics_said(ward_cut(), NULL), collapse = " ")
  expect_match(cut, "drawn 3 times from what was seen.*Plummer 2015.*learned by maximum likelihood .Bengio")
  expect_match(sampler_said(ward_cut())[1], "under each of 3 draws of the dynamics")
  expect_length(sampler_said(ward_fit()), 1)
  expect_match(chains_said(ward_cut()), "worst draw of the dynamics")
  expect_match(dynamics_said(uneven_fit(), NULL), "those that the setting states")
})

test_that("people who differ are told with their formulas, scales and correlations", {
  said <- paste(effects_said(differing_fit()), collapse = " ")
  expect_match(said, "optimism ~ arm + sex + (1 | clinician)", fixed = TRUE)
  expect_no_match(said, "Lewandowski")
  expect_match(effects_said(personal_fit()), "Lewandowski et al. 2009", all = FALSE)
  expect_null(effects_said(uneven_fit()))
  expect_match(priors_said(differing_fit()), "sd(optimism|clinician) ~ half_normal", fixed = TRUE)
})

test_that("contrasts that were given are counted, and others are those with the first group", {
  fit <- uneven_fit("clinic")
  expect_match(contrasts_said(fit, NULL), "contrasts? w(ere|as) looked at", all = FALSE)
  one <- compare_groups(fit)
  one <- structure(one[1, ], class = class(one))
  expect_identical(contrasts_said(fit, one)[1], "One contrast was looked at.")
  expect_null(contrasts_said(uneven_fit(), NULL))
})

test_that("every check is told with its worst row", {
  rows <- standing_verdict(clinic_fit())
  said <- checks_said(rows)
  for (check in unique(rows$check)) expect_match(said, check_words[[check]], fixed = TRUE)
  expect_true(endsWith(said, paste0(verdict_headline(rows), ".")))
})
