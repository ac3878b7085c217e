# Beliefs as users give them: a matrix or data frame with one column per state, or a
# vector for a single belief. Returns a matrix [belief, state], rows rescaled.

as_beliefs <- function(beliefs, states, argument = "beliefs") {
  if (is.data.frame(beliefs)) {
    if (all(states %in% names(beliefs))) beliefs <- beliefs[states]
    beliefs <- as.matrix(beliefs)
  }
  if (is.numeric(beliefs) && is.null(dim(beliefs))) {
    beliefs <- matrix(beliefs, 1, dimnames = list(NULL, names(beliefs)))
  }
  if (!is.numeric(beliefs) || length(dim(beliefs)) != 2) {
    abort_input(argument, "must be a numeric matrix with one column per state, not ", describe(beliefs), ".")
  }
  if (ncol(beliefs) != length(states)) {
    abort_input(argument, "has ", plural(ncol(beliefs), "column"), " for ", length(states),
                " states (", listing(states), ").")
  }
  if (!is.null(colnames(beliefs))) {
    beliefs <- beliefs[, match_names(colnames(beliefs), states, argument, "states"), drop = FALSE]
  }
  out <- check_probability_rows(beliefs, argument)
  dimnames(out) <- list(NULL, states)
  out
}

# Positions of names among known ones, counted from 1. With `missing_ok`, NA stays NA.
as_positions <- function(x, known, argument, what, missing_ok = FALSE) {
  if (is.factor(x)) x <- as.character(x)
  if (!is.character(x) && !(is.logical(x) && all(is.na(x)))) {
    abort_input(argument, "must be the names of ", what, "s, not ", describe(x), ".")
  }
  at <- match(x, known)
  bad <- which(is.na(at) & !(missing_ok & is.na(x)))
  if (length(bad)) {
    abort_input(argument, if (is.na(x[bad[1]])) "is missing" else paste("is not a known", what),
                if (length(x) > 1) paste0(" at position ", bad[1]), "; there are ", enumerate(known), ".",
                rows = bad)
  }
  at
}
