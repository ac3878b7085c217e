#' How likely each trajectory is under a fit
#'
#' The log-likelihood of every trajectory that a fit was made from, at draws from its
#' posterior, and the approximate leave-one-out cross-validation that follows from
#' it. What is left out is a whole trajectory: the visits of one trajectory share its
#' beliefs, so a single visit cannot be predicted apart from the others.
#'
#' Trajectories come in their order of first appearance, with or without groups, so
#' that two fits to the same data can be compared with [loo::loo_compare()]: one with
#' groups against one without, say.
#'
#' @param object,x A fit ([ibrc()]), not made with `keep_data = FALSE`. For `loo()`,
#'   anything else that [loo::loo()] takes as well.
#' @param draws How many draws to take, evenly spaced over the chains; `NULL` takes
#'   all of them. `loo()` takes as many from every chain.
#' @param ... For `loo()`, further arguments to [loo::loo()], such as `cores`. Not
#'   used by `log_lik()`.
#' @return `log_lik()`: a matrix `[draw, trajectory]` whose row names are the draws'
#'   numbers (`.draw` in [as.data.frame()][as.data.frame.ibrc_fit]). `loo()`: an object
#'   of class `loo`; it needs the package loo.
#' @seealso [log_lik()] for the log-likelihood under a plan.
#' @family inference
#' @rawNamespace S3method(rstantools::log_lik, ibrc_fit)
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 300, seed = 1)
#' dim(log_lik(fit, draws = 20))
#' if (requireNamespace("loo", quietly = TRUE)) loo(fit)
log_lik.ibrc_fit <- function(object, draws = 200, ...) {
  check_unused(...)
  need_data(object, "The likelihood of each trajectory")
  chosen <- spaced_draws(object, draws)
  out <- matrix(0, nrow(chosen), length(object$trajectory_group), dimnames = list(chosen$.draw, NULL))
  for (group in seq_along(object$draws)) {
    tree <- object$histories[[group]]
    taken <- cbind(object$visit_actions[[group]], tree$visit)
    trajectory <- trajectory_of(tree)
    rows <- read_draws(object, group, chosen, function(plan) {
      trajectory_sums(read_histories(plan, tree)$log_policy[taken], trajectory)
    })
    out[, object$trajectory_group == group] <- do.call(rbind, rows)
  }
  out
}

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
loo.ibrc_fit <- function(x, draws = 1000, ...) {
  require_package("loo", "Leave-one-out cross-validation")
  chains <- dim(x$draws[[1]])[2]
  # Efficiency is worked out from chains of one length.
  if (!is.null(draws)) draws <- chains * max(1, check_count(draws, "draws") %/% chains)
  each <- log_lik.ibrc_fit(x, draws)
  efficiency <- loo::relative_eff(exp(each), chain_id = spaced_draws(x, draws)$.chain)
  # A trajectory that is as likely under every draw has no efficiency, and needs none.
  efficiency[!is.finite(efficiency)] <- 1
  loo::loo(unname(each), r_eff = efficiency, ...)
}

need_data <- function(fit, what, argument = "object") {
  check_class(fit, "ibrc_fit", argument, "ibrc()")
  if (is.null(fit$histories)) {
    abort_input(argument, "was fitted with keep_data = FALSE. ", what, " needs the coded histories: fit ",
                "again with keep_data = TRUE, which keeps no identifiers.")
  }
}

# A data frame with a row a draw taken: .draw, .iteration and .chain. Draws stand one
# chain after the other, and each taken is the middle of its share of them; a multiple
# of the chains takes as many from each.
spaced_draws <- function(fit, draws) {
  size <- dim(fit$draws[[1]])[1:2]
  all <- size[1] * size[2]
  n <- if (is.null(draws)) all else min(all, check_count(draws, "draws"))
  draw <- as.integer(ceiling((seq_len(n) - 0.5) * all / n))
  data.frame(.draw = draw, .iteration = (draw - 1L) %% size[1] + 1L, .chain = (draw - 1L) %/% size[1] + 1L)
}

# What `read` makes of the plan at each draw taken, of one group. Every solve starts
# from the values of the one before.
read_draws <- function(fit, group, chosen, read) {
  draws <- fit$draws[[group]]
  plan <- plan_of(fit, group)
  out <- vector("list", nrow(chosen))
  for (i in seq_along(out)) {
    natural <- matrix(draws[chosen$.iteration[i], chosen$.chain[i], ], 1,
                      dimnames = list(NULL, dimnames(draws)[[3]]))
    drawn <- plan_at(fit, natural, plan)
    plan$solution$value <- drawn$solution$value
    out[[i]] <- read(drawn)
  }
  out
}

# The number of each visit's trajectory: only a first visit stands at the root.
trajectory_of <- function(histories) cumsum(histories$visit == 1L)
