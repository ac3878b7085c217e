#' What an agent may believe about the dynamics
#'
#' A model prior is a list of possible models with weights. Each model is a
#' transition and an emission law. The weights say how likely each model is in the
#' neutral view. An optimistic agent leans towards the models under which its
#' plan pays, a pessimistic one towards the others.
#'
#' `perturb_models()` makes models in which the probabilities of a setting are one step lower,
#' unchanged, or one step higher. In each row the largest probability moves and the others are
#' rescaled. A step never goes more than half the way to 0 or 1, so what is
#' possible stays possible. Rows with a certain outcome are not changed.
#' `soften_models()` mixes the setting's own rows with equal chances for everything that
#' can happen in that row.
#'
#' @param models A list of models, each a list with elements `transition` and
#'   `emission` in any form that [decision_setting()] takes. Names, if given,
#'   label the models.
#' @param weights Prior weights, non-negative with sum 1. Equal by default.
#' @param setting A setting ([decision_setting()]). For `model_prior()` it is
#'   optional. If it is given, the models are checked against it now rather than when a
#'   plan is made.
#' @param by The step, added to or taken from the largest probability of a row: 0.1
#'   is ten percentage points.
#' @param vary Which law varies: `"emission"` (what is seen), `"transition"` (how
#'   states move) or `"both"`.
#' @param apart With `FALSE` all rows of a law move together. This gives three models. With `vary = "both"` it gives
#'   nine: every step of the one law is combined with every step of the other.
#'   With `TRUE` (not for a sparse transition) every distinct row moves by itself, in all combinations. For
#'   [diag_setting()] sensitivity and specificity then vary separately (nine models) and,
#'   with `vary = "both"`, prevalence as well (27 models).
#' @param mix The share of the uniform law in each model, from 0 (the setting
#'   itself) to 1.
#'
#' @return An object of class `ibrc_models`: a list with `models` and `weights`. The result of `perturb_models()` also
#'   has `step`, which records how they were made, so that [sensitivity_analysis()] can make them with another step.
#' @seealso [diag_models()] for the paper's three models of DIAG.
#' @family problem statements
#' @export
#' @examples
#' setting <- diag_setting()
#' perturb_models(setting, by = 0.1)
#' perturb_models(setting, by = 0.1, vary = "both", apart = TRUE)
#' soften_models(setting, mix = c(0, 0.5))
model_prior <- function(models, weights = NULL, setting = NULL) {
  check_given(models)
  if (!is.list(models) || is.data.frame(models) || length(models) == 0) {
    abort_input("models", "must be a list of models, each list(transition, emission), not ",
                describe(models), ".")
  }
  if (all(c("transition", "emission") %in% names(models))) models <- list(models)
  for (i in seq_along(models)) {
    lost <- setdiff(c("transition", "emission"), names(models[[i]]))
    if (!is.list(models[[i]]) || length(lost)) {
      abort_input("models", "must hold lists with `transition` and `emission`; model ", i, " does not.",
                  rows = i)
    }
  }
  labels <- names(models)
  if (is.null(labels)) labels <- paste0("model_", seq_along(models))
  labels <- check_names(labels, "models")
  if (is.null(weights)) weights <- rep(1 / length(models), length(models))
  weights <- check_distribution(weights, labels, "weights", of = "models")
  out <- new_ibrc_models(stats::setNames(models, labels), weights)
  if (!is.null(setting)) {
    check_class(setting, "ibrc_setting", "setting", "decision_setting()")
    out <- validate_ibrc_models(out, setting)
  }
  out
}

new_ibrc_models <- function(models, weights) {
  structure(list(models = models, weights = weights), class = "ibrc_models")
}

# Brings every model into the arrays of a setting.
validate_ibrc_models <- function(models, setting) {
  # How many independent draws they are worth (model_draws()) is not part of a problem.
  attr(models, "effective") <- NULL
  quick <- quick_models(models, setting)
  if (!is.null(quick)) return(quick)
  models$models <- lapply(seq_along(models$models), function(i) {
    model <- models$models[[i]]
    as_dynamics(model$transition, model$emission, setting$states, setting$actions, setting$observations,
                paste0("models[[", i, "]]$"))
  })
  names(models$models) <- names(models$weights)
  models
}

# The setting's own dynamics, as the only model.
own_model <- function(setting) {
  new_ibrc_models(list(setting = setting[c("transition", "emission")]), c(setting = 1))
}

