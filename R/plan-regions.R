# The exact regions in which each action is the likeliest, on a lattice of two or three states. The
# scores that decide which action is likeliest are linear on each cell, so the regions are polygons.

# One score per node and action, [node, action]. The action with the largest score is the likeliest. Scores
# are linear between nodes, as the plan itself is read.
node_scores <- function(plan) {
  if (!plan$by_value) return(t(plan$solution$policy))
  worth <- t(plan$solution$action_value)
  prior <- unname(plan$problem$action_prior)
  alpha <- plan$problem$alpha
  if (is.infinite(alpha)) return(matrix(prior, nrow(worth), length(prior), byrow = TRUE))
  # Scores are scaled by alpha, which keeps precision as alpha goes to 0. Excluded actions stay below all others.
  score <- if (1 / alpha > 0) worth else -worth
  habit <- abs(alpha) * log(prior)
  habit[prior == 0] <- -1 - 2 * max(abs(worth))
  sweep(score, 2, habit, `+`)
}

# Regions as rows: piece, action, and one column per state. The boundary between regions has two
# rows per piece (one row if there are two states) with action NA. `part` says which is which. `score`: other scores at
# the nodes.
decision_regions <- function(plan, score = node_scores(plan)) {
  divide <- if (length(plan$setting$states) == 2) interval_regions else triangle_regions
  found <- divide(score, plan$space)
  beliefs <- found$at
  colnames(beliefs) <- plan$setting$states
  data.frame(part = found$part, piece = found$piece, beliefs,
             action = name_actions(found$action, plan$setting), check.names = FALSE)
}

# Two states: within one step of the lattice, any two lines cross at most once.
interval_regions <- function(score, space) {
  score <- score[nodes_in_line(space), , drop = FALSE]
  cuts <- lapply(seq_len(nrow(score) - 1), function(i) {
    from <- score[i, ]
    slope <- score[i + 1, ] - from
    cross <- outer(from, from, `-`) / -outer(slope, slope, `-`)
    cross <- cross[is.finite(cross) & cross > 0 & cross < 1]
    place_in_line(space, i, c(0, cross))
  })
  at <- sort(unique(c(unlist(cuts), 1)))
  middle <- (at[-1] + at[-length(at)]) / 2
  on <- step_in_line(space, middle)
  best <- max.col(score[on$step, , drop = FALSE] * (1 - on$share) + score[on$step + 1, , drop = FALSE] * on$share,
                  "first")
  run <- rle(best)
  last <- cumsum(run$lengths)
  first <- last - run$lengths + 1
  ends <- as.vector(rbind(at[first], at[last + 1]))
  inner <- at[last[-length(last)] + 1]
  second <- c(ends, inner)
  list(part = rep(c("region", "boundary"), c(length(ends), length(inner))),
       piece = c(rep(seq_along(last), each = 2), seq_along(inner)),
       action = c(rep(run$values, each = 2), rep(NA_integer_, length(inner))), at = cbind(1 - second, second))
}

# Three states: neighbouring cells of a row that belong to one action are joined into one strip.
triangle_regions <- function(score, space) {
  nodes <- node_beliefs(space)
  cells <- triangle_cells(space)
  b <- cells$row
  p <- cells$place
  corner <- cells$corner
  best <- max.col(score, ties.method = "first")
  won <- matrix(best[corner], ncol = 3)
  plain <- won[, 1] == won[, 2] & won[, 1] == won[, 3]

  key <- paste(b, ifelse(plain, won[, 1], -seq_along(b)))
  run <- rle(key)
  last <- cumsum(run$lengths)
  first <- last - run$lengths + 1
  whole <- plain[first]
  strips <- strip_corners(space, p[first][whole], p[last][whole] + 1, b[first][whole])
  split <- lapply(which(!plain), function(i) {
    split_cell(score[corner[i, ], , drop = FALSE], unname(nodes[corner[i, ], 2:3]))
  })
  join_regions(strips, won[first, 1][whole], unlist(lapply(split, `[[`, "polygons"), recursive = FALSE),
               unlist(lapply(split, `[[`, "actions")), do.call(rbind, lapply(split, `[[`, "edges")))
}

