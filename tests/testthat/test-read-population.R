test_that("tables of a population, its cells and its people are those of the draws", {
  fit <- differing_fit()
  b <- raw_coefficients(fit)
  table <- tidy(fit)
  expect_identical(table$term, colnames(b))
  expect_equal(table$estimate[-1], apply(b[, -1], 2, stats::median), ignore_attr = TRUE)
  expect_equal(coef(fit)[["alpha"]], stats::median(exp(b[, "alpha"])))
  cells <- tidy(fit, effects = "cells")
  expect_identical(names(cells)[1:6], c("term", "cell", "clinician", "arm", "sex", "age"))
  people <- first_visits(differing_visits())
  one <- cells[cells$cell == names(fit$draws)[fit$trajectory_group[9]], ]
  expect_identical(unlist(one[1, c("clinician", "arm", "sex")], use.names = FALSE),
                   unlist(people[9, c("clinician", "arm", "sex")], use.names = FALSE))
  expect_equal(one$age[1], people$age[9])
  expect_equal(one$estimate[one$term == "alpha"], stats::median(fit$draws[[one$cell[1]]][, , "alpha"]))
  levels <- tidy(fit, effects = "people")
  expect_identical(levels$level, paste0("c", 1:6))
  expect_equal(levels$estimate, apply(raw_intercepts(fit), 2, stats::median), ignore_attr = TRUE)
  expect_refused(tidy(fit, effects = "sites"), "effects")
  expect_refused(tidy(clinic_fit(), effects = "cells"), "effects", "needs a fit of")
  alone <- fit_differing(list(alpha ~ sex), differing_visits(2, 4), iter = 20)
  expect_refused(tidy(alone, effects = "people"), "effects", "random intercepts")
})

test_that("coefficients and spreads can be looked at as terms", {
  fit <- differing_fit()
  plain <- as_plain_fit(fit)
  expect_identical(names(plain$draws), "all")
  expect_identical(prior_terms(plain$prior), tidy(fit)$term)
  expect_false(has_population(plain))
  expect_identical(identifiability(fit)$term, tidy(fit)$term)
  expect_identical(as_plain_fit(clinic_fit()), clinic_fit())
  expect_false("cor(alpha,optimism|id)" %in% names(as_plain_fit(personal_fit())$prior))
})

test_that("everything that takes a fit works for people who differ, or says what to do instead", {
  fit <- differing_fit()
  for (type in c("visit", "belief", "last_action", "last_observation", "length")) {
    data <- pp_data(fit, type, draws = 3, seed = 1)
    expect_identical(as.character(unique(data$group)), "all")
  }
  # All cells together.
  data <- pp_data(fit, "visit", draws = 3, seed = 1)
  seen <- as.data.frame(differing_visits())
  first <- seen[!duplicated(seen$id), ]
  observed <- as.vector(table(factor(first$action, levels(data$action)))) / nrow(first)
  expect_equal(data$observed[data$visit == 1], observed)
  expect_identical(unique(data$n[data$visit == 1]), nrow(first))
  made <- posterior_predict(fit, draws = 2, seed = 1)
  expect_identical(max(made$id), nrow(first))
  simulated <- simulate(fit, 7, seed = 1, draws = 2)
  expect_length(unique(simulated$id), 7)
  expect_identical(simulate(fit, 7, seed = 1, draws = 2), simulated)
  expect_identical(nrow(predict(fit, simulated, draws = 2)), nrow(simulated))
  # Their cells are those of the fit.
  expect_true(all(names(with_new_cells(fit, simulated)$draws) %in% names(fit$draws)))
  expect_identical(nrow(augment(fit)), nrow(seen))
  expect_length(project_behavior(fit), length(fit$draws))
  expect_identical(prior_summary(fit)$term, c("alpha", "optimism", names(fit$effects$prior), fit$effects$ties$label))
  expect_refused(profile_likelihood(fit), "object", "coefficients")
  expect_refused(sensitivity_analysis(fit, list(discount = 0.9)), "fit", "Fit again with ibrc")
  expect_refused(plot_groups(fit), "fit", "plot_shrinkage")
  expect_refused(groups_data(fit), "fit", "plot_shrinkage")
  expect_refused(decision_effects(fit, reference = "a"), "reference", "compare_groups")
})

test_that("what is done is the mean over the cohort", {
  fit <- differing_fit()
  effects <- decision_effects(fit, beliefs = list("four in five" = c(0.8, 0.2)), draws = 2, nsim = 0)
  rows <- as.data.frame(effects)
  one <- rows[rows$quantity == "probability" & rows$action == "monitor" & rows$at == "four in five", ]
  chosen <- spaced_draws(fit, 2)
  each <- vapply(seq_along(fit$draws), function(g) {
    unlist(read_draws(fit, g, chosen, function(plan) {
      policy(plan, c(0.8, 0.2))[[which(plan$setting$actions == "monitor")]]
    }))
  }, c(0, 0))
  expect_equal(one$estimate, stats::median(each %*% fit$group_sizes / sum(fit$group_sizes)))
  expect_null(rows$group)
  expect_output(print(effects), "monitor with probability")
})

