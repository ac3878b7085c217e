# Models that are a step away from several laws, as the kernels read them. A sampler asks for them at every step of all
# its chains: made together they take hardly longer than for one, and have the numbers that perturb_models() gives each.

# What valid_stacks() returns for these models. `step`: by and vary of perturb_models(). NULL where anything is unusual.
stepped_stacks <- function(dynamics, step, n_models) {
  laws <- if (step$vary == "both") c("emission", "transition") else step$vary
  steps <- c(-step$by, 0, step$by)
  moved <- lapply(stats::setNames(nm = c("transition", "emission")), function(law) {
    move_laws(lapply(dynamics, `[[`, law), if (law %in% laws) steps else 0)
  })
  if (any(vapply(moved, is.null, NA))) return(NULL)
  n_steps <- vapply(moved[laws], function(law) dim(law)[3], 0L)
  if (prod(n_steps) != n_models) return(NULL)
  # The step of each law in each model: the first law moves fastest.
  at <- list(transition = rep(1L, n_models), emission = rep(1L, n_models))
  for (i in seq_along(laws)) {
    at[[laws[i]]] <- rep_len(rep(seq_len(n_steps[i]), each = prod(n_steps[seq_len(i - 1)])), n_models)
  }
  stack <- stack_size(dim(dynamics[[1]]$emission), n_models)
  lapply(seq_along(dynamics), function(i) {
    c(stack, lapply(stats::setNames(nm = names(moved)), function(law) as.vector(moved[[law]][, i, at[[law]]])))
  })
}

# One law of several worlds at every step, [entry, world, step].
move_laws <- function(laws, steps) {
  size <- dim(laws[[1]])
  together <- array(unlist(laws, use.names = FALSE), c(size[-3], size[3] * length(laws)))
  if (anyNA(together) || min(together) < 0) return(NULL)
  rows <- open_rows(together)
  uncertain <- colSums(matrix(rows$uncertain, ncol = length(laws)))
  if (any(uncertain > 0) && any(uncertain == 0)) return(NULL)
  moved <- law_at_steps(together, steps, rows)
  whole <- unit_rows(unlist(moved, use.names = FALSE), size)
  if (!is.null(whole)) array(whole, c(prod(size), length(laws), length(moved)))
}
