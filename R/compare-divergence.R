# How far imitating behaviour is from the behaviour that was demonstrated, per visit.
#
# What a demonstrator would have done elsewhere is not seen, only which action was taken. So each visit is scored by the
# imitating law of its action:
#   log_loss    minus the log probability of the action taken
#   brier       half the squared distance of the law from the action taken, summed over actions: 0 to 1, on the scale of
#               brier_score()
#   agreement   the probability of the action taken: how often a draw from the law would be the same. A law that shares
#               ties out counts each of them by its share. Not a proper score: it is higher for a law that is too sure.
# Where the state is seen, actions can be counted by state, and there is a true divergence:
#   divergence  mean over visits of KL(action frequencies of the state || imitating law of the state)
# Frequencies of n visits scatter. The scatter alone makes the plug-in larger than 0, by (k - 1) / (2 n) for each state
# in which k actions were seen, and this is subtracted analytically. Parameters that were fitted to the same visits have
# followed that scatter: each of them reduces the correction by 1 / (2 N), where N is the number of all visits.
#
# Intervals are bootstrap ones over patients. Every model is scored on the same visits and the same replicates, so that
# differences are paired.

loss_measures <- c("log_loss", "brier", "agreement")
divergence_measures <- c(loss_measures, "divergence")

# `laws`: one matrix [visit, action] per model, with rows in the order of the rows of `visits`, NA where there is no
# law. Returns what bootstrap_scores() reads: sums for each patient, and how often each model ruled out what was done.
collect_scores <- function(laws, coded, setting) {
  laws <- lapply(laws, function(law) unname(as.matrix(law))[coded$row, , drop = FALSE])
  has_law <- Reduce(`&`, lapply(laws, function(law) rowSums(is.na(law)) == 0))
  counted <- which(coded$scored & has_law)
  patient <- match(coded$trajectory[counted], unique(coded$trajectory[counted]))
  action <- coded$action[counted] + 1L
  laws <- lapply(laws, function(law) law[counted, , drop = FALSE])
  per_visit <- lapply(laws, visit_losses, action)
  state <- if (setting$fully_observed) visit_states(coded, setting)[counted]
  list(
    n_patients = max(0L, patient), n_visits = length(counted), no_law = sum(coded$scored & !has_law),
    visits = tabulate(patient, max(0L, patient)),
    losses = lapply(per_visit, function(each) rowsum(each$losses, patient, reorder = FALSE)),
    ruled_out = lapply(per_visit, function(each) as.vector(rowsum(each$ruled_out, patient, reorder = FALSE))),
    by_state = if (!is.null(state)) collect_states(laws, state, action, patient, setting)
  )
}

# The losses of each visit. Where the law rules the action out, the log loss is 0 here and `ruled_out` is 1, so that
# sums stay finite until the end.
visit_losses <- function(law, action) {
  chance <- law[cbind(seq_along(action), action)]
  never <- chance <= 0
  losses <- cbind(log_loss = ifelse(never, 0, -log(ifelse(never, 1, chance))),
                  brier = (rowSums(law^2) - 2 * chance + 1) / 2,
                  agreement = chance)
  list(losses = losses, ruled_out = as.numeric(never))
}

# For visits with a known state: per patient the counts of each action seen in each state, and the sums of each model's
# law there. Cells (state and action) that were never seen have only a law, which KL does not need.
collect_states <- function(laws, state, action, patient, setting) {
  known <- which(!is.na(state))
  n_actions <- length(setting$actions)
  cell <- (state[known] - 1L) * n_actions + action[known]
  cells <- sort(unique(cell))
  n_patients <- max(0L, patient)
  count <- matrix(0, n_patients, length(cells))
  who <- patient[known]
  at <- (match(cell, cells) - 1) * n_patients + who
  count[] <- tabulate(at, length(count))
  cell_state <- (cells - 1L) %/% n_actions + 1L
  cell_action <- (cells - 1L) %% n_actions + 1L
  states <- unique(cell_state)
  law_sums <- lapply(laws, function(law) {
    out <- matrix(0, n_patients, length(cells))
    for (j in seq_along(cells)) {
      here <- which(state[known] == cell_state[j])
      sums <- rowsum(law[known[here], cell_action[j]], who[here])
      out[as.integer(rownames(sums)), j] <- sums
    }
    out
  })
  list(count = count, law = law_sums, state = match(cell_state, states), n_states = length(states),
       n_visits = length(known), left_out = length(state) - length(known))
}

