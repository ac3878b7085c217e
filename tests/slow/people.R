# Is the posterior of a population the posterior? Simulation-based calibration of fits with `effects`: coefficients,
# spread and intercepts drawn from their priors, behaviour simulated from them, a fit to it; the rank of each truth
# among the draws is uniform.
#
#   Rscript tests/slow/people.R [data sets, 500]
#
# The third case has dynamics that are learned and inferred with the population, on the clinic of tests/slow/joint.R: laws
# from their Dirichlet priors, four doctors of 15 patients each. A fifth as many data sets as the others have.
#
# A population of 8 clinicians on DIAG, 6 patients each, half of them in either arm, with a number of their own (years,
# say): optimism ~ arm + years + (1 | clinician), alpha shared. And one in which both terms differ, correlated.
#
# Size and marks, fixed before any run: 500 data sets per case, no p-value below 0.001 among the 11; planted faults, found
# with p below 0.001 on 200 data sets: shifts of coefficients that leave the intercepts where they are, and moves of
# spreads that do. Three quarters of an hour of a core. With dynamics: 100 data sets, no p-value below 0.001 among the 10; and
# a fit that takes the learned dynamics as known, found with p below 0.001 by Bonferroni's rule. Two hours more.
# It goes on where it was stopped.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "calibration.R"))
source(file.path("tests", "slow", "shared", "parts.R"))
source(file.path("tests", "slow", "shared", "clinic.R"))

sets <- argument(1, 500L)
faulty <- min(sets, 200L)
mark <- 0.001

setting <- diag_setting()
models <- diag_models()
plan <- plan_agent(setting, bounded_agent(alpha = 1), models, resolution = 20)
clinicians <- data.frame(clinician = letters[1:8], arm = rep(c("control", "treated"), 4), years = c(-1.5, -1, -0.5, 0, 0.2, 0.5, 1, 1.3))
clinicians$years <- clinicians$years - mean(clinicians$years)

alone <- list(
  effects = list(optimism ~ arm + years + (1 | clinician)),
  prior = ibrc_prior(alpha ~ lognormal(-0.5, 0.5), optimism ~ normal(0, 0.5), optimism[armtreated] ~ normal(0, 0.5),
                     optimism[years] ~ normal(0, 0.3), sd(optimism, clinician) ~ half_normal(0.4)),
  truth = function() {
    spread <- abs(stats::rnorm(1, 0, 0.4))
    b <- c(stats::rnorm(1, 0, 0.5), stats::rnorm(1, 0, 0.5), stats::rnorm(1, 0, 0.3))
    u <- stats::rnorm(8, 0, spread)
    alpha <- exp(stats::rnorm(1, -0.5, 0.5))
    list(terms = c(alpha = alpha, optimism = b[1], "optimism[armtreated]" = b[2], "optimism[years]" = b[3],
                   "sd(optimism|clinician)" = spread), level = c("optimism{clinician a}" = u[1]),
         alpha = rep(alpha, 8), optimism = b[1] + b[2] * (clinicians$arm == "treated") + b[3] * clinicians$years + u)
  }
)
# The density of a correlation r under Lewandowski, Kurowicka and Joe's law with shape 2 is (1 - r^2) * 3/4.
tied <- list(
  effects = list(alpha ~ (1 | p | clinician), optimism ~ (1 | p | clinician)),
  prior = ibrc_prior(alpha ~ lognormal(-0.5, 0.5), optimism ~ normal(0, 0.5), sd(alpha, clinician) ~ half_normal(0.4),
                     sd(optimism, clinician) ~ half_normal(0.4)),
  truth = function() {
    r <- 2 * stats::rbeta(1, 2, 2) - 1
    spread <- abs(stats::rnorm(2, 0, 0.4))
    z <- matrix(stats::rnorm(16), 8)
    u <- cbind(spread[1] * z[, 1], spread[2] * (r * z[, 1] + sqrt(1 - r^2) * z[, 2]))
    b <- c(stats::rnorm(1, -0.5, 0.5), stats::rnorm(1, 0, 0.5))
    list(terms = c(alpha = exp(b[1]), optimism = b[2], "sd(alpha|clinician)" = spread[1],
                   "sd(optimism|clinician)" = spread[2], "cor(alpha,optimism|clinician)" = r),
         level = c("alpha{clinician a}" = u[1, 1]), alpha = exp(b[1] + u[, 1]), optimism = b[2] + u[, 2])
  }
)

