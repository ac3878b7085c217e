#' Compare groups
#'
#' Contrasts between the groups of a fit, from the draws themselves: how much larger
#' a parameter is in one group than in another, with an interval and the posterior
#' probability that it is larger at all.
#'
#' @param fit A fit with groups ([ibrc()] with `by`).
#' @param reference The group to compare with; the first by default. `"all"`
#'   compares every pair.
#' @param scale `"ratio"` or `"difference"`; by default a ratio for `alpha`, `beta` and
#'   `eta` and a difference for the others. A ratio needs draws that are all positive.
#' @param conf.level Mass of the central interval.
#' @return A data frame of class `ibrc_comparison`, one row per contrast: `term`, `group`, `reference`, `scale`,
#'   `estimate` (the median), `conf.low`, `conf.high`, `probability`, that the
#'   parameter is larger in `group` than in `reference`, and `verdict`: whether the numbers may be used, the worst of
#'   what
#'   [verdict()] says of the term in either group. Printing it adds what to do.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' visits <- rbind(
#'   cbind(as.data.frame(simulate(plan, 40, seed = 1)), clinic = "north"),
#'   transform(as.data.frame(simulate(update(plan, bounded_agent(alpha = 3)), 40, seed = 2)),
#'             id = id + 40, clinic = "south")
#' )
#' visits <- trajectories(visits, covariates = "clinic", setting = setting)
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), by = "clinic",
#'             chains = 2, iter = 400, seed = 1)
#' compare_groups(fit)
compare_groups <- function(fit, reference = NULL, scale = NULL, conf.level = 0.95) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  groups <- names(fit$draws)
  if (length(groups) < 2) abort_input("fit", "has no groups to compare: fit with `by`.")
  if (!is.null(scale)) scale <- check_choice(scale, c("ratio", "difference"), "scale")
  conf.level <- check_level(conf.level)
  pairs <- group_pairs(groups, reference)
  shown <- as_reported(fit)
  rows <- lapply(prior_terms(shown$prior), function(term) {
    kind <- if (is.null(scale)) default_scale(shown$prior, term) else scale
    # Without names: those of groups would go through the locale's own signs.
    do.call(rbind, Map(function(group, against) {
      contrast_row(shown, term, group, against, kind, conf.level)
    }, pairs$group, pairs$reference, USE.NAMES = FALSE))
  })
  out <- do.call(rbind, rows)
  rownames(out) <- NULL
  rows <- standing_verdict(fit)
  out$verdict <- vapply(seq_len(nrow(out)), function(i) {
    verdict_for(rows, out$term[i], c(out$group[i], out$reference[i]))
  }, "")
  structure(out, class = c("ibrc_comparison", "data.frame"), verdict = rows)
}

#' @export
print.ibrc_comparison <- function(x, digits = 3, ...) {
  table <- as.data.frame(x)
  numbers <- intersect(c("estimate", "conf.low", "conf.high", "probability"), names(table))
  table[numbers] <- lapply(table[numbers], signif, digits)
  print(table, row.names = FALSE)
  print_verdict(attr(x, "verdict"))
  invisible(x)
}

#' @export
as.data.frame.ibrc_comparison <- function(x, ...) {
  attr(x, "verdict") <- NULL
  class(x) <- "data.frame"
  x
}

group_pairs <- function(groups, reference) {
  if (identical(reference, "all") && !"all" %in% groups) {
    pairs <- utils::combn(groups, 2)
    return(list(group = pairs[2, ], reference = pairs[1, ]))
  }
  if (is.null(reference)) reference <- groups[1]
  if (length(reference) != 1) abort_input("reference", "must be one group, not ", describe(reference), ".")
  as_positions(reference, groups, "reference", "group")
  list(group = setdiff(groups, reference), reference = reference)
}

# A ratio where both are positive, whatever the draw.
default_scale <- function(prior, term) {
  if (term %in% names(price_inverses)) "ratio" else "difference"
}

# Chains of different groups are independent, so draws pair up as they stand.
contrast_row <- function(fit, term, group, reference, scale, conf.level) {
  a <- as.vector(fit$draws[[group]][, , term])
  b <- as.vector(fit$draws[[reference]][, , term])
  if (scale == "ratio" && any(a <= 0 | b <= 0)) {
    abort_input("scale", "= \"ratio\" needs positive draws; ", term, " changes sign: use \"difference\".")
  }
  contrast <- if (scale == "ratio") a / b else a - b
  tail <- (1 - conf.level) / 2
  range <- stats::quantile(contrast, c(tail, 1 - tail), names = FALSE)
  data.frame(term = term, group = group, reference = reference, scale = scale,
             estimate = stats::median(contrast), conf.low = range[1], conf.high = range[2],
             probability = mean(a > b))
}
