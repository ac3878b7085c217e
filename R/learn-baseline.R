#' Behaviour by simple rules
#'
#' Standards of comparison for every other model of behaviour: what can be predicted from how often things are done,
#' from the schedule, or only from the last visits. A model that claims to know why something was done should predict at
#' least as well as these.
#'
#' @section The rules:
#' * `"frequencies"`: each action as often as it was taken in all visits.
#' * `"visit_number"`: as often as at the visit with the same number. Few trajectories reach the last numbers. These are
#'   combined until there are ten visits with an action that counts, and later visits are treated like them.
#' * `"previous_action"`: as often as after the same action at the visit before. First visits are counted separately.
#' * `"logistic"`: a logistic regression ([stats::glm()]) on what was done and seen at the last one to three visits,
#'   without interactions. With more than two actions, it asks for each action in turn whether it is this one or a later
#'   one, so predictions depend somewhat on the order of the actions.
#'
#' An action that was never taken is unlikely, but not impossible. So `"frequencies"` adds one visit at which all
#' actions were taken in equal parts. The rules by visit number and by previous action add to each of their cases one
#' visit with the actions in those shares. The regression adds one visit that is spread over all visits that were seen.
#'
#' @param visits Trajectories ([trajectories()]).
#' @param rule Which rule, see below.
#' @param last For `"logistic"`: how many of the last visits to use, 1 to 3.
#' @param actions,observations Names of all that may be done and seen. By default those in `visits`. Give them if new
#'   visits may have others.
#' @return An object of class `ibrc_baseline`, for which [predict()][predict.ibrc_learned] and
#'   [log_lik()][predict.ibrc_learned] work. `tidy()` gives its numbers, and `glance()` gives one row about it.
#' @family decision models
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, nsim = 50, seed = 1)
#' fit_baseline(visits, "frequencies")
#' tidy(fit_baseline(visits, "visit_number"))
#' fit_baseline(visits, "logistic", last = 2)
fit_baseline <- function(visits, rule = c("frequencies", "visit_number", "previous_action", "logistic"), last = 1,
                         actions = NULL, observations = NULL) {
  check_given(visits)
  check_visits(visits)
  rule <- check_choice(rule, c("frequencies", "visit_number", "previous_action", "logistic"), "rule")
  last <- check_count(last, "last", most = 3)
  words <- learned_words(visits, actions, observations)
  coded <- learned_visits(visits, words)
  check_teaching(coded)
  overall <- count_shares(coded$action[coded$scored], length(words$actions))
  out <- list(words = words, rule = rule, last = if (rule == "logistic") last, taught = taught_by(coded),
              overall = overall)
  if (rule == "logistic") out$regressions <- fit_logistic(coded, words, last, overall) else
    out$shares <- if (rule == "frequencies") matrix(overall, 1, dimnames = list(NULL, words$actions)) else
      shares_by(pooled_key(rule, coded, words), coded, overall, words)
  structure(out, class = c("ibrc_baseline", "ibrc_learned"))
}

# Shares of actions, with one more count divided evenly among them.
count_shares <- function(action, n) {
  count <- tabulate(action + 1L, n) + 1 / n
  count / sum(count)
}

# What a rule depends on, counted from 1: the number of the visit, or the action at the visit before (1 for a first
# visit).
rule_key <- function(rule, coded, words) {
  switch(rule, frequencies = rep(1L, length(coded$action)), visit_number = coded$place,
         previous_action = earlier(coded$action, coded$place, 1L, length(words$actions)) + 1L)
}

# How many visits the last number must stand for. A single visit at the end of some trajectory says nothing about later
# ones.
fewest_at_last <- 10L

pooled_key <- function(rule, coded, words) {
  key <- rule_key(rule, coded, words)
  if (rule != "visit_number") return(key)
  from_here <- rev(cumsum(rev(tabulate(key[coded$scored]))))
  pmin(key, max(1L, which(from_here >= fewest_at_last)))
}

# [key, action]: shares with one more count, which is divided according to the overall shares.
shares_by <- function(key, coded, overall, words) {
  n <- length(words$actions)
  at <- coded$scored
  n_keys <- max(key[at])
  count <- matrix(tabulate(key[at] + n_keys * coded$action[at], n_keys * n), n_keys, n)
  count <- count + rep(overall, each = n_keys)
  dimnames(count) <- list(NULL, words$actions)
  count / rowSums(count)
}

action_law_of.ibrc_baseline <- function(object, coded) {
  if (object$rule == "logistic") return(logistic_law(object, coded))
  key <- rule_key(object$rule, coded, object$words)
  if (object$rule == "visit_number") key <- pmin(key, nrow(object$shares))
  # A previous action after which nothing was learned.
  law <- object$shares[pmin(key, nrow(object$shares)), , drop = FALSE]
  law[key > nrow(object$shares), ] <- rep(object$overall, each = sum(key > nrow(object$shares)))
  law
}

# ---- logistic regression -----------------------------------------------------------------------------------------

