# What a fit keeps: draws on the natural scale, [iteration, chain, term] per group,
# and what is needed to plan for any of them again.

new_ibrc_fit <- function(chain, job, state = state_of(chain)) {
  inverse <- job$inverse
  evaluator <- job$evaluator
  group <- inverse$group
  kept <- max(0, state$iteration - state$warmup) %/% state$thin
  if (kept < 2) {
    abort("interrupted", "The run was interrupted in warm-up, at step ", state$iteration, " of ", state$iter,
          ": there are no draws to return.")
  }
  terms <- prior_terms(evaluator$prior)
  draws <- lapply(seq_len(nlevels(group)), function(g) {
    mine <- which(evaluator$group == g)
    theta <- state$draws[seq_len(kept), mine, , drop = FALSE]
    array(prior_natural(evaluator$prior, flat_draws(theta)), c(kept, length(mine), length(terms)),
          list(NULL, NULL, terms))
  })
  fit <- structure(
    list(draws = stats::setNames(draws, levels(group)), problem = inverse$problem, problems = inverse$problems,
         recipe = inverse$recipe, prior = inverse$prior, fixed = inverse$fixed, tolerance = inverse$tolerance,
         likelihood = evaluator$likelihood,
         log_posterior = state$log_density_draws[seq_len(kept), , drop = FALSE],
         acceptance = acceptance_of(state, evaluator$group, levels(group)),
         group_sizes = c(table(group)), n_visits = counts_of(inverse, visit_counts),
         n_scored = counts_of(inverse, scored_counts),
         by = inverse$by, histories = inverse$histories, visit_actions = inverse$actions,
         trajectory_group = as.integer(group),
         run = made_run(job$run, state), sampler = job$sampler,
         seed = job$run$seed, start = job$run$start, interrupted = chain$interrupted,
         control = control_of(inverse, sampler = job$sampler, thin = job$run$thin, keep_data = job$keep_data),
         # Where the chains stand, for extend_fit().
         chain = flushed_chain(chain)),
    class = "ibrc_fit"
  )
  fit$several <- inverse$several
  fit
}

# Without the run's description of itself, and with all its draws in place.
flushed_chain <- function(chain) {
  if (!is.null(chain$parts)) return(list(parts = lapply(chain$parts, flushed_chain)))
  keeps <- is_walk(chain$state) || is_population(chain$state)
  list(state = if (keeps) chain$state else sampler_flush(chain$state), value = chain$value)
}

# A run may have been given more steps than at its beginning.
made_run <- function(run, state) {
  run$iter <- state$iter
  run
}

# keep_data = FALSE: only the numbers of visits stay, by group and, where starts differ, by start.
without_data <- function(fit) {
  if (has_several(fit)) fit$several <- several_without_data(fit)
  if (has_starts(fit$problem$setting)) fit$start_sizes <- start_sizes(fit)
  fit[c("histories", "visit_actions", "trajectory_group", "chain")] <- list(NULL)
  if (has_dynamics(fit)) fit$dynamics$tree <- NULL
  fit
}

# keep_data = FALSE: what stays of several problems.
several_without_data <- function(fit) {
  several <- fit$several
  several$counts <- problem_counts(fit)
  several$start_sizes <- lapply(stats::setNames(nm = problem_names(fit)), function(name) {
    view <- problem_view(replace(fit, "effects", list(NULL)), name)
    whole <- start_sizes(view)
    if (is.null(whole)) return(NULL)
    out <- matrix(0L, nrow(whole), length(fit$draws), dimnames = list(rownames(whole), names(fit$draws)))
    out[, names(view$draws)] <- whole
    out
  })
  several$of <- NULL
  several
}

# How many trajectories of a fit or a mode begin with each of the starts, [start, group]; NULL where all start alike.
start_sizes <- function(fit) {
  groups <- start_groups(fit$problem$setting)
  if (is.null(groups)) return(NULL)
  if (is.null(fit$histories)) return(fit$start_sizes)
  matrix(vapply(fit$histories, function(tree) tabulate(starts_of(tree), length(groups)), integer(length(groups))),
         length(groups), dimnames = list(groups, names(fit$group_sizes)))
}

