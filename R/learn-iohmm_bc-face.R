# How a model that was cloned from beliefs predicts, simulates, prints and gives tables.

# Beliefs before each visit, [state, visit]. An observation that is impossible under the model is ignored.
beliefs_before <- function(object, coded) {
  known <- with_some_action(refuse_lost_actions(coded))
  can_be <- apply(object$emission, 3:2, max) > 0
  seen <- known$observation >= 0
  seen[seen] <- can_be[cbind(known$action[seen], known$observation[seen]) + 1L]
  known$observation[!seen] <- -1L
  chains <- iohmm_chains(known)
  repeat {
    expected <- .Call(ffi_iohmm_expect, chains, iohmm_laws(object))
    if (expected$code == 0L) break
    # An observation that is impossible only after this history.
    chains$observation[expected$where] <- -1L
  }
  expected$filter[, chains$visit, drop = FALSE]
}

# Probabilities [visit, action], from beliefs [state, visit].
rule_law <- function(beliefs, centres, sharpness) {
  score <- crossprod(beliefs, centre_scores(centres, sharpness))
  score <- exp(score - do.call(pmax, as.data.frame(score)))
  score / rowSums(score)
}

action_law_of.ibrc_iohmm_bc <- function(object, coded) {
  law <- rule_law(beliefs_before(object, coded), object$centres, object$sharpness)
  dimnames(law) <- list(NULL, object$actions)
  law
}

#' Simulate behaviour that was learned from beliefs
#'
#' Draws trajectories from a model of [fit_iohmm_bc()]. States move and show themselves by its dynamics, beliefs follow
#' what is seen, and actions are drawn by the rule.
#'
#' @param object A model ([fit_iohmm_bc()]).
#' @param nsim Number of trajectories.
#' @param seed As in [stats::simulate()]: the generator's state is put back afterwards.
#'   `NULL` draws from the present state, and moves it on.
#' @param horizon The most visits of a trajectory. By default as many as the longest trajectory that it learned from.
#' @param stop_actions Names of actions after which a trajectory ends.
#' @param cores Threads to use. Draws do not depend on it.
#' @param ... Not used.
#' @return Trajectories ([trajectories()]) with columns `id`, `time` (from 0), `action` and `observation`.
#' @family decision models
#' @export
#' @examples
#' plan <- plan_agent(tiger_setting(), bounded_agent(alpha = 20))
#' visits <- simulate(plan, nsim = 100, seed = 1, horizon = 10)
#' model <- fit_iohmm_bc(visits, states = 2, starts = 4, seed = 1)
#' simulate(model, nsim = 5, seed = 1)
simulate.ibrc_iohmm_bc <- function(object, nsim = 1, seed = NULL, horizon = NULL, stop_actions = character(),
                                   cores = getOption("ibrc.cores", 1), ...) {
  check_unused(...)
  if (is.null(horizon)) horizon <- object$taught$longest
  plan <- cloned_plan(object, stop_actions)
  simulate(plan, nsim = nsim, seed = seed, horizon = horizon, cores = cores)
}

# The model as a plan. Scores are linear in a belief, so that a lattice that has only the corners is exact.
cloned_plan <- function(object, stop_actions = character()) {
  setting <- decision_setting(object$states, object$actions, object$observations, object$transition, object$emission,
                              utility = matrix(0, length(object$states), length(object$actions)), discount = 0,
                              start = object$start, stop_actions = stop_actions)
  plan_iohmm_rule(setting, object$centres, object$sharpness, resolution = 1)
}

#' @export
format.ibrc_iohmm_bc <- function(x, ...) {
  near <- apply(format(round(x$centres, 2), nsmall = 2, trim = TRUE), 1, paste, collapse = ", ")
  chosen <- x$starts$objective > max(x$starts$objective) - near_top
  c(paste0("Behaviour by beliefs about ", plural(length(x$states), "state"), ", ",
           if (x$joint) "dynamics and rule learned together" else "dynamics learned from what was seen"),
    paste0("  states        ", listing(x$states)),
    "  centres", paste0("    ", format(x$actions), "  ", near),
    paste0("  sharpness     ", format_number(x$sharpness), if (x$fixed) ", as given"),
    paste0("  log score     ", format_number(x$log_lik_actions / x$taught$scored), " per action"),
    paste0("  ", sum(chosen), " of ", plural(nrow(x$starts), "climb"), " reached the top",
           if (!x$converged) ", which were still rising: raise `max_iter`"),
    taught_words(x$taught))
}

#' @export
tidy.ibrc_iohmm_bc <- function(x, ...) {
  check_unused(...)
  rows <- function(parameter, cells, names) {
    over <- expand.grid(dimnames(cells), stringsAsFactors = FALSE)
    names(over) <- names
    out <- data.frame(parameter = parameter, state = NA_character_, action = NA_character_, outcome = NA_character_,
                      estimate = as.vector(cells))
    out[names] <- over
    out
  }
  law <- c("state", "outcome", "action")
  out <- rbind(rows("start", array(x$start, length(x$start), list(x$states)), "state"),
               rows("transition", x$transition, law), rows("emission", x$emission, law),
               rows("centre", x$centres, c("action", "state")),
               data.frame(parameter = "sharpness", state = NA_character_, action = NA_character_,
                          outcome = NA_character_, estimate = x$sharpness))
  rownames(out) <- NULL
  out
}

#' @export
glance.ibrc_iohmm_bc <- function(x, ...) {
  check_unused(...)
  data.frame(states = length(x$states), joint = x$joint, parameters = x$n_parameters, sharpness = x$sharpness,
             objective = x$objective, log_lik_actions = x$log_lik_actions,
             log_lik_observations = x$log_lik_observations, starts = nrow(x$starts),
             reached = sum(x$starts$objective > max(x$starts$objective) - near_top), converged = x$converged,
             trajectories = x$taught$trajectories, visits = x$taught$visits, scored = x$taught$scored)
}
