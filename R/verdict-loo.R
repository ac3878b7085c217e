# Leaving one trajectory out by weighing draws, and where that is not possible.

#' @rdname log_lik.ibrc_fit
#' @export
loo <- function(x, ...) {
  check_given(x)
  require_package("loo", "Leave-one-out cross-validation")
  if (!has_method(x, "loo", "loo")) check_class(x, "ibrc_fit", "x", "ibrc()")
  loo::loo(x, ...)
}

#' @rdname log_lik.ibrc_fit
#' @method loo ibrc_fit
#' @rawNamespace S3method(loo::loo, ibrc_fit)
loo.ibrc_fit <- function(x, draws = 1000, visits = NULL, ...) {
  require_package("loo", "Leave-one-out cross-validation")
  need_data(x, "Leave-one-out cross-validation", "x")
  options <- check_loo_options(...)
  chains <- dim(x$draws[[1]])[2]
  # Efficiency is computed from chains of the same length.
  if (!is.null(draws)) draws <- chains * (check_count(draws, "draws", least = least_loo_draws) %/% chains)
  who <- if (!is.null(visits)) check_own_visits(visits, x)
  counted <- counted_of(x)
  refuse_loo(x, counted)
  tell_uncounted(counted, "loo()")
  each <- unname(log_lik.ibrc_fit(x, draws))[, counted, drop = FALSE]
  efficiency <- loo::relative_eff(exp(each), chain_id = spaced_draws(x, draws)$.chain)
  # A trajectory that is equally likely under every draw has no efficiency, and needs none.
  efficiency[!is.finite(efficiency)] <- 1
  found <- without_pareto_warnings(do.call(loo::loo, c(list(each, r_eff = efficiency), options)))
  # Nor does it need weights; it has no tail to check.
  alike <- apply(each, 2, function(one) diff(range(one)) < 1e-12)
  found$diagnostics$pareto_k[alike] <- 0
  pareto_k <- found$diagnostics$pareto_k
  if (!options$is_method %in% "psis") {
    pareto_k <- without_pareto_warnings(loo::psis(-each, r_eff = efficiency))$diagnostics$pareto_k
    pareto_k[alike] <- 0
  }
  judge_pareto_k(pareto_k)
  warn_unsettled(x)
  if (!is.null(who)) rownames(found$pointwise) <- who[counted]
  found
}

# The arguments that loo::loo() knows, checked; those that it would ignore silently are refused.
check_loo_options <- function(...) {
  given <- list(...)
  known <- c("cores", "save_psis", "is_method")
  names <- if (is.null(names(given))) rep("", length(given)) else names(given)
  if (!all(names %in% known)) {
    unknown <- names[!names %in% c(known, "")]
    abort_input("...", "may hold ", enumerate(known), " only",
                if (length(unknown)) paste0(", not ", enumerate(unknown)), ".")
  }
  if (!is.null(given$cores)) given$cores <- check_count(given$cores, "cores")
  if (!is.null(given$save_psis)) given$save_psis <- check_flag(given$save_psis, "save_psis")
  given$is_method <- check_choice(if (is.null(given$is_method)) "psis" else given$is_method, c("psis", "tis", "sis"),
                                  "is_method")
  given
}

# The identifiers of the visits that the fit was made from, in its order; any others are an error.
check_own_visits <- function(visits, fit) {
  refuse_several(fit, "x", "loo() with `visits`")
  seen <- code_for_fit(visits, fit, "visits")
  if (!is_fitted_data(seen, fit, scored = TRUE)) {
    abort_input("visits", "are not those that the fit was made from, or come in another order. Only what was fitted ",
                "can be left out; log_lik(fit, newdata = ) judges trajectories that the fit has not seen.")
  }
  seen$who
}

# A trajectory without a scored action would count as predicted perfectly, with 0, and make errors too small.
tell_uncounted <- function(counted, what) {
  if (all(counted)) return(invisible())
  message(what, " leaves ", plural(sum(!counted), "trajectory", "trajectories"), " of ", format_count(length(counted)),
          " aside: nothing in ", if (sum(!counted) == 1) "it" else "them", " is scored.")
}

refuse_loo <- function(fit, counted) {
  refuse <- function(...) abort("loo", ..., argument = "x")
  if (!fit$likelihood) refuse("`x` has draws from the prior: nothing was fitted that could be left out.")
  if (is_cut(fit)) {
    refuse("The dynamics of `x` were drawn without the actions (uncertainty = \"cut\"): weighing its draws would let ",
           "the actions inform about the dynamics after all.",
           if (!has_population(fit)) " Use kfold(), which fits again under each draw of them.")
  }
  sizes <- tabulate(fit$trajectory_group[counted], length(fit$draws))
  alone <- names(fit$draws)[sizes == 1]
  if (sum(sizes) == 1) {
    refuse("loo() leaves out a whole trajectory, and then only the prior would be left of `x`.")
  }
  # People in other cells inform about one who was alone in a cell.
  if (length(alone) && !has_population(fit)) {
    refuse("loo() leaves out a whole trajectory, and then only the prior would be left of group",
           if (length(alone) > 1) "s", " ", enumerate(alone), ". Use kfold(), which fits again and predicts from what ",
           "is left, or pool groups.")
  }
  if (prod(dim(fit$draws[[1]])[1:2]) < least_loo_draws) {
    refuse("`x` has fewer than ", least_loo_draws, " draws: too few for loo() to weigh. Run more iterations.")
  }
}

judge_pareto_k <- function(pareto_k) {
  # A value that cannot be computed cannot be trusted.
  high <- is.na(pareto_k) | pareto_k > 0.7
  if (!any(high)) return(invisible())
  share <- if (sum(high) == 1) "a trajectory" else paste0(signif(100 * mean(high), 2), "% of the trajectories")
  if (sum(high) > 1 && mean(high) > 0.05) {
    abort("loo", "Pareto k is above 0.7 for ", share, ": draws of the one fit cannot stand for fits without them. Use ",
          "kfold(), which fits again.", argument = "x", fields = list(pareto_k = pareto_k))
  }
  warn("pareto_k", "Pareto k is above 0.7 for ", share, ", whose part of elpd_loo is not reliable. See ",
       "loo::pareto_k_ids(), or use kfold(), which fits again.")
}

# The warnings of the package loo have no class, and say in general what is said about this fit here.
without_pareto_warnings <- function(code) {
  withCallingHandlers(code, warning = function(w) {
    if (grepl("Pareto", conditionMessage(w), fixed = TRUE)) invokeRestart("muffleWarning")
  })
}

warn_unsettled <- function(fit) {
  rhat <- if (has_population(fit)) tidy_population(fit)$rhat else tidy_draws(fit)$rhat
  if (!all(is.finite(rhat)) || max(rhat) > 1.01) {
    warn("convergence", "The chains of the fit do not agree (R-hat above 1.01). Do not report results from its draws. ",
         "Run more iterations.")
  }
  rows <- standing_verdict(fit)
  others <- rows$check[rows$verdict == "do not use" & !rows$check %in% c("settled", "identified")]
  if (length(others)) {
    warn("verdict", "The verdict on the fit is \"do not use\" (", listing(unique(others)), "): see verdict().")
  }
}

# The Pareto tail is fitted to a fifth of the draws at most: here to 20.
least_loo_draws <- 100
