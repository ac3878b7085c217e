# Two problems: DIAG with 1,000 trajectories, and a clinic with three states on the
# paper's lattice of 5,151 nodes, where one step of the chains takes long.

clinic_setting <- function() {
  law <- function(n, k) {
    p <- matrix(rexp(n * k)^2, n, k)
    p / rowSums(p)
  }
  set.seed(3)
  emission <- list(wait = cbind(law(3, 3), matrix(0, 3, 9)), test = cbind(matrix(0, 3, 3), law(3, 9)))
  decision_setting(c("s1", "s2", "s3"), c("wait", "test"), paste0("x", 1:12), 0.9 * diag(3) + 0.1 * law(3, 3), emission,
                   cbind(rep(0, 3), rep(-1, 3)), discount = 0.95)
}

problem_of <- function(name) {
  setting <- if (name == "DIAG") diag_setting() else clinic_setting()
  models <- if (name == "DIAG") diag_models() else soften_models(setting, c(0, 0.5))
  plan <- plan_agent(setting, bounded_agent(0.5, 1.25, 1e-3), models)
  visits <- as.data.frame(simulate(plan, 1000, seed = 1, horizon = if (name == "DIAG") 50 else 4))
  visits$group <- visits$id %% 10
  list(visits = trajectories(visits, covariates = "group", setting = setting), setting = setting, models = models,
       prior = ibrc_prior(alpha ~ lognormal(0, 3), optimism ~ normal(0, 1), eta ~ lognormal(0, 3)))
}

# People who differ and have a habit (helper-population.R); the rest is for ibrc().
fit_people <- function(..., from = asNamespace("ibrc")) {
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), habit ~ normal(0, 1))
  from$ibrc(people_visits(), diag_setting(), diag_models(), prior, ...,
            effects = list(optimism ~ arm + (1 | clinician)))
}
