# Tables: what a plan needs of the dynamics, built once per (setting, models, space) and shared by every agent.

build_tables <- function(models, space, surprise, cores, max_bytes) {
  stack <- stack_models(models)
  refuse_large_space(stack, space, max_bytes)
  tryCatch(
    .Call(ffi_table_build, stack, space, as.integer(surprise == "belief"), cores),
    error = function(e) {
      abort("memory", "The tables for `resolution` = ", space$resolution, " could not be had: ", conditionMessage(e),
            ". Choose a smaller resolution.", argument = "resolution")
    }
  )
}

# An upper bound on what tables and solution take: every observation that some
# state can emit lands between n_states nodes.
plan_bytes <- function(stack, space) {
  emission <- array(stack$emission, c(stack$n_states, stack$n_obs, stack$n_actions * stack$n_models))
  landings <- sum(apply(emission, c(2, 3), max) > 0)
  rows <- stack$n_actions * stack$n_models
  entries <- landings * stack$n_states
  per_node <- 12 * entries + (12 + 3 * 8) * rows + 8 * (4 * stack$n_actions + 30) + 20 * stack$n_states
  list(nodes = space$n_nodes, bytes = space$n_nodes * per_node)
}

refuse_large_space <- function(stack, space, max_bytes) {
  need <- plan_bytes(stack, space)
  if (need$bytes <= max_bytes && need$nodes < .Machine$integer.max) return(invisible())
  abort("memory",
        "`resolution` = ", space$resolution, " with ", stack$n_states, " states needs ",
        format(need$nodes, big.mark = big_mark(), scientific = FALSE), " belief nodes and up to ",
        format_bytes(need$bytes), "; the limit is ", format_bytes(max_bytes),
        ". Choose a smaller resolution, or raise the limit with `max_bytes` or ",
        "options(ibrc.max_bytes = ).",
        argument = "resolution", fields = list(nodes = need$nodes, bytes = need$bytes))
}

tables_bytes <- function(tables) {
  sum(vapply(tables, function(x) as.numeric(utils::object.size(x)), 0))
}
