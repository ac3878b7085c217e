#' The beliefs behind each decision
#'
#' Carries the beliefs of an agent along what was done and seen, and beside them those of a perfectly rational agent
#' (`bounded_agent()`) with the same setting and models. It says what either believed at each visit, and what it would
#' have done there.
#'
#' The perfectly rational agent follows the actions that were taken, not its own, since nobody knows what it would have
#' seen after other actions. Its beliefs differ from the agent's where the agent leans to some of its models (`beta`).
#' Where an action is missing ([trajectories()]), each of the two continues with the mean over what it might have done
#' itself. An agent has no belief if what was seen follows nothing that it would have done, or if models that it is sure
#' of rule out what was seen. From there on everything about it is `NA`, and the probability of the action taken is 0.
#' Actions that are not scored are judged like others.
#'
#' @param object A plan ([plan_agent()]), or a fit ([ibrc()]), which is read at the
#'   posterior medians of each group ([project_behavior()]) or averaged over draws.
#' @param visits Trajectories ([trajectories()]). For a fit with groups they must have the columns that it was grouped
#'   by. For a fit by the column of identifiers they must be those of the fit.
#' @param final Whether to add one row per trajectory with its final belief: the one after the last observation, or the
#'   one at which a stop action was taken.
#' @param draws How many draws to average over, evenly spaced over the chains. Beliefs and probabilities are then means,
#'   as in [augment()][augment.ibrc_fit], which explains the rest. `NULL` reads the agent at the posterior medians. For
#'   a fit whose dynamics were inferred ([ibrc()] with `dynamics`) it averages over 50 draws, each with its own
#'   dynamics.
#' @param ... Not used.
#' @return A data frame with one row per visit, in the order given:
#'   * The columns of `visits` that are their `id`, `time`, `action` and `observation`.
#'   * `.group`: the group, with groups.
#'   * `.visit`: the number of the visit, from 1.
#'   * `.belief_<state>`: the agent's belief, one column per state.
#'   * `.probability`: the probability of the action taken.
#'   * `.fitted`: the likeliest action.
#'   * `.rational_belief_<state>`: what the perfectly rational agent would have believed.
#'   * `.rational`: what the perfectly rational agent would have done.
#'   * `.differs`: whether the action taken is another one that is worth less to the perfectly rational agent.
#'   * `.final`, with `final = TRUE` only: true in the added rows, each after the last visit of its trajectory. They
#'     have no time, action or observation.
#' @seealso [augment()][augment.ibrc_fit], which keeps all columns and says which diagnoses
#'   came late; [plot_simplex()] for pictures.
#' @family inference
#' @export
#' @examples
#' optimist <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5, beta = 1.25), diag_models())
#' visits <- simulate(optimist, nsim = 3, seed = 1)
#' belief_paths(optimist, visits, final = TRUE)
belief_paths <- function(object, visits, ...) {
  check_given(object)
  UseMethod("belief_paths")
}

#' @rdname belief_paths
#' @export
belief_paths.ibrc_plan <- function(object, visits, final = FALSE, ...) {
  check_unused(...)
  if (missing(visits)) abort_input("visits", "must be given: trajectories to carry beliefs along.")
  trace_paths(object, visits, check_flag(final, "final"))
}

#' @rdname belief_paths
#' @export
belief_paths.ibrc_fit <- function(object, visits, final = FALSE, draws = NULL, ...) {
  check_unused(...)
  if (missing(visits)) abort_input("visits", "must be given: trajectories to carry beliefs along.")
  final <- check_flag(final, "final")
  refuse_several(object, "object", "belief_paths()")
  # Before any solve.
  check_visits(visits)
  object <- with_new_cells(object, visits)
  trace_paths(object, visits, final, averaged = averaged_over(object, draws))
}

#' @export
belief_paths.default <- function(object, visits, ...) {
  abort_input("object", "must be a plan or a fit, not ", describe(object),
              ". For a mode, give its plan: project_behavior().")
}

# `object`: a plan or a fit; `chosen`: which trajectories, numbered by first appearance, NULL for all; `averaged`: over
# which draws, NULL for the medians.
trace_paths <- function(object, visits, final, chosen = NULL, averaged = NULL, plans = group_plans(object),
                        rational = NULL) {
  judge <- if (!is.null(averaged)) judge_at_draws(object, averaged) else
    judge_at_plans(plans, if (is.null(rational)) rational_plans(plans) else rational)
  setting <- plans[[1]]$setting
  coded <- code_visits(visits, setting)
  is_fit <- inherits(object, "ibrc_fit")
  group <- if (is_fit) fit_groups(object, visits, coded) else group_trajectories(visits, NULL, coded)
  coded$final <- rep(FALSE, length(coded$row))
  if (!is.null(chosen)) {
    keep <- coded$trajectory %in% (chosen - 1L)
    coded <- lapply(coded, function(x) x[keep])
  }
  if (final) coded <- add_ends(coded, setting)
  out <- each_group(coded, group, plans, function(mine, tree, i) {
    told <- path_rows(judge(i, tree, mine$action + 1L), mine, setting)
    cbind(.row = mine$row, .trajectory = mine$trajectory + 1L, .group = factor(names(plans)[i], names(plans)), told)
  })
  out <- out[order(out$.row, out$.final), ]
  roles <- attr(visits, "roles")
  given <- as.data.frame(visits)[out$.row, c(roles$id, roles$time, roles$action, roles$observation)]
  given[out$.final, c(roles$time, roles$action, roles$observation)] <- NA
  rownames(given) <- NULL
  told <- out[setdiff(names(out), c(".row", if (is.null(chosen)) ".trajectory", if (!final) ".final",
                                    if (!is_fit || !is_grouped(object)) ".group"))]
  rownames(told) <- NULL
  cbind(given, told)
}

# One more visit per trajectory, for the belief after the last. A stop action leaves the belief as it was when it was
# taken: what is seen after it belongs to something new.
add_ends <- function(coded, setting) {
  last <- which(!duplicated(coded$trajectory, fromLast = TRUE))
  # What a missing action would have shown is not known either; it may have been a stop action.
  coded$observation[last[is.na(coded$action[last]) | is_stop(coded$action[last], setting)]] <- -1L
  longer <- lapply(coded, function(x) c(x, x[last]))
  longer$final[-seq_along(coded$row)] <- TRUE
  in_order <- order(longer$trajectory, longer$final)
  lapply(longer, function(x) x[in_order])
}

# Actions from 0.
is_stop <- function(action, setting) setting$actions[action + 1L] %in% setting$stop_actions

path_rows <- function(judged, mine, setting) {
  own <- judged$own
  best <- judged$best
  stopped <- which(mine$final & is_stop(mine$action, setting))
  own$belief[stopped, ] <- own$belief[stopped - 1, ]
  best$belief[stopped, ] <- best$belief[stopped - 1, ]
  out <- cbind(.visit = sequence(rle(mine$trajectory)$lengths), .final = mine$final,
               belief_columns(own$belief, ".belief_"), .probability = own$probability,
               .fitted = name_actions(own$likeliest, setting),
               belief_columns(best$belief, ".rational_belief_"),
               .rational = name_actions(best$likeliest, setting), .differs = best$loss > 0)
  out[mine$final, c(".probability", ".fitted", ".rational", ".differs")] <- NA
  out
}
