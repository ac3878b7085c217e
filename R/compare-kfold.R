#' Cross-validation by fitting again
#'
#' Leaves a share of the trajectories out, fits again without them, and asks how well the refit predicts them. Then
#' comes the next share, until each trajectory has been left out once. It takes as long as `folds` fits. It works where
#' [loo()] refuses.
#'
#' A whole trajectory is always left out, so that no patient helps to predict his or her own decisions. Refits use what
#' the fit keeps: its coded histories, setting, models, prior and control. These may come from the same visits, as
#' dynamics from [fit_iohmm()] do. Then they have seen the trajectories left out, and all fits look better than they
#' are.
#'
#' Where dynamics were inferred ([ibrc()] with `dynamics`), they are inferred again. With `uncertainty = "joint"` a fold
#' is one refit of the dynamics and of the agents of all groups. Every group must keep a trajectory in it. Only
#' decisions are left out. What was seen of those left out still tells about the dynamics, as it does where these are
#' learned beforehand. With `"cut"` each refit is made under each of the draws of the dynamics, with equal weights.
#'
#' With a `future::plan()` other than `"sequential"`, refits run in its processes, one round at a time. Each uses
#' `cores` threads, or one in forked processes. This needs the package future.apply. The result is the same. An
#' interrupt ends it with an error of class `ibrc_error_interrupted`. There is no result for some of the folds only.
#'
#' A trajectory without any scored action ([trajectories()]) has nothing to predict. The fit contains none of its
#' likelihood. It is left aside, and a message says how many there are.
#'
#' @section Groups:
#' Each group is fitted by itself. Its trajectories are spread over the folds as evenly as can be. A group may have
#' fewer trajectories than there are folds. It is then fitted again as often as it has trajectories, without one each
#' time. The only trajectory of a group is predicted from the prior alone, as that is all that would be known. The
#' printed result names the groups that had fewer than five trajectories left in a refit.
#'
#' @section People who differ:
#' With `effects` ([ibrc()]), each fold is one refit of the whole population. Those left out are then predicted as
#' [log_lik()][log_lik.ibrc_fit] predicts other people. With `(1 | id)` that is as a new person, and with sites as
#' `folds` as people at a new site. Standard errors take trajectories as independent. Those of one site share its
#' intercept and are not. So with few sites the standard errors are too small.
#'
#' @section Comparing fits:
#' [loo::loo_compare()] compares what this returns for fits to the same trajectories. The same `folds` and `seed` leave
#' out the same ones in fits with the same groups. For fits with other groups, or none, give the first result as `folds`
#' of the others. Differences are then due to the fits alone.
#'
#' @param x A fit ([ibrc()]) that was not made with `keep_data = FALSE` ([ibrc_control()]); or what another package's
#'   method for [loo::kfold()] takes.
#' @param folds How many shares to make, from 2 to the number of trajectories (with a scored action). With that number
#'   every refit leaves out one. Or one whole number for each trajectory, in order of first appearance and without
#'   names. It says in which fold the trajectory is left out, for example its site. Or an earlier result, to use its
#'   folds.
#' @param chains,iter,warmup,thin As in [ibrc()] and [ibrc_control()] (`thin`), for every refit. By default those of the
#'   fit, and half of `iter` as warm-up where `iter` is given. Fewer save time. The R-hat of each refit says whether
#'   they were enough.
#' @param start Where the chains of a refit start. `"prior"`: as those of [ibrc()] do. `"fit"`: where those of the fit
#'   ended. That saves warm-up, but chains that begin together agree sooner than they should. Use it only for a fit that
#'   has settled, whose dynamics were not inferred, and that has no `effects`.
#' @param draws How many draws of each refit to predict from, as many from every chain. `NULL` takes all of them.
#' @param cores Threads to use; by default as many as the fit.
#' @param seed A number that settles which trajectories are left out together. Refits have seeds of their own, made from
#'   that of the fit. The session's generator is left as it was.
#' @param refresh Whether to say after each round of refits how many are done. 0 says nothing. By default it is said in
#'   an interactive session.
#' @param ... Not used.
#' @return An object of class `kfold` and `loo`, as that package knows it. A refit with R-hat above 1.01 gives a warning
#'   of class `ibrc_warning_convergence`. The result must then not be used, and says so in print. It has
#'   * `estimates`: with standard errors, `elpd_kfold` (the expected log predictive density of trajectories not seen),
#'     `p_kfold` (how much likelier the whole fit makes them) and `kfoldic`.
#'   * `pointwise`: one row per trajectory with a scored action, in order of first appearance.
#'   * `folds`: the fold of each trajectory. It is `NA` where no action is scored.
#'   * `refits`: a data frame with one row per refit. It has `fold`, `group`, `fitted` and `left_out` (numbers of
#'     trajectories), `seed`, `rhat`, `ess_bulk` and `ess_tail` (the worst over terms). Its column `mcse` is the Monte
#'     Carlo error of its part of `elpd_kfold`.
#' @seealso [loo()], an approximation without refits.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, 40, seed = 1)
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             chains = 2, iter = 500, warmup = 100, seed = 1, resolution = 10,
#'             control = ibrc_control(check = FALSE))
#' crossed <- kfold(fit, folds = 2, draws = 100)
#' crossed
#'
#' # Against a fit that takes the agent to be far less flexible
#' other <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(log(20), 0.1)),
#'               chains = 2, iter = 500, warmup = 100, seed = 1, resolution = 10,
#'               control = ibrc_control(check = FALSE))
#' if (requireNamespace("loo", quietly = TRUE)) {
#'   loo::loo_compare(list(fit = crossed, other = kfold(other, folds = crossed, draws = 100)))
#' }
kfold <- function(x, ...) {
  check_given(x)
  UseMethod("kfold")
}