# A first column of ones, and then one column per indicator of what was done or seen at one of the last visits.
last_visits_matrix <- function(coded, words, last) {
  sizes <- c(action = length(words$actions), observation = length(words$observations))
  pieces <- lapply(seq_len(last), function(back) {
    lapply(names(sizes), function(what) {
      value <- earlier(coded[[what]], coded$place, back, sizes[[what]])
      # The first level is the one with which others are compared. "No visit before" is the same for actions and
      # observations, but "missing" is not.
      levels <- c(if (what == "action") 0L, setdiff(seq_len(sizes[[what]] + 1L), 1L))
      labels <- c("none", words[[paste0(what, "s")]], "missing")[levels + 1L]
      out <- outer(value, levels, `==`) + 0
      colnames(out) <- paste0(rep(paste0(what, "[-", back, "]="), length(levels)), labels)
      out
    })
  })
  cbind("(Intercept)" = 1, do.call(cbind, unlist(pieces, recursive = FALSE)))
}

# One regression for each action but the last: is it this action, among the visits with this action or a later one? One
# more visit in all is spread over those seen, with the overall shares of the actions, so that coefficients stay finite.
# Visits with the same indicators are counted, not repeated.
fit_logistic <- function(coded, words, last, overall) {
  x <- last_visits_matrix(coded, words, last)[coded$scored, , drop = FALSE]
  look <- rows_alike(x)
  alike <- x[!duplicated(look), , drop = FALSE]
  action <- coded$action[coded$scored] + 1L
  count <- matrix(tabulate(look + nrow(alike) * (action - 1L), nrow(alike) * length(words$actions)), nrow(alike))
  more <- tabulate(look, nrow(alike)) / nrow(x)
  lapply(seq_len(length(words$actions) - 1L), function(k) {
    later <- seq(k, length(words$actions))
    weight <- rowSums(count[, later, drop = FALSE]) + more
    taken <- count[, k] + more * overall[k] / sum(overall[later])
    fit <- suppressWarnings(stats::glm.fit(alike, taken / weight, weight, family = stats::quasibinomial(),
                                           control = list(maxit = 100, epsilon = 1e-10)))
    # An indicator that never varied has no coefficient.
    coefficients <- fit$coefficients
    coefficients[is.na(coefficients)] <- 0
    coefficients
  })
}

# Numbers of the distinct rows of a matrix of zeros and ones, in order of first appearance.
rows_alike <- function(x) {
  number <- rep(1L, nrow(x))
  for (column in seq_len(ncol(x))) {
    now <- 2 * number + x[, column]
    number <- match(now, unique(now))
  }
  number
}

logistic_law <- function(object, coded) {
  x <- last_visits_matrix(coded, object$words, object$last)
  n <- length(object$words$actions)
  left <- rep(1, nrow(x))
  law <- matrix(0, nrow(x), n, dimnames = list(NULL, object$words$actions))
  for (k in seq_len(n - 1L)) {
    chance <- stats::plogis(drop(x %*% object$regressions[[k]]))
    law[, k] <- left * chance
    left <- left * (1 - chance)
  }
  law[, n] <- left
  law
}

# ---- its face ----------------------------------------------------------------------------------------------------

baseline_words <- function(x) {
  switch(x$rule, frequencies = "actions as often as they were taken overall",
         visit_number = "actions as often as they were taken at the visit of the same number",
         previous_action = "actions as often as they were taken after the same action",
         logistic = paste("a logistic regression on the last", if (x$last == 1) "visit" else paste(x$last, "visits")))
}

#' @export
format.ibrc_baseline <- function(x, ...) {
  shares <- paste0(x$words$actions, " ", round(100 * x$overall), "%")
  c(paste0("A rule of behaviour: ", baseline_words(x)), paste0("  in all        ", listing(shares)),
    taught_words(x$taught))
}

#' @export
tidy.ibrc_baseline <- function(x, ...) {
  check_unused(...)
  actions <- x$words$actions
  if (x$rule == "logistic") {
    pieces <- lapply(seq_along(x$regressions), function(k) {
      data.frame(action = actions[k], term = names(x$regressions[[k]]), estimate = unname(x$regressions[[k]]))
    })
    return(do.call(rbind, pieces))
  }
  key <- switch(x$rule, frequencies = "all", visit_number = as.character(seq_len(nrow(x$shares))),
                previous_action = c("none", actions, "missing")[seq_len(nrow(x$shares))])
  data.frame(action = rep(actions, each = nrow(x$shares)), term = rep(key, length(actions)),
             estimate = as.vector(x$shares))
}

#' @export
glance.ibrc_baseline <- function(x, ...) {
  check_unused(...)
  free <- if (x$rule == "logistic") sum(lengths(x$regressions)) else length(x$shares) - nrow(x$shares)
  data.frame(rule = x$rule, parameters = free, trajectories = x$taught$trajectories, visits = x$taught$visits,
             scored = x$taught$scored)
}
