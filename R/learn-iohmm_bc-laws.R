# Laws of the dynamics and the rule, the numbers that stand for them in climbs, and the expectations that follow.

# A probability of 0 has no logarithm.
least_chance <- 1e-10

# Logarithms of weights as kernels read them. A shared transition is included once.
to_weights <- function(laws, problem) {
  n <- problem$task$n_states
  transition <- as.numeric(laws$transition)
  if (problem$shared) transition <- transition[seq_len(n^2)]
  log(pmax(c(as.numeric(laws$start), transition, as.numeric(laws$emission)), least_chance))
}

# The shares of weights over the second of three dimensions. They are 0 for what is not possible.
shares_of <- function(x, size, possible = TRUE) {
  x <- array(x, size)
  x[!rep_len(possible, length(x))] <- -Inf
  weight <- exp(sweep(x, c(1, 3), apply(x, c(1, 3), max)))
  sweep(weight, c(1, 3), apply(weight, c(1, 3), sum), "/")
}

# From such numbers back to laws, centres [state, action] on the plane of beliefs, and the sharpness.
from_weights <- function(at, problem) {
  task <- problem$task
  n <- task$n_states
  matrices <- if (problem$shared) 1 else task$n_actions
  sizes <- c(n, n^2 * matrices, n * task$n_obs * task$n_actions, n * task$n_actions, 1)
  part <- split(at, rep(seq_along(sizes), sizes))
  possible <- rep(as.vector(t(problem$possible)), each = n)
  centres <- matrix(part[[4]], n)
  list(start = as.vector(shares_of(part[[1]], c(1, n, 1))),
       transition = rep_len(as.vector(shares_of(part[[2]], c(n, n, matrices))), n^2 * task$n_actions),
       emission = as.vector(shares_of(part[[3]], c(n, task$n_obs, task$n_actions), possible)),
       centres = centres - rep(colMeans(centres), each = n) + 1 / n, sharpness = exp(unname(part[[5]])))
}

expected_counts <- function(laws, problem) {
  task <- problem$task
  tree <- whole_tree(task$tree)
  laws <- c(task[c("n_states", "n_actions", "n_obs")], list(n_models = 1L), laws[c("start", "transition", "emission")])
  .Call(ffi_iohmm_expect, tree, laws)[c("start", "transition", "emission")]
}

# The tree as the kernels for dynamics alone read it: one law of the first state, and where trajectories end.
whole_tree <- function(tree) {
  passed <- numeric(tree$n_nodes)
  later <- tree$parent >= 0
  on <- rowsum(tree$through[later], tree$parent[later] + 1L)
  passed[as.integer(rownames(on))] <- on
  c(tree, list(start = integer(tree$n_nodes), ends = tree$through - passed))
}
