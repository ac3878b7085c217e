# One step ahead: what a fit says about each decision given the history that really came before it, compared with what
# was done. Decisions differ only by their history, so everything here is a sum over the nodes of a tree of histories,
# not over visits.

# Cells with fewer visits are put together with others.
smallest_cell <- 20

# The cell of each history of a group: one label per history for each family of cells. `plan`: whose beliefs count.
history_places <- function(tree, plan) {
  setting <- plan$setting
  two <- length(setting$states) == 2
  reading <- read_histories(plan, tree, beliefs = two)
  seen <- c(setting$observations, "missing")[ifelse(tree$observation < 0, length(setting$observations) + 1L,
                                                    tree$observation + 1L)]
  done <- c(setting$actions, "missing")[ifelse(tree$action < 0, length(setting$actions) + 1L, tree$action + 1L)]
  first <- tree$parent < 0
  list(
    visit = history_depth(tree),
    belief = if (two) belief_bin(reading) else belief_cell(reading$likeliest, reading$surest, setting$states),
    last_action = factor(ifelse(first, "none", done), levels = unique(c("none", setting$actions, done[!first]))),
    last_observation = factor(ifelse(first, "none", seen), levels = unique(c("none", setting$observations, "missing")))
  )
}

# The number of the visit, from 1, at which a history is complete.
history_depth <- function(tree) {
  depth <- integer(tree$n_histories)
  depth[tree$visit] <- sequence(tabulate(trajectory_of(tree)))
  depth
}

# With three states or more: the likeliest one, and in which quarter of its range the belief in it lies.
belief_cell <- function(likeliest, surest, states) {
  lost <- is.na(likeliest)
  lowest <- 1 / length(states)
  quarter <- pmin(pmax(ceiling(4 * (surest - lowest) / (1 - lowest) - 1e-9), 1), 4)
  words <- c("least", "less", "more", "most")
  label <- paste0(states[likeliest], ", ", words[quarter], " sure")
  label[lost] <- "none"
  factor(label, levels = unique(c(t(outer(states, words, paste, sep = ", ")), label)))
}

# The middle of the tenth of its range in which a belief lies: in the second of two states, or else in the likeliest.
belief_bin <- function(reading, n_states = 2) {
  lowest <- if (n_states == 2) 0 else 1 / n_states
  watched <- if (n_states == 2) reading$belief[2, ] else reading$surest
  width <- (1 - lowest) / 10
  bin <- pmin(pmax(ceiling((watched - lowest) / width - 1e-9), 1), 10)
  lowest + (bin - 0.5) * width
}

# Which cells to put together so that each has enough visits: a number from 1 for each of them. Neighbours join where
# cells have an order, all small ones where they have none.
pool_neighbours <- function(size, least = smallest_cell) {
  cell <- integer(length(size))
  at <- 1L
  filled <- 0
  for (k in seq_along(size)) {
    if (filled >= least && sum(size[k:length(size)]) >= least) {
      at <- at + 1L
      filled <- 0
    }
    cell[k] <- at
    filled <- filled + size[k]
  }
  cell
}

pool_small <- function(size, least = smallest_cell) {
  large <- size >= least
  ifelse(large, cumsum(large), sum(large) + 1L)
}

# A family of cells: `cell` (a number from 1) of each row, the history `at` which it stands, how many decisions `n` it
# holds and what was `taken` in them [row, action]. Rows are histories, or visits where histories are not enough.
history_family <- function(tree, cell, n_cells = max(cell)) {
  list(cell = cell, n_cells = n_cells, at = seq_len(tree$n_histories), n = colSums(tree$count), taken = t(tree$count))
}

visit_family <- function(tree, cell, action, n_cells = max(cell)) {
  taken <- matrix(0, length(cell), tree$n_actions)
  counts <- which(tree$scored)
  taken[cbind(counts, action[counts])] <- 1
  list(cell = cell, n_cells = n_cells, at = tree$visit, n = as.numeric(tree$scored), taken = taken)
}

