# Several problems, one decision maker: settings that share no more than the agent. The log-likelihood of a group is the
# sum over its problems, each with tables and solves of its own.
#
# An inverse problem, a fit or a mode of this kind has
#   several     list(column, problems, of): the column that says which problem a trajectory is of, the problems by
#               name, and which of them each trajectory is of
#   histories   per group a list by problem, of trees, without problems that the group has not met; actions likewise
# and no `problem` of its own: what asks about one problem has to say which (part_inverse()).

has_several <- function(inverse) !is.null(inverse$several)

problem_names <- function(inverse) names(inverse$several$problems)

# What all problems have in common (how they are computed) stands in the first as in any.
lead_problem <- function(inverse) if (has_several(inverse)) inverse$several$problems[[1]] else inverse$problem

# " of 2 problems (easy, hard)", for whatever prints a fit or a mode; of one of them, which.
problem_words <- function(object) {
  if (!is.null(object$part)) return(paste0(" of the problem ", enumerate(object$part$problem)))
  if (!has_several(object)) return("")
  names <- problem_names(object)
  paste0(" of ", plural(length(names), "problem"), " (", listing(names), ")")
}

# ---- what the user gave ----------------------------------------------------------------------------------------------

# As read_inverse() has it for one setting. `coded`: which rows are whose; `parts`: each problem's visits.
read_problems <- function(visits, setting, models, prior, fixed, by_default, problem) {
  settings <- check_problem_list(setting)
  models <- problem_models(models, settings)
  if (!by_default && length(quantity_terms(prior))) {
    abort_input(quantity_terms(prior)[1], "has a prior, and is a term of no setting: functions of named quantities ",
                "are for one problem alone. Fit the problems one by one for it.")
  }
  coded <- trajectory_rows(visits)
  of <- problem_codes(visits, problem, names(settings), coded)
  refuse_unused_problems(of, names(settings))
  parts <- lapply(seq_along(settings), function(k) code_visits(visits, settings[[k]], rows = which(of == k)))
  if (by_default) prior <- default_prior(widest_setting(settings), not_inferred(fixed, models))
  for (k in seq_along(settings)) prior <- check_shared_prior(prior, fixed, settings, k)
  list(setting = settings, models = models, coded = coded, parts = parts, prior = prior, fixed = fixed,
       by_default = by_default, recipe = NULL,
       several = list(column = problem, of = of[coded$row[!duplicated(coded$trajectory)]]))
}

check_problem_list <- function(setting) {
  if (!is_group_list(setting)) {
    abort_input("setting", "must be a list of settings named by problem where `problem` is given, such as ",
                "list(easy = diag_setting(accuracy = 0.8), hard = diag_setting(accuracy = 0.6)), not ",
                describe(setting), ".")
  }
  check_named_list(setting, "ibrc_setting", "setting", "decision_setting()", "problem")
  setting
}

# NULL, what a function makes of each setting, or a list by the names of the settings; in their order.
problem_models <- function(models, settings) {
  if (is.null(models)) return(NULL)
  if (is.function(models)) {
    if (is.primitive(models) || length(formals(models)) < 1) {
      abort_input("models", "must take a setting, as in function(setting) perturb_models(setting, by = 0.1).")
    }
    models <- lapply(settings, function(setting) call_user(models, setting, argument = "models"))
    other <- which(!vapply(models, inherits, NA, "ibrc_models"))
    if (length(other)) {
      abort_input("models", "must return what model_prior() makes, for every setting; for entry ", other[1],
                  " of the list it returned ", describe(models[[other[1]]]), ".", rows = unname(other))
    }
    return(models)
  }
  if (!is_group_list(models)) {
    abort_input("models", "must be a function of a setting, such as function(setting) perturb_models(setting, ",
                "by = 0.1), or a list by the names of the settings, where there are several problems; not ",
                describe(models), ".")
  }
  check_named_list(models, "ibrc_models", "models", "model_prior()", "problem")
  models[match_names(as_utf8(names(models)), as_utf8(names(settings)), "models", "problems")]
}

# Which problem each row is of, one and the same within a trajectory. Values are not shown: they may be anybody's.
problem_codes <- function(visits, problem, names, coded, argument = "problem") {
  if (!is.character(problem) || length(problem) != 1 || is.na(problem)) {
    abort_input(argument, "must name one column, not ", describe(problem), ".")
  }
  check_column(visits, problem, argument, " Name it in `covariates` of trajectories(), which drops other columns.")
  x <- plain_column(visits[[problem]])
  shown <- paste0("column ", enumerate(problem))
  lost <- which(is_lost(x))
  if (length(lost)) {
    abort_rows(lost, argument, shown, " is missing", advice = "Say which of the settings these visits are of.")
  }
  code <- match(as_utf8(x), as_utf8(names))
  strange <- which(is.na(code))
  if (length(strange)) {
    abort_rows(strange, argument, shown, " names a problem that has no setting; there are ", enumerate(names),
               advice = "Names must match exactly.")
  }
  first <- coded$row[!duplicated(coded$trajectory)]
  refuse_changing(code, problem, coded, first, argument, "Give each problem trajectories (an `id`) of its own.")
  code
}

refuse_unused_problems <- function(of, names) {
  unused <- setdiff(seq_along(names), of)
  if (length(unused)) {
    abort_input("setting", "has ", enumerate(names[unused]), ", and no trajectory is of ",
                if (length(unused) == 1) "that problem" else "these problems", ": leave ",
                if (length(unused) == 1) "it" else "them", " out.", rows = unused)
  }
}

