#' Make a fit longer
#'
#' Goes on with the chains of a finished fit, with what they learnt in warm-up. The draws are those that a run of that
#' many steps would have made from the beginning. Use it where [verdict()] finds that the chains do not agree yet, or if
#' you want more draws. A fit that is pooled over draws of the dynamics (`uncertainty = "cut"`) cannot be extended: fit
#' it again with more steps.
#'
#' @param fit A fit ([ibrc()]) that has kept its data.
#' @param iter How many more steps each chain makes, counted from where it stands: a run that was interrupted after 700
#'   of 2,000 steps has 1,000 with `iter = 300`. `NULL` makes the steps that such a run has left. Then it goes on until
#'   the chains agree, as [ibrc()] does by default, up to ten times as many steps as the run was to make.
#' @param cores,refresh As in [ibrc()]; by default as they were.
#' @param file,control As in [ibrc()]. Only `overwrite`, `check` and `max_iter` of the control count; all else is as it
#'   was. `max_iter` is the most steps in all, including those that were made.
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
    abort_input("fit", "is pooled over draws of the dynamics and cannot be extended: fit again with more steps ",
                "(`iter` of ibrc()).")
  }
  refuse_part(fit, "fit", "extend_fit()")
  if (is.null(fit$histories) || is.null(fit$chain)) {
    abort_input("fit", "has not kept its data (keep_data = FALSE), and cannot be extended.")
  }
  if (!is.null(iter)) iter <- check_count(iter, "iter", most = 1e8)
  if (!is.null(cores)) cores <- check_count(cores, "cores")
  if (!is.null(refresh)) refresh <- check_count(refresh, "refresh", least = 0)
  control <- as_control(control)
  job <- whole_job(fit)
  steps <- steps_to_make(fit$chain, iter, control$max_iter)
  refuse_large_extension(fit, job$run, iteration_of(fit$chain), steps$first)
  if (!is.null(cores)) job$run$cores <- job$evaluator$cores <- cores
  if (!is.null(refresh)) job$run$refresh <- refresh
  lock <- if (!is.null(file)) new_lock(file)
  on.exit(release_lock(lock))
  found <- claim_file(file, lock, control$overwrite)
  job$run$iter <- min(job$run$iter, steps$first)
  job$run$max_iter <- steps$most
  finish_job(job, with_steps(fit$chain, steps$first), file, found = found, check = control$check)
}

# How many steps are to be made at first, and at most; both include those that were made. Without a number, the steps
# that an interrupted run has left are made; a number counts from where the run stands.
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

# What ibrc() would refuse as too large is refused here, too.
refuse_large_extension <- function(fit, run, made, all) {
  run$iter <- all
  steps <- paste0(format_count(all - made), " steps after the ", format_count(made), " that were made,")
  advice <- "take fewer, or fit again with a larger `thin` (control = ibrc_control(thin = ))"
  if (!has_population(fit)) return(refuse_large_run(run, length(fit$draws), length(fit$prior), steps, advice))
  n_terms <- population_size(population_shape(fit$effects, fit$prior)) + length(fit$recipe$codec$prior)
  refuse_large_run(run, 1, n_terms, steps, advice)
}

# A chain in its present state with this many steps in all: more than it was to make, or fewer.
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

# The job of an unchanged fit: its chains are checked like those of a file.
whole_job <- function(fit) {
  tryCatch({
    job <- fit_job(fit)
    check_held_chains(fit$chain, job)
    job
  }, error = function(e) {
    if (inherits(e, c("ibrc_error_input", "ibrc_error_memory"))) stop(e)
    abort_input("fit", "is not as ibrc() left it: its chains, or what they belong to, were changed since, and it ",
                "cannot be extended. Fit again.")
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
    population_evaluator(inverse, fit$run$chains, fit$run$cores, fit$likelihood, fit$run$spacing, fit$dynamics$tree)
  } else if (has_dynamics(fit)) {
    joint_evaluator(inverse, fit$dynamics$tree, fit$run$chains, fit$run$cores, fit$likelihood)
  } else {
    inverse_evaluator(inverse, rep(seq_along(fit$draws), each = fit$run$chains), fit$run$cores, fit$likelihood)
  }
  list(inverse = inverse, evaluator = evaluator, run = fit$run, sampler = fit$sampler, keep_data = TRUE)
}
