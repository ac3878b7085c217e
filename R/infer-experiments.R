#' One utility behind what was done in several environments
#'
#' Behaviour in one environment leaves open what was wanted. If it is seen in several, with other dynamics or discounts,
#' the same utility has to make all of it optimal, and each environment leaves fewer such utilities. The function
#' chooses the one under which what was done stands out most, and says within which limits the others lie.
#'
#' The programme is that of [infer_margin()] with the constraints of all environments: a state counts by its smallest
#' gap over the environments in which somebody was seen there. Behaviour never tells whether a constant was added to the
#' utility, so the answer sums to 0. It never tells how large the utility is, so no entry exceeds `bound`.
#'
#' Limits are the least and the most that an entry may be among all utilities that sum to 0, do not exceed the bound and
#' make everything that was done optimal. The utility that is 0 throughout is always one of them, so limits never
#' exclude 0. An entry whose limits lie on one side of 0 has a known sign. With another environment limits can only come
#' closer. They take two linear programmes per entry. Where nobody was seen in a state, they take two for every way to
#' act there, as a utility may make any of them optimal. If these are too many, limits are `NA`, and a note says so.
#'
#' @inheritSection infer_perturbation What is taken for demonstrated
#' @param visits A list with one demonstration per setting: trajectories ([trajectories()]), plans, or matrices of
#'   probabilities with one row per state and one column per action.
#' @param settings A list of settings ([decision_setting()]) in which the state is seen, with the same states and
#'   actions.
#' @param bound,penalty,over As in [infer_margin()].
#' @param limits `FALSE` leaves the limits out, which take most of the time where states are many. With more than 150
#'   entries limits are refused.
#' @return An object of class `ibrc_inferred`, see [tidy()][tidy.ibrc_inferred]. Its estimates have one row per state,
#'   or per state and action, with the limits in `lower` and `upper`; [project_behavior()] gives a list of plans, one
#'   per setting.
#' @references Amin, K. and Singh, S. (2016). Towards resolving unidentifiability in inverse reinforcement learning.
#'   arXiv:1601.06569.
#' @family framework
#' @export
#' @examples
#' clinic <- function(cure, discount) {
#'   decision_setting(
#'     states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'     transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)),
#'                       treat = rbind(c(0.9, 0.1), c(cure, 1 - cure))),
#'     emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)),
#'     discount = discount
#'   )
#' }
#' settings <- list(good = clinic(0.7, 0.9), poor = clinic(0.05, 0.9))
#' # The ill are treated where treatment helps, and not where it hardly does.
#' done <- list(cbind(wait = c(1, 0), treat = c(0, 1)), cbind(wait = c(1, 1), treat = c(0, 0)))
#' if (requireNamespace("lpSolve", quietly = TRUE)) {
#'   infer_experiments(done, settings, over = "state_action", bound = 1)
#' }
infer_experiments <- function(visits, settings, bound = NULL, penalty = 0, over = c("state", "state_action"),
                              limits = TRUE) {
  check_given(visits, settings)
  check_settings(settings)
  check_demonstrations(visits, settings)
  bound <- check_bound(bound, settings)
  penalty <- check_penalty(penalty)
  over <- check_choice(over, c("state", "state_action"), "over")
  limits <- check_flag(limits, "limits")
  if (limits) refuse_many_limits(settings[[1]], over)
  labels <- paste(" of setting", plan_labels(settings))
  shown <- Map(function(x, setting, i) demonstrated(x, setting, paste0("visits[[", i, "]]")),
               visits, settings, seq_along(settings))
  require_package("lpSolve", "The largest margin")
  chosen <- Map(demonstrated_choice, shown, settings, labels)
  settings <- lapply(settings, without_belief_worth)
  cases <- Map(function(setting, choice) list(markov = as_markov(setting), choice = choice$choice), settings, chosen)
  refuse_long_margin(cases, over, penalty, "settings")
  solved <- solve_margin(cases, over, bound, penalty, centred = TRUE)
  plans <- Map(function(setting, policy) optimal_imitation(build_problem(setting), solved$utility, policy),
               settings, solved$policies)
  names(plans) <- names(settings)
  estimates <- worth_estimates(solved$utility, settings[[1]], over)
  known <- limits && can_limit(cases, over)
  if (limits) estimates[c("lower", "upper")] <- if (known) all_limits(cases, over, bound) else NA_real_
  total <- function(part) sum(vapply(shown, function(one) one[[part]], 0L))
  new_ibrc_inferred(
    "experiments", settings, plans, estimates, objective = solved$objective,
    details = list(n_trajectories = total("n_trajectories"), n_visits = total("n_visits"), left_out = total("left_out"),
                   bound = bound, penalty = penalty, over = over, choice = lapply(chosen, `[[`, "choice")),
    notes = c(unlist(Map(demonstration_notes, shown, settings, labels), use.names = FALSE),
              unlist(lapply(chosen, `[[`, "notes"), use.names = FALSE), completion_note(solved),
              experiment_notes(solved, penalty, length(settings)), if (limits && !known) unknown_limits)
  )
}

