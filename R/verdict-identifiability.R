#' What the data say about each term, and what they do not
#'
#' Compares the posterior with the prior, term by term, and says in words whether the data inform about a term at all,
#' on one side only, or only about its combination with another.
#'
#' The data bound a side if the posterior's tail there is thinner than the prior's own: past a point well inside the
#' posterior, draws stay closer to that point than draws from the prior would. `bound_below` and `bound_above` say how
#' much closer, on the scale of `contraction`: 0 where the tail is the prior's, near 1 where the data end it. Neutral
#' behaviour, for example, fits every large `beta` equally well: the data bound it from below, and only the prior says
#' how large it may be. `optimism`, its inverse, is then identified, near 0.
#'
#' A term is not called identified in four cases:
#' * The chains do not agree on it or miss part of its posterior (`"unsettled"`, see [verdict()]).
#' * There are too few visits (`"too few data"`): in all, or of the people on whom a coefficient rests, such as those of
#'   one of the two arms between which it is the difference.
#' * It lies on a ridge. A ridge is a correlation with another term above 0.9, on the scale a sampler works on or on the
#'   natural one, unless the data have nevertheless taken away 99% of the prior's variance.
#' * It is the spread of fewer than five levels (`"too few levels"`), where a prior weighs much.
#'
#' @param fit A fit ([ibrc()]). Where people differ (its `effects`), coefficients and spreads are treated as terms.
#' @return A data frame of class `ibrc_identifiability` with one row per term and group:
#'   * `term`, and `group` with groups.
#'   * `verdict`: one of `"identified"`, `"bounded from above"`, `"bounded from below"`, `"not identified"`,
#'     `"only jointly with"` another term, `"unsettled"`, `"too few data"` and `"too few levels"`.
#'   * `contraction`: the share of the prior's variance that the data took away, on the scale a sampler works on
#'     ([ibrc_prior()]).
#'   * `prior.low` and `prior.high`: the central 95% of the prior.
#'   * `conf.low` and `conf.high`: the central 95% of the posterior.
#'   * `one_sided`: the only side on which the data bound the term (`"above"`, `"below"`), or `NA`.
#'   * `bound_below` and `bound_above`: how firmly the data bound each side (see the details).
#'   * `ridge_with` and `ridge`: the term with the strongest posterior correlation, and that correlation. It is taken on
#'     the scale a sampler works on or on the natural one, whichever is stronger.
#'   * `prior_conflict`: whether the posterior median lies outside the central 95% of the prior.
#'
#'   The printed result is in sentences.
#' @seealso [profile_likelihood()] for the likelihood itself.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' neutral <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(neutral, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1), beta ~ lognormal(1, 3)),
#'             chains = 2, iter = 300, seed = 1)
#' identifiability(fit)
identifiability <- function(fit) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  structure(identify_terms(as_judged_fit(fit)), verdict = verdict_headline(standing_verdict(fit)))
}

identifiability_sentences <- function(x, digits) {
  number <- function(v) format(signif(v, digits), trim = TRUE, digits = digits)
  vapply(seq_len(nrow(x)), function(i) {
    row <- x[i, ]
    label <- if (is.null(row$group)) row$term else paste0(row$term, " (", safe_text(row$group), ")")
    prior <- paste(number(row$prior.low), "to", number(row$prior.high))
    kind <- sub("^(only jointly).*", "\\1", row$verdict)
    centre <- (row$conf.low + row$conf.high) / 2
    away <- centre < row$prior.low || centre > row$prior.high
    said <- switch(
      kind,
      identified = paste0("is identified: ", number(row$conf.low), " to ", number(row$conf.high),
                          " (95%), of the prior's ", prior, "."),
      "bounded from below" = paste0("is bounded from below only: it is above ", number(row$conf.low),
                                    " (97.5%), but only the prior says how large it may be (", prior, ")."),
      "bounded from above" = paste0("is bounded from above only: it is below ", number(row$conf.high),
                                    " (97.5%), but only the prior says how small it may be (", prior, ")."),
      "only jointly" = paste0("is identified only jointly with ", row$ridge_with, " (correlation ",
                              number(row$ridge), "): by itself it may be ", number(row$conf.low), " to ",
                              number(row$conf.high), " (95%)."),
      unsettled = "is unsettled: the chains do not agree on it, or miss part of its posterior. See verdict().",
      "too few data" = paste0("rests on too few visits to be called identified: ", number(row$conf.low), " to ",
                              number(row$conf.high), " (95%), of the prior's ", prior, "."),
      "too few levels" = paste0("rests on fewer than ", few_levels, " levels, where a prior weighs much: ",
                                number(row$conf.low), " to ", number(row$conf.high), " (95%), of the prior's ", prior,
                                "."),
      paste0("is not identified: its posterior, ", number(row$conf.low), " to ", number(row$conf.high),
             if (away) ", is no narrower than its prior, though away from it, " else ", is close to its prior, ",
             prior, " (95%).")
    )
    paste(label, said)
  }, "")
}

#' @export
print.ibrc_identifiability <- function(x, digits = 3, ...) {
  # Some of its columns alone are a data frame like any other.
  said <- c("term", "verdict", "prior.low", "prior.high", "conf.low", "conf.high", "ridge_with", "ridge")
  if (!all(said %in% names(x))) return(NextMethod())
  for (line in identifiability_sentences(x, digits)) {
    writeLines(strwrap(line, prefix = "  ", initial = "* "))
  }
  headline <- attr(x, "verdict")
  if (!is.null(headline) && headline != "Verdict: ok") writeLines(paste0(headline, ". See verdict()."))
  invisible(x)
}
