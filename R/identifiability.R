#' What the data say about each term, and what they do not
#'
#' Holds the posterior against the prior, term by term, and says in words whether the
#' data speak about a term at all, on one side only, or only about its combination
#' with another.
#'
#' A side counts as bounded by the data when the posterior's tail there is thinner than
#' the prior's own: past a point well inside the posterior, draws stay closer to that
#' point than draws from the prior would. `bound_below` and `bound_above` say how much
#' closer, on the scale of `contraction`: 0 where the tail is the prior's, near 1
#' where the data end it. Neutral behaviour, for one, fits every large `beta` alike:
#' the data bound it from below, and how large it may be is up to the prior.
#' `optimism`, its inverse, is then identified, near 0.
#'
#' A term is not said to be identified where the chains do not agree on it or miss part of its posterior (`"unsettled"`,
#' see [verdict()]), where there are too few visits to speak of (`"too few data"`), or where it lies on a ridge: a
#' correlation with another term above 0.9, on the scale a sampler works on or on the natural one, unless the data have
#' taken away 99% of the prior's variance all the same.
#'
#' @param fit A fit ([ibrc()]).
#' @return A data frame of class `ibrc_identifiability` with one row per term and group:
#'   `term`, `group` (with groups); `verdict`, one of `"identified"`, `"bounded from
#'   above"`, `"bounded from below"`, `"not identified"`, `"only jointly with"`
#'   another term, `"unsettled"` and `"too few data"`; `contraction`, the share of the prior's variance that the data
#'   took
#'   away, on the scale a sampler works on ([ibrc_prior()]); `prior.low`,
#'   `prior.high`, `conf.low` and `conf.high`, the central 95% of
#'   prior and posterior; `one_sided`, the only side on which the data bound it
#'   (`"above"`, `"below"`) or `NA`; `bound_below` and `bound_above`; `ridge_with` and
#'   `ridge`, the term with the strongest posterior correlation, on the scale a sampler
#'   works on or the natural one, whichever is the stronger, and that correlation; and `prior_conflict`, whether
#'   the posterior median lies outside the central 95% of the prior. Printing it gives sentences.
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
  structure(identify_terms(fit), verdict = verdict_headline(standing_verdict(fit)))
}

# The table alone, which the verdict rests on.
identify_terms <- function(fit) {
  shrink <- contraction(fit)
  prior <- prior_quantile(fit$prior, c(0.025, 0.975))
  doubted <- rbind(settled_rows(fit), fit$checks[fit$checks$check %in% "whole", ])
  doubted <- doubted[doubted$verdict == "do not use", ]
  pieces <- lapply(names(fit$draws), function(group) {
    few <- fit$likelihood && few_data(fit$group_sizes[[group]], fit$n_visits[[match(group, names(fit$draws))]])
    draws <- fit$draws[[group]]
    ridges <- strongest_ridges(fit$prior, draws)
    rows <- lapply(seq_along(fit$prior), function(j) {
      one <- matrix(draws[, , j], dim(draws)[1])
      range <- stats::quantile(one, c(0.025, 0.975), names = FALSE)
      sides <- side_bounds(fit$prior[[j]], one)
      tight <- sides$tight & fit$likelihood
      term <- fit$prior[[j]]$term
      unsettled <- any(doubted$term == term & doubted$group == group)
      data.frame(term = term, group = group,
                 verdict = if (unsettled) "unsettled" else said_of_term(tight, shrink[j, group], ridges[j, ], few),
                 contraction = shrink[j, group], prior.low = prior[1, j], prior.high = prior[2, j],
                 conf.low = range[1], conf.high = range[2],
                 one_sided = if (sum(tight) == 1) c("below", "above")[tight] else NA_character_,
                 bound_below = sides$bound[1], bound_above = sides$bound[2],
                 ridge_with = ridges$with[j], ridge = ridges$correlation[j],
                 prior_conflict = fit$likelihood &&
                   (stats::median(one) < prior[1, j] || stats::median(one) > prior[2, j]))
    })
    do.call(rbind, rows)
  })
  out <- do.call(rbind, pieces)
  rownames(out) <- NULL
  if (!is_grouped(fit)) out$group <- NULL
  structure(out, class = c("ibrc_identifiability", "data.frame"))
}

# How thin each tail is beside the prior's: c(below, above). Past the posterior's median,
# quartile and decile, where a draw stands in the prior's own tail: uniform between 0 and 1
# where the data say nothing. For a normal posterior a share s of whose standard deviation is
# left, the mean past the median is 1 - 2 atan(s) / pi; solved for 1 - s^2, that is the bound.
side_bounds <- function(entry, draws) {
  ess <- max(4, min(posterior::ess_bulk(draws), length(draws)), na.rm = TRUE)
  past <- c(0.5, 0.25, 0.1)
  results <- lapply(c(TRUE, FALSE), function(below) {
    mean_rank <- vapply(past, function(p) {
      edge <- stats::quantile(draws, if (below) p else 1 - p, names = FALSE)
      beyond <- if (below) draws[draws <= edge] else draws[draws >= edge]
      mean(tail_rank(entry, beyond, edge, below))
    }, 0)
    # Chance alone moves the mean of n uniform numbers by 0.29 / sqrt(n).
    noise <- 2.5 * 0.29 / sqrt(ess * past)
    best <- which.max(mean_rank - noise)
    list(tight = any(mean_rank > 0.5 + pmax(0.1, noise)),
         bound = max(0, 1 - tan(pi / 2 * (1 - mean_rank[best]))^2))
  })
  list(tight = vapply(results, function(side) side$tight, NA),
       bound = vapply(results, function(side) side$bound, 0))
}

