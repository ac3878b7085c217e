# The rational limit against the exact solver that comes with the package 'pomdp', by
# incremental pruning: no lattice, no common code. The solver's own linear programmes are right to about 1e-7.

# How far above the exact value a lattice may be, where not every belief is a node.
lattices <- list(
  maze1d = list(resolution = 6, above = 0), parr = list(resolution = 2, above = 0),
  sondik = list(resolution = 400, above = 0), cheng = list(resolution = 100, above = 1e-4),
  visitor = list(resolution = 30, above = 1e-4)
)

expect_pruned <- function(setting, resolution, above, epsilon = 1e-9) {
  exact <- pruned_value(setting, epsilon)
  mine <- value(plan_agent(setting, bounded_agent(), resolution = resolution, tolerance = 1e-9), setting$start)
  expect_gte(mine, exact - 1e-6)
  expect_lte(mine, exact + above + 1e-6)
}

test_that("benchmarks are worth what the exact solver says", {
  skip_if_not_installed("pomdp")
  slow <- if (Sys.getenv("IBRC_EXTENDED_TESTS") == "1") character() else c("parr", "visitor")
  for (name in setdiff(names(lattices), slow)) {
    expect_pruned(as_setting(benchmark_file(name)), lattices[[name]]$resolution, lattices[[name]]$above)
  }
})

test_that("Tiger is worth what the exact solver says", {
  skip_if_not_installed("pomdp")
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  expect_pruned(tiger_setting(), 400, 0)
})

test_that("random problems of two and three states are worth what the exact solver says", {
  skip_if_not_installed("pomdp")
  with_seed(171, for (i in 1:4) {
    n_states <- 2 + i %% 2
    setting <- random_setting(n_states, n_actions = 2, n_obs = 2, zeros = 0.2, discount = 0.6)
    expect_pruned(setting, if (n_states == 2) 1000 else 100, if (n_states == 2) 1e-5 else 1e-3)
  })
})
