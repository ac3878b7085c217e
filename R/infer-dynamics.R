# The laws of learned dynamics as terms: every row of start, transition and emission is a simplex, broken like a stick
# (infer-simplex.R). Under the Dirichlet priors of iohmm_prior() the fractions are independent with beta priors, so that
# laws are ordinary terms on the scale of a logit; what is impossible stays so, and shared transitions are one matrix.
#
# A codec says how terms and laws go together. Laws are laid out in one vector: start [state, group], transition
# [from, to, action] (one matrix where actions share it) and emission [to, observation, action].
#
#   iohmm      the fit that the laws come from, without its data
#   size       states, observations, actions, starts
#   rows       list by length of a row: `at` [row, entry] where its entries stand, `columns` [row, entry - 1] the terms
#   length     of the vector of laws
#   prior      the terms: an ibrc_prior
#   estimate   the fit's own laws, as fractions

new_codec <- function(iohmm) {
  size <- c(dim(iohmm$emission), nrow(start_matrix(iohmm)))
  names(size) <- c("states", "observations", "actions", "starts")
  rows <- simplex_rows(iohmm, size)
  width <- lengths(lapply(rows, `[[`, "at"))
  rows <- rows[width > 1]
  width <- width[width > 1]
  ends <- cumsum(width - 1)
  columns <- Map(function(end, n) end - n + seq_len(n), ends, width - 1)
  by_width <- lapply(unname(split(seq_along(rows), width)), function(mine) {
    list(at = do.call(rbind, lapply(rows[mine], `[[`, "at")), columns = do.call(rbind, columns[mine]))
  })
  entries <- unlist(lapply(rows, row_entries), recursive = FALSE)
  codec <- list(iohmm = without_visits(iohmm), size = size, rows = by_width,
                certain = as.vector(law_vector(iohmm)), prior = new_ibrc_prior(entries))
  codec$estimate <- fractions_of(codec, iohmm)
  codec
}

# The argument of a function `setting` that learned dynamics come by: its first.
dynamics_argument <- function(setting, iohmm) {
  if (!is.null(iohmm)) c(if (is.function(setting)) names(formals(setting))[1], "dynamics")[1]
}

without_visits <- function(iohmm) {
  iohmm["coded"] <- list(NULL)
  iohmm
}

law_vector <- function(laws) {
  start <- if (is.matrix(laws$start)) t(laws$start) else laws$start
  transition <- laws$transition
  if (isTRUE(laws$shared)) transition <- transition[, , 1]
  c(as.vector(start), as.vector(transition), as.vector(laws$emission))
}

# One list per row: law, where its entries stand, what they are called, and the numbers of its Dirichlet prior.
simplex_rows <- function(iohmm, size) {
  S <- size[["states"]]
  X <- size[["observations"]]
  prior <- iohmm$prior
  starts <- lapply(seq_len(size[["starts"]]), function(g) {
    whose <- if (has_starts(iohmm)) paste0(start_groups(iohmm)[g], ",")
    list(at = S * (g - 1) + seq_len(S), name = paste0("start[", whose, iohmm$states, "]"),
         shape = rep(1 + prior$start, S))
  })
  before <- S * size[["starts"]]
  matrices <- if (iohmm$shared) 1L else seq_len(size[["actions"]])
  moves <- expand.grid(from = seq_len(S), action = matrices)
  transitions <- Map(function(from, action) {
    last <- if (!iohmm$shared) paste0(",", iohmm$actions[action])
    list(at = before + from + S * (seq_len(S) - 1) + S^2 * (action - 1),
         name = paste0("transition[", iohmm$states[from], ",", iohmm$states, last, "]"),
         shape = 1 + prior$transition + prior$stay * (seq_len(S) == from))
  }, moves$from, moves$action)
  before <- before + S^2 * length(matrices)
  shows <- expand.grid(to = seq_len(S), action = seq_len(size[["actions"]]))
  emissions <- Map(function(to, action) {
    can <- which(iohmm$possible[action, ])
    list(at = before + to + S * (can - 1) + S * X * (action - 1),
         name = paste0("emission[", iohmm$states[to], ",", iohmm$observations[can], ",", iohmm$actions[action], "]"),
         shape = unname(1 + prior$emission[action, can]))
  }, shows$to, shows$action)
  c(starts, transitions, emissions)
}

# Terms of one row: the first fraction is a probability itself, the others are shares of what is left.
row_entries <- function(row) {
  n <- length(row$at)
  terms <- ifelse(seq_len(n) == 1, row$name, sub("]$", "|rest]", row$name))
  lapply(seq_len(n - 1), function(i) {
    new_prior_entry(terms[i], "beta", c(shape1 = row$shape[i], shape2 = sum(row$shape[-seq_len(i)])),
                    label = paste0("dirichlet(", paste(unique(as_text(row$shape)), collapse = ", "), ")"))
  })
}

# EM may leave a probability at 0, which a logit cannot reach.
least_probability <- 1e-4

# The laws of a fit, or of a draw from its posterior, as one row of fractions.
fractions_of <- function(codec, laws) {
  laws$shared <- codec$iohmm$shared
  vector <- law_vector(laws)
  out <- numeric(length(codec$prior))
  for (part in codec$rows) {
    p <- pmax(matrix(vector[part$at], nrow(part$at)), least_probability)
    out[part$columns] <- to_sticks(p / rowSums(p))
  }
  out
}

# fractions [row, term] to laws [row, entry].
vectors_of <- function(codec, fractions) {
  n <- nrow(fractions)
  out <- matrix(codec$certain, n, length(codec$certain), byrow = TRUE)
  for (part in codec$rows) {
    sticks <- matrix(fractions[, part$columns], n * nrow(part$at))
    out[, part$at] <- from_sticks(sticks)
  }
  out
}

