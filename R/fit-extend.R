#' Make a fit longer
#'
#' Goes on with the chains of a finished fit, with what they learnt in warm-up: the draws are those that a run of that
#' many steps would have made from the beginning. Use it where [verdict()] finds that the chains do not agree yet, or
#' for more draws than there are. A fit that is pooled over draws of the dynamics (`uncertainty = "cut"`) is fitted
#' again instead, with more steps.
#'
#' @param fit A fit ([ibrc()]) that has kept its data.
#' @param iter How many more steps each chain makes, counted from where it stands: a run that was interrupted after 700
#'   of 2,000 steps has 1,000 with `iter = 300`. `NULL` makes what such a run has left, and then goes on until the
#'   chains agree, as [ibrc()] does by default, up to ten times as many steps as the run was to make.
#' @param cores,refresh As in [ibrc()]; by default as they were.
#' @param file,control As in [ibrc()]. Of the control, `overwrite`, `check` and `max_iter` count; all else is as it
#'   was. `max_iter` is the most steps in all, those that were made included.
#' @param ... Nothing.
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
extend_fit <- function(fit, iter = 2000, cores = NULL, refresh = NULL, file = NULL, control = ibrc_control(), ...) {
  refuse_others("extend_fit", names(formals()), c("overwrite", "check", "max_iter"), ...)
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  if (is_cut(fit)) {
    abort_input("fit", "is pooled over draws of the dynamics, and cannot be gone on with: fit again with more steps ",
                "(`iter` of ibrc()).")
  }
  refuse_part(fit, "fit", "extend_fit()")
  if (is.null(fit$histories) || is.null(fit$chain)) {
    abort_input("fit", "has not kept its data (keep_data = FALSE), and cannot be gone on with.")
  }
  if (!is.null(iter)) iter <- check_count(iter, "iter", most = 1e8)
  if (!is.null(cores)) cores <- check_count(cores, "cores")
  if (!is.null(refresh)) refresh <- check_count(refresh, "refresh", least = 0)
  control <- as_control(control)
  job <- whole_job(fit)
  steps <- steps_to_make(fit$chain, iter, control$max_iter)
  if (!is.null(cores)) job$run$cores <- job$evaluator$cores <- cores
  if (!is.null(refresh)) job$run$refresh <- refresh
  lock <- if (!is.null(file)) new_lock(file)
  on.exit(release_lock(lock))
  found <- claim_file(file, lock, control$overwrite)
  job$run$iter <- min(job$run$iter, steps$first)
  job$run$max_iter <- steps$most
  finish_job(job, with_steps(fit$chain, steps$first), file, found = found, check = control$check)
}

# How many steps there are to be at first, and at most; both count those that were made. What an interrupted run has
# left is made where no number is given, and a number counts from where it stands.
steps_to_make <- function(chain, iter, max_iter) {
  made <- iteration_of(chain)
  first <- if (is.null(iter)) steps_of(chain) else made + iter
  most <- if (!is.null(max_iter)) max_iter else if (is.null(iter)) 10 * first else first
  least <- if (is.null(iter)) made + 1L else first
  if (!is.null(max_iter) && max_iter < least) {
    abort_input("max_iter", "= ", format_count(max_iter), " is the most steps in all, and the chains have made ",
                format_count(made), if (!is.null(iter)) paste(" and are to make", format_count(iter), "more"),
                ": take ", format_count(least), " or more.")
  }
  most <- as.integer(min(most, 1e8))
  list(first = as.integer(min(first, most)), most = most)
}

# A chain that stands as it does, and has this many steps in all: more than it was to make, or fewer.
with_steps <- function(chain, iter) {
  if (!is.null(chain$parts)) {
    chain$parts <- lapply(chain$parts, with_steps, iter)
    return(chain)
  }
  state <- chain$state
  if (iter < state$iter && !is_walk(state) && !is_population(state)) {
    kept <- seq_len((iter - state$warmup) %/% state$thin)
    chain$state$draws <- state$draws[kept, , , drop = FALSE]
    chain$state$log_density_draws <- state$log_density_draws[kept, , drop = FALSE]
  }
  grow_chain(chain, iter)
}

# The job of a fit that is as it was left: chains are looked at as those of a file are.
whole_job <- function(fit) {
  tryCatch({
    job <- fit_job(fit)
    check_held_chains(fit$chain, job)
    job
  }, error = function(e) {
    if (inherits(e, c("ibrc_error_input", "ibrc_error_memory"))) stop(e)
    abort_input("fit", "is not as ibrc() left it: its chains, or what they are chains of, were changed since, and ",
                "cannot be gone on with. Fit again.")
  })
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
               list(actions = fit$visit_actions, group = group, recipe = fit$recipe, effects = fit$effects,
                    several = fit$several))
  evaluator <- if (has_population(fit)) {
    population_evaluator(inverse, fit$run$chains, fit$run$cores, fit$likelihood, fit$run$spacing)
  } else if (has_dynamics(fit)) {
    joint_evaluator(inverse, fit$dynamics$tree, fit$run$chains, fit$run$cores, fit$likelihood)
  } else {
    inverse_evaluator(inverse, rep(seq_along(fit$draws), each = fit$run$chains), fit$run$cores, fit$likelihood)
  }
  list(inverse = inverse, evaluator = evaluator, run = fit$run, sampler = fit$sampler, keep_data = TRUE)
}
