# Designs in DIAG that are quick to simulate and to fit.

study_prior <- function() ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))

small_design <- function(..., agents = bounded_agent(alpha = 0.5), effect = list(optimism = -0.5), patients = 30,
                         prior = study_prior(), resolution = 10) {
  more <- list(...)
  if (!is.function(more$fit) && is.null(more$starts) && !identical(more$fit, "posterior")) more$starts <- 1
  do.call(study_design, c(list(diag_setting(), diag_models(), agents, effect = effect, patients = patients,
                               prior = prior, resolution = resolution), more), quote = TRUE)
}

# An analysis that costs nothing: how long patients are followed.
count_visits <- function(visits, design) {
  long <- tapply(visits$id, visits$group, function(id) length(id) / length(unique(id)))
  error <- 0.5
  data.frame(term = "optimism", estimate = long[[2]] - long[[1]], conf.low = long[[2]] - long[[1]] - error,
             conf.high = long[[2]] - long[[1]] + error)
}

# What does not depend on the clock.
timeless <- function(study) as.data.frame(study)[setdiff(names(as.data.frame(study)), "seconds")]
