# What planning costs. Every claim is a ratio of times taken next to each other in
# this run, the median over interleaved rounds, because machines are noisy; the
# time of one backup is shown so that the products can be seen.
#
#   Rscript inst/bench/forward.R [inst/bench/planning.csv, to keep what README.md shows; then tools/readme-text.R]
#
# A "plain backup" is one application of the backup operator to values alone. A
# solve is counted in them: its time divided by that of one plain backup on the
# same problem. The cost of calling C from R, with what it allocates, is in
# neither: of a solve, that of one that starts at its own solution is taken off and
# its single backup put back. Cold solves start from 0, warm ones from the solution
# for an agent whose alpha, beta and eta were 10% away. Plain backups are soft means for the
# most part, and nearly twice as fast since these are worked out together (builds.R): counted
# in them, solves look longer than they did, and take less time.

library(ibrc)
options(width = 120)
source(system.file("bench", "shared", "clock.R", package = "ibrc"))
twin_file <- "tests/testthat/helper-reference.R"

# Problems -------------------------------------------------------------------

law <- function(n, k, stay = 0) {
  p <- matrix(rexp(n * k)^2, n, k)
  p <- p / rowSums(p)
  if (stay > 0) p <- stay * diag(n) + (1 - stay) * p
  p
}

# A clinic: order a costly test or not; nine results with it, three without.
clinic <- function(n_states, n_obs = 12) {
  set.seed(3)
  without <- round(n_obs / 4)
  emission <- list(
    wait = cbind(law(n_states, without), matrix(0, n_states, n_obs - without)),
    test = cbind(matrix(0, n_states, without), law(n_states, n_obs - without))
  )
  decision_setting(
    paste0("s", seq_len(n_states)), c("wait", "test"), paste0("x", seq_len(n_obs)),
    law(n_states, n_states, stay = 0.9), emission, cbind(rep(0, n_states), rep(-1, n_states)),
    belief_utility = function(beliefs, action) 2.5 * (apply(beliefs, 1, max) > 0.9), discount = 0.95
  )
}

problems <- list(
  list(name = "DIAG", setting = diag_setting(), models = diag_models(), resolution = 100),
  list(name = "3 states", setting = clinic(3), resolution = 20),
  list(name = "3 states", setting = clinic(3), resolution = 100),
  list(name = "4 states", setting = clinic(4), resolution = 20)
)
labels <- c("101" = "DIAG, 3 models", "231" = "3 states, 12 observations, 2 models",
            "5151" = "the same at the paper's resolution", "1771" = "4 states, 12 observations, 2 models")
label_of <- function(nodes) unname(labels[as.character(nodes)])
problems <- lapply(problems, function(p) {
  if (is.null(p$models)) p$models <- soften_models(p$setting, c(0, 0.5))
  p
})

agents <- list(
  flexible = c(0.01, 1e3, 1e-3), inflexible = c(10, 1e3, 1e-3), optimist = c(0.5, 1.25, 1e-3),
  strong_optimist = c(0.5, 0.1, 1e-3), pessimist = c(0.5, -0.75, 1e-3), non_adaptive = c(0.5, 1e3, 75)
)

# Tasks -------------------------------------------------------------------------

# One plain backup: many in one call less none, so that the call is not counted.
backup_tasks <- function(plan, many, cores = 1L) {
  list(
    many = function() call("ffi_backup", plan$tables, plan$problem, plan$solution$value, many, cores),
    none = function() call("ffi_backup", plan$tables, plan$problem, plan$solution$value, 0L, cores)
  )
}

one_backup <- function(time, many) (time[, "many"] - time[, "none"]) / many

solve_task <- function(plan, start, tolerance = 1e-8, cores = 1L) {
  function() call("ffi_solve", plan$tables, plan$problem, start, tolerance, 10000L, cores)
}

plain_iterations <- function(plan, tolerance = 1e-8) {
  scale <- plan$setting$discount / (1 - plan$setting$discount)
  V <- numeric(plan$space$n_nodes)
  for (k in 1:5000) {
    W <- call("ffi_backup", plan$tables, plan$problem, V, 0L, 1L)$value
    if (scale * diff(range(W - V)) / 2 <= tolerance) return(k)
    V <- W
  }
}

