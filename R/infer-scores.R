#' Infer what is wanted from scores of whole trajectories
#'
#' Distance minimisation: somebody gave each trajectory a score. The function looks for the utility whose sums over the
#' visits of a trajectory come nearest to its score. That is a regression, without an intercept, of the scores on how
#' often each trajectory had each state and action, discounted.
#'
#' @section What is counted:
#' Every visit whose action is known counts, scored or not ([trajectories()]): forced actions are part of a trajectory
#' as well. The visit that comes t steps after the first counts by the discount to the power of t, or by 1 with
#' `discounted = FALSE`. Where the state is seen, the state itself counts. It is not seen at a first visit if `start` is
#' spread over states, and at all visits if states are hidden. Then each state counts by how likely it was under the
#' dynamics of the setting, given what had been done and seen *before* the visit: what could be known when the action
#' was chosen, not what became known later. Scores that judge by what became known later are then explained less well,
#' and not without bias.
#'
#' @section What it can and cannot say:
#' With as many different trajectories as there are states and actions, each utility is known exactly in the unit of the
#' scores. With fewer, or where trajectories have something in common, some directions are not seen. (If all have the
#' same length, for example, a constant in one entry can replace one in another.) Then the answer is the smallest of all
#' utilities that fit equally well (in the sum of squares), `identified` says about which entries the data inform by
#' themselves, and a note counts the directions that are not seen. Nothing is assumed about who acted or how: no
#' behaviour has to be good, and a trajectory that nobody would choose says as much as any other. Scores are assumed to
#' be sums over visits. A score of the outcome alone is explained badly, which `r_squared` of `glance()` shows: the
#' share of the scores' variance around their mean that is explained. As there is no intercept it can be below 0, where
#' the mean alone would do better. It is `NA` where all scores are the same. Scores that are plain counts of visits need
#' `discounted = FALSE`.
#'
#' @param visits Trajectories ([trajectories()]).
#' @param setting A setting ([decision_setting()]); its utility is not used. What a `belief_utility` is worth is assumed
#'   to be known and subtracted from the scores.
#' @param scores One number per trajectory: a vector named by identifier, or the name of a column of `visits` that is
#'   the same at all visits of a trajectory. Trajectories with a missing score are left out.
#' @param p The distance: 2 for least squares, or 1 for least absolute differences, which a few odd scores do not move
#'   (this needs the package lpSolve).
#' @param discounted Whether later visits count less, as the setting discounts them.
#' @param alpha How the imitating plan decides: 0 does what is best under the utility found. A larger price departs from
#'   it as [bounded_agent()] does. The utility itself does not depend on it.
#' @param resolution The resolution of the plan's beliefs, where states are hidden: see [plan_agent()].
#'
#' @return An object of class `ibrc_inferred`. [tidy()][tidy.ibrc_inferred] gives one row per state and action:
#'   `estimate`, `std.error` (with `p = 2`, where it can be computed) and `identified`. Its plan is that of an agent
#'   with this utility.
#' @seealso [infer_preferences()] where trajectories are only ranked in pairs.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)), treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9,
#'   start = c(1, 0)
#' )
#' visits <- simulate(plan_agent(setting, bounded_agent(alpha = 2)), nsim = 30, horizon = 8, seed = 1)
#' # Somebody scored trajectories by how many visits were spent ill.
#' data <- as.data.frame(visits)
#' ill <- tapply(c(FALSE, head(data$observation, -1) == "ill") & data$time > 0, data$id, sum)
#' infer_scores(visits, setting, scores = -ill, discounted = FALSE)
infer_scores <- function(visits, setting, scores, p = 2, discounted = TRUE, alpha = 0, resolution = 100) {
  check_given(visits, setting, scores)
  check_visits(visits)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  scores <- trajectory_scores(scores, visits)
  p <- check_number(p, "p")
  if (!p %in% 1:2) abort_input("p", "must be 1 or 2; it is ", format(p), ".")
  discounted <- check_flag(discounted, "discounted")
  alpha <- check_alpha(alpha)
  resolution <- check_count(resolution, "resolution")
  counted <- trajectory_counts(visits, setting, discounted)
  used <- counted$complete & !is.na(scores)
  if (!any(used)) {
    abort("data", "No trajectory of `visits` has a score and all of its actions.", argument = "scores")
  }
  target <- scores[used] - counted$offset[used]
  found <- nearest_utility(counted$counts[used, , drop = FALSE], target, p)
  utility <- matrix(found$utility, length(setting$states), dimnames = dimnames(setting$utility))
  estimates <- estimates_with_errors(utility, found, setting)
  new_ibrc_inferred(
    "scores", setting, plan_for_utility(setting, utility, alpha, resolution), estimates, found$distance,
    details = list(utility = utility, p = p, discounted = discounted, r_squared = found$r_squared,
                   glance = list(r_squared = found$r_squared),
                   unseen = length(utility) - found$rank, n_trajectories = sum(used),
                   n_visits = sum(counted$n_visits[used]), left_out = 0L),
    notes = c(
      unseen_note(length(utility), found$rank, "The answer has the smallest sum of squares among them."),
      counts_notes(counted, setting, !is.na(scores)),
      if (anyNA(scores)) paste0(plural(sum(is.na(scores)), "trajectory", "trajectories"), " without a score ",
                                     if (sum(is.na(scores)) == 1) "was" else "were", " left out.")
    )
  )
}

