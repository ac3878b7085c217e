# What a checkpoint holds, checked before any of it is used. Seal and fingerprint show that a file is whole; anybody can
# make them, so neither shows that a fit wrote the contents. Here every field is compared with what a fit would have
# written: its type, length and range, and with the other fields. Contents that pass are those of a fit, even if not of
# the original one. Checks may fail with any error: resume() takes every error in them for a refusal. See
# checkpoint-chain.R for the chains.

# job_to_plain() writes these, in this order, and `effects` where there are any (infer-checkpoint-population.R).
job_fields <- c("setting", "models", "reward", "problems", "recipe", "dynamics", "resolution", "interpolate",
                "surprise", "prior", "fixed", "likelihood", "chain_group", "tolerance", "histories", "group",
                "group_levels", "by", "actions", "run", "sampler", "keep_data")

must <- function(kept, what) {
  if (!isTRUE(kept)) refuse_damaged(paste0("what it holds as ", what, " is not what a fit has there"))
}

# ---- kinds of values ----------------------------------------------------------------

# A name or a dimension where a fit has none would show up in whatever is made from the fit.
is_bare <- function(x, but = NULL) all(names(attributes(x)) %in% but)

is_wholes <- function(x, least, most, n = length(x)) {
  is.integer(x) && is_bare(x) && length(x) == n && !anyNA(x) && all(x >= least & x <= most)
}

# One `size` is a vector's length; more are the dimensions of an array.
is_reals <- function(x, size) {
  if (length(size) > 1) return(is.double(x) && is_bare(x, "dim") && identical(dim(x), as.integer(size)))
  is.double(x) && is_bare(x) && length(x) == size
}

is_finite <- function(x, size) is_reals(x, size) && all(is.finite(x))

# Numbers whose squares, over all draws, are still numbers.
most_position <- 1e150
is_position <- function(x, size) is_finite(x, size) && all(abs(x) <= most_position)

# What a proposal may be as wide as.
is_width <- function(x, size) is_finite(x, size) && all(x > 1e-100 & x < 1e100)
is_flags <- function(x, n) is.logical(x) && is_bare(x) && length(x) == n && !anyNA(x)
is_flag <- function(x) is_flags(x, 1)
is_text <- function(x, n = length(x)) is.character(x) && is_bare(x) && length(x) == n && !anyNA(x) && all(nzchar(x))
is_choice <- function(x, choices) is_text(x, 1) && x %in% choices
is_plain_list <- function(x, n) is.list(x) && is_bare(x) && length(x) == n
has_names <- function(x, names) is.list(x) && is_bare(x, "names") && identical(names(x), names)
# One row per chain: without names, or with those of the terms.
without_terms <- function(x, prior) {
  if (identical(dimnames(x), list(NULL, names(prior)))) dimnames(x) <- NULL
  x
}

# The same up to rounding, in lists as well; names and dimensions must be exactly the same.
is_near <- function(x, y, within = 1e-6) {
  if (typeof(x) != typeof(y) || length(x) != length(y) || !identical(attributes(x), attributes(y))) return(FALSE)
  if (is.list(x)) return(all(unlist(Map(is_near, x, y, within))))
  if (!is.double(x)) return(identical(x, y))
  apart <- abs(x - y)
  all(x == y | is.finite(apart) & apart <= within * (1 + abs(y)), na.rm = TRUE) && identical(is.na(x), is.na(y))
}

# ---- the job --------------------------------------------------------------------------