agent_of <- function(p, factor = c(1, 1, 1)) {
  bounded_agent(alpha = p[1] * factor[1], beta = p[2] * factor[2], eta = p[3] * factor[3])
}

# Solves ---------------------------------------------------------------------------

say("== A solve to 1e-8, in plain backups\n")
measured <- list()
for (p in problems) {
  plan <- plan_agent(p$setting, agent_of(agents[[1]]), p$models, p$resolution)
  many <- as.integer(max(3, min(200, 2e6 / length(plan$tables$column))))
  for (name in names(agents)) {
    at <- update(plan, agent_of(agents[[name]]))
    moved <- update(plan, agent_of(agents[[name]], c(1.1, 0.9, 1.1)))
    zero <- numeric(plan$space$n_nodes)
    time <- race(c(backup_tasks(moved, many), list(
      cold = solve_task(moved, zero), warm = solve_task(moved, at$solution$value),
      done = solve_task(moved, moved$solution$value)
    )))
    one <- one_backup(time, many)
    time[, c("cold", "warm")] <- time[, c("cold", "warm")] - time[, "done"] + one
    cold <- solve_task(moved, zero)()
    warm <- solve_task(moved, at$solution$value)()
    plain <- plain_iterations(moved)
    measured[[length(measured) + 1]] <- data.frame(
      problem = p$name, nodes = plan$space$n_nodes, agent = name, backup_us = middle(1e6 * one),
      cold = middle(time[, "cold"] / one), cold_newton = cold$backups, cold_products = cold$products,
      cold_ms = middle(1e3 * time[, "cold"]), warm = middle(time[, "warm"] / one), warm_newton = warm$backups,
      warm_products = warm$products, warm_ms = middle(1e3 * time[, "warm"]), plain = plain,
      over_plain = middle(plain * one / time[, "cold"])
    )
  }
}
measured <- do.call(rbind, measured)
show(measured)
worst <- aggregate(cbind(cold, warm) ~ problem + nodes, measured, max)
worst$over_plain <- aggregate(over_plain ~ problem + nodes, measured, min)$over_plain
say("Worst of the six agents (to reach: cold at most 30, warm at most 15):\n")
show(worst)
worst <- worst[match(names(labels), worst$nodes), ]
keep("cold", label_of(worst$nodes), worst$nodes, round(worst$cold))
keep("warm", label_of(worst$nodes), worst$nodes, round(worst$warm))
keep("plain_least", "all", NA, min(measured$plain))
keep("plain_most", "all", NA, max(measured$plain))

# Tables -----------------------------------------------------------------------------

say("== Building the tables, in plain backups; their memory; bytes a second\n")
rows <- lapply(problems, function(p) {
  plan <- plan_agent(p$setting, agent_of(agents$optimist), p$models, p$resolution)
  stack <- own("stack_models")(plan$models)
  many <- as.integer(max(3, min(200, 2e6 / length(plan$tables$column))))
  bytes <- 12 * length(plan$tables$column) + 12 * length(plan$tables$entropy)
  block <- numeric(ceiling(bytes / 8))
  time <- race(c(backup_tasks(plan, many), list(
    build = function() call("ffi_table_build", stack, plan$space, 1L, 1L),
    copy = function() { other <- block; other[1] <- 1; other }
  )))
  one <- one_backup(time, many)
  stored <- 12 * length(plan$tables$column) + 8 * length(plan$tables$entropy)
  data.frame(problem = p$name, nodes = plan$space$n_nodes, entries = length(plan$tables$column),
             build_in_backups = middle(time[, "build"] / one),
             memory_over_entries = signif(own("tables_bytes")(plan$tables) / stored, 3),
             backup_GB_s = middle(bytes / one / 1e9), copy_GB_s = middle(bytes / time[, "copy"] / 1e9))
})
built <- do.call(rbind, rows)
show(built)
keep("tables", label_of(built$nodes), built$nodes, round(built$build_in_backups))

