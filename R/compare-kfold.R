#' Cross-validation by fitting again
#'
#' Leaves a share of the trajectories out, fits again without them, and asks how well that predicts them; then the
#' next share, until each trajectory has been left out once. It takes as long as `folds` fits, and holds where [loo()]
#' refuses.
#'
#' What is left out is always a whole trajectory, so that no patient helps to predict himself. Refits use the coded
#' histories that the fit keeps, its setting, models, prior and control. Where those came from the same visits, as with
#' dynamics from [fit_iohmm()], they have seen the trajectories left out, and all fits look better than they are.
#'
#' With a `future::plan()` other than `"sequential"` refits run in its processes, a round of them at a time, each with
#' `cores` threads (one in forked processes); that needs the package future.apply. The result is the same. An
#' interrupt ends it with an error of class `ibrc_error_interrupted`: there is no result of some of the folds.
#'
#' A trajectory without any scored action ([trajectories()]) has nothing to be predicted, and none of its likelihood
#' is in the fit: it is left aside, with a message that says how many there are.
#'
#' @section Groups:
#' Each group is fitted by itself, and its trajectories are spread over the folds as evenly as can be. A
#' group with fewer trajectories than folds is fitted again as often as it has trajectories, without one each time. The
#' only trajectory of a group is predicted from the prior alone: that is all that would be known. Printing says of
#' which groups fewer than five trajectories were left in a refit.
#'
#' @section Comparing fits:
#' [loo::loo_compare()] compares what this returns for fits to the same trajectories. The same `folds` and `seed`
#' leave out the same ones in fits with the same groups. For fits with other groups, or none, give the first
#' result as `folds` of the others: differences are then due to the fits alone.
#'
#' @param x A fit ([ibrc()]), not made with `keep_data = FALSE` ([ibrc_control()]); or what another package's method for
#'   [loo::kfold()] takes.
#' @param folds How many shares to make, from 2 to the number of trajectories (with a scored action), where every refit
#'   leaves out one. Or a whole number for each trajectory, in order of first appearance, that says in which fold it is
#'   left out: by site, say. Or an earlier result, to use its folds.
#' @param chains,iter,warmup,thin As in [ibrc()] and, of `thin`, [ibrc_control()], for every refit; by default those of
#'   the fit, and half of `iter` as warm-up where `iter` is given. Fewer save time; the R-hat of each refit says
#'   whether they were enough.
#' @param start Where the chains of a refit start. `"prior"`: as those of [ibrc()] do. `"fit"`: where those of the fit
#'   ended. That saves warm-up, but chains that begin together agree sooner than they should: use it only for a fit that
#'   is settled.
#' @param draws How many draws of each refit to predict from, as many from every chain; `NULL` takes all of them.
#' @param cores Threads to use; by default as many as the fit.
#' @param seed A number that settles which trajectories are left out together. Refits have seeds of their own, made from
#'   that of the fit. The session's generator is left as it was.
#' @param refresh Whether to say after each round of refits how many are done: 0 for no. By default yes in an
#'   interactive session.
#' @param ... Not used.
#' @return An object of class `kfold` and `loo`, as that package knows it: `estimates` of `elpd_kfold` (the
#'   expected log predictive density of trajectories not seen), `p_kfold` (how much likelier the whole fit makes them)
#'   and `kfoldic`, with standard errors; and `pointwise`, one row per trajectory with a scored action, in order of
#'   first appearance. Also `folds`, the fold of each trajectory (`NA` where no action is scored), and `refits`, a
#'   data frame with one row per refit: `fold`, `group`, `fitted` and `left_out` (numbers of trajectories), `seed`,
#'   `rhat`, `ess_bulk` and `ess_tail` (the worst over terms) and `mcse`, the Monte Carlo error of its
#'   part of `elpd_kfold`. A refit with R-hat above 1.01 gives a warning of class `ibrc_warning_convergence`;
#'   the result must then not be used, and says so in print.
#' @seealso [loo()], an approximation without refits.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, 40, seed = 1)
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             chains = 2, iter = 1000, warmup = 200, seed = 1, resolution = 10,
#'             control = ibrc_control(check = FALSE))
#' crossed <- kfold(fit, folds = 2, draws = 100)
#' crossed
#'
#' # Against a fit that takes the agent to be far less flexible
#' other <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(log(20), 0.1)),
#'               chains = 2, iter = 1000, warmup = 200, seed = 1, resolution = 10,
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
  if (!x$likelihood) abort_input("x", "has draws from the prior: nothing was fitted that could be left out.")
  run <- refit_run(x$run, chains, iter, warmup, thin, cores, refresh)
  refuse_large_run(run, 1, length(x$prior))
  refuse_many_values(run, 1, x$problem$space$n_nodes)
  start <- check_choice(start, c("prior", "fit"), "start")
  if (!is.null(draws)) draws <- run$chains * max(1L, check_count(draws, "draws") %/% run$chains)
  counted <- counted_trajectories(x$histories, x$trajectory_group)
  folds <- check_folds(folds, x$trajectory_group, check_seed(seed), counted)
  tell_uncounted(counted, "kfold()")
  refits <- plan_refits(x, folds)
  pieces <- lapply(seq_len(nrow(refits)), function(i) refit_piece(x, folds, refits[i, ], run, start, draws))
  whole <- tryCatch(log_mean_exp(log_lik.ibrc_fit(x, draws)), interrupt = function(e) stop_refits(0, nrow(refits)))
  results <- run_refits(pieces, run$refresh)
  elpd <- numeric(length(folds))
  for (i in seq_along(results)) elpd[pieces[[i]]$place] <- results[[i]]$elpd
  for (column in c("rhat", "ess_bulk", "ess_tail", "mcse")) refits[[column]] <- vapply(results, `[[`, 0, column)
  refits$group <- factor(names(x$draws)[refits$group], levels = names(x$draws))
  out <- new_ibrc_kfold(elpd[counted], whole[counted], folds, refits)
  if (length(lines <- kfold_faults(out))) warn("convergence", lines)
  out
}

