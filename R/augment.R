#' @importFrom generics augment
#' @export
generics::augment

#' What a fit makes of each visit
#'
#' Adds to each visit the belief that the agent held at it and how likely the action
#' taken was there, for the agent at the posterior medians of its group
#' ([project_behavior()]).
#'
#' @param x A fit ([ibrc()]).
#' @param visits Trajectories ([trajectories()]): those of the fit, or others. For a
#'   fit with groups they must have the columns that it was grouped by. By default the
#'   coded visits that the fit keeps, which have no identifiers.
#' @param ... Not used.
#' @return A data frame with a row a visit, in the order given: the columns of
#'   `visits`, then `.belief_<state>`, a column a state; `.probability`, of the action
#'   taken; and `.fitted`, the likeliest action. Without `visits` its first columns are
#'   `trajectory` (numbered by first appearance), `group` (with groups), `visit` and
#'   `action`.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' visits <- simulate(plan, 40, seed = 1)
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             chains = 2, iter = 300, seed = 1)
#' head(augment(fit, visits))
augment.ibrc_fit <- function(x, visits = NULL, ...) {
  check_unused(...)
  plans <- project_behavior(x)
  if (!is_grouped(x)) plans <- list(plans)
  if (is.null(visits)) return(augment_kept(x, plans))
  coded <- code_visits(visits, x$plan$setting)
  group <- known_groups(group_trajectories(visits, x$by, coded), names(x$draws))
  added <- lapply(seq_along(plans), function(i) {
    mine <- group_coded(coded, group, levels(group)[i])
    if (!length(mine$row)) return(NULL)
    tree <- build_histories(mine, x$plan$setting)
    refuse_impossible_visits(mine, tree, plans[[i]])
    cbind(.row = mine$row, judge_visits(plans[[i]], tree, mine$action + 1L))
  })
  added <- do.call(rbind, added)
  added <- added[order(added$.row), -1, drop = FALSE]
  rownames(added) <- NULL
  cbind(as.data.frame(visits), added)
}

# Groups as the fit has them; one that it has not met is an error, without its name,
# which may tell more than it should.
known_groups <- function(group, known) {
  if (!all(levels(group) %in% known)) {
    abort_input("visits", "have a group that the fit has not met; it knows ", enumerate(known), ".")
  }
  factor(group, levels = known)
}

augment_kept <- function(fit, plans) {
  need_data(fit, "augment() without `visits`", "x")
  pieces <- lapply(seq_along(plans), function(i) {
    tree <- fit$histories[[i]]
    within <- trajectory_of(tree)
    action <- fit$visit_actions[[i]]
    cbind(data.frame(trajectory = which(fit$trajectory_group == i)[within],
                     group = factor(names(fit$draws)[i], levels = names(fit$draws)),
                     visit = sequence(tabulate(within)),
                     action = name_actions(action, fit$plan$setting)),
          judge_visits(plans[[i]], tree, action))
  })
  out <- do.call(rbind, pieces)
  out <- out[order(out$trajectory), ]
  rownames(out) <- NULL
  if (!is_grouped(fit)) out$group <- NULL
  out
}

# The belief at each visit of a tree, the probability of its action (from 1) there, and
# the likeliest action.
judge_visits <- function(plan, tree, action) {
  reading <- read_histories(plan, tree)
  belief <- t(reading$belief)
  colnames(belief) <- paste0(".belief_", plan$setting$states)
  likeliest <- max.col(t(reading$log_policy), ties.method = "first")
  data.frame(belief[tree$visit, , drop = FALSE],
             .probability = exp(reading$log_policy[cbind(action, tree$visit)]),
             .fitted = name_actions(likeliest[tree$visit], plan$setting), check.names = FALSE)
}

name_actions <- function(action, setting) factor(setting$actions[action], levels = setting$actions)
