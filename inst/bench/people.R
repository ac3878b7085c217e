# What it costs that people differ. As in forward.R, every claim is a ratio of times taken next to each other in this
# run.
#
#   Rscript inst/bench/people.R [all]
#
# With "all", the dear ones as well: 1,000 people with an intercept each, and a continuous covariate on adni_like.

library(ibrc)
options(width = 120, ibrc.check = FALSE)
source(system.file("bench", "shared", "clock.R", package = "ibrc"))

setting <- diag_setting()
models <- diag_models()
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
seconds <- function(code) system.time(code)[["elapsed"]]

# `n` people with `each` trajectories, whose optimism varies with standard deviation 0.3.
people <- function(n, each) {
  set.seed(1)
  optimism <- stats::rnorm(n, 0.5, 0.3)
  plan <- plan_agent(setting, bounded_agent(alpha = 0.5), models)
  visits <- lapply(seq_len(n), function(i) {
    one <- as.data.frame(simulate(update(plan, bounded_agent(alpha = 0.5, optimism = optimism[i])), each))
    cbind(one[c("time", "action", "observation")], id = each * (i - 1) + one$id, person = i)
  })
  trajectories(do.call(rbind, visits), covariates = "person")
}

say("== 20 people pooled, against the same people apart, for as many steps (to reach: 1.2)\n")
twenty <- people(20, 40)
run <- function(...) ibrc(twenty, setting, models, prior, iter = 600, warmup = 300, seed = 1, refresh = 0, ...)
apart <- seconds(run(by = "person"))
both <- list(alpha ~ (1 | person), optimism ~ (1 | person))
pooled <- seconds(run(effects = both, control = list(cells = "exact")))
near <- seconds(run(effects = both, control = list(cells = "interpolated")))
show(data.frame(cells = c("exact", "interpolated"), times_apart = signif(c(pooled, near) / apart, 3)))

if ("all" %in% commandArgs(TRUE)) {
  say("== 1,000 people with an intercept each, 10 trajectories per person (to reach: an hour on two cores)\n")
  many <- people(1000, 10)
  took <- seconds(fit <- ibrc(many, setting, models, prior, effects = list(optimism ~ (1 | person)), seed = 1,
                              cores = 2, refresh = 0))
  show(data.frame(minutes = signif(took / 60, 2), steps = fit$run$iter, worst_rhat = round(max(tidy(fit)$rhat), 3),
                  fewest_effective = round(min(tidy(fit)$ess_bulk))))

  say("== A continuous covariate on adni_like, against a fit without (to reach: 30)\n")
  cohort <- read_adni(adni_like)
  dynamics <- fit_iohmm(cohort, 3, starts = 3, seed = 1, transitions = "shared")
  clinic <- adni_setting(dynamics)
  believed <- perturb_models(clinic, by = 0.1)
  fit_it <- function(...) ibrc(cohort, clinic, believed, prior, seed = 1, resolution = 20, refresh = 0, cores = 2, ...)
  without <- seconds(fit_it())
  with <- seconds(fit_it(effects = list(optimism ~ age)))
  show(data.frame(times_without = signif(with / without, 3), seconds_without = signif(without, 2)))
}
