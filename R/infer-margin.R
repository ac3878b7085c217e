#' The utility under which what was done stands out most
#'
#' Looks for a utility under which the demonstrated behaviour is optimal, and beats the alternatives by as much as
#' possible: the linear programme of Ng and Russell. It sums, over states, the gap between the demonstrated action and
#' the second best. A penalty on the size of utilities is subtracted, and utilities may not exceed a bound.
#'
#' Gaps are differences of action values. They are those of Ng and Russell, who leave out the discount in front, times
#' the discount. So `penalty` is the discount times theirs. A state in which nobody was seen adds no gap.
#'
#' Behaviour alone never says what was wanted: if all is worth the same, anything is optimal. The bound and the sum of
#' gaps choose one of the many utilities that explain the behaviour. It scales with the bound, and with `penalty = 0` a
#' constant may be added to it. The utility of the setting is used only for the default of `bound`. Estimates explain
#' what was done; do not read them as what was wanted, as many others explain it as well. They have no standard errors.
#'
#' @inheritParams infer_perturbation
#' @inheritSection infer_perturbation What is taken for demonstrated
#' @param setting The setting ([decision_setting()]), one in which the state is seen.
#' @param bound The largest size that a utility may have. By default the largest in the setting's own utility, or 1
#'   where that is 0 throughout.
#' @param penalty What the size of a utility costs, relative to a gap of the same size. With a larger penalty more of
#'   the utilities are 0, and in the end all of them.
#' @param over What the utility depends on: the `"state"` alone, as Ng and Russell have it, or the `"state_action"`.
#' @return An object of class `ibrc_inferred`, see [tidy()][tidy.ibrc_inferred]. Its estimates have one row per state,
#'   or per state and action; its objective is the sum of the gaps less the penalty.
#' @references Ng, A. Y. and Russell, S. (2000). Algorithms for inverse reinforcement learning. *Proceedings of the 17th
#'   International Conference on Machine Learning*, 663-670.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)),
#'                     treat = rbind(c(0.8, 0.2), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9
#' )
#' # Somebody who treats the ill alone seems to want people to be well.
#' if (requireNamespace("lpSolve", quietly = TRUE)) {
#'   infer_margin(cbind(wait = c(1, 0), treat = c(0, 1)), setting, bound = 1)
#' }
infer_margin <- function(visits, setting, bound = NULL, penalty = 0, over = c("state", "state_action")) {
  check_given(visits, setting)
  check_seen_states(setting)
  bound <- check_bound(bound, list(setting))
  penalty <- check_penalty(penalty)
  over <- check_choice(over, c("state", "state_action"), "over")
  demonstration <- demonstrated(visits, setting)
  require_package("lpSolve", "The largest margin")
  chosen <- demonstrated_choice(demonstration, setting)
  setting <- without_belief_worth(setting)
  cases <- list(list(markov = as_markov(setting), choice = chosen$choice))
  refuse_long_margin(cases, over, penalty)
  solved <- solve_margin(cases, over, bound, penalty)
  plan <- optimal_imitation(build_problem(setting), solved$utility, solved$policies[[1]])
  new_ibrc_inferred(
    "margin", setting, plan, worth_estimates(solved$utility, setting, over), objective = solved$objective,
    details = c(demonstration_details(demonstration), list(bound = bound, penalty = penalty, over = over,
                                                           choice = chosen$choice)),
    notes = c(demonstration_notes(demonstration, setting), chosen$notes, completion_note(solved),
              margin_notes(solved, penalty), if (!solved$is_zero) tie_note(solved$gaps[[1]], solved$utility, setting))
  )
}

check_bound <- function(bound, settings) {
  if (!is.null(bound)) return(check_positive(bound, "bound"))
  largest(vapply(settings, function(setting) max(abs(setting$utility)), 0))
}

check_penalty <- function(penalty) {
  penalty <- check_finite_number(penalty, "penalty")
  if (penalty < 0) abort_input("penalty", "must be 0 or more; it is ", format(penalty), ".")
  penalty
}

# The whole utility is inferred: nothing else in the setting may add to it.
without_belief_worth <- function(setting) {
  setting["belief_utility"] <- list(NULL)
  setting
}

# One row per state where the utility depends on nothing else.
worth_estimates <- function(utility, setting, over) {
  if (over == "state_action") return(utility_estimates(utility, setting))
  data.frame(term = paste0("utility[", setting$states, "]"), state = setting$states, estimate = utility[, 1])
}

# ---- the programme --------------------------------------------------------------------------------------------------

# Gaps as functions of the free numbers: one per state, or all of them. A constant adds nothing to any gap.
free_gaps <- function(rows, markov, over) {
  if (over == "state_action") return(rows)
  Reduce(`+`, lapply(seq_len(markov$n_actions), function(u) {
    rows[, markov$n_states * (u - 1L) + seq_len(markov$n_states), drop = FALSE]
  }))
}

