# Decision rules that are matched to behaviour: shares of actions in each state; or a regression of logits on beliefs;
# or the distance to each action's centre.

# Shares of the actions in each state. A state in which nobody was seen has none, and the plan is even there.
rule_by_shares <- function(evidence, setting) {
  met <- rowSums(evidence$counts)
  share <- evidence$counts / met
  estimates <- utility_estimates(share, setting)
  estimates$term <- rule_terms("policy", estimates)
  estimates$estimate[is.nan(estimates$estimate)] <- NA
  estimates$std.error <- if (evidence$sampled) sqrt(as.vector(share * (1 - share) / met)) else NA_real_
  # Where all did the same, the spread of the data is 0, but that does not mean certainty.
  same <- estimates$estimate %in% c(0, 1)
  estimates$std.error[is.na(estimates$estimate) | same] <- NA
  rule <- share
  rule[met == 0, ] <- 1 / ncol(rule)
  list(plan = plan_rule(setting, rule), estimates = estimates, converged = TRUE,
       log_lik = counted_log_lik(log(rule), evidence$counts), details = list(policy = rule),
       notes = if (evidence$sampled && any(same)) {
         paste0("Where an action was always or never taken, its share has no standard error: after n visits without ",
                "it, its share may still be up to about 3 / n (95%).")
       })
}

rule_terms <- function(what, place) paste0(what, "[", place$state, ",", place$action, "]", recycle0 = TRUE)

# A multinomial regression on beliefs: the logit of an action against the first one is linear in the belief, and its
# coefficients are its values at beliefs that are sure of a state.
rule_by_logits <- function(evidence, setting, resolution, prior_sd = NULL) {
  evidence <- with_beliefs(evidence, setting)
  n_actions <- length(setting$actions)
  n_terms <- length(setting$states) * (n_actions - 1)
  refuse_too_large(16 * as.numeric(length(evidence$taken)) * n_terms, "visits", "A regression of ",
                   plural(nrow(evidence$taken), "history", "histories"), " on ", plural(n_terms, "term"),
                   advice = "take fewer visits")
  others <- seq_len(n_actions)[-1]
  features <- do.call(rbind, lapply(seq_len(n_actions), function(u) {
    do.call(cbind, lapply(others, function(v) (u == v) * evidence$beliefs))
  }))
  if (n_actions == 1) features <- matrix(0, nrow(evidence$taken), 0)
  places <- list(n_states = nrow(evidence$taken), n_actions = n_actions, discount = 0)
  penalty <- if (!is.null(prior_sd)) list(mean = rep(0, n_terms), sd = rep(prior_sd, n_terms))
  task <- soft_task(places, features, 0 * evidence$taken, evidence$taken, 1, NULL, FALSE, penalty)
  top <- settle_soft(climb_soft(task, numeric(n_terms)), task)
  logits <- cbind(0, matrix(top$weights * task$unit, length(setting$states)))
  estimates <- utility_estimates(logits, setting)[-seq_along(setting$states), , drop = FALSE]
  estimates$term <- rule_terms("logit", estimates)
  estimates$std.error <- soft_errors(top, task)
  rownames(estimates) <- NULL
  list(plan = plan_with_logits(setting, logits, resolution), estimates = estimates, log_lik = top$log_lik,
       converged = top$converged || top$open, details = list(logits = logits, unseen = top$unseen),
       notes = c(paste0("Logits are against ", enumerate(setting$actions[1]), ", at beliefs that are sure of a state."),
                 soft_notes(top, n_terms, "regression", prior_sd)))
}

# The plan of a rule whose logits are linear in the belief, given by those at the states. It is exact between nodes too.
plan_with_logits <- function(setting, logits, resolution) {
  problem <- build_problem(setting, resolution = resolution)
  exponent <- unname(expect_at_nodes(problem$space, logits))
  even <- rep(1 / ncol(exponent), ncol(exponent))
  worth <- worth_of_policy(problem, soft_choice(exponent, 1, even)$policy)
  plan_with_values(problem, "rule", 1, exponent, worth, price = 0, parameters = list(rule = "logits linear in beliefs"))
}

# Notes on a top that is not a single point, or not a point at all.
soft_notes <- function(top, n_terms, what = "utility", prior = NULL) {
  c(
    unseen_note(n_terms, n_terms - top$unseen, if (is.null(prior)) {
      paste0("The answer has the smallest sum of squares among them. Standard errors of terms that depend on such a ",
             "direction are NA.")
    } else {
      "There the answer comes from the prior."
    }, if (what == "utility") "utilities" else "logits"),
    if (top$open) {
      paste0("Something is never done where it could be, so the likelihood has no maximum: the larger the ", what,
             "'s differences, the better. Read these estimates as bounds, or state a `prior`.")
    },
    if (!top$converged && !top$open) "The search stopped before it got to the top: do not report these estimates."
  )
}

# ---- centres --------------------------------------------------------------------------------------------------------

# Each action has a centre on the plane of beliefs, and is likelier the nearer the belief is to it. All but the last
# coordinate of each centre are free, and one sharpness.
centre_search <- function(evidence, setting) {
  evidence <- with_beliefs(evidence, setting)
  size <- c(length(setting$actions), length(setting$states))
  met <- colSums(evidence$taken)
  middle <- crossprod(evidence$taken, evidence$beliefs) / pmax(met, 1e-300)
  middle[met == 0, ] <- 1 / size[2]
  free <- expand.grid(action = seq_len(size[1]), state = seq_len(size[2] - 1))
  terms <- paste0("centre[", setting$actions[free$action], ",", setting$states[free$state], "]")
  centres_of <- function(theta) {
    first <- matrix(theta[seq_along(terms)], size[1])
    unname(cbind(first, 1 - rowSums(first)))
  }
  list(
    terms = c(terms, "sharpness"), start = c(middle[cbind(free$action, free$state)], 1), centres_of = centres_of,
    log_lik = function(theta) {
      logits <- evidence$beliefs %*% centre_scores(centres_of(theta), theta[[length(theta)]])
      if (any(!is.finite(logits))) return(-Inf)
      counted_log_lik(log_softmax(logits), evidence$taken)
    }
  )
}

# Where to look, and the prior where `sd` is given.
centre_law <- function(search, setting, sd = NULL) {
  n <- length(search$terms)
  mean <- if (is.null(sd)) search$start[-n] else rep(1 / length(setting$states), n - 1)
  spread <- if (is.null(sd)) 1 else sd
  centres <- Map(function(term, mean) new_prior_entry(term, "normal", c(mean = mean, sd = spread)),
                 search$terms[-n], mean)
  sharpness <- new_prior_entry("sharpness", "lognormal", c(meanlog = 0, sdlog = spread))
  new_ibrc_prior(unname(c(centres, list(sharpness))))
}
