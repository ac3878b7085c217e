# Draws of a population (fit-effects.R): coefficients, spreads and correlations, intercepts of levels.

has_population <- function(fit) !is.null(fit$population)

# As tidy_draws(), one row per coefficient, spread and correlation. `group` is NA: they are about everybody.
tidy_population <- function(fit, conf.level = 0.95) {
  out <- summarise_array(fit$population$draws, conf.level)
  out$contraction <- population_contraction(fit)[out$term]
  cbind(out["term"], group = NA_character_, out[-1])
}

# As one row per level of a grouping factor and term.
tidy_intercepts <- function(fit, conf.level = 0.95) {
  if (!dim(fit$population$intercepts)[3]) {
    abort_input("effects", "= \"people\" needs random intercepts, such as (1 | site), which this fit has none of.")
  }
  out <- summarise_array(fit$population$intercepts, conf.level)
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

summarise_array <- function(draws, conf.level) {
  tail <- (1 - conf.level) / 2
  rows <- lapply(dimnames(draws)[[3]], function(term) {
    one <- matrix(draws[, , term], dim(draws)[1])
    range <- stats::quantile(one, c(tail, 1 - tail), names = FALSE)
    data.frame(term = term, estimate = stats::median(one), std.error = stats::sd(one), conf.low = range[1],
               conf.high = range[2], rhat = posterior::rhat(one), ess_bulk = posterior::ess_bulk(one),
               ess_tail = posterior::ess_tail(one))
  })
  do.call(rbind, rows)
}

# 1 - var(posterior) / var(prior), on the scale a sampler works on. NA for correlations.
population_contraction <- function(fit) {
  design <- fit$effects
  prior <- c(stats::setNames(unclass(fit$prior)[design$coefficients$term], design$coefficients$label),
             unclass(design$prior))
  terms <- dimnames(fit$population$draws)[[3]]
  out <- vapply(terms, function(term) {
    entry <- prior[[term]]
    slope <- term %in% design$coefficients$label[!design$coefficients$intercept]
    if (slope) entry <- unclass(design$prior)[[term]]
    if (is.null(entry)) return(NA_real_)
    theta <- as.vector(fit$population$draws[, , term])
    if (term %in% design$spreads$label) theta <- log(theta)
    1 - stats::var(theta) / unconstrained_sd(entry)^2
  }, 0)
  stats::setNames(out, terms)
}
