#' How far does the answer move with what was assumed?
#'
#' Fits again with another assumption, one at a time. It may be a finer lattice, other models of the dynamics, another
#' discount or utility, or another prior. The table shows every estimate and every contrast between groups. The
#' log-likelihood stands beside them, so that one sees which alternatives fit the decisions better. Report it with the
#' fit: an interval does not include what was assumed.
#'
#' @section What can be varied:
#' `over` is a named list with any of:
#' * `resolution`: numbers, the resolution of the lattice of beliefs.
#' * `step`: numbers, the `by` of [perturb_models()]; for a fit whose models come from that function.
#' * `models`: a named list of model priors ([model_prior()]). Each entry is one for all groups, or a list named by
#'   group.
#' * `discount`: numbers. If groups have their own dynamics, it becomes the same in all of them.
#' * `utility`: a named list of matrices `[state, action]`, or of functions that take the utility and return another,
#'   such as `function(utility) 2 * utility`.
#' * `bonus`, `above`: numbers, the `worth` and `above` of a [certainty_bonus()] that the setting has.
#' * `prior`: a named list of priors ([ibrc_prior()]) of the same terms. `"wider"` and `"narrower"` stand for priors
#'   that are twice and half as wide. For a normal, lognormal, half-normal or Student's t this changes the standard
#'   deviation or scale. It changes the mean of an exponential, and the standard deviation of a gamma with the same
#'   mean. Terms with another prior (`uniform()`, `beta()`, `dirichlet()`) keep it.
#' * `fixed`: a named list of lists of what is held, such as `list(drawn = list(eta = 0.5))`.
#'
#' What the fit infers cannot be varied, but its prior can. An alternative that equals the fit is not fitted again.
#'
#' @section By modes or by weights:
#' `method = "mode"` finds the posterior mode under each alternative, as [ibrc_mode()] does. (For a mode with
#' `estimate = "mle"` it finds the maximum of the likelihood.) It begins from the fit and from the best draws of the
#' prior. A still better mode may be missed: raise `starts` where it matters. Intervals are those of a normal
#' distribution with the curvature at the mode, on the scale a sampler works on ([ibrc_prior()]). The row `as fitted` is
#' the mode of the fit's own problem, so that like is compared with like. It is not the fit's median. A wider prior lets
#' estimates come nearer to the data, so its log-likelihood at the mode is no smaller.
#'
#' `method = "reweight"` gives draws of the fit the weights that they would have under each alternative. Medians and
#' intervals are then those of a posterior, and `log_lik` is the posterior mean of the log-likelihood. This holds while
#' the posterior moves little. It moves too far where Pareto k is above 0.7, or where a prior allows values that the
#' fit's prior did not. Then there are no numbers, and `note` says why. This method needs the package loo.
#'
#' Where dynamics were inferred ([ibrc()] with `dynamics`), a mode of the agents would hold them fixed. So the draws of
#' such a fit are always weighed, each with its own dynamics. All groups share the dynamics, and there is one weight for
#' all of them. Contrasts are then those within draws. With `uncertainty = "cut"` no weight goes from one draw of the
#' dynamics to another. There are also no numbers where the weights leave fewer than 10 effective draws under one of
#' them. Only `resolution` and `prior` can be varied then, as the functions `setting` and `models` decide themselves
#' what they return.
#'
#' @param fit A fit ([ibrc()]) without `effects`, not made with `keep_data = FALSE`; or a mode ([ibrc_mode()]).
#' @param over What to vary: a named list (see below).
#' @param grid `TRUE` fits all combinations, also with the fit's own values. `FALSE` varies one thing at a time.
#' @param method `"mode"` or `"reweight"` (see below). Where dynamics were inferred, it is the latter.
#' @param reference The group that others are compared with, as in [compare_groups()].
#' @param conf.level Confidence of the intervals.
#' @param draws For `"reweight"`: how many draws of the fit to weigh. `NULL` takes all.
#' @param starts For `"mode"`: how many climbs per group and alternative, the first from the fit.
#' @param seed A number that settles the draws from the prior to climb from.
#' @param cores Threads to use.
#' @param refresh Whether to say after each alternative how many are done. 0 says nothing. By default it is said in an
#'   interactive session.
#' @param ... Nothing.
#' @return A data frame of class `ibrc_sensitivity`. It has one row per alternative, term and group, and then one per
#'   contrast of groups. No alternative is left out. One that could not be fitted, or was not because of an interrupt,
#'   is there without numbers. The columns are
#'   * `what` was varied, and the `alternative`.
#'   * `baseline`: `TRUE` for what the fit has.
#'   * `group`: `NA` without groups.
#'   * `reference` and `scale` (`"ratio"` or `"difference"`) of a contrast, else `NA`.
#'   * `term`, `estimate`, `std.error` (for a ratio, that of its logarithm), `conf.low` and `conf.high`.
#'   * `log_lik`, of all groups together, and `log_lik_difference` to the baseline.
#'   * `converged`: whether all climbs reached their end; `TRUE` with weights.
#'   * `pareto_k`: the largest over groups.
#'   * `note`: why there are no numbers.
#'   * `verdict`: the worst of what [verdict()] says of the term and groups in the fit itself. It is `do not use` where
#'     `converged` is `FALSE`, and `NA` for a mode.
#'
#'   The printed result shows contrasts where there are groups, else levels. It says how far they go, and which
#'   alternatives fit better by more than 2. It adds the [verdict()] on the fit. `plot()` draws it
#'   ([plot.ibrc_sensitivity()]).
#' @seealso [verdict()], whose check `assumed` looks at resolution and models; [kfold()] to compare fits.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' models <- perturb_models(setting, by = 0.1)
#' optimist <- plan_agent(setting, bounded_agent(alpha = 0.5, beta = 1.25), models)
#' fit <- ibrc(simulate(optimist, 60, seed = 1), setting, models,
#'             ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)),
#'             chains = 2, iter = 400, seed = 1, resolution = 20)
#' moved <- sensitivity_analysis(fit, list(step = c(0.05, 0.2), discount = 0.9, prior = "wider"))
#' moved
#' subset(as.data.frame(moved), term == "optimism", c(what, alternative, estimate, log_lik_difference))
sensitivity_analysis <- function(fit, over, grid = FALSE, method = c("mode", "reweight"), reference = NULL,
                                 conf.level = 0.95, draws = 1000, starts = 2, seed = 1,
                                 cores = getOption("ibrc.cores", 1), refresh = default_refresh(), ...) {
  refuse_others("sensitivity_analysis", names(formals()), character(), ...)
  check_given(fit, over)
  check_varied(fit)
  method <- sensitivity_method(if (!missing(method)) method, fit)
  alternatives <- read_over(over, fit, check_flag(grid, "grid"))
  groups <- group_names(fit)
  pairs <- if (length(groups) > 1) group_pairs(groups, reference)
  if (is.null(pairs) && !is.null(reference)) abort_input("reference", "must be NULL: the fit has no groups.")
  if (!is.null(draws)) draws <- check_count(draws, "draws", least = least_loo_draws)
  ask <- list(pairs = pairs, conf.level = check_level(conf.level), draws = draws,
              starts = check_count(starts, "starts", most = 1000), cores = check_count(cores, "cores"),
              streams = streams_from_seed(check_seed(seed), length(groups)))
  refresh <- check_count(refresh, "refresh", least = 0)
  refit <- if (method == "mode") mode_refitter(fit, ask) else if (has_dynamics(fit)) dynamics_refitter(fit, ask) else
    weight_refitter(fit, ask)
  pieces <- run_alternatives(alternatives, refit, refresh)
  new_ibrc_sensitivity(pieces, alternatives, method, if (inherits(fit, "ibrc_fit")) standing_verdict(fit),
                       ask$conf.level)
}

