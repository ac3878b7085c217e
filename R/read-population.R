# Draws of a population (fit-effects.R): coefficients, spreads and correlations, intercepts of levels.

has_population <- function(fit) !is.null(fit$population)

# Like tidy_draws(), one row per coefficient, spread and correlation. `group` is NA: they are about everybody.
tidy_population <- function(fit, conf.level = 0.95) {
  fit <- reported_population(fit)
  out <- summarise_array(fit, fit$population$draws, conf.level)
  out$contraction <- population_contraction(fit)[out$term]
  cbind(out["term"], group = NA_character_, out[-1])
}

# One row per level of a grouping factor and term.
tidy_intercepts <- function(fit, conf.level = 0.95) {
  if (!dim(fit$population$intercepts)[3]) {
    abort_input("effects", "= \"people\" needs random intercepts, such as (1 | site); this fit has none.")
  }
  out <- summarise_array(fit, fit$population$intercepts, conf.level, intercept_mixing(fit))
  key <- intercept_keys(fit$effects)
  cbind(key, out[-1])
}

# Term, factor and level of each intercept, in the order of the draws.
intercept_keys <- function(design) {
  do.call(rbind, unname(lapply(design$factors, function(one) {
    data.frame(term = rep(design$terms[one$terms], each = length(one$levels)), factor = one$name,
               level = rep(one$levels, length(one$terms)))
  })))
}

# How well the chains of each intercept mix. A fit has it since it was made: of thousands of people it takes seconds.
intercept_mixing <- function(fit) {
  if (is.null(fit$population$mixing)) mixing_within(fit, fit$population$intercepts) else fit$population$mixing
}

summarise_array <- function(fit, draws, conf.level, mixing = mixing_within(fit, draws)) {
  cbind(data.frame(term = dimnames(draws)[[3]]), summarise_columns(flat_draws(draws), conf.level), mixing)
}

# Draws of the population: where laws of the dynamics stand beside them, those that these are kept of.
kept_population <- function(fit) {
  draws <- fit$population$draws
  if (!has_dynamics(fit)) return(draws)
  draws[fit$population$every * seq_len(dim(fit$dynamics$draws)[1]), , , drop = FALSE]
}

# Priors by the name of a coefficient or spread; an intercept has the prior of its term.
population_prior <- function(fit) {
  if (!is.null(fit$population$prior)) return(fit$population$prior)
  coefficients <- fit$effects$coefficients
  own <- coefficients[coefficients$intercept, ]
  c(stats::setNames(unclass(fit$prior)[own$term], own$label), unclass(fit$effects$prior))
}

# Draws [draw, term] on the scale a sampler works on; correlations as they are.
population_theta <- function(fit, terms = dimnames(fit$population$draws)[[3]]) {
  prior <- population_prior(fit)
  draws <- flat_draws(fit$population$draws[, , terms, drop = FALSE])
  for (term in intersect(terms, names(prior))) draws[, term] <- to_unconstrained(prior[[term]], draws[, term])
  draws
}

# 1 - var(posterior) / var(prior), on the scale a sampler works on. NA for correlations.
population_contraction <- function(fit) {
  prior <- population_prior(fit)
  theta <- population_theta(fit)
  out <- vapply(colnames(theta), function(term) {
    if (is.null(prior[[term]])) NA_real_ else 1 - stats::var(theta[, term]) / unconstrained_sd(prior[[term]])^2
  }, 0)
  stats::setNames(out, colnames(theta))
}

# Like as.data.frame() of other fits, without groups.
population_frame <- function(fit) {
  draws <- reported_population(fit)$population$draws
  n <- dim(draws)
  data.frame(
    .chain = rep(rep(seq_len(n[2]), each = n[1]), n[3]), .iteration = rep(seq_len(n[1]), n[2] * n[3]),
    .draw = rep(seq_len(n[1] * n[2]), n[3]),
    term = factor(rep(dimnames(draws)[[3]], each = n[1] * n[2]), levels = dimnames(draws)[[3]]),
    value = as.vector(draws)
  )
}

