#' How likely each trajectory is under a fit
#'
#' `log_lik()`: the log-likelihood of every trajectory that a fit was made from, or of others, at draws from its
#' posterior. `loo()`: the approximate leave-one-out cross-validation that follows from it. It leaves out whole
#' trajectories: the visits of one trajectory share its beliefs, so a single visit cannot be predicted apart from the
#' others.
#'
#' Trajectories come in their order of first appearance, with or without groups. So two fits to the same data can be
#' compared with [loo::loo_compare()], for example one with groups and one without.
#'
#' A trajectory without any scored action ([trajectories()]) has a log-likelihood of 0 in `log_lik()`. `loo()` leaves it
#' aside, and a message says how many there are: if it counted as predicted perfectly, standard errors would be too
#' small.
#'
#' @section Where `loo()` refuses:
#' `loo()` fits nothing again. It weighs the draws of the one fit so that they stand for a fit without the trajectory
#' (Vehtari, Gelman and Gabry 2017). This is not possible everywhere. An error of class `ibrc_error_loo` says so where
#' * a group has a single trajectory: without it only the prior is left, and draws from the posterior cannot stand for
#'   it;
#' * Pareto k, which tells how far the weights can be trusted, is above 0.7 for more than 5% of the trajectories and at
#'   least two of them. Above this mark the package loo calls a weight unreliable. A few such trajectories among many
#'   are a warning (class `ibrc_warning_pareto_k`), and so are chains that do not agree, R-hat above 1.01
#'   (`ibrc_warning_convergence`);
#' * the fit has fewer than 100 draws, or draws from the prior alone;
#' * its dynamics were drawn without the actions (`uncertainty = "cut"` of [ibrc()]): weights would let the actions
#'   inform about them. With `"joint"`, the decisions of a trajectory are left out; what was seen of it still informs
#'   about the dynamics.
#'
#' [kfold()] needs none of this: it fits again without those it predicts. The error has the values of Pareto k as
#' `pareto_k`, if they were computed.
#'
#' @section People who differ:
#' For a fit with `effects` ([ibrc()]), other people's visits need the columns that its formulas name. A person with the
#' same covariates and levels as somebody in the fit shares the draws of that person. For others the parameters are put
#' together at every draw, from its coefficients and from the intercepts of levels that the fit knows. For a new level
#' (a new site; any new person, with `(1 | id)`) an intercept is drawn from the distribution of intercepts. These draws
#' follow from the fit's seed, so that the answer is the same each time. A person of the fit is recognised only if all
#' visits of the fit are given as they were; otherwise everybody counts as new. A new level of a fixed effect is an
#' error. A number that lies beyond those of the fit by more than half their range gets a warning (of class
#' `ibrc_warning_extrapolated`). [predict()][predict.ibrc_fit], [augment()][augment.ibrc_fit], [belief_paths()] and
#' [plot_simplex()] do the same.
#'
#' `loo()` weighs draws of intercepts, too, as if the trajectory had not been there to find them. Where a level has few
#' trajectories, few draws get all the weight, and the answer is not stable. Pareto k shows it, always where each person
#' has an own intercept: use [kfold()].
#'
#' @param object,x A fit ([ibrc()]) that was not made with `keep_data = FALSE` ([ibrc_control()]; `log_lik()` of
#'   `newdata` also works without the data). For `loo()`, anything else that [loo::loo()] takes as well.
#' @param draws How many draws to take, evenly spaced over the chains; `NULL` takes all of them. `loo()` takes the same
#'   number from every chain, and at least 100 in all.
#' @param newdata Trajectories ([trajectories()]) to judge instead of those of the fit: new ones, in groups that the fit
#'   has. It may be given in the place of `draws`, as in `log_lik(fit, others)`.
#' @param visits For `log_lik()`, another name for `newdata`, which other decision models have ([predict.ibrc_plan()]).
#'   For `loo()`, the trajectories that the fit was made from. The rows of `pointwise`, one per trajectory with a scored
#'   action, are then named by their identifiers, which a fit does not keep. Other trajectories are refused, as leaving
#'   them out would leave nothing out.
#' @param ... For `loo()`: `cores`, `save_psis` and `is_method` are handed to [loo::loo()]. Not
#'   used by `log_lik()`.
#' @return `log_lik()`: a matrix `[draw, trajectory]` whose row names are the draws'
#'   numbers (`.draw` in [as.data.frame()][as.data.frame.ibrc_fit]); with `newdata` its columns are named by
#'   identifier. `loo()`: an object of class `loo`; it needs the package loo.
#' @references Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation using leave-one-out
#'   cross-validation and WAIC, Statistics and Computing 27, \doi{10.1007/s11222-016-9696-4}.
#' @seealso [log_lik()] for the log-likelihood under a plan; [kfold()], which fits again.
#' @family inference
#' @rawNamespace S3method(rstantools::log_lik, ibrc_fit)
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 500, seed = 1)
#' dim(log_lik(fit, draws = 20))
#' # Patients that the fit has not seen
#' colMeans(log_lik(fit, newdata = simulate(plan, 5, seed = 2)))
#' if (requireNamespace("loo", quietly = TRUE)) loo(fit)
log_lik.ibrc_fit <- function(object, draws = 200, newdata = NULL, visits = NULL, ...) {
  check_unused(...)
  argument <- if (is.null(visits)) "newdata" else "visits"
  if (!is.null(visits)) {
    if (!is.null(newdata)) abort_input("visits", "and `newdata` are two names for the same argument: give one of them.")
    newdata <- visits
  }
  # Where other packages' methods have it.
  if (is.null(newdata) && inherits(draws, "ibrc_trajectories")) {
    newdata <- draws
    draws <- 200
  }
  if (has_several(object)) {
    if (is.null(newdata)) need_data(object, "The likelihood of each trajectory")
    return(log_lik_problems(object, newdata, function(one, visits) log_lik.ibrc_fit(one, draws, visits), argument))
  }
  if (!is.null(newdata)) object <- with_new_cells(object, newdata, argument)
  seen <- if (is.null(newdata)) kept_visits(object, "The likelihood of each trajectory") else
    code_for_fit(newdata, object, argument, taken = TRUE)
  log_lik_at(object, spaced_draws(object, draws), seen)
}

