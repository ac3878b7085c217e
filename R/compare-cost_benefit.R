#' What is feared against what is hoped for
#'
#' The ratio of costs to benefits that behaviour stands for. It is the sum of some entries of the utility over the sum
#' of others, draw by draw. The sums are taken first, over all entries. A benefit by itself may lie near 0, and a ratio
#' to it would have no useful spread.
#'
#' @param fit A fit ([ibrc()]) with free entries of the utility ([irl_prior()]).
#' @param cost,benefit Which entries, by name, such as `"utility[healthy,declare_diseased]"`. By default the costs are
#'   the entries of stop actions that the setting states as negative, and the benefits those that it states as positive.
#'   Entries that were not inferred count as stated.
#' @param conf.level Mass of the central interval.
#' @param draws `TRUE` returns the draws themselves.
#' @return A data frame with one row per group: `group` (with groups), `estimate` (the median), `std.error` (the
#'   standard deviation), `conf.low`, `conf.high` and `verdict` (whether it may be used: [verdict()]). With `draws =
#'   TRUE`, one row per draw: `group` (with groups), `.chain`, `.iteration`, `.draw` and `ratio`.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' doctor <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(doctor, 40, seed = 1), setting, diag_models(), prior = irl_prior(setting),
#'             fixed = list(alpha = 0.5), chains = 2, iter = 300, seed = 1, resolution = 30)
#' cost_benefit(fit)
cost_benefit <- function(fit, cost = NULL, benefit = NULL, conf.level = 0.95, draws = FALSE) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  refuse_several(fit, "fit", "cost_benefit()")
  conf.level <- check_level(conf.level)
  draws <- check_flag(draws, "draws")
  stated <- stated_entries(fit$problem$setting)
  same <- function(problem) identical(problem$setting$utility, fit$problem$setting$utility)
  if (!all(vapply(fit$problems, same, NA))) {
    abort_input("fit", "has groups with utilities of their own: fit each group by itself to compare them.")
  }
  cost <- check_utility_terms(cost, stated, stated$stop & stated$utility < 0, "cost")
  benefit <- check_utility_terms(benefit, stated, stated$stop & stated$utility > 0, "benefit")
  if (!any(c(cost, benefit) %in% prior_terms(fit$prior))) {
    abort_input("fit", "infers none of these entries of the utility: see irl_prior().")
  }
  worth <- stats::setNames(stated$utility, stated$term)
  pieces <- lapply(names(fit$draws), function(group) {
    ratio <- entry_sum(fit$draws[[group]], cost, worth) / entry_sum(fit$draws[[group]], benefit, worth)
    if (draws) return(ratio_draws(ratio, group, fit))
    tail <- (1 - conf.level) / 2
    range <- stats::quantile(ratio, c(tail, 1 - tail), names = FALSE)
    data.frame(group = group, estimate = stats::median(ratio), std.error = stats::sd(ratio),
               conf.low = range[1], conf.high = range[2])
  })
  out <- do.call(rbind, pieces)
  if (!draws) {
    rows <- standing_verdict(fit)
    out$verdict <- vapply(out$group, function(group) {
      as.character(worst_of(rows$verdict[is.na(rows$group) | rows$group == group]))
    }, "", USE.NAMES = FALSE)
  }
  without_lone_group(out, names(fit$draws))
}

stated_entries <- function(setting) {
  at <- expand.grid(state = setting$states, action = setting$actions, stringsAsFactors = FALSE)
  data.frame(term = utility_name(at$state, at$action), utility = as.vector(setting$utility),
             stop = at$action %in% setting$stop_actions)
}

check_utility_terms <- function(terms, stated, default, argument) {
  if (is.null(terms)) {
    if (!any(default)) abort_input(argument, "is needed: no stop action has such a utility in the setting.")
    return(stated$term[default])
  }
  if (!is.character(terms) || length(terms) == 0) {
    abort_input(argument, "must name entries of the utility, not ", describe(terms), ".")
  }
  unknown <- setdiff(terms, stated$term)
  if (length(unknown)) {
    abort_input(argument, "names no entry of the utility with ", enumerate(unknown), "; one is ",
                enumerate(stated$term[1]), ".")
  }
  terms
}

# [iteration, chain]; an entry that is not free counts as stated.
entry_sum <- function(draws, terms, worth) {
  total <- array(0, dim(draws)[1:2])
  for (term in terms) {
    total <- total + if (term %in% dimnames(draws)[[3]]) draws[, , term] else worth[[term]]
  }
  total
}

ratio_draws <- function(ratio, group, fit) {
  data.frame(group = factor(group, levels = names(fit$draws)), .chain = as.vector(col(ratio)),
             .iteration = as.vector(row(ratio)), .draw = seq_along(ratio), ratio = as.vector(ratio))
}
