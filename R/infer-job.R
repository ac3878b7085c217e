# A job: what a run needs, in memory and as a checkpoint holds it.

# A file may be whole and hold something other than a fit.
held_fit <- function(code) {
  tryCatch(code, error = function(e) {
    if (inherits(e, c("ibrc_error_memory", "ibrc_error_checkpoint"))) stop(e)
    refuse_no_fit()
  })
}

refuse_no_fit <- function() refuse_damaged("it does not hold a fit")

# The call that goes on with a file that holds no fit, but what a study has finished; NULL for all other files.
call_of_study <- function(held) {
  if (setequal(names(held$fingerprint), c("visits", "methods", "folds", "seed"))) return("cross_validate()")
  contents <- held$contents
  if (!is.list(contents) || !all(c("done", "truth", "settled", "seconds") %in% names(contents))) return(NULL)
  if (!is.logical(contents$contrast)) return("recovery_study() or power_study()")
  if (isTRUE(contents$contrast)) "power_study()" else "recovery_study()"
}

# `refuse`: how a file is refused that is whole.
refuse_study <- function(held, refuse) {
  call <- call_of_study(held)
  if (is.null(call)) return(invisible())
  refuse("holds what ", call, " has finished, and no fit. The same call of ", call, " as before, with this `file`, ",
         "goes on with it.")
}

is_finished <- function(contents) {
  steps <- held_fit(c(iteration_of(contents$chain), steps_of(contents$chain)))
  if (!is.numeric(steps) || length(steps) != 2 || anyNA(steps)) refuse_no_fit()
  steps[1] >= steps[2]
}

# What a file says it belongs to has to be what it holds, and that a fit.
# `given`: list(setting, models), functions that came from nobody's file.
held_job <- function(held, given = list()) {
  if (!has_names(held$contents, c("job", "chain"))) refuse_no_fit()
  plain <- held$contents$job
  chain <- held$contents$chain
  check_held_fingerprint(held$fingerprint, held_fit(contents_fingerprint(plain, chain)))
  held_fit({
    check_held_job(plain)
    check_held_dynamics(plain)
    check_held_effects(plain)
    check_held_start(plain, held_chains(plain))
  })
  recipe <- held_fit(held_functions(held_recipe(plain, given)))
  held_fit({
    job <- job_from_plain(plain, recipe)
    held_functions(check_held_worth(job, plain))
    check_held_visits(job$inverse)
    chain <- chain_from_plain(chain)
    check_held_chains(chain, job)
    job
  })
}

# By the sampler that made them.
check_held_chains <- function(chain, job) {
  check <- if (!is.null(job$evaluator$population)) check_held_population else
    if (!is.null(job$evaluator$joint)) check_held_walk else check_held_chain
  check(chain, job)
}

# What a setting given anew says that beliefs are worth is what it said in the fit, of which a file has the values.
check_held_worth <- function(job, plain) {
  whole <- if (is.null(job$inverse$cut)) job$inverse else job$inverse$cut$whole
  if (!isTRUE(plain$recipe[["setting"]])) return(invisible())
  worth <- reward_at_nodes(whole$recipe$like$setting, whole$problem$space)
  if (!is_near(as.vector(worth), as.vector(plain$reward))) refuse_other_function("setting")
}

refuse_other_function <- function(argument) {
  abort_input(argument, "is not the function that the fit was given: at the middle of the prior it returns something ",
              "else.")
}

# What is wrong with functions given anew may be wrong with the file instead: it is refused as both.
held_functions <- function(code) {
  tryCatch(code, ibrc_error_input = function(e) {
    abort(c("checkpoint", "file", "input"), e$message, argument = e$argument, fields = list(reason = "functions"))
  })
}

check_held_fingerprint <- function(found, wanted) {
  if (identical(found, wanted)) return(invisible())
  parts <- if (setequal(names(found), names(wanted))) names(wanted)[found[names(wanted)] != wanted]
  refuse_checkpoint("damaged", "is damaged: what it holds", if (length(parts)) paste0(" (", listing(parts), ")"),
                    " is not what it says it holds. Use a copy of it, or fit anew.", parts = parts)
}

# `chain`: as a file has it.
contents_fingerprint <- function(plain, chain) c(job_fingerprint(plain), chain = hash_of(encoded(chain)))

