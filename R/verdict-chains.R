# Do the chains agree, and did they see all of the posterior? Rows of a verdict: settled, whole.

settled_rows <- function(fit) {
  table <- if (has_population(fit)) tidy_population(fit) else tidy_draws(fit)
  rhat <- table$rhat
  least <- pmin(table$ess_bulk, table$ess_tail)
  # If there are too few draws to tell, there are too few. Right chains have an R-hat above 1.01 now and then: one in
  # four with 400 effective draws, hardly any with 1,000.
  scarce <- !is.finite(rhat) | is.na(least) | least < 100
  rough <- is.finite(rhat) & rhat > 1.01
  bad <- scarce | rough & (rhat > 1.05 | least < 400)
  short <- !is.na(least) & least < 400
  verdict <- ifelse(bad, "do not use", ifelse(rough | short, "caution", "ok"))
  advice <- ifelse(rough, paste0("The chains do not agree on {} (R-hat above 1.01): ", go_on_words(fit),
                                 ifelse(bad, ", and do not report these draws.", ".")),
                   paste0("Few independent draws of {} (", draws_text(least), "): ", go_on_words(fit),
                          " before printing its interval", ifelse(scarce, ", and do not report these draws.", ".")))
  where <- if (is_cut(fit)) " under the worst draw of the dynamics"
  verdict_rows("settled", paste0("R-hat ", rhat_text(rhat), where, ", ",
                               draws_text(table$ess_bulk), " effective draws of the bulk, ",
                               draws_text(table$ess_tail), " of the tails"),
             "R-hat below 1.01, 400 effective draws", verdict, advice, table$term, table$group)
}

# Whether every term of every group is settled, without reserve.
are_settled <- function(fit) {
  table <- if (has_population(fit)) tidy_population(fit) else tidy_draws(fit)
  all(is.finite(table$rhat) & table$rhat < 1.01 & pmin(table$ess_bulk, table$ess_tail) >= 400, na.rm = FALSE) %in%
    TRUE && (!has_dynamics(fit) || is_cut(fit) || !any(unmixed_laws(tidy_dynamics(fit, 0.95)))) &&
    (!has_population(fit) || are_mixed_intercepts(fit))
}

# By the limits of intercept_rows().
are_mixed_intercepts <- function(fit) {
  if (!dim(fit$population$intercepts)[3]) return(TRUE)
  table <- as.data.frame(intercept_mixing(fit))
  all(table$rhat <= 1.05 & pmin(table$ess_bulk, table$ess_tail) >= 100) %in% TRUE
}

# How long the chains' 95% interval must be on each side, relative to the one found along the profile, and how much of
# the posterior may lie outside of it.
short_side <- c(caution = 0.8, "do not use" = 0.6)
most_outside <- 0.2

whole_rows <- function(fit, evaluator, streams) {
  rows <- lapply(seq_along(fit$draws), function(g) {
    surface <- new_surface(evaluator, g, with_prior = TRUE)
    opinion <- second_opinion(surface, profile_pool(fit, g), streams[[g]])
    do.call(rbind, lapply(seq_along(fit$prior), function(j) whole_row(fit, g, j, opinion)))
  })
  do.call(rbind, rows)
}

whole_row <- function(fit, g, j, opinion) {
  entry <- fit$prior[[j]]
  asked <- "a 95% interval as long as along the profile"
  row <- function(...) verdict_rows("whole", ..., asked = asked, term = entry$term, group = names(fit$draws)[g])
  if (is.null(opinion) || opinion$ess < 100) {
    return(row(seen = "could not be told", verdict = "caution",
               advice = "The profile is too crooked to check the chains of {} with it: compare with ibrc_mode()."))
  }
  draws <- fit$draws[[g]]
  one <- term_draws(draws, j)
  chains <- to_unconstrained(entry, stats::quantile(one, c(0.025, 0.975), names = FALSE))
  judged <- judge_sides(chains, opinion$draws[, j], opinion$weight, opinion$ess,
                        within_draws(fit, one, posterior::ess_tail, sum))
  number <- function(x) format_number(to_natural(entry, x))
  row(seen = paste0(number(chains[1]), " to ", number(chains[2]), " in the chains, ", number(judged$ends[1]), " to ",
                    number(judged$ends[2]), " along the profile"),
      verdict = judged$verdict,
      advice = paste0("The chains miss part of the posterior of {}: its interval is too short. ",
                      sub("^(.)", "\\U\\1", go_on_words(fit, 3), perl = TRUE),
                      if (judged$verdict == "do not use") ", and do not report these draws", "."))
}

# `ends`: those of the interval of the weighted draws; each side counts from their median.
judge_sides <- function(chains, draws, weight, ess, ess_chains) {
  found <- weighted_quantile(draws, weight, c(0.025, 0.5, 0.975))
  share <- (chains - found[2]) / (found[c(1, 3)] - found[2])
  beyond <- c(sum(weight[draws < chains[1]]), sum(weight[draws > chains[2]]))
  noise <- sqrt(0.025 * 0.975 * (1 / ess + 1 / max(ess_chains, 4, na.rm = TRUE)))
  by_chance <- beyond - 0.025 < 2.5 * noise
  short <- share[!by_chance]
  verdict <- if (any(short < short_side["do not use"]) || sum(beyond) > most_outside && !all(by_chance)) "do not use"
  else if (any(short < short_side["caution"])) "caution" else "ok"
  list(ends = found[c(1, 3)], share = share, beyond = beyond, verdict = verdict)
}
