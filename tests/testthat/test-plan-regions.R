polygon_area <- function(x, y) {
  after <- c(seq_along(x)[-1], 1)
  abs(sum(x * y[after] - x[after] * y)) / 2
}

# Points inside a convex polygon, as weights of its corners.
inside_points <- function(corners, n) random_rows(n, nrow(corners)) %*% corners

plans_to_divide <- function(n_states) {
  setting <- with_seed(n_states, random_setting(n_states, n_actions = 4))
  base <- plan_agent(setting, bounded_agent(1), resolution = 15)
  list(soft = base,
       optimist = update(with_seed(3, plan_agent(setting, bounded_agent(1), random_models(setting), resolution = 15)),
                         bounded_agent(2, 0.5, 0.1)),
       contrary = update(base, bounded_agent(-0.7)),
       hard = update(base, bounded_agent()),
       hard_contrary = update(base, bounded_agent(flexibility = -Inf)),
       habit = update(base, bounded_agent(alpha = 3, action_prior = c(0.5, 0.3, 0.2, 0))),
       policy = plan_agent(setting, bounded_agent(1), resolution = 15, interpolate = "policy"))
}

test_that("three states: regions tile the simplex, and each is where its action is the likeliest", {
  for (plan in plans_to_divide(3)) {
    found <- decision_regions(plan)
    states <- plan$setting$states
    pieces <- split(found[found$part == "region", ], ~piece)
    area <- vapply(pieces, function(one) polygon_area(one$s2, one$s3), 0)
    expect_close(sum(area), 0.5, 1e-9)
    points <- with_seed(1, lapply(pieces[area > 1e-8], function(one) inside_points(as.matrix(one[states]), 3)))
    action <- vapply(pieces[area > 1e-8], function(one) as.integer(one$action[1]), 0L)
    law <- policy(plan, pmax(do.call(rbind, points), 0))
    own <- law[cbind(seq_len(nrow(law)), rep(action, each = 3))]
    expect_true(all(own >= apply(law, 1, max) - 1e-9))
  }
})

test_that("three states: boundaries are where the two likeliest tie, each once", {
  for (plan in plans_to_divide(3)[c("soft", "optimist", "habit", "policy")]) {
    edges <- decision_regions(plan)
    edges <- edges[edges$part == "boundary", ]
    expect_gt(nrow(edges), 0)
    law <- policy(plan, pmax(as.matrix(edges[plan$setting$states]), 0))
    two <- t(apply(law, 1, sort, decreasing = TRUE))[, 1:2]
    expect_close(two[, 1], two[, 2], 1e-7)
    ends <- round(as.matrix(edges[plan$setting$states]), 7)
    key <- tapply(apply(ends, 1, paste, collapse = " "), edges$piece, function(two) paste(sort(two), collapse = "; "))
    expect_false(anyDuplicated(key) > 0)
  }
})

test_that("two states: intervals meet where the likeliest action changes", {
  for (plan in plans_to_divide(2)) {
    found <- decision_regions(plan)
    region <- found[found$part == "region", ]
    from <- region$s2[seq(1, nrow(region), 2)]
    to <- region$s2[seq(2, nrow(region), 2)]
    expect_identical(c(from[1], to[length(to)]), c(0, 1))
    expect_identical(from[-1], to[-length(to)])
    expect_identical(found$s2[found$part == "boundary"], from[-1])
    for (i in seq_along(from)) {
      at <- from[i] + (to[i] - from[i]) * seq(0.001, 0.999, length.out = 20)
      law <- policy(plan, unname(cbind(1 - at, at)))
      expect_true(all(law[, as.integer(region$action[2 * i])] >= apply(law, 1, max) - 1e-9))
    }
  }
})

test_that("a boundary along the lattice is found, and ties go to the first", {
  setting <- decision_setting(
    c("a", "b", "c"), c("u", "v"), c("x", "y", "z"), diag(3), diag(3), cbind(u = c(0, 0, 1), v = c(1, 1, 0)),
    discount = 0
  )
  soft <- matrix(1 / 3, 3, 3)
  setting$emission[] <- soft
  plan <- plan_agent(setting, bounded_agent(1), resolution = 4)
  edges <- decision_regions(plan)
  edges <- edges[edges$part == "boundary", ]
  expect_identical(nrow(edges), 4L)
  expect_close(edges$c, rep(0.5, 4))
  setting$utility[] <- 1
  flat <- decision_regions(plan_agent(setting, bounded_agent(1), resolution = 4))
  expect_identical(unique(as.character(flat$action)), "u")
  expect_identical(unique(flat$part), "region")
})

test_that("an agent of habit scores actions by its prior, and actions that tie throughout share no region", {
  setting <- with_seed(38, random_setting(3))
  plan <- plan_agent(setting, bounded_agent(flexibility = 0, action_prior = c(0.2, 0.5, 0.3)), resolution = 6)
  expect_identical(unique(node_scores(plan)), rbind(c(0.2, 0.5, 0.3)))
  corners <- cbind(c(0, 1, 0), c(0, 0, 1))
  cell <- split_cell(cbind(c(1, 2, 3), c(1, 2, 3), 0), corners)
  expect_identical(cell$actions, 1L)
})
