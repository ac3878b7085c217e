# Doctors who are the same, and older patients who are sicker at their first visit: how often does a fit find a
# difference in optimism that is not there?
#
#   Rscript tests/slow/starts.R [studies, 60]
#
# A screening clinic: a patient who is well may fall ill, a test of 75% accuracy comes with every visit, and treatment
# ends the matter. Of the old 45% are ill at first, of the young 10%, and doctors know that; otherwise nothing differs,
# least of all the doctors. In each study starts are learned from a registry of 20,000 patients (fit_iohmm()), by age
# and, beside it, one for all; the doctors of 500 other patients are then fitted by age under either, with the dynamics
# that are so. A false positive is a 95% interval of the difference in optimism that leaves out 0.
#
# Size and marks were fixed before any run: 60 studies; with starts by age at most 7 false positives (of 60 at 5% each,
# more than 7 come about in less than one case in a hundred; for another number of studies the same point of the
# binomial distribution); and the fault that is planted, one start for all, is seen if more than half of the studies
# are false positives with it. Shown beside it: starts by age that are learned from the 500 patients themselves and then
# taken as known, whose own error the intervals do not have. A quarter of an hour of a core.

source(file.path("tests", "slow", "shared", "promise.R"))

studies <- argument(1, 60L)
most <- if (studies == 60L) 7 else stats::qbinom(0.99, studies, 0.05)

states <- c("well", "ill")
course <- function(hazard) list(treat = diag(2), wait = rbind(c(1 - hazard, hazard), c(0, 1)))
accuracy <- rbind(c(0.75, 0.25), c(0.25, 0.75))
clinic <- function(start, start_by = NULL) {
  decision_setting(states, c("treat", "wait"), c("negative", "positive"), course(0.1), accuracy,
                   cbind(treat = c(-6, 4), wait = c(0.3, -1)), discount = 0.9, start = start, stop_actions = "treat",
                   start_by = start_by)
}
truth <- clinic(rbind(old = c(0.55, 0.45), young = c(0.9, 0.1)), "age")
believed <- lapply(c(0.03, 0.1, 0.2), function(hazard) list(transition = course(hazard), emission = accuracy))
models <- model_prior(believed, setting = truth)
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
doctors <- plan_agent(truth, bounded_agent(alpha = 0.6, optimism = 0.5), models, resolution = 30)
behaviour <- function(n, seed) simulate(doctors, n, seed = seed, horizon = 12)

learn_start <- function(visits, start_by) {
  fit <- fit_iohmm(visits, 2, starts = 3, seed = 1, sort_by = "positive", transitions = "shared", tolerance = 1e-4,
                   keep_data = FALSE, start_by = start_by, names = states)
  clinic(fit$start, start_by)
}

# Does the interval leave out 0?
finds_difference <- function(visits, setting, seed) {
  fit <- suppressWarnings(ibrc(visits, setting, models, prior, by = "age", resolution = 30, seed = seed, refresh = 0))
  contrast <- compare_groups(fit)
  contrast <- contrast[contrast$term == "optimism", ]
  contrast$conf.low > 0 || contrast$conf.high < 0
}

one_study <- function(i) {
  visits <- behaviour(500, i)
  registry <- behaviour(20000, 100000L + i)
  c(by_age = finds_difference(visits, learn_start(registry, "age"), i),
    shared = finds_difference(visits, learn_start(registry, NULL), i),
    same = finds_difference(visits, learn_start(visits, "age"), i))
}

found <- do.call(rbind, own("spread")(as.list(seq_len(studies)), one_study))
of <- function(x) paste(sum(x), "of", length(x))
promise("doctors who are the same are found the same where starts differ by age",
        paste("at most", most, "of", studies, "intervals without 0"), of(found[, "by_age"]),
        sum(found[, "by_age"]) <= most)
promise("planted: one start for all ages is read as a difference between doctors",
        paste("more than half of", studies), of(found[, "shared"]), sum(found[, "shared"]) > studies / 2)
show_figure("the same with starts learned from the doctors' own 500 patients, then taken as known", of(found[, "same"]))
finish()
