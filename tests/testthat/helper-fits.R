# Small fits that several files look at, made once.

fit_cache <- new.env()

cached <- function(name, code) {
  if (is.null(fit_cache[[name]])) fit_cache[[name]] <- code
  fit_cache[[name]]
}

# Two clinics that differ in flexibility, not in optimism.
clinic_visits <- function() {
  cached("clinic_visits", {
    plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models())
    north <- as.data.frame(simulate(plan, 80, seed = 11))
    south <- as.data.frame(simulate(update(plan, bounded_agent(alpha = 4)), 80, seed = 12))
    south$id <- south$id + 80
    data <- rbind(cbind(north, clinic = "north"), cbind(south, clinic = "south"))
    trajectories(data, covariates = "clinic", setting = diag_setting())
  })
}

clinic_fit <- function() {
  cached("clinic_fit", ibrc(
    clinic_visits(), diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1.5), optimism ~ normal(0, 1)),
    by = "clinic", chains = 2, iter = 600, seed = 1
  ))
}

pooled_fit <- function() {
  cached("pooled_fit", ibrc(
    clinic_visits(), diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1.5), optimism ~ normal(0, 1)),
    chains = 2, iter = 600, seed = 1
  ))
}

# Utilities of DIAG inferred, with the agent known to be as flexible as this.
fit_irl <- function(agent, prior, n = 60, iter = 400, ...) {
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, agent, diag_models()), n, seed = 1)
  ibrc(visits, setting, diag_models(), prior, list(alpha = 0.5), chains = 2, iter = iter, seed = 1, ...)
}

# A fit whose draws are given: a named list of [iteration, chain] matrices.
fit_of_draws <- function(prior, draws) {
  all <- array(unlist(draws), c(dim(draws[[1]]), length(draws)), list(NULL, NULL, names(draws)))
  structure(list(draws = list(all = all), prior = prior, likelihood = TRUE, group_sizes = c(all = 100L), n_visits = 500,
                 n_scored = 500, run = list(iter = 2000L)), class = "ibrc_fit")
}

# Normal draws with this correlation, on the natural scale of two signed terms: the prior has standard deviation 1.
ridge_draws <- function(correlation, sd) {
  with_seed(8, {
    first <- matrix(stats::rnorm(4000), 1000)
    second <- correlation * first + sqrt(1 - correlation^2) * matrix(stats::rnorm(4000), 1000)
    list(optimism = sd * first, flexibility = sd * second)
  })
}

# Bad input to something: the argument that the error names.
expect_refused <- function(object, argument, pattern = NULL) {
  error <- expect_error(object, pattern, class = "ibrc_error_input")
  expect_identical(error$argument, argument)
}

# Two clinics of unlike size, together or apart.
uneven_visits <- function() {
  cached("uneven_visits", {
    truth <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25), diag_models())
    north <- cbind(as.data.frame(simulate(truth, 30, seed = 1)), clinic = "north")
    south <- cbind(as.data.frame(simulate(update(truth, bounded_agent(3)), 20, seed = 2)), clinic = "south")
    south$id <- south$id + 30
    trajectories(rbind(north, south), covariates = "clinic", setting = diag_setting())
  })
}

uneven_fit <- function(by = NULL) {
  cached(paste("uneven_fit", by), ibrc(uneven_visits(), diag_setting(), diag_models(),
                                       ibrc_prior(alpha ~ lognormal(0, 1)), by = by, chains = 2, iter = 200, seed = 1))
}

# Two clinics, rows mixed, identifiers that are easy to find again.
marked_truth <- function() plan_agent(diag_setting(), bounded_agent(0.5, 1.25), diag_models())
marked_visits <- function() {
  cached("marked_visits", {
    north <- cbind(as.data.frame(simulate(marked_truth(), 25, seed = 1)), clinic = "north")
    south <- cbind(as.data.frame(simulate(update(marked_truth(), bounded_agent(3)), 25, seed = 2)), clinic = "south")
    south$id <- south$id + 25
    data <- rbind(north, south)
    data <- data[order(data$time, (data$id * 7) %% 50), ]
    data$id <- paste0("planted-identity-", data$id)
    trajectories(data, covariates = "clinic", setting = diag_setting())
  })
}

marked_prior <- function() ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
marked_fit <- function(by = NULL, iter = 200, ...) {
  cached(paste("marked_fit", by, iter, toString(list(...))), ibrc(
    marked_visits(), diag_setting(), diag_models(), marked_prior(), by = by, chains = 2, iter = iter, seed = 1, ...
  ))
}

marked_part <- function(keep) {
  trajectories(as.data.frame(marked_visits())[marked_visits()$id %in% keep, ], covariates = "clinic")
}