# Mean KL per visit from sums over patients: `count` and `law` [replicate, cell]; `state` of each cell. In each state,
# with frequencies f and the mean law p, n sum f log(f / p) = sum count * log(count / law), as law = n p.
plug_in_divergence <- function(count, law, total) {
  each <- ifelse(count > 0, count * log(count / law), 0)
  pmax(rowSums(each) / total, 0)
}

# What scatter alone adds: (actions seen - 1) / 2 for each state, less one half for each parameter fitted to these
# visits.
scatter_bias <- function(count, state, total, n_fitted) {
  seen <- t(rowsum(t((count > 0) + 0), state, reorder = FALSE))
  free <- rowSums(pmax(seen - 1, 0))
  pmax(free - n_fitted, 0) / (2 * total)
}

# Scores of each model with intervals, and replicates for paired differences. `n_fitted`: how many parameters of each
# model were fitted to these visits.
bootstrap_scores <- function(scores, n_fitted, replicates, conf.level, seed) {
  whole <- scores_of(scores, matrix(1, 1, scores$n_patients), n_fitted)
  enough <- scores$n_patients > 1
  again <- if (enough) {
    drawn <- drawn_from(seed, patient_replicates(scores$n_patients, replicates, function(weights) {
      scores_of(scores, weights, n_fitted)
    }))
    attr(drawn, "seed") <- NULL
    drawn
  }
  list(whole = whole, again = again, conf.level = conf.level)
}

# Replicates in pieces, so that weights of many patients never take much memory: draws are the same however they
# are cut.
patient_replicates <- function(n_patients, replicates, work) {
  at_once <- max(1, floor(2e6 / n_patients))
  first <- seq(1, replicates, by = at_once)
  pieces <- lapply(first, function(i) {
    n <- min(at_once, replicates - i + 1)
    work(t(stats::rmultinom(n, n_patients, rep(1, n_patients))))
  })
  do.call(rbind_replicates, pieces)
}

# Arrays [replicate, measure, model], one after the other.
rbind_replicates <- function(...) {
  pieces <- list(...)
  size <- dim(pieces[[1]])
  n <- vapply(pieces, function(piece) dim(piece)[1], 0L)
  out <- array(0, c(sum(n), size[2:3]), c(list(NULL), dimnames(pieces[[1]])[2:3]))
  last <- cumsum(n)
  for (i in seq_along(pieces)) out[seq(last[i] - n[i] + 1, last[i]), , ] <- pieces[[i]]
  out
}

# Scores [replicate, measure, model], where `weights` [replicate, patient] says how much each patient counts.
scores_of <- function(scores, weights, n_fitted) {
  models <- names(scores$losses)
  out <- array(NA_real_, c(nrow(weights), length(divergence_measures), length(models)),
               list(NULL, divergence_measures, models))
  total <- as.vector(weights %*% scores$visits)
  states <- scores$by_state
  for (i in seq_along(models)) {
    out[, loss_measures, i] <- weights %*% scores$losses[[i]] / total
    out[as.vector(weights %*% scores$ruled_out[[i]]) > 0, "log_loss", i] <- Inf
    if (is.null(states) || states$n_visits == 0) next
    count <- weights %*% states$count
    known <- rowSums(count)
    plain <- plug_in_divergence(count, weights %*% states$law[[i]], known)
    out[, "divergence", i] <- plain - scatter_bias(count, states$state, known, n_fitted[[i]])
  }
  out
}

