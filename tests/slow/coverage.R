# Do intervals cover the truth as often as they say, and does a fit say so where the
# data leave a term open? DIAG, 1,000 simulated trajectories a fit, default chains.
#
#   Rscript tests/slow/coverage.R [repetitions] [file for the table behind the lines]
#
# Repetitions are spread over future::plan() where there is one, and come out the same.

source(file.path("tests", "slow", "shared", "promise.R"))

repetitions <- argument(1, 20L)
table_file <- argument(2, "")
setting <- diag_setting()
models <- diag_models()

# The optimism is the default prior's of DIAG; prices are wider than the default's.
flexibility <- list(prior = ibrc_prior(alpha ~ lognormal(0, 3)), fixed = list(beta = 1e3, eta = 1e-3))
outlook <- list(prior = ibrc_prior(optimism ~ normal(0, 50 / 46), eta ~ lognormal(0, 3)), fixed = list(alpha = 0.5))
prices <- list(prior = ibrc_prior(beta ~ lognormal(0, 3), eta ~ lognormal(0, 3)), fixed = list(alpha = 0.5))

# `identified`: terms whose intervals have to cover. The others are left open on one
# side at least, and the fit has to say so.
study <- function(name, truth, free, identified, times = 1L) {
  list(name = name, truth = truth, free = free, identified = identified, repetitions = times * repetitions,
       agent = do.call(bounded_agent, c(free$fixed, truth)))
}
studies <- list(
  study("alpha 0.5", list(alpha = 0.5), flexibility, "alpha"),
  study("alpha 10", list(alpha = 10), flexibility, "alpha"),
  study("deterministic", list(alpha = 1e-5), flexibility, character()),
  # What is said of its eta rests on some six rare actions in a thousand trajectories, whose
  # number is as good as chance's: the first 20 covered 13 times, so more are asked.
  study("non-adaptive", list(optimism = 0.001, eta = 75), outlook, c("optimism", "eta"), times = 5L),
  study("optimist", list(optimism = 0.8, eta = 1e-3), outlook, "optimism"),
  study("pessimist", list(optimism = -1 / 0.75, eta = 1e-3), outlook, "optimism"),
  study("neutral", list(beta = 1e3, eta = 1e-3), prices, character())
)

behaviour <- function(agent, seed) simulate(plan_agent(setting, agent, models), 1000, seed = seed)

# One repetition: a row a term.
repeat_study <- function(at) {
  one <- at$study
  fit <- ibrc(behaviour(one$agent, at$seed), setting, models, one$free$prior, one$free$fixed, seed = at$seed,
              refresh = 0)
  rows <- tidy(fit, conf.level = 0.9)
  draws <- fit$draws$all
  truth <- unlist(one$truth)[rows$term]
  data.frame(study = one$name, seed = at$seed, rows[c("term", "estimate", "conf.low", "conf.high", "rhat", "ess_bulk")],
             truth = truth, below_zero = apply(draws < 0, 3, mean), upper = apply(draws, 3, stats::quantile, 0.95),
             lower = apply(draws, 3, stats::quantile, 0.05),
             verdict = identifiability(fit)$verdict,
             said = any(grepl("bound|say little", summary(fit)$advice)))
}
cases <- unlist(lapply(seq_along(studies), function(k) {
  lapply(seq_len(studies[[k]]$repetitions), function(i) list(study = studies[[k]], seed = 1000L * k + i))
}), recursive = FALSE)
results <- do.call(rbind, own("spread")(cases, repeat_study))
rownames(results) <- NULL
if (nzchar(table_file)) utils::write.csv(results, table_file, row.names = FALSE)

of <- function(x) paste(sum(x), "of", length(x))
enough <- function(x) sum(x) >= 0.8 * length(x)

# ---- coverage -------------------------------------------------------------------