# Sums of rows by cell; a cell without rows has 0.
cell_sums <- function(x, cell, n_cells = max(cell)) {
  found <- rowsum(x, cell)
  out <- matrix(0, n_cells, ncol(found))
  out[as.integer(rownames(found)), ] <- found
  out
}

# For each family: what was done in its cells [cell, action], what the fit expects on average over draws, the variance
# of counts given the law [cell, action, action], and how the expectation varies over draws [draw, cell x action].
one_step_moments <- function(fit, group, chosen, families) {
  tree <- fit$histories[[group]]
  sums_of <- function(law, family) cell_sums(law[family$at, , drop = FALSE] * family$n, family$cell, family$n_cells)
  read <- function(plan) {
    law <- t(exp(read_histories(plan, tree, beliefs = FALSE)$log_policy))
    list(law = law, sums = lapply(families, function(family) as.vector(sums_of(law, family))))
  }
  found <- read_draws(fit, group, chosen, read, reduce = function(so_far, one) {
    list(law = if (is.null(so_far)) one$law else so_far$law + one$law, sums = c(so_far$sums, list(one$sums)))
  })
  law <- found$law / nrow(chosen)
  n_actions <- ncol(law)
  of_draw <- if (is_cut(fit)) dynamics_of_chain(fit, chosen$.chain)
  lapply(stats::setNames(nm = names(families)), function(name) {
    family <- families[[name]]
    fitted <- do.call(rbind, lapply(found$sums, `[[`, name))
    own <- law[family$at, , drop = FALSE]
    n_cells <- family$n_cells
    spread <- array(0, c(n_cells, n_actions, n_actions))
    for (u in seq_len(n_actions)) for (v in seq_len(n_actions)) {
      spread[, u, v] <- cell_sums(family$n * own[, u] * ((u == v) - own[, v]), family$cell, n_cells)
    }
    list(n = as.vector(cell_sums(family$n, family$cell, n_cells)), of_draw = of_draw, rare = rare_events(family, own),
         observed = cell_sums(family$taken, family$cell, n_cells),
         expected = matrix(colMeans(fitted), n_cells), fitted = fitted, spread = spread)
  })
}

# The same with cells put together: `to` has the new number of each.
merge_cells <- function(moments, to) {
  n_cells <- length(moments$n)
  n_actions <- ncol(moments$observed)
  used <- sort(unique(to[moments$n > 0]))
  to <- match(to, used)
  to[is.na(to)] <- 1L
  add <- function(x) cell_sums(as.matrix(x), to, length(used))
  spread <- add(matrix(moments$spread, n_cells))
  by_action <- rep(to, n_actions) + length(used) * rep(seq_len(n_actions) - 1L, each = n_cells)
  list(n = as.vector(add(moments$n)), of_draw = moments$of_draw, observed = add(moments$observed),
       expected = add(moments$expected),
       spread = array(spread, c(length(used), n_actions, n_actions)), rare = moments$rare,
       fitted = t(cell_sums(t(moments$fitted), by_action, length(used) * n_actions)))
}

# All groups together. Their draws are independent, so they can simply be added.
add_moments <- function(one, other) {
  parts <- c("n", "observed", "expected", "spread", "rare", "fitted")
  c(stats::setNames(lapply(parts, function(part) one[[part]] + other[[part]]), parts), one["of_draw"])
}

# How much of the variance of the expectation, [draw, number], was fitted to what was done. Dynamics that were drawn
# without the actions (`of_draw`: which of them each draw has) were not fitted to it: the variance between them makes
# expectations less certain, and what was done is then further away from them, not nearer.
fitted_variance <- function(fitted, of_draw) {
  fitted <- as.matrix(fitted)
  if (is.null(of_draw)) return(stats::cov(fitted))
  centre <- apply(fitted, 2, stats::ave, of_draw)
  m <- length(unique(of_draw))
  within <- crossprod(fitted - centre) / max(1, nrow(fitted) - m)
  within - (stats::cov(centre[!duplicated(of_draw), , drop = FALSE]) - within * m / nrow(fitted))
}