#' @rdname kfold
#' @rawNamespace S3method(loo::kfold, ibrc_fit)
#' @export
kfold.ibrc_fit <- function(x, folds = 5, chains = NULL, iter = NULL, warmup = NULL, thin = NULL,
                           start = c("prior", "fit"), draws = 1000, cores = NULL, seed = 1,
                           refresh = default_refresh(), ...) {
  check_unused(...)
  need_data(x, "Cross-validation", "x")
  refuse_refit(x, "x", "kfold()")
  if (!x$likelihood) abort_input("x", "has draws from the prior: nothing was fitted that could be left out.")
  if (is_cut(x)) x$run$chains <- x$dynamics$chains_per_draw
  run <- refit_run(x$run, chains, iter, warmup, thin, cores, refresh)
  refuse_large_run(run, 1, length(x$prior))
  refuse_many_values(run, 1, values_per_chain(x$problem, x$prior, x$fixed))
  start <- check_choice(start, c("prior", "fit"), "start")
  if (!is.null(draws)) draws <- run$chains * max(1L, check_count(draws, "draws") %/% run$chains)
  counted <- counted_trajectories(x$histories, x$trajectory_group)
  people <- has_population(x)
  if (people && has_dynamics(x)) {
    abort_input("x", "has dynamics that were inferred or drawn with people who differ (`effects`), for which ",
                "there are no refits: use ", if (!is_cut(x)) "loo(), or ",
                "kfold() of a fit with uncertainty = \"none\".")
  }
  folds <- check_folds(folds, if (people) fold_groups(x) else x$trajectory_group, check_seed(seed), counted)
  if (people && start == "fit") {
    abort_input("start", "= \"fit\" cannot be used where people differ (`effects`): chains of a refit begin by ",
                "themselves.")
  }
  tell_uncounted(counted, "kfold()")
  refits <- if (people) plan_population_refits(x, folds) else plan_refits(x, folds)
  if (has_dynamics(x)) check_dynamics_refits(x, refits, start)
  whole <- tryCatch(log_mean_exp(log_lik.ibrc_fit(x, draws)), interrupt = function(e) stop_refits(0, nrow(refits)))
  results <- if (people) population_refits(x, folds, refits, run, draws) else
    if (has_dynamics(x)) refit_with_dynamics(x, folds, refits, run, draws) else
    run_refits(lapply(seq_len(nrow(refits)), function(i) refit_piece(x, folds, refits[i, ], run, start, draws)),
               run$refresh)
  elpd <- numeric(length(folds))
  for (i in seq_along(results)) {
    mine <- folds %in% refits$fold[i] & (people | x$trajectory_group == refits$group[i])
    elpd[mine] <- results[[i]]$elpd
  }
  for (column in c("rhat", "ess_bulk", "ess_tail", "mcse")) refits[[column]] <- vapply(results, `[[`, 0, column)
  refits$group <- if (people) factor(refits$group) else factor(names(x$draws)[refits$group], levels = names(x$draws))
  out <- new_ibrc_kfold(elpd[counted], whole[counted], folds, refits)
  if (length(lines <- kfold_faults(out))) warn("convergence", lines)
  out
}

