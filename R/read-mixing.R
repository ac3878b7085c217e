# Draws of many variables, summarised.

# One row per column of draws.
summarise_columns <- function(draws, conf.level) {
  tail <- (1 - conf.level) / 2
  over <- function(measure, ...) unname(apply(draws, 2, measure, ...))
  range <- over(stats::quantile, c(tail, 1 - tail), names = FALSE)
  data.frame(estimate = over(stats::median), std.error = over(stats::sd), conf.low = range[1, ], conf.high = range[2, ])
}

# R-hat and effective numbers of draws (Vehtari and others 2021).
mixing_names <- c("rhat", "ess_bulk", "ess_tail")

# Of draws [iteration, chain, variable], one row per variable. Where posterior does not believe in so many effective
# draws it has fewer, and warns: nobody need know.
mixing_of <- function(draws) {
  out <- vapply(seq_len(dim(draws)[3]), function(k) {
    one <- term_draws(draws, k)
    suppressWarnings(c(posterior::rhat(one), posterior::ess_bulk(one), posterior::ess_tail(one)))
  }, c(0, 0, 0))
  matrix(t(out), ncol = 3, dimnames = list(NULL, mixing_names))
}