# The start of each trajectory by name, one vector per group; NULL where all start the same.
start_labels <- function(fit) {
  groups <- start_groups(fit$problem$setting)
  if (is.null(groups)) return(NULL)
  if (!is.null(fit$histories)) return(lapply(fit$histories, function(tree) groups[starts_of(tree)]))
  lapply(seq_along(fit$group_sizes), function(g) rep(groups, fit$start_sizes[, g]))
}

# As many as asked for, drawn from those of a group.
draw_start_labels <- function(fit, group, n) {
  sizes <- start_sizes(fit)
  if (is.null(sizes)) return(NULL)
  rownames(sizes)[sample.int(nrow(sizes), n, replace = TRUE, prob = sizes[, group])]
}

# The position of each chain of a fit, one row per chain, group after group: other chains can start there.
last_draws <- function(fit) {
  do.call(rbind, lapply(fit$draws, function(draws) {
    size <- dim(draws)
    matrix(draws[size[1], , ], size[2], size[3], dimnames = list(NULL, dimnames(draws)[[3]]))
  }))
}

acceptance_of <- function(state, group, levels) {
  rate <- state$n_accepted / (state$iteration - state$warmup)
  stats::setNames(as.vector(tapply(rate, group, mean)), levels)
}

is_grouped <- function(fit) are_groups(names(fit$draws))

# A fit in the form that is reported: probabilities, and their own priors, where the sampler has fractions of a simplex.
as_reported <- function(fit) {
  if (!length(simplex_columns(fit$prior, "action_prior"))) return(fit)
  actions <- lead_problem(fit)$setting$actions
  fit$draws <- lapply(fit$draws, function(draws) {
    size <- dim(draws)
    values <- reported_values(fit$prior, flat_draws(draws), actions)
    array(values, c(size[1:2], ncol(values)), list(NULL, NULL, colnames(values)))
  })
  fit$prior <- reported_prior(fit$prior, actions)
  fit
}

reported_terms <- function(fit) prior_terms(reported_prior(fit$prior, lead_problem(fit)$setting$actions))

variable_names <- function(fit, group) {
  terms <- reported_terms(fit)
  if (is_grouped(fit)) paste0(terms, "[", group, "]") else terms
}

# One row per term and group: quantiles, and whether the chains agree.
tidy_draws <- function(fit, conf.level = 0.95) {
  fit <- as_reported(fit)
  shrink <- contraction(fit)
  rows <- lapply(names(fit$draws), function(group) {
    draws <- fit$draws[[group]]
    term <- dimnames(draws)[[3]]
    cbind(data.frame(term = term, group = group), summarise_columns(flat_draws(draws), conf.level),
          mixing_within(fit, draws), contraction = shrink[term, group])
  })
  out <- do.call(rbind, rows)
  rownames(out) <- NULL
  out
}

# 1 - var(posterior) / var(prior) on the sampler's scale, [term, group].
contraction <- function(fit) {
  prior_sd <- prior_sd_unconstrained(fit$prior)
  out <- vapply(fit$draws, function(draws) {
    theta <- prior_unconstrain(fit$prior, flat_draws(draws))
    # A draw at the limit of the doubles has no place on that scale.
    theta[!is.finite(theta)] <- NA
    1 - apply(theta, 2, stats::var, na.rm = TRUE) / prior_sd^2
  }, numeric(length(prior_sd)))
  matrix(out, length(prior_sd), length(fit$draws), dimnames = list(prior_terms(fit$prior), names(fit$draws)))
}

