# Fits whose dynamics were inferred as well: what they keep of the laws, and how it is read.
#
#   fit$dynamics   uncertainty ("joint" or "cut") and draws [iteration, chain, term], fractions of the laws

# Chains of dynamics and agents together, as draws per group and draws of the laws.
new_joint_fit <- function(chain, job) {
  joint <- job$evaluator$joint
  state <- walk_flush(chain$state)
  n_laws <- length(joint$codec$prior)
  size <- dim(state$draws)
  agents <- array(0, c(size[1], size[2] * joint$n_groups, length(job$inverse$prior)))
  for (g in seq_len(joint$n_groups)) {
    own <- n_laws + (g - 1) * dim(agents)[3] + seq_len(dim(agents)[3])
    agents[, (g - 1) * size[2] + seq_len(size[2]), ] <- state$draws[, , own, drop = FALSE]
  }
  laws <- stats::plogis(state$draws[, , seq_len(n_laws), drop = FALSE])
  dimnames(laws) <- list(NULL, NULL, names(joint$codec$prior))
  state$draws <- agents
  state$log_density_draws <- state$log_density_draws[, rep(seq_len(size[2]), joint$n_groups), drop = FALSE]
  state$n_accepted <- rep(state$n_accepted, joint$n_groups)
  agent <- job$evaluator$agent
  agent$group <- rep(seq_len(joint$n_groups), each = size[2])
  agent$likelihood <- job$evaluator$likelihood
  fit <- new_ibrc_fit(chain, replace(job, "evaluator", list(agent)), state)
  fit$dynamics <- list(uncertainty = "joint", draws = laws)
  fit$recipe$at <- apply(laws, 3, stats::median)
  fit$recipe$vectors <- vectors_of(fit$recipe$codec, matrix(fit$recipe$at, 1))
  swapped <- swapped_draws(fit)
  fit$dynamics$swapped <- swapped
  if (isTRUE(swapped > 0)) {
    warn("states", "In ", format(100 * swapped, digits = 2), "% of the draws the states stand in another order by ",
         "what they show (`sort_by` of fit_iohmm()): they may have changed their meaning on the way. Do not use ",
         "levels of states from these.")
  }
  fit
}

# The share of draws in which the states, sorted as fit_iohmm() does, do not stand in their order; NA: not sorted.
swapped_draws <- function(fit) {
  codec <- fit$recipe$codec
  vectors <- vectors_of(codec, flat_draws(fit$dynamics$draws))
  order <- state_order(codec, vectors)
  if (is.null(order)) return(NA_real_)
  mean(order != state_order(codec, vectors_of(codec, matrix(codec$estimate, 1))))
}

has_dynamics <- function(fit) !is.null(fit$dynamics)

# A row of natural values of one draw of a group, with the laws of that draw where they were inferred.
draw_natural <- function(fit, group, iteration, chain) {
  draws <- fit$draws[[group]]
  row <- matrix(draws[iteration, chain, ], 1, dimnames = list(NULL, dimnames(draws)[[3]]))
  if (!has_dynamics(fit)) return(row)
  laws <- fit$dynamics$draws
  cbind(row, matrix(laws[iteration, chain, ], 1, dimnames = list(NULL, dimnames(laws)[[3]])))
}

# Probabilities of the laws, [draw, entry], with names as coef() of the learned model has them.
law_draws <- function(fit) {
  codec <- fit$recipe$codec
  iohmm <- codec$iohmm
  vectors <- vectors_of(codec, flat_draws(fit$dynamics$draws))
  colnames(vectors) <- entry_names(iohmm)
  # What is certain or impossible is no term.
  moves <- sort(unlist(lapply(codec$rows, function(part) as.vector(part$at))))
  vectors[, moves, drop = FALSE]
}

# One row per probability, beside what was learned without the actions.
tidy_dynamics <- function(fit, conf.level) {
  draws <- law_draws(fit)
  size <- dim(fit$dynamics$draws)
  tail <- (1 - conf.level) / 2
  limits <- apply(draws, 2, stats::quantile, c(0.5, tail, 1 - tail), names = FALSE)
  diagnose <- function(measure) unname(apply(draws, 2, function(x) measure(matrix(x, size[1]))))
  learned <- stats::setNames(law_vector(fit$recipe$codec$iohmm), entry_names(fit$recipe$codec$iohmm))
  data.frame(term = colnames(draws), estimate = limits[1, ], std.error = unname(apply(draws, 2, stats::sd)),
             conf.low = limits[2, ], conf.high = limits[3, ], learned = unname(learned[colnames(draws)]),
             rhat = diagnose(posterior::rhat), ess_bulk = diagnose(posterior::ess_bulk),
             ess_tail = diagnose(posterior::ess_tail))
}

need_dynamics <- function(fit) {
  if (has_dynamics(fit)) return(invisible())
  abort_input("what", "= \"dynamics\" needs a fit whose dynamics were inferred: ibrc() with `dynamics` and ",
              "`uncertainty` = \"joint\" or \"cut\".")
}

# Of a fit with the actions cut off from the dynamics: how much of the variance of each term lies within draws of the
# dynamics and how much between them, on the natural scale.
cut_variance <- function(fit) {
  each <- fit$dynamics$chains_per_draw
  fit <- as_reported(fit)
  rows <- lapply(names(fit$draws), function(group) {
    draws <- fit$draws[[group]]
    size <- dim(draws)
    of_draw <- rep(seq_len(size[2] / each), each = size[1] * each)
    data.frame(term = dimnames(draws)[[3]], group = group, t(apply(draws, 3, function(x) {
      c(within = mean(tapply(x, of_draw, stats::var)), between = stats::var(as.vector(tapply(x, of_draw, mean))))
    })))
  })
  rownames(rows) <- NULL
  out <- do.call(rbind, rows)
  rownames(out) <- NULL
  out$share_between <- out$between / (out$within + out$between)
  out
}

# Chains of one draw of the dynamics are to agree with each other; those of others need not. The worst draw counts, and
# draws add up in what they are worth.
within_draws <- function(fit, x, measure, together) {
  if (!identical(fit$dynamics$uncertainty, "cut")) return(measure(x))
  each <- fit$dynamics$chains_per_draw
  parts <- split(seq_len(ncol(x)), (seq_len(ncol(x)) - 1) %/% each)
  together(vapply(parts, function(mine) measure(x[, mine, drop = FALSE]), 0))
}