# Chains are encoded once, for their fingerprint and for the file.
save_checkpoint <- function(file, job, chain) {
  chain <- encoded(chain_to_plain(chain))
  write_checkpoint(file, list(job = job_to_plain(job), chain = chain), c(job$fingerprint, chain = hash_of(chain)))
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

# What a job is made of, by the name that a user has for it: each of its fields is in one of these, and counts.
job_fingerprint <- function(plain) {
  data <- c("histories", "group", "group_levels", "by", "actions", "keep_data")
  model <- c("setting", "models", "reward", "problems", "recipe", "dynamics", "resolution", "interpolate", "surprise",
             "tolerance", if (!is.null(plain$several)) "several")
  prior <- c("prior", "fixed", "likelihood", if (!is.null(plain$effects)) "effects")
  # How it is run, which changes no draw.
  aside <- c("cores", "refresh")
  run <- plain$run
  others <- plain[setdiff(names(plain), c(data, model, prior, "run"))]
  parts <- list(data = plain[data], model = plain[model], prior = plain[prior],
                settings = c(others, run[setdiff(names(run), c("seed", "start", "spacing", aside))]),
                seed = run["seed"], start = run[intersect(c("start", "spacing"), names(run))], progress = run[aside])
  vapply(parts, fingerprint_of, "")
}

# What is at `path` already may be taken for a new run: nothing, or, with the fingerprint that this gives back, an
# unfinished run. Refuses all else, unless told to overwrite it; what is no file, in any case.
check_replaceable <- function(path, overwrite) {
  path <- check_path(path)
  if (!.Call(ffi_file_plain, path)) refuse_checkpoint("path", "is not a plain file, but a device or a pipe.")
  if (overwrite || !file.exists(path)) return(NULL)
  refuse <- function(...) {
    refuse_checkpoint("exists", ..., " Choose another `file`, or give ",
                      "control = ibrc_control(overwrite = TRUE) to replace what is there.")
  }
  held <- tryCatch(read_checkpoint(path), ibrc_error_file = function(e) {
    refuse("is there already, and is not a checkpoint that could be gone on with.")
  })
  refuse_study(held, refuse)
  if (is_finished(held$contents)) refuse("is there already: it holds a finished fit, which resume() gives back.")
  held$fingerprint
}

# Before a run begins: its file can be written to, belongs to no other run, and holds nothing that would be lost. Gives
# back whose unfinished checkpoint is there, NULL for nobody's.
claim_file <- function(file, lock, overwrite) {
  if (is.null(file)) return(NULL)
  check_writable(file)
  take_lock(lock)
  check_replaceable(file, overwrite)
}

# Is the unfinished run that is there the one that is about to begin? It is if its draws are.
refuse_other_run <- function(found, fingerprint, but = NULL) {
  if (is.null(found)) return(invisible())
  same <- setdiff(names(fingerprint), c("progress", but))
  parts <- same[!(found[same] == fingerprint[same]) %in% TRUE]
  if (length(parts)) {
    refuse_checkpoint("exists", "is there already: it holds an unfinished fit with another ",
                      enumerate(parts, quote = ""), ", with which resume() goes on. Choose another `file`, or give ",
                      "control = ibrc_control(overwrite = TRUE) to replace what is there.", parts = parts)
  }
}

# A job in nothing but lists and vectors, and back. Classes are put on again by
# name, and what can be worked out again is left out.
job_to_plain <- function(job) {
  # Of draws of the dynamics it holds what they are draws of, and the laws.
  inverse <- if (is.null(job$inverse$cut)) job$inverse else job$inverse$cut$whole
  problem <- lead_problem(inverse)
  several <- inverse$several
  if (!is.null(several)) several$problems <- lapply(several$problems, problem_to_plain)
  c(problem_to_plain(problem), list(
    problems = if (!is.null(inverse$problems)) lapply(inverse$problems, problem_to_plain),
    recipe = recipe_flags(inverse$recipe), dynamics = dynamics_to_plain(job),
    resolution = problem$resolution, interpolate = problem$interpolate, surprise = problem$surprise,
    prior = lapply(unclass(inverse$prior), unclass), fixed = inverse$fixed,
    likelihood = job$evaluator$likelihood, chain_group = job$evaluator$group,
    tolerance = inverse$tolerance, histories = inverse$histories,
    group = as.integer(inverse$group), group_levels = levels(inverse$group), by = inverse$by,
    actions = inverse$actions, run = job$run, sampler = job$sampler, keep_data = job$keep_data
  ), if (!is.null(inverse$effects)) list(effects = effects_to_plain(inverse$effects)),
  if (!is.null(several)) list(several = several))
}

# Nothing in a file is run: of functions it says that there were some. NA: no models, but the setting's own dynamics,
# whatever they are at each point.
recipe_flags <- function(recipe) {
  if (is.null(recipe)) return(NULL)
  c(setting = is.function(recipe$setting), models = if (is.null(recipe$models)) NA else is.function(recipe$models))
}

problem_to_plain <- function(problem) {
  setting <- unclass(problem$setting)
  setting["belief_utility"] <- list(NULL)
  list(setting = setting, models = unclass(problem$models), reward = problem$reward)
}

problem_from_plain <- function(held, plain) {
  setting <- structure(held$setting, class = "ibrc_setting")
  models <- structure(held$models, class = "ibrc_models")
  problem <- build_problem(setting, models, plain$resolution, plain$interpolate, plain$surprise,
                           cores = plain$run$cores)
  # Worth of beliefs, if there was any, comes back through the rewards.
  problem$reward <- held$reward
  problem
}

# The recipe of a held job, from functions given anew: they have to be those of the fit.
held_recipe <- function(plain, given) {
  functions <- vapply(c(setting = "setting", models = "models"), function(name) isTRUE(plain$recipe[[name]]), NA)
  for (argument in names(functions)) {
    wanted <- functions[[argument]]
    if (wanted && !is.function(given[[argument]])) {
      abort_input(argument, "must be given: it was a function in the fit, which no file holds. Give the same ",
                  "function again, as in resume(file, ", argument, " = ).")
    }
    if (!wanted && !is.null(given[[argument]])) {
      abort_input(argument, "is not needed: the fit was given no function there, and has kept what it was given.")
    }
  }
  if (is.null(plain$recipe)) return(NULL)
  prior <- new_ibrc_prior(plain$prior)
  kept <- list(setting = structure(plain$setting, class = "ibrc_setting"),
               models = structure(plain$models, class = "ibrc_models"))
  setting <- if (functions[["setting"]]) given$setting else kept$setting
  models <- if (functions[["models"]]) given$models else if (!is.na(plain$recipe[["models"]])) kept$models
  iohmm <- if (!is.null(plain$dynamics)) iohmm_from_plain(plain$dynamics$iohmm)
  recipe <- read_recipe(setting, models, quantity_terms(prior), plain$fixed, dynamics_argument(setting, iohmm))
  if (!is.null(iohmm)) recipe <- with_codec(recipe, new_codec(iohmm))
  recipe <- open_recipe(recipe, prior)
  for (argument in c("setting", "models")) {
    parts <- list(setting = c("transition", "emission", "utility", "discount", "start"), models = "weights")[[argument]]
    same <- is_near(lapply(unclass(recipe$like[[argument]])[parts], as.vector),
                    lapply(unclass(kept[[argument]])[parts], as.vector))
    same <- same && (argument == "setting" || is_near(valid_stack(recipe$like$models, recipe$like$setting),
                                                      valid_stack(kept$models, recipe$like$setting)))
    if (!same) refuse_other_function(if (functions[[argument]]) argument else "setting")
  }
  recipe
}

job_from_plain <- function(plain, recipe = NULL) {
  problems <- if (!is.null(plain$problems)) lapply(plain$problems, problem_from_plain, plain)
  several <- plain$several
  if (!is.null(several)) several$problems <- lapply(several$problems, problem_from_plain, plain)
  problem <- if (!is.null(problems)) problems[[1]] else if (is.null(several)) problem_from_plain(plain, plain)
  # Who gave the setting again gave its worth of beliefs as well.
  if (isTRUE(plain$recipe[["setting"]])) problem$setting["belief_utility"] <- recipe$like$setting["belief_utility"]
  inverse <- list(problem = problem, problems = problems, histories = plain$histories, actions = plain$actions,
                  group = factor(plain$group_levels[plain$group], levels = plain$group_levels), by = plain$by,
                  recipe = recipe, several = several,
                  prior = new_ibrc_prior(plain$prior), fixed = plain$fixed, tolerance = plain$tolerance)
  if (!is.null(plain$effects)) inverse$effects <- effects_from_plain(plain$effects, inverse$prior)
  held <- plain$dynamics
  if (identical(held$uncertainty, "cut")) inverse <- with_cut(inverse, held[c("laws", "effective")], plain$run$cores)
  evaluator <- if (!is.null(plain$effects)) {
    population_evaluator(inverse, plain$run$chains, plain$run$cores, plain$likelihood, plain$run$spacing, held$tree)
  } else if (identical(held$uncertainty, "joint")) {
    joint_evaluator(inverse, held$tree, plain$run$chains, plain$run$cores, plain$likelihood)
  } else {
    inverse_evaluator(inverse, plain$chain_group, plain$run$cores, plain$likelihood)
  }
  list(inverse = inverse, evaluator = evaluator, run = plain$run, sampler = plain$sampler,
       keep_data = plain$keep_data)
}
