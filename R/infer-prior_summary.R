#' The prior beliefs of a fit
#'
#' @param object A fit ([ibrc()]), a mode ([ibrc_mode()]) or a prior ([ibrc_prior()]). With `effects`, priors of
#'   coefficients, spreads and correlations follow those of the terms. Correlations have an LKJ prior with shape 2,
#'   whose quantiles are those of a single one.
#' @param ... Not used.
#' @return A data frame with one row per term: `term`, `distribution`, and the prior's
#'   quantiles `q2.5`, `median` and `q97.5`.
#' @family inference
#' @export
#' @examples
#' prior_summary(ibrc_prior(alpha ~ lognormal(0, 2), optimism ~ normal(0, 1)))
prior_summary <- function(object, ...) {
  check_given(object)
  UseMethod("prior_summary")
}

#' @rdname prior_summary
#' @rawNamespace S3method(rstantools::prior_summary, ibrc_prior)
#' @export
prior_summary.ibrc_prior <- function(object, ...) {
  check_unused(...)
  # Before a setting says how many actions there are, a Dirichlet prior has no numbers yet.
  quantiles <- vapply(unclass(object), function(entry) {
    if (is_dirichlet(entry)) rep(NA_real_, 3) else as.vector(prior_quantile(list(entry), c(0.025, 0.5, 0.975)))
  }, numeric(3))
  label <- vapply(object, function(entry) entry$label, "")
  out <- data.frame(term = prior_terms(object), distribution = label,
                    q2.5 = quantiles[1, ], median = quantiles[2, ], q97.5 = quantiles[3, ])
  rownames(out) <- NULL
  out
}

#' @rdname prior_summary
#' @export
#' @rawNamespace S3method(rstantools::prior_summary, ibrc_fit)
prior_summary.ibrc_fit <- function(object, ...) {
  check_unused(...)
  out <- prior_summary(reported_prior(object$prior, lead_problem(object)$setting$actions))
  # With effects, these rows are the prior of the reference; coefficients and spreads have their own.
  if (length(object$effects$prior)) out <- rbind(out, prior_summary(object$effects$prior))
  rbind(out, tie_priors(object$effects))
}

#' @rdname prior_summary
#' @export
#' @rawNamespace S3method(rstantools::prior_summary, ibrc_mode)
prior_summary.ibrc_mode <- function(object, ...) {
  check_unused(...)
  if (object$estimate == "mle") abort_input("object", "was made without a prior (estimate = \"mle\").")
  prior_summary.ibrc_fit(object)
}

# Of a correlation among several that share an LKJ prior, by what that leaves for one of them.
tie_priors <- function(design) {
  if (!length(design$ties$label)) return(NULL)
  rows <- lapply(split(design$ties, design$ties$factor), function(ties) {
    shape <- tie_shape + length(unique(c(ties$first, ties$second))) / 2 - 1
    end <- 2 * stats::qbeta(0.975, shape, shape) - 1
    data.frame(term = ties$label, distribution = paste0("lkj(", tie_shape, ")"), q2.5 = -end, median = 0, q97.5 = end)
  })
  out <- do.call(rbind, rows)
  rownames(out) <- NULL
  out
}

#' @export
prior_summary.default <- function(object, ...) {
  # All that the default method there looks at.
  known <- is.list(object) && !is.null(object[["prior.info"]])
  hand_on(object, "rstantools", "prior_summary", ..., .default = known)
}