check_held_job <- function(plain) {
  with_effects <- "effects" %in% names(plain)
  with_several <- "several" %in% names(plain)
  must(has_names(plain, c(job_fields, if (with_effects) "effects", if (with_several) "several")), "its parts")
  must(is.list(plain$histories) && is_bare(plain$histories), "histories")
  check_held_run(plain$run, with_effects)
  n_groups <- length(plain$histories)
  must(is_text(plain$group_levels, n_groups) && n_groups > 0 && !anyDuplicated(plain$group_levels), "groups")
  none <- is.null(plain$by) && (n_groups == 1 || with_effects)
  must(none || !with_effects && is_text(plain$by) && length(plain$by) > 0, "columns of groups")
  check_held_prior(plain$prior)
  must(is.list(plain$fixed) && is_bare(plain$fixed, "names"), "what is held fixed")
  check_held_functions(plain$recipe, !is.null(plain$dynamics))
  must(!is.null(plain$recipe) || !length(quantity_terms(new_ibrc_prior(plain$prior))), "prior")
  must(is.null(plain$recipe) || is.null(plain$problems), "functions")
  must(is_choice(plain$interpolate, c("value", "policy")), "interpolation")
  must(is_choice(plain$surprise, c("belief", "observation")), "surprise")
  must(is_choice(plain$sampler, c("adaptive", "paper")), "sampler")
  must(is_flag(plain$likelihood) && is_flag(plain$keep_data), "settings")
  must(is_finite(plain$tolerance, 1) && plain$tolerance > 0, "tolerance")
  must(is_plain_list(plain$actions, n_groups), "actions")
  must(is_wholes(plain$group, 1, n_groups), "groups of trajectories")
  if (!with_several) check_held_one(plain)
  n_trajectories <- if (with_several) check_held_several(plain) else
    mapply(check_held_tree, plain$histories, plain$actions, MoreArgs = list(setting = plain$setting))
  must(identical(tabulate(plain$group, n_groups), as.integer(n_trajectories)), "groups of trajectories")
}

# The setting, or one of several, with what is said of its names elsewhere.
check_held_one <- function(plain) {
  check_held_problems(plain)
  check_held_simplex(plain$prior, plain$setting)
  check_prior(new_ibrc_prior(plain$prior), plain$setting, plain$fixed,
              if (!is.null(plain$recipe)) setdiff(names(plain$fixed), parameter_terms()))
}

# Groups of trajectories and trees in them, problem by problem. Returns how many trajectories each group has.
check_held_several <- function(plain) {
  held <- plain$several
  must(has_names(held, c("column", "problems", "of")) && is_text(held$column, 1), "problems")
  names <- names(held$problems)
  must(is_plain_list(unname(held$problems), length(names)) && is_text(names) && length(names) > 0, "problems")
  must(!anyDuplicated(names) && is.null(plain$problems) && is.null(plain$recipe) && is.null(plain$dynamics), "problems")
  must(identical(held$problems[[1]], plain[c("setting", "models", "reward")]), "problems")
  must(is_wholes(held$of, 1, length(names), length(plain$group)), "problems of trajectories")
  for (problem in held$problems) {
    must(has_names(problem, c("setting", "models", "reward")), "problems")
    check_held_one(replace(plain, c("setting", "models", "reward"), problem))
  }
  n_groups <- length(plain$histories)
  counts <- vapply(seq_len(n_groups), function(g) {
    trees <- plain$histories[[g]]
    met <- names %in% names(trees)
    must(any(met) && has_names(trees, names[met]) && has_names(plain$actions[[g]], names[met]), "histories")
    found <- numeric(length(names))
    found[met] <- mapply(check_held_tree, trees, plain$actions[[g]],
                         lapply(held$problems[met], `[[`, "setting"))
    found
  }, numeric(length(names)))
  met <- table(factor(held$of, seq_along(names)), factor(plain$group, seq_len(n_groups)))
  must(all(matrix(met, length(names)) == matrix(counts, length(names))), "problems of trajectories")
  colSums(matrix(counts, length(names)))
}

# Whether setting and models were functions; NA: there were no models, but the setting's own dynamics. With learned
# dynamics neither need be a function.
check_held_functions <- function(recipe, with_dynamics) {
  if (is.null(recipe)) return(must(!with_dynamics, "functions"))
  must(is.logical(recipe) && is_bare(recipe, "names") && identical(names(recipe), c("setting", "models")), "functions")
  must(!is.na(recipe[["setting"]]) && (with_dynamics || any(recipe %in% TRUE)), "functions")
}

check_held_run <- function(run, with_effects = FALSE) {
  fields <- c("chains", "iter", "max_iter", "warmup", "thin", "cores", "refresh", "seed", if (with_effects) "spacing",
              "start")
  must(has_names(run, fields), "settings of the run")
  most <- .Machine$integer.max
  must(is_wholes(run$chains, 1, 1e5, 1) && is_wholes(run$iter, 2, 1e8, 1) && is_wholes(run$thin, 1, most, 1) &&
         is_wholes(run$max_iter, run$iter, 1e8, 1) && is_wholes(run$warmup, 0, run$iter - 1, 1) &&
         (run$iter - run$warmup) %/% run$thin >= 2, "numbers of steps")
  must(is_wholes(run$cores, 1, most, 1) && is_wholes(run$refresh, 0, most, 1), "settings of the run")
  must(is_wholes(run$seed, -most, most, 1), "seed")
}