#' @export
kfold.default <- function(x, ...) {
  if (!is_installed("loo") || !has_method(x, "loo", "kfold")) check_class(x, "ibrc_fit", "x", "ibrc()")
  # As in hand_on(): called from here, the generic would find our methods.
  do.call(getExportedValue("loo", "kfold"), list(x, ...), quote = TRUE, envir = globalenv())
}

# ---- which are left out when ------------------------------------------------------------

# The fold of each trajectory, from 1; NA where nothing in it counts.
check_folds <- function(folds, group, seed, counted) {
  if (inherits(folds, "ibrc_kfold")) folds <- folds$folds
  n <- length(group)
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
                "kfold(), not ", describe(folds), ".")
  }
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

# Group after group in random order, folds in turn: in every group, and in all, folds differ by one trajectory at most.
split_folds <- function(group, n_folds, seed) {
  out <- integer(length(group))
  mixed <- with_stream(streams_from_seed(seed)[[1]], {
    lapply(split(seq_along(group), group), function(mine) mine[sample.int(length(mine))])
  })
  out[unlist(mixed)] <- rep_len(seq_len(n_folds), length(out))
  out
}

# One row per fold and group with somebody to leave out; trajectories without a fold are in none. Groups do not
# need each other.
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

# What a process needs for one refit. `place`: where the trajectories left out stand among all.
refit_piece <- function(fit, folds, refit, run, start, draws) {
  group <- refit$group
  mine <- which(fit$trajectory_group == group)
  out <- folds[mine] %in% refit$fold
  kept <- !out & !is.na(folds[mine])
  coded <- coded_from_tree(fit$histories[[group]], fit$visit_actions[[group]])
  part <- function(keep) {
    keep <- keep[coded$trajectory + 1L]
    some <- lapply(coded, function(x) x[keep])
    list(tree = build_histories(some, fit$problem$setting), action = some$action + 1L)
  }
  left_out <- part(out)
  run$seed <- refit$seed
  first <- if (start == "fit") last_draws(list(draws = fit$draws[group]))
  list(left_out = left_out, place = mine[out],
       # With nothing left to fit the prior is drawn from, and the tree only stands there.
       fitted = if (refit$fitted > 0) part(kept) else left_out, likelihood = refit$fitted > 0,
       n_fitted = refit$fitted, problem = problem_of(fit, group), recipe = fit$recipe, prior = fit$prior,
       fixed = fit$fixed,
       tolerance = fit$tolerance,
       sampler = fit$sampler, run = run, draws = draws,
       start = if (!is.null(first)) first[rep_len(seq_len(nrow(first)), run$chains), , drop = FALSE])
}