refuse_long_margin <- function(cases, over, penalty, argument = "setting") {
  size <- c(cases[[1]]$markov$n_states, cases[[1]]$markov$n_actions)
  free <- size[1] * if (over == "state") 1 else size[2]
  seen <- vapply(cases, function(case) sum(!is.na(case$choice)), 0)
  # Worths, their sizes where these have a price, and gaps; rows for each other action, and for the box.
  refuse_long_programme(sum(seen) * (size[2] - 1) + free * (if (penalty > 0) 3 else 1),
                        free * (if (penalty > 0) 2 else 1) + min(size[1], sum(seen)), argument,
                        plural(size[1], "state"), " and ", plural(size[2], "action"),
                        if (length(cases) > 1) paste0(" in ", length(cases), " settings"),
                        advice = "Join states that are alike, or leave out those that nobody reaches.")
}

# The largest margin over several cases (list(markov, choice)) that share states, actions and one utility. A state's gap
# is the least over all cases. `centred`: the utility sums to 0.
solve_margin <- function(cases, over, bound, penalty, centred = FALSE) {
  markov <- cases[[1]]$markov
  policies <- lapply(cases, function(case) completed_policy(case$choice, case$markov$n_actions))
  solve_completed(cases, policies, function(gaps) {
    rows <- do.call(rbind, lapply(gaps, function(gap) free_gaps(gap$rows, markov, over)))
    # Rows of states in which nobody was seen have no gap of their own: they only must not be negative.
    state <- unlist(lapply(gaps, function(gap) ifelse(gap$shown, gap$state, NA)))
    answer <- largest_margin(rows, state, penalty, centred)
    worth <- bound * answer$worth
    list(utility = matrix(worth, markov$n_states, markov$n_actions), is_zero = all(worth == 0),
         objective = bound * answer$objective, cost = -answer$objective, gaps = gaps)
  })
}

# Worths between -1 and 1, and one gap per state, each at most what its rows allow. A row whose `state` is NA says that
# something is not negative.
largest_margin <- function(rows, state, penalty, centred) {
  n <- ncol(rows)
  zero <- list(worth = numeric(n), objective = 0)
  # Rows that are 0 except for rounding tell nothing apart.
  rows[abs(rows) < 1e-12] <- 0
  if (!any(rows != 0)) return(zero)
  seen <- sort(unique(state))
  if (!length(seen)) return(zero)
  own <- outer(state, seen, function(row, column) !is.na(row) & row == column) + 0
  answer <- if (penalty > 0) penalised_gaps(rows, own, penalty, centred) else boxed_gaps(rows, own, centred)
  if (answer$objective <= 1e-8) return(zero)
  list(worth = without_dust(answer$worth), objective = answer$objective)
}

# Worths are counted from the bottom of their box, 0 to 2. If positive and negative parts were separate, lpSolve would
# cycle with many states.
boxed_gaps <- function(rows, own, centred) {
  n <- ncol(rows)
  constraints <- rbind(cbind(rows, -own), cbind(diag(n), matrix(0, n, ncol(own))),
                       if (centred) c(rep(1, n), numeric(ncol(own))))
  answer <- solve_linear(c(numeric(n), rep(-1, ncol(own))), constraints,
                         c(rep(">=", nrow(rows)), rep("<=", n), if (centred) "="),
                         c(rowSums(rows), rep(2, n), if (centred) n), free = FALSE)
  list(worth = answer$x[seq_len(n)] - 1, objective = -answer$objective)
}

# With a penalty come their sizes, each at least the worth and at least its negative.
penalised_gaps <- function(rows, own, penalty, centred) {
  n <- ncol(rows)
  one <- diag(n)
  no_gaps <- matrix(0, n, ncol(own))
  constraints <- rbind(cbind(rows, 0 * rows, -own), cbind(one, 0 * one, no_gaps), cbind(-one, one, no_gaps),
                       cbind(one, one, no_gaps), if (centred) c(rep(1, n), numeric(n + ncol(own))))
  answer <- solve_linear(c(numeric(n), rep(penalty, n), rep(-1, ncol(own))), constraints,
                         c(rep(">=", nrow(rows)), rep("<=", n), rep(">=", 2 * n), if (centred) "="),
                         c(rowSums(rows), rep(2, n), rep(-1, n), rep(1, n), if (centred) n), free = FALSE)
  list(worth = answer$x[seq_len(n)] - 1, objective = -answer$objective)
}

# What a solver may leave in place of 0, where numbers are about 1.
without_dust <- function(x) replace(x, abs(x) < 1e-9, 0)

margin_notes <- function(solved, penalty) {
  if (!solved$is_zero) {
    return(paste("Other utilities explain what was done equally well: this one has the largest margin within the",
                 "bound. Do not read its numbers as wishes."))
  }
  if (penalty > 0) {
    return(paste("The answer is 0 throughout, under which anything is optimal: no margin is worth its penalty.",
                 "Choose a smaller one, or 0."))
  }
  paste("The answer is 0 throughout, under which anything is optimal: no utility of this kind prefers what was done to",
        "everything else.")
}
