#' Compare groups
#'
#' Compares the groups of a fit, from the draws themselves. Each contrast says how much larger a parameter is in one
#' group than in another. It has an interval, and the posterior probability that the parameter is larger at all. In a
#' fit of people who differ ([ibrc()] with `effects`), the levels of each factor in its formulas are compared. These
#' contrasts are adjusted for what else stands in the formulas.
#'
#' @section Adjusted differences:
#' Carriers may be older than others, and age may make the difference. So, for each draw, everybody in the cohort is
#' given each level of the factor in turn. All else (other covariates, random intercepts) stays as it is. The term is
#' then averaged over all trajectories on its own scale: the mean of `alpha`, not of its logarithm. The contrast is that
#' of these means. This is called standardisation, or g-computation. It compares one and the same cohort at two levels.
#' Is that what the level *does*? That depends on whether the formula has all that matters, which no fit can tell.
#'
#' With `adjusted = FALSE` the means are those of the people who have the level, whatever else they differ in. The two
#' ways side by side show what adjusting did.
#'
#' Either way a contrast is not one of the very clinicians who came. Random intercepts may be nested in the compared
#' groups: no level of theirs lies in two of them. Clinicians who each work in one arm are an example. Such intercepts
#' are averaged over the whole cohort, as those of others who might have come. Other intercepts are as they are found.
#'
#' @section Many contrasts:
#' Of twenty contrasts that are all zero, one has a probability above 0.95 or so by chance. Printing says how many were
#' looked at. With `joint = TRUE` it also says how probable it is that all of them, together, have the sign of their
#' estimate. Report that beside the probabilities of single contrasts. Choose contrasts by their question, not by their
#' probability.
#'
#' @param fit A fit with groups ([ibrc()] with `by`), or of people who differ (with `effects`).
#' @param reference The group to compare with; the first by default. `"all"`
#'   compares every pair. With `effects`, a level of each factor: by name, as in `c(arm = "placebo")`, or `"all"`.
#' @param scale `"ratio"` or `"difference"`; by default a ratio for `alpha`, `beta` and
#'   `eta` and a difference for the others. A ratio needs draws that are all positive.
#' @param conf.level Mass of the central interval.
#' @param adjusted With `effects`: whether levels are compared in the same cohort (see below), or as they are found.
#' @param joint Whether to work out how probable it is that all contrasts have the sign of their estimate.
#' @return A data frame of class `ibrc_comparison` with one row per contrast. Printing it adds what to do. With
#'   `joint = TRUE` its attribute `"joint"` is the probability that all contrasts hold together. It has the columns
#'   * `term`, and with `effects` the `factor`.
#'   * `group` and `reference`: what is compared with what.
#'   * `scale`: `"ratio"` or `"difference"`.
#'   * `estimate` (the median), `conf.low` and `conf.high`.
#'   * `probability`: that the parameter is larger in `group` than in `reference`.
#'   * `verdict`: whether the numbers may be used. It is the worst of what [verdict()] says of the term in either group.
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
#' compare_groups(fit, joint = TRUE)
compare_groups <- function(fit, reference = NULL, scale = NULL, conf.level = 0.95, adjusted = TRUE, joint = FALSE) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  if (!is.null(scale)) scale <- check_choice(scale, c("ratio", "difference"), "scale")
  conf.level <- check_level(conf.level)
  adjusted <- check_flag(adjusted, "adjusted")
  joint <- check_flag(joint, "joint")
  if (has_population(fit)) return(compare_levels(fit, reference, scale, conf.level, adjusted, joint))
  groups <- names(fit$draws)
  if (length(groups) < 2) abort_input("fit", "has no groups to compare: fit with `by`.")
  pairs <- group_pairs(groups, reference)
  shown <- as_reported(fit)
  contrasts <- unlist(lapply(prior_terms(shown$prior), function(term) {
    # Without names: those of groups would go through the locale's own signs.
    Map(function(group, against) {
      # Chains of different groups are independent, so draws pair up as they stand.
      new_contrast(list(term = term, group = group, reference = against), as.vector(shown$draws[[group]][, , term]),
                   as.vector(shown$draws[[against]][, , term]), if (is.null(scale)) default_scale(term) else scale)
    }, pairs$group, pairs$reference, USE.NAMES = FALSE)
  }), recursive = FALSE)
  rows <- standing_verdict(fit)
  new_ibrc_comparison(contrasts, conf.level, joint, rows, function(row) {
    verdict_for(rows, row$term, c(row$group, row$reference))
  })
}
