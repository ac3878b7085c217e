#' Go on with a fit
#'
#' Takes up a fit where its checkpoint stands and finishes it, with the very draws
#' that an unbroken run would have made.
#'
#' The file holds coded visits without identifiers, the problem in numbers and the
#' state of every chain; nothing in it is run as code. A utility of beliefs that was
#' given as a function is kept by its values on the lattice.
#'
#' @param file The path that [ibrc()] was given.
#' @param cores,refresh As in [ibrc()]; by default as they were.
#' @return A fit, as from [ibrc()].
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.5), diag_models()), 40, seed = 1)
#' path <- tempfile(fileext = ".ibrc")
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             chains = 2, iter = 200, seed = 1, file = path)
#' identical(resume(path)$draws, fit$draws)
#' unlink(path)
resume <- function(file, cores = NULL, refresh = NULL) {
  check_given(file)
  held <- read_checkpoint(file)$contents
  steps <- held_fit(c(iteration_of(held$chain), held$job$run$iter))
  if (!is.numeric(steps) || length(steps) != 2 || anyNA(steps)) refuse_no_fit()
  # A finished file is only read.
  finished <- steps[1] >= steps[2]
  if (!finished) check_writable(file, file.size(check_path(file)))
  job <- held_fit(job_from_plain(held$job))
  if (!is.null(cores)) job$run$cores <- job$evaluator$cores <- check_count(cores, "cores")
  if (!is.null(refresh)) job$run$refresh <- check_count(refresh, "refresh", least = 0)
  finish_job(job, held$chain, if (!finished) file, stands = steps[1])
}

# A file may be whole and hold something other than a fit.
held_fit <- function(code) tryCatch(code, ibrc_error_memory = stop, error = function(e) refuse_no_fit())
refuse_no_fit <- function() refuse_damaged("it does not hold a fit")

save_checkpoint <- function(file, job, chain) {
  write_checkpoint(file, list(job = job_to_plain(job), chain = chain), job$fingerprint)
}

# Writes chains to `file` whenever it is called, and returns the step that the file stands
# at, if it has been written. What cannot be written at first is an error. Later it is a
# warning, once for each time that the file falls behind: hours of draws are not given up
# for a full disk.
checkpoint_writer <- function(file, job, stands = NULL) {
  behind <- FALSE
  function(chain) {
    failed <- function(e) {
      if (is.null(stands)) stop(e)
      if (!behind) {
        tell(warn("file", e$message, " The run goes on and tries again at the next checkpoint; the last that ",
                  "was written is that of step ", stands, "."))
      }
      TRUE
    }
    behind <<- tryCatch({
      save_checkpoint(file, job, chain)
      stands <<- iteration_of(chain)
      FALSE
    }, ibrc_error_file = failed)
    invisible(stands)
  }
}

job_fingerprint <- function(job) {
  parts <- c("tables", "models", "problem", "start")
  model <- job$evaluator$batch[parts]
  if (!is.null(job$plans)) model <- lapply(job$evaluator$own, function(own) own$batch[parts])
  c(data = fingerprint_of(job$evaluator$batch$histories), model = fingerprint_of(model),
    prior = fingerprint_of(lapply(unclass(job$evaluator$prior), unclass)), settings = fingerprint_of(job$run))
}

# A job in nothing but lists and vectors, and back. Classes are put on again by
# name, and what can be worked out again is left out.
job_to_plain <- function(job) {
  c(plan_to_plain(job$plan), list(
    problems = if (!is.null(job$plans)) lapply(job$plans, plan_to_plain),
    resolution = job$plan$resolution, interpolate = job$plan$interpolate, surprise = job$plan$surprise,
    prior = lapply(unclass(job$evaluator$prior), unclass), fixed = job$evaluator$fixed,
    likelihood = job$evaluator$likelihood, chain_group = job$evaluator$group,
    tolerance = job$evaluator$batch$tolerance, histories = job$evaluator$batch$histories,
    group = as.integer(job$group), group_levels = levels(job$group), by = job$by, actions = job$actions,
    run = job$run, sampler = job$sampler, keep_data = job$keep_data
  ))
}

plan_to_plain <- function(plan) {
  setting <- unclass(plan$setting)
  setting["belief_utility"] <- list(NULL)
  list(setting = setting, models = unclass(plan$models), reward = plan$reward)
}

plan_from_plain <- function(problem, plain) {
  setting <- structure(problem$setting, class = "ibrc_setting")
  models <- structure(problem$models, class = "ibrc_models")
  plan <- plan_agent(setting, bounded_agent(alpha = 1), models, plain$resolution, plain$tolerance,
                     plain$interpolate, plain$surprise, cores = plain$run$cores)
  # Worth of beliefs, if there was any, comes back through the rewards.
  plan$reward <- problem$reward
  update(plan, plan$agent)
}

job_from_plain <- function(plain) {
  plans <- if (!is.null(plain$problems)) lapply(plain$problems, plan_from_plain, plain)
  plan <- if (is.null(plans)) plan_from_plain(plain, plain) else plans[[1]]
  prior <- new_ibrc_prior(plain$prior)
  evaluator <- groups_evaluator(plan, plans, plain$histories, plain$chain_group, prior, plain$fixed, plain$tolerance,
                                plain$run$cores, plain$likelihood)
  list(evaluator = evaluator, plan = plan, plans = plans,
       group = factor(plain$group_levels[plain$group], levels = plain$group_levels), by = plain$by,
       actions = plain$actions, run = plain$run, sampler = plain$sampler, keep_data = plain$keep_data)
}