# Cuts one cell into the parts in which each action has the highest score. `corners`: probabilities of the second and
# third state. Edges are rows x1, y1, x2, y2.
split_cell <- function(score, corners) {
  blur <- 1e-12 * max(abs(score))
  out <- list(polygons = list(), actions = integer(), edges = matrix(0, 0, 4))
  for (action in seq_len(ncol(score))) {
    shape <- cbind(corners, diag(3))
    for (other in seq_len(ncol(score))[-action]) shape <- clip_shape(shape, score[, action] - score[, other])
    if (nrow(shape) < 3) next
    lead <- shape[, 3:5] %*% (score[, action] - score)
    # If actions tie in the whole cell, it belongs to the first of them.
    if (any(colMeans(lead)[seq_len(action - 1)] <= blur)) next
    out$polygons <- c(out$polygons, list(shape[, 1:2]))
    out$actions <- c(out$actions, action)
    rivals <- which(colMeans(lead) > blur)
    out$edges <- rbind(out$edges, contested_edges(shape, lead[, rivals, drop = FALSE], 1e-9 * max(abs(score))))
  }
  out
}

# Keeps the part of a convex shape in which a linear function is not negative. The function is given at the
# cell's three corners. Rows: x, y and the weights of those corners.
clip_shape <- function(shape, gap) {
  if (!nrow(shape)) return(shape)
  here <- as.vector(shape[, 3:5, drop = FALSE] %*% gap)
  after <- c(seq_len(nrow(shape))[-1], 1)
  kept <- lapply(seq_len(nrow(shape)), function(i) {
    j <- after[i]
    cross <- if (here[i] * here[j] < 0) shape[i, ] + here[i] / (here[i] - here[j]) * (shape[j, ] - shape[i, ])
    rbind(if (here[i] >= 0) shape[i, ], cross)
  })
  out <- do.call(rbind, kept)
  if (is.null(out)) shape[0, , drop = FALSE] else out
}

# Edges of a shape along which its action ties with another one.
contested_edges <- function(shape, lead, blur) {
  after <- c(seq_len(nrow(shape))[-1], 1)
  tied <- rowSums(lead <= blur & lead[after, , drop = FALSE] <= blur) > 0
  edges <- cbind(shape[, 1:2, drop = FALSE], shape[after, 1:2, drop = FALSE])
  long <- abs(edges[, 1] - edges[, 3]) + abs(edges[, 2] - edges[, 4]) > 1e-9
  edges[tied & long, , drop = FALSE]
}

# Both sides of a boundary have the same edges. Each is kept once.
unique_edges <- function(edges) {
  swap <- edges[, 1] > edges[, 3] + 1e-9 | abs(edges[, 1] - edges[, 3]) <= 1e-9 & edges[, 2] > edges[, 4]
  edges[swap, ] <- edges[swap, c(3, 4, 1, 2)]
  edges[!duplicated(round(edges, 8)), , drop = FALSE]
}

join_regions <- function(strips, strip_action, polygons, polygon_action, edges) {
  size <- c(rep(4L, length(strip_action)), vapply(polygons, nrow, 0L))
  points <- do.call(rbind, c(list(strips), polygons))
  ends <- if (length(edges)) matrix(t(unique_edges(edges)), ncol = 2, byrow = TRUE) else matrix(0, 0, 2)
  tail <- unname(rbind(points, ends))
  n_edges <- nrow(ends) / 2
  list(part = rep(c("region", "boundary"), c(nrow(points), nrow(ends))),
       piece = c(rep(seq_along(size), size), rep(seq_len(n_edges), each = 2)),
       action = c(rep(c(strip_action, polygon_action), size), rep(NA_integer_, nrow(ends))),
       at = cbind(1 - rowSums(tail), tail))
}
