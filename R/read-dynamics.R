# Fits whose dynamics were inferred as well: what they keep of the laws, and how it is read.
#
#   fit$dynamics   uncertainty ("joint" or "cut") and draws [iteration, chain, term], fractions of the laws

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

# Chains of one draw of the dynamics are to agree with each other; those of others need not. The worst draw counts, and
# draws add up in what they are worth.
within_draws <- function(fit, x, measure, together) {
  if (!identical(fit$dynamics$uncertainty, "cut")) return(measure(x))
  each <- fit$dynamics$chains_per_draw
  parts <- split(seq_len(ncol(x)), (seq_len(ncol(x)) - 1) %/% each)
  together(vapply(parts, function(mine) measure(x[, mine, drop = FALSE]), 0))
}
