# Spaces of beliefs: which beliefs are nodes, and where any belief lies between them. What kernels call a space
# (src/space.h) is a plain list here. No other file knows how beliefs are arranged.
#
#   kind        "lattice": all beliefs whose entries are multiples of 1 / resolution
#               "vertices": the states themselves, for a setting in which the state is seen
#   n_states, resolution, and n_nodes, which is a double: there may be more than an integer can hold
#   states      their names; and for a lattice
#   nodes       [node, state], after open_space() has filled them in

lattice_space <- function(n_states, resolution) new_space("lattice", n_states, resolution)

vertices_space <- function(n_states) new_space("vertices", n_states, 1)

new_space <- function(kind, n_states, resolution) {
  space <- list(kind = kind, n_states = as.integer(n_states), resolution = as.integer(resolution))
  space$n_nodes <- .Call(ffi_space_count, space)
  space
}

is_vertices <- function(space) space$kind == "vertices"

# The space with its nodes. It is opened only after it is known that they fit into memory. Vertices need no nodes.
open_space <- function(space, states) {
  space$states <- states
  if (is_vertices(space)) return(space)
  space$nodes <- node_beliefs(space)
  colnames(space$nodes) <- states
  space
}

# [node, state]. If there are many vertices, they are made some at a time.
node_beliefs <- function(space, nodes = NULL) {
  if (!is_vertices(space)) return(t(.Call(ffi_space_nodes, space)))
  if (is.null(nodes)) nodes <- seq_len(space$n_states)
  out <- matrix(0, length(nodes), space$n_states)
  out[cbind(seq_along(nodes), nodes)] <- 1
  out
}

# What a utility [state, action] is worth on average at each node, [node, action].
expect_at_nodes <- function(space, utility) if (is_vertices(space)) utility else space$nodes %*% utility

# How many numbers a matrix of beliefs may hold when a function is called with it.
beliefs_at_once <- 1e6

# `f` of a matrix of beliefs, one row per belief, at all nodes: a vector or a matrix of rows.
at_nodes <- function(space, f) {
  if (!is_vertices(space)) return(f(space$nodes))
  pieces <- in_pieces(seq_len(space$n_states), max(1, beliefs_at_once %/% space$n_states))
  parts <- lapply(pieces, function(nodes) {
    beliefs <- node_beliefs(space, nodes)
    colnames(beliefs) <- space$states
    f(beliefs)
  })
  if (length(parts) == 1) return(parts[[1]])
  if (is.null(dim(parts[[1]]))) unlist(parts, use.names = FALSE) else do.call(rbind, parts)
}

# Corner nodes and weights of beliefs, both [corner, belief].
locate <- function(space, beliefs) .Call(ffi_space_locate, space, t(beliefs))

# values: [node] or [k, node]. Returns [belief] or [belief, k]. Without beliefs, it returns the values at the nodes.
interpolate_at <- function(space, values, beliefs) {
  if (is.null(beliefs)) return(if (is.null(dim(values))) values else unname(t(values)))
  corners <- locate(space, beliefs)
  if (is.null(dim(values))) return(colSums(corners$weight * array(values[corners$node], dim(corners$node))))
  out <- apply(values, 1, function(v) {
    colSums(corners$weight * array(v[corners$node], dim(corners$node)))
  })
  matrix(out, ncol(corners$node), nrow(values))
}

# ---- cells, for pictures of two or three states ---------------------------------------------------------------------

# The nodes of two states, in the order of the second state's probability.
nodes_in_line <- function(space) order(node_beliefs(space)[, 2])

# The second state's probability at a share of the way through a step from one such node to the next. Steps are counted
# from 1.
place_in_line <- function(space, step, share) (step - 1 + share) / space$resolution

# The other way round: the step in which a probability lies, and the share of the way.
step_in_line <- function(space, at) {
  n <- space$resolution
  before <- pmin(floor(at * n), n - 1)
  list(step = before + 1, share = at * n - before)
}

# The triangles of three states, in rows of equal probability of the third. In a row, cell `place` lies between edges
# `place` and `place` + 1; edge q runs from second-state index ceiling(q / 2) at the bottom to floor(q / 2) at the top.
# `corner` [cell, 3] are its nodes, `row` counts from 0.
triangle_cells <- function(space) {
  n <- space$resolution
  index <- matrix(0L, n + 1, n + 1)
  index[round(node_beliefs(space)[, 2:3] * n) + 1] <- seq_len(space$n_nodes)
  rows <- 0:(n - 1)
  row <- rep(rows, 2 * (n - rows) - 1)
  place <- sequence(2 * (n - rows) - 1) - 1L
  turned <- place %% 2
  a <- place %/% 2
  list(row = row, place = place,
       corner = cbind(index[cbind(a + turned, row) + 1], index[cbind(a + 1 - turned, row + turned) + 1],
                      index[cbind(a + turned, row + 1) + 1]))
}

# Corners of strips of such cells, each within one row, from an edge to another: probabilities of the second and third
# state, four rows per strip.
strip_corners <- function(space, from, to, row) {
  second <- rbind(ceiling(from / 2), ceiling(to / 2), floor(to / 2), floor(from / 2)) / space$resolution
  third <- rbind(row, row, row + 1, row + 1) / space$resolution
  cbind(as.vector(second), as.vector(third))
}
