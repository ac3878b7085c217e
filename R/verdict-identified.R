# What the data say about each term: the rows of a verdict, and the table behind identifiability().

unsettled_advice <- paste("Whether the data determine {} cannot be told until the chains agree on all of it: run",
                          "longer first.")

# The table alone, on which the verdict rests.
identify_terms <- function(fit) {
  doubted <- rbind(settled_rows(fit), fit$checks[fit$checks$check %in% "whole", ])
  doubted <- doubted[doubted$verdict == "do not use", ]
  # For a simplex the reported probabilities are judged: fractions depend on the order of the actions.
  fit <- as_reported(fit)
  shrink <- contraction(fit)
  prior <- prior_quantile(fit$prior, c(0.025, 0.975))
  pieces <- lapply(names(fit$draws), function(group) {
    few <- fit$likelihood && few_data(fit$group_sizes[[group]], fit$n_scored[[match(group, names(fit$draws))]])
    draws <- fit$draws[[group]]
    ridges <- strongest_ridges(fit$prior, draws)
    rows <- lapply(seq_along(fit$prior), function(j) {
      one <- term_draws(draws, j)
      range <- stats::quantile(one, c(0.025, 0.975), names = FALSE)
      sides <- side_bounds(fit$prior[[j]], one)
      tight <- sides$tight & fit$likelihood
      term <- fit$prior[[j]]$term
      # A row without a term is about all terms.
      unsettled <- any((is.na(doubted$term) | same_quantity(doubted$term, term)) &
                         (is.na(doubted$group) | doubted$group == group))
      data.frame(term = term, group = group,
                 verdict = if (unsettled) "unsettled" else
                   said_of_term(tight, shrink[j, group], ridges[j, ], few || fit$likelihood && term %in% fit$scarce,
                                term %in% fit$few_levels),
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
  structure(without_lone_group(out, names(fit$draws)), class = c("ibrc_identifiability", "data.frame"))
}

# How thin each tail is relative to the prior's: c(below, above). Past the posterior's median, quartile and decile, the
# position of a draw in the prior's own tail is uniform between 0 and 1 where the data say nothing. For a normal
# posterior with a share s of the prior's standard deviation, the mean past the median is 1 - 2 atan(s) / pi; solved for
# 1 - s^2, that is the bound.
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

# For each term the other term with the strongest correlation, on the sampler's scale or the natural one: a ridge may be
# straight on either.
strongest_ridges <- function(prior, draws) {
  terms <- prior_terms(prior)
  if (length(terms) == 1) return(data.frame(with = NA_character_, correlation = NA_real_))
  flat <- flat_draws(draws)
  # A term that does not move has no correlation.
  together <- suppressWarnings(stats::cor(prior_unconstrain(prior, flat)))
  plain <- suppressWarnings(stats::cor(flat))
  stronger <- which(abs(plain) > abs(together))
  together[stronger] <- plain[stronger]
  together[is.na(together)] <- 0
  # Probabilities that sum to 1 are correlated for that reason alone.
  together[outer(terms, terms, same_quantity)] <- 0
  with <- apply(abs(together), 1, which.max)
  data.frame(with = terms[with], correlation = together[cbind(seq_along(terms), with)])
}

# A ridge counts where a term is loose by itself and would be held by its partner: most of its variance goes with that
# of the partner, and what is left is little compared with the prior's. It also counts where the correlation is so
# strong that neither can be told by itself, unless the term is nevertheless known very well.
# `few_levels`: of a spread.
said_of_term <- function(tight, contraction, ridge, few = FALSE, few_levels = FALSE) {
  if (few) return("too few data")
  explained <- ridge$correlation^2
  left <- (1 - contraction) * (1 - explained)
  close <- isTRUE(abs(ridge$correlation) > 0.9 && contraction < 0.99)
  if (isTRUE(!all(tight) && explained > 0.7 && left < 0.25) || all(tight) && close) {
    return(paste("only jointly with", ridge$with))
  }
  if (few_levels && any(tight)) return("too few levels")
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
  share <- paste0("contraction ", contraction_text(table$contraction))
  ridge <- ifelse(!is.na(table$ridge) & abs(table$ridge) > 0.7,
                  paste0(", correlation ", formatC(table$ridge, 2, format = "f"), " with ", table$ridge_with), "")
  verdict_rows("identified", paste0(table$verdict, ", ", share, ridge,
                                  ifelse(table$prior_conflict, ", outside the central 95% of the prior", "")),
             "data that bound the term on both sides",
             ifelse(ok, "ok", ifelse(kind %in% c("unsettled", "too few data"), "do not use", "caution")),
             identified_advice(kind, table$prior_conflict), table$term,
             if (is.null(table$group)) names(fit$draws) else table$group)
}

# What to do about a term of each kind. Where the data also pull it out of its prior, both are said: a bound stays a
# bound. A posterior as wide as the prior need not be where the prior is, so nothing more is said of a term that is not
# identified.
identified_advice <- function(kind, conflict) {
  advice <- c(
    "not identified" = "The data say little about {}: report it as not identified.",
    bounded = "The data bound {} on one side only: report a bound, not an estimate. See identifiability().",
    "only jointly" = "The data determine {} only jointly with another term: see identifiability(), and report both.",
    unsettled = unsettled_advice,
    "too few data" = paste("There are too few visits to say anything about {}: the numbers come mostly from the prior.",
                           "Pool groups, and do not report it as an estimate."),
    "too few levels" = "{} rests on few levels, where a prior weighs much: report it with the prior."
  )
  pulled <- paste("The data pull {} out of the central 95% of its prior: check whether setting and models fit the",
                  "behaviour (pp_check()), or state a wider prior.")
  both <- conflict & kind %in% c("bounded", "only jointly", "too few levels")
  alone <- conflict & kind %in% c("identified", "not identified")
  unname(ifelse(alone, pulled, ifelse(both, paste(advice[kind], pulled), advice[kind])))
}
