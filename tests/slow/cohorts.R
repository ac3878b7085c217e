# Does the joint posterior of dynamics and agents cover the truth? Fresh cohorts like `adni_like` (made by
# data-raw/adni_like.R), dynamics learned from each, and ibrc(dynamics = ): alpha and optimism of doctors of patients
# over 75 and up to 75, and the difference in optimism. Runs have 10,000 steps, fewer than the defaults would make:
# limits of intervals need no 400 effective draws to be told from the truth, and what the chains say of themselves is
# shown.
#
#   Rscript tests/slow/cohorts.R [cohorts, 16]
#
# Size and marks were fixed before any run: 16 cohorts; of the five 95% intervals each covers the truth in at least 13
# (with 95% each, fewer come about in 7 cases of a thousand for one of the five; with 80%, in 40 of a hundred); and the
# fault that is planted, learned dynamics that are then taken as known, is seen if it covers one of the five in fewer
# than 13. Some ten minutes of a core per cohort: a run that was stopped goes on behind the cohorts that were done
# (shared/parts.R).

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "parts.R"))
cohort_maker <- new.env()
sys.source(file.path("data-raw", "adni_like.R"), cohort_maker)

cohorts <- argument(1, 16L)
least <- if (cohorts == 16L) 13 else stats::qbinom(0.007, cohorts, 0.95)

truth <- adni_like_truth()
prior <- ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1))
models <- function(setting) perturb_models(setting, by = 0.1, vary = "both")
ratings <- c("cdr_normal", "cdr_questionable", "cdr_severe")

intervals <- function(fit) {
  level <- as.data.frame(tidy(fit))[c("term", "group", "conf.low", "conf.high", "rhat", "ess_bulk")]
  contrast <- as.data.frame(compare_groups(fit, reference = "up_to_75", scale = "difference"))
  contrast <- contrast[contrast$term == "optimism", ]
  rbind(level, data.frame(term = "difference", group = contrast$group, contrast[c("conf.low", "conf.high")],
                          rhat = NA, ess_bulk = NA))
}

one_cohort <- function(i) {
  visits <- read_adni(cohort_maker$make_adni_like(seed = 50000L + i))
  iohmm <- fit_iohmm(visits, states = 3, starts = 20, transitions = "shared", names = truth$setting$states, seed = i,
                     sort_by = function(seen) match(sub("_mri.*", "", seen), ratings))
  do.call(rbind, lapply(c("joint", "none"), function(uncertainty) {
    fit <- suppressWarnings(ibrc(visits, adni_setting, models, prior, list(eta = 0), by = "over_75", resolution = 20,
                                 dynamics = iohmm, uncertainty = uncertainty, seed = i, refresh = 0,
                                 iter = if (uncertainty == "joint") 10000, warmup = if (uncertainty == "joint") 4000,
                                 control = ibrc_control(check = FALSE)))
    # No times: parts of other sources have to come out the same.
    cbind(cohort = i, uncertainty = uncertainty, intervals(fit), steps = fit$run$iter)
  }))
}

found <- in_parts("cohorts", stats::setNames(as.list(seq_len(cohorts)), seq_len(cohorts)), one_cohort)
of_agents <- function(group, name) vapply(group, function(g) truth$agents[[g]][[name]], 0)
optimism <- function(group) 1 / of_agents(group, "beta")
found$truth <- ifelse(found$term == "alpha", of_agents(found$group, "alpha"), optimism(found$group))
found$truth[found$term == "difference"] <- optimism("over_75") - optimism("up_to_75")
found$covered <- found$conf.low <= found$truth & found$truth <= found$conf.high
count <- function(uncertainty) {
  these <- found[found$uncertainty == uncertainty, ]
  tapply(these$covered, paste(these$term, these$group), sum)
}
together <- count("joint")
for (what in names(together)) {
  promise(paste("Cohorts like adni_like, joint: coverage of", what, "is compatible with 95%"),
          paste("at least", least, "of", cohorts), counted(together[[what]], cohorts), together[[what]] >= least)
}
held <- count("none")
promise("Planted fault: learned dynamics that are taken as known are seen",
        paste("one of the five has the truth in fewer than", least, "of", cohorts),
        paste(names(held), held, collapse = ", "), min(held) < least)
agents <- found[found$uncertainty == "joint" & !is.na(found$rhat), ]
show_figure("Cohorts like adni_like, joint: chains",
            paste0("worst R-hat ", signif(max(agents$rhat), 4), ", fewest effective draws ",
                   round(min(agents$ess_bulk))))
end_parts("cohorts")
finish()
