test_that("nodes are the compositions in the twin's order", {
  for (size in list(c(2, 7), c(3, 5), c(4, 4), c(5, 3), c(2, 1), c(4, 1))) {
    expect_close(lattice_nodes(size[1], size[2]), twin_nodes(size[1], size[2]), 1e-15)
    expect_identical(.Call(ffi_lattice_count, as.integer(size[1]), as.integer(size[2])),
                     as.numeric(choose(sum(size) - 1, size[1] - 1)))
  }
})

# A node's tail sums, found one after the other by a plain scan.
scanned_node <- function(node, n_states, resolution) {
  above <- resolution
  belief <- numeric(n_states)
  for (d in seq(n_states - 1, 1)) {
    y <- max(which(choose(seq(0, above) + d - 1, d) <= node)) - 1
    node <- node - choose(y + d - 1, d)
    belief[n_states - d] <- (above - y) / resolution
    above <- y
  }
  belief[n_states] <- above / resolution
  belief
}

test_that("nodes are found by their numbers as a plain scan finds them", {
  for (size in list(c(2, 50), c(3, 30), c(4, 12), c(6, 5), c(9, 3))) {
    nodes <- lattice_nodes(size[1], size[2])
    expect_identical(nodes, t(vapply(seq_len(nrow(nodes)) - 1, scanned_node, nodes[1, ], size[1], size[2])))
  }
  fine <- lattice_nodes(2, 80000)
  expect_identical(fine, cbind(80000:0, 0:80000) / 80000)
})

test_that("the time to find all nodes grows with their number, not with its square", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  seconds <- vapply(c(20000, 160000), function(n) {
    min(replicate(5, system.time(for (i in 1:5) lattice_nodes(2, n))[["elapsed"]]))
  }, 0)
  expect_lt(seconds[2] / seconds[1], 24)
})

dense_weights <- function(beliefs, resolution) {
  corners <- locate(beliefs, resolution)
  nodes <- nrow(lattice_nodes(ncol(beliefs), resolution))
  out <- matrix(0, nrow(beliefs), nodes)
  for (b in seq_len(nrow(beliefs))) for (k in seq_len(ncol(beliefs))) {
    j <- corners$node[k, b]
    out[b, j] <- out[b, j] + corners$weight[k, b]
  }
  out
}

test_that("interpolation equals the twin's, is a mixture, and is exact on linear functions", {
  with_seed(2, for (size in list(c(2, 10), c(3, 6), c(4, 5), c(5, 3))) {
    beliefs <- random_beliefs(60, size[1])
    weights <- dense_weights(beliefs, size[2])
    expect_close(weights, twin_interpolate(beliefs, size[1], size[2]))
    expect_true(all(weights >= 0))
    expect_close(rowSums(weights), rep(1, 60), 1e-14)
    expect_close(weights %*% lattice_nodes(size[1], size[2]), beliefs, 1e-11)
  })
})

test_that("a node, a vertex and a point on a face stay there", {
  for (size in list(c(2, 10), c(3, 7), c(4, 5))) {
    nodes <- lattice_nodes(size[1], size[2])
    expect_close(dense_weights(nodes, size[2]), diag(nrow(nodes)), 0)
    face <- cbind(random_rows(20, size[1] - 1), 0)
    used <- colSums(dense_weights(face, size[2])) > 0
    expect_true(all(nodes[used, size[1]] == 0))
  }
})

test_that("rounding in a belief grows no neighbours", {
  thirds <- c(0.1 + 0.2, 0.7)
  corners <- locate(rbind(thirds), 100)
  expect_identical(sum(corners$weight > 0), 1L)
})

build <- function(setting, models, resolution, surprise = "belief", cores = 1L) {
  build_tables(validate_ibrc_models(models, setting), resolution, surprise, cores, 1e9)
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

test_that("the largest resolution is counted right, and refused", {
  most <- .Machine$integer.max
  expect_identical(.Call(ffi_lattice_count, 2L, most), 2^31)
  expect_close(.Call(ffi_lattice_count, 3L, most) / choose(most + 2, 2), 1, 1e-12)
  problem <- expect_error(plan_agent(diag_setting(), bounded_agent(1), resolution = most), class = "ibrc_error_memory")
  expect_identical(problem$nodes, 2^31)
})

test_that("memory stays within 1.2 times the stored entries", {
  with_seed(5, {
    setting <- random_setting(3, n_actions = 2, n_obs = 12)
    tables <- build(setting, random_models(setting, 2), 40L)
  })
  stored <- 12 * length(tables$column) + 8 * length(tables$entropy)
  expect_lte(tables_bytes(tables) / stored, 1.2)
  need <- plan_bytes(stack_models(own_model(setting)), 40L)
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