#' @export
kfold.default <- function(x, ...) {
  if (!is_installed("loo") || !has_method(x, "loo", "kfold")) check_class(x, "ibrc_fit", "x", "ibrc()")
  # As in hand_on(): a call from here would find our own methods.
  do.call(getExportedValue("loo", "kfold"), list(x, ...), quote = TRUE, envir = globalenv())
}

# ---- which are left out when ------------------------------------------------------------

# The fold of each trajectory, from 1; NA where nothing in it counts.
# `who`: the names of the trajectories, if they are known; `earlier`: what may give its folds.
check_folds <- function(folds, group, seed, counted, who = NULL, earlier = "kfold()") {
  n <- length(group)
  if (inherits(folds, "ibrc_kfold")) {
    folds <- folds$folds
    if (length(folds) != n) {
      abort_input("folds", "are a result for other patients: it has ", plural(length(folds), "trajectory",
                  "trajectories"), ", and there are ", format_count(n), " here. Give a number of folds.")
    }
  }
  out <- rep(NA_integer_, n)
  if (length(folds) == 1) {
    folds <- check_count(folds, "folds", least = 2)
    if (folds > sum(counted)) {
      abort_input("folds", "= ", folds, " are more than there are trajectories", if (!all(counted)) " that count", ".")
    }
    out[counted] <- split_folds(group[counted], folds, seed)
    return(out)
  }
  if (!is.numeric(folds) || !is.null(dim(folds)) || !length(folds)) {
    abort_input("folds", "must be a number of folds, a whole number for each trajectory or an earlier result of ",
                earlier, ", not ", describe(folds), ".",
                if (is.factor(folds)) " as.integer() makes numbers of a factor.")
  }
  folds <- folds_by_name(folds, who)
  if (length(folds) != n) {
    abort_input("folds", "must have one entry for each trajectory, in order of first appearance; there are ",
                if (length(folds) < n) "fewer." else "more.")
  }
  bad <- which(counted & (!is.finite(folds) | folds != round(folds)))
  if (length(bad)) abort_input("folds", "is not a whole number at position ", bad[1], ".", rows = bad)
  places <- sort(unique(folds[counted]))
  if (length(places) < 2) abort_input("folds", "are all the same: nothing would be left to fit.")
  out[counted] <- match(folds[counted], places)
  out
}

# Folds with names are for the trajectories of these names, in whatever order they come.
folds_by_name <- function(folds, who) {
  if (is.null(names(folds))) return(folds)
  if (is.null(who)) {
    abort_input("folds", "has names, and a fit keeps no identifiers that could be compared with them. Put it in order ",
                "of first appearance and give unname(folds).")
  }
  if (anyDuplicated(names(folds)) || !setequal(names(folds), who)) {
    abort_input("folds", "has names that are not the identifiers of the trajectories, each once. If it is in order of ",
                "first appearance, give unname(folds).")
  }
  folds[match(who, names(folds))]
}

