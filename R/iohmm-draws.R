#' Draws from the posterior of learned dynamics
#'
#' What somebody who learned from these data might believe: a model prior
#' ([model_prior()]) of draws from the posterior of the laws that [fit_iohmm()] estimates.
#' All draws have equal weight.
#'
#' The draws come from a Gibbs sampler that starts at the fit. It draws hidden paths given
#' the laws, by filtering forwards and sampling backwards, and then laws given the
#' paths, from Dirichlet distributions. The prior is that of the fit ([iohmm_prior()]). A
#' fit without one has a uniform prior on each law. Impossible pairs stay
#' impossible. The first `warmup` sweeps are dropped, and then every `thin`-th sweep is kept.
#'
#' States have no names in a posterior, and a chain may swap them. Each draw is
#' renumbered to follow the fitted states. Of all ways to match them, the one is used in which the
#' sampled paths agree most with the fit's smoothed state probabilities. If states
#' are hard to tell apart, that matching is part of the answer.
#'
#' @section How many to take:
#' Successive sweeps are similar, because hidden paths depend on laws and laws on paths. They are more similar
#' if the states are hard to tell apart. Similar draws say less than the same number of independent ones. For each
#' probability, the number of independent draws that they are worth is worked out from all sweeps after `warmup`
#' ([posterior::ess_bulk()], and what is left of it in every `thin`-th sweep). It is printed, and is in the
#' attribute `"effective"`. If the slowest probability is worth less than half of `n`, a warning of class
#' `ibrc_warning_effective` says so, and which `thin` would help. The column `thin` has, for each probability, the
#' number of sweeps after which a draw is nearly independent of the last one (a correlation of 0.05). Take the largest.
#' A `thin` of 10 is often too small by a factor of five; sweeps are quick. With fewer than 50 sweeps this cannot be
#' worked out, and the attribute is `NA`.
#'
#' @param iohmm A fit ([fit_iohmm()]).
#' @param n Number of draws.
#' @param warmup,thin The number of sweeps to drop at the beginning, and the number of sweeps per draw.
#' @param seed A number that makes the draws repeatable; `NULL` takes one from the
#'   session's generator, which moves on by one draw. Otherwise the generator is left
#'   as it was.
#' @return An object of class `ibrc_models` ([model_prior()]). Its element `models` holds
#'   lists with `transition`, `emission` and `start`. Its attribute `"effective"` is a data frame with one row per
#'   probability that is not certain, and one for the log-likelihood. It has `entry` (as in `coef()` of the fit);
#'   `effective`, how many independent draws the `n` draws are worth for it; and `thin`, which would make them nearly
#'   independent.
#' @family dynamics
#' @export
#' @examples
#' plan <- plan_agent(tiger_setting(), bounded_agent(alpha = 20))
#' visits <- simulate(plan, nsim = 100, seed = 1, horizon = 10)
#' iohmm <- fit_iohmm(visits, states = 2, starts = 4, sort_by = "hear_right", seed = 1)
#' draws <- model_draws(iohmm, n = 5, warmup = 50, thin = 5, seed = 1)
#' sapply(draws$models, function(m) m$emission["state2", "hear_right", "listen"])
#' # Enough sweeps to work out how many independent draws these are worth
#' draws <- model_draws(iohmm, n = 10, thin = 40, seed = 1)
#' effective <- attr(draws, "effective")
#' effective[order(effective$effective)[1:3], ]
model_draws <- function(iohmm, n = 20, warmup = 200, thin = 10, seed = NULL) {
  check_given(iohmm)
  check_class(iohmm, "ibrc_iohmm", "iohmm", "fit_iohmm()")
  n <- check_count(n, "n", most = most_at_once)
  warmup <- check_count(warmup, "warmup", least = 0)
  thin <- check_count(thin, "thin")
  if (!is.null(seed)) seed <- check_seed(seed)
  need_visits(iohmm, "model_draws()", "iohmm")
  numbers <- length(iohmm$start) + length(iohmm$transition) + length(iohmm$emission)
  # This includes the names, and a copy in the model prior.
  refuse_too_large(n * (16 * numbers + 4000), "n", "`n` = ", format_count(n), " draws of laws with ",
                   plural(numbers, "probability", "probabilities"), " would be ", format_count(n * numbers), " numbers",
                   advice = "draw fewer")
  coded <- without_open_ends(iohmm$coded)
  tree <- iohmm_tree(coded, iohmm)
  smooth <- expect_states(iohmm, iohmm_chains(coded))$smooth
  stream <- streams_from_seed(seed, 1)[[1]]
  made <- with_stream(stream, gibbs_draws(iohmm, tree, smooth, n, warmup, thin))
  names(made$draws) <- paste0("draw_", seq_len(n))
  out <- model_prior(made$draws)
  attr(out, "effective") <- effective_draws(made$series, n, thin, made$stride)
  warn_few_effective(out)
  out
}

