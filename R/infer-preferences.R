#' Infer what is wanted from preferences between trajectories
#'
#' Preference extrapolation: somebody said which of two trajectories is better, for several pairs. The function looks
#' for the utility under which these preferences are likeliest. It assumes that the better one is preferred with the
#' probability `1 / (1 + exp(-d))`, where d is by how much its discounted sum of utilities is larger. That is a logistic
#' regression without an intercept on differences of discounted counts.
#'
#' @section What it can and cannot say:
#' Utilities come in a unit of their own: 1 is the difference in sums at which 73% prefer the better. What all
#' trajectories have in common, such as a constant added to every utility where all have the same length, makes no
#' difference to any pair and is not seen. The answer is then the smallest of all that fit equally well, and a note says
#' how many directions are left open. As in [infer_scores()] nothing is assumed about who acted, and states that are not
#' known count by how likely they were.
#'
#' Few pairs, or pairs that never contradict each other, are *separated*: there are utilities under which every
#' preference is almost certain, and larger ones explain them still better, without end. That is an error of class
#' `ibrc_error_separation`. More pairs may help; a `prior_sd` always does, as it says how large utilities can be. If
#' pairs are *nearly* separated, estimates and their errors are large, and a note says so.
#'
#' @inheritParams infer_scores
#' @param setting A setting ([decision_setting()]); its utility plays no part. What a `belief_utility` is worth is
#'   assumed to be known.
#' @param preferences A data frame with one row per pair and columns `worse` and `better`, identifiers of trajectories
#'   in `visits`. A pair may occur more than once, and in both directions. Identifiers are not kept.
#' @param prior_sd `NULL`, or the standard deviation of a normal prior around 0 of every utility: the answer is then the
#'   peak of the posterior (ridge regression).
#'
#' @return An object of class `ibrc_inferred`. [tidy()][tidy.ibrc_inferred] gives one row per state and action:
#'   `estimate`, `std.error` (from the curvature) and `identified`. `objective` is the log-likelihood of the
#'   preferences.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)), treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9,
#'   start = c(1, 0)
#' )
#' visits <- simulate(plan_agent(setting, bounded_agent(alpha = 2)), nsim = 40, horizon = 8, seed = 1)
#' # Somebody who dislikes illness compares neighbours.
#' data <- as.data.frame(visits)
#' ill <- tapply(data$observation == "ill", data$id, sum)
#' pairs <- data.frame(worse = 1:39, better = 2:40)
#' wrong <- ill[pairs$better] > ill[pairs$worse]
#' pairs[wrong, ] <- pairs[wrong, 2:1]
#' infer_preferences(visits, setting, pairs, prior_sd = 2)
infer_preferences <- function(visits, setting, preferences, prior_sd = NULL, discounted = TRUE, alpha = 0,
                              resolution = 100) {
  check_given(visits, setting, preferences)
  check_visits(visits)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  pairs <- preference_pairs(preferences, visits)
  if (!is.null(prior_sd)) prior_sd <- check_positive(prior_sd, "prior_sd")
  discounted <- check_flag(discounted, "discounted")
  alpha <- check_alpha(alpha)
  resolution <- check_count(resolution, "resolution")
  counted <- trajectory_counts(visits, setting, discounted)
  asked <- seq_along(counted$complete) %in% pairs
  pairs <- pairs[counted$complete[pairs[, 1]] & counted$complete[pairs[, 2]], , drop = FALSE]
  if (!nrow(pairs)) {
    abort("data", "No pair of `preferences` has all actions of both its trajectories.", argument = "preferences")
  }
  gain <- counted$counts[pairs[, 2], , drop = FALSE] - counted$counts[pairs[, 1], , drop = FALSE]
  found <- preferred_utility(gain, counted$offset[pairs[, 2]] - counted$offset[pairs[, 1]], prior_sd)
  utility <- matrix(found$utility, length(setting$states), dimnames = dimnames(setting$utility))
  estimates <- estimates_with_errors(utility, found, setting)
  new_ibrc_inferred(
    "preferences", setting, plan_for_utility(setting, utility, alpha, resolution), estimates, found$log_lik,
    details = list(utility = utility, n_pairs = nrow(pairs), prior_sd = prior_sd, discounted = discounted,
                   agreement = found$agreement, unseen = length(utility) - found$rank,
                   n_trajectories = length(unique(as.vector(pairs))),
                   n_visits = sum(counted$n_visits[unique(as.vector(pairs))]), left_out = 0L),
    notes = c(
      unseen_note(length(utility), found$rank, if (is.null(prior_sd)) {
        "The answer has the smallest sum of squares among them."
      } else {
        "There the answer comes from the prior."
      }),
      counts_notes(counted, setting, asked),
      if (found$near) {
        paste0("The preferences are nearly separated: along some direction of the utility almost all of them are ",
               "almost certain, so estimates are large and depend on a few pairs. Give more pairs, or use `prior_sd` ",
               "to say how large utilities can be.")
      },
      if (found$alike > 0) paste0("In ", plural(found$alike, "pair"), " both trajectories have the same counts: no ",
                                  "utility can tell them apart.")
    )
  )
}