# One row per measure of one model. A corrected divergence below 0 is scatter: it is given as 0.
score_table <- function(boot, model) {
  whole <- boot$whole[1, , model]
  ends <- vapply(divergence_measures, function(measure) {
    score_interval(boot$again[, measure, model], whole[[measure]], boot$conf.level, centred = measure == "divergence")
  }, c(0, 0))
  out <- data.frame(measure = divergence_measures, estimate = unname(whole), conf.low = ends[1, ],
                    conf.high = ends[2, ], row.names = NULL)
  last <- out$measure == "divergence"
  out[last, -1] <- pmax(out[last, -1], 0)
  out
}

# Percentiles of the replicates. The divergence of a replicate scatters once more, around frequencies that scatter
# already: its replicates are moved so that their mean is the estimate (`centred`).
score_interval <- function(again, whole, conf.level, centred = FALSE) {
  if (is.null(again) || is.na(whole)) return(c(NA_real_, NA_real_))
  again <- again[!is.na(again)]
  if (!length(again)) return(c(NA_real_, NA_real_))
  if (centred && all(is.finite(again)) && is.finite(whole)) again <- again - mean(again) + whole
  tail <- (1 - conf.level) / 2
  # Values that may be infinite are not interpolated.
  stats::quantile(again, c(tail, 1 - tail), names = FALSE, type = 1)
}

# How much more one model loses than another on the same visits, with an interval from the same replicates.
score_difference <- function(boot, model, reference, measure) {
  if (model == reference) return(c(0, NA_real_, NA_real_))
  gap <- function(x) {
    out <- x[, measure, model] - x[, measure, reference]
    out[is.nan(out)] <- NA
    out[which(abs(out) <= rounding_of_scores)] <- 0
    out
  }
  whole <- gap(boot$whole)
  c(whole, score_interval(if (!is.null(boot$again)) gap(boot$again), whole, boot$conf.level))
}

# Models that do the same differ by no more than this.
rounding_of_scores <- 1e-12

few_patients <- 20

# What a reader of scores has to know, in sentences.
score_notes <- function(scores) {
  states <- scores$by_state
  c(
    if (scores$n_patients == 1) {
      "There is one patient: nothing says how far patients differ, so there are no intervals."
    },
    if (scores$n_patients > 1 && scores$n_patients < few_patients) {
      paste0("Intervals are over ", plural(scores$n_patients, "patient"), ": too few to rely on their ends.")
    },
    if (scores$no_law > 0) {
      paste0("At ", plural(scores$no_law, "visit"), " some model has no belief to act on. They are left out for all.")
    },
    if (is.null(states)) "The state is not seen: actions cannot be counted by state, and there is no divergence.",
    if (!is.null(states) && states$left_out > 0) {
      paste0("At ", plural(states$left_out, "visit"), " the state is not known. The divergence is without them.")
    }
  )
}

measure_titles <- c(log_loss = "log loss per visit", brier = "Brier score", agreement = "agreement",
                    divergence = "divergence, nats per visit")

# Visits in the form that every score reads; visits without any action that counts are refused.
code_scored <- function(visits, setting, argument = "visits") {
  coded <- code_visits(visits, setting, argument)
  if (!any(coded$scored)) {
    abort("data", "`", argument, "` has no action that counts: all of them are missing or not scored.",
          argument = argument)
  }
  coded
}

# ---- what projections, comparisons and studies share -----------------------------------------------------------------

# One sentence on a console, as an item of a list.
bullet <- function(text) strwrap(text, width = 0.95 * getOption("width"), initial = "  * ", prefix = "    ")

# What went wrong, for a table. Recipes give arguments that the user never saw, so no argument is named as the user's.
failure_words <- function(e) {
  text <- plain_words(e)
  text <- gsub("`(visits|setting|newdata)`", "the \\1", text)
  text <- gsub("(the )?`([A-Za-z_.]+)`( =)?", "its \\2", text)
  text <- gsub("\\s+", " ", text)
  paste0("not run: ", text)
}

# The setting's utility is counted in this unit, so that results do not depend on the unit of the user.
utility_unit <- function(setting) {
  range <- diff(range(if (is.null(setting$belief_utility)) setting$utility else sure_utility(setting)))
  if (range > 0) range else 1
}
