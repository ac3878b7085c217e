#' @importFrom generics augment
#' @export
generics::augment

#' What a fit says about each visit
#'
#' Adds to each visit the belief that the agent held, how likely the action taken was there, and what a perfectly
#' rational agent would have done. The agent is that at the posterior medians of its group ([project_behavior()]), or
#' results are averages over draws.
#'
#' With `draws`, each draw has its own plan, and its own dynamics where those were inferred ([ibrc()] with `dynamics`).
#' Beliefs and probabilities are means. The likeliest action is the one with the highest mean. An action `.differs` if
#' it does so at more than half of the draws. `.due` and `.late` follow from these.
#'
#' The perfectly rational agent (`bounded_agent()`) has the setting and the models of the fitted one. It sees what was
#' seen and follows what was done, but carries its own beliefs. An action `.differs` only if it is worth less to this
#' agent than its likeliest action.
#'
#' A diagnosis is *due* when the perfectly rational agent would make it. If the setting has stop actions, that is the
#' first visit at which its likeliest action is one of them, and the diagnosis is made when any stop action is taken. If
#' it has none, a diagnosis is due at the first visit at which the rational agent's belief in some state is at least
#' `certain`. It is made at the first visit at which the fitted agent's belief in that same state is at least `certain`.
#' Only visits count: what the last observation makes certain is not counted until there is another visit. A diagnosis
#' that is made before it is due has a negative `.late`, unless it ends the trajectory: then it was never due.
#'
#' An agent may lose its belief. Either it is sure of models that do not allow what was seen, or an action is missing
#' and what was seen after it follows no action that the agent would have taken. The latter easily happens to the
#' perfectly rational agent. From there on everything about that agent is `NA`, and the probability of the action taken
#' is 0.
#'
#' Actions that are not scored ([trajectories()]) are judged like others. Leave them out of counts of `.differs` if they
#' were forced.
#'
#' @param x A fit ([ibrc()]).
#' @param visits Trajectories ([trajectories()]): those of the fit, or others. For a fit with groups they must have the
#'   columns that it was grouped by. For a fit by the column of identifiers they must be those of the fit. By default
#'   the coded visits that the fit keeps, which have no identifiers.
#' @param certain The belief at which a diagnosis counts as made in a setting without stop
#'   actions: more than one half.
#' @param draws How many draws to average over, evenly spaced over the chains. `NULL` takes the agent at the posterior
#'   medians. For a fit whose dynamics were inferred it takes 50 draws, as medians of dynamics and of agents need not
#'   fit together.
#' @param ... Not used.
#' @return A data frame with one row per visit, in the order given:
#'   * The columns of `visits`. Without `visits`: `trajectory` (numbered by first appearance), `group` (with groups),
#'     `visit` and `action`.
#'   * `.belief_<state>`: the agent's belief, one column per state.
#'   * `.probability`: the probability of the action taken.
#'   * `.fitted`: the likeliest action.
#'   * `.rational`: the likeliest action of the perfectly rational agent.
#'   * `.differs`: whether the action taken is another (see the details).
#'   * `.due`: the visit (from 1) at which the trajectory's diagnosis was due, `NA` where it never was.
#'   * `.late`: how many visits later it was made, `NA` where it was never due or never made.
#'
#'   The last two are the same for all visits of a trajectory.
#' @seealso [belief_paths()] for the beliefs of either agent.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' visits <- simulate(plan, 40, seed = 1)
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             chains = 2, iter = 300, seed = 1)
#' told <- augment(fit, visits)
#' head(told)
#' # How late diagnoses came, in visits.
#' table(told$.late[!duplicated(told$id)], useNA = "ifany")
augment.ibrc_fit <- function(x, visits = NULL, certain = 0.9, draws = NULL, ...) {
  check_unused(...)
  certain <- check_certain(certain)
  refuse_several(x, "x", "augment()")
  if (is.null(visits)) x <- only_met(x)
  chosen <- averaged_over(x, draws)
  # Before any solve.
  if (!is.null(visits)) {
    coded <- code_visits(visits, x$problem$setting)
    x <- with_new_cells(x, visits)
    group <- fit_groups(x, visits, coded)
  }
  plans <- group_plans(x)
  judge <- if (is.null(chosen)) judge_at_plans(plans) else judge_at_draws(x, chosen)
  if (is.null(visits)) return(augment_kept(x, judge, certain))
  added <- each_group(coded, group, plans, function(mine, tree, i) {
    action <- mine$action + 1L
    cbind(.row = mine$row, flag_visits(judge(i, tree, action), action, mine$trajectory, x$problem$setting, certain))
  })
  added <- added[order(added$.row), -1, drop = FALSE]
  rownames(added) <- NULL
  cbind(as.data.frame(visits), added)
}