# The visits that a fit or a mode keeps, in the form in which code_for_fit() has others. `rows`: their positions,
# trajectory by trajectory.
kept_visits <- function(fit, what) {
  if (inherits(fit, "ibrc_fit")) need_data(fit, what)
  trajectory <- lapply(seq_along(fit$histories), function(g) {
    which(fit$trajectory_group == g)[trajectory_of(fit$histories[[g]])]
  })
  group <- rep(seq_along(trajectory), lengths(trajectory))
  place <- order(order(unlist(trajectory)))
  list(histories = fit$histories, actions = fit$visit_actions, group = fit$trajectory_group,
       rows = unname(split(place, factor(group, seq_along(trajectory)))))
}

# The log-likelihood [draw, trajectory] of behaviour in the groups of a fit: one tree and its actions per group.
log_lik_at <- function(fit, chosen, seen) {
  # Rows are kept until they are joined.
  cells <- as.numeric(nrow(chosen)) * length(seen$group)
  refuse_too_large(16 * cells, "draws", plural(nrow(chosen), "draw"), " of ",
                   plural(length(seen$group), "trajectory", "trajectories"), " are ", format_count(cells),
                   " numbers, twice", advice = "take fewer `draws`")
  out <- matrix(0, nrow(chosen), length(seen$group), dimnames = list(chosen$.draw, seen$who))
  for (group in unique(seen$group)) {
    tree <- seen$histories[[group]]
    action <- seen$actions[[group]]
    trajectory <- trajectory_of(tree)
    rows <- read_draws(fit, group, chosen, function(plan) {
      law <- read_histories(plan, tree, beliefs = FALSE)$log_policy
      trajectory_sums(scored_log_policy(law, tree, action), trajectory)
    })
    out[, seen$group == group] <- do.call(rbind, rows)
  }
  out
}

