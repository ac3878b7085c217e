# Fits whose dynamics were inferred as well: what they keep of the laws, and how it is read.
#
#   fit$dynamics   uncertainty ("joint" or "cut") and draws [iteration, chain, term], fractions of the laws

# The share of draws in which the states, sorted as in fit_iohmm(), do not stand in their order; if they were not
# sorted, in which other learned states are nearer to them.
swapped_draws <- function(fit) {
  codec <- fit$recipe$codec
  vectors <- vectors_of(codec, flat_draws(fit$dynamics$draws))
  order <- state_order(codec, vectors)
  if (is.null(order)) return(mean(changed_places(codec, vectors)))
  mean(order != state_order(codec, vectors_of(codec, matrix(codec$estimate, 1))))
}

has_dynamics <- function(fit) !is.null(fit$dynamics)

# With the actions cut off from the dynamics: chains of one draw of the dynamics stand next to each other.
is_cut <- function(fit) identical(fit$dynamics$uncertainty, "cut")

# The draws of the dynamics over which a cut fit is pooled, and the one to which each chain belongs.
n_cut_draws <- function(fit) dim(fit$dynamics$draws)[2] %/% fit$dynamics$chains_per_draw
dynamics_of_chain <- function(fit, chain) (chain - 1L) %/% fit$dynamics$chains_per_draw + 1L

# One problem per draw of the dynamics.
problems_of_cut <- function(fit, cores = 1L) {
  laws <- fit$dynamics$draws
  first <- 1L + fit$dynamics$chains_per_draw * (seq_len(n_cut_draws(fit)) - 1L)
  problems_at_laws(fit$recipe, matrix(laws[1, first, ], length(first)), fit$problem, cores)
}

# The laws [draw, entry] of the draws taken, in the form of the kernels.
laws_at <- function(fit, chosen) {
  vectors_of(fit$recipe$codec, flat_draws(fit$dynamics$draws)[chosen$.draw, , drop = FALSE])
}

# An evaluator whose rows have their own laws, one after the other.
with_laws <- function(evaluator, laws) {
  evaluator$recipe[c("vectors", "which")] <- list(laws, seq_len(nrow(laws)))
  evaluator
}

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
  # A certain or impossible event is not a term.
  moves <- sort(unlist(lapply(codec$rows, function(part) as.vector(part$at))))
  vectors[, moves, drop = FALSE]
}

# One row per probability, beside what was learned without the actions.
tidy_dynamics <- function(fit, conf.level) {
  draws <- law_draws(fit)
  size <- dim(fit$dynamics$draws)
  tail <- (1 - conf.level) / 2
  limits <- apply(draws, 2, stats::quantile, c(0.5, tail, 1 - tail), names = FALSE)
  # Draws of the dynamics that were made beforehand have no chains to compare.
  mixing <- if (is_cut(fit)) matrix(NA_real_, ncol(draws), 3, dimnames = list(NULL, mixing_names)) else
    mixing_of(array(draws, c(size[1:2], ncol(draws))))
  learned <- stats::setNames(law_vector(fit$recipe$codec$iohmm), entry_names(fit$recipe$codec$iohmm))
  data.frame(term = colnames(draws), estimate = limits[1, ], std.error = unname(apply(draws, 2, stats::sd)),
             conf.low = limits[2, ], conf.high = limits[3, ], learned = unname(learned[colnames(draws)]), mixing,
             row.names = NULL)
}

# The numbers may be as small as 1e-28; then all would be printed in scientific form.
#' @export
print.ibrc_laws <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits", most = 15)
  table <- as.data.frame(x)
  laws <- intersect(c("estimate", "conf.low", "conf.high", "learned", "std.error"), names(table))
  table[laws] <- lapply(table[laws], law_text, digits)
  table <- diagnostics_text(table)
  # The verdict stands beside the numbers that it is about, even where the rest does not fit on the line.
  first <- intersect(c("term", setdiff(laws, "std.error"), "verdict"), names(table))
  print(table[c(first, setdiff(names(table), first))], row.names = FALSE)
  invisible(x)
}

#' @export
as.data.frame.ibrc_laws <- function(x, ...) {
  class(x) <- "data.frame"
  x
}

# How chains went, as text: columns of a table that has them.
diagnostics_text <- function(table) {
  shown <- list(rhat = rhat_text, ess_bulk = draws_text, ess_tail = draws_text, ess = draws_text,
                contraction = contraction_text)
  for (column in intersect(names(shown), names(table))) table[[column]] <- shown[[column]](table[[column]])
  table
}

# "0.850", and "< 0.001" for small numbers above 0.
law_text <- function(x, digits) {
  least <- 10^-digits
  text <- formatC(x, digits, format = "f", decimal.mark = ".")
  ifelse(!is.na(x) & x > 0 & x < least, paste0("< ", formatC(least, digits, format = "f", decimal.mark = ".")), text)
}

need_dynamics <- function(fit) {
  if (has_dynamics(fit)) return(invisible())
  abort_input("what", "= \"dynamics\" needs a fit whose dynamics were inferred: ibrc() with `dynamics` and ",
              "`uncertainty` = \"joint\" or \"cut\".")
}

# Chains of one draw of the dynamics have to agree with each other; those of different draws need not. The worst draw
# counts, and the effective numbers of draws add up.
within_draws <- function(fit, x, measure, together) {
  if (!is_cut(fit)) return(measure(x))
  each <- fit$dynamics$chains_per_draw
  parts <- split(seq_len(ncol(x)), (seq_len(ncol(x)) - 1) %/% each)
  together(vapply(parts, function(mine) measure(x[, mine, drop = FALSE]), 0))
}

# The same for all three measures of mixing_of().
mixing_within <- function(fit, draws) {
  if (!is_cut(fit)) return(mixing_of(draws))
  chains <- seq_len(dim(draws)[2])
  parts <- lapply(split(chains, (chains - 1) %/% fit$dynamics$chains_per_draw), function(mine) {
    mixing_of(draws[, mine, , drop = FALSE])
  })
  out <- Reduce(`+`, parts)
  out[, "rhat"] <- do.call(pmax, lapply(unname(parts), function(part) part[, "rhat"]))
  out
}

# Laws on which chains do not agree, or that have few independent draws, in a table of tidy_dynamics().
most_law_rhat <- 1.05
least_law_draws <- 100
unmixed_laws <- function(table) {
  least <- pmin(table$ess_bulk, table$ess_tail)
  is.na(table$rhat) | table$rhat > most_law_rhat | is.na(least) | least < least_law_draws
}

# How to get more draws: a fit that is pooled over draws of the dynamics cannot be extended.
go_on_words <- function(fit, times = 1) {
  if (is_cut(fit)) return(paste0("fit again with iter = ", (times + 1) * fit$run$iter))
  paste0("go on with extend_fit(fit, iter = ", times * fit$run$iter, ")")
}
