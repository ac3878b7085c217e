# Do intervals cover the truth as often as they say, and does a fit say so where the
# data leave a term open? DIAG, 1,000 simulated trajectories per fit, default chains.
#
#   Rscript tests/slow/coverage.R [truths from the prior] [repetitions at a fixed truth] [file for the tables]
#
# Intervals of a posterior cover at their nominal rate on average over truths from the
# prior, and need not at any one truth. So the first is asked, and the second is shown, for
# the agents that the paper uses. Sizes and marks were fixed before the run: 200 truths
# from each prior, a two-sided binomial test at 0.001 for each of six intervals, and 20
# repetitions at each of seven fixed truths. Repetitions are spread over future::plan()
# where there is one, and come out the same. Half an hour of a core.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "parts.R"))

truths <- argument(1, 200L)
repetitions <- argument(2, 20L)
table_file <- argument(3, "")
mark <- 0.001
setting <- diag_setting()
models <- diag_models()

# The optimism is the default prior's of DIAG; prices are wider than the default's.
flexibility <- list(prior = ibrc_prior(alpha ~ lognormal(0, 3)), fixed = list(beta = 1e3, eta = 1e-3))
outlook <- list(prior = ibrc_prior(optimism ~ normal(0, 50 / 46), eta ~ lognormal(0, 3)), fixed = list(alpha = 0.5))
prices <- list(prior = ibrc_prior(beta ~ lognormal(0, 3), eta ~ lognormal(0, 3)), fixed = list(alpha = 0.5))

behaviour <- function(agent, seed) simulate(plan_agent(setting, agent, models), 1000, seed = seed)
of <- function(x) paste(sum(x), "of", length(x))

# ---- coverage, averaged over the prior ----------------------------------------------

averaged <- list(
  "alpha ~ lognormal(0, 3)" = c(flexibility, list(draw = function() list(alpha = stats::rlnorm(1, 0, 3)))),
  "optimism ~ normal(0, 1.09), eta ~ lognormal(0, 3)" =
    c(outlook, list(draw = function() list(optimism = stats::rnorm(1, 0, 50 / 46), eta = stats::rlnorm(1, 0, 3))))
)

# One truth from the prior: for every term, the level at which the truth stands among the draws.
level_of_truth <- function(at) {
  # Not the numbers that simulate() is about to use.
  set.seed(500000L + at$seed)
  truth <- at$free$draw()
  fit <- ibrc(behaviour(do.call(bounded_agent, c(at$free$fixed, truth)), at$seed), setting, models, at$free$prior,
              at$free$fixed, seed = at$seed, refresh = 0)
  as.data.frame(lapply(stats::setNames(nm = names(truth)),
                       function(term) mean(fit$draws$all[, , term] < truth[[term]])))
}
named_by_seed <- function(cases) stats::setNames(cases, vapply(cases, function(at) format(at$seed), ""))
covers <- function(level, nominal) abs(level - 0.5) <= nominal / 2
p_value <- function(covered, nominal) stats::binom.test(sum(covered), length(covered), nominal)$p.value

for (k in seq_along(averaged)) {
  cases <- lapply(seq_len(truths), function(i) list(free = averaged[[k]], seed = 10000L * k + i))
  levels <- in_parts("coverage", named_by_seed(cases), level_of_truth)
  if (nzchar(table_file)) utils::write.csv(levels, paste0(table_file, ".prior", k), row.names = FALSE)
  for (term in colnames(levels)) {
    label <- paste0("over truths from ", names(averaged)[k], ", ", term)
    for (nominal in c(0.5, 0.9)) {
      covered <- covers(levels[, term], nominal)
      p <- p_value(covered, nominal)
      promise(paste0(label, " is in its ", 100 * nominal, "% interval as often as that"),
              paste0(truths, " truths, binomial p above ", mark), paste0(of(covered), ", p = ", signif(p, 2)), p > mark)
    }
    narrow <- covers(levels[, term], 0.7)
    p <- p_value(narrow, 0.9)
    promise(paste0(label, ": planted intervals that hold 70% and say 90% are found"),
            paste0("the same truths, binomial p below ", mark), paste0(of(narrow), ", p = ", signif(p, 2)), p < mark)
  }
}

# ---- agents of the paper ---------------------------------------------------------------

