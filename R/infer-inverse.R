# The inverse problem: problem(s), histories in groups, a prior and what is held. ibrc(), ibrc_mode(),
# profile_likelihood(), verdict() and resume() all get their evaluator here, so that what one of them takes, all do.
#
# Whatever has these parts is an inverse problem, a fit and a mode among them:
#   problem, problems   the problem that all groups share, and NULL; or the first, and one per group: names of states,
#                       actions and observations are the same in all.
#   several             where trajectories are of several problems that may have nothing in common (infer-problems.R)
#   histories           one tree per group
#   prior, fixed        what is inferred, and what is held
#   tolerance           of solves
#   recipe              where setting or models are functions of named quantities (infer-recipe.R); `problem` is then
#                       the one at the middle of the prior

# The checks that cost nothing, before any work: settings, visits, groups, prior.
# `dynamics`: learned ones, that `setting` is a function of or that replace its own; `free`: whether they are inferred.
# `problem`: with several settings, the column that says which of them a trajectory is of (infer-problems.R).
read_inverse <- function(visits, setting, models, prior, fixed, by, by_default, dynamics = NULL, free = FALSE,
                         problem = NULL) {
  # As the caller wrote it: a bare name is not looked up before it is needed.
  written <- lapply(c(by = "by", problem = "problem"), function(name) call("substitute", as.name(name)))
  refuse_bare_columns(lapply(written, eval, parent.frame()), visits, parent.frame(2))
  if (!is.null(problem)) {
    read <- read_problems(checked_visits(visits), setting, models, prior, fixed, by_default, problem)
    read$fixed <- named_fixed(fixed, read$setting[[1]])
    return(read)
  }
  given <- if (!is.null(dynamics)) c(if (is.function(setting)) names(formals(setting))[1], "dynamics")[1]
  recipe <- read_recipe(setting, models, if (!by_default) quantity_terms(prior), fixed, given)
  if (!is.null(recipe)) {
    if (!is.null(dynamics)) recipe <- with_codec(recipe, new_codec(dynamics))
    recipe <- open_recipe(recipe, if (!by_default) prior)
    setting <- recipe$like$setting
    models <- recipe$like$models
    # Whoever made the setting: intervals do not know that they are held.
    if (!is.null(dynamics) && !free) setting <- mark_learned(setting)
    # Held at their estimate they are a setting like any other, but for quantities.
    if (!is.null(dynamics) && !free && !length(c(recipe$inferred, recipe$held))) recipe <- NULL
  }
  settings <- as_settings(setting, by)
  if (is_group_list(models)) check_group_list(models, by, "ibrc_models", "models", "model_prior()")
  coded <- code_visits(visits, settings[[1]])
  if (by_default) prior <- default_prior(widest_setting(settings), not_inferred(fixed, models))
  prior <- check_prior(prior, settings[[1]], fixed, names(recipe$held))
  fixed <- named_fixed(fixed, settings[[1]])
  list(setting = setting, models = models, coded = coded, prior = prior, fixed = fixed, by_default = by_default,
       recipe = recipe)
}

with_codec <- function(recipe, codec) {
  recipe$codec <- codec
  recipe$at <- codec$estimate
  recipe$vectors <- vectors_of(codec, matrix(codec$estimate, 1))
  recipe$which <- 1L
  recipe
}

# What is held, without what is NULL; an action prior by name, in the order of the actions.
named_fixed <- function(fixed, setting) {
  fixed <- fixed[!vapply(fixed, is.null, NA)]
  if (!is.null(fixed$action_prior)) {
    fixed$action_prior <- action_prior_of(bounded_agent(action_prior = fixed$action_prior), setting)
  }
  fixed
}

# Groups, and what there is to say of them and of the models.
group_inverse <- function(inverse, visits, by) {
  inverse$group <- group_trajectories(visits, by, inverse$coded)
  inverse$by <- unname(by)
  inverse
}

# `cells`: whether groups are cells of a population, where few visits are as it should be.
tell_inverse <- function(inverse, cells = FALSE) {
  warn_small_groups(if (cells) factor(rep(lone_group, length(inverse$group))) else inverse$group,
                    scored_visits(inverse$coded))
  tell_one_model(inverse$prior, inverse$models, inverse$fixed, inverse$by_default)
}

