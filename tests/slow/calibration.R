# Is the posterior the posterior? Parameters from the prior, behaviour from them, a fit:
# ranks of the truth among the draws are uniform, and those of a sampler or a likelihood
# with a fault are not. Geweke's joint test asks the same without fits, and with no data
# the prior comes back.
#
#   Rscript tests/slow/calibration.R [data sets per case] [file for the table of ranks]
#
# Batches of data sets are spread over future::plan() where there is one, and come out
# the same. A thousand data sets per case take about half an hour of a core. The default
# prior and the default run have a script of their own, defaults.R.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "calibration.R"))
source(file.path("tests", "slow", "shared", "parts.R"))

sets <- argument(1, 1000L)
table_file <- argument(2, "")

# Short trajectories and a coarse lattice: what is tested is the same, and a fit takes
# a fifth of a second. Simulation and fit have the same lattice.
on_diag <- function(name, prior, quantile, fixed = list(), ...) {
  calibration_case(name, diag_setting(), diag_models(), prior, quantile, fixed, resolution = 20, horizon = 8,
                   n = 50, ...)
}
with_actions <- function(prior) {
  colnames(prior) <- paste0("action_prior[", diag_setting()$actions, "]")
  prior
}
# What is believed about the accuracy of the test, ten points to either side.
around_accuracy <- function(accuracy) diag_models(accuracy = pmin(pmax(accuracy + c(-0.1, 0, 0.1), 0.02), 0.98))
cases <- list(
  on_diag("DIAG, alpha", ibrc_prior(alpha ~ lognormal(0, 1)), list(alpha = lognormal(0, 1)),
          list(beta = 1.25, eta = 0.1), warmup = 150, thin = 6),
  on_diag("DIAG, beta and eta", ibrc_prior(beta ~ lognormal(0.5, 1), eta ~ lognormal(0, 1)),
          list(beta = lognormal(0.5, 1), eta = lognormal(0, 1)), list(alpha = 1), warmup = 200, thin = 8),
  on_diag("DIAG, three terms",
          ibrc_prior(alpha ~ lognormal(0, 0.8), optimism ~ normal(0, 0.8), eta ~ lognormal(0, 0.8)),
          list(alpha = lognormal(0, 0.8), optimism = normal(0, 0.8), eta = lognormal(0, 0.8)),
          warmup = 300, thin = 10),
  on_diag("DIAG, two groups", ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 0.8)),
          list(alpha = lognormal(0, 1), optimism = normal(0, 0.8)), list(eta = 0.1), warmup = 200, thin = 8,
          pairs = TRUE),
  calibration_case("three states, three terms", ward_setting(), soften_models(ward_setting(), c(0, 0.5)),
                   ibrc_prior(alpha ~ lognormal(-0.5, 0.8), optimism ~ normal(0, 0.8), eta ~ lognormal(-0.5, 0.8)),
                   list(alpha = lognormal(-0.5, 0.8), optimism = normal(0, 0.8), eta = lognormal(-0.5, 0.8)),
                   resolution = 10, horizon = 5, n = 50, warmup = 300, thin = 10),
  on_diag("DIAG, alpha and the action prior", ibrc_prior(alpha ~ lognormal(0, 0.8), action_prior ~ dirichlet(2, 1, 3)),
          NULL, list(optimism = 0.5, eta = 0.1), warmup = 300, thin = 10, draw = function(n) {
            cbind(alpha = stats::rlnorm(n, 0, 0.8), with_actions(dirichlet_draws(n, c(2, 1, 3))))
          }),
  recipe_case("DIAG, alpha and a believed accuracy", around_accuracy,
              ibrc_prior(alpha ~ lognormal(0, 0.8), accuracy ~ beta(14, 6)),
              list(alpha = lognormal(0, 0.8), accuracy = function(p) stats::qbeta(p, 14, 6)),
              list(optimism = 0.5, eta = 0.1), resolution = 20, horizon = 8, n = 50, warmup = 300, thin = 10)
)

# ---- ranks are uniform ----------------------------------------------------------

number <- function(x) format(signif(x, 2))
rank_names <- function(ranks) grep("^effective|^covered", names(ranks), value = TRUE, invert = TRUE)
p_values <- function(ranks) vapply(ranks[rank_names(ranks)], uniform_tests, c(chi_square = 0, band = 0))