# Twin -------------------------------------------------------------------------------

if (file.exists(twin_file)) {
  say("== A solve beside the plain-R twin's (plain value iteration on dense tables)\n")
  twin <- new.env()
  sys.source(twin_file, twin)
  rows <- lapply(problems[1:2], function(p) {
    plan <- plan_agent(p$setting, agent_of(agents$optimist), p$models, p$resolution)
    tables <- twin$twin_tables(plan$models$models, plan$resolution)
    slow <- system.time(twin$twin_solve(tables, plan$reward, plan$agent, rep(1, ncol(plan$reward)) / ncol(plan$reward),
                                        unname(plan$models$weights), plan$setting$discount))[["elapsed"]]
    fast <- race(list(solve = solve_task(plan, numeric(plan$space$n_nodes))))
    data.frame(problem = p$name, nodes = plan$space$n_nodes, times_faster = middle(slow / fast[, "solve"]))
  })
  faster <- do.call(rbind, rows)
  show(faster)
  # In hundreds, and the lesser one: README.md says "over".
  least <- which.min(faster$times_faster)
  keep("twin", label_of(faster$nodes[least]), faster$nodes[least], 100 * floor(faster$times_faster[least] / 100))
} else {
  say("== The plain-R twin is not here (", twin_file, "): run this from the source folder to compare\n")
}

# Growth -----------------------------------------------------------------------------

growth <- function(label, sizes, make) {
  plans <- lapply(sizes, make)
  entries <- vapply(plans, function(plan) length(plan$tables$column), 0)
  many <- as.integer(pmax(3, pmin(200, 2e6 / entries)))
  tasks <- unlist(Map(backup_tasks, plans, many), recursive = FALSE)
  time <- race(tasks)
  one <- (time[, c(TRUE, FALSE)] - time[, c(FALSE, TRUE)]) / rep(many, each = rounds)
  cost <- apply(one / one[, 1], 2, middle)
  rows <- data.frame(size = sizes, nodes = vapply(plans, function(plan) plan$space$n_nodes, 0), entries = entries,
                     cost = cost, cost_an_entry = signif(cost / (entries / entries[1]), 3), row.names = NULL)
  names(rows)[1] <- label
  say("== Growth of one backup with ", label, " (the first is 1)\n")
  show(rows)
}
optimist <- agent_of(agents$optimist)
growth("resolution", c(100, 200, 400, 800, 1600), function(n) plan_agent(diag_setting(), optimist, diag_models(), n))
growth("models", c(1, 3, 9, 27), function(m) {
  plan_agent(diag_setting(), optimist, diag_models(seq(0.6, 0.8, length.out = m)), 400)
})
growth("observations", c(4, 8, 16, 32), function(x) {
  setting <- clinic(3, x)
  plan_agent(setting, optimist, soften_models(setting, c(0, 0.5)), 40)
})

# Threads ------------------------------------------------------------------------------

cores <- call("ffi_threads")
say("== Two threads beside one (", cores, " available)\n")
rows <- lapply(problems[3:4], function(p) {
  plan <- plan_agent(p$setting, optimist, p$models, p$resolution)
  stack <- own("stack_models")(plan$models)
  zero <- numeric(plan$space$n_nodes)
  time <- race(list(
    build1 = function() call("ffi_table_build", stack, plan$space, 1L, 1L),
    build2 = function() call("ffi_table_build", stack, plan$space, 1L, 2L),
    backup1 = backup_tasks(plan, 20L, 1L)$many, backup2 = backup_tasks(plan, 20L, 2L)$many,
    solve1 = solve_task(plan, zero, cores = 1L), solve2 = solve_task(plan, zero, cores = 2L)
  ))
  data.frame(problem = p$name, nodes = plan$space$n_nodes, build = middle(time[, "build1"] / time[, "build2"]),
             backup = middle(time[, "backup1"] / time[, "backup2"]),
             solve = middle(time[, "solve1"] / time[, "solve2"]))
})
show(do.call(rbind, rows))