# Is the state seen in every model?
all_seen <- function(models) all(vapply(models$models, function(model) is_identity(model$emission), NA))

# The space that plans with these models need.
space_for <- function(models, n_states, resolution) {
  if (all_seen(models)) vertices_space(n_states) else lattice_space(n_states, resolution)
}

# Numbers of states, observations and actions.
model_size <- function(model) {
  if (is_by_rows(model$transition)) model$transition$size[c(1, 1, 2)] else dim(model$emission)
}

# The models as the kernels read them: stacked arrays or, if the state is seen, rows.
stack_models <- function(models) {
  size <- model_size(models$models[[1]])
  stack <- list(n_states = size[1], n_actions = size[3], n_obs = size[2], n_models = length(models$models))
  if (all_seen(models)) return(c(stack, stack_rows(lapply(models$models, `[[`, "transition"))))
  laws <- lapply(models$models, dense_model)
  c(stack, list(transition = unlist(lapply(laws, `[[`, "transition"), use.names = FALSE),
                emission = unlist(lapply(laws, `[[`, "emission"), use.names = FALSE)))
}

# The same for models whose arrays already have the setting's sizes and names, as functions of the package return them.
# NULL for others.
quick_models <- function(models, setting) {
  over <- list(transition = setting[c("states", "states", "actions")],
               emission = setting[c("states", "observations", "actions")])
  named <- list(transition = c("from", "to", "action"), emission = c("to", "observation", "action"))
  laws <- lapply(stats::setNames(nm = names(over)), function(law) {
    together <- quick_rows(models$models, law, unname(over[[law]]))
    if (is.null(together)) return(NULL)
    each <- prod(lengths(over[[law]]))
    lapply(seq_along(models$models), function(i) {
      array(together[(i - 1) * each + seq_len(each)], lengths(over[[law]], use.names = FALSE),
            stats::setNames(over[[law]], named[[law]]))
    })
  })
  if (is.null(laws$transition) || is.null(laws$emission)) return(NULL)
  models$models <- Map(function(transition, emission) list(transition = transition, emission = emission),
                       laws$transition, laws$emission)
  names(models$models) <- names(models$weights)
  models
}

# stack_models() for models that have not yet been brought into the arrays of their setting. Functions of the package
# return arrays that already have its sizes and names. For those this is quick, because a sampler asks at each step.
valid_stack <- function(models, setting) {
  laws <- quick_laws(models$models, setting)
  seen <- has_observation_per_state(setting) && all(laws$emission == 0 | laws$emission == 1)
  if (is.null(laws) || seen) return(stack_models(validate_ibrc_models(models, setting)))
  c(stack_size(setting, length(models$models)), laws)
}

# The same for several worlds, list(setting, models), of which only the numbers differ: together they take hardly longer
# than one. Where the state is seen in some, and where anything is unusual, each is looked at by itself.
valid_stacks <- function(worlds) {
  setting <- worlds[[1]]$setting
  models <- lapply(worlds, function(world) world$models$models)
  n_models <- unique(lengths(models))
  laws <- if (length(n_models) == 1 && !has_observation_per_state(setting)) {
    quick_laws(unlist(models, recursive = FALSE, use.names = FALSE), setting)
  }
  if (is.null(laws)) return(lapply(worlds, function(world) valid_stack(world$models, world$setting)))
  laws <- lapply(laws, matrix, ncol = length(worlds))
  size <- stack_size(setting, n_models)
  lapply(seq_along(worlds), function(i) {
    c(size, list(transition = laws$transition[, i], emission = laws$emission[, i]))
  })
}

has_observation_per_state <- function(setting) length(setting$states) == length(setting$observations)

stack_size <- function(setting, n_models) {
  list(n_states = length(setting$states), n_actions = length(setting$actions), n_obs = length(setting$observations),
       n_models = n_models)
}

# Both laws of all models, or NULL if anything is unusual.
quick_laws <- function(laws, setting) {
  transition <- quick_rows(laws, "transition", list(setting$states, setting$states, setting$actions))
  if (is.null(transition)) return(NULL)
  emission <- quick_rows(laws, "emission", list(setting$states, setting$observations, setting$actions))
  if (!is.null(emission)) list(transition = transition, emission = emission)
}