# Of some forty p-values one below 0.001 would be chance once in 25 runs.
keep_ranks <- function(case, k) {
  ranks <- calibrate(case, sets, k)
  found <- p_values(ranks)
  for (what in colnames(found)) {
    promise(paste0(case$name, ": the rank of ", what, " is uniform"),
            paste(sets, "data sets, both p above 0.001"),
            paste0(sum(!is.na(ranks[[what]])), " data sets, chi-square p = ", number(found["chi_square", what]),
                   ", band p = ", number(found["band", what])), all(found[, what] > 0.001))
  }
  promise(paste0(case$name, ": draws are as good as independent"),
          paste("median above 90% of", n_draws),
          paste0("median effective draws ", round(stats::median(ranks$effective)), " of ", n_draws, ", ",
                 number(100 * mean(ranks$effective < n_draws / 2)), "% of data sets below half"),
          stats::median(ranks$effective) > 0.9 * n_draws)
  for (what in grep("^covered", names(ranks), value = TRUE)) {
    covered <- ranks[[what]][!is.na(ranks[[what]])]
    p <- stats::binom.test(sum(covered), length(covered), 7 / 8)$p.value
    promise(paste0(case$name, ": compare_groups() covers the contrast of ", sub("covered ", "", what), " 7 times of 8"),
            paste(sets, "pairs, binomial p above 0.001"),
            paste0(sum(covered), " of ", length(covered), ", p = ", number(p)), p > 0.001)
  }
  ranks
}
tables <- Map(keep_ranks, cases, seq_along(cases))
if (nzchar(table_file)) {
  long <- do.call(rbind, Map(function(case, ranks) {
    what <- setdiff(names(ranks), "effective")
    data.frame(case = case$name, quantity = rep(what, each = nrow(ranks)),
               value = unlist(ranks[what], use.names = FALSE))
  }, cases, tables))
  utils::write.csv(long[!is.na(long$value), ], table_file, row.names = FALSE)
}

# ---- faults are found -----------------------------------------------------------

# In a hundred data sets, and counting how many p-values were looked at.
faults <- list(
  "draws from the prior instead of the posterior" =
    list(fit = function(...) ibrc(..., sample_prior = "only"), distort = identity),
  "an acceptance ratio without the mixture" =
    list(fit = function(...) without_mixture_ratio()$ibrc(...), distort = identity),
  "beliefs a visit late" = list(fit = ibrc, distort = a_visit_late)
)
for (k in seq_along(faults)) {
  found <- p_values(calibrate(cases[[3]], 100L, 10L + k, faults[[k]]))
  worst <- which(found == min(found), arr.ind = TRUE)[1, ]
  p <- min(1, length(found) * min(found))
  promise(paste("Planted fault:", names(faults)[k], "is found"),
          "100 data sets, p below 1e-4 by Bonferroni's rule",
          paste0("p = ", number(p), " by the rank of ", colnames(found)[worst[2]]), p < 1e-4)
}

# ---- Geweke's joint test --------------------------------------------------------

# Few data, so that parameters and data go round often.
joint <- cases[[3]]
joint$n <- 5L
joint$horizon <- 5L
joint$level <- list(alpha = function(x) stats::plnorm(x, 0, 0.8), optimism = function(x) stats::pnorm(x, 0, 0.8),
                    eta = function(x) stats::plnorm(x, 0, 0.8))
joint_rounds <- 25L
alone <- independent_likelihoods(joint, 2000L, seed = 20L)
stays <- joint_tests(joint_chains(joint, 200L, joint_rounds, seed = 21L), alone, joint)
promise("Geweke: parameters and data keep their joint law",
        paste("200 chains of", joint_rounds, "rounds, p above 0.01 by Bonferroni's rule"),
        paste0(length(stays), " quantities, least p = ", number(min(stays))),
        min(stays) * length(stays) > 0.01)
drifts <- joint_tests(joint_chains(joint, 200L, joint_rounds, seed = 22L, from = without_mixture_ratio()), alone, joint)
promise("Geweke: an acceptance ratio without the mixture is found",
        paste("200 chains of", joint_rounds, "rounds, p below 1e-4 by Bonferroni's rule"),
        paste0("p = ", number(min(1, min(drifts) * length(drifts)))), min(drifts) * length(drifts) < 1e-4)

# ---- without data the prior comes back ------------------------------------------

# Every distribution that a prior can be stated with, and one that is cut.
visits <- simulate(joint$plan, 20, seed = 1)
stated <- list(
  list(ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), eta ~ half_normal(1)), list(),
       list(alpha = lognormal(0, 1), optimism = normal(0, 1), eta = function(p) stats::qnorm((1 + p) / 2))),
  list(ibrc_prior(flexibility ~ exponential(1), beta ~ gamma(2, 1), discount ~ uniform(0.8, 0.99)), list(),
       list(flexibility = stats::qexp, beta = function(p) stats::qgamma(p, 2),
            discount = function(p) 0.8 + 0.19 * p)),
  list(ibrc_prior(eta ~ lognormal(0, 1, upper = 3), utility(healthy, monitor) ~ student_t(4, 0, 2)), list(alpha = 1),
       list(eta = function(p) stats::qlnorm(p * stats::plnorm(3)),
            `utility[healthy,monitor]` = function(p) 2 * stats::qt(p, 4)))
)
levels <- c(0.05, 0.25, 0.5, 0.75, 0.95)
for (one in stated) {
  fit <- ibrc(visits, diag_setting(), diag_models(), one[[1]], one[[2]], iter = 6000, seed = 30, refresh = 0,
              sample_prior = "only", resolution = 20)
  draws <- fit$draws$all
  for (term in names(one[[3]])) {
    away <- vapply(levels, function(p) {
      below <- draws[, , term] <= one[[3]][[term]](p)
      (mean(below) - p) / sqrt(p * (1 - p) / posterior::ess_mean(below + 0))
    }, 0)
    promise(paste("Without data the prior of", term, "comes back"),
            "quantiles at 5, 25, 50, 75 and 95% within 4 Monte Carlo errors",
            paste0("at most ", number(max(abs(away))), " Monte Carlo errors away"),
            max(abs(away)) < 4)
  }
}
end_parts("calibration")
finish()
