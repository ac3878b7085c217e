# What sensitivity_analysis() is to vary, read into alternatives before any work. An alternative is a list: `what`, its
# `label`, and `change`, as changed_inverse() takes it; NULL where it is what the fit has.

sensible <- c("resolution", "step", "models", "discount", "utility", "bonus", "above", "prior", "fixed")

# The alternatives of a grid are counted too; more than this are probably a slip.
most_alternatives <- 1000

read_over <- function(over, object, grid) {
  if (!is.list(over) || is.object(over) || !length(over) || is.null(names(over))) {
    abort_input("over", "must be a named list of what to vary, such as list(step = c(0.05, 0.2)), not ",
                describe(over), ".")
  }
  unknown <- setdiff(names(over), sensible)
  if (length(unknown)) {
    abort_input("over", "names unknown ", enumerate(unknown), "; what can be varied is ", enumerate(sensible, Inf), ".")
  }
  if (anyDuplicated(names(over))) {
    abort_input("over", "names ", enumerate(unique(names(over)[duplicated(names(over))])), " more than once.")
  }
  # setting() and models() decide themselves what they return.
  made <- setdiff(names(over), c("resolution", "prior"))
  if (!is.null(object$recipe) && length(made)) {
    what <- if (is.null(object$recipe$codec)) "functions of named quantities" else
      "made anew for every draw of the dynamics"
    abort_input("over", "cannot vary ", enumerate(made), ": the setting or the models of this fit are ", what,
                ". Fit with other functions", if (length(object$recipe$inferred)) ", or vary the priors of quantities",
                ".")
  }
  each <- lapply(names(over), function(what) read_alternatives(what, over[[what]], object))
  out <- if (grid) combine_alternatives(each, names(over)) else unlist(each, recursive = FALSE)
  out <- Filter(function(alternative) !is.null(alternative$change), out)
  if (!length(out)) abort_input("over", "holds nothing but what the fit has already.")
  if (length(out) > most_alternatives) {
    abort_input("over", "would make ", format_count(length(out)), " alternatives; at most ",
                format_count(most_alternatives), " are taken.")
  }
  out
}

read_alternatives <- function(what, values, object) {
  argument <- paste0("over$", what)
  read <- switch(what, resolution = read_resolution, step = read_step, discount = read_discount, bonus = read_bonus,
                 above = read_above, utility = read_utility, models = read_models, prior = read_other_prior,
                 fixed = read_fixed)
  values <- as_alternatives(values, argument, plain = what %in% c("resolution", "step", "discount", "bonus", "above"))
  changes <- read(values, object, argument)
  Map(function(label, change) list(what = what, label = label, change = change), names(values), changes,
      USE.NAMES = FALSE)
}

# A list of values with the names that they have in tables; numbers are their own names.
as_alternatives <- function(values, argument, plain) {
  if (plain) {
    if (!is.numeric(values) || !length(values) || !is.null(dim(values))) {
      abort_input(argument, "must be one or more numbers, not ", describe(values), ".")
    }
    own <- vapply(unname(values), format_plain, "", digits = 15)
  } else {
    if (is.character(values)) values <- as.list(values)
    if (!is.list(values) || is.object(values) || !length(values)) {
      abort_input(argument, "must be a named list of alternatives, not ", describe(values), ".")
    }
    own <- vapply(unname(values), function(value) if (is.character(value) && length(value) == 1) value else "", "")
  }
  labels <- if (is.null(names(values))) rep("", length(values)) else names(values)
  labels <- ifelse(is.na(labels) | !nzchar(labels), own, labels)
  if (anyNA(labels) || !all(nzchar(labels))) {
    bad <- which(is.na(labels) | !nzchar(labels))
    abort_input(argument, "must have a name for each alternative; number ", bad[1], " has none.", rows = bad)
  }
  twice <- which(duplicated(labels))
  if (length(twice)) abort_input(argument, "has two alternatives of the same name.", rows = twice)
  stats::setNames(as.list(values), labels)
}

# `own`: the value that each problem of the fit has; where it is the same in all of them, it is not fitted again.
number_changes <- function(values, what, own, check) {
  lapply(unname(values), function(value) {
    value <- check(value)
    if (length(own) && all(own == value)) return(NULL)
    stats::setNames(list(value), what)
  })
}

group_names <- function(object) names(if (inherits(object, "ibrc_fit")) object$draws else object$tops)

of_problems <- function(object, get) unlist(lapply(all_problems(object), get))