# Each takes two programmes that grow with their number: this many take half a minute, and a few more take minutes.
most_limits <- 150

refuse_many_limits <- function(setting, over) {
  n <- length(setting$states) * if (over == "state") 1 else length(setting$actions)
  if (n <= most_limits) return(invisible(n))
  abort_input("limits", "must be FALSE where the utility has more than ", most_limits, " entries; here it has ",
              format_count(n), ".")
}

check_settings <- function(settings) {
  if (!is.list(settings) || inherits(settings, "ibrc_setting") || !length(settings)) {
    abort_input("settings", "must be a list of settings from decision_setting(), not ", describe(settings), ".")
  }
  for (setting in settings) {
    check_seen_states(setting, "settings")
    for (part in c("states", "actions")) {
      if (!identical(setting[[part]], settings[[1]][[part]])) {
        abort_input("settings", "must all have the same ", part, ", in the same order.")
      }
    }
  }
}

check_demonstrations <- function(visits, settings) {
  if (!is.list(visits) || is.data.frame(visits) || inherits(visits, c("ibrc_plan", "ibrc_inferred"))) {
    abort_input("visits", "must be a list with one demonstration per setting, not ", describe(visits), ".")
  }
  if (length(visits) != length(settings)) {
    abort_input("visits", "must have one demonstration per setting: there are ", length(visits), " for ",
                plural(length(settings), "setting"), ".")
  }
}

# Whether limits can be computed: there is a programme for either end of each entry under every way to act where nobody
# was seen. Their time grows with the third power of entries; it may be that of `most_limits` entries with nothing open.
can_limit <- function(cases, over) {
  markov <- cases[[1]]$markov
  entries <- markov$n_states * if (over == "state") 1 else markov$n_actions
  ways <- count_completions(cases)
  ways <= most_completions && ways * entries^3 <= most_limits^3
}

unknown_limits <- paste("Limits are not known (NA): there are too many ways to act where nobody was seen. Show what",
                        "was done in more states, or leave states out.")

# The least and the most that each entry can be under any way to act where nobody was seen: a utility explains what was
# done if it does so under one of these ways.
all_limits <- function(cases, over, bound) {
  markov <- cases[[1]]$markov
  entries <- markov$n_states * if (over == "state") 1 else markov$n_actions
  reached <- matrix(0, entries, 2)
  tell_next <- programme_teller(2 * entries * count_completions(cases), "limits")
  each_completion(cases, function(held) {
    policies <- lapply(held, function(case) completed_policy(case$choice, case$markov$n_actions))
    reached <<- wider_limits(reached, gaps_at(held, policies), markov, over, tell_next)
  })
  list(lower = bound * reached[, 1], upper = bound * reached[, 2])
}

# Limits [entry, least and most], from -1 to 1, where utilities with these gaps count as well, in a box centred at 0: x
# = 1 + worth, from 0 to 2. An end that is reached already is not searched for again.
wider_limits <- function(reached, gaps, markov, over, tell_next) {
  rows <- do.call(rbind, lapply(gaps, function(gap) free_gaps(gap$rows, markov, over)))
  rows[abs(rows) < 1e-12] <- 0
  n <- ncol(rows)
  constraints <- rbind(rows, diag(n), rep(1, n))
  direction <- c(rep(">=", nrow(rows)), rep("<=", n), "=")
  rhs <- c(numeric(nrow(rows)), rep(2, n), n)
  for (entry in seq_len(n)) for (end in 1:2) {
    if (abs(reached[entry, end]) >= 1) next
    tell_next()
    sign <- c(1, -1)[end]
    price <- replace(numeric(n), entry, sign)
    found <- without_dust(solve_linear(price, constraints, direction, rhs, free = FALSE)$x[entry] - 1)
    # No more than the box, and never short of what is reached.
    reached[entry, end] <- -sign * min(max(-sign * found, -sign * reached[entry, end]), 1)
  }
  reached
}

experiment_notes <- function(solved, penalty, n_settings) {
  if (!solved$is_zero) {
    return("Utilities are known up to a constant and a scale: these sum to 0, and none exceeds the bound.")
  }
  if (penalty > 0) return(margin_notes(solved, penalty))
  paste("The answer is 0 throughout, under which anything is optimal: no utility of this kind prefers what was done",
        "to everything else in", if (n_settings == 1) "this setting." else "every one of the settings.")
}
