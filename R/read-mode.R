# Modes (infer-mode.R) are read as other estimates are: covariances and intervals. One point has no picture.

#' @rdname ibrc_mode
#' @importFrom stats vcov
#' @details `vcov()` gives the covariances of the estimates, from the curvature, `NA` where there is no standard error.
#'   `confint()` gives the intervals as a matrix.
#' @export
vcov.ibrc_mode <- function(object, ...) {
  check_unused(...)
  if (has_mode_effects(object)) object <- coefficient_mode(object)
  if (length(simplex_columns(object$prior, "action_prior"))) {
    abort_input("object", "has probabilities of actions, which add up to 1 and have no covariances of their own: ",
                "tidy(object) has their standard errors.")
  }
  blocks <- lapply(object$tops, top_covariance, object$prior)
  names <- names(coef(object))
  out <- matrix(0, length(names), length(names), dimnames = list(names, names))
  n <- length(object$prior)
  # Estimates of one group say nothing about those of another.
  for (g in seq_along(blocks)) out[(g - 1) * n + seq_len(n), (g - 1) * n + seq_len(n)] <- blocks[[g]]
  out
}

# Covariances of a group on the natural scale, for the terms that have standard errors, as curvature_errors() has them.
top_covariance <- function(top, prior) {
  natural <- vapply(seq_along(prior), function(j) mode_row(prior[[j]], top, j, NA_character_)$std.error, 0)
  slope <- natural / top$std_error
  curvature_covariance(top$curvature, is.finite(slope)) * outer(slope, slope)
}

#' @rdname ibrc_mode
#' @importFrom stats confint
#' @param parm Names or numbers of estimates, as `coef()` has them.
#' @param level The confidence: that of the mode, `conf.level`.
#' @export
confint.ibrc_mode <- function(object, parm = names(coef(object)), level = object$conf.level, ...) {
  check_unused(...)
  if (is.null(object$conf.level)) {
    abort_input("object", "was made with conf.level = NULL and has no intervals: give ibrc_mode() a `conf.level`.")
  }
  if (!isTRUE(all.equal(check_number(level, "level"), object$conf.level))) {
    abort_input("level", "must be that of the mode, ", object$conf.level, ", since intervals follow the profile: call ",
                "ibrc_mode() with another `conf.level`.")
  }
  table <- tidy(object)
  tails <- paste(format(100 * c(1 - level, 1 + level) / 2, trim = TRUE, digits = 3), "%")
  out <- matrix(c(table$conf.low, table$conf.high), ncol = 2, dimnames = list(names(coef(object)), tails))
  out[chosen_estimates(parm, rownames(out)), , drop = FALSE]
}

chosen_estimates <- function(parm, known) {
  at <- if (is.character(parm)) match(parm, known) else if (is.numeric(parm)) match(parm, seq_along(known))
  if (!length(at) || anyNA(at)) {
    abort_input("parm", "must be names or numbers of estimates; there are ", enumerate(known, most = 20), ".")
  }
  at
}

#' @rdname ibrc_mode
#' @export
plot.ibrc_mode <- function(x, ...) {
  abort_input("x", "is one point, and has no picture. ",
              if (!has_mode_effects(x)) "plot(profile_likelihood(x)) draws how the likelihood falls off around it, ",
              "plot(project_behavior(x)", if (length(x$tops) > 1) "[[1]]", ") draws what is done there, and tidy(x) ",
              "has the estimates.")
}
