# One problem of a fit to several (infer-problems.R), as a fit of that problem.

#' One problem of a fit to several
#'
#' Some decision makers face several problems, and [ibrc()] fits these together (its argument `problem`). This function
#' takes one of the problems out of such a fit. The result has the draws of the agent, which all problems share, and the
#' visits of the one problem. Functions that look at one setting can then read it, such as [pp_check()],
#' [augment()][augment.ibrc_fit] and [decision_effects()].
#'
#' Functions that ask about the whole posterior refuse such a part: [verdict()], [profile_likelihood()], [extend_fit()]
#' and others. Give them the fit itself. Visits that you hand to the part must be of its problem. Groups of `by` without
#' a visit in the problem are left out.
#'
#' @param object A fit ([ibrc()]) or a mode ([ibrc_mode()]) of several problems.
#' @param problem The name of one of them, as in the list of settings.
#' @return A fit or a mode, like `object`, of that problem.
#' @family inference
#' @export
#' @examples
#' settings <- list(easy = diag_setting(accuracy = 0.8), hard = diag_setting(accuracy = 0.6))
#' visits <- lapply(names(settings), function(name) {
#'   plan <- plan_agent(settings[[name]], bounded_agent(alpha = 1), resolution = 20)
#'   one <- as.data.frame(simulate(plan, 30, seed = 1))
#'   transform(one, id = paste(name, id), test = name)
#' })
#' visits <- trajectories(do.call(rbind, visits), covariates = "test")
#' mode <- ibrc_mode(visits, settings, prior = ibrc_prior(alpha ~ lognormal(0, 1)),
#'                   problem = "test", resolution = 20, seed = 1)
#' mode
#' head(predict(one_problem(mode, "hard")))
one_problem <- function(object, problem) {
  check_given(object, problem)
  if (!inherits(object, c("ibrc_fit", "ibrc_mode"))) {
    abort_input("object", "must come from ibrc() or ibrc_mode(), not ", describe(object), ".")
  }
  if (!has_several(object)) abort_input("object", "has one problem only: it can be read as it is.")
  problem_view(object, check_choice(problem, problem_names(object), "problem"))
}

# Cells of a population stay, with or without visits: they are what its people are known by.
problem_view <- function(object, name) {
  several <- object$several
  counts <- problem_counts(object)
  out <- object
  out$several <- NULL
  out$part <- list(problem = name, column = several$column, of = problem_names(object))
  out$problem <- several$problems[[name]]
  # Names stay where there is one group only.
  for (part in names(counts)) out[[part]] <- stats::setNames(counts[[part]][, name], rownames(counts[[part]]))
  out$start_sizes <- several$start_sizes[[name]]
  if (!is.null(object$histories)) {
    out$histories <- of_problem(object$histories, name, met = FALSE)
    out$visit_actions <- of_problem(object$visit_actions, name, met = FALSE)
    out$trajectory_group <- object$trajectory_group[several$of == match(name, problem_names(object))]
  }
  out["chain"] <- list(NULL)
  if (is.null(object$effects)) keep_groups(out, which(counts$group_sizes[, name] > 0)) else out
}

# Some of the groups of a fit or a mode.
keep_groups <- function(object, groups) {
  whole <- object
  by_group <- c("draws", "tops", "histories", "visit_actions", "group_sizes", "n_visits", "n_scored", "acceptance")
  for (part in intersect(by_group, names(object))) {
    if (!is.null(object[[part]])) object[[part]] <- object[[part]][groups]
  }
  if (!is.null(object$start_sizes)) object$start_sizes <- object$start_sizes[, groups, drop = FALSE]
  object$trajectory_group <- match(object$trajectory_group, groups)
  if (is.null(object$draws)) return(object)
  n_chains <- dim(whole$draws[[1]])[2]
  chains <- rep((groups - 1L) * n_chains, each = n_chains) + seq_len(n_chains)
  object$log_posterior <- object$log_posterior[, chains, drop = FALSE]
  left <- setdiff(names(whole$draws), names(object$draws))
  if (!is.null(object$checks)) object$checks <- object$checks[!object$checks$group %in% left, ]
  object
}

# Without cells that have not met the problem, for what looks at visits cell by cell.
only_met <- function(object) {
  if (is.null(object$part) || all(object$group_sizes > 0)) return(object)
  keep_groups(object, which(object$group_sizes > 0))
}

# Trajectories, visits and scored visits, each [group, problem]; without its data, as a fit has kept them.
problem_counts <- function(object) {
  if (is.null(object$histories)) return(object$several$counts)
  names <- problem_names(object)
  groups <- names(if (inherits(object, "ibrc_mode")) object$tops else object$draws)
  count <- function(of_part) {
    found <- vapply(seq_along(names), of_part, numeric(length(groups)))
    matrix(found, length(groups), dimnames = list(groups, names))
  }
  trees <- function(k) of_problem(object$histories, names[k], met = FALSE)
  list(group_sizes = count(function(k) {
    as.numeric(tabulate(object$trajectory_group[object$several$of == k], length(groups)))
  }), n_visits = count(function(k) visit_counts(trees(k))), n_scored = count(function(k) scored_counts(trees(k))))
}
