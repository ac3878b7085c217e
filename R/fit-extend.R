#' Make a fit longer
#'
#' Goes on with the chains of a finished fit, with what they learnt in warm-up: the draws are those that a run of that
#' many steps would have made from the beginning. Use it where [verdict()] finds that the chains do not agree yet, or
#' for more draws than there are. A fit that is pooled over draws of the dynamics (`uncertainty = "cut"`) is fitted
#' again instead, with more steps.
#'
#' @param fit A fit ([ibrc()]) that has kept its data.
#' @param iter How many more steps each chain makes. `NULL` goes on until the chains agree, as [ibrc()] does by default,
#'   up to ten times as many steps as it has made.
#' @param cores,refresh As in [ibrc()]; by default as they were.
#' @param file,control As in [ibrc()]. Of the control, what is said of files and of the check counts; all else is as it
#'   was.
#' @return A fit, as from [ibrc()].
#' @seealso [resume()] for a run that was interrupted.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.5), diag_models()), 40, seed = 1)
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             chains = 2, iter = 300, warmup = 100, seed = 1)
#' longer <- extend_fit(fit, iter = 200)
#' dim(longer$draws$all)
extend_fit <- function(fit, iter = 2000, cores = NULL, refresh = NULL, file = NULL, control = ibrc_control()) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  if (is_cut(fit)) {
    abort_input("fit", "is pooled over draws of the dynamics, and cannot be gone on with: fit again with more steps ",
                "(`iter` of ibrc()).")
  }
  if (is.null(fit$histories) || is.null(fit$chain)) {
    abort_input("fit", "has not kept its data (keep_data = FALSE), and cannot be gone on with.")
  }
  if (!is.null(iter)) iter <- check_count(iter, "iter", most = 1e8)
  control <- as_control(control)
  job <- fit_job(fit)
  if (!is.null(cores)) job$run$cores <- job$evaluator$cores <- check_count(cores, "cores")
  if (!is.null(refresh)) job$run$refresh <- check_count(refresh, "refresh", least = 0)
  lock <- if (!is.null(file)) new_lock(file)
  on.exit(release_lock(lock))
  found <- claim_file(file, lock, control$overwrite)
  made <- fit$run$iter
  job$run$max_iter <- as.integer(min(1e8, if (is.null(iter)) 10 * made else made + iter))
  chain <- fit$chain
  if (!is.null(iter)) chain <- grow_chain(chain, job$run$max_iter)
  finish_job(job, chain, file, found = found, check = control$check)
}

#' @export
update.ibrc_fit <- function(object, ...) {
  abort_input("object", "is a fit, which update() has no way to change: fit again with ibrc(), or make it longer with ",
              "extend_fit().", topic = "extend_fit")
}

# The job that a fit came from.
fit_job <- function(fit) {
  group <- factor(names(fit$draws)[fit$trajectory_group], levels = names(fit$draws))
  inverse <- c(fit[c("problem", "problems", "histories", "prior", "fixed", "tolerance", "by")],
               list(actions = fit$visit_actions, group = group, recipe = fit$recipe))
  evaluator <- if (has_dynamics(fit)) {
    joint_evaluator(inverse, fit$dynamics$tree, fit$run$chains, fit$run$cores, fit$likelihood)
  } else {
    inverse_evaluator(inverse, rep(seq_along(fit$draws), each = fit$run$chains), fit$run$cores, fit$likelihood)
  }
  list(inverse = inverse, evaluator = evaluator, run = fit$run, sampler = fit$sampler, keep_data = TRUE)
}