# Actions to which the fit gives almost no chance: how often they were taken, and how often that is expected.
rare_chance <- 0.02
rare_events <- function(family, law) {
  rare <- law < rare_chance
  c(seen = sum(family$taken[rare]), expected = sum((family$n * law)[rare]))
}

# Whether there were more of them than chance would bring. One test for all, since they are too few to be told apart.
rare_test <- function(rare, visits) {
  p <- stats::ppois(rare[["seen"]] - 1, rare[["expected"]], lower.tail = FALSE)
  # As a chi-squared with one degree of freedom, like the others; the limit of a double is enough.
  data.frame(chi_square = stats::qchisq(max(p, 1e-300), 1, lower.tail = FALSE),
             df = as.integer(rare[["seen"]] > 0 || rare[["expected"]] >= 1), cells = 1L,
             gap = max(0, rare[["seen"]] - rare[["expected"]]) / visits)
}

# Is what was done what the fit expects? If the fit is right, counts less expectations have the variance of the counts
# less that of the expectations over draws, since what was fitted cannot differ. (The same is true for residuals of a
# regression: I - H.) Directions that the fit has used up, and those in which hardly anything can happen, are left out.
moment_test <- function(moments, least_count = 4, least_left = 0.2) {
  gap <- as.vector(moments$observed - moments$expected)
  n_cells <- length(moments$n)
  n_actions <- ncol(moments$observed)
  at <- function(cell) cell + n_cells * (seq_len(n_actions) - 1)
  basis <- do.call(cbind, lapply(seq_len(n_cells), function(cell) {
    own <- eigen(matrix(moments$spread[cell, , ], n_actions), symmetric = TRUE)
    use <- which(own$values >= least_count)
    out <- matrix(0, n_cells * n_actions, length(use))
    out[at(cell), ] <- own$vectors[, use, drop = FALSE] %*% diag(1 / sqrt(own$values[use]), length(use))
    out
  }))
  if (is.null(basis) || !ncol(basis)) {
    return(data.frame(chi_square = 0, df = 0L, cells = n_cells, gap = gap_of(moments)))
  }
  known <- crossprod(basis, fitted_variance(moments$fitted, moments$of_draw) %*% basis)
  own <- eigen(diag(ncol(basis)) - known, symmetric = TRUE)
  use <- which(own$values >= least_left)
  score <- crossprod(own$vectors[, use, drop = FALSE], crossprod(basis, gap))
  data.frame(chi_square = sum(score^2 / own$values[use]), df = length(use), cells = n_cells, gap = gap_of(moments))
}

# How much shares differ, as the root of the mean square over visits and actions, without what chance alone brings
# about.
gap_of <- function(moments) {
  n_actions <- ncol(moments$observed)
  chance <- vapply(seq_len(n_actions), function(u) moments$spread[, u, u], numeric(length(moments$n)))
  square <- ((moments$observed - moments$expected)^2 - chance) / moments$n
  sqrt(max(0, sum(square) / n_actions / sum(moments$n)))
}

# How often the last action was taken again: seen, expected, and their difference in standard errors. `moments`: of
# cells by last action, the first of which is "none".
repeat_test <- function(moments) {
  n_cells <- length(moments$n)
  own <- cbind(seq_len(n_cells)[-1], seq_len(n_cells - 1))
  flat <- own[, 1] + n_cells * (own[, 2] - 1)
  n <- sum(moments$n[-1])
  away <- sum(moments$observed[own] - moments$expected[own])
  variance <- sum(moments$spread[cbind(own, own[, 2])])
  left <- variance - drop(fitted_variance(rowSums(moments$fitted[, flat, drop = FALSE]), moments$of_draw))
  # Where repeating was fitted, or can hardly happen, there is nothing to test.
  known <- variance >= 4 && left >= 0.2 * variance
  data.frame(chi_square = if (known) away^2 / left else 0, df = as.integer(known), cells = n_cells - 1L,
             gap = if (n > 0) away / n else 0)
}
