# Draws with a fixed seed are kept over changes of the code: those of reference/draws.csv were made by the package as
# it was before its rooms were laid out. Numbers, not bits: another machine may round another way.

draws_visits <- function() {
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5, optimism = 0.8), diag_models(), resolution = 40)
  simulate(plan, 60, seed = 1)
}

draws_fits <- list(
  one = function(visits, ...) ibrc(visits, diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), ...),
  three = function(visits, ...) ibrc(visits, diag_setting(), diag_models(), ...),
  utility = function(visits, ...) {
    ibrc(visits, diag_setting(), diag_models(), irl_prior(diag_setting()), list(alpha = 0.5), ...)
  },
  discount = function(visits, ...) {
    prior <- ibrc_prior(flexibility ~ gamma(2, 1), discount ~ uniform(0.5, 0.99))
    ibrc(visits, diag_setting(), diag_models(), prior, control = ibrc_control(sampler = "paper"), ...)
  },
  groups = function(visits, ...) {
    data <- as.data.frame(visits)
    data$clinic <- c("north", "south")[data$id %% 2 + 1]
    visits <- trajectories(data, covariates = "clinic", setting = diag_setting())
    other <- diag_setting()
    other$start <- c(healthy = 0.4, diseased = 0.6)
    prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
    ibrc(visits, list(north = diag_setting(), south = other), diag_models(), prior, by = "clinic", ...)
  }
)

# The last draw of every chain, as text that keeps every digit.
last_of <- function(fit) {
  rows <- lapply(names(fit$draws), function(group) {
    draws <- fit$draws[[group]]
    last <- matrix(draws[dim(draws)[1], , ], dim(draws)[2], dim(draws)[3])
    data.frame(group = group, chain = as.vector(row(last)), term = dimnames(draws)[[3]][as.vector(col(last))],
               value = as.vector(last))
  })
  do.call(rbind, rows)
}

test_that("draws with a fixed seed are what they were", {
  kept <- utils::read.csv(test_path("reference", "draws.csv"))
  visits <- draws_visits()
  for (name in names(draws_fits)) {
    fit <- suppressMessages(draws_fits[[name]](visits, chains = 2, iter = 120, seed = 1, resolution = 40, refresh = 0))
    mine <- last_of(fit)
    before <- kept[kept$fit == name, ]
    expect_identical(mine[c("group", "term")], before[c("group", "term")], ignore_attr = TRUE)
    expect_close(mine$value, before$value, 1e-9 * max(1, abs(before$value)))
  }
})