# Chains are in the right groups, and start where their priors allow. `chains`: list(group, prior).
check_held_start <- function(plain, chains) {
  must(identical(plain$chain_group, chains$group), "groups of chains")
  start <- plain$run$start
  must(is.double(start) && !anyNA(start), "start of the chains")
  must(identical(dim(start), c(length(chains$group), length(chains$prior))), "start of the chains")
  must(identical(dimnames(start), list(NULL, names(chains$prior))), "start of the chains")
  for (entry in chains$prior) {
    must(all(start[, entry$term] >= entry$lower & start[, entry$term] <= entry$upper), "start of the chains")
  }
}

# Lattices are as large as the rewards that came with them, so a file cannot ask for more memory than it holds.
check_held_problems <- function(plain) {
  problems <- plain$problems
  if (is.null(problems)) {
    problems <- list(plain[c("setting", "models", "reward")])
  } else {
    must(has_names(problems, plain$group_levels), "dynamics of groups")
    must(identical(problems[[1]], plain[c("setting", "models", "reward")]), "dynamics of groups")
  }
  for (problem in problems) {
    must(has_names(problem, c("setting", "models", "reward")), "dynamics of groups")
    setting <- problem$setting
    check_held_setting(setting)
    check_held_models(problem$models, setting)
    for (part in c("states", "actions", "observations", "stop_actions", "start_by")) {
      must(identical(setting[[part]], plain$setting[[part]]), "dynamics of groups")
    }
    must(identical(start_groups(setting), start_groups(plain$setting)), "dynamics of groups")
    must(is_wholes(plain$resolution, 1, .Machine$integer.max, 1), "resolution")
    n_nodes <- space_for(problem$models, length(setting$states), plain$resolution)$n_nodes
    must(is_finite(problem$reward, c(n_nodes, length(setting$actions))), "rewards")
  }
}

is_shares <- function(x, groups) {
  is.double(x) && identical(names(x), groups) && all(is.finite(x) & x >= 0) && abs(sum(x) - 1) < 1e-6
}

# A setting as decision_setting() makes it. Some users put numbers into one by hand, without names: only these count.
check_held_setting <- function(setting) {
  stops <- if (is.null(setting$stop_actions)) character() else setting$stop_actions
  must(is_text(stops) && is.null(setting$belief_utility), "setting")
  must(is_bare(setting, "names") && !anyDuplicated(names(setting)), "setting")
  parts <- c("states", "actions", "observations", "transition", "emission", "utility", "discount", "start")
  must(is.null(setting$start_by) || is_text(setting$start_by), "setting")
  again <- do.call(decision_setting, c(setting[parts], list(stop_actions = stops, start_by = setting$start_by)))
  if (has_starts(again)) {
    must(identical(again$start_by, setting$start_by) && identical(start_groups(again), start_groups(setting)), "start")
  }
  share <- setting$start_share
  must(is.null(share) || is_shares(share, start_groups(again)), "start")
  for (part in c("states", "actions", "observations")) must(identical(again[[part]], setting[[part]]), part)
  for (part in c("transition", "emission", "utility", "discount", "start")) {
    if (is_by_rows(setting$transition) && part %in% c("transition", "emission")) {
      must(identical(again[[part]], setting[[part]]), part)
      next
    }
    must(is_near(as.vector(again[[part]]), as.numeric(setting[[part]])), part)
    must(identical(dim(again[[part]]), dim(setting[[part]])), part)
  }
  must(identical(again$fully_observed, setting$fully_observed), "setting")
  must(all(names(setting) %in% c(names(again), "dynamics", "start_share")), "setting")
  must(is.null(setting$dynamics) || identical(setting$dynamics, mark_learned(list())$dynamics), "setting")
}

check_held_models <- function(models, setting) {
  must(has_names(models, c("models", "weights", if (!is.null(models$step)) "step")), "models")
  must(identical(names(models$models), names(models$weights)), "models")
  again <- model_prior(models$models, models$weights, structure(setting, class = "ibrc_setting"))
  must(is_near(unclass(again), models[c("models", "weights")]), "models")
  step <- models$step
  if (is.null(step)) return(invisible())
  must(has_names(step, c("by", "vary", "apart")) && is_flag(step$apart), "models")
  must(is_choice(step$vary, c("emission", "transition", "both")), "models")
  must(is_finite(step$by, 1) && step$by > 0 && step$by < 1, "models")
}

