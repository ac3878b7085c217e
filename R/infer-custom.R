#' Infer by any comparison of behaviours
#'
#' The general inverse planner. It looks for the parameters of a planner under which imitating behaviour is nearest to
#' what was demonstrated, by any comparison of the two that you give.
#'
#' The least discrepancy is searched for by climbing (BFGS with numerical derivatives; a climb is repeated while that
#' gains) from `start` and from points around it, and the best is kept. Some discrepancies are not smooth, such as those
#' of planners that always take the best action. They have steps on which a climb sees no slope: give more `starts`
#' there, and read `reached` in `details`, which says how many of the climbs got to the same depth.
#'
#' @section What it can and cannot say:
#' It says as much as the discrepancy does. There are no standard errors, as a discrepancy need not be a likelihood.
#' Whether there are many answers is said in a note: it counts the directions along which the discrepancy hardly
#' changes. With `function(demonstrated, imitating) -sum(log_lik(imitating, demonstrated))` this is maximum likelihood,
#' and [infer_matching()] does it faster.
#'
#' @param visits What was demonstrated, in any form that `discrepancy` takes: trajectories ([trajectories()]), a plan, a
#'   matrix of probabilities.
#' @param setting A setting ([decision_setting()]).
#' @param planner A function(setting, theta) that returns a plan; `theta` is a vector with the names of `start`. Or the
#'   name of one of the planners `"kl"`, `"boltzmann"`, `"mdp"` or `"pomdp"`, whose `theta` may have `discount` and
#'   entries of the utility, as in `"utility[well,treat]"`; for the first two also `alpha`, which is 1 where it is not
#'   looked for.
#' @param discrepancy A function(demonstrated, imitating) of `visits` and a plan that returns one number. It is smaller
#'   the nearer the two are. `Inf` rules parameters out.
#' @param start Numbers to begin from, named by parameter.
#' @param lower,upper Bounds of parameters, named by them. Those not named have none.
#' @param starts From how many points to climb.
#' @param seed A number that makes the other points repeatable.
#'
#' @return An object of class `ibrc_inferred`. [tidy()][tidy.ibrc_inferred] has one row per parameter; `objective` is
#'   the discrepancy at the answer; `details` say whether the search `converged` and how many of its `climbs` `reached`
#'   the same depth. Neither `visits` nor `discrepancy` is kept.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)), treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9,
#'   start = c(1, 0)
#' )
#' demonstrated <- rbind(c(0.9, 0.1), c(0.3, 0.7))
#' # How patient is somebody who acts like this, and how careful?
#' infer_custom(demonstrated, setting, "kl", start = c(alpha = 1, discount = 0.5),
#'              discrepancy = function(demonstrated, imitating) {
#'                sum((policy(imitating) - demonstrated)^2)
#'              }, starts = 2, seed = 1)
infer_custom <- function(visits, setting, planner, discrepancy, start, lower = NULL, upper = NULL,
                         starts = 4, seed = NULL) {
  check_given(visits, setting, planner, discrepancy, start)
  check_demonstration(visits)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  planner <- check_custom_planner(planner, setting)
  if (!is.function(discrepancy)) {
    abort_input("discrepancy", "must be a function(demonstrated, imitating), not ", describe(discrepancy), ".")
  }
  start <- check_named_numbers(start, "start")
  if (is.character(planner)) check_custom_terms(start, setting, planner)
  unit <- unit_of_custom(planner, start)
  lower <- check_ends(lower, "lower")
  upper <- check_ends(upper, "upper")
  starts <- check_count(starts, "starts", most = 1e4)
  if (!is.null(seed)) seed <- check_seed(seed)
  if (is.character(planner)) {
    ends <- natural_ends(start, lower, upper)
    lower <- ends$lower
    upper <- ends$upper
    planner <- planner_of_terms(planner)
  }
  law <- function_law(start, lower, upper, NULL)
  # One call outside of the search, so that its errors are shown.
  compare <- function(plan) {
    force(plan)
    check_discrepancy(call_user(discrepancy, visits, plan, argument = "discrepancy"))
  }
  compare(check_planned(call_user(planner, setting, start, argument = "planner"), setting))
  trial <- planner_trial(planner, setting, function(plan) -compare(plan))
  surface <- search_surface(trial$height, law, with_prior = FALSE)
  top <- search_top(surface, law, start, starts, seed)
  if (is.null(top)) {
    abort(c("impossible", "data"), "`discrepancy` is infinite at `start` and wherever else the search began: ",
          "begin nearer to the behaviour.", argument = "start")
  }
  theta <- stats::setNames(prior_natural(law, matrix(top$theta, 1))[1, ], names(law))
  errors <- search_errors(surface, top, law)
  new_ibrc_inferred(
    "custom", setting, planner(setting, theta), data.frame(term = names(theta), estimate = unname(theta)),
    -top$density, details = c(custom_details(visits, top, errors), list(alpha = unit)),
    notes = c(search_notes(top, errors), failed_note(trial$failed()),
              if (!is.null(unit)) "Held, as the unit of utilities: `alpha` is 1.")
  )
}