# Group after group in random order, folds in turn: in every group, and in all, folds differ by one trajectory at most.
split_folds <- function(group, n_folds, seed) {
  out <- integer(length(group))
  mixed <- with_stream(streams_from_seed(seed)[[1]], {
    lapply(split(seq_along(group), group), function(mine) mine[sample.int(length(mine))])
  })
  out[unlist(mixed)] <- rep_len(seq_len(n_folds), length(out))
  out
}

# One row per fold and group with somebody to leave out; trajectories without a fold are in no row. Groups do not need
# each other.
plan_refits <- function(fit, folds) {
  n_groups <- length(fit$draws)
  left_out <- table(factor(folds, seq_len(max(folds, na.rm = TRUE))), factor(fit$trajectory_group, seq_len(n_groups)))
  seeds <- with_stream(streams_from_seed(fit$seed)[[1]], sample.int(.Machine$integer.max, length(left_out)))
  out <- data.frame(fold = as.vector(row(left_out)), group = as.vector(col(left_out)),
                    fitted = rep(as.integer(colSums(left_out)), each = nrow(left_out)) - as.vector(left_out),
                    left_out = as.vector(left_out), seed = seeds)
  out <- out[out$left_out > 0, ]
  rownames(out) <- NULL
  out
}

# ---- refits -----------------------------------------------------------------------------

refit_run <- function(run, chains, iter, warmup, thin, cores, refresh) {
  given <- function(own, other) if (is.null(own)) other else own
  if (is.null(warmup)) warmup <- if (is.null(iter)) run$warmup else floor(check_count(iter, "iter", least = 2) / 2)
  check_run(given(chains, run$chains), given(iter, run$iter), warmup, given(thin, run$thin), given(cores, run$cores),
            refresh)
}

# ---- the result -------------------------------------------------------------------------

new_ibrc_kfold <- function(elpd, whole, folds, refits) {
  pointwise <- cbind(elpd_kfold = elpd, p_kfold = whole - elpd, kfoldic = -2 * elpd)
  estimates <- cbind(Estimate = colSums(pointwise), SE = sqrt(nrow(pointwise) * apply(pointwise, 2, stats::var)))
  structure(list(estimates = estimates, pointwise = pointwise, folds = folds, refits = refits),
            K = max(folds, na.rm = TRUE), class = c("ibrc_kfold", "kfold", "loo"))
}

# Why it must not be used, if there is a reason.
kfold_faults <- function(x) {
  rough <- is.na(x$refits$rhat) | x$refits$rhat > 1.01
  if (!any(rough)) return(NULL)
  paste0("Do not use: in ", sum(rough), " of ", plural(length(rough), "refit"), " the chains do not agree (R-hat ",
         "above 1.01). Run kfold() with more iterations (its argument `iter`).")
}

#' @rdname kfold
#' @param digits How many digits after the point to print.
#' @export
print.ibrc_kfold <- function(x, digits = 1, ...) {
  digits <- check_count(digits, "digits", least = 0)
  refits <- x$refits
  cat("Based on ", attr(x, "K"), "-fold cross-validation by trajectory\n\n", sep = "")
  print(format(round(as.data.frame(x$estimates), digits), nsmall = digits, trim = TRUE))
  cat("\n", plural(nrow(refits), "refit"), ": largest R-hat ", rhat_text(max(refits$rhat)),
      ", Monte Carlo error of elpd_kfold ", signif(sqrt(sum(refits$mcse^2)), 2), "\n", sep = "")
  few <- unique(as.character(refits$group[refits$fitted < 5]))
  advice <- c(kfold_faults(x), if (length(few)) paste0(
    "Fewer than 5 trajectories were left ", if (identical(few, "all")) "" else
      paste0("of group", if (length(few) > 1) "s", " ", enumerate(few), " "),
    "in a refit: those left out were predicted from little more than the prior."
  ))
  for (line in advice) writeLines(strwrap(line, prefix = "  ", initial = "* "))
  invisible(x)
}