# Tables and trees. What no parameters could explain is refused, with its rows.
build_inverse <- function(inverse, resolution, control, cores) {
  if (has_several(inverse)) {
    parts <- lapply(seq_along(inverse$setting), function(k) {
      build_inverse(problem_part(inverse, k), resolution, control, cores)
    })
    return(join_parts(inverse, parts))
  }
  make <- function(setting, models) {
    build_problem(setting, models, resolution, control$interpolate, control$surprise, cores = cores)
  }
  levels <- levels(inverse$group)
  problems <- group_problems(inverse$setting, inverse$models, levels, make)
  problem <- if (is.null(problems)) make(inverse$setting, inverse$models) else problems[[1]]
  pieces <- lapply(levels, function(level) group_coded(inverse$coded, inverse$group, level))
  histories <- lapply(pieces, build_histories, problem$setting)
  tolerance <- control$tolerance
  if (is.null(problems)) {
    refuse_impossible_visits(inverse$coded, build_histories(inverse$coded, problem$setting), problem, tolerance,
                             inverse$fixed$action_prior)
  } else {
    Map(refuse_impossible_visits, pieces, histories, problems,
        MoreArgs = list(tolerance = tolerance, action_prior = inverse$fixed$action_prior))
  }
  c(inverse[c("group", "by", "prior", "fixed", "recipe")],
    list(problem = problem, problems = problems, histories = histories,
         actions = lapply(pieces, function(piece) piece$action + 1L),
         tolerance = tolerance))
}

# `group`: the tree of each vector of parameters that will be asked about.
inverse_evaluator <- function(inverse, group = seq_along(inverse$histories), cores = 1L, likelihood = TRUE) {
  if (has_several(inverse)) {
    parts <- lapply(problem_names(inverse), function(name) {
      part <- inverse_evaluator(part_inverse(inverse, name), cores = cores, likelihood = likelihood)
      # Where in it each group stands.
      met <- met_problem(inverse$histories, name)
      c(part, list(place = ifelse(met, cumsum(met), NA)))
    })
    return(new_sum_evaluator(stats::setNames(parts, problem_names(inverse)), group))
  }
  of <- function(problem, histories, group) {
    new_evaluator(problem, histories, group, inverse$prior, inverse$fixed, inverse$tolerance, cores, likelihood,
                  inverse$recipe)
  }
  evaluator <- of(inverse$problem, inverse$histories, group)
  if (!is.null(inverse$problems)) {
    evaluator$own <- lapply(seq_along(inverse$problems), function(g) {
      of(inverse$problems[[g]], inverse$histories[g], rep(1L, sum(group == g)))
    })
  }
  evaluator
}

# The problem that a group has.
problem_of <- function(inverse, group) if (is.null(inverse$problems)) inverse$problem else inverse$problems[[group]]

# All of them: one, or one per group.
all_problems <- function(inverse) {
  if (has_several(inverse)) return(inverse$several$problems)
  if (is.null(inverse$problems)) list(inverse$problem) else inverse$problems
}

# Where solves start: values that a chain has for each of its problems.
values_of <- function(inverse) {
  problems <- if (has_several(inverse)) all_problems(inverse) else list(inverse$problem)
  sum(vapply(problems, values_per_chain, 0, inverse$prior, inverse$fixed))
}

# The same inverse problem with something else assumed of it. `change`: what changed_problem() takes, `models` also as
# a list with one entry per group, and `utility` as a function of a group's own; and `prior`, `fixed` (for what is held
# of the same quantities) and `discount`. Group by group where they differ.
changed_inverse <- function(inverse, change, cores = 1L, ...) {
  if (has_several(inverse)) return(changed_parts(inverse, change, cores, ...))
  of_problem <- change[names(change) %in% c("resolution", "models", "step", "utility", "bonus", "above")]
  make <- function(problem, models = of_problem$models) {
    of_problem$models <- models
    if (is.function(of_problem$utility)) of_problem$utility <- of_problem$utility(problem$setting$utility)
    changed_problem(problem, of_problem, cores, ...)
  }
  problems <- inverse$problems
  by_group <- is_group_list(of_problem$models)
  if (by_group && is.null(problems)) problems <- rep(list(inverse$problem), length(inverse$histories))
  if (by_group) problems <- Map(make, problems, of_problem$models)
  if (length(of_problem) && !by_group && !is.null(problems)) problems <- lapply(problems, make)
  problem <- if (!is.null(problems)) problems[[1]] else if (length(of_problem)) make(inverse$problem) else
    inverse$problem
  fixed <- inverse$fixed
  held <- c(change$fixed, if (!is.null(change$discount)) list(discount = change$discount))
  fixed <- c(fixed[!quantity_of(names(fixed)) %in% quantity_of(names(held))], held)
  list(problem = problem, problems = problems, recipe = inverse$recipe, histories = inverse$histories,
       prior = if (is.null(change$prior)) inverse$prior else change$prior,
       fixed = named_fixed(fixed, problem$setting), tolerance = inverse$tolerance)
}

# Of several problems, each by itself.
changed_parts <- function(inverse, change, cores, ...) {
  parts <- lapply(stats::setNames(nm = problem_names(inverse)), function(name) {
    changed_inverse(part_inverse(inverse, name), change, cores, ...)
  })
  inverse$several$problems <- lapply(parts, `[[`, "problem")
  c(parts[[1]][c("recipe", "prior", "fixed", "tolerance")],
    list(problem = NULL, problems = NULL, several = inverse$several, histories = inverse$histories))
}
