# Behaviour in the form that soft policy matching reads: beliefs at which actions were taken and how often each was, and
# from them how likely any plan makes it.

# A list of
#   beliefs [place, state], counts [place, action]   where actions were taken, and how often each (or with what weight)
#   tree           the histories, where states are hidden
#   demonstration  what demonstrated() gives, where the state is seen
#   sampled        whether counts are visits: a law that was given has no sampling error
#   notes, details for the answer
matching_evidence <- function(visits, setting) {
  if (setting$fully_observed) seen_evidence(visits, setting) else hidden_evidence(visits, setting)
}

seen_evidence <- function(visits, setting) {
  shown <- demonstrated(visits, setting)
  counts <- if (is.null(shown$counts)) shown$occupancy else shown$counts
  if (is.null(counts)) {
    abort_input("visits", "is a policy that does not say what is done in every state, so nobody can tell how often ",
                "each state is met. Give all rows, or trajectories.")
  }
  list(seen = TRUE, beliefs = NULL, counts = unname(counts) + 0, demonstration = shown,
       sampled = shown$source == "visits",
       notes = c(demonstration_notes(shown, setting), if (shown$source != "visits") {
         "What was given is a law, not visits: there are no standard errors."
       }),
       details = demonstration_details(shown))
}

hidden_evidence <- function(visits, setting) {
  if (!inherits(visits, "ibrc_trajectories")) {
    abort_input("visits", "must be trajectories where states are hidden, not ", describe(visits), ".",
                topic = "trajectories")
  }
  coded <- code_visits(visits, setting)
  tree <- build_histories(coded, setting)
  # Refuses what the dynamics rule out.
  visit_beliefs(coded, setting)
  if (sum(tree$count) == 0) abort("data", "`visits` have no action that counts.", argument = "visits")
  list(seen = FALSE, counts = t(tree$count), tree = tree, sampled = TRUE, notes = character(),
       details = list(n_trajectories = max(coded$trajectory) + 1L, n_visits = as.integer(sum(tree$count)),
                      left_out = 0L, source = "visits"))
}

# The beliefs of each place, by the setting's own dynamics.
with_beliefs <- function(evidence, setting) {
  if (evidence$seen) {
    refuse_too_large(8 * as.numeric(length(setting$states))^2, "setting", "A belief for each of ",
                     plural(length(setting$states), "state"), advice = "join states")
    evidence$beliefs <- diag(length(setting$states))
  } else {
    evidence$beliefs <- history_beliefs(evidence$tree, bare_problem(setting))
  }
  used <- rowSums(evidence$counts) > 0
  evidence$beliefs <- evidence$beliefs[used, , drop = FALSE]
  evidence$taken <- evidence$counts[used, , drop = FALSE]
  evidence
}

# The log-likelihood of a plan: -Inf where it rules out what was done, never NaN.
evidence_log_lik <- function(evidence, plan, setting) {
  if (evidence$seen) return(counted_log_lik(log(plan_policy(plan, setting, "planner")), evidence$counts))
  total <- read_histories(plan, evidence$tree, beliefs = FALSE)$total
  if (is.nan(total)) -Inf else total
}

# Sums over what was done: 0 times the logarithm of 0 is 0.
counted_log_lik <- function(log_policy, counts) {
  done <- counts > 0
  total <- sum(counts[done] * log_policy[done])
  if (is.nan(total)) -Inf else total
}

# Rows of logits as logarithms of probabilities.
log_softmax <- function(logits) {
  best <- logits[cbind(seq_len(nrow(logits)), max.col(logits, "first"))]
  logits - (best + log(rowSums(exp(logits - best))))
}