test_that("leaving out one trajectory of a cell that it has to itself is for Pareto k to judge", {
  skip_if_not_installed("loo")
  fit <- differing_fit()
  expect_true(any(fit$group_sizes == 1))
  expect_silent(refuse_loo(fit, rep(TRUE, length(fit$trajectory_group))))
})

test_that("probabilities of an inferred action prior are reported, not the sampler's fractions", {
  visits <- differing_visits(2, 4)
  fit <- suppressWarnings(ibrc(
    visits, diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1), action_prior ~ dirichlet(2)),
    effects = list(alpha ~ sex), chains = 2, iter = 20, seed = 1, resolution = 10, control = ibrc_control(check = FALSE)
  ))
  table <- tidy(fit)
  terms <- c("alpha", "alpha[sexm]", paste0("action_prior[", diag_setting()$actions, "]"))
  expect_identical(table$term, terms)
  expect_identical(identifiability(fit)$term, terms)
  draws <- posterior::as_draws_matrix(fit)
  expect_equal(rowSums(draws[, terms[3:5]]), rep(1, 20), ignore_attr = TRUE)
  cells <- tidy(fit, effects = "cells")
  expect_equal(table$estimate[4], cells$estimate[cells$term == terms[4]][1])
  expect_identical(levels(fit_plot_data(fit)$panel), c("alpha at the reference", "Differences in log alpha",
                                                    "At the reference"))
  expect_true(all(as.data.frame(fit)$term %in% terms))
})

fit <- people_run(tied_effects(), visits = people_visits(per = 4, n = 4))
plain <- people_run(list(alpha ~ age), visits = people_visits(per = 4, n = 4))

test_that("a table has one row per coefficient, spread and correlation", {
  table <- tidy_population(fit)
  expect_identical(table$term, dimnames(fit$population$draws)[[3]])
  expect_true(all(is.na(table$group)))
  one <- fit$population$draws[, , "sd(optimism|site)"]
  row <- table[table$term == "sd(optimism|site)", ]
  expect_equal(row$estimate, stats::median(one))
  expect_equal(row$std.error, stats::sd(one))
  expect_equal(c(row$conf.low, row$conf.high), unname(stats::quantile(one, c(0.025, 0.975))))
  expect_equal(row$rhat, posterior::rhat(one))
  wide <- tidy_population(fit, 0.5)
  expect_true(all(wide$conf.low >= table$conf.low & wide$conf.high <= table$conf.high))
  # Spreads are positive, correlations between -1 and 1.
  expect_true(all(table$conf.low[startsWith(table$term, "sd(")] > 0))
  expect_true(all(abs(fit$population$draws[, , "cor(alpha,optimism|clinician)"]) <= 1))
})

test_that("tidy() shows the population, its cells or its people", {
  table <- tidy(fit)
  expect_identical(table$term, tidy_population(fit)$term)
  expect_null(table$group)
  cells <- tidy(fit, effects = "cells")
  expect_identical(nrow(cells), 2L * length(fit$effects$cells))
  people <- tidy(fit, effects = "people")
  expect_identical(people$factor[c(1, nrow(people))], c("clinician", "site"))
  expect_identical(people$level[1:4], fit$effects$factors$clinician$levels)
  expect_identical(nrow(people), 4L * 2L + 3L)
  expect_equal(people$estimate[1], stats::median(fit$population$intercepts[, , 1]))
  expect_refused(tidy(plain, effects = "people"), "effects", "random intercepts")
  expect_refused(tidy(fit, effects = "nobody"), "effects")
  expect_refused(tidy(clinic_fit(), effects = "cells"), "effects", "needs a fit")
})

test_that("how intercepts mix is worked out once, when the fit is made", {
  intercepts <- fit$population$intercepts
  people <- tidy(fit, effects = "people")
  for (k in c(1, nrow(people))) {
    expect_equal(people$rhat[k], posterior::rhat(intercepts[, , k]), tolerance = 1e-12)
    expect_equal(people$ess_bulk[k], posterior::ess_bulk(intercepts[, , k]), tolerance = 1e-12)
    expect_equal(people$ess_tail[k], posterior::ess_tail(intercepts[, , k]), tolerance = 1e-12)
  }
  real <- mixing_of
  asked <- 0
  local_replacement("mixing_of", function(draws) {
    asked <<- asked + (dim(draws)[3] == nrow(people))
    real(draws)
  })
  expect_output(print(fit), "intercepts of")
  expect_identical(tidy(fit, effects = "people"), people)
  expect_identical(asked, 0)
  # A fit that was kept from before it was.
  fit$population$mixing <- NULL
  expect_identical(tidy(fit, effects = "people"), people)
})