check_certain <- function(certain) {
  certain <- check_number(certain, "certain")
  if (certain <= 0.5 || certain > 1) {
    abort_input("certain", "must be more than one half and at most 1; it is ", format(certain), ".")
  }
  certain
}

# The plan of each group, by name; that of a plan or of a fit without groups is "all".
group_plans <- function(object) {
  if (inherits(object, "ibrc_plan")) return(list(all = object))
  plans <- project_behavior(object)
  if (inherits(plans, "ibrc_plan")) list(all = plans) else plans
}

# Rows that `read` makes of the coded visits of each group, their tree and its number.
each_group <- function(coded, group, plans, read) {
  pieces <- lapply(seq_along(plans), function(i) {
    mine <- group_coded(coded, group, levels(group)[i])
    if (!length(mine$row)) return(NULL)
    tree <- build_histories(mine, plans[[i]]$setting)
    refuse_impossible_visits(mine, tree, plans[[i]])
    read(mine, tree, i)
  })
  do.call(rbind, pieces)
}

augment_kept <- function(fit, judge, certain) {
  need_data(fit, "augment() without `visits`", "x")
  pieces <- lapply(seq_along(fit$draws), function(i) {
    tree <- fit$histories[[i]]
    within <- trajectory_of(tree)
    action <- fit$visit_actions[[i]]
    cbind(data.frame(trajectory = which(fit$trajectory_group == i)[within],
                     group = factor(names(fit$draws)[i], levels = names(fit$draws)),
                     visit = sequence(tabulate(within)),
                     action = name_actions(action, fit$problem$setting)),
          flag_visits(judge(i, tree, action), action, within, fit$problem$setting, certain))
  })
  out <- do.call(rbind, pieces)
  out <- out[order(out$trajectory), ]
  rownames(out) <- NULL
  without_lone_group(out, names(fit$draws))
}

# What augment() adds to judged visits; visits of a trajectory stand together, actions from 1.
flag_visits <- function(judged, action, trajectory, setting, certain) {
  own <- judged$own
  best <- judged$best
  due <- lateness(own, best, action, trajectory, setting, certain)
  cbind(belief_columns(own$belief, ".belief_"), .probability = own$probability,
        .fitted = name_actions(own$likeliest, setting), .rational = name_actions(best$likeliest, setting),
        .differs = best$loss > 0, .due = due$due, .late = due$late)
}

# For each visit, at which visit the diagnosis of its trajectory was due, and how many
# visits later it was made.
lateness <- function(own, best, action, trajectory, setting, certain) {
  visit <- sequence(rle(trajectory)$lengths)
  stops <- which(setting$actions %in% setting$stop_actions)
  at <- seq_along(visit)
  if (length(stops)) {
    due <- first_row(best$likeliest %in% stops, trajectory)
    made <- first_row(action %in% stops, trajectory)
  } else {
    # Rounding may make a belief that is just large enough a little too small.
    enough <- certain - 1e-9
    surest <- max.col(best$belief, ties.method = "first")
    due <- first_row(best$belief[cbind(at, surest)] >= enough, trajectory)
    made <- first_row(own$belief[cbind(at, surest[due])] >= enough, trajectory)
  }
  list(due = visit[due], late = visit[made] - visit[due])
}

# The first row of each row's trajectory where something holds; NA where it never does.
first_row <- function(holds, trajectory) {
  rows <- which(holds)
  first <- rows[!duplicated(trajectory[rows])]
  first[match(trajectory, trajectory[first])]
}

belief_columns <- function(belief, prefix) {
  # Where there is none; as predict() has it.
  belief[is.nan(belief)] <- NA
  colnames(belief) <- paste0(prefix, colnames(belief))
  data.frame(belief, check.names = FALSE)
}
