# Is the posterior of dynamics and rewards together the posterior? Laws and rewards from their priors, behaviour from
# them, dynamics learned from it, a joint fit: ranks of the truth among the draws are uniform, and those of a fit that
# takes the learned dynamics as known are not.
#
#   Rscript tests/slow/po_irl.R [data sets, 200]
#
# Size and marks were fixed before any run: 200 data sets, no p-value of six below 0.001; and 100 with the planted
# fault, p below 1e-4 by Bonferroni's rule. Data sets are spread over future::plan() where there is one; a run that was
# stopped goes on behind the batches that were done.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "calibration.R"))
source(file.path("tests", "slow", "shared", "parts.R"))

sets <- argument(1, 200L)
n_draws <- 15L
reward_sd <- 1.5

# Laws of two states from their Dirichlet priors, and rewards: nothing tells the states apart beforehand, so that
# only what does not mind which is which is ranked.
drawn_setting <- function(counts) {
  rows <- function(a) dirichlet_draws(1, a + counts)[1, ]
  emission <- array(0, c(2, 4, 2))
  for (state in 1:2) {
    emission[state, 1:2, 1] <- rows(c(1, 1))
    emission[state, 3:4, 2] <- rows(c(1, 1))
  }
  moves <- rbind(rows(c(5, 1)), rows(c(1, 5)))
  decision_setting(c("one", "two"), c("wait", "test"), c("calm", "bad", "neg", "pos"),
                   array(rep(moves, 2), c(2, 2, 2)), emission, matrix(stats::rnorm(4, 0, reward_sd), 2),
                   discount = 0.9, start = rows(c(1, 1)))
}

# What is ranked, of draws of gains and of their plans: the sum and the larger of two gains, and how likely the
# actions are.
ranked <- function(gains, plan, histories) {
  c(sum = sum(gains), larger = max(gains),
    likelihood = round(own("read_histories")(plan, histories, beliefs = FALSE)$total, 5))
}

# One data set. `joint = FALSE` plants a fault: learned dynamics that are taken as known.
po_irl_ranks <- function(seed, joint = TRUE, n = 60, counts = 1, resolution = 10) {
  set.seed(seed)
  setting <- drawn_setting(counts)
  plan <- plan_boltzmann(setting, 1, resolution = resolution)
  visits <- simulate(plan, n, horizon = 6)
  zeros <- rbind(wait = c(TRUE, TRUE, FALSE, FALSE), test = c(FALSE, FALSE, TRUE, TRUE))
  learned <- fit_iohmm(visits, 2, starts = 4, transitions = "shared", names = setting$states, actions = setting$actions,
                       observations = setting$observations, zeros = zeros, seed = seed,
                       prior = iohmm_prior(counts, counts, counts, stay = 4))
  model <- fit_po_irl(visits, joint = joint, dynamics = learned, discount = 0.9, sd = reward_sd,
                      resolution = resolution, iter = 800, seed = seed, refresh = 0)
  histories <- own("build_histories")(own("code_visits")(visits, setting), setting)
  map <- own("shaping_map")(setting$transition, setting$discount)
  truth <- ranked(drop(map %*% as.vector(setting$utility)), plan, histories)
  gains <- matrix(model$gains, ncol = 2)
  planner <- own("po_irl_planner")(model)
  chosen <- unique(round(seq(1, nrow(gains), length.out = n_draws)))
  draws <- vapply(chosen, function(i) ranked(gains[i, ], planner(i), histories), truth)
  c(vapply(names(truth), function(what) rank_of(truth[[what]], draws[what, ]), 0),
    effective = effective_draws(model$gains))
}

number <- function(x) format(signif(x, 2))
# In batches of ten, each kept once it is done.
po_irl_sets <- function(n, joint) {
  batches <- split(seq_len(n), (seq_len(n) - 1L) %/% 10L)
  names(batches) <- paste0(if (joint) "joint-" else "held-", names(batches))
  in_parts("po_irl", batches, function(batch) {
    as.data.frame(do.call(rbind, lapply(batch, function(i) po_irl_ranks(40000L + i, joint))))
  })
}

told <- c(sum = "the sum of gains", larger = "the larger gain", likelihood = "the likelihood of actions")
together <- po_irl_sets(sets, TRUE)
for (what in names(told)) {
  found <- uniform_tests(together[[what]])
  promise(paste0("Joint dynamics and rewards, two states: the rank of ", told[[what]], " is uniform"),
          paste(nrow(together), "data sets, both p above 0.001"),
          paste0("chi-square p = ", number(found[["chi_square"]]), ", band p = ", number(found[["band"]])),
          all(found > 0.001))
}
show_figure("Joint dynamics and rewards, two states: effective draws of the gains",
            paste0("median ", round(stats::median(together$effective)), ", fewest ", round(min(together$effective))))
held <- po_irl_sets(max(1L, sets %/% 2L), FALSE)
worst <- min(vapply(held[names(told)], uniform_tests, c(chi_square = 0, band = 0)))
promise("Planted fault: rewards under learned dynamics that are held fixed are found",
        paste(nrow(held), "data sets, p below 1e-4 by Bonferroni's rule"), paste0("p = ", number(min(1, 6 * worst))),
        6 * worst < 1e-4)
end_parts("po_irl")
finish()
