# Models between a setting and one that knows nothing but what is possible.

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