for (one in studies) for (term in names(one$truth)) {
  rows <- results[results$study == one$name & results$term == term, ]
  label <- paste0(one$name, ", ", term, " = ", signif(one$truth[[term]], 3))
  if (term %in% one$identified) {
    covered <- rows$conf.low <= rows$truth & rows$truth <= rows$conf.high
    promise(paste(label, "is in its 90% interval"), of(covered), enough(covered))
    known <- rows$verdict == "identified"
    promise(paste(label, "is said to be identified"), of(known), enough(known))
  } else {
    side <- if (term == "beta") "bounded from below" else "bounded from above"
    bounded <- if (term == "beta") rows$lower <= rows$truth else rows$truth <= rows$upper
    promise(paste(label, "is within its 95% bound"), of(bounded), enough(bounded))
    left <- rows$verdict %in% c(side, "not identified") & rows$said
    promise(paste(label, "is said to be a bound or not identified"),
            paste0(of(left), " (", sum(rows$verdict == side), " a bound)"), enough(left))
  }
}
# Intervals of half their width may not pass.
narrow <- vapply(Filter(function(one) length(one$identified) > 0, studies), function(one) {
  rows <- results[results$study == one$name & results$term %in% one$identified, ]
  middle <- (rows$conf.low + rows$conf.high) / 2
  enough(abs(rows$truth - middle) <= (rows$conf.high - rows$conf.low) / 4)
}, NA)
promise("planted intervals of half their width are found", paste(sum(!narrow), "of", length(narrow), "studies"),
        any(!narrow))
pessimist <- results[results$study == "pessimist" & results$term == "optimism", ]
promise("the pessimist's median optimism is below 0", of(pessimist$estimate < 0), all(pessimist$estimate < 0))
promise("the pessimist's optimism is below 0 in 95% of draws", of(pessimist$below_zero >= 0.95),
        all(pessimist$below_zero >= 0.95))
fixed <- results[results$study == "deterministic", ]
promise("the deterministic agent's alpha is below 0.05 in 95% of draws",
        paste0(of(fixed$upper < 0.05), ", largest bound ", signif(max(fixed$upper), 2)), all(fixed$upper < 0.05))
settled <- results$rhat < 1.01
promise("chains agree (R-hat below 1.01)",
        paste0(of(settled), ", least effective draws ", round(min(results$ess_bulk))), mean(settled) >= 0.9)

# ---- optimist and non-adaptive ----------------------------------------------------

# The same two bodies of behaviour, read as bounded and read as rational.
interval <- function(name, term) results[results$study == name & results$term == term, c("conf.low", "conf.high")]
optimist <- lapply(c(eta = "eta", optimism = "optimism"), interval, name = "optimist")
non_adaptive <- lapply(c(eta = "eta", optimism = "optimism"), function(term) {
  interval("non-adaptive", term)[seq_len(repetitions), ]
})
apart <- optimist$eta$conf.high < non_adaptive$eta$conf.low &
  optimist$optimism$conf.low > non_adaptive$optimism$conf.high
promise("90% intervals of optimism and of eta tell the optimist from the non-adaptive", of(apart), all(apart))

ratio_of <- function(at) {
  fit <- ibrc(behaviour(at$agent, at$seed), setting, models, irl_prior(setting), list(alpha = 0.5), seed = at$seed,
              refresh = 0)
  cbind(cost_benefit(fit, conf.level = 0.9), rhat = max(tidy(fit)$rhat))
}
pairs <- seq_len(min(repetitions, 5L))
ratios <- lapply(studies[c(5, 4)], function(one) {
  k <- match(one$name, vapply(studies, `[[`, "", "name"))
  do.call(rbind, own("spread")(lapply(pairs, function(i) list(agent = one$agent, seed = 1000L * k + i)), ratio_of))
})
near <- c(-2.7, -2.5)
for (i in 1:2) {
  ratio <- ratios[[i]]
  promise(paste0("Bayesian IRL's cost over benefit, ", c("optimist", "non-adaptive")[i], ", is near ", near[i]),
          paste0("mean of medians ", signif(mean(ratio$estimate), 3), ", ", signif(min(ratio$estimate), 3), " to ",
                 signif(max(ratio$estimate), 3), ", posterior sd ", signif(mean(ratio$std.error), 2), ", R-hat ",
                 round(max(ratio$rhat), 3)),
          abs(mean(ratio$estimate) - near[i]) < 0.15)
}
middles <- c(mean(ratios[[1]]$estimate), mean(ratios[[2]]$estimate))
promise("Bayesian IRL reads both as nearly the same wish", paste0(signif(100 * abs(1 - middles[1] / middles[2]), 2),
                                                                  "% apart"),
        abs(1 - middles[1] / middles[2]) < 0.15)
finish()
