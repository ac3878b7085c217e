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