# One law of all models as a vector, with rows rescaled as check_rows() does. NULL if anything is unusual.
quick_rows <- function(laws, law, over) {
  arrays <- lapply(laws, `[[`, law)
  size <- lengths(over)
  for (x in arrays) {
    if (!is.double(x) || !identical(dim(x), size)) return(NULL)
    if (!is.null(dimnames(x)) && !identical(unname(dimnames(x)), over)) return(NULL)
  }
  x <- unlist(arrays, use.names = FALSE)
  if (anyNA(x) || min(x) < 0 || max(x) > 2) return(NULL)
  rows <- aperm(array(x, c(size[1], size[2], size[3] * length(arrays))), c(1, 3, 2))
  total <- .rowSums(rows, length(rows) / size[2], size[2])
  if (any(abs(total - 1) > sum_tolerance)) return(NULL)
  if (all(total == 1)) return(x)
  as.vector(aperm(rows / total, c(1, 3, 2)))
}

# Together with models in which the state is hidden, a model by rows has to be written out in full.
dense_model <- function(model) {
  if (!is_by_rows(model$transition)) return(model)
  size <- model$transition$size
  list(transition = array_of_rows(model$transition, NULL, NULL), emission = array(diag(size[1]), size[c(1, 1, 2)]))
}

#' @rdname model_prior
#' @export
perturb_models <- function(setting, by = 0.1, vary = c("emission", "transition", "both"),
                           apart = FALSE, weights = NULL) {
  check_given(setting)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  by <- check_positive(by, "by")
  if (by >= 1) abort_input("by", "must be less than 1; it is ", format(by), ".")
  vary <- check_choice(vary, c("emission", "transition", "both"), "vary")
  apart <- check_flag(apart, "apart")
  models <- if (is_by_rows(setting$transition)) perturb_rows(setting, by, vary, apart, weights) else
    perturb_arrays(setting, by, vary, apart, weights)
  models$step <- list(by = by, vary = vary, apart = apart)
  models
}

perturb_arrays <- function(setting, by, vary, apart, weights) {
  laws <- if (vary == "both") c("emission", "transition") else vary
  models <- if (apart) perturb_apart(setting, by, laws) else perturb_together(setting, by, laws)
  if (is.null(models)) abort_input("setting", "has nothing to perturb: every outcome of the ", vary, " is certain.")
  out <- model_prior(models, weights)
  # Laws that were moved as a whole have been rescaled already.
  if (!apart && has_law_names(setting)) out else validate_ibrc_models(out, setting)
}

has_law_names <- function(setting) {
  identical(dimnames(setting$transition), list(from = setting$states, to = setting$states, action = setting$actions)) &&
    identical(dimnames(setting$emission),
              list(to = setting$states, observation = setting$observations, action = setting$actions))
}

# Combines every step of the one law with every step of the other. A sampler may ask for this at each of its steps, so
# each law is moved only once, as a whole.
perturb_together <- function(setting, by, laws) {
  steps <- c(-by, 0, by)
  words <- c(sprintf("%+g", -by), "as is", sprintf("%+g", by))
  models <- list(lapply(setting[c("transition", "emission")], rescaled_law))
  labels <- ""
  for (law in laws) {
    size <- dim(setting[[law]])
    rows <- law_as_rows(setting[[law]])
    uncertain <- which(rowSums(rows > 0) > 1)
    if (!length(uncertain)) next
    moved <- lapply(steps, function(step) {
      if (step != 0) rows[uncertain, ] <- shift_each_row(rows[uncertain, , drop = FALSE], step)
      with_law_rows(setting[[law]], rows)
    })
    models <- unlist(lapply(moved, function(one) lapply(models, function(model) replace(model, law, list(one)))),
                     recursive = FALSE)
    labels <- as.vector(outer(labels, paste(law, words), function(a, b) ifelse(nzchar(a), paste0(a, ", ", b), b)))
  }
  if (length(models) > 1) stats::setNames(models, labels)
}

# A law as a matrix of its rows; and back, with other rows in their place that are rescaled to sum to exactly 1.
law_as_rows <- function(law) matrix(aperm(law, c(1, 3, 2)), ncol = dim(law)[2])
with_law_rows <- function(law, rows) {
  law[] <- aperm(array(rows / rowSums(rows), dim(law)[c(1, 3, 2)]), c(1, 3, 2))
  law
}
rescaled_law <- function(law) with_law_rows(law, law_as_rows(law))