# Visits in the form in which a fit or a mode keeps its own, in groups that it knows. They are refused where none of its
# models allows them, or where actions are judged (`taken`) and a fixed action prior rules one out.
code_for_fit <- function(visits, fit, argument, taken = FALSE) {
  coded <- code_visits(visits, fit$problem$setting, argument)
  group <- fit_groups(fit, visits, coded, argument)
  seen <- c(group_histories(coded, group, fit), list(who = trajectory_names(visits)))
  for (one in unique(seen$group)) {
    refuse_impossible_visits(seen$coded[[one]], seen$histories[[one]], problem_of(fit, one),
                             action_prior = fit$fixed$action_prior, taken = taken)
  }
  seen
}

need_data <- function(fit, what, argument = "object") {
  check_class(fit, "ibrc_fit", argument, "ibrc()")
  if (is.null(fit$histories)) {
    abort_input(argument, "was fitted with keep_data = FALSE. ", what, " needs the coded histories: fit ",
                "again with control = ibrc_control(keep_data = TRUE), which keeps no identifiers.")
  }
}

# A data frame with one row per draw taken: .draw, .iteration and .chain. Draws stand one chain after the other, and
# each one taken is the middle of its share of them. A multiple of the number of chains takes equally many from each.
spaced_draws <- function(fit, draws) {
  size <- dim(fit$draws[[1]])[1:2]
  all <- size[1] * size[2]
  n <- if (is.null(draws)) all else min(all, check_count(draws, "draws"))
  draws_at(fit, as.integer(ceiling((seq_len(n) - 0.5) * all / n)))
}

# Draws by their numbers.
draws_at <- function(fit, draw) {
  size <- dim(fit$draws[[1]])[1:2]
  data.frame(.draw = draw, .iteration = (draw - 1L) %% size[1] + 1L, .chain = (draw - 1L) %/% size[1] + 1L)
}

# The result of `read` on the plan at each draw taken, for one group: a list, or what `reduce` makes of the result so
# far (NULL at first) and the next. Every solve starts from the values of the one before.
read_draws <- function(fit, group, chosen, read, reduce = function(so_far, one) c(so_far, list(one))) {
  problem <- problem_of(fit, group)
  start <- numeric(problem$space$n_nodes)
  out <- NULL
  for (i in seq_len(nrow(chosen))) {
    natural <- draw_natural(fit, group, chosen$.iteration[i], chosen$.chain[i])
    drawn <- plan_at(fit, natural, problem, start)
    start <- values_from(drawn)
    out <- reduce(out, read(drawn))
  }
  out
}

# Groups of coded visits as the fit has them. A new group is an error, without its name, which may tell more than it
# should.
fit_groups <- function(fit, visits, coded, argument = "visits") {
  refuse_other_problems(fit, visits, argument)
  if (has_population(fit)) return(cell_groups(fit, visits, coded, argument))
  known <- names(if (inherits(fit, "ibrc_mode")) fit$tops else fit$draws)
  group <- group_trajectories(visits, fit$by, coded, known)
  by_number <- attr(visits, "roles")$id %in% fit$by
  if (by_number && is.null(fit$histories)) {
    abort_input(argument, "cannot be matched with the groups of the fit, which are single trajectories: it was made ",
                "with keep_data = FALSE, and nothing in it says which trajectory is which.")
  }
  if (!all(levels(group) %in% known)) {
    abort_input(argument, "have a group that the fit has not met; it knows ", enumerate(known), ".")
  }
  group <- factor(group, levels = known)
  # The number of a trajectory has a meaning only among those of the fit.
  if (by_number && !is_fitted_data(group_histories(coded, group, fit), fit)) {
    abort_input(argument, "must be those that the fit was made from, all of them and in their order: its groups are ",
                "single trajectories, which it knows only by their number.")
  }
  group
}
