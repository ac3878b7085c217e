# People who differ: clinicians with optimism of their own, three arms, two sexes and ages.
differing_visits <- function(n_clinicians = 6, each = 6, seed = 1, resolution = 10) {
  cached(paste("differing_visits", n_clinicians, each, seed), {
    setting <- diag_setting()
    optimism <- with_seed(seed, 0.5 + stats::rnorm(n_clinicians, 0, 0.4))
    data <- do.call(rbind, lapply(seq_len(n_clinicians), function(i) {
      plan <- plan_agent(setting, bounded_agent(0.5, optimism = optimism[i]), diag_models(), resolution = resolution)
      one <- as.data.frame(simulate(plan, each, seed = 100 * seed + i))
      number <- one$id
      one$id <- paste(i, number)
      one$arm <- c("a", "b", "c")[(i - 1) %% 3 + 1]
      one$clinician <- paste0("c", i)
      one$sex <- c("f", "m")[number %% 2 + 1]
      one$age <- 60 + 5 * (number %% 3)
      one
    }))
    trajectories(data, covariates = c("arm", "clinician", "sex", "age"), setting = setting)
  })
}

fit_differing <- function(effects, visits = differing_visits(), ..., iter = 200, seed = 1) {
  suppressWarnings(ibrc(
    visits, diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)),
    effects = effects, chains = 2, iter = iter, seed = seed, resolution = 10, control = ibrc_control(check = FALSE), ...
  ))
}

differing_fit <- function() {
  cached("differing_fit", fit_differing(list(optimism ~ arm + sex + (1 | clinician), alpha ~ age * sex)))
}

# Everybody has an intercept of each term, and the two are correlated.
personal_fit <- function() {
  cached("personal_fit", fit_differing(list(optimism ~ sex + (1 | p | id), alpha ~ (1 | p | id)),
                                       differing_visits(3, 3)))
}

# Coefficients [draw, label] on the sampler's scale: alpha by its logarithm.
raw_coefficients <- function(fit) {
  draws <- fit$population$draws
  flat <- matrix(draws, prod(dim(draws)[1:2]), dimnames = list(NULL, dimnames(draws)[[3]]))
  flat[, "alpha"] <- log(flat[, "alpha"])
  flat
}

raw_intercepts <- function(fit) {
  draws <- fit$population$intercepts
  matrix(draws, prod(dim(draws)[1:2]), dimnames = list(NULL, dimnames(draws)[[3]]))
}

# One row per person, in order of first appearance.
first_visits <- function(visits) as.data.frame(visits)[!duplicated(visits$id), ]
