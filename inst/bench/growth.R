# What large problems cost beside smaller ones: as a lattice gets twice as fine, or visits twice
# as many, time is to double. Ratios are of times taken next to each other in this run, the median over
# interleaved rounds; a quadratic part would show as a ratio of 4.
#
#   Rscript inst/bench/growth.R

library(ibrc)
options(width = 120)
source(system.file("bench", "shared", "clock.R", package = "ibrc"))
rounds <- 5L

agent <- bounded_agent(alpha = 0.5, beta = 1.25, eta = 1e-3)
sizes <- c(10000, 20000, 40000, 80000)

# One row per size: seconds, and their ratio to those of half the size.
grow <- function(what, sizes, task) {
  seconds <- apply(race(lapply(sizes, task)), 2, middle)
  ratio <- c(NA, signif(seconds[-1] / utils::head(seconds, -1), 3))
  data.frame(what = what, size = sizes, seconds = seconds, ratio = ratio)
}

plans <- lapply(sizes, function(n) plan_agent(diag_setting(), agent, diag_models(), n))
plan_of <- function(n) plans[[match(n, sizes)]]
patient <- plan_agent(tiger_setting(), bounded_agent(alpha = 1))

tables <- list(
  grow("nodes of a lattice of two states", sizes,
       function(n) function() own("node_beliefs")(own("lattice_space")(2, n))),
  grow("tables and solve: plan_agent()", sizes, function(n) {
    function() plan_agent(diag_setting(), agent, diag_models(), n)
  }),
  grow("another agent: update()", sizes, function(n) function() update(plan_of(n), bounded_agent(0.4, 1.25, 1e-3))),
  grow("occupancy()", sizes, function(n) function() occupancy(plan_of(n))),
  grow("tidy()", sizes, function(n) function() tidy(plan_of(n))),
  grow("print()", sizes, function(n) function() utils::capture.output(print(plan_of(n)))),
  grow("simulate(), trajectories that stop early, by `horizon`", c(1000, 2000, 4000, 8000), function(n) {
    function() simulate(plan_of(10000), 1000, seed = 1, horizon = n)
  }),
  grow("simulate(), by `nsim`", c(1000, 2000, 4000, 8000), function(n) {
    function() simulate(patient, n, seed = 1, horizon = 20)
  })
)
for (table in tables) show(table)