# `identified`: terms that a fit has to call so. The others are left open on one side at
# least, and the fit has to say that.
study <- function(name, truth, free, identified) {
  list(name = name, truth = truth, free = free, identified = identified,
       agent = do.call(bounded_agent, c(free$fixed, truth)))
}
studies <- list(
  study("alpha 0.5", list(alpha = 0.5), flexibility, "alpha"),
  study("alpha 10", list(alpha = 10), flexibility, "alpha"),
  study("deterministic", list(alpha = 1e-5), flexibility, character()),
  study("non-adaptive", list(optimism = 0.001, eta = 75), outlook, c("optimism", "eta")),
  study("optimist", list(optimism = 0.8, eta = 1e-3), outlook, "optimism"),
  study("pessimist", list(optimism = -1 / 0.75, eta = 1e-3), outlook, "optimism"),
  study("neutral", list(beta = 1e3, eta = 1e-3), prices, character())
)

# One repetition: one row per term.
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
  lapply(seq_len(repetitions), function(i) list(study = studies[[k]], seed = 1000L * k + i))
}), recursive = FALSE)
results <- in_parts("coverage", named_by_seed(cases), repeat_study)
rownames(results) <- NULL
if (nzchar(table_file)) utils::write.csv(results, table_file, row.names = FALSE)

enough <- function(x) sum(x) >= 0.8 * length(x)
most <- paste(repetitions, "repetitions, 80% of them")

for (one in studies) for (term in names(one$truth)) {
  rows <- results[results$study == one$name & results$term == term, ]
  label <- paste0(one$name, ", ", term, " = ", signif(one$truth[[term]], 3))
  if (term %in% one$identified) {
    show_figure(paste("at a fixed truth,", label, "is in its 90% interval"),
                of(rows$conf.low <= rows$truth & rows$truth <= rows$conf.high))
    known <- rows$verdict == "identified"
    promise(paste(label, "is said to be identified"), most, of(known), enough(known))
  } else {
    side <- if (term == "beta") "bounded from below" else "bounded from above"
    bounded <- if (term == "beta") rows$lower <= rows$truth else rows$truth <= rows$upper
    show_figure(paste("at a fixed truth,", label, "is within its 95% bound"), of(bounded))
    left <- rows$verdict %in% c(side, "not identified") & rows$said
    promise(paste(label, "is said to be a bound or not identified"), most,
            paste0(of(left), " (", sum(rows$verdict == side), " a bound)"), enough(left))
  }
}
pessimist <- results[results$study == "pessimist" & results$term == "optimism", ]
promise("the pessimist's median optimism is below 0", paste(repetitions, "repetitions, all"),
        of(pessimist$estimate < 0), all(pessimist$estimate < 0))
promise("the pessimist's optimism is below 0 in 95% of draws", paste(repetitions, "repetitions, all"),
        of(pessimist$below_zero >= 0.95), all(pessimist$below_zero >= 0.95))
fixed <- results[results$study == "deterministic", ]
promise("the deterministic agent's alpha is below 0.05 in 95% of draws", paste(repetitions, "repetitions, all"),
        paste0(of(fixed$upper < 0.05), ", largest bound ", signif(max(fixed$upper), 2)), all(fixed$upper < 0.05))
settled <- results$rhat < 1.01
promise("chains agree (R-hat below 1.01)", "90% of all terms of these fits",
        paste0(of(settled), ", least effective draws ", round(min(results$ess_bulk))), mean(settled) >= 0.9)

# ---- optimist and non-adaptive ----------------------------------------------------

# The same two bodies of behaviour, read as bounded and read as rational.
interval <- function(name, term) results[results$study == name & results$term == term, c("conf.low", "conf.high")]
optimist <- lapply(c(eta = "eta", optimism = "optimism"), interval, name = "optimist")
non_adaptive <- lapply(c(eta = "eta", optimism = "optimism"), interval, name = "non-adaptive")
apart <- optimist$eta$conf.high < non_adaptive$eta$conf.low &
  optimist$optimism$conf.low > non_adaptive$optimism$conf.high
promise("90% intervals of optimism and of eta tell the optimist from the non-adaptive",
        paste(repetitions, "pairs, all"), of(apart), all(apart))

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
          paste(length(pairs), "fits, the mean of medians within 0.15"),
          paste0("mean of medians ", signif(mean(ratio$estimate), 3), ", ", signif(min(ratio$estimate), 3), " to ",
                 signif(max(ratio$estimate), 3), ", posterior sd ", signif(mean(ratio$std.error), 2), ", R-hat ",
                 round(max(ratio$rhat), 3)),
          abs(mean(ratio$estimate) - near[i]) < 0.15)
}
middles <- c(mean(ratios[[1]]$estimate), mean(ratios[[2]]$estimate))
promise("Bayesian IRL reads both as nearly the same wish",
        paste(length(pairs), "fits of each, means less than 15% apart"),
        paste0(signif(100 * abs(1 - middles[1] / middles[2]), 2), "% apart"),
        abs(1 - middles[1] / middles[2]) < 0.15)
end_parts("coverage")
finish()
