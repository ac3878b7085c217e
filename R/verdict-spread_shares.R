#' How much people differ, and in what
#'
#' Says how much people differ in each term of a fit with `effects` ([ibrc()]). How much of the variance between people
#' goes with each grouping factor? How much goes with covariates?
#'
#' The variance of a term between people is a sum. It has the squared standard deviations of its random intercepts, and
#' the variance of its fixed effects over the cohort. It is computed draw by draw, on the scale that a sampler works on
#' (for example the logarithm of `alpha`). Chance within a person is not part of it.
#'
#' A share is one of variance, and not in general an intraclass correlation. With covariates it is a share of the
#' variance that they make, too. Two patients of one clinician also share the site that the clinician works at. So the
#' printed result has the sum for nested factors. People whom no factor and no covariate of the formula tells apart are
#' taken as equal. So where a term has one source only, all its variance is there by assumption. That is no finding, and
#' no share is shown.
#'
#' @param fit A fit with `effects` ([ibrc()]).
#' @param conf.level Mass of the central interval.
#' @return A data frame of class `ibrc_spread` with one row per term and source. The printed result is in sentences. It
#'   has the columns
#'   * `term`, and `source`: a grouping factor or `"covariates"`.
#'   * `sd`: the median of the standard deviation, with `sd.low` and `sd.high`.
#'   * `share`: the share of the variance between people, with `share.low` and `share.high`. All are `NA` where there is
#'     one source only.
#'   * `verdict` ([verdict()]).
#'
#'   Its attribute `"together"` has the sums of shares of nested factors. Its columns are `term`, `source`, `with` (the
#'   factors that it lies within), `share`, `share.low` and `share.high`.
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
    share <- variance_shares(variance)
    data.frame(term = term, source = colnames(variance), spread_summary(sqrt(variance), "sd", conf.level),
               spread_summary(share, "share", conf.level), verdict = effect_verdict(rows, fit, term), row.names = NULL)
  })
  out <- do.call(rbind, pieces)
  if (is.null(out)) abort_input("fit", "has formulas without covariates and random intercepts: nobody differs in it.")
  together <- do.call(rbind, lapply(names(fit$effects$formulas), nested_shares, fit = fit, conf.level = conf.level))
  structure(out, class = c("ibrc_spread", "data.frame"), scale = vapply(unclass(fit$prior), `[[`, "", "scale"),
            together = together, personal = personal_factors(fit$effects))
}

personal_factors <- function(design) {
  vapply(Filter(function(one) are_numbered(one$levels), design$factors), `[[`, "", "name")
}

# NA where there is no variance, and where there is one source only, which has all of it by assumption.
variance_shares <- function(variance) {
  share <- variance / rowSums(variance)
  share[!is.finite(share)] <- NA
  if (ncol(variance) == 1) share[] <- NA
  share
}

# What two people of one level have in common: one row per factor of a term that lies within others of it. People who
# are levels themselves are not two.
nested_shares <- function(term, fit, conf.level) {
  design <- fit$effects
  mine <- Filter(function(one) match(term, design$terms) %in% one$terms, design$factors)
  share <- variance_shares(variance_parts(fit, term))
  rows <- lapply(Filter(function(one) !are_numbered(one$levels), mine), function(one) {
    outer <- Filter(function(other) {
      length(other$levels) < length(one$levels) && lies_within(one$level, other$level)
    }, mine)
    if (!length(outer)) return(NULL)
    with <- vapply(outer, `[[`, "", "name")
    both <- cbind(rowSums(share[, c(with, one$name)]))
    # All of it is no finding here either.
    if (ncol(share) == length(with) + 1) both[] <- NA
    data.frame(term = term, source = one$name, with = paste(with, collapse = ", "),
               spread_summary(both, "share", conf.level), row.names = NULL)
  })
  do.call(rbind, unname(rows))
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

# Does no level lie in two values?
lies_within <- function(level, value) !anyDuplicated(unique(data.frame(level, as.integer(value)))[[1]])

spread_summary <- function(draws, name, conf.level) {
  tail <- (1 - conf.level) / 2
  at <- apply(draws, 2, stats::quantile, c(0.5, tail, 1 - tail), names = FALSE, na.rm = TRUE)
  stats::setNames(as.data.frame(t(at)), c(name, paste0(name, c(".low", ".high"))))
}

#' @export
format.ibrc_spread <- function(x, ...) {
  percent <- function(p) paste0(round(100 * p), "%")
  scale <- attr(x, "scale")
  shares <- function(own) paste0(percent(own$share), " (", percent(own$share.low), " to ", percent(own$share.high), ")")
  together <- attr(x, "together")
  vapply(unique(x$term), function(term) {
    own <- x[x$term == term, ]
    fixed <- own$source == "covariates"
    of <- c(log = "the logarithm of ", logit = "the log odds of ")[scale[[term]]]
    what <- paste0(if (!is.na(of)) of, term)
    # There is one way only in which people differ.
    if (nrow(own) == 1) {
      return(paste0("In ", what, " people differ by ", if (!fixed) "levels of ", own$source, " alone (sd ",
                    format_number(own$sd, 2), ", ", format_number(own$sd.low, 2), " to ", format_number(own$sd.high, 2),
                    ")", if (!own$source %in% attr(x, "personal")) {
                      paste0("; those with the same ", if (fixed) "covariates" else "level", " are taken as equal")
                    }, "."))
    }
    where <- ifelse(fixed, "goes with covariates", paste("lies between levels of", own$source))
    said <- paste0(shares(own), " ", where, " (sd ", format_number(own$sd, 2), ")")
    joint <- together[together$term %in% term, ]
    paste(c(paste0("Of the variance between people in ", what, if (any(fixed)) ", that of covariates included",
                   ", ", enumerate(said, Inf, ""), "."),
            sprintf("Two people of one %s share %s and %s, %s.", joint$source, joint$with, joint$source,
                    ifelse(is.na(joint$share), "and are taken as equal", paste(shares(joint), "of it")))),
          collapse = " ")
  }, "", USE.NAMES = FALSE)
}

#' @export
print.ibrc_spread <- function(x, ...) {
  said <- c("term", "source", "sd", "sd.low", "sd.high", "share", "share.low", "share.high", "verdict")
  if (!all(said %in% names(x)) || !all(x$term %in% names(attr(x, "scale")))) return(NextMethod())
  for (line in format(x)) writeLines(strwrap(line, exdent = 2))
  worst <- verdict_levels[max(match(x$verdict, verdict_levels))]
  if (worst != "ok") writeLines(paste0("Verdict: ", worst, ". See verdict()."))
  invisible(x)
}
