# What a verdict asks of a population (fit-effects.R) besides what it asks of any fit: do the intercepts mix, do the
# chains stand on one hill, what does interpolation leave out, and do the data say how much people differ?

# Rows of `settled` about intercepts: the worst of each factor and term.
intercept_rows <- function(fit) {
  if (!dim(fit$population$intercepts)[3]) return(NULL)
  table <- cbind(intercept_keys(fit$effects), intercept_mixing(fit))
  key <- paste(table$term, table$factor, sep = "|")
  rows <- lapply(unique(key), function(one) {
    own <- table[key == one, ]
    rhat <- max(own$rhat)
    least <- min(own$ess_bulk, own$ess_tail)
    bad <- !is.finite(rhat) || rhat > 1.1 || !is.finite(least) || least < 50
    rough <- bad || rhat > 1.05 || least < 100
    verdict_rows("settled", paste0("intercepts of ", own$factor[1], ": worst R-hat ", rhat_text(rhat),
                                   ", ", draws_text(least), " effective draws"),
                 "R-hat below 1.05 and 100 effective draws of each",
                 if (bad) "do not use" else if (rough) "caution" else "ok",
                 paste0("The chains do not agree on the intercepts of ", own$factor[1], " for {}: ", go_on_words(fit),
                        "."),
                 own$term[1], NA_character_)
  })
  do.call(rbind, rows)
}

# Chains compared with each other by their log density: one that lies apart is on another hill, or stuck.
hill_rows <- function(fit) {
  density <- fit$population$log_posterior
  n <- ncol(density)
  if (n < 2) return(NULL)
  mean <- colMeans(density)
  # Under other draws of the dynamics there is another hill.
  together <- if (is_cut(fit)) split(seq_len(n), dynamics_of_chain(fit, seq_len(n))) else list(seq_len(n))
  apart <- unlist(lapply(together, function(mine) chains_apart(density[, mine, drop = FALSE])))
  verdict_rows("whole", paste0("mean log posterior of the chains from ", formatC(min(mean), 1, format = "f"),
                               " to ", formatC(max(mean), 1, format = "f")), "chains that stand on one hill",
               if (any(apart %in% TRUE)) "do not use" else "ok",
               paste0("A chain stands apart from the others by its log posterior: ", go_on_words(fit, 3),
                      ", and do not report these draws."))
}

# Whether each chain stands apart from the others.
chains_apart <- function(density) {
  if (ncol(density) < 2) return(FALSE)
  gap <- chain_gaps(density)
  abs(gap$gap) > least_gap[["units"]] & abs(gap$gap) > least_gap[["errors"]] * gap$error
}

# What was interpolated, and how large the error was.
interpolation_rows <- function(fit) {
  if (is.null(fit$run$spacing)) return(NULL)
  errors <- fit$population$errors
  if (!length(errors)) {
    return(verdict_rows("assumed", "cells were interpolated, and not checked in so short a run",
                        "log-likelihoods off by less than 0.3", "caution",
                        paste("Make at least 100 steps after warm-up, or fit with control =",
                              "ibrc_control(cells = \"exact\").")))
  }
  # An error that is the same wherever a chain stands changes nothing.
  off <- if (any(errors == Inf)) Inf else max(abs(errors - stats::median(errors)), abs(stats::median(errors)) / 10)
  verdict <- if (off > most_error[["do not use"]]) "do not use" else
    if (off > most_error[["caution"]]) "caution" else "ok"
  verdict_rows("assumed", paste0("cells were interpolated: log-likelihoods off by up to ", format_number(off), " in ",
                                 plural(length(errors), "check")), "off by less than 0.3", verdict,
               "Interpolated log-likelihoods are too far off: fit with control = ibrc_control(cells = \"exact\").")
}

# A spread of fewer levels leans on its prior.
few_levels <- 5

levels_of_spreads <- function(design) {
  levels <- vapply(design$factors, function(one) length(one$levels), 0L)[design$spreads$factor]
  stats::setNames(levels, design$spreads$label)
}

# A fit whose coefficients and spreads are judged as the terms of others are (identify_terms()). What the chains say
# against them comes along, and what they rest on.
as_judged_fit <- function(fit) {
  if (!has_population(fit)) return(fit)
  out <- as_plain_fit(fit)
  out$checks <- rbind(out$checks, hill_rows(fit), spread_doubts(fit))
  out$scarce <- scarce_coefficients(fit)
  levels <- levels_of_spreads(fit$effects)
  out$few_levels <- names(levels)[levels < few_levels]
  out
}

# Intercepts that do not mix say nothing of how much they differ.
spread_doubts <- function(fit) {
  rows <- intercept_rows(fit)
  if (is.null(rows)) return(NULL)
  of <- unique(intercept_keys(fit$effects)[c("term", "factor")])
  rows$term <- spread_term(of$term, of$factor)
  rows$check <- "whole"
  rows
}

# What identifiability() says of coefficients and spreads, and how many levels a spread rests on.
population_identified <- function(fit) {
  judged <- as_judged_fit(fit)
  rows <- identified_rows(judged)
  rows$group <- NA_character_
  if (!few_in_cells(fit, TRUE)) {
    scarce <- rows$term %in% judged$scarce & startsWith(rows$seen, "too few data")
    rows$advice[scarce] <- paste("{} rests on people with too few visits: join levels, or leave the column out of the",
                                 "formula, and do not report it as an estimate.")
  }
  levels <- levels_of_spreads(fit$effects)[rows$term]
  rows$seen <- paste0(rows$seen, ifelse(is.na(levels), "", paste0(", ", plural_each(levels, "level"))))
  rows
}

