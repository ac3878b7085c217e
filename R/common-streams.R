# Random streams: one L'Ecuyer-CMRG stream per chain, so that a chain's noise does
# not depend on which chains run beside it, nor on the number of threads.
#
# R's generator lives in `.Random.seed` of the global environment, and its first
# number also says which kind of generator it is. All random draws here are made inside
# keep_random_state(), which puts the caller's seed back afterwards. It does so even after
# an error or an interrupt, also one that comes while the seed is being put back. A caller who
# had no seed yet (nothing was drawn in the session) has none afterwards either, and keeps the
# kinds of generator chosen before.

# `seed`: a whole number, or NULL. NULL takes a seed from the present generator, which
# then moves on as after one stats::runif(1).
settle_seed <- function(seed = NULL) {
  if (is.null(seed)) as.integer(floor(stats::runif(1) * .Machine$integer.max)) else check_seed(seed)
}

streams_from_seed <- function(seed = NULL, n = 1L) {
  seed <- settle_seed(seed)
  streams <- vector("list", n)
  keep_random_state({
    set.seed(seed, kind = "L'Ecuyer-CMRG", normal.kind = "Inversion", sample.kind = "Rejection")
    stream <- get(".Random.seed", envir = globalenv(), inherits = FALSE)
  })
  for (i in seq_len(n)) {
    streams[[i]] <- stream
    stream <- parallel::nextRNGStream(stream)
  }
  streams
}

keep_random_state <- function(code) {
  seed <- get0(".Random.seed", envir = globalenv(), inherits = FALSE)
  kinds <- if (is.null(seed)) RNGkind()
  # It is restored twice: an interrupt may end the first attempt, and the second still follows.
  on.exit(restore_random_state(seed, kinds))
  inside <- function() {
    on.exit(restore_random_state(seed, kinds))
    force(code)
  }
  inside()
}

restore_random_state <- function(seed, kinds) {
  if (!is.null(seed)) {
    assign(".Random.seed", seed, envir = globalenv())
  } else if (exists(".Random.seed", envir = globalenv(), inherits = FALSE)) {
    # There was no seed that records the kinds, so the kinds are set. That makes a seed, which is removed again.
    # The old "Rounding" gives a warning whenever it is chosen; the caller has seen it already.
    suppressWarnings(RNGkind(kinds[1], kinds[2], kinds[3]))
    rm(".Random.seed", envir = globalenv())
  }
}

# The noise of `n_steps` steps. Every chain draws from its own stream, always in
# the same order and the same amount, whether it is used or not: two samplers that
# make different proposals still meet the same noise. Returns the moved streams and
#   normal      [chains * size, steps]  chains fastest, as a matrix of positions
#   chi_square  [chains, steps]         on `df` degrees of freedom
#   kind, component, log_uniform        [chains, steps]  choose the move, the part of
#                                       a mixture, and whether to accept
draw_noise <- function(streams, n_steps, size, df) {
  n_chains <- length(streams)
  blank <- matrix(0, n_chains, n_steps)
  noise <- list(streams = streams, normal = matrix(0, n_chains * size, n_steps), chi_square = blank,
                kind = blank, component = blank, log_uniform = blank)
  keep_random_state(for (chain in seq_len(n_chains)) {
    assign(".Random.seed", streams[[chain]], envir = globalenv())
    noise$normal[chain + n_chains * (seq_len(size) - 1L), ] <- stats::rnorm(size * n_steps)
    noise$chi_square[chain, ] <- stats::rchisq(n_steps, df)
    noise$kind[chain, ] <- stats::runif(n_steps)
    noise$component[chain, ] <- stats::runif(n_steps)
    noise$log_uniform[chain, ] <- log(stats::runif(n_steps))
    noise$streams[[chain]] <- get(".Random.seed", envir = globalenv(), inherits = FALSE)
  })
  noise
}

# Runs code on a stream of its own, and puts the caller's generator back.
with_stream <- function(stream, code) {
  keep_random_state({
    assign(".Random.seed", stream, envir = globalenv())
    force(code)
  })
}
