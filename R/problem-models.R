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
    if (!is.list(models[[i]]) || !all(c("transition", "emission") %in% names(models[[i]]))) {
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

# The same for models whose arrays already have the setting's sizes and names, as functions of the package return them.
# NULL for others.
quick_models <- function(models, setting) {
  laws <- quick_laws(models$models, setting)
  if (is.null(laws)) return(NULL)
  over <- list(transition = list(from = setting$states, to = setting$states, action = setting$actions),
               emission = list(to = setting$states, observation = setting$observations, action = setting$actions))
  each <- lapply(stats::setNames(nm = names(laws)), function(law) {
    together <- matrix(laws[[law]], ncol = length(models$models))
    lapply(seq_along(models$models), function(i) {
      array(together[, i], lengths(over[[law]], use.names = FALSE), over[[law]])
    })
  })
  models$models <- Map(function(transition, emission) list(transition = transition, emission = emission),
                       each$transition, each$emission)
  names(models$models) <- names(models$weights)
  models
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
  unit_rows(unlist(arrays, use.names = FALSE), size)
}

# Arrays of this size, one after the other, with rows that sum to 1. NULL if they are no probabilities.
unit_rows <- function(x, size) {
  if (anyNA(x) || min(x) < 0 || max(x) > 2) return(NULL)
  rows <- aperm(array(x, c(size[1], size[2], length(x) / prod(size[1:2]))), c(1, 3, 2))
  total <- .rowSums(rows, length(rows) / size[2], size[2])
  if (any(abs(total - 1) > sum_tolerance)) return(NULL)
  if (all(total == 1)) return(x)
  as.vector(aperm(rows / total, c(1, 3, 2)))
}

has_law_names <- function(setting) {
  identical(dimnames(setting$transition), list(from = setting$states, to = setting$states, action = setting$actions)) &&
    identical(dimnames(setting$emission),
              list(to = setting$states, observation = setting$observations, action = setting$actions))
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