plural_each <- function(n, what) vapply(n, function(one) if (is.na(one)) "" else plural(one, what), "")

# While the chains disagree, draws do not tell what the data say about a term (identifiability() says so, too), nor that
# all of them stand on one hill.
doubt_population <- function(rows) {
  rough <- rows$check == "settled" & rows$verdict == "do not use"
  of_terms <- rough & !startsWith(rows$seen, "intercepts of")
  unsettled <- rows$check == "identified" & (rows$term %in% rows$term[of_terms] | anyNA(rows$term[of_terms]))
  one_hill <- rows$check == "whole" & rows$verdict == "ok" & any(rough)
  at <- which(unsettled | one_hill)
  rows$seen[at] <- "cannot be told while the chains disagree"
  rows$verdict[at] <- ifelse(unsettled[at], "do not use", "caution")
  rows$advice[at] <- ifelse(
    unsettled[at], unsettled_advice,
    "Whether the chains stand on one hill cannot be told until they agree."
  )
  rows
}

# ---- what the numbers rest on ---------------------------------------------------------------------------------------

# Draws and cells that are checked: of many cells some, evenly spaced, which stand for all.
moved_draws <- 80L
moved_cells <- 40L

# How much the means of coefficients and spreads move when the log-likelihood of draws changes (as shift_rows() does by
# group): one row, for the term that moves most.
population_shift <- function(fit, what, asked, advice, evaluator, other, judge) {
  cells <- unique(as.integer(round(seq(1, length(fit$draws), length.out = min(length(fit$draws), moved_cells)))))
  chosen <- spaced_draws(fit, moved_draws)
  change <- numeric(nrow(chosen))
  if (has_dynamics(fit)) {
    evaluator <- with_laws(evaluator, laws_at(fit, chosen))
    other <- with_laws(other, laws_at(fit, chosen))
  }
  for (g in cells) {
    theta <- prior_unconstrain(fit$prior, flat_draws(fit$draws[[g]])[chosen$.draw, , drop = FALSE])
    change <- change + log_likelihood_at(other, theta, g) - log_likelihood_at(evaluator, theta, g)
  }
  change <- change * length(fit$draws) / length(cells)
  # Draws of the dynamics that are held stay as likely as they are.
  if (is_cut(fit)) change <- change - stats::ave(change, dynamics_of_chain(fit, chosen$.chain))
  at <- chosen$.iteration * fit$population$every + (chosen$.chain - 1L) * dim(fit$population$draws)[1]
  theta <- population_theta(fit)[at, , drop = FALSE]
  known <- is.finite(change)
  if (sum(known) <= 2 * ncol(theta)) stop("the draws are impossible there")
  moved <- moved_means(theta[known, , drop = FALSE], change[known])
  spread <- apply(theta, 2, stats::sd)
  size <- abs(moved) / ifelse(spread > 0, spread, 1)
  worst <- which.max(size)
  verdict_rows("assumed", paste0(what, ": ", colnames(theta)[worst], " moves by ", deviations_words(size[worst])),
               asked, judge(size[worst]), advice)
}

population_assumed <- function(fit, evaluator, cores, attempt) {
  rbind(
    attempt("assumed", "twice the resolution", population_resolution(fit, evaluator, cores)),
    attempt("assumed", "another weighting of the models", population_weighting(fit, evaluator))
  )
}

population_resolution <- function(fit, evaluator, cores) {
  asked <- "less than 0.25 standard deviations"
  if (all(vapply(all_problems(fit), function(problem) is_vertices(problem$space), NA))) {
    return(verdict_rows("assumed", "resolution: the state is seen, there is no lattice", asked, "ok"))
  }
  finer_to <- 2 * lead_problem(fit)$resolution
  finer <- changed_inverse(fit, list(resolution = finer_to), cores, max_bytes = finer_bytes)
  population_shift(fit, paste0("at twice the resolution (", finer_to, ")"), asked,
                   paste0("The answer depends on how fine the lattice of beliefs is: fit with resolution = ",
                          finer_to, "."),
                   evaluator, inverse_evaluator(finer, cores = cores),
                   function(size) if (size >= 1) "do not use" else if (size >= 0.25) "caution" else "ok")
}

population_weighting <- function(fit, evaluator) {
  asked <- "less than 2 standard deviations"
  if (all(vapply(all_problems(fit), function(problem) n_models(problem$models) == 1, NA))) {
    return(verdict_rows("assumed", "models: only one, so there is nothing to lean to", asked, "ok"))
  }
  population_shift(fit, "with twice the weight on the middle of the models", asked,
                   paste("The answer depends on what the decision maker is assumed to believe about the dynamics:",
                         "report the models with it, and what others would say."),
                   evaluator, reweighted_evaluator(evaluator, all_problems(fit)),
                   function(size) if (size >= 2) "caution" else "ok")
}

# Each draw takes one solve per cell.
population_check_draws <- function(fit) max(20, min(200, 8000 %/% length(fit$draws)))
