# Tables: what a plan needs of the dynamics, built once per (setting, models, space) and shared by every agent.

build_tables <- function(models, space, surprise, cores, max_bytes) {
  refuse_large_space(models, space, max_bytes)
  stacked_tables(stack_models(models), space, surprise, cores)
}

# Of models as the kernels read them (stack_models()).
stacked_tables <- function(stack, space, surprise, cores) {
  tryCatch(
    .Call(ffi_table_build, stack, space, as.integer(surprise == "belief"), cores),
    error = function(e) {
      abort("memory", "The tables for `resolution` = ", space$resolution, " could not be built: ", conditionMessage(e),
            ". Choose a smaller resolution.", argument = "resolution")
    }
  )
}

# An upper bound on the memory for tables and solution. If the state is seen, the table has one entry per entry of the
# transition. Otherwise every observation that some state can emit leads to a belief between n_states nodes.
plan_bytes <- function(models, space) {
  size <- model_size(models$models[[1]])
  rows <- size[3] * n_models(models)
  entries <- if (is_vertices(space)) {
    sum(vapply(models$models, function(model) n_possible(model$transition), 0)) / space$n_nodes
  } else {
    landings <- vapply(models$models, function(model) {
      if (is_by_rows(model$transition)) prod(size[-1]) else sum(apply(model$emission, 2:3, max) > 0)
    }, 0)
    sum(landings) * size[1]
  }
  # A lattice comes with a coarser one.
  coarse <- if (is_vertices(space)) 0 else 20 * size[1]
  per_node <- 12 * entries + (12 + 3 * 8) * rows + 8 * (4 * size[3] + 30) + coarse
  list(nodes = space$n_nodes, bytes = space$n_nodes * per_node)
}

# Transitions that have a probability of more than 0.
n_possible <- function(transition) if (is_by_rows(transition)) length(transition$to) else sum(transition > 0)

refuse_large_space <- function(models, space, max_bytes) {
  need <- plan_bytes(models, space)
  if (need$bytes <= max_bytes && need$nodes < .Machine$integer.max) return(invisible())
  if (is_vertices(space)) {
    abort("memory", "A plan for ", format_count(space$n_states), " states needs up to ", format_bytes(need$bytes),
          "; the limit is ", format_bytes(max_bytes), ". Raise it with `max_bytes` or options(ibrc.max_bytes = ).",
          argument = "setting", fields = list(nodes = need$nodes, bytes = need$bytes))
  }
  abort("memory",
        "`resolution` = ", space$resolution, " with ", space$n_states, " states needs ",
        format(need$nodes, big.mark = big_mark(), scientific = FALSE), " belief nodes and up to ",
        format_bytes(need$bytes), "; the limit is ", format_bytes(max_bytes),
        ". Choose a smaller resolution, or raise the limit with `max_bytes` or ",
        "options(ibrc.max_bytes = ).",
        argument = "resolution", fields = list(nodes = need$nodes, bytes = need$bytes))
}

tables_bytes <- function(tables) {
  sum(vapply(tables, function(x) as.numeric(utils::object.size(x)), 0))
}
