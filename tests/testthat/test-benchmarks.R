# Small problems from the literature, read from files as users have them: what a
# rational agent gets, against what it is known to be. One model, no surprise and alpha
# = 0 make values convex, so a lattice gives an upper bound that falls as it is refined,
# and the exact value where it has every belief that can come about.

rational <- function(setting, resolution, agent = bounded_agent()) {
  plan_agent(setting, agent, resolution = resolution, tolerance = 1e-9)
}

at_start <- function(setting, resolution, ...) value(rational(setting, resolution, ...), setting$start)

# Tiger ---------------------------------------------------------------------------------
#
# The best is to listen until one side was heard twice more often than the other, then
# to open the other door. A belief is the lead k; with p = 0.85 the side that leads is
# right with probability p^k / (p^k + (1 - p)^k). With a lead of 1 the next sound agrees
# with probability a = p^2 + (1 - p)^2, and with a lead of 2 the door is right with
# probability d = p^2 / a:
#
#   V0 = -1 + g V1,   V1 = -1 + g (a V2 + (1 - a) V0),   V2 = 10 d - 100 (1 - d) + g V0
#   V0 = (-1 - g + g^2 a (10 d - 100 (1 - d))) / (1 - g^2 (g a + 1 - a)) = 19.3714,
#
# the value that the literature has.

test_that("Tiger is worth what listening to a lead of two is", {
  setting <- as_setting(system.file("extdata", "tiger.POMDP", package = "ibrc"))
  g <- 0.95
  a <- 0.85^2 + 0.15^2
  d <- 0.85^2 / a
  exact <- (-1 - g + g^2 * a * (10 * d - 100 * (1 - d))) / (1 - g^2 * (g * a + 1 - a))
  expect_identical(sprintf("%.4f", exact), "19.3714")
  values <- vapply(c(50, 100, 200, 400), function(n) at_start(setting, n), 0)
  expect_true(all(values >= exact - 1e-8))
  expect_close(values[4], exact, 1e-8)
  # Leads of 0, 1 and 2 are no nodes: what is done there is what the nodes around them do.
  plan <- rational(setting, 400)
  leads <- rbind(c(0.5, 0.5), c(0.85, 0.15), c(0.15, 0.85), c(d, 1 - d), c(1 - d, d))
  expect_identical(unname(policy(plan, leads)), rbind(c(1, 0, 0), c(1, 0, 0), c(1, 0, 0), c(0, 0, 1), c(0, 1, 0)))
})

# A maze in a line ------------------------------------------------------------------------
#
# One step from the goal on either side is worth X = 1 + g G, with G the value at the
# goal, from where one is put anywhere else. Two steps away, at the left end, is worth g
# X. Going east from anywhere reaches the goal from the middle; else it leaves the
# middle or the right end, either as likely, and going east once more finds out which:
# (1 + g) X / 2. So
#
#   U = (X + 2 g (1 + g) X / 2) / 3 = c X,   c = (1 + g + g^2) / 3,   G = g U,   X = 1 + g^2 c X
#
# and U = c / (1 - g^2 c). Going west first is worth (1 + 2 g^2) X / 3, less as g < 1.
# Beliefs are made of halves and thirds: a resolution of 6 has them all, and 3 has no
# halves.

test_that("the maze in a line is worth what going east is", {
  setting <- as_setting(benchmark_file("maze1d"))
  g <- 0.75
  c <- (1 + g + g^2) / 3
  expect_close(at_start(setting, 6), c / (1 - g^2 * c), 1e-8)
  expect_gt(at_start(setting, 3), c / (1 - g^2 * c) + 1e-3)
  plan <- rational(setting, 6)
  expect_identical(unname(policy(plan, setting$start)[1, ]), c(0, 1))
  expect_identical(unname(policy(plan, c(0, 0.5, 0.5, 0))[1, ]), c(0, 1))
  expect_identical(unname(policy(plan, c(0, 0, 1, 0))[1, ]), c(1, 0))
})

# Two places that look alike ----------------------------------------------------------------
#
# From I one comes to one of them. To guess wins with probability 1/2: V(I) = g^2 (1 + g
# V(I)). The way round takes two moves, after which the right move is known: I, there, C
# or D, back, win: V(I) = g^4 (2 + g V(I)) = 2 g^4 / (1 - g^5), which is 7.20 against
# 6.33. Beliefs are made of halves.

test_that("the way round is worth its two moves", {
  setting <- as_setting(benchmark_file("parr"))
  g <- 0.95
  expect_close(at_start(setting, 2), 2 * g^4 / (1 - g^5), 1e-8)
  unsure <- c(0, 0.5, 0.5, 0, 0, 0, 0)
  expect_identical(policy(rational(setting, 2), unsure)[1, ], c(a = 1, b = 0, c = 0))
  # Far less patient, it guesses: g^2 / (1 - g^3).
  setting <- as_setting(benchmark_file("parr"), discount = 0.5)
  expect_close(at_start(setting, 2), 0.25 / (1 - 0.125), 1e-8)
})

# Between bounds ------------------------------------------------------------------------------

# The lattice, how far its value may be above a lower bound that is as good as exact,
# and how many beliefs that bound is worked out at.
between <- list(
  tiger = list(resolution = c(50, 100, 400), gap = 1e-7, points = 40),
  sondik = list(resolution = c(50, 100, 400), gap = 1e-7, points = 100),
  cheng = list(resolution = c(10, 50, 100), gap = 1e-4, points = 200),
  visitor = list(resolution = c(5, 10, 30), gap = 1e-4, points = 200),
  shuttle = list(resolution = c(2, 4), gap = 1e-7, points = 40)
)

benchmark_setting <- function(name) {
  if (name == "tiger") tiger_setting() else as_setting(benchmark_file(name))
}

test_that("values lie just above a lower bound that has no lattice, and fall to it", {
  for (name in names(between)) {
    setting <- benchmark_setting(name)
    low <- point_based_bound(setting, reachable_beliefs(setting, between[[name]]$points))[1]
    values <- vapply(between[[name]]$resolution, function(n) at_start(setting, n), 0)
    expect_true(all(values >= low - 1e-8), label = paste(name, "is above its lower bound"))
    expect_true(all(diff(values) <= 1e-8), label = paste(name, "falls as the lattice is refined"))
    expect_lt(values[length(values)] - low, between[[name]]$gap)
  }
})

test_that("finer lattices come nearer still", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  for (name in c("cheng", "visitor")) {
    setting <- benchmark_setting(name)
    low <- point_based_bound(setting, reachable_beliefs(setting, 400), 1e-10)[1]
    values <- vapply(if (name == "cheng") c(100, 400) else c(30, 90), function(n) at_start(setting, n), 0)
    expect_gte(values[2], low - 1e-8)
    expect_lt(values[2] - low, (values[1] - low) / 4)
  }
})

test_that("a tiny alpha costs at most its price times log of the actions, over 1 - discount", {
  for (name in c("maze1d", "parr", names(between))) {
    setting <- benchmark_setting(name)
    exact <- rational(setting, 2)
    for (alpha in c(1e-3, 1e-6)) {
      lost <- value(exact) - value(rational(setting, 2, bounded_agent(alpha = alpha)))
      expect_true(all(lost >= -1e-8 & lost <= alpha * log(length(setting$actions)) / (1 - setting$discount) + 1e-8))
    }
  }
})