# Made again from its stated form. `called`: the name that a term outside of any simplex must have.
check_held_prior <- function(prior, called = held_term) {
  must(is.list(prior) && is_bare(prior, "names") && length(prior) > 0, "prior")
  for (entry in prior) {
    must(is_text(entry$term, 1) && is_choice(entry$distribution, names(prior_distributions)), "prior")
    known <- prior_distributions[[entry$distribution]]
    must(is.double(entry$args) && identical(names(entry$args), known$arguments), "prior")
    must(is_reals(entry$lower, 1) && is_reals(entry$upper, 1) && entry$lower < entry$upper, "prior")
    must(is.null(entry$label) || is_text(entry$label, 1), "prior")
    must(is_bare(entry$args, "names") && is_bare(entry$state) && is_bare(entry$action), "prior")
    check_arguments(entry$args, known, entry$distribution, entry$term)
    again <- new_prior_entry(entry$term, entry$distribution, entry$args, entry$lower, entry$upper, entry$label,
                             entry$state, entry$action, entry$simplex, entry$over)
    must(is_near(again, entry) && is.finite(entry$log_mass), "prior")
    check_support(entry)
    must(is.null(entry$state) == is.null(entry$action), "prior")
    if (is.null(entry$simplex)) must(identical(entry$term, called(entry)), "prior")
  }
  must(identical(names(prior), vapply(prior, `[[`, "", "term", USE.NAMES = FALSE)), "prior")
}

held_term <- function(entry) {
  if (is.null(entry$state)) return(read_term(as.name(entry$term))$term)
  paste0("utility[", entry$state, ",", entry$action, "]")
}

# The fractions of a simplex: all of them, in order, with their names.
check_held_simplex <- function(prior, setting) {
  parts <- Filter(function(entry) !is.null(entry$simplex), prior)
  if (!length(parts)) return(invisible())
  must(all(vapply(parts, function(entry) identical(entry$simplex, "action_prior"), NA)), "prior")
  must(all(vapply(parts, function(entry) identical(entry$over, setting$actions), NA)), "prior")
  must(identical(names(parts), stick_terms("action_prior", setting$actions)), "prior")
  must(all(diff(simplex_columns(prior, "action_prior")) == 1), "prior")
}

# The visits are in the tree: a tree that is built from them again has to be the same. Returns the number of
# trajectories.
check_held_tree <- function(tree, actions, setting) {
  n_visits <- length(actions)
  must(is_wholes(actions[!is.na(actions)], 1, length(setting$actions)) && n_visits > 0 && is_bare(actions), "actions")
  must(is_wholes(tree$observation, -1, length(setting$observations) - 1), "histories")
  n_starts <- max(1L, length(start_groups(setting)))
  must(is_wholes(tree$start, 0, n_starts - 1) && !is.unsorted(tree$start, strictly = TRUE), "histories")
  must(is_wholes(tree$visit, 1, length(tree$observation), n_visits), "histories")
  must(length(tree$start) > 0 && tree$visit[1] <= length(tree$start), "histories")
  must(is_flags(tree$scored, n_visits) && !any(tree$scored & is.na(actions)), "scored actions")
  # A trajectory begins at a root, and what was seen after a visit is part of the history of the next visit.
  begins <- tree$visit <= length(tree$start)
  seen <- c(tree$observation[tree$visit[-1]], -1L)
  seen[c(begins[-1], TRUE)] <- -1L
  is_root <- seq_along(tree$action) <= length(tree$start)
  again <- build_histories(list(trajectory = cumsum(begins) - 1L, action = actions - 1L, observation = seen,
                                scored = tree$scored, start = starts_of(tree)[cumsum(begins)] - 1L), setting)
  must(identical(again, tree), "histories")
  must(!any(setting$actions[tree$action[!is_root] + 1L] %in% setting$stop_actions), "histories")
  sum(begins)
}

# With the problems built: what was seen can be seen.
check_held_visits <- function(inverse) {
  if (has_several(inverse)) {
    for (name in problem_names(inverse)) check_held_visits(part_inverse(inverse, name))
    return(invisible())
  }
  for (problem in all_problems(inverse)) refuse_tolerance(problem, inverse$tolerance)
  for (g in seq_along(inverse$histories)) {
    free <- unweighed(problem_of(inverse, g))
    must(!any(impossible_histories(read_histories(free, inverse$histories[[g]], FALSE))), "observations")
  }
}