# Moves every distinct row by itself.
perturb_apart <- function(setting, by, laws) {
  units <- do.call(rbind, lapply(laws, function(law) row_units(setting[[law]], law)))
  n_units <- length(unique(units$unit))
  if (n_units == 0) return(NULL)
  if (3^n_units > 729) {
    abort_input("apart", "= TRUE would make ", format(3^n_units, big.mark = big_mark()), " models, one for each ",
                "combination of ", n_units, " distinct rows; use apart = FALSE or build a smaller ",
                "list with model_prior().")
  }
  moves <- as.matrix(expand.grid(rep(list(c(-by, 0, by)), n_units)))
  labels <- unique(units$unit)
  models <- lapply(seq_len(nrow(moves)), function(i) {
    shifted <- setting[c("transition", "emission")]
    for (row in seq_len(nrow(units))) {
      step <- moves[i, match(units$unit[row], labels)]
      if (step == 0) next
      law <- units$law[row]
      at <- cbind(units$state[row], seq_len(dim(shifted[[law]])[2]), units$action[row])
      shifted[[law]][at] <- shift_row(shifted[[law]][at], step)
    }
    shifted
  })
  names(models) <- apply(moves, 1, function(step) {
    paste(labels, ifelse(step == 0, "as is", sprintf("%+g", step)), collapse = ", ")
  })
  models
}

# The same for a setting in which the state is seen: the emission is certain, and all rows of the transition move
# together.
perturb_rows <- function(setting, by, vary, apart, weights) {
  if (apart) {
    abort_input("apart", "must be FALSE for a sparse transition: it has too many rows to move each by itself.")
  }
  rows <- setting$transition
  split_up <- split(rows$probability, entry_rows(rows))
  if (vary == "emission" || all(lengths(split_up) == 1)) {
    abort_input("setting", "has nothing to perturb: every outcome of the ", vary, " is certain.")
  }
  models <- lapply(c(-by, 0, by), function(step) {
    moved <- if (step == 0) split_up else lapply(split_up, function(p) if (length(p) > 1) shift_row(p, step) else p)
    list(transition = with_probabilities(rows, unlist(moved, use.names = FALSE)), emission = "identity")
  })
  names(models) <- paste("transition", c(sprintf("%+g", -by), "as is", sprintf("%+g", by)))
  validate_ibrc_models(model_prior(models, weights), setting)
}

# The same models with another step. NULL if it is not known how they were made: by hand, or changed since then.
# The model in the middle is the one that was perturbed, whatever setting they are used with now.
models_at_step <- function(models, setting, by) {
  made <- models$step
  if (is.null(made)) return(NULL)
  middle <- models$models[[(n_models(models) + 1) %/% 2]]
  setting[c("transition", "emission")] <- middle[c("transition", "emission")]
  again <- function(by) perturb_models(setting, by, made$vary, made$apart, unname(models$weights))
  same <- tryCatch(isTRUE(all.equal(again(made$by)$models, models$models)), error = function(e) FALSE)
  if (same) again(by)
}

# One row for each row of the law that can vary. Rows of the same unit vary together.
row_units <- function(law_array, law) {
  size <- dim(law_array)
  at <- expand.grid(state = seq_len(size[1]), action = seq_len(size[3]))
  rows <- lapply(seq_len(nrow(at)), function(i) law_array[at$state[i], , at$action[i]])
  uncertain <- vapply(rows, function(p) sum(p > 0) > 1, NA)
  at <- at[uncertain, , drop = FALSE]
  rows <- rows[uncertain]
  if (!nrow(at)) return(NULL)
  content <- vapply(rows, function(p) paste(signif(p, 12), collapse = " "), "")
  first <- match(content, content)
  states <- dimnames(law_array)[[1]]
  actions <- dimnames(law_array)[[3]]
  label <- paste0(law, "[", states[at$state], "]")
  clash <- tapply(first, label, function(f) length(unique(f)))[label] > 1
  label <- ifelse(clash, paste0(law, "[", states[at$state], ", ", actions[at$action], "]"), label)
  data.frame(law = law, at, unit = label[first])
}

# Moves the largest probability of a row by `step`, but never more than half the way to 0 or 1.
# The others change in proportion.
shift_row <- function(p, step) {
  top <- which.max(p)
  if (1 - p[top] < 1e-6) return(shift_sure_row(p, top, step))
  moved <- if (step > 0) min(p[top] + step, (1 + p[top]) / 2) else max(p[top] + step, p[top] / 2)
  p[-top] <- p[-top] * (1 - moved) / (1 - p[top])
  p[top] <- moved
  p
}