# The most sweeps from which it is worked out how many independent draws there are. This many are enough.
most_recorded <- 4000
least_recorded <- 50

gibbs_draws <- function(iohmm, tree, smooth, n, warmup, thin) {
  laws <- iohmm_laws(iohmm)
  draws <- vector("list", n)
  stride <- min(thin, max(1, floor(as.numeric(n) * thin / most_recorded)))
  series <- matrix(0, floor(as.numeric(n) * thin / stride), 0)
  for (sweep in seq_len(warmup + as.numeric(n) * thin)) {
    sampled <- .Call(ffi_iohmm_sample, tree, laws, tree$leaf, stats::runif(ncol(smooth)))
    laws[c("start", "transition", "emission")] <- draw_laws(iohmm, sampled)
    after <- sweep - warmup
    kept <- after > 0 && after %% thin == 0
    recorded <- after > 0 && after %% stride == 0
    if (!kept && !recorded) next
    drawn <- relabel(iohmm, laws, match_states(smooth, sampled$path))
    if (kept) draws[[after / thin]] <- drawn
    if (recorded) {
      entries <- law_entries(drawn, iohmm$shared)
      if (!ncol(series)) {
        series <- matrix(0, nrow(series), length(entries) + 1,
                         dimnames = list(NULL, c(entry_names(iohmm), "log_lik")))
      }
      # The likelihood is that of the laws with which the sweep began.
      series[after / stride, ] <- c(entries, sampled$log_lik)
    }
  }
  list(draws = draws, series = series, stride = stride)
}

# Each probability of the laws once, as in coef() of a fit.
law_entries <- function(laws, shared) {
  size <- dim(laws$transition)
  start <- if (is.matrix(laws$start)) t(laws$start) else laws$start
  c(as.vector(start), laws$transition[seq_len(size[1] * size[2] * (if (shared) 1 else size[3]))],
    as.vector(laws$emission))
}

entry_names <- function(iohmm) {
  name <- function(law, ...) {
    over <- expand.grid(..., stringsAsFactors = FALSE)
    paste0(law, "[", do.call(paste, c(over, sep = ",")), "]")
  }
  groups <- start_groups(iohmm)
  in_group <- if (is.null(groups)) "" else paste0(rep(groups, each = length(iohmm$states)), ",")
  c(paste0("start[", in_group, iohmm$states, "]"),
    if (iohmm$shared) name("transition", iohmm$states, iohmm$states) else
      name("transition", iohmm$states, iohmm$states, iohmm$actions),
    name("emission", iohmm$states, iohmm$observations, iohmm$actions))
}

# How many independent draws `n` draws are worth, with one draw in `thin` sweeps. `series` [sweep, entry] has one sweep
# in `stride`. Correlations are assumed to fall by the same factor rho from sweep to sweep; sweeps are then worth
# (1 - rho) / (1 + rho) of their number.
effective_draws <- function(series, n, thin, stride = 1) {
  moves <- apply(series, 2, function(x) all(is.finite(x)) && diff(range(x)) > 0)
  series <- series[, moves, drop = FALSE]
  out <- data.frame(entry = colnames(series), effective = rep(NA_real_, ncol(series)),
                    thin = rep(NA_real_, ncol(series)))
  if (nrow(series) < least_recorded || !ncol(series)) return(out)
  worth <- apply(series, 2, posterior::ess_bulk) / nrow(series)
  rho <- (1 - pmin(worth, 1)) / (1 + pmin(worth, 1))
  after <- rho^(thin / stride)
  out$effective <- unname(n * (1 - after) / (1 + after))
  out$thin <- unname(ifelse(rho > 0, pmax(1, ceiling(log(0.05) / log(rho))), 1) * stride)
  out
}

