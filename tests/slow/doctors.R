# Is the posterior of a population the posterior where dynamics are learned and inferred with it? Simulation-based
# calibration as in people.R, on the clinic of joint.R: laws from their Dirichlet priors, four doctors of 15 patients
# each.
#
#   Rscript tests/slow/doctors.R [data sets, 100]
#
# Size and marks, fixed before any run: 100 data sets, no p-value below 0.001 among the 14 of 7 quantities, the
# likelihoods of what was seen and of what was done among them (joint.R says why); and a fit that takes the learned
# dynamics as known, found with p below 0.001 by Bonferroni's rule. Two hours of a core. It goes
# on where it was stopped.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "calibration.R"))
source(file.path("tests", "slow", "shared", "parts.R"))
source(file.path("tests", "slow", "shared", "clinic.R"))

sets <- argument(1, 100L)
mark <- 0.001

# Nothing that is ranked knows the states apart. Truths are ranked among 15 draws that lie far apart, as in joint.R.
n_draws <- 15L
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
    list(done = sum(log_lik(plan, trajectories(visits))),
         visits = cbind(visits[c("time", "action", "observation")], id = visits$id + 15 * (i - 1), doctors[i, ],
                        row.names = NULL))
  })
  done <- sum(vapply(each, `[[`, 0, "done"))
  visits <- trajectories(do.call(rbind, lapply(each, `[[`, "visits")), covariates = names(doctors), setting = setting)
  learned <- learned_clinic(visits, laws, 1, at$seed)
  prior <- ibrc_prior(alpha ~ lognormal(0, 0.7), optimism ~ normal(0, 0.7), optimism[armtreated] ~ normal(0, 0.5),
                      sd(optimism, doctor) ~ half_normal(0.4))
  fit <- suppressWarnings(ibrc(
    visits, clinic_of(learned), if (at$uncertainty == "none") clinic_models(clinic_of(learned)) else clinic_models,
    prior, list(eta = 0), effects = list(optimism ~ arm + (1 | doctor)), chains = n_chains, iter = 2000, warmup = 800,
    seed = at$seed, refresh = 0, resolution = 10, dynamics = learned, uncertainty = at$uncertainty,
    control = ibrc_control(check = FALSE)
  ))
  chosen <- own("spaced_draws")(fit, n_draws)$.draw
  ranks <- vapply(names(truth), function(term) rank_of(truth[[term]], fit$population$draws[, , term][chosen]), 0)
  level <- rank_of(u[1], fit$population$intercepts[, , "optimism{doctor a}"][chosen])
  data <- c(seen = rank_of(round(seen_under(visits, laws), 5), round(seen_at_draws(fit, visits, learned), 5)),
            done = rank_of(round(done, 5), round(rowSums(log_lik(fit, draws = n_draws)), 5)))
  as.data.frame(as.list(c(ranks, "optimism{doctor a}" = level, data,
                          effective = mean(apply(fit$population$draws, 3, posterior::ess_bulk)))), optional = TRUE)
}

with_laws <- function(uncertainty) {
  tasks <- lapply(seq_len(sets), function(i) list(seed = 500000L + i, uncertainty = uncertainty))
  names(tasks) <- vapply(tasks, function(task) format(task$seed), "")
  in_parts(paste0("doctors-", uncertainty), tasks, doctor_set)
}

number <- function(x) format(signif(x, 2))
terms_of <- function(ranks) setdiff(names(ranks), "effective")
together <- with_laws("joint")
for (what in terms_of(together)) {
  found <- uniform_tests(together[[what]])
  promise(paste0("Four doctors and the laws of their clinic: the rank of ", what, " is uniform"),
          paste0(nrow(together), " data sets, both p above ", mark),
          paste0("chi-square p = ", number(found[1]), ", band p = ", number(found[2])), all(found > mark))
}
show_figure("Four doctors and the laws of their clinic: effective draws",
            paste("median", round(stats::median(together$effective))))
known <- with_laws("none")
p <- vapply(known[terms_of(known)], uniform_tests, c(chi_square = 0, band = 0))
promise("Planted fault: learned dynamics that are taken as known are found",
        paste(nrow(known), "data sets, p below 0.001 by Bonferroni's rule"),
        paste("p =", number(min(1, length(p) * min(p)))), length(p) * min(p) < mark)
for (uncertainty in c("joint", "none")) end_parts(paste0("doctors-", uncertainty))
finish()
