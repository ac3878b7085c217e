# Clinicians who differ, and arms that do not: how often is a difference found that is not there?
#
#   Rscript tests/slow/clinicians.R [studies, 200]
#
# Each study has ten clinicians per arm with 30 patients each on DIAG; clinicians' optimism varies with standard
# deviation 0.3 about 0.5 in both arms. A false positive is a 95% interval of the difference between arms that leaves
# out 0: with (1 | clinician), and without. And a study that is confounded: severity moves optimism by 0.6, two in three
# patients of one arm are severe and one in three of the other, and nothing else differs: with severity in the formula,
# and without.
#
# Size and marks, fixed before any run: 200 studies of either kind. With the intercepts, and with the confounder, at
# most 18 false positives (of 200 at 5% each more than 18 come about in less than one case in a hundred; for another
# number of studies the same point of the binomial distribution) and at least 3, for intervals that are far too wide
# have none. The faults that are planted, leaving them out, are seen if a third of the studies are false positives
# without. An hour of a core. It goes on where it was stopped.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "parts.R"))

studies <- argument(1, 200L)
most <- stats::qbinom(0.99, studies, 0.05)
fewest <- stats::qbinom(0.003, studies, 0.05)

setting <- diag_setting()
models <- diag_models()
plan <- plan_agent(setting, bounded_agent(alpha = 0.5), models, resolution = 30)
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))

simulated <- function(optimism, patients, columns) {
  each <- lapply(seq_along(optimism), function(i) {
    if (!patients[i]) return(NULL)
    visits <- as.data.frame(simulate(update(plan, bounded_agent(alpha = 0.5, optimism = optimism[i])), patients[i]))
    cbind(visits[c("time", "action", "observation")], id = paste(i, visits$id), columns[i, , drop = FALSE],
          row.names = NULL)
  })
  trajectories(do.call(rbind, each), covariates = names(columns))
}

clinic <- function() {
  who <- data.frame(clinician = paste0("c", 1:20), arm = rep(c("a", "b"), each = 10))
  simulated(stats::rnorm(20, 0.5, 0.3), rep(30L, 20), who)
}

confounded <- function() {
  who <- data.frame(severity = c("mild", "severe", "mild", "severe"), arm = c("a", "a", "b", "b"))
  severe <- stats::rbinom(2, 300, c(1 / 3, 2 / 3))
  simulated(c(0.2, 0.8, 0.2, 0.8), c(300L - severe[1], severe[1], 300L - severe[2], severe[2]), who)
}

finds <- function(visits, effects, seed) {
  fit <- suppressWarnings(ibrc(visits, setting, models, prior, effects = effects, resolution = 30, seed = seed,
                               chains = 3, warmup = 600, iter = 1800, refresh = 0))
  one <- tidy(fit)
  one <- one[one$term == "optimism[armb]", ]
  one$conf.low > 0 || one$conf.high < 0
}

one_study <- function(i) {
  set.seed(i)
  varying <- clinic()
  mixed <- confounded()
  data.frame(pooled = finds(varying, list(optimism ~ arm + (1 | clinician)), i),
             ignored = finds(varying, list(optimism ~ arm), i),
             adjusted = finds(mixed, list(optimism ~ arm + severity), i),
             crude = finds(mixed, list(optimism ~ arm), i))
}

tasks <- stats::setNames(as.list(seq_len(studies)), seq_len(studies))
found <- in_parts("clinicians", tasks, one_study)
is_right <- function(x) sum(x) >= fewest && sum(x) <= most
of <- function(x) counted(sum(x), length(x))
limit <- paste(fewest, "to", most, "of", studies, "intervals without 0")
promise("clinicians vary, arms do not: with (1 | clinician)", limit, of(found$pooled), is_right(found$pooled))
promise("planted: clinicians who vary are left out of the formula", paste("a third of", studies, "or more"),
        of(found$ignored), sum(found$ignored) >= studies / 3)
promise("severity differs between arms, decisions do not: with severity in the formula", limit, of(found$adjusted),
        is_right(found$adjusted))
promise("planted: severity is left out of the formula", paste("a third of", studies, "or more"), of(found$crude),
        sum(found$crude) >= studies / 3)
end_parts("clinicians")
finish()
