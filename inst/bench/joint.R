# What a joint posterior of dynamics and agents takes: the cohort adni_like, two groups, as in the article "adni".
#
#   Rscript inst/bench/joint.R [steps]      seven minutes on two idle cores
#
# To reach: R-hat below 1.01 and 400 effective draws of every term of the agents in under 10 minutes on two cores. They
# are there after 24,250 steps, where a run without `iter` looks as well (steps = NULL). It then goes on to 34,375 steps
# until the laws of the dynamics are mixed too.

library(ibrc)
cohort <- read_adni(adni_like)
ratings <- c("cdr_normal", "cdr_questionable", "cdr_severe")
iohmm <- fit_iohmm(cohort, states = 3, starts = 20, transitions = "shared", names = c("normal", "mci", "dementia"),
                   sort_by = function(seen) match(sub("_mri.*", "", seen), ratings), seed = 1)
asked <- commandArgs(TRUE)
steps <- if (!length(asked)) 24250 else if (asked[1] != "NULL") as.numeric(asked[1])
began <- proc.time()
fit <- ibrc(cohort, function(dynamics) adni_setting(dynamics, full = 0.95),
            function(setting) perturb_models(setting, by = 0.1, vary = "both"),
            ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1)), list(eta = 0), by = "over_75",
            dynamics = iohmm, resolution = 20, iter = steps, warmup = if (!is.null(steps)) 4000, cores = 2, seed = 1,
            control = ibrc_control(check = FALSE))
took <- proc.time() - began
terms <- tidy(fit)
minutes <- function(part) format(took[[part]] / 60, digits = 3)
cat("minutes", minutes("elapsed"), "and of all cores", minutes("user.self"), "for", fit$run$iter, "steps of",
    fit$run$chains, "chains\n")
cat("worst R-hat", format(max(terms$rhat), digits = 5), "fewest effective draws",
    round(min(terms$ess_bulk, terms$ess_tail)), "\n")
print(as.data.frame(terms)[c("term", "group", "estimate", "conf.low", "conf.high", "rhat", "ess_bulk", "ess_tail")])