#' Draws of a fit
#'
#' @param x A fit ([ibrc()]).
#' @param row.names,optional,... Not used.
#' @return `as.data.frame()`: a data frame with one row per draw and term: `.chain`, `.iteration`, `.draw`, `group`,
#'   `term` and `value`, on the natural scale (`alpha` itself, not its logarithm). `as_draws_array()`, `as_draws_df()`
#'   and the like: objects of the package posterior, with variables such as `alpha`, or `alpha[carrier]` in groups.
#'   Where dynamics were inferred as well, they include the probabilities of their laws, such as
#'   `transition[mci,dementia]`. For a fit under several draws of the dynamics (`uncertainty = "cut"` of [ibrc()]),
#'   chains of one such draw stand next to each other, and an R-hat over all chains means nothing:
#'   [tidy()][tidy.ibrc_fit] has that under each draw. `posterior::rhat()`, `ess_bulk()` and `ess_tail()` of a fit have
#'   one number per variable.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.5), diag_models()), 40, seed = 1)
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             chains = 2, iter = 100, seed = 1, resolution = 20)
#' # The draws themselves, and a look at whether there are enough of them
#' head(as.data.frame(fit))
#' tidy(fit)[c("term", "rhat", "ess_bulk", "ess_tail")]
as.data.frame.ibrc_fit <- function(x, row.names = NULL, optional = FALSE, ...) {
  if (has_population(x)) return(population_frame(x))
  x <- as_reported(x)
  pieces <- lapply(names(x$draws), function(group) {
    draws <- x$draws[[group]]
    n <- dim(draws)
    data.frame(
      .chain = rep(rep(seq_len(n[2]), each = n[1]), n[3]),
      .iteration = rep(seq_len(n[1]), n[2] * n[3]),
      .draw = rep(seq_len(n[1] * n[2]), n[3]),
      group = factor(group, levels = names(x$draws)),
      term = factor(rep(dimnames(draws)[[3]], each = n[1] * n[2]), levels = dimnames(draws)[[3]]),
      value = as.vector(draws)
    )
  })
  do.call(rbind, pieces)
}

#' @rdname as.data.frame.ibrc_fit
#' @importFrom posterior as_draws_array
#' @export
as_draws_array.ibrc_fit <- function(x, ...) {
  x <- if (has_population(x)) reported_population(x) else as_reported(x)
  all <- if (has_population(x)) list(kept_population(x)) else lapply(names(x$draws), function(group) {
    draws <- x$draws[[group]]
    dimnames(draws)[[3]] <- variable_names(x, group)
    draws
  })
  n <- dim(all[[1]])
  if (has_dynamics(x)) {
    laws <- law_draws(x)
    all <- c(all, list(array(laws, c(n[1:2], ncol(laws)), list(NULL, NULL, colnames(laws)))))
  }
  joined <- array(unlist(all), c(n[1], n[2], sum(vapply(all, function(d) dim(d)[3], 0L))))
  dimnames(joined) <- list(NULL, NULL, unlist(lapply(all, function(d) dimnames(d)[[3]])))
  posterior::as_draws_array(joined)
}

# One number per variable, as other packages' fits give them.
of_variables <- function(x, measure) apply(as_draws_array.ibrc_fit(x), 3, measure)

#' @importFrom posterior rhat
#' @rawNamespace S3method(bayesplot::rhat, ibrc_fit)
#' @export
rhat.ibrc_fit <- function(x, ...) of_variables(x, posterior::rhat)

#' @importFrom posterior ess_bulk
#' @export
ess_bulk.ibrc_fit <- function(x, ...) of_variables(x, posterior::ess_bulk)

#' @importFrom posterior ess_tail
#' @export
ess_tail.ibrc_fit <- function(x, ...) of_variables(x, posterior::ess_tail)

#' @rdname as.data.frame.ibrc_fit
#' @importFrom posterior as_draws
#' @export
as_draws.ibrc_fit <- function(x, ...) as_draws_array.ibrc_fit(x)

#' @rdname as.data.frame.ibrc_fit
#' @importFrom posterior as_draws_df
#' @export
as_draws_df.ibrc_fit <- function(x, ...) posterior::as_draws_df(as_draws_array.ibrc_fit(x))

#' @rdname as.data.frame.ibrc_fit
#' @importFrom posterior as_draws_matrix
#' @export
as_draws_matrix.ibrc_fit <- function(x, ...) posterior::as_draws_matrix(as_draws_array.ibrc_fit(x))

#' @rdname as.data.frame.ibrc_fit
#' @importFrom posterior as_draws_list
#' @export
as_draws_list.ibrc_fit <- function(x, ...) posterior::as_draws_list(as_draws_array.ibrc_fit(x))

#' @rdname as.data.frame.ibrc_fit
#' @importFrom posterior as_draws_rvars
#' @export
as_draws_rvars.ibrc_fit <- function(x, ...) posterior::as_draws_rvars(as_draws_array.ibrc_fit(x))