# A mode would hold inferred dynamics fixed.
sensitivity_method <- function(method, fit) {
  if (is.null(method)) return(if (has_dynamics(fit)) "reweight" else "mode")
  method <- check_choice(method, c("mode", "reweight"), "method")
  if (method == "mode" && has_dynamics(fit)) {
    abort_input("method", "= \"mode\" cannot be used with this fit: its dynamics were inferred, and a mode of the ",
                "agents would hold them fixed. Use method = \"reweight\".")
  }
  method
}

check_varied <- function(fit) {
  if (!inherits(fit, c("ibrc_fit", "ibrc_mode"))) {
    abort_input("fit", "must come from ibrc() or ibrc_mode(), not ", describe(fit), ".")
  }
  refuse_refit(fit, "fit", "sensitivity_analysis()")
  refuse_population(fit, "fit", "it cannot be fitted again here. Fit again with ibrc() under each assumption, or take ",
                    "a fit with `by` in the place of `effects`.")
  if (inherits(fit, "ibrc_fit")) {
    need_data(fit, "A sensitivity analysis", "fit")
    if (!fit$likelihood) abort_input("fit", "has draws from the prior: no data were used, so no answer rests on them.")
  }
}

# The fit as it is, and then every alternative. An alternative that fails, or that is not fitted because of an
# interrupt, has a `note` in place of numbers.
run_alternatives <- function(alternatives, refit, refresh) {
  interrupted <- function(condition) NULL
  baseline <- tryCatch(refit(list()), interrupt = interrupted)
  if (is.null(baseline)) {
    abort("interrupted", "The sensitivity analysis was interrupted before anything was fitted.")
  }
  n <- length(alternatives)
  pieces <- rep(list(failed_piece(baseline, "interrupted before it was fitted")), n)
  began <- Sys.time()
  done <- 0L
  whole <- tryCatch({
    for (i in seq_len(n)) {
      pieces[[i]] <- tryCatch(refit(alternatives[[i]]$change), error = function(e) {
        failed_piece(baseline, if (is.null(e$message)) conditionMessage(e) else e$message)
      })
      done <- i
      gone <- as.numeric(Sys.time() - began, units = "secs")
      if (refresh > 0) {
        tell(message("alternative ", i, " of ", n, ", about ", format_seconds(gone / i * (n - i)), " left"))
      }
    }
    TRUE
  }, interrupt = interrupted)
  if (is.null(whole)) {
    message("Interrupted after ", done, " of ", plural(n, "alternative"), ": the others are in the result without ",
            "numbers.")
  }
  c(list(baseline), pieces)
}

