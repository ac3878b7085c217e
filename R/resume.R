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
  read <- read_checkpoint(file)
  job <- job_from_plain(read$contents$job)
  if (!is.null(cores)) job$run$cores <- job$evaluator$cores <- check_count(cores, "cores")
  if (!is.null(refresh)) job$run$refresh <- check_count(refresh, "refresh", least = 0)
  chain <- read$contents$chain
  finish_job(job, chain, file)
}

save_checkpoint <- function(file, job, chain) {
  write_checkpoint(file, list(job = job_to_plain(job), chain = chain), job$fingerprint)
}

job_fingerprint <- function(job) {
  batch <- job$evaluator$batch
  c(data = fingerprint_of(batch$histories), model = fingerprint_of(batch[c("tables", "models", "problem", "start")]),
    prior = fingerprint_of(lapply(unclass(job$evaluator$prior), unclass)), settings = fingerprint_of(job$run))
}

# A job in nothing but lists and vectors, and back. Classes are put on again by
# name, and what can be worked out again is left out.
job_to_plain <- function(job) {
  setting <- unclass(job$plan$setting)
  setting["belief_utility"] <- list(NULL)
  list(
    setting = setting, models = unclass(job$plan$models), reward = job$plan$reward,
    resolution = job$plan$resolution, interpolate = job$plan$interpolate, surprise = job$plan$surprise,
    prior = lapply(unclass(job$evaluator$prior), unclass), fixed = job$evaluator$fixed,
    likelihood = job$evaluator$likelihood, chain_group = job$evaluator$group,
    tolerance = job$evaluator$batch$tolerance, histories = job$evaluator$batch$histories,
    group = as.integer(job$group), group_levels = levels(job$group), by = job$by, actions = job$actions,
    run = job$run, sampler = job$sampler, keep_data = job$keep_data
  )
}

job_from_plain <- function(plain) {
  setting <- structure(plain$setting, class = "ibrc_setting")
  models <- structure(plain$models, class = "ibrc_models")
  plan <- plan_agent(setting, bounded_agent(alpha = 1), models, plain$resolution, plain$tolerance,
                     plain$interpolate, plain$surprise, cores = plain$run$cores)
  # Worth of beliefs, if there was any, comes back through the rewards.
  plan$reward <- plain$reward
  plan <- update(plan, plan$agent)
  prior <- new_ibrc_prior(plain$prior)
  evaluator <- new_evaluator(plan, plain$histories, plain$chain_group, prior, plain$fixed, plain$tolerance,
                             plain$run$cores, plain$likelihood)
  list(evaluator = evaluator, plan = plan,
       group = factor(plain$group_levels[plain$group], levels = plain$group_levels), by = plain$by,
       actions = plain$actions, run = plain$run, sampler = plain$sampler, keep_data = plain$keep_data)
}
