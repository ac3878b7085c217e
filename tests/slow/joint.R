# Is the posterior of dynamics and agents together the posterior? Laws and agents from their priors, behaviour from
# them, dynamics learned from it, a joint fit: ranks of the truth among the draws are uniform, and those of a fit that
# takes the learned dynamics as known are not.
#
#   Rscript tests/slow/joint.R [data sets, 1000]
#
# Size and marks were fixed before any run: 1,000 data sets, no p-value of four below 0.001; and 100 with the planted
# fault, p below 1e-4 by Bonferroni's rule. Data sets are spread over future::plan() where there is one; a run that was
# stopped goes on behind the batches that were done.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "calibration.R"))
source(file.path("tests", "slow", "shared", "parts.R"))
source(file.path("tests", "slow", "shared", "clinic.R"))

sets <- argument(1, 1000L)

# Draws of dynamics and agents together follow one another closely: runs of this length have 24 to 119 effective ones,
# so that the truth is ranked among 15 that lie far apart.
n_draws <- 15L

# The ranks of alpha and optimism. Another `uncertainty` plants a fault: dynamics that are taken as known.
joint_ranks <- function(seed, uncertainty = "joint", n = 60, counts = 1, warmup = 1500, steps = 2000) {
  set.seed(seed)
  truth <- c(alpha = stats::rlnorm(1, 0, 0.7), optimism = stats::rnorm(1, 0, 0.7))
  laws <- clinic_laws(counts)
  setting <- clinic_of(laws)
  agent <- bounded_agent(truth[["alpha"]], optimism = truth[["optimism"]])
  visits <- simulate(plan_agent(setting, agent, clinic_models(setting), 10), n, horizon = 6)
  learned <- learned_clinic(visits, laws, counts, seed)
  prior <- ibrc_prior(alpha ~ lognormal(0, 0.7), optimism ~ normal(0, 0.7))
  # Into a setting that is no function laws are put without a call of it at every step.
  fit <- suppressWarnings(ibrc(
    visits, if (uncertainty == "joint") clinic_of(learned) else clinic_of, clinic_models, prior, list(eta = 0),
    chains = n_chains, iter = warmup + steps, warmup = warmup, seed = seed, refresh = 0, resolution = 10,
    dynamics = learned, uncertainty = uncertainty, control = ibrc_control(check = FALSE)
  ))
  chosen <- own("spaced_draws")(fit, n_draws)$.draw
  draws <- fit$draws[[1]]
  c(vapply(names(truth), function(term) rank_of(truth[[term]], draws[, , term][chosen]), 0),
    effective = effective_draws(draws))
}

number <- function(x) format(signif(x, 2))
# In batches of twenty, each kept once it is done.
joint_sets <- function(n, uncertainty = "joint") {
  batches <- split(seq_len(n), (seq_len(n) - 1L) %/% 20L)
  names(batches) <- paste0(uncertainty, "-", names(batches))
  in_parts("joint", batches, function(batch) {
    as.data.frame(do.call(rbind, lapply(batch, function(i) joint_ranks(30000L + i, uncertainty))))
  })
}
together <- joint_sets(sets)
for (what in c("alpha", "optimism")) {
  found <- uniform_tests(together[[what]])
  promise(paste0("Joint dynamics and agent, two states: the rank of ", what, " is uniform"),
          paste(nrow(together), "data sets, both p above 0.001"),
          paste0("chi-square p = ", number(found[["chi_square"]]), ", band p = ", number(found[["band"]])),
          all(found > 0.001))
}
show_figure("Joint dynamics and agent, two states: effective draws of the agent's terms",
            paste0("median ", round(stats::median(together$effective)), ", fewest ", round(min(together$effective))))
held <- joint_sets(max(1L, sets %/% 10L), uncertainty = "none")
worst <- min(vapply(held[c("alpha", "optimism")], uniform_tests, c(chi_square = 0, band = 0)))
promise("Planted fault: learned dynamics that are held fixed are found",
        paste(nrow(held), "data sets, p below 1e-4 by Bonferroni's rule"), paste0("p = ", number(min(1, 4 * worst))),
        4 * worst < 1e-4)
end_parts("joint")
finish()
