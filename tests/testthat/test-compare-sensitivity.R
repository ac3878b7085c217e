setting <- diag_setting()
models <- perturb_models(setting, by = 0.1)
prior <- ibrc_prior(alpha ~ lognormal(0, 1.5), optimism ~ normal(0, 1))

# Two clinics, and the problem as ibrc() and ibrc_mode() take it.
sensitive_fit <- function() {
  cached("sensitive_fit", ibrc(clinic_visits(), setting, models, prior, by = "clinic", chains = 2, iter = 600, seed = 1,
                               resolution = 20))
}

mode_with <- function(setting = diag_setting(), models = perturb_models(setting, by = 0.1),
                      prior = sensitive_fit()$prior, resolution = 20, ...) {
  ibrc_mode(clinic_visits(), setting, models, prior, by = "clinic", conf.level = NULL, resolution = resolution,
            seed = 1, ...)
}

rows_of <- function(table, what, alternative = "", levels = TRUE) {
  table <- as.data.frame(table)
  table[table$what == what & table$alternative == alternative & is.na(table$reference) == levels, ]
}

expect_mode <- function(table, what, alternative, mode) {
  rows <- rows_of(table, what, alternative)
  known <- tidy(mode)
  expect_identical(rows$term, known$term)
  expect_identical(rows$group, known$group)
  expect_equal(rows$estimate, known$estimate, tolerance = 1e-4)
  expect_equal(rows$std.error, known$std.error, tolerance = 1e-2)
  expect_equal(rows$log_lik[1], as.numeric(logLik(mode)), tolerance = 1e-7)
}

test_that("the baseline and every alternative are the modes that ibrc_mode() finds", {
  fit <- sensitive_fit()
  cheap <- function(utility) {
    utility[, "monitor"] <- -0.5
    utility
  }
  wide <- perturb_models(setting, by = 0.25)
  other <- ibrc_prior(alpha ~ lognormal(0, 0.5), optimism ~ normal(0.5, 0.2))
  moved <- sensitivity_analysis(fit, list(
    resolution = c(20, 30), step = c(0.1, 0.2), discount = 0.8, utility = list(cheap = cheap),
    models = list(wide = wide), prior = list(other = other, "wider"), fixed = list(drawn = list(eta = 0.3))
  ))
  # What the fit has already is not fitted again.
  expect_identical(unique(paste(moved$what, moved$alternative)),
                   c("as fitted ", "resolution 30", "step 0.2", "discount 0.8", "utility cheap", "models wide",
                     "prior other", "prior wider", "fixed drawn"))
  expect_identical(moved$baseline, moved$what == "as fitted")
  expect_true(all(moved$converged) && all(is.na(moved$pareto_k)) && all(moved$note == ""))
  expect_mode(moved, "as fitted", "", mode_with())
  expect_mode(moved, "resolution", "30", mode_with(resolution = 30))
  expect_mode(moved, "step", "0.2", mode_with(models = perturb_models(setting, by = 0.2)))
  expect_mode(moved, "models", "wide", mode_with(models = wide))
  expect_mode(moved, "discount", "0.8", mode_with(diag_setting(discount = 0.8)))
  paid <- setting
  paid$utility <- cheap(setting$utility)
  expect_mode(moved, "utility", "cheap", mode_with(paid))
  expect_mode(moved, "prior", "other", mode_with(prior = other))
  expect_mode(moved, "prior", "wider",
              mode_with(prior = ibrc_prior(alpha ~ lognormal(0, 3), optimism ~ normal(0, 2))))
  expect_mode(moved, "fixed", "drawn", mode_with(fixed = list(eta = 0.3)))
  expect_equal(moved$log_lik_difference, moved$log_lik - moved$log_lik[1])
})

test_that("contrasts are those of the estimates, with errors of independent groups", {
  moved <- sensitivity_analysis(sensitive_fit(), list(discount = 0.9), conf.level = 0.9)
  levels <- rows_of(moved, "discount", "0.9")
  contrasts <- rows_of(moved, "discount", "0.9", levels = FALSE)
  expect_identical(contrasts$scale, c("ratio", "difference"))
  expect_identical(contrasts$group, c("south", "south"))
  expect_identical(contrasts$reference, c("north", "north"))
  alpha <- levels[levels$term == "alpha", ]
  expect_equal(contrasts$estimate[1], alpha$estimate[2] / alpha$estimate[1])
  spread <- sqrt(sum((alpha$std.error / alpha$estimate)^2))
  expect_equal(contrasts$conf.high[1], contrasts$estimate[1] * exp(stats::qnorm(0.95) * spread))
  optimism <- levels[levels$term == "optimism", ]
  expect_equal(contrasts$estimate[2], optimism$estimate[2] - optimism$estimate[1])
  expect_equal(contrasts$conf.low[2], contrasts$estimate[2] - stats::qnorm(0.95) * sqrt(sum(optimism$std.error^2)))
  turned <- sensitivity_analysis(sensitive_fit(), list(discount = 0.9), reference = "south")
  expect_equal(rows_of(turned, "discount", "0.9", FALSE)$estimate[2], -contrasts$estimate[2], tolerance = 1e-6)
})