# ---- by modes ---------------------------------------------------------------------------

# A function of a change. Later searches also begin where the first one, of the fit as it is, ended.
mode_refitter <- function(fit, ask) {
  estimate <- if (inherits(fit, "ibrc_mode")) fit$estimate else "map"
  from <- lapply(seq_along(group_names(fit)), function(g) points_of(fit, g))
  function(change) {
    inverse <- changed_inverse(fit, change, ask$cores)
    evaluator <- inverse_evaluator(inverse, cores = ask$cores)
    reach <- stats::qnorm((1 + ask$conf.level) / 2)
    tops <- lapply(seq_along(from), function(g) {
      pool <- search_pool(from[[g]], inverse$prior, ask$starts, ask$streams[[g]])
      top <- mode_of_group(evaluator, g, pool, ask$starts, estimate, NULL)
      top$ends <- rbind(top$theta - reach * top$std_error, top$theta + reach * top$std_error)
      top
    })
    if (!length(change)) {
      from <<- Map(function(points, top) rbind(prior_natural(inverse$prior, rbind(top$theta)), points), from, tops)
    }
    mode_piece(tops, inverse, fit, ask)
  }
}

# Natural values to begin from: medians and some draws of a fit; the estimate of a mode.
points_of <- function(object, g) {
  if (inherits(object, "ibrc_mode")) return(prior_natural(object$prior, rbind(object$tops[[g]]$theta)))
  flat <- flat_draws(object$draws[[g]])
  rbind(apply(flat, 2, stats::median), flat[spaced_draws(object, min(6, nrow(flat)))$.draw, , drop = FALSE])
}

# find_top() climbs from the best of every `starts`-th row: the first of these parts are points of the fit, the others
# are draws from the prior.
search_pool <- function(natural, prior, starts, stream, each = 8) {
  own <- prior_unconstrain(prior, natural)
  own <- own[rowSums(!is.finite(own)) == 0, , drop = FALSE]
  pool <- with_stream(stream, prior_draw(prior, each * starts))
  if (!nrow(own)) return(pool)
  first <- seq(1, nrow(pool), by = starts)
  pool[first, ] <- own[rep_len(seq_len(nrow(own)), length(first)), ]
  pool
}

mode_piece <- function(tops, inverse, fit, ask) {
  mode <- structure(list(tops = stats::setNames(tops, group_names(fit)), prior = inverse$prior,
                         conf.level = ask$conf.level), class = "ibrc_mode")
  levels <- mode_table(mode, function(top, rows) report_simplex(mode, top, rows))
  if (is.null(levels$group)) levels$group <- NA_character_
  contrasts <- contrast_table(levels$term, ask$pairs, function(term, pair, scale) {
    one <- levels[levels$term == term & levels$group == pair[1], ]
    other <- levels[levels$term == term & levels$group == pair[2], ]
    estimated_contrast(one, other, scale, ask$conf.level)
  })
  list(table = rbind(level_table(levels), contrasts),
       log_lik = sum(vapply(tops, function(top) top$log_likelihood, 0)),
       converged = all(vapply(tops, function(top) top$converged, NA)), pareto_k = NA_real_, note = "")
}

# Groups are independent. A ratio has its interval on the scale of logarithms.
estimated_contrast <- function(one, other, scale, conf.level) {
  reach <- stats::qnorm((1 + conf.level) / 2)
  if (scale == "ratio") {
    at <- log(one$estimate / other$estimate)
    spread <- sqrt((one$std.error / one$estimate)^2 + (other$std.error / other$estimate)^2)
    return(c(exp(at), spread, exp(at - reach * spread), exp(at + reach * spread)))
  }
  at <- one$estimate - other$estimate
  spread <- sqrt(one$std.error^2 + other$std.error^2)
  c(at, spread, at - reach * spread, at + reach * spread)
}