# The discrepancy decides what `visits` may be, but they must be something that behaviour can be.
check_demonstration <- function(visits) {
  known <- inherits(visits, c("ibrc_trajectories", "ibrc_plan", "ibrc_inferred", "ibrc_fit")) ||
    is.numeric(visits) && is.matrix(visits) && length(visits)
  if (!known) {
    abort_input("visits", "must be trajectories, a plan or a matrix of probabilities, not ", describe(visits), ".",
                topic = "trajectories")
  }
}

check_discrepancy <- function(x) {
  if (!is.numeric(x) || length(x) != 1 || is.na(x) || x == -Inf) {
    abort_input("discrepancy", "must return one number, not ", if (identical(x, -Inf)) "-Inf" else describe(x), ".")
  }
  as.numeric(x)
}

# Planners that are known by name.
known_to_custom <- c("kl", "boltzmann", "mdp", "pomdp")

# Those of them whose choices depart from the best, as freely as `alpha` says.
noisy_by_name <- c("kl", "boltzmann")

check_custom_planner <- function(planner, setting) {
  if (is.function(planner)) return(planner)
  if (!is.character(planner) || length(planner) != 1 || !planner %in% known_to_custom) {
    abort_input("planner", "must be a function(setting, theta) that returns a plan, or one of ",
                enumerate(known_to_custom), ", not ", describe(planner), ".")
  }
  if (planner %in% c("kl", "mdp")) check_observed(setting)
  planner
}

check_custom_terms <- function(start, setting, planner) {
  known <- c(if (planner %in% noisy_by_name) "alpha", "discount")
  unknown <- setdiff(names(start), c(known, all_entries(setting)))
  if (length(unknown)) {
    abort_input("start", "names ", enumerate(unknown), "; this planner has ", enumerate(known), " and ",
                enumerate(all_entries(setting)), ".")
  }
}

# The price at which a planner that has a name acts where none is looked for; NULL where there is none.
unit_of_custom <- function(planner, start) {
  if (is.character(planner) && planner %in% noisy_by_name && !"alpha" %in% names(start)) 1
}

# A price is positive, a discount from 0 to less than 1.
natural_ends <- function(start, lower, upper) {
  own <- intersect(names(start), c("alpha", "discount"))
  lower[setdiff(own, names(lower))] <- 0
  if ("discount" %in% own && !"discount" %in% names(upper)) upper[["discount"]] <- 1
  list(lower = lower, upper = upper)
}

# A function(setting, theta) of the planners that have names.
planner_of_terms <- function(planner) {
  force(planner)
  function(setting, theta) {
    wanted <- setting_at(setting, theta, NULL)
    alpha <- if ("alpha" %in% names(theta)) theta[["alpha"]] else 1
    switch(planner, kl = plan_kl(wanted, alpha), boltzmann = plan_boltzmann(wanted, alpha),
           mdp = plan_mdp(wanted), pomdp = plan_pomdp(wanted))
  }
}

custom_details <- function(visits, top, errors) {
  out <- list(converged = top$converged, reached = top$reached, climbs = top$climbs, unseen = errors$flat)
  if (!inherits(visits, "ibrc_trajectories")) return(out)
  c(out, list(n_trajectories = length(trajectory_names(visits)), n_visits = nrow(visits), left_out = 0L))
}