test_that("it works from a mode, and from a mode of the likelihood, and the same with more threads", {
  mode <- mode_with(estimate = "mle")
  moved <- sensitivity_analysis(mode, list(discount = 0.8))
  expect_mode(moved, "as fitted", "", mode)
  expect_mode(moved, "discount", "0.8", mode_with(diag_setting(discount = 0.8), estimate = "mle"))
  expect_null(attr(moved, "verdict"))
  expect_output(print(moved), "1 alternative to what the fit assumes, by modes")
  expect_identical(sensitivity_analysis(mode, list(discount = 0.8), cores = 2), moved)
  error <- expect_error(sensitivity_analysis(mode, list(prior = "wider")), "not depend on", class = "ibrc_error_input")
  expect_identical(error$argument, "over$prior")
  expect_error(sensitivity_analysis(mode, list(discount = 0.8), method = "reweight"), "is a mode",
               class = "ibrc_error_input")
})

test_that("groups with dynamics of their own, an action prior and an inferred utility are varied, too", {
  own <- list(north = diag_setting(0.7), south = diag_setting(0.75))
  each <- lapply(own, perturb_models, by = 0.1)
  simplex <- ibrc_prior(alpha ~ lognormal(0, 1), action_prior ~ dirichlet(2))
  mode <- ibrc_mode(clinic_visits(), own, each, simplex, by = "clinic", conf.level = NULL, resolution = 10, starts = 2,
                    seed = 1)
  moved <- sensitivity_analysis(mode, list(step = 0.05, utility = list(double = function(utility) 2 * utility)))
  again <- function(own, by) {
    ibrc_mode(clinic_visits(), own, lapply(own, perturb_models, by = by), simplex, by = "clinic", conf.level = NULL,
              resolution = 10, starts = 2, seed = 1)
  }
  expect_mode(moved, "step", "0.05", again(own, 0.05))
  doubled <- lapply(own, function(one) {
    one$utility <- 2 * one$utility
    one
  })
  expect_mode(moved, "utility", "double", again(doubled, 0.1))
  expect_true("action_prior[monitor]" %in% moved$term)
  # Models by group, for a fit whose groups share one problem.
  shared <- sensitivity_analysis(sensitive_fit(), list(models = list(apart = list(
    south = perturb_models(setting, 0.2), north = models
  ))))
  expect_mode(shared, "models", "apart",
              mode_with(models = list(north = models, south = perturb_models(setting, 0.2))))
})

test_that("an alternative that fails is there without numbers, and said", {
  impossible <- model_prior(list(list(transition = setting$transition, emission = list(
    declare_healthy = diag(2), declare_diseased = diag(2), monitor = rbind(c(1, 0), c(1, 0))
  ))))
  moved <- sensitivity_analysis(sensitive_fit(), list(models = list(blind = impossible), discount = 0.9))
  lost <- moved[moved$what == "models", ]
  expect_true(all(is.na(lost$estimate)) && all(is.na(lost$log_lik)) && !any(lost$converged))
  expect_match(lost$note, "impossible")
  expect_identical(nrow(lost), sum(moved$baseline))
  expect_false(anyNA(moved$estimate[moved$what == "discount"]))
  expect_match(sensitivity_words(moved), "No numbers for models blind: .*impossible", all = FALSE)
})

test_that("an interrupt keeps what was fitted, and says what was not", {
  count <- 0
  refit <- function(change) {
    count <<- count + 1
    if (count == 3) signalCondition(structure(list(), class = c("interrupt", "condition")))
    list(table = data.frame(group = NA_character_, reference = NA_character_, scale = NA_character_, term = "alpha",
                            estimate = count, std.error = 1, conf.low = 0, conf.high = 1),
         log_lik = -count, converged = TRUE, pareto_k = NA_real_, note = "")
  }
  others <- lapply(1:3, function(i) list(what = "step", label = as.character(i), change = list(step = i)))
  expect_message(pieces <- run_alternatives(others, refit, 0), "Interrupted after 1 of 3 alternatives")
  table <- new_ibrc_sensitivity(pieces, others, "mode", NULL)
  expect_identical(table$estimate, c(1, 2, NA, NA))
  expect_match(table$note[3:4], "interrupted")
  count <- 2
  expect_error(run_alternatives(others, refit, 0), class = "ibrc_error_interrupted")
  count <- 3
  expect_message(run_alternatives(others, refit, 1), "alternative 3 of 3")
})

test_that("what cannot be varied is refused before any work", {
  bare <- without_data(sensitive_fit())
  expect_error(sensitivity_analysis(bare, list(step = 0.2)), "keep_data", class = "ibrc_error_input")
  only <- ibrc(clinic_visits(), setting, models, prior, chains = 1, iter = 20, seed = 1, resolution = 10,
               sample_prior = "only")
  expect_error(sensitivity_analysis(only, list(step = 0.2)), "from the prior", class = "ibrc_error_input")
  expect_error(sensitivity_analysis(1, list(step = 0.2)), class = "ibrc_error_input")
  expect_error(sensitivity_analysis(pooled_fit(), list(discount = 0.9), reference = "north"), "no groups",
               class = "ibrc_error_input")
})

test_that("the verdict on the fit comes along", {
  fit <- sensitive_fit()
  moved <- sensitivity_analysis(fit, list(discount = 0.9))
  expect_identical(attr(moved, "verdict"), standing_verdict(fit))
  expect_output(print(moved), verdict_headline(standing_verdict(fit)), fixed = TRUE)
  # Each row has what other tables of the fit say of its term and groups.
  table <- as.data.frame(moved)
  own <- table[table$baseline, ]
  expect_identical(own$verdict, c(tidy(fit)$verdict, compare_groups(fit)$verdict))
  expect_identical(table$verdict[!table$baseline], own$verdict)
})

test_that("an argument that there is not is named", {
  expect_error(sensitivity_analysis(1, list(discount = 0.9), foo = 1), class = "ibrc_error_input", regexp = "foo")
})