# A term is one number in all problems: an entry of the utility has to be in each of them, and an action prior is over
# actions that all have.
check_shared_prior <- function(prior, fixed, settings, k) {
  setting <- settings[[k]]
  if (!is.null(prior)) check_class(prior, "ibrc_prior", "prior", "ibrc_prior()")
  held <- is.list(fixed) && !is.null(fixed$action_prior)
  simplex <- held || length(simplex_names(prior))
  if (simplex && !identical(setting$actions, settings[[1]]$actions)) {
    abort_input(if (held) "fixed" else "prior", "has an `action_prior`, which is shared by all ",
                "problems: their settings must have the same actions, in the same order. Entry ", k, " of the list ",
                "differs from entry 1.", rows = k)
  }
  entries <- utility_terms(prior)
  known <- function(one) entries$state %in% one$states & entries$action %in% one$actions
  # One that no setting knows is told by what check_prior() says.
  lost <- !known(setting) & Reduce(`|`, lapply(settings, known))
  if (any(lost)) {
    abort_input("prior", "has ", enumerate(entries$term[lost]), ", which is not in the setting of ",
                enumerate(names(settings)[k]), ". An entry of the utility that is inferred is one number for all ",
                "problems, and must be in each of their settings: fit that problem alone, or call states and actions ",
                "the same.")
  }
  check_prior(prior, setting, fixed)
}

refuse_several_dynamics <- function() {
  abort_input("dynamics", "are of one problem, and `problem` says that there are several: give settings that are ",
              "made from learned dynamics (as_setting()), which holds them at their estimate, or fit the problems one ",
              "by one.")
}

# ---- part by part ----------------------------------------------------------------------------------------------------

# What build_inverse() is to build of one problem: with the groups that have met it.
problem_part <- function(inverse, k) {
  c(inverse[c("by", "prior", "fixed", "recipe")],
    list(setting = inverse$setting[[k]], models = inverse$models[[k]], coded = inverse$parts[[k]],
         group = droplevels(inverse$group[inverse$several$of == k])))
}

# What it built, together.
join_parts <- function(inverse, parts) {
  names(parts) <- names(inverse$setting)
  by_group <- function(what) {
    lapply(levels(inverse$group), function(level) {
      met <- Filter(function(part) level %in% levels(part$group), parts)
      lapply(met, function(part) part[[what]][[match(level, levels(part$group))]])
    })
  }
  c(inverse[c("group", "by", "prior", "fixed", "recipe")],
    list(problem = NULL, problems = NULL, histories = by_group("histories"), actions = by_group("actions"),
         tolerance = parts[[1]]$tolerance,
         several = list(column = inverse$several$column, problems = lapply(parts, `[[`, "problem"),
                        of = inverse$several$of)))
}

# Of a list per group by problem, those of one: as long as there are groups that have met it, or NULL for the others.
of_problem <- function(by_group, name, met = TRUE) {
  found <- lapply(by_group, `[[`, name)
  if (met) found[met_problem(by_group, name)] else found
}

met_problem <- function(by_group, name) vapply(by_group, function(one) name %in% names(one), NA)

# One problem of several, with the trees of the groups that have met it: an inverse problem like any other.
part_inverse <- function(inverse, name) {
  out <- inverse
  out["several"] <- list(NULL)
  out$problem <- inverse$several$problems[[name]]
  out$histories <- of_problem(inverse$histories, name)
  out
}

# Of each group, over its problems: `count` is visit_counts() or scored_counts().
counts_of <- function(inverse, count) {
  if (!has_several(inverse)) return(count(inverse$histories))
  vapply(inverse$histories, function(trees) sum(count(trees)), 0)
}

# counted_trajectories() of what an inverse problem keeps.
counted_of <- function(inverse) {
  if (!has_several(inverse)) return(counted_trajectories(inverse$histories, inverse$trajectory_group))
  out <- logical(length(inverse$trajectory_group))
  for (k in seq_along(inverse$several$problems)) {
    mine <- inverse$several$of == k
    out[mine] <- counted_trajectories(of_problem(inverse$histories, problem_names(inverse)[k], met = FALSE),
                                      inverse$trajectory_group[mine])
  }
  out
}

# ---- who reads them --------------------------------------------------------------------------------------------------

# `what`: is asked of one setting, and cannot be of several at once.
refuse_several <- function(object, argument, what) {
  if (!has_several(object)) return(invisible())
  names <- problem_names(object)
  abort_input(argument, "is of several problems (", enumerate(names), "), and ", what, " looks at one of them: give ",
              "one_problem(", argument, ", \"", names[1], "\").", topic = "one_problem")
}

# `what`: is asked of the posterior, which one problem alone does not have.
refuse_part <- function(object, argument, what) {
  if (is.null(object$part)) return(invisible())
  abort_input(argument, "is one problem (", enumerate(object$part$problem), ") of a fit to several, from ",
              "one_problem(): ", what, " is asked of the whole fit.", topic = "one_problem")
}

# `what`: fits again, and does so for one setting.
refuse_refit <- function(object, argument, what) {
  refuse_part(object, argument, what)
  if (has_several(object)) {
    abort_input(argument, "is of several problems (", enumerate(problem_names(object)), "), and ", what, " fits one ",
                "again: fit the problems one by one for it.")
  }
}

# Visits that are of another problem would be judged by the wrong setting, where names are the same.
refuse_other_problems <- function(object, visits, argument = "visits") {
  column <- object$part$column
  if (is.null(column) || !is.data.frame(visits) || !column %in% names(visits)) return(invisible())
  other <- which(!as_utf8(plain_column(visits[[column]])) %in% as_utf8(object$part$problem))
  if (length(other)) {
    abort_rows(other, argument, "column ", enumerate(column), " says that visits are of another problem than ",
               enumerate(object$part$problem),
               advice = paste0("Give those of this problem, as in visits[visits$", column, " == \"",
                               object$part$problem, "\", ]."))
  }
}
