# From wherever the chains stand to a fit. With a file, checkpoints on the way; `stands` is
# the step of the one that is there, `found` whose unfinished one a new run finds there.
finish_job <- function(job, chain, file, stands = NULL, found = NULL, check = FALSE) {
  every <- if (job$run$refresh > 0) job$run$refresh else 200L
  save <- NULL
  if (!is.null(file)) {
    # The same for all checkpoints of a run.
    job$fingerprint <- job_fingerprint(job_to_plain(job))
    refuse_other_run(found, job$fingerprint)
    write <- checkpoint_writer(file, job, stands)
    if (is.null(stands)) write(chain)
    # Where all steps are made, it is first to be seen whether there will be more.
    save <- function(chain) {
      if (iteration_of(chain) %% every == 0 && iteration_of(chain) < steps_of(chain)) write(chain)
    }
  }
  repeat {
    chain <- if (is.null(chain$parts)) run_chains(chain, job$evaluator, job$run, each_step = save) else
      run_parts(chain, job, every, each_round = save)
    grown <- undisturbed(grow_unsettled(chain, job))
    if (is.null(grown)) break
    chain <- grown
    if (!is.null(file)) write(chain)
  }
  undisturbed({
    if (!is.null(file)) stands <- write(chain[names(chain) != "interrupted"])
    if (chain$interrupted && !is.null(file)) {
      message("Interrupted at step ", iteration_of(chain), " of ", steps_of(chain), ": resume(\"", file, "\") goes on",
              if (stands < iteration_of(chain)) paste(" from step", stands), ".")
    }
    fit <- fit_of(chain, job)
    if (!is.null(job$inverse$cut) && !has_population(fit)) fit <- pool_cut(fit, job$inverse$cut)
    warn_swapped(fit)
    # Data that are not to be kept are there until the checks are made.
    if (check && !chain$interrupted) fit <- checked_fit(fit, job$run)
    if (job$keep_data) fit else without_data(fit)
  })
}

fit_of <- function(chain, job) {
  if (!is.null(job$evaluator$population)) return(new_population_fit(chain, job))
  if (is.null(job$evaluator$joint)) new_ibrc_fit(chain, job) else new_joint_fit(chain, job)
}

# A run without a number of steps goes on until its chains agree, by the marks of verdict(), or to the most steps that
# it may make: half as many draws again each time, as long as that is a moderate number of draws in all. NULL where
# there is nothing to go on with.
most_grown <- 2e7

grow_unsettled <- function(chain, job) {
  steps <- steps_of(chain)
  if (chain$interrupted || steps >= job$run$max_iter) return(NULL)
  if (are_settled(fit_of(chain, job))) return(NULL)
  to <- min(job$run$max_iter, steps + ceiling(0.5 * (steps - job$run$warmup)))
  population <- job$evaluator$population
  terms <- if (is.null(population)) length(job$evaluator$prior) else population_size(population)
  numbers <- as.numeric(to - job$run$warmup) / job$run$thin * length(job$evaluator$group) * terms
  if (numbers > most_grown) return(NULL)
  grow_chain(chain[names(chain) != "interrupted"], to)
}
