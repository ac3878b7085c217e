# Studies that are simulated and analysed as power_study() does: intervals cover as often as they promise where all that
# is assumed is so, and clinicians that vary and are ignored are taken for a difference between arms.
#
#   Rscript tests/slow/studies.R [studies, 200]
#
# DIAG, 200 patients in each of two arms whose decision makers do not differ, alpha and optimism inferred. 200 studies;
# intervals of both terms from curvatures and from profiles cover the truth in at least as many studies as 95% ones do
# but once in two hundred times. Then ten clinicians per arm, whose optimism has a standard deviation of 0.3: a
# difference in optimism is found in at least 40% of studies by a fit that knows nothing of them, the fault that is
# planted; and in half as many studies a t-test on modes of clinicians, which knows, finds one at most as often as 5%
# tests do but once in a hundred times. Marks were written down after a look at 100 patients per arm (200 studies: 96%
# and 97.5% covered; clinicians ignored, 36% found) and before any result with 200. Some ten minutes of a core.

source(file.path("tests", "slow", "shared", "promise.R"))

studies <- argument(1, 200L)
least <- stats::qbinom(0.005, studies, 0.95)
most <- stats::qbinom(0.99, studies %/% 2L, 0.05)

design <- function(...) {
  study_design(diag_setting(), diag_models(), bounded_agent(alpha = 0.5), effect = list(optimism = 0), patients = 200,
               prior = ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)), resolution = 20, ...)
}
figures <- function(study, measure) {
  rows <- tidy(study)[tidy(study)$measure == measure, ]
  stats::setNames(round(rows$estimate * rows$n), rows$term)
}
of <- function(hits, n) paste(paste(names(hits), hits), "of", n, collapse = ", ")

for (fit in c("mode", "profile")) {
  covered <- figures(power_study(design(starts = 1, fit = fit), 200, studies), "coverage")
  promise(paste0("intervals of a planned study cover what they promise (", fit, ")"),
          paste("at least", least, "of", studies, "for each term"), of(covered, studies), all(covered >= least))
}

varied <- function(...) design(..., clusters = c(clinician = 10), spread = c(optimism = 0.3))
found <- figures(power_study(varied(starts = 1), 200, studies), "false_positives")["optimism"]
promise("planted: clinicians that vary and are ignored are taken for a difference between arms",
        paste("at least 40% of", studies), of(found, studies), found >= 0.4 * studies)

by_clinician <- function(visits, design) {
  modes <- tidy(ibrc_mode(visits, design$setting, design$models, design$prior, by = "clinician", resolution = 20,
                          starts = 1, conf.level = NULL))
  modes <- modes[modes$term == "optimism", ]
  arm <- visits$group[match(modes$group, visits$clinician)]
  test <- stats::t.test(modes$estimate[arm == "other"], modes$estimate[arm == "reference"])
  data.frame(term = "optimism", estimate = -diff(test$estimate), conf.low = test$conf.int[1],
             conf.high = test$conf.int[2])
}
held <- figures(power_study(varied(fit = by_clinician), 200, studies %/% 2L), "false_positives")["optimism"]
promise("a t-test on modes of clinicians finds a difference that is not there as often as it may",
        paste("at most", most, "of", studies %/% 2L), of(held, studies %/% 2L), held <= most)
finish()