read_resolution <- function(values, object, argument) {
  if (all(of_problems(object, function(problem) is_vertices(problem$space)))) {
    abort_input(argument, "cannot be varied: the state is seen in this setting, and there is no lattice.")
  }
  number_changes(values, "resolution", of_problems(object, function(problem) problem$resolution),
                 function(value) check_count(value, argument))
}

read_step <- function(values, object, argument) {
  own <- of_problems(object, function(problem) {
    known <- !is.null(problem$models$step) &&
      !is.null(models_at_step(problem$models, problem$setting, problem$models$step$by))
    if (known) problem$models$step$by else NA
  })
  if (anyNA(own)) {
    abort_input(argument, "cannot be varied: the models of this fit do not come from perturb_models() as they stand. ",
                "Give the others by name, as in over = list(models = list(wide = model_prior(...))).")
  }
  number_changes(values, "step", own, function(value) {
    if (check_positive(value, argument) >= 1) abort_input(argument, "must be less than 1; it is ", format(value), ".")
    value
  })
}

read_discount <- function(values, object, argument) {
  refuse_inferred("discount", object, argument)
  held <- object$fixed$discount
  own <- if (is.null(held)) of_problems(object, function(problem) problem$setting$discount) else held
  number_changes(values, "discount", own, function(value) check_discount(value, argument))
}

read_bonus <- function(values, object, argument) {
  number_changes(values, "bonus", own_bonus(object, "worth", argument),
                 function(value) check_finite_number(value, argument))
}

read_above <- function(values, object, argument) {
  number_changes(values, "above", own_bonus(object, "above", argument),
                 function(value) check_certainty(value, argument))
}

own_bonus <- function(object, part, argument) {
  problems <- all_problems(object)
  if (any(vapply(problems, function(problem) !is.null(lost_worth(problem)), NA))) {
    abort_input(argument, "cannot be varied: this fit knows what beliefs are worth only at the nodes of its lattice, ",
                "as after resume().")
  }
  known <- vapply(problems, function(problem) inherits(problem$setting$belief_utility, "ibrc_certainty_bonus"), NA)
  if (!all(known)) {
    abort_input(argument, "cannot be varied: the setting of this fit has no certainty_bonus() as its `belief_utility`.")
  }
  of_problems(object, function(problem) attr(problem$setting$belief_utility, part))
}

# Matrices, or functions of the utility that each group has. Functions are tried here, on all groups.
read_utility <- function(values, object, argument) {
  lapply(names(values), function(label) {
    value <- values[[label]]
    where <- paste0(argument, "$", label)
    worth <- function(utility) {
      new <- if (is.function(value)) call_user(value, utility, argument = where) else value
      as_utility(new, rownames(utility), colnames(utility), where)
    }
    settings <- lapply(all_problems(object), function(problem) problem$setting)
    changed <- vapply(settings, function(setting) {
      new <- worth(setting$utility)
      refuse_inferred_entries(setting$utility, new, object, where)
      any(new != setting$utility)
    }, NA)
    if (any(changed)) list(utility = worth)
  })
}

refuse_inferred_entries <- function(old, new, object, argument) {
  entries <- utility_terms(object$prior)
  if (!length(entries$term)) return(invisible())
  at <- cbind(match(entries$state, rownames(old)), match(entries$action, colnames(old)))
  moved <- entries$term[old[at] != new[at]]
  if (length(moved)) {
    abort_input(argument, "changes ", enumerate(moved), ", which the fit infers: vary the prior of it instead ",
                "(over$prior).")
  }
}

refuse_inferred <- function(quantity, object, argument) {
  if (any(quantity %in% quantity_of(prior_terms(object$prior)))) {
    abort_input(argument, "cannot be varied: the fit infers ", enumerate(quantity), ". Vary its prior instead ",
                "(over$prior).")
  }
}

# A model prior for all groups, or a list of them named by group.
read_models <- function(values, object, argument) {
  groups <- group_names(object)
  lapply(names(values), function(label) {
    where <- paste0(argument, "$", label)
    value <- values[[label]]
    if (is_group_list(value) && length(value)) {
      check_group_list(value, object$by, "ibrc_models", where, "model_prior()")
      value <- value[match_groups(names(value), groups, where)]
    } else {
      check_class(value, "ibrc_models", where, "model_prior()")
    }
    list(models = value)
  })
}