# One such vector as the laws of a fit, which functions of learned dynamics take.
dynamics_at <- function(codec, vector) {
  out <- codec$iohmm
  out[law_names] <- laws_from(codec, vector)
  out
}

law_names <- c("transition", "emission", "start")

# The laws alone, with the names that they have in the fit.
laws_from <- function(codec, vector) {
  out <- codec$iohmm[law_names]
  n_states <- codec$size[["states"]]
  n_start <- n_states * codec$size[["starts"]]
  n_moves <- n_states^2 * (if (codec$iohmm$shared) 1 else codec$size[["actions"]])
  start <- vector[seq_len(n_start)]
  out$start[] <- if (is.matrix(out$start)) t(matrix(start, n_states)) else start
  out$transition[] <- vector[n_start + seq_len(n_moves)]
  out$emission[] <- vector[-seq_len(n_start + n_moves)]
  out
}

# log p(fractions), on the scale of their logits; theta [row, term].
log_law_density <- function(codec, theta) {
  shape <- prepared_codec(codec)$shape
  t <- t.default(theta)
  # A logit of 700 is a probability that no double can tell from 1.
  each <- shape[, 1] * stats::plogis(t, log.p = TRUE) + shape[, 2] * stats::plogis(-t, log.p = TRUE)
  out <- .colSums(each, nrow(t), ncol(t)) - sum(lbeta(shape[, 1], shape[, 2]))
  out[!is.finite(out) | .colSums(abs(t) > 700, nrow(t), ncol(t)) > 0] <- -Inf
  out
}

# With what a density asks for at every step: the numbers of beta priors [term, 2], and the prior as kernels read it.
prepared_codec <- function(codec) {
  if (!is.null(codec$kernel_prior)) return(codec)
  codec$shape <- t(vapply(codec$prior, function(entry) unname(entry$args), numeric(2)))
  codec$kernel_prior <- prior_for_kernel(codec$iohmm$prior, codec$iohmm$possible, codec$iohmm$shared)
  codec
}

# Log-likelihoods of what was seen, of laws [row, entry], on the tree of the visits that the dynamics were learned from.
observation_log_lik <- function(codec, tree, vectors, cores) {
  size <- codec$size
  n <- nrow(vectors)
  t <- t.default(vectors)
  n_start <- size[["states"]] * size[["starts"]]
  n_emission <- prod(size[c("states", "observations", "actions")])
  moves <- t[n_start + seq_len(nrow(t) - n_start - n_emission), , drop = FALSE]
  if (codec$iohmm$shared) moves <- moves[rep(seq_len(nrow(moves)), size[["actions"]]), , drop = FALSE]
  laws <- list(n_states = size[["states"]], n_actions = size[["actions"]], n_obs = size[["observations"]],
               start = t[seq_len(n_start), , drop = FALSE], transition = moves,
               emission = t[nrow(t) - n_emission + seq_len(n_emission), , drop = FALSE])
  # One step that is the last of its budget looks at laws and leaves them.
  found <- .Call(ffi_iohmm_em, tree, laws, prepared_codec(codec)$kernel_prior, rep(NA_real_, n), 1L, 1L, 0, cores)
  found$log_lik[found$code != 0L | !is.finite(found$log_lik)] <- -Inf
  found$log_lik
}

# Draws in which another matching of states is nearer to what the learned states show than each with itself is: so it is
# told where nothing was sorted by. A better matching is a way round some states whose costs are negative in sum.
changed_places <- function(codec, vectors) {
  n <- codec$size[["states"]]
  learned <- emissions_of(codec, matrix(law_vector(codec$iohmm), 1))
  shown <- emissions_of(codec, vectors)
  taken <- apply(codec$iohmm$counts$transition, 3, sum)
  weight <- rep(taken / sum(taken), each = codec$size[["observations"]])
  cost <- array(0, c(n, n, nrow(vectors)))
  for (i in seq_len(n)) for (j in seq_len(n)) {
    cost[i, j, ] <- colSums(weight * (matrix(shown[i, , , ], length(weight)) - as.vector(learned[j, , , 1]))^2)
  }
  own <- vapply(seq_len(n), function(i) cost[i, i, ], numeric(nrow(vectors)))
  for (j in seq_len(n)) cost[, j, ] <- cost[, j, ] - t(matrix(own, nrow(vectors)))
  for (k in seq_len(n)) for (i in seq_len(n)) for (j in seq_len(n)) {
    cost[i, j, ] <- pmin(cost[i, j, ], cost[i, k, ] + cost[k, j, ])
  }
  around <- vapply(seq_len(n), function(i) cost[i, i, ] < -1e-12, logical(nrow(vectors)))
  rowSums(matrix(around, nrow(vectors))) > 0
}

# [state, observation, action, row] of laws [row, entry].
emissions_of <- function(codec, vectors) {
  size <- codec$size[c("states", "observations", "actions")]
  n <- prod(size)
  array(t.default(vectors[, ncol(vectors) - n + seq_len(n), drop = FALSE]), c(size, nrow(vectors)))
}

# The order of states by what they show, as fit_iohmm() sorts them: a draw in which it differs may have swapped them.
state_order <- function(codec, vectors) {
  scores <- codec$iohmm$scores
  if (is.null(scores)) return(NULL)
  emission <- emissions_of(codec, vectors)
  # Actions count as often as they were taken.
  taken <- apply(codec$iohmm$counts$transition, 3, sum)
  shown <- apply(emission, c(1, 2, 4), function(x) sum(x * taken))
  scored <- !is.na(scores)
  apply(shown, 3, function(one) {
    mean <- (one[, scored, drop = FALSE] %*% scores[scored]) / rowSums(one[, scored, drop = FALSE])
    paste(order(mean), collapse = " ")
  })
}