# Positions of trajectories, [pair, worse and better].
preference_pairs <- function(preferences, visits) {
  if (!is.data.frame(preferences) || !all(c("worse", "better") %in% names(preferences))) {
    abort_input("preferences", "must be a data frame with columns `worse` and `better`, not ",
                describe(preferences), ".")
  }
  if (nrow(preferences) == 0) abort("data", "`preferences` has no rows.", argument = "preferences")
  who <- trajectory_names(visits)
  pairs <- vapply(c("worse", "better"), function(column) {
    check_column(preferences, column, "preferences")
    at <- match(id_text(plain_ids(preferences[[column]])), who)
    lost <- which(is.na(at))
    if (length(lost)) {
      abort_rows(lost, "preferences", "`", column, "` of `preferences` names no trajectory of `visits`")
    }
    at
  }, integer(nrow(preferences)))
  pairs <- matrix(pairs, ncol = 2)
  same <- which(pairs[, 1] == pairs[, 2])
  if (length(same)) abort_rows(same, "preferences", "`preferences` compares a trajectory with itself")
  pairs
}

# The top of the log-likelihood of logit probabilities `gain` %*% utility + offset, all of which came true; with a
# normal prior, the top of the posterior.
preferred_utility <- function(gain, offset, prior_sd = NULL) {
  seen <- seen_directions(gain)
  rank <- length(seen$size)
  if (rank == 0) {
    abort("data", "All pairs of `preferences` have the same counts on both sides: they say nothing about the utility.",
          argument = "preferences")
  }
  along <- gain %*% seen$shown
  price <- if (is.null(prior_sd)) 0 else prior_sd^-2
  top <- climb_preferences(along, offset, price)
  if (is.null(top)) {
    abort("separation", "The preferences are separated: some utility makes each of them almost certain, and larger ",
          "ones fit better without end. Give more pairs, or use `prior_sd` to say how large utilities can be.",
          argument = "preferences")
  }
  covariance <- seen$shown %*% chol2inv(chol(top$information)) %*% t(seen$shown)
  identified <- entries_seen(seen$shown)
  # A prior informs about directions on which the data are silent.
  if (price > 0) covariance <- covariance + (diag(nrow(covariance)) - tcrossprod(seen$shown)) / price
  list(utility = as.vector(seen$shown %*% top$weight), rank = rank, identified = identified,
       std_error = ifelse(identified | price > 0, sqrt(pmax(diag(covariance), 0)), NA), log_lik = top$log_lik,
       near = price == 0 && is_nearly_separated(along, top$information),
       agreement = mean(as.vector(along %*% top$weight) + offset > 0),
       alike = sum(rowSums(abs(gain)) <= 1e-12 * max(abs(gain))))
}

# By Newton's method. NULL where the preferences are separated: then steps never get short.
climb_preferences <- function(along, offset, price, rounds = 200) {
  height <- function(weight) {
    sum(stats::plogis(as.vector(along %*% weight) + offset, log.p = TRUE)) - price * sum(weight^2) / 2
  }
  weight <- numeric(ncol(along))
  best <- height(weight)
  for (round in seq_len(rounds)) {
    logit <- as.vector(along %*% weight) + offset
    information <- crossprod(along, stats::dlogis(logit) * along) + diag(price, ncol(along))
    slope <- crossprod(along, stats::plogis(-logit))[, 1] - price * weight
    root <- tryCatch(chol(information), error = function(e) NULL)
    if (is.null(root) || min(diag(root)) < 1e-7 * max(diag(root)) && is_separated(along, price)) return(NULL)
    step <- backsolve(root, forwardsolve(t(root), slope))
    # Far from the top a whole step may go too far.
    share <- 1
    while (share > 1e-10 && height(weight + share * step) < best - 1e-14 * abs(best)) share <- share / 2
    weight <- weight + share * step
    best <- height(weight)
    if (max(abs(along %*% step)) < 1e-9) {
      return(list(weight = weight, information = information, log_lik = sum(stats::plogis(
        as.vector(along %*% weight) + offset, log.p = TRUE))))
    }
    if (round >= 20 && round %% 20 == 0 && is_separated(along, price)) return(NULL)
  }
  NULL
}

# A pair at even odds informs by 1/4 of its squared difference, and a certain pair by nothing. Whether along some
# direction less than a twentieth of the possible information is left.
is_nearly_separated <- function(along, information) {
  root <- tryCatch(chol(crossprod(along) / 4), error = function(e) NULL)
  if (is.null(root)) return(FALSE)
  half <- forwardsolve(t(root), information)
  min(eigen(forwardsolve(t(root), t(half)), symmetric = TRUE, only.values = TRUE)$values) < 0.05
}

# Whether some direction makes no preference less likely and one more likely: a linear programme tells. Without lpSolve,
# the answer is yes if twenty of Newton's steps have not become short.
is_separated <- function(along, price) {
  if (price > 0) return(FALSE)
  if (!requireNamespace("lpSolve", quietly = TRUE)) return(TRUE)
  along <- along / max(abs(along))
  n <- nrow(along)
  reach <- solve_linear(-colSums(along), rbind(along, along), rep(c(">=", "<="), each = n), rep(c(0, 1), each = n))
  -reach$objective > 1e-6
}