# P(beyond x) / P(beyond edge) under the prior.
tail_rank <- function(entry, x, edge, below) {
  known <- prior_distributions[[entry$distribution]]
  log_tail <- function(at) known$log_tail(at, entry$args, below)
  whole <- log_tail(edge)
  outside <- exp(log_tail(if (below) entry$lower else entry$upper) - whole)
  pmin(pmax((exp(log_tail(x) - whole) - outside) / (1 - outside), 0), 1)
}

# For each term the other that it goes with most, on the sampler's scale or the natural one: a ridge may be
# straight on either.
strongest_ridges <- function(prior, draws) {
  terms <- prior_terms(prior)
  flat <- matrix(draws, prod(dim(draws)[1:2]), length(terms), dimnames = list(NULL, terms))
  if (length(terms) == 1) return(data.frame(with = NA_character_, correlation = NA_real_))
  together <- stats::cor(prior_unconstrain(prior, flat))
  plain <- suppressWarnings(stats::cor(flat))
  stronger <- which(abs(plain) > abs(together))
  together[stronger] <- plain[stronger]
  together[is.na(together)] <- 0
  diag(together) <- 0
  with <- apply(abs(together), 1, which.max)
  data.frame(with = terms[with], correlation = together[cbind(seq_along(terms), with)])
}

# A ridge counts where a term is loose by itself and would be held by its partner: most of its
# variance goes with that partner's, and what is left is little beside the prior's. It also counts where the two go
# together so closely that neither can be told by itself, unless the term is known very well all the same.
said_of_term <- function(tight, contraction, ridge, few = FALSE) {
  explained <- ridge$correlation^2
  left <- (1 - contraction) * (1 - explained)
  close <- isTRUE(abs(ridge$correlation) > 0.9 && contraction < 0.99)
  if (isTRUE(!all(tight) && explained > 0.7 && left < 0.25) || all(tight) && close) {
    return(paste("only jointly with", ridge$with))
  }
  if (few) return("too few data")
  if (all(tight)) return("identified")
  if (tight[1]) return("bounded from below")
  if (tight[2]) return("bounded from above")
  "not identified"
}

# Rows of a verdict.
identified_rows <- function(fit) {
  table <- identify_terms(fit)
  kind <- sub("^(only jointly|bounded).*", "\\1", table$verdict)
  ok <- kind == "identified" & !table$prior_conflict
  # As wide as the prior need not be where the prior is.
  mute <- kind == "not identified" & !table$prior_conflict
  advice <- c(
    "not identified" = "The data say little about {}: report it as not identified.",
    bounded = "The data bound {} on one side only: report a bound, not an estimate. See identifiability().",
    "only jointly" = "The data speak about {} only jointly with another term: see identifiability(), and report both.",
    unsettled = "Whether the data speak about {} cannot be told until the chains agree on all of it: run longer first.",
    "too few data" = paste("There are too few visits to say anything about {}: what stands there is mostly the prior.",
                           "Pool groups, and do not report it as an estimate.")
  )
  conflict <- paste("The data pull {} out of the central 95% of its prior: see whether setting and models fit the",
                    "behaviour (pp_check()), or state a wider prior.")
  share <- paste0("contraction ", formatC(table$contraction, 2, format = "f"))
  ridge <- ifelse(!is.na(table$ridge) & abs(table$ridge) > 0.7,
                  paste0(", correlation ", formatC(table$ridge, 2, format = "f"), " with ", table$ridge_with), "")
  verdict_rows("identified", paste0(table$verdict, ", ", share, ridge,
                                  ifelse(table$prior_conflict, ", outside the central 95% of the prior", "")),
             "data that bound the term on both sides",
             ifelse(ok, "ok", ifelse(kind %in% c("unsettled", "too few data"), "do not use", "caution")),
             ifelse(table$prior_conflict & !mute &
                      kind %in% c("identified", "bounded", "only jointly", "not identified"),
                    conflict, advice[kind]), table$term,
             if (is.null(table$group)) names(fit$draws) else table$group)
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
                                    " (97.5%), but how large it may be is up to the prior (", prior, ")."),
      "bounded from above" = paste0("is bounded from above only: it is below ", number(row$conf.high),
                                    " (97.5%), but how small it may be is up to the prior (", prior, ")."),
      "only jointly" = paste0("is identified only jointly with ", row$ridge_with, " (correlation ",
                              number(row$ridge), "): by itself it may be ", number(row$conf.low), " to ",
                              number(row$conf.high), " (95%)."),
      unsettled = "is unsettled: the chains do not agree on it, or miss part of its posterior. See verdict().",
      "too few data" = paste0("rests on too few visits to be called identified: ", number(row$conf.low), " to ",
                              number(row$conf.high), " (95%), of the prior's ", prior, "."),
      paste0("is not identified: its posterior, ", number(row$conf.low), " to ", number(row$conf.high),
             if (away) ", is no narrower than its prior, though away from it, " else ", is close to its prior, ",
             prior, " (95%).")
    )
    paste(label, said)
  }, "")
}

#' @export
print.ibrc_identifiability <- function(x, digits = 3, ...) {
  # Some of its columns are a data frame like any other.
  said <- c("term", "verdict", "prior.low", "prior.high", "conf.low", "conf.high", "ridge_with", "ridge")
  if (!all(said %in% names(x))) return(NextMethod())
  for (line in identifiability_sentences(x, digits)) {
    writeLines(strwrap(line, prefix = "  ", initial = "* "))
  }
  headline <- attr(x, "verdict")
  if (!is.null(headline) && headline != "Verdict: ok") writeLines(paste0(headline, ". See verdict()."))
  invisible(x)
}
