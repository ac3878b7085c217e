#' How much people differ, and in what
#'
#' For each term of a fit of people who differ ([ibrc()] with `effects`): how much of the variance between people goes
#' with each grouping factor, and how much with covariates. The share of a factor is the intraclass correlation of its
#' levels.
#'
#' The variance of a term between people is the sum of the squared standard deviations of its random intercepts and of
#' the variance of its fixed effects over the cohort. It is computed draw by draw, on the scale that a sampler works on
#' (for example the logarithm of `alpha`). Chance within a person is not part of it.
#'
#' @param fit A fit with `effects` ([ibrc()]).
#' @param conf.level Mass of the central interval.
#' @return A data frame of class `ibrc_spread`, one row per term and source: `term`; `source`, a grouping factor or
#'   `"covariates"`; `sd`, the median of the standard deviation, with `sd.low` and `sd.high`; `share` of the variance
#'   between people, with `share.low` and `share.high`; and `verdict` ([verdict()]). The printed result is in sentences.
#' @seealso [plot_shrinkage()] for the levels themselves.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- as.data.frame(simulate(plan, 40, seed = 1))
#' visits$clinic <- paste("clinic", visits$id %% 5)
#' visits <- trajectories(visits, covariates = "clinic", setting = setting)
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             effects = list(alpha ~ (1 | clinic)), chains = 2, iter = 200, seed = 1,
#'             resolution = 20, control = ibrc_control(check = FALSE))
#' spread_shares(fit)
spread_shares <- function(fit, conf.level = 0.95) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  conf.level <- check_level(conf.level)
  if (!has_population(fit)) {
    abort_input("fit", "has no people who differ: fit with `effects`, such as effects = list(optimism ~ (1 | site)).")
  }
  rows <- standing_verdict(fit)
  pieces <- lapply(names(fit$effects$formulas), function(term) {
    variance <- variance_parts(fit, term)
    if (!ncol(variance)) return(NULL)
    share <- variance / rowSums(variance)
    # If there is no variance there are no shares.
    share[!is.finite(share)] <- NA
    data.frame(term = term, source = colnames(variance), spread_summary(sqrt(variance), "sd", conf.level),
               spread_summary(share, "share", conf.level), verdict = effect_verdict(rows, fit, term), row.names = NULL)
  })
  out <- do.call(rbind, pieces)
  if (is.null(out)) abort_input("fit", "has formulas without covariates and random intercepts: nobody differs in it.")
  structure(out, class = c("ibrc_spread", "data.frame"), scale = vapply(unclass(fit$prior), `[[`, "", "scale"))
}

# Variances between people [draw, source] of a term: of each grouping factor, and of fixed effects over the cohort.
variance_parts <- function(fit, term) {
  design <- fit$effects
  own <- design$spreads[design$terms[design$spreads$term] == term, ]
  theta <- population_theta(fit)
  out <- exp(2 * theta[, own$label, drop = FALSE])
  colnames(out) <- vapply(design$factors[own$factor], `[[`, "", "name")
  x <- design$matrices[[term]]
  if (ncol(x) == 1) return(out)
  weight <- fit$group_sizes / sum(fit$group_sizes)
  centred <- sweep(x, 2, colSums(x * weight))
  labels <- design$coefficients$label[design$coefficients$term == term]
  cbind(out, covariates = as.vector(tcrossprod(theta[, labels, drop = FALSE], centred)^2 %*% weight))
}

spread_summary <- function(draws, name, conf.level) {
  tail <- (1 - conf.level) / 2
  at <- apply(draws, 2, stats::quantile, c(0.5, tail, 1 - tail), names = FALSE, na.rm = TRUE)
  stats::setNames(as.data.frame(t(at)), c(name, paste0(name, c(".low", ".high"))))
}

#' @export
format.ibrc_spread <- function(x, ...) {
  percent <- function(p) paste0(round(100 * p), "%")
  scale <- attr(x, "scale")
  vapply(unique(x$term), function(term) {
    own <- x[x$term == term, ]
    where <- ifelse(own$source == "covariates", "goes with covariates", paste("lies between levels of", own$source))
    said <- paste0(percent(own$share), " (", percent(own$share.low), " to ", percent(own$share.high), ") ", where,
                   " (sd ", format_number(own$sd, 2), ")")
    of <- c(log = "the logarithm of ", logit = "the log odds of ")[scale[[term]]]
    paste0("Of the variance between people in ", if (!is.na(of)) of, term, ", ", paste(said, collapse = ", "), ".")
  }, "", USE.NAMES = FALSE)
}

#' @export
print.ibrc_spread <- function(x, ...) {
  said <- c("term", "source", "sd", "share", "share.low", "share.high", "verdict")
  if (!all(said %in% names(x)) || !all(x$term %in% names(attr(x, "scale")))) return(NextMethod())
  for (line in format(x)) writeLines(strwrap(line, exdent = 2))
  worst <- verdict_levels[max(match(x$verdict, verdict_levels))]
  if (worst != "ok") writeLines(paste0("Verdict: ", worst, ". See verdict()."))
  invisible(x)
}
