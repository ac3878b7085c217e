build <- function(setting, models, resolution, surprise = "belief", cores = 1L) {
  space <- lattice_space(length(setting$states), resolution)
  build_tables(validate_ibrc_models(models, setting), space, surprise, cores, 1e9)
}

dense_table <- function(tables) {
  rows <- length(tables$entropy)
  W <- matrix(0, rows, tables$n_nodes)
  for (r in seq_len(rows)) {
    at <- seq_len(tables$row_start[r + 1] - tables$row_start[r]) + tables$row_start[r]
    W[r, tables$column[at] + 1] <- tables$weight[at]
  }
  # Kernel rows run over models fastest: [model, action, node, to].
  W <- array(W, c(tables$n_models, tables$n_actions, tables$n_nodes, tables$n_nodes))
  list(W = aperm(W, c(3, 4, 2, 1)),
       H = turned(array(tables$entropy, c(tables$n_models, tables$n_actions, tables$n_nodes))))
}

test_that("tables equal the twin's with merged and unmerged surprise", {
  with_seed(3, for (n_states in 2:4) {
    setting <- random_setting(n_states, n_actions = 2)
    models <- random_models(setting, 2)
    for (surprise in c("belief", "observation")) {
      mine <- dense_table(build(setting, models, 4L, surprise))
      twin <- twin_tables(validate_ibrc_models(models, setting)$models, 4, surprise)
      expect_close(mine$W, twin$W)
      expect_close(mine$H, twin$H)
    }
  })
})

test_that("observations that say the same are one atom of belief", {
  setting <- decision_setting(
    c("a", "b"), "go", c("x", "y", "z"), diag(2),
    rbind(c(0.2, 0.3, 0.5), c(0.2, 0.3, 0.5)), cbind(c(0, 1)), discount = 0.5
  )
  merged <- build(setting, own_model(setting), 10L)
  apart <- build(setting, own_model(setting), 10L, "observation")
  expect_close(merged$entropy, rep(0, 11), 1e-14)
  expect_close(apart$entropy, rep(-sum(c(0.2, 0.3, 0.5) * log(c(0.2, 0.3, 0.5))), 11), 1e-14)
})

test_that("rows are stochastic, stored once, and the same for any number of threads", {
  with_seed(4, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    models <- random_models(setting)
    tables <- build(setting, models, 6L)
    expect_true(all(tables$weight > 0))
    expect_close(.Call(ffi_table_expect, tables, rep(1, tables$n_nodes)),
                 rep(1, length(tables$entropy)), 1e-13)
    each <- split(tables$column, rep(seq_along(tables$entropy), diff(tables$row_start)))
    expect_false(any(vapply(each, anyDuplicated, 0L) > 0))
    expect_identical(build(setting, models, 6L, cores = 2L), tables)
  })
})

test_that("memory stays within 1.2 times the stored entries", {
  with_seed(5, {
    setting <- random_setting(3, n_actions = 2, n_obs = 12)
    tables <- build(setting, random_models(setting, 2), 40L)
  })
  stored <- 12 * length(tables$column) + 8 * length(tables$entropy)
  expect_lte(tables_bytes(tables) / stored, 1.2)
  need <- plan_bytes(stack_models(own_model(setting)), lattice_space(3, 40))
  expect_identical(need$nodes, 861)
})

test_that("a lattice beyond the limit is refused with its nodes and bytes", {
  setting <- with_seed(6, random_setting(4))
  error <- expect_error(
    plan_agent(setting, bounded_agent(), resolution = 100, max_bytes = 1e6),
    class = "ibrc_error_memory"
  )
  expect_identical(error$nodes, choose(103, 3))
  expect_gt(error$bytes, 1e6)
  expect_match(conditionMessage(error), "176,851 belief nodes")
  expect_error(plan_agent(setting, bounded_agent(), resolution = 1e6, max_bytes = 1e300),
               class = "ibrc_error_memory")
})
