#' Behaviour replicated from a fit
#'
#' Simulates what agents with parameters drawn from the posterior would have done: in each group as many trajectories as
#' were seen, in the setting of the fit. Where starts differ ([decision_setting()]), each replicate starts like the
#' trajectory that it stands for.
#'
#' With `horizon = NULL`, follow-up is that of the data. A trajectory that ended without a stop action was cut off
#' there, and so is its replicate. One that ended by a stop action may go on for as long as the longest one seen. In a
#' setting without stop actions the lengths are therefore those seen, as they carry no information about the agent.
#'
#' @param object A fit ([ibrc()]).
#' @param draws How many draws from the posterior to take, evenly spaced over the
#'   chains; each gives a replicate of the whole data. `NULL` takes all of them.
#' @param seed A number that sets the random generator; the generator's state is put back afterwards. `NULL` draws from
#'   the present state, and moves it on.
#' @param horizon The most visits that a trajectory may have; by default as far as the
#'   data go. It must be given for a fit made with `keep_data = FALSE` ([ibrc_control()]).
#' @param ... Not used.
#' @return A data frame with one row per visit: `.draw` (as in
#'   [as.data.frame()][as.data.frame.ibrc_fit]), `group`, `id` (numbered through the
#'   groups; not an identifier of the data), `time` (from 0), `action` and
#'   `observation`. No observation is missing in it.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 300, seed = 1)
#' replicated <- posterior_predict(fit, draws = 10, seed = 1)
#' head(replicated)
posterior_predict <- function(object, ...) {
  check_given(object)
  UseMethod("posterior_predict")
}

#' @rdname posterior_predict
#' @rawNamespace S3method(rstantools::posterior_predict, ibrc_fit)
#' @export
posterior_predict.ibrc_fit <- function(object, draws = 50, seed = NULL, horizon = NULL, ...) {
  check_unused(...)
  refuse_several(object, "object", "posterior_predict()")
  object <- only_met(object)
  ends <- follow_up(object, horizon)
  chosen <- spaced_draws(object, draws)
  # Six columns of at most eight bytes, and as much again for copies.
  most <- sum(unlist(ends)) * nrow(chosen)
  refuse_too_large(64 * most, "draws", "`draws` = ", format_count(nrow(chosen)), " of up to ",
                   format_count(sum(unlist(ends))), " visits each is ", format_count(most), " visits",
                   advice = "take fewer draws, or a shorter `horizon`")
  groups <- names(object$draws)
  before <- cumsum(c(0L, lengths(ends)))
  begin <- start_labels(object)
  pieces <- drawn_from(seed, lapply(seq_along(groups), function(group) {
    replicates <- read_draws(object, group, chosen, function(plan) {
      replicate_visits(plan, ends[[group]], begin[[group]])
    })
    n_rows <- vapply(replicates, nrow, 0L)
    out <- do.call(rbind, replicates)
    out$id <- out$id + before[group]
    cbind(.draw = rep(chosen$.draw, n_rows), group = factor(groups[group], levels = groups), out)
  }))
  out <- do.call(rbind, pieces)
  out <- out[order(out$.draw), ]
  rownames(out) <- NULL
  out
}

#' @export
posterior_predict.default <- function(object, ...) hand_on(object, "rstantools", "posterior_predict", ...)

# One replicate of a group; trajectory i has at most ends[i] visits, and starts as the i-th that was seen.
replicate_visits <- function(plan, ends, begin = NULL) {
  visits <- as.data.frame(simulate(plan, nsim = length(ends), horizon = max(ends), start_group = begin))[1:4]
  names(visits) <- c("id", "time", "action", "observation")
  visits[visits$time < ends[visits$id], ]
}

# How many visits each trajectory may have, one vector per group.
follow_up <- function(fit, horizon) {
  if (!is.null(horizon)) {
    horizon <- check_count(horizon, "horizon", most = 1e6)
    return(lapply(unname(fit$group_sizes), function(n) rep(horizon, n)))
  }
  need_data(fit, "Follow-up as in the data (horizon = NULL)")
  seen <- lapply(fit$histories, function(tree) tabulate(trajectory_of(tree)))
  longest <- max(unlist(seen))
  stops <- which(fit$problem$setting$actions %in% fit$problem$setting$stop_actions)
  unname(Map(function(length, actions) {
    stopped <- actions[cumsum(length)] %in% stops
    ifelse(stopped, longest, length)
  }, seen, fit$visit_actions))
}
