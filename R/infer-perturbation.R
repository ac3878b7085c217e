#' The smallest change of a utility that makes what was done optimal
#'
#' Takes the setting's utility as a default and asks how little of it has to change for the demonstrated behaviour to be
#' optimal: inverse optimisation. Behaviour that is optimal already needs no change at all.
#'
#' Whether it is optimal to always take the demonstrated actions depends on linear functions of the utility. So the
#' answer is that of a linear programme (`norm` 1 or `Inf`, by the package \pkg{lpSolve}) or of a quadratic one (2, by
#' \pkg{quadprog}). A `norm` of 1 changes few entries, 2 changes several a little, and `Inf` keeps the largest change
#' small. With 2, and if somebody was seen in every state, the answer is unique.
#'
#' @section What is taken for demonstrated:
#' One action per state. Where visits show several, the most frequent one is taken, and of several that are equally
#' frequent the first; the answer says so. A state in which nobody was seen does not influence the answer: there the
#' best action under the answer is taken, whatever its margin. Up to 64 ways to act in such states are all tried. If
#' there are more, the answer is one that agrees with itself, and a note says so. The imitating plan takes the
#' demonstrated actions even where others are as good.
#'
#' @param visits What was demonstrated: trajectories ([trajectories()]), a plan, or a matrix of probabilities with one
#'   row per state and one column per action, whose rows may be `NA` where nothing is known.
#' @param setting The setting ([decision_setting()]), one in which the state is seen. Its `utility` is the default.
#' @param norm How changes add up to a size: 1 (the sum of their sizes), 2 (the root of the sum of their squares) or
#'   `Inf` (the largest of them).
#' @param margin By how much, at least, the demonstrated action must be better than any other in its state, in units of
#'   the utility, in states in which somebody was seen. With 0, others may be as good.
#' @return An object of class `ibrc_inferred`, see [tidy()][tidy.ibrc_inferred]. Its estimates have one row per entry of
#'   the utility, with the `estimate`, the `default` and the `change` between the two; its objective is the size of the
#'   change.
#' @references Heuberger, C. (2004). Inverse combinatorial optimization: a survey on problems, methods, and results.
#'   *Journal of Combinatorial Optimization*, 8, 329-361.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)),
#'                     treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9
#' )
#' # Somebody who never treats. How much worse would treating have to be?
#' if (requireNamespace("lpSolve", quietly = TRUE)) {
#'   infer_perturbation(cbind(wait = c(1, 1), treat = c(0, 0)), setting, norm = 1)
#' }
infer_perturbation <- function(visits, setting, norm = 2, margin = 0) {
  check_given(visits, setting)
  check_seen_states(setting)
  norm <- check_norm(norm)
  margin <- check_margin(margin)
  demonstration <- demonstrated(visits, setting)
  if (norm == 2) require_package("quadprog", "The smallest change by squares") else
    require_package("lpSolve", "The smallest change by this norm")
  chosen <- demonstrated_choice(demonstration, setting)
  markov <- as_markov(setting)
  default <- unname(markov$utility)
  cases <- list(list(markov = markov, choice = chosen$choice))
  refuse_long_change(markov, norm)
  first <- best_completion(markov, chosen$choice, default)
  solved <- solve_completed(cases, list(first), function(gaps) {
    change <- smallest_change(gaps[[1]]$rows, as.vector(default), margin * gaps[[1]]$shown, norm)
    list(utility = default + change, change = change, cost = size_by_norm(change, norm), gaps = gaps[[1]])
  })
  problem <- build_problem(setting)
  plan <- optimal_imitation(problem, solved$utility, solved$policies[[1]])
  estimates <- utility_estimates(solved$utility - belief_worth(problem), setting)
  estimates$default <- as.vector(setting$utility)
  estimates$change <- solved$change
  new_ibrc_inferred(
    "perturbation", setting, plan, estimates, objective = solved$cost,
    details = c(demonstration_details(demonstration), list(norm = norm, margin = margin, choice = chosen$choice)),
    notes = c(demonstration_notes(demonstration, setting), chosen$notes, completion_note(solved),
              perturbation_notes(solved, norm), tie_note(solved$gaps, solved$utility, setting))
  )
}

check_norm <- function(norm) {
  norm <- check_number(norm, "norm", "1, 2 or Inf")
  if (!norm %in% c(1, 2, Inf)) abort_input("norm", "must be 1, 2 or Inf; it is ", format(norm), ".")
  norm
}

check_margin <- function(margin) {
  margin <- check_finite_number(margin, "margin")
  if (margin < 0) abort_input("margin", "must be 0 or more; it is ", format(margin), ".")
  margin
}

refuse_long_change <- function(markov, norm) {
  free <- as.numeric(markov$n_states) * markov$n_actions
  gaps <- free - markov$n_states
  refuse_long_programme(if (norm == Inf) gaps + free else gaps, if (norm == 1) 2 * free else free, "setting",
                        plural(markov$n_states, "state"), " and ", plural(markov$n_actions, "action"),
                        advice = "Join states that are alike, or leave out those to which nobody comes.")
}

size_by_norm <- function(change, norm) {
  if (norm == Inf) return(max(abs(change)))
  # Squares of very large or very small numbers are not finite numbers any more.
  unit <- largest(change)
  unit * sum(abs(change / unit)^norm)^(1 / norm)
}

# The smallest `change` with rows %*% (default + change) >= margin, one for all rows or one per row.
smallest_change <- function(rows, default, margin, norm) {
  n <- length(default)
  lack <- margin - as.vector(rows %*% default)
  # What is lacking only by rounding is not lacking.
  if (!length(lack) || all(lack <= 1e-9 * max(abs(rows) %*% abs(default)))) return(numeric(n))
  if (norm == 2) return(solve_quadratic(numeric(n), rows, ">=", lack)$x)
  if (norm == 1) {
    # Changes upwards and downwards are separate variables.
    both <- solve_linear(rep(1, 2 * n), cbind(rows, -rows), ">=", lack, free = FALSE)$x
    return(both[seq_len(n)] - both[n + seq_len(n)])
  }
  # From the bottom of a box of half-width t up: 0 <= change + t <= 2 t.
  box <- rbind(cbind(rows, -rowSums(rows)), cbind(-diag(n), 2))
  answer <- solve_linear(c(numeric(n), 1), box, ">=", c(lack, numeric(n)), free = FALSE)$x
  answer[seq_len(n)] - answer[n + 1]
}

perturbation_notes <- function(solved, norm) {
  if (all(solved$change == 0)) return("What was done is optimal under the default: nothing has to change.")
  if (norm != 2) "With this norm other changes of the same size may give the same result."
}

# States in which another action is as good under the answer.
tie_note <- function(gaps, utility, setting) {
  gap <- as.vector(gaps$rows %*% as.vector(utility))
  tied <- unique(gaps$state[gaps$shown & gap <= 1e-7 * max(abs(gaps$rows) %*% abs(as.vector(utility)), 0)])
  if (!length(tied)) return(NULL)
  paste0("In ", plural(length(tied), "state"), " (", listing(setting$states[sort(tied)]), ") another action is as ",
         "good as the demonstrated one under the answer.")
}
