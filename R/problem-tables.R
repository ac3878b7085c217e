# Lattice and tables: what a plan needs of the dynamics, built once per
# (setting, models, resolution) and shared by every agent.

lattice_nodes <- function(n_states, resolution) {
  t(.Call(ffi_lattice_nodes, as.integer(n_states), as.integer(resolution)))
}

# Interpolation: corner nodes and weights, [corner, belief].
locate <- function(beliefs, resolution) {
  .Call(ffi_lattice_locate, t(beliefs), as.integer(resolution))
}

# values: [node] or [k, node]; returns [belief] or [belief, k].
interpolate_at <- function(values, beliefs, resolution) {
  corners <- locate(beliefs, resolution)
  if (is.null(dim(values))) return(colSums(corners$weight * array(values[corners$node], dim(corners$node))))
  out <- apply(values, 1, function(v) {
    colSums(corners$weight * array(v[corners$node], dim(corners$node)))
  })
  matrix(out, ncol(corners$node), nrow(values))
}

build_tables <- function(models, resolution, surprise, cores, max_bytes) {
  stack <- stack_models(models)
  refuse_large_lattice(stack, resolution, max_bytes)
  tryCatch(
    .Call(ffi_table_build, stack, resolution, as.integer(surprise == "belief"), cores),
    error = function(e) {
      abort("memory", "The tables for `resolution` = ", resolution, " could not be had: ", conditionMessage(e),
            ". Choose a smaller resolution.", argument = "resolution")
    }
  )
}

# An upper bound on what tables and solution take: every observation that some
# state can emit lands between n_states nodes.
plan_bytes <- function(stack, resolution) {
  nodes <- .Call(ffi_lattice_count, stack$n_states, resolution)
  emission <- array(stack$emission, c(stack$n_states, stack$n_obs, stack$n_actions * stack$n_models))
  landings <- sum(apply(emission, c(2, 3), max) > 0)
  rows <- stack$n_actions * stack$n_models
  entries <- landings * stack$n_states
  per_node <- 12 * entries + (12 + 3 * 8) * rows + 8 * (4 * stack$n_actions + 30) + 20 * stack$n_states
  list(nodes = nodes, bytes = nodes * per_node)
}

refuse_large_lattice <- function(stack, resolution, max_bytes) {
  need <- plan_bytes(stack, resolution)
  if (need$bytes <= max_bytes && need$nodes < .Machine$integer.max) return(invisible())
  abort("memory",
        "`resolution` = ", resolution, " with ", stack$n_states, " states needs ",
        format(need$nodes, big.mark = big_mark(), scientific = FALSE), " belief nodes and up to ",
        format_bytes(need$bytes), "; the limit is ", format_bytes(max_bytes),
        ". Choose a smaller resolution, or raise the limit with `max_bytes` or ",
        "options(ibrc.max_bytes = ).",
        argument = "resolution", fields = list(nodes = need$nodes, bytes = need$bytes))
}

tables_bytes <- function(tables) {
  sum(vapply(tables, function(x) as.numeric(utils::object.size(x)), 0))
}