# In the order in which trajectories appear; NA where there is none.
trajectory_scores <- function(scores, visits) {
  if (is.character(scores) && length(scores) == 1 && is.null(names(scores))) {
    return(column_scores(visits, scores))
  }
  if (!is.numeric(scores) || !is.null(dim(scores)) && length(dim(scores)) > 1) {
    abort_input("scores", "must be numbers named by trajectory, or the name of a column of `visits`, not ",
                describe(scores), ".")
  }
  given <- names(scores)
  if (is.null(given)) abort_input("scores", "must have names: the identifiers of the trajectories.")
  twice <- which(duplicated(given))
  if (length(twice)) {
    abort_input("scores", "has the same name more than once (position ", twice[1], ").", rows = twice)
  }
  who <- trajectory_names(visits)
  unknown <- which(!as_utf8(given) %in% who)
  if (length(unknown)) {
    abort_input("scores", "has names that are not trajectories of `visits` (", plural(length(unknown), "name"),
                ", the first at position ", unknown[1], ").", rows = unknown)
  }
  check_finite_scores(unname(as.numeric(scores))[match(who, as_utf8(given))])
}

column_scores <- function(visits, column) {
  check_column(visits, column, "scores", " Name it in `covariates` of trajectories(), which drops other columns.")
  values <- visits[[column]]
  if (!is.numeric(values)) abort_input("scores", "must be a column of numbers, not ", describe_column(values), ".")
  who <- id_codes(plain_visits(visits)[[attr(visits, "roles")$id]])
  first <- values[!duplicated(who)]
  other <- which(!(values == first[who] | is.na(values) & is.na(first[who])) | is.na(values) != is.na(first[who]))
  if (length(other)) {
    abort_rows(other, "scores", "The column of `scores` must be the same at all visits of a trajectory")
  }
  check_finite_scores(as.numeric(first))
}

check_finite_scores <- function(scores) {
  bad <- which(is.infinite(scores))
  if (length(bad)) abort_input("scores", "must be finite; that of trajectory number ", bad[1], " is not.", rows = bad)
  scores
}

# Of all utilities whose sums are nearest to the target, the smallest.
nearest_utility <- function(counts, target, p) {
  seen <- seen_directions(counts)
  rank <- length(seen$size)
  if (rank == 0) {
    abort("data", "The trajectories of `visits` that have a score have no visit that can be counted.",
          argument = "visits")
  }
  # Squares of very large scores are not finite numbers any more.
  size <- largest(target)
  target <- target / size
  # The part of each direction, of length 1, in each trajectory.
  parts <- counts %*% seen$shown %*% diag(1 / seen$size, rank)
  weight <- if (p == 2) crossprod(parts, target)[, 1] else least_absolute(parts, target)
  utility <- as.vector(seen$shown %*% (weight / seen$size))
  gap <- target - as.vector(parts %*% weight)
  identified <- entries_seen(seen$shown)
  spare <- length(target) - rank
  # The spread of the answer, where there are more numbers than terms to explain them.
  spread <- if (p == 2 && spare > 0) {
    sqrt(sum(gap^2) / spare) * sqrt(rowSums((seen$shown %*% diag(1 / seen$size, rank))^2))
  } else {
    rep(NA_real_, length(utility))
  }
  about <- sum((target - mean(target))^2)
  list(utility = size * utility, rank = rank, identified = identified,
       std_error = size * ifelse(identified, spread, NA),
       distance = size * (if (p == 2) sqrt(sum(gap^2)) else sum(abs(gap))),
       r_squared = if (about > 1e-20 * length(target)) 1 - sum(gap^2) / about else NA_real_)
}

# Weights of the columns of `parts` for which the absolute gaps to the target are smallest in sum: each gap is the
# difference of two numbers that are not negative.
least_absolute <- function(parts, target) {
  n <- nrow(parts)
  refuse_too_large(16 * as.numeric(n) * (2 * n + ncol(parts)), "visits", "A linear programme of ",
                   plural(n, "trajectory", "trajectories"), advice = "take fewer, or p = 2")
  refuse_long_programme(n, 2 * n + ncol(parts), "visits", "least absolute differences of ",
                        plural(n, "trajectory", "trajectories"), advice = "Take fewer of them, or p = 2.")
  solved <- solve_linear(c(rep(0, ncol(parts)), rep(1, 2 * n)), cbind(parts * sqrt(n), diag(n), -diag(n)), "=", target,
                         free = rep(c(TRUE, FALSE), c(ncol(parts), 2 * n)))
  solved$x[seq_len(ncol(parts))] * sqrt(n)
}