test_that("keys of intercepts are in the order of their draws", {
  keys <- intercept_keys(fit$effects)
  wanted <- paste0(keys$term, "{", keys$factor, " ", keys$level, "}")
  expect_identical(dimnames(fit$population$intercepts)[[3]], wanted)
})

test_that("contraction compares with the priors that were stated, on the scale of the sampler", {
  found <- population_contraction(fit)
  draws <- fit$population$draws
  expect_equal(found[["alpha"]], 1 - stats::var(log(as.vector(draws[, , "alpha"]))), tolerance = 1e-3)
  slope <- fit$effects$prior[["optimism[armb]"]]$args[["sd"]]
  expect_equal(found[["optimism[armb]"]], 1 - stats::var(as.vector(draws[, , "optimism[armb]"])) / slope^2,
               tolerance = 1e-3)
  expect_identical(unname(is.na(found)), startsWith(names(found), "cor("))
  expect_named(population_prior(fit), c("alpha", "optimism", "alpha[age]", "optimism[armb]", "optimism[age]",
                                        "sd(alpha|clinician)", "sd(optimism|clinician)", "sd(optimism|site)"))
})

test_that("draws come as a data frame and as those of posterior", {
  frame <- as.data.frame(fit)
  n <- dim(fit$population$draws)
  expect_equal(nrow(frame), prod(n))
  expect_named(frame, c(".chain", ".iteration", ".draw", "term", "value"))
  row <- frame[frame$term == "optimism[age]" & frame$.chain == 2 & frame$.iteration == 7, ]
  expect_identical(row$value, fit$population$draws[[7, 2, "optimism[age]"]])
  expect_identical(row$.draw, n[1] + 7L)
  expect_equal(unclass(posterior::as_draws_array(fit))[3, 1, "alpha"], fit$population$draws[3, 1, "alpha"],
               ignore_attr = TRUE)
})

test_that("a cell says what it is", {
  table <- cell_covariates(fit$effects)
  expect_identical(nrow(table), length(fit$effects$cells))
  expect_setequal(names(table), c("clinician", "site", "arm", "age"))
  expect_identical(sort(unique(table$clinician)), paste0("c", 1:4))
  age <- fit$effects$matrices$optimism[, "age"]
  expect_equal(table$age - mean(table$age), unname(age) - mean(age))
  expect_identical(table$arm == "b", unname(fit$effects$matrices$optimism[, "armb"] == 1))
  expect_identical(nrow(cell_covariates(plain$effects)), 3L)
})

test_that("formulas and scales are said in words", {
  expect_identical(unname(effects_words(fit$effects)),
                   c("optimism ~ arm + age + (1 | p | clinician) + (1 | site)", "alpha ~ age + (1 | p | clinician)"))
  expect_identical(unname(effects_words(people_run(list(alpha ~ 1, optimism ~ (1 | site / clinician)), iter = 20,
                                                   warmup = 10)$effects)),
                   c("alpha ~ 1", "optimism ~ (1 | site) + (1 | site:clinician)"))
  words <- scale_words(fit)
  expect_identical(words, c(paste0(
    "Coefficients and spreads are differences in optimism and log alpha; the rows optimism and alpha are for the ",
    "reference: arm a, age 60, a typical level of clinician and site."
  ), "Coefficients of numbers (age) are per unit."))
  alone <- scale_words(people_run(list(alpha ~ 1), iter = 20, warmup = 10))
  expect_match(alone, "differences in log alpha; the row alpha is for the reference: everybody.", fixed = TRUE)
  expect_output(print(summary(fit)), "Priors: alpha lognormal\\(0, 1\\), optimism normal\\(0, 1\\)")
  expect_output(print(summary(fit)), "Effects: optimism ~ arm")
  expect_match(format(fit), "people who differ \\(12 cells\\)")
})

test_that("other readings give the population", {
  expect_identical(names(coef(fit)), tidy_population(fit)$term)
  expect_equal(unname(coef(fit)), tidy_population(fit)$estimate)
  expect_identical(glance(fit)$groups, 12L)
  expect_true(has_population(fit) && !has_population(clinic_fit()))
})

test_that("draws are summarised in their order, whatever they are called", {
  fit <- differing_fit()
  draws <- fit$population$draws
  dimnames(draws)[[3]][] <- "x"
  expect_equal(summarise_array(fit, draws, 0.95)$estimate, summarise_array(fit, fit$population$draws, 0.95)$estimate)
})