warn_few_effective <- function(models) {
  effective <- attr(models, "effective")
  least <- suppressWarnings(min(effective$effective, na.rm = TRUE))
  if (!is.finite(least) || least >= length(models$weights) / 2) return(invisible())
  warn("effective", effective_words(models), ". Take `thin` = ", format_count(max(effective$thin, na.rm = TRUE)),
       " for draws that are nearly independent.")
}

# Laws given the counts along sampled paths: independent Dirichlet rows.
draw_laws <- function(iohmm, counts) {
  size <- dim(iohmm$emission)
  S <- size[1]
  prior <- iohmm$prior
  rows <- function(shape) {
    # Shapes are 1 or more, so that a row is never all zeros. A shape of 0 gives exactly 0.
    p <- array(stats::rgamma(length(shape), shape), dim(shape))
    p / as.vector(rowSums(p))
  }
  start <- rows(t(matrix(counts$start + 1 + prior$start, S)))
  transition <- aperm(array(counts$transition, c(S, S, size[3])), c(1, 3, 2))
  extra <- 1 + prior$transition + prior$stay * diag(S)
  if (iohmm$shared) {
    one <- rows(matrix(apply(transition, c(1, 3), sum), S) + extra)
    transition <- array(rep(one, size[3]), c(S, S, size[3]))
  } else {
    shape <- matrix(transition, S * size[3]) + extra[rep(seq_len(S), size[3]), , drop = FALSE]
    transition <- aperm(array(rows(shape), c(S, size[3], S)), c(1, 3, 2))
  }
  emission <- matrix(aperm(array(counts$emission, size), c(1, 3, 2)), S * size[3])
  action <- rep(seq_len(size[3]), each = S)
  shape <- (emission + 1 + prior$emission[action, , drop = FALSE]) * iohmm$possible[action, , drop = FALSE]
  emission <- aperm(array(rows(shape), c(S, size[3], size[2])), c(1, 3, 2))
  list(start = as.numeric(t(start)), transition = as.numeric(transition), emission = as.numeric(emission))
}

# Which sampled state belongs to each fitted state: the matching with the most agreement between
# smoothed probabilities [state, position] and the path (counted from 0).
match_states <- function(smooth, path) {
  n <- nrow(smooth)
  agreement <- vapply(seq_len(n), function(s) rowSums(smooth[, path == s - 1L, drop = FALSE]), numeric(n))
  best_matching(matrix(agreement, n))
}

# One column for each row, all different, such that the sum is largest. Rows are taken one
# after the other. For each set of used columns, the best way to it is remembered.
best_matching <- function(gain) {
  n <- nrow(gain)
  bit <- 2^(seq_len(n) - 1)
  best <- list("0" = list(sum = 0, columns = integer()))
  for (row in seq_len(n)) {
    reached <- list()
    for (used in names(best)) {
      so_far <- best[[used]]
      for (column in setdiff(seq_len(n), so_far$columns)) {
        key <- as.character(as.numeric(used) + bit[column])
        sum <- so_far$sum + gain[row, column]
        if (is.null(reached[[key]]) || sum > reached[[key]]$sum) {
          reached[[key]] <- list(sum = sum, columns = c(so_far$columns, column))
        }
      }
    }
    best <- reached
  }
  best[[1]]$columns
}

relabel <- function(iohmm, laws, order) {
  transition <- array(laws$transition, dim(iohmm$transition))[order, order, , drop = FALSE]
  emission <- array(laws$emission, dim(iohmm$emission))[order, , , drop = FALSE]
  dimnames(transition) <- dimnames(iohmm$transition)
  dimnames(emission) <- dimnames(iohmm$emission)
  start <- matrix(laws$start, length(iohmm$states))[order, , drop = FALSE]
  list(transition = transition, emission = emission, start = name_starts(start, iohmm$states, start_groups(iohmm)))
}