read_fixed <- function(values, object, argument) {
  lapply(names(values), function(label) {
    where <- paste0(argument, "$", label)
    value <- values[[label]]
    if (!is.list(value) || is.object(value) || !length(value) || is.null(names(value))) {
      abort_input(where, "must be a named list of what is held, such as list(eta = 0.5), not ", describe(value), ".")
    }
    refuse_inferred(intersect(quantity_of(names(value)), quantity_of(prior_terms(object$prior))), object, where)
    change <- list(fixed = value)
    held <- within_argument(where, {
      kept <- object$fixed[!quantity_of(names(object$fixed)) %in% quantity_of(names(value))]
      check_prior(object$prior, object$problem$setting, c(kept, value))
      named_fixed(c(kept, value), object$problem$setting)
    })
    same <- setequal(names(held), names(object$fixed)) && identical(held[names(object$fixed)], object$fixed)
    if (!same) change
  })
}

# An error under the name of the argument that it came from.
within_argument <- function(argument, code) {
  tryCatch(code, ibrc_error_input = function(e) abort_input(argument, "cannot be used: ", e$message))
}

# ---- priors -----------------------------------------------------------------------------

read_other_prior <- function(values, object, argument) {
  if (identical(object$estimate, "mle")) {
    abort_input(argument, "cannot be varied: a maximum of the likelihood does not depend on the density of a prior.")
  }
  lapply(names(values), function(label) {
    where <- paste0(argument, "$", label)
    value <- values[[label]]
    if (is.character(value)) {
      value <- check_choice(value, c("wider", "narrower"), where)
      return(list(prior = spread_prior(object$prior, if (value == "wider") 2 else 1 / 2, where)))
    }
    check_class(value, "ibrc_prior", where, "ibrc_prior()")
    value <- within_argument(where, check_prior(value, object$problem$setting, object$fixed))
    if (!setequal(prior_terms(value), prior_terms(object$prior))) {
      abort_input(where, "must be a prior of the terms that the fit infers, and of no others: ",
                  enumerate(prior_terms(object$prior), Inf), ".")
    }
    value <- new_ibrc_prior(unclass(value)[prior_terms(object$prior)])
    if (!identical(value, object$prior)) list(prior = value)
  })
}

# Every term's prior, `times` as wide. A prior without a spread to change stays: uniform(), beta(), dirichlet().
spread_prior <- function(prior, times, argument) {
  entries <- lapply(unclass(prior), function(entry) spread_entry(entry, times))
  if (identical(unname(entries), unname(unclass(prior)))) {
    abort_input(argument, "cannot be made: no term of this fit has a prior with a spread to change. State the prior.")
  }
  new_ibrc_prior(entries)
}

spread_entry <- function(entry, times) {
  args <- entry$args
  spread <- intersect(names(args), c("sd", "scale", "sdlog"))
  if (length(spread)) {
    args[spread] <- args[spread] * times
  } else if (entry$distribution == "exponential") {
    args["rate"] <- args["rate"] / times
  } else if (entry$distribution == "gamma") {
    # The same mean.
    args <- args / times^2
  } else {
    return(entry)
  }
  label <- paste0(entry$distribution, "(", paste(as_text(signif(args, 3)), collapse = ", "), ")")
  new_prior_entry(entry$term, entry$distribution, args, entry$lower, entry$upper, label, entry$state, entry$action)
}

# ---- all combinations -------------------------------------------------------------------

# Each with each, and with the fit's own value. A combination does not name what it leaves as it is.
combine_alternatives <- function(each, what) {
  if (all(c("step", "models") %in% what)) {
    abort_input("over", "cannot combine \"step\" with \"models\": both say what may be believed.")
  }
  holds_discount <- vapply(unlist(each, recursive = FALSE), function(one) "discount" %in% names(one$change$fixed), NA)
  if ("discount" %in% what && any(holds_discount)) {
    abort_input("over", "cannot combine \"discount\" with a \"fixed\" that holds the discount.")
  }
  each <- lapply(each, function(some) {
    c(list(list(change = NULL)), Filter(function(one) !is.null(one$change), some))
  })
  if (prod(lengths(each)) > most_alternatives + 1) {
    abort_input("grid", "= TRUE would make ", format_count(prod(lengths(each)) - 1), " alternatives; at most ",
                format_count(most_alternatives), " are taken.")
  }
  rows <- expand.grid(lapply(each, seq_along))
  lapply(seq_len(nrow(rows)), function(i) {
    chosen <- Map(function(some, k) some[[k]], each, unlist(rows[i, ]))
    chosen <- Filter(function(one) !is.null(one$change), chosen)
    list(what = paste(vapply(chosen, `[[`, "", "what"), collapse = ", "),
         label = paste(vapply(chosen, `[[`, "", "label"), collapse = ", "),
         change = if (length(chosen)) do.call(c, lapply(chosen, `[[`, "change")))
  })
}