# The same for every row of a matrix.
shift_each_row <- function(p, step) {
  row <- seq_len(nrow(p))
  top <- cbind(row, max.col(p, ties.method = "first"))
  most <- p[top]
  sure <- which(1 - most < 1e-6)
  moved <- if (step > 0) pmin(most + step, (1 + most) / 2) else pmax(most + step, most / 2)
  out <- p * (1 - moved) / (1 - most)
  out[top] <- moved
  for (i in sure) out[i, ] <- shift_sure_row(p[i, ], top[i, 2], step)
  out
}

# The same for a row with a probability of nearly 1, as EM makes them. 1 minus that probability is lost to rounding; in
# (1e-20, 1) it is 0. The sum of the other probabilities is used instead.
shift_sure_row <- function(p, top, step) {
  rest <- sum(p[-top])
  share <- p[-top] / rest
  left <- if (step > 0) max(rest - step, rest / 2) else 1 - max(p[top] + step, p[top] / 2)
  # Half of the smallest number that a double can hold would be 0.
  p[-top] <- ifelse(p[-top] > 0, pmax(share * left, .Machine$double.xmin), 0)
  p[top] <- 1 - sum(p[-top])
  p
}

#' @rdname model_prior
#' @export
soften_models <- function(setting, mix = c(0, 0.5), vary = c("both", "emission", "transition"),
                          weights = NULL) {
  check_given(setting)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  vary <- check_choice(vary, c("both", "emission", "transition"), "vary")
  if (!is.numeric(mix) || length(mix) == 0 || any(!is.finite(mix)) || any(mix < 0 | mix > 1)) {
    abort_input("mix", "must be one or more numbers from 0 to 1, not ", describe(mix), ".")
  }
  laws <- if (vary == "both") c("emission", "transition") else vary
  by_rows <- is_by_rows(setting$transition)
  even <- if (!by_rows) lapply(setting[laws], even_rows)
  models <- lapply(mix, function(share) {
    model <- setting[c("transition", "emission")]
    if (by_rows) {
      if ("transition" %in% laws) model$transition <- soften_rows(model$transition, share)
      return(model)
    }
    for (law in laws) model[[law]] <- (1 - share) * model[[law]] + share * even[[law]]
    model
  })
  names(models) <- make.unique(paste0("softened_", format_plain(mix)))
  out <- model_prior(models, weights)
  # A mixture of two laws with these names is a law with these names.
  if (!by_rows && has_law_names(setting)) out else validate_ibrc_models(out, setting)
}

# All that is possible in a row, each as probable as the others.
even_rows <- function(law) {
  possible <- aperm(law > 0, c(1, 3, 2))
  aperm(possible / as.vector(rowSums(possible, dims = 2)), c(1, 3, 2))
}

# The emission is certain, so that there is nothing to soften in it.
soften_rows <- function(rows, share) {
  uniform <- rep(1 / diff(rows$start), diff(rows$start))
  with_probabilities(rows, (1 - share) * rows$probability + share * uniform)
}

#' @export
format.ibrc_models <- function(x, ...) {
  n <- length(x$weights)
  shown <- utils::head(names(x$weights), 10)
  c(
    paste0("A prior over ", plural(n, "model"), " of the dynamics"),
    paste0("  ", format(shown), "  ", format(x$weights[shown], digits = 3)),
    if (n > length(shown)) paste("  and", n - length(shown), "more"),
    if (!is.null(attr(x, "effective"))) strwrap(effective_words(x), indent = 2, exdent = 2)
  )
}

# "20 draws, worth about 4 independent ones"
effective_words <- function(models) {
  effective <- attr(models, "effective")
  if (is.null(effective)) return(NULL)
  n <- length(models$weights)
  if (all(is.na(effective$effective))) {
    return(paste0(plural(n, "draw"), " from too few sweeps to tell how many independent ones they are worth"))
  }
  slowest <- which.min(effective$effective)
  paste0(plural(n, "draw"), ", worth about ", plural(max(1, round(effective$effective[slowest])), "independent one"),
         " by the slowest probability, ", effective$entry[slowest], " (median over all of them ",
         round(stats::median(effective$effective, na.rm = TRUE)), ")")
}

#' @export
print.ibrc_models <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

n_models <- function(models) length(models$weights)
