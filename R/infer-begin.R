# Where the chains of a run begin: at points given, at draws from the prior, or where scouts have been.

# `apart`: the chains of each group by themselves, for processes that share nothing. Returns the chain and `start`,
# where it begins, one row per chain, on the natural scale.
begin_chains <- function(evaluator, start, run, sampler, n_values, apart = FALSE) {
  group <- evaluator$group
  n <- length(group)
  streams <- streams_from_seed(run$seed, n + 1 + max(group))
  scouted <- NULL
  if (is.null(start) && scouts_serve(evaluator, run, sampler)) {
    scouted <- scout_groups(evaluator, run, n_values, streams[-seq_len(n + 1)], apart)
  }
  first <- if (is.null(scouted)) start_chains(evaluator, start, n, n_values, streams[[n + 1]]) else
    start_at_scouts(scouted, group)
  chain <- if (apart) {
    list(parts = lapply(unname(split(seq_len(n), group)), function(mine) {
      start_part(first, scouted[group[mine[1]]], streams[mine], group, mine, run, sampler)
    }))
  } else {
    start_part(first, scouted, streams[seq_len(n)], group, seq_len(n), run, sampler)
  }
  list(chain = chain, start = prior_natural(evaluator$prior, first$theta))
}

start_part <- function(first, scouted, streams, group, mine, run, sampler) {
  density <- first$log_density[mine, , drop = FALSE]
  state <- sampler_start(first$theta[mine, , drop = FALSE], function(theta) density, streams, group[mine], run$warmup,
                         run$iter, run$thin, sampler, scouts = scouts_array(scouted))
  list(state = state, value = first$value[, mine, drop = FALSE])
}

# ---- scouts -------------------------------------------------------------------------------

# Too short a warm-up could not use what they find; more terms than they can follow need another way.
scouts_serve <- function(evaluator, run, sampler) {
  sampler == "adaptive" && evaluator$likelihood && run$warmup >= mixture_warmup &&
    length(evaluator$prior) <= most_scouted
}

# More of them for more terms, and fewer where the run is short as well.
scouts_for <- function(size, warmup) {
  as.integer(round(min(1, warmup / 1000) * min(most_scouts, scouts_per_term * (size + 1))))
}

# Scouts of every group, in order; NULL if in some group none could be sent.
scout_groups <- function(evaluator, run, n_values, streams, apart) {
  n <- scouts_for(length(evaluator$prior), run$warmup)
  pieces <- lapply(seq_along(streams), function(g) {
    c(part_piece(NULL, evaluator, g, 0L, apart), list(stream = streams[[g]], n = n, n_values = n_values,
                                                      refresh = if (apart) 0L else run$refresh))
  })
  scouted <- tryCatch(spread(pieces, scout_piece, apart), interrupt = function(condition) {
    abort("interrupted", "The run was interrupted before its first step, while it looked for the posterior: there are ",
          "no draws to return.")
  })
  if (any(vapply(scouted, is.null, NA))) NULL else scouted
}

scout_piece <- function(piece) {
  evaluator <- piece$evaluator
  points <- with_stream(piece$stream, prior_draw(evaluator$prior, piece$n))
  look <- if (piece$refresh > 0) function(weight) say_scouts(weight)
  scout(function(theta, value) evaluate_batch(evaluator, theta, value, rep(1L, nrow(theta))), points,
        piece$n_values, parallel::nextRNGSubStream(piece$stream), look)
}

say_scouts <- function(weight) {
  tell(message("looking for the posterior: the data have ", if (weight < 1) paste(signif(100 * weight, 2), "% of"),
               if (weight == 1) "all", " their weight"))
}

# As many of each group's scouts as it has chains, evenly apart in their order, which is that of the prior's draws.
start_at_scouts <- function(scouted, group) {
  rows <- lapply(seq_along(scouted), function(g) {
    n <- sum(group == g)
    round((seq_len(n) - 0.5) / n * nrow(scouted[[g]]$theta) + 0.5)
  })
  taken <- Map(take_scouts, scouted, rows)
  list(theta = do.call(rbind, lapply(taken, `[[`, "theta")),
       log_density = do.call(rbind, lapply(taken, function(one) cbind(one$log_prior, one$log_likelihood))),
       value = do.call(cbind, lapply(taken, `[[`, "value")))
}

# [scout, size, 3, group]: scouts, where they were at the wide weight, and the points of patches, filled up with NA.
scouts_array <- function(scouted) {
  if (is.null(scouted)) return(NULL)
  size <- dim(scouted[[1]]$theta)
  filled <- lapply(scouted, function(one) {
    patches <- matrix(NA_real_, size[1], size[2])
    patches[seq_len(NROW(one$patches)), ] <- one$patches
    list(one$theta, one$wide, patches)
  })
  array(unlist(filled), c(size, 3L, length(scouted)))
}