# A fit whose population is in the form that is reported: probabilities, and their own priors, where the sampler has
# fractions of a simplex (as_reported() does the same for agents).
reported_population <- function(fit) {
  prior <- population_prior(fit)
  draws <- fit$population$draws
  terms <- intersect(dimnames(draws)[[3]], names(prior))
  entries <- new_ibrc_prior(unname(prior[terms]))
  if (!length(simplex_columns(entries, "action_prior"))) return(fit)
  actions <- lead_problem(fit)$setting$actions
  flat <- flat_draws(draws)
  values <- cbind(reported_values(entries, flat[, terms, drop = FALSE], actions),
                  flat[, setdiff(colnames(flat), terms), drop = FALSE])
  fit$population$draws <- array(values, c(dim(draws)[1:2], ncol(values)), list(NULL, NULL, colnames(values)))
  fit$population$prior <- unclass(reported_prior(entries, actions))
  fit
}

# Coefficients and spreads as the terms of a fit without groups, for functions that compare draws with priors.
# Correlations, which have no prior by themselves, are left out.
as_plain_fit <- function(fit) {
  if (!has_population(fit)) return(fit)
  prior <- population_prior(fit)
  terms <- intersect(dimnames(fit$population$draws)[[3]], names(prior))
  fit$draws <- list(all = fit$population$draws[, , terms, drop = FALSE])
  fit$prior <- new_ibrc_prior(unname(prior[terms]))
  for (part in c("group_sizes", "n_visits", "n_scored")) fit[[part]] <- c(all = sum(fit[[part]]))
  fit["population"] <- list(NULL)
  fit
}

# For functions about single groups: `instead` says what to use for people who differ.
refuse_population <- function(fit, argument, ...) {
  if (!is.null(fit$effects)) abort_input(argument, "is a fit of people who differ (`effects` of ibrc()): ", ...)
}

# ---- words ---------------------------------------------------------------------------------------------------------

# One line per formula, as the user wrote it.
effects_words <- function(design) {
  vapply(design$formulas, function(one) {
    right <- attr(stats::terms(one$fixed), "term.labels")
    bars <- vapply(one$random, function(bar) {
      paste0("(1 | ", if (!is.na(bar$tie)) paste0(bar$tie, " | "), factor_name(bar$columns), ")")
    }, "")
    paste(one$term, "~", paste(c(if (length(right)) right else if (!length(bars)) "1", bars), collapse = " + "))
  }, "")
}

# The scale of the coefficients of each term, and whose the terms themselves are.
scale_words <- function(fit) {
  terms <- unique(names(fit$effects$formulas))
  several <- length(terms) > 1
  c(paste0("Coefficients and spreads are differences in ", enumerate(scaled_words(fit, terms), Inf, ""), "; the ",
           if (several) "rows " else "row ", enumerate(terms, Inf, ""), if (several) " are" else " is",
           " for the reference: ", reference_words(fit$effects), "."),
    per_unit_words(fit$effects))
}

# A term as its coefficients have it.
scaled_words <- function(fit, terms) {
  said <- c(log = "log ", logit = "the log odds of ", identity = "")
  scale <- lapply(unclass(fit$prior)[terms], `[[`, "scale")
  paste0(vapply(scale, function(one) if (is.null(one)) "" else said[[one]], ""), terms)
}

# Who is meant where every coefficient counts 0.
reference_words <- function(design) {
  levels <- unlist(unname(lapply(design$formulas, function(one) {
    vapply(one$levels, function(levels) levels[1], "")
  })))
  levels <- levels[!duplicated(names(levels))]
  centre <- formula_centres(design)
  factors <- vapply(design$factors, `[[`, "", "name")
  said <- c(sprintf("%s %s", names(levels), levels), sprintf("%s %s", names(centre), vapply(centre, format_number, "")),
            if (length(factors)) paste("a typical level of", enumerate(factors, Inf, "")))
  if (length(said)) listing(said, 12) else "everybody"
}

formula_centres <- function(design) {
  centre <- unlist(unname(lapply(design$formulas, `[[`, "centre")))
  centre[!duplicated(names(centre))]
}

per_unit_words <- function(design) {
  centre <- formula_centres(design)
  if (length(centre)) paste0("Coefficients of numbers (", listing(names(centre)), ") are per unit.")
}
