# Does every model that learns behaviour recover what was simulated from one of its kind? The plain reading: its
# held-out log-likelihood is within 2 standard errors of the truth's. Shown beside it is the stricter one, trajectory by
# trajectory, in standard errors of the difference: it asks how much so few trajectories leave to be learned, and grows
# with those that are held out.
#
#   Rscript tests/slow/recovery.R [data sets of each model, 10]
#
# Size and marks were fixed before any run: 10 data sets, 200 to 400 trajectories to learn from and 200 or 300 held out,
# within 2 in every one. A planted fault, actions that were shuffled, is not within 2 in any.

source(file.path("tests", "slow", "shared", "promise.R"))
with_seed <- withr::with_seed
for (helper in c("dynamics", "iohmm_bc", "po_irl", "recovery")) {
  source(file.path("tests", "testthat", paste0("helper-", helper, ".R")))
}

sets <- argument(1, 10L)

# A case: the truth, `draw(n, seed)` and `fit(visits, seed)`, trajectories to learn from and to hold out.
rule_case <- function(rule) {
  truth <- fit_baseline(taught_visits(300, seed = 1), rule)
  list(truth = truth, draw = function(n, seed) truth_visits(truth, n, seed),
       fit = function(visits, seed) fit_baseline(visits, rule), n = c(300, 300))
}

network_case <- function() {
  fit <- function(visits, seed) {
    fit_rnn(visits, units = c(8, 8), networks = 1, rate = 0.01, seed = seed, max_steps = 600, refresh = 0)
  }
  truth <- fit(taught_visits(300, seed = 1), 1)
  list(truth = truth, draw = function(n, seed) truth_visits(truth, n, seed), fit = fit, n = c(300, 300))
}

# Dynamics alone have to be shown clearly.
clone_case <- function(joint) {
  truth <- known_clone(4)
  if (!joint) {
    truth$emission[, , c("wait", "treat")] <- rbind(c(0.1, 0.8, 0.1), c(0.1, 0.1, 0.8))
    truth$emission[, , "test"] <- rbind(c(0, 0.95, 0.05), c(0, 0.05, 0.95))
  }
  list(truth = truth, draw = function(n, seed) simulate(truth, n, seed = seed),
       fit = function(visits, seed) fit_iohmm_bc(visits, 2, joint = joint, starts = 3, seed = seed, refresh = 0),
       n = c(if (joint) 200 else 400, 200))
}

rewards_case <- function(...) {
  fit <- function(visits, seed) {
    fit_po_irl(visits, ..., chains = 2, draws = 50, resolution = 6, seed = seed, refresh = 0)
  }
  list(truth = plan_boltzmann(po_irl_clinic(), 1, resolution = 10), draw = po_irl_visits, fit = fit, n = c(200, 200))
}

cases <- list(
  "Action frequencies" = rule_case("frequencies"), "Frequencies by visit number" = rule_case("visit_number"),
  "Previous action" = rule_case("previous_action"), "Logistic regression" = rule_case("logistic"),
  "Recurrent network" = network_case(), "Cloning on learned dynamics" = clone_case(FALSE),
  "Cloning, joint" = clone_case(TRUE), "Rewards, dynamics known" = rewards_case(po_irl_clinic(), iter = 300),
  "Rewards on learned dynamics" = rewards_case(states = 2, discount = 0.9, iter = 300),
  "Rewards, joint" = rewards_case(states = 2, discount = 0.9, joint = TRUE, iter = 500)
)

shuffled <- function(visits) {
  visits$action <- sample(visits$action)
  visits
}

# `plain` and `paired`, in standard errors of the truth's and of the difference.
recovery <- function(case, seed, change = identity) {
  model <- case$fit(change(case$draw(case$n[1], 1000L + seed)), seed)
  held <- case$draw(case$n[2], 5000L + seed)
  fitted <- log_lik(model, held)
  truth <- log_lik(case$truth, held)
  apart <- fitted - truth
  c(plain = beside_truth(fitted, truth), paired = mean(apart) / (stats::sd(apart) / sqrt(length(apart))))
}

two <- function(x) formatC(x, 2, format = "f")
for (what in names(cases)) {
  found <- vapply(seq_len(sets), function(seed) recovery(cases[[what]], seed), c(plain = 0, paired = 0))
  promise(paste0(what, ": what was simulated from it is recovered"),
          paste0(sets, " data sets, within 2 standard errors in every one"),
          paste0("at most ", two(max(found["plain", ])), ", median ", two(stats::median(found["plain", ]))),
          all(found["plain", ] <= 2))
  show_figure(paste0(what, ": held-out log-likelihood less the truth's, trajectory by trajectory"),
              paste0("median ", two(stats::median(found["paired", ])), " standard errors, from ",
                     two(min(found["paired", ])), " to ", two(max(found["paired", ]))))
}
set.seed(1)
spoilt <- vapply(seq_len(sets), function(seed) recovery(cases[["Logistic regression"]], seed, shuffled)[["plain"]], 0)
promise("Planted fault: what learned from shuffled actions is not within 2 standard errors",
        paste(sets, "data sets, none within 2"), paste0("at least ", two(min(spoilt))), all(spoilt > 2))
finish()