# Coded visits, as code_visits() has them, from a tree. What was seen after a trajectory's last visit is not in it, and
# nothing depends on it.
coded_from_tree <- function(tree, action) {
  trajectory <- trajectory_of(tree) - 1L
  last <- !duplicated(trajectory, fromLast = TRUE)
  seen <- c(tree$observation[tree$visit[-1]], -1L)
  seen[last] <- -1L
  list(trajectory = trajectory, action = action - 1L, observation = seen, scored = tree$scored,
       start = starts_of(tree)[trajectory + 1L] - 1L)
}

# All refits, in rounds of as many as there are processes.
run_refits <- function(pieces, refresh) {
  over <- can_spread()
  at_once <- if (over) max(1, min(future::nbrOfWorkers(), length(pieces))) else 1
  began <- Sys.time()
  results <- vector("list", length(pieces))
  done <- 0L
  tryCatch({
    while (done < length(pieces)) {
      these <- seq(done + 1, min(done + at_once, length(pieces)))
      results[these] <- spread(lapply(pieces[these], refit_in, over), run_refit, over)
      done <- max(these)
      gone <- as.numeric(Sys.time() - began, units = "secs")
      if (refresh > 0) {
        tell(message("refit ", done, " of ", length(pieces), ", about ",
                     format_seconds(gone / done * (length(pieces) - done)), " left"))
      }
    }
  }, interrupt = function(condition) stop_refits(done, length(pieces)))
  results
}

stop_refits <- function(done, all) {
  abort("interrupted", "Cross-validation was interrupted after ", done, " of ", plural(all, "refit"),
        ": there is no result of some of them.")
}

refit_in <- function(piece, over) {
  piece$run$cores <- cores_of_piece(piece$run$cores, over)
  piece
}

# One fit, as ibrc() with the same seed makes it, and what it makes of those left out.
run_refit <- function(piece) {
  run <- piece$run
  own <- rep(1L, run$chains)
  inverse <- c(piece[c("problem", "recipe", "prior", "fixed", "tolerance")],
               list(histories = list(piece$fitted$tree), group = factor(rep("all", piece$n_fitted), "all")))
  evaluator <- inverse_evaluator(inverse, own, run$cores, piece$likelihood)
  begun <- begin_chains(evaluator, piece$start, replace(run, "refresh", 0L), piece$sampler, piece$problem$space$n_nodes)
  chain <- run_piece(list(chain = begun$chain, evaluator = evaluator, until = run$iter))
  chain$interrupted <- FALSE
  job <- list(inverse = inverse, evaluator = evaluator, run = run, sampler = piece$sampler, keep_data = FALSE)
  judge_left_out(new_ibrc_fit(chain, job), piece)
}

judge_left_out <- function(fit, piece) {
  n <- length(piece$place)
  each <- log_lik_at(fit, spaced_draws(fit, piece$draws), list(
    histories = list(piece$left_out$tree), actions = list(piece$left_out$action), group = rep(1L, n)
  ))
  elpd <- log_mean_exp(each)
  table <- tidy(fit)
  worst <- function(x, most) if (all(is.finite(x))) most(x) else NA_real_
  # To first order, elpd moves with the draws by this, all trajectories together.
  moves <- matrix(rowSums(exp(each - rep(elpd, each = nrow(each)))), ncol = fit$run$chains)
  # Draws that all say the same have no error that could be worked out from their spread.
  error <- if (!all(is.finite(moves))) NA_real_ else if (diff(range(moves)) < 1e-12) 0 else posterior::mcse_mean(moves)
  list(elpd = elpd, rhat = worst(table$rhat, max), ess_bulk = worst(table$ess_bulk, min),
       ess_tail = worst(table$ess_tail, min), mcse = error)
}

# Of each column, without leaving the doubles.
log_mean_exp <- function(x) {
  top <- apply(x, 2, max)
  top[!is.finite(top)] <- 0
  unname(top + log(colMeans(exp(x - rep(top, each = nrow(x))))))
}

# ---- the result -------------------------------------------------------------------------

new_ibrc_kfold <- function(elpd, whole, folds, refits) {
  pointwise <- cbind(elpd_kfold = elpd, p_kfold = whole - elpd, kfoldic = -2 * elpd)
  estimates <- cbind(Estimate = colSums(pointwise), SE = sqrt(nrow(pointwise) * apply(pointwise, 2, stats::var)))
  structure(list(estimates = estimates, pointwise = pointwise, folds = folds, refits = refits),
            K = max(folds, na.rm = TRUE), class = c("ibrc_kfold", "kfold", "loo"))
}

# Why it must not be used, if so.
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
  cat("\n", plural(nrow(refits), "refit"), ": largest R-hat ", format(round(max(refits$rhat), 3), nsmall = 3),
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
