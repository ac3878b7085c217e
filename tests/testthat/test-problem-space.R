test_that("nodes are the compositions in the twin's order", {
  for (size in list(c(2, 7), c(3, 5), c(4, 4), c(5, 3), c(2, 1), c(4, 1))) {
    expect_close(node_beliefs(lattice_space(size[1], size[2])), twin_nodes(size[1], size[2]), 1e-15)
    expect_identical(lattice_space(size[1], size[2])$n_nodes, as.numeric(choose(sum(size) - 1, size[1] - 1)))
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
    nodes <- node_beliefs(lattice_space(size[1], size[2]))
    expect_identical(nodes, t(vapply(seq_len(nrow(nodes)) - 1, scanned_node, nodes[1, ], size[1], size[2])))
  }
  fine <- node_beliefs(lattice_space(2, 80000))
  expect_identical(fine, cbind(80000:0, 0:80000) / 80000)
})

test_that("the time to find all nodes grows with their number, not with its square", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  seconds <- vapply(c(20000, 160000), function(n) {
    min(replicate(5, system.time(for (i in 1:5) node_beliefs(lattice_space(2, n)))[["elapsed"]]))
  }, 0)
  expect_lt(seconds[2] / seconds[1], 24)
})

dense_weights <- function(beliefs, resolution) {
  space <- lattice_space(ncol(beliefs), resolution)
  corners <- locate(space, beliefs)
  out <- matrix(0, nrow(beliefs), space$n_nodes)
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
    expect_close(weights %*% node_beliefs(lattice_space(size[1], size[2])), beliefs, 1e-11)
  })
})

test_that("a node, a vertex and a point on a face stay there", {
  for (size in list(c(2, 10), c(3, 7), c(4, 5))) {
    nodes <- node_beliefs(lattice_space(size[1], size[2]))
    expect_close(dense_weights(nodes, size[2]), diag(nrow(nodes)), 0)
    face <- cbind(random_rows(20, size[1] - 1), 0)
    used <- colSums(dense_weights(face, size[2])) > 0
    expect_true(all(nodes[used, size[1]] == 0))
  }
})

test_that("three states, which are located without loops, lie where they lie among four of which one is impossible", {
  resolution <- 12
  halves <- node_beliefs(lattice_space(3, 2 * resolution))
  rounded <- node_beliefs(lattice_space(3, resolution)) %*% diag(3)[c(3, 1, 2), ] * (1 + 1e-14)
  beliefs <- rbind(with_seed(3, random_beliefs(300, 3)), halves, rounded[rowSums(rounded) <= 1 + 1e-13, ])
  three <- locate(lattice_space(3, resolution), beliefs)
  four <- locate(lattice_space(4, resolution), cbind(beliefs, 0))
  expect_identical(three$weight, four$weight[1:3, ])
  expect_true(all(four$weight[4, ] == 0))
  there <- three$weight > 0
  nodes <- list(node_beliefs(lattice_space(3, resolution)), node_beliefs(lattice_space(4, resolution)))
  expect_identical(nodes[[1]][three$node[there], ], nodes[[2]][four$node[1:3, ][there], 1:3])
})

test_that("rounding in a belief grows no neighbours", {
  thirds <- c(0.1 + 0.2, 0.7)
  corners <- locate(lattice_space(2, 100), rbind(thirds))
  expect_identical(sum(corners$weight > 0), 1L)
})

test_that("the largest resolution is counted right, and refused", {
  most <- .Machine$integer.max
  expect_identical(lattice_space(2, most)$n_nodes, 2^31)
  expect_close(lattice_space(3, most)$n_nodes / choose(most + 2, 2), 1, 1e-12)
  problem <- expect_error(plan_agent(diag_setting(), bounded_agent(1), resolution = most), class = "ibrc_error_memory")
  expect_identical(problem$nodes, 2^31)
})

test_that("a space answers for its nodes", {
  space <- open_space(lattice_space(3, 4), c("a", "b", "c"))
  utility <- matrix(1:6, 3)
  expect_identical(colnames(space$nodes), c("a", "b", "c"))
  expect_identical(expect_at_nodes(space, utility), space$nodes %*% utility)
  expect_identical(at_nodes(space, rowSums), rowSums(space$nodes))
  values <- seq_len(space$n_nodes) + 0
  expect_close(interpolate_at(space, values, space$nodes), values, 0)
  expect_close(interpolate_at(space, rbind(values, -values), space$nodes), cbind(values, -values), 0)
})

test_that("vertices are the states, and a belief between them their mixture", {
  space <- open_space(vertices_space(5), letters[1:5])
  expect_identical(space$n_nodes, 5)
  expect_identical(node_beliefs(space), diag(5))
  expect_identical(.Call(ffi_space_nodes, space), diag(5))
  expect_identical(node_beliefs(space, c(2, 4)), diag(5)[c(2, 4), ])
  expect_null(space$nodes)
  utility <- matrix(1:10, 5)
  expect_identical(expect_at_nodes(space, utility), utility)
  expect_identical(at_nodes(space, colnames), letters[1:5])
  beliefs <- with_seed(3, random_beliefs(30, 5))
  corners <- locate(space, beliefs)
  weights <- matrix(0, 30, 5)
  for (b in 1:30) for (k in 1:5) weights[b, corners$node[k, b]] <- weights[b, corners$node[k, b]] + corners$weight[k, b]
  expect_close(weights, beliefs, 1e-15)
  # As the lattice of resolution 1 has it.
  expect_close(weights, dense_weights(beliefs, 1), 1e-10)
  expect_identical(locate(space, diag(5))$node[1, ], 1:5)
  expect_identical(colSums(locate(space, diag(5))$weight > 0), rep(1, 5))
  values <- stats::setNames(1:5 + 0, NULL)
  expect_close(interpolate_at(space, values, beliefs), as.vector(beliefs %*% values), 1e-14)
  expect_identical(interpolate_at(space, values, NULL), values)
  expect_identical(interpolate_at(space, rbind(values, -values), NULL), unname(cbind(values, -values)))
})

test_that("cells of three states have neighbours for corners", {
  for (space in list(lattice_space(3, 4), vertices_space(3))) {
    cells <- triangle_cells(space)
    nodes <- node_beliefs(space)
    expect_identical(nrow(cells$corner), as.integer(space$resolution^2))
    for (i in seq_len(nrow(cells$corner))) {
      expect_close(stats::dist(nodes[cells$corner[i, ], ]), rep(sqrt(2) / space$resolution, 3), 1e-12)
      expect_close(min(nodes[cells$corner[i, ], 3]), cells$row[i] / space$resolution, 1e-12)
    }
  }
  expect_identical(nodes_in_line(lattice_space(2, 3)), 1:4)
  # A line is walked in steps, and back.
  space <- lattice_space(2, 4)
  expect_identical(place_in_line(space, 2, c(0, 0.5)), c(0.25, 0.375))
  expect_identical(step_in_line(space, c(0, 0.375, 1)), list(step = c(1, 2, 4), share = c(0, 0.5, 1)))
  # A strip from the first edge of a row to the last has the ends of the row for corners.
  expect_identical(strip_corners(space, 0, 7, 0), cbind(c(0, 1, 0.75, 0), c(0, 0, 0.25, 0.25)))
})