behaviour <- function(truth) {
  each <- lapply(1:8, function(i) {
    agent <- bounded_agent(alpha = truth$alpha[i], optimism = truth$optimism[i])
    visits <- as.data.frame(simulate(update(plan, agent), 6, horizon = 8))
    cbind(visits[c("time", "action", "observation")], id = visits$id + 6 * (i - 1), clinicians[i, ], row.names = NULL)
  })
  trajectories(do.call(rbind, each), covariates = names(clinicians))
}

thin <- 15L
warmup <- 600L

one_set <- function(at) {
  set.seed(at$seed)
  truth <- at$case$truth()
  visits <- behaviour(truth)
  fit <- suppressWarnings(at$fit(visits, setting, models, at$case$prior, effects = at$case$effects, seed = at$seed,
                                 chains = n_chains, warmup = warmup, iter = warmup + n_draws %/% n_chains * thin,
                                 control = ibrc_control(thin = thin, cells = at$cells), refresh = 0, resolution = 20))
  terms <- fit$population$draws
  levels <- fit$population$intercepts
  ranks <- c(vapply(names(truth$terms), function(term) rank_of(truth$terms[[term]], terms[, , term]), 0),
             vapply(names(truth$level), function(term) rank_of(truth$level[[term]], levels[, , term]), 0))
  at_truth <- sum(vapply(1:8, function(i) {
    mine <- visits[visits$clinician == clinicians$clinician[i], ]
    agent <- bounded_agent(alpha = truth$alpha[i], optimism = truth$optimism[i])
    sum(log_lik(update(plan, agent), trajectories(as.data.frame(mine))))
  }, 0))
  likely <- rowSums(log_lik(fit, draws = n_draws))
  as.data.frame(as.list(c(ranks, "log-likelihood" = rank_of(round(at_truth, 5), round(likely, 5)),
                          effective = mean(apply(terms, 3, posterior::ess_bulk)))), optional = TRUE)
}

calibrated <- function(name, case, n, seed, fit = ibrc, cells = "exact") {
  tasks <- lapply(seq_len(n), function(i) list(case = case, seed = 100000L * seed + i, fit = fit, cells = cells))
  names(tasks) <- vapply(tasks, function(task) format(task$seed), "")
  in_parts(paste0("people-", name), tasks, one_set)
}

number <- function(x) format(signif(x, 2))
judge <- function(name, case, seed, ...) {
  judge_ranks(name, calibrated(seed, case, sets, seed, ...))
}
judge_ranks <- function(name, ranks) {
  for (what in setdiff(names(ranks), "effective")) {
    found <- uniform_tests(ranks[[what]])
    promise(paste0(name, ": the rank of ", what, " is uniform"), paste0(nrow(ranks), " data sets, both p above ", mark),
            paste0("chi-square p = ", number(found[1]), ", band p = ", number(found[2])), all(found > mark))
  }
  show_figure(paste0(name, ": effective draws"), paste("median", round(stats::median(ranks$effective))))
}
judge("Eight clinicians, optimism by arm and years", alone, 1)
judge("Eight clinicians, alpha and optimism correlated", tied, 2)

planted <- function(what, name, instead, case, seed) {
  broken_fit <- altered_package(name, instead)$ibrc
  ranks <- calibrated(paste0("planted-", seed), case, faulty, seed, broken_fit)
  least <- min(vapply(setdiff(names(ranks), c("effective", "log-likelihood")), function(term) {
    min(uniform_tests(ranks[[term]]))
  }, 0))
  promise(paste("planted fault,", what, "is found"), paste0(faulty, " data sets, p below ", mark), paste("p =", number(least)),
          least < mark)
}
planted("moves of spreads that leave the intercepts where they are,", "carried_intercepts",
        function(shape, u, s, to) u, alone, 3)
