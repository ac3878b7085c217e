# Spaces of beliefs: which beliefs are nodes, and where any belief lies between them. What kernels call a space
# (src/space.h) is a plain list here; nobody else knows how beliefs are laid out.
#
#   kind        "lattice"
#   n_states, resolution, and n_nodes, a double: there may be more than an integer holds
#   nodes       [node, state], once open_space() has filled it in

lattice_space <- function(n_states, resolution) {
  space <- list(kind = "lattice", n_states = as.integer(n_states), resolution = as.integer(resolution))
  space$n_nodes <- .Call(ffi_space_count, space)
  space
}

# With its nodes, their columns named: not before it is known that they can be had.
open_space <- function(space, states) {
  space$nodes <- node_beliefs(space)
  colnames(space$nodes) <- states
  space
}

# [node, state]
node_beliefs <- function(space) t(.Call(ffi_space_nodes, space))

# What a utility [state, action] is worth on average at each node, [node, action].
expect_at_nodes <- function(space, utility) space$nodes %*% utility

# `f` of a matrix of beliefs, at all nodes.
at_nodes <- function(space, f) f(space$nodes)

# Corner nodes and weights of beliefs, both [corner, belief].
locate <- function(space, beliefs) .Call(ffi_space_locate, space, t(beliefs))

# values: [node] or [k, node]; returns [belief] or [belief, k].
interpolate_at <- function(space, values, beliefs) {
  corners <- locate(space, beliefs)
  if (is.null(dim(values))) return(colSums(corners$weight * array(values[corners$node], dim(corners$node))))
  out <- apply(values, 1, function(v) {
    colSums(corners$weight * array(v[corners$node], dim(corners$node)))
  })
  matrix(out, ncol(corners$node), nrow(values))
}