planted("spreads that are accepted whatever the intercepts are,", "spread_step", function(state, shape, k, normal, uniform) {
  state$s <- state$s + 0.5 * normal * (uniform < 0.5)
  state
}, alone, 4)

# ---- with dynamics ---------------------------------------------------------------------------------------------------

# Nothing that is ranked knows the states apart. Truths are ranked among 15 draws that lie far apart (tests/slow/joint.R).
far_draws <- 15L
doctors <- data.frame(doctor = letters[1:4], arm = rep(c("control", "treated"), 2))

doctor_set <- function(at) {
  set.seed(at$seed)
  spread <- abs(stats::rnorm(1, 0, 0.4))
  u <- stats::rnorm(4, 0, spread)
  truth <- c(alpha = stats::rlnorm(1, 0, 0.7), optimism = stats::rnorm(1, 0, 0.7),
             "optimism[armtreated]" = stats::rnorm(1, 0, 0.5), "sd(optimism|doctor)" = spread)
  laws <- clinic_laws(1)
  setting <- clinic_of(laws)
  each <- lapply(1:4, function(i) {
    optimism <- truth[[2]] + truth[[3]] * (doctors$arm[i] == "treated") + u[i]
    plan <- plan_agent(setting, bounded_agent(truth[["alpha"]], optimism = optimism), clinic_models(setting), 10)
    visits <- as.data.frame(simulate(plan, 15, horizon = 6))
    cbind(visits[c("time", "action", "observation")], id = visits$id + 15 * (i - 1), doctors[i, ], row.names = NULL)
  })
  visits <- trajectories(do.call(rbind, each), covariates = names(doctors), setting = setting)
  learned <- learned_clinic(visits, laws, 1, at$seed)
  prior <- ibrc_prior(alpha ~ lognormal(0, 0.7), optimism ~ normal(0, 0.7), optimism[armtreated] ~ normal(0, 0.5),
                      sd(optimism, doctor) ~ half_normal(0.4))
  fit <- suppressWarnings(ibrc(
    visits, clinic_of(learned), if (at$uncertainty == "none") clinic_models(clinic_of(learned)) else clinic_models, prior,
    list(eta = 0), effects = list(optimism ~ arm + (1 | doctor)), chains = n_chains, iter = 2000, warmup = 800,
    seed = at$seed, refresh = 0, resolution = 10, dynamics = learned, uncertainty = at$uncertainty,
    control = ibrc_control(check = FALSE)
  ))
  chosen <- own("spaced_draws")(fit, far_draws)$.draw
  ranks <- vapply(names(truth), function(term) rank_of(truth[[term]], fit$population$draws[, , term][chosen]), 0)
  level <- rank_of(u[1], fit$population$intercepts[, , "optimism{doctor a}"][chosen])
  as.data.frame(as.list(c(ranks, "optimism{doctor a}" = level,
                          effective = mean(apply(fit$population$draws, 3, posterior::ess_bulk)))), optional = TRUE)
}

with_laws <- function(uncertainty) {
  tasks <- lapply(seq_len(max(1L, sets %/% 5L)), function(i) list(seed = 500000L + i, uncertainty = uncertainty))
  names(tasks) <- vapply(tasks, function(task) format(task$seed), "")
  in_parts(paste0("people-", uncertainty), tasks, doctor_set)
}
judge_ranks("Four doctors and the laws of their clinic", with_laws("joint"))
known <- with_laws("none")
worst <- min(vapply(known[setdiff(names(known), "effective")], uniform_tests, c(chi_square = 0, band = 0)))
promise("planted fault, learned dynamics that are taken as known, is found",
        paste(nrow(known), "data sets, p below 0.001 by Bonferroni's rule"), paste("p =", number(min(1, 10 * worst))),
        10 * worst < mark)
for (name in c(1, 2, "planted-3", "planted-4", "joint", "none")) end_parts(paste0("people-", name))
finish()
