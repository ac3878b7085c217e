# Data and methods of the accuracy tables, shared by vignette("accuracy"), data-raw/vignette-accuracy.R and
# inst/bench/models.R. A table is one call:
#
#   source(system.file("bench", "shared", "accuracy.R", package = "ibrc"))
#   accuracy(cross_validate(adni_visits(), adni_methods()))

library(ibrc)

# ---- visits ------------------------------------------------------------------------------------------------------

adni_visits <- function() read_adni(adni_like)

pbc_visits <- function() {
  panel_trajectories(survival::pbcseq, id = "id", time = "day", marker = "bili", test = "chol",
                     marker_cuts = c(1.1, 3), test_cuts = 2, max_gap = 550)
}

# One row per person and whole year of follow-up, of people with some HDL on record: were lipids measured that year,
# and what was the last HDL of it? (Rows called `chol` repeat those called `hdl`.)
nafld_visits <- function() {
  hdl <- survival::nafld2[survival::nafld2$test == "hdl", ]
  people <- survival::nafld1
  people$years <- floor(people$futime / 365.25)
  people <- people[people$years >= 1 & people$id %in% hdl$id, ]
  hdl$year <- floor(hdl$days / 365.25)
  hdl <- hdl[order(hdl$id, hdl$days), ]
  hdl <- hdl[!duplicated(hdl[c("id", "year")], fromLast = TRUE), ]
  panel <- data.frame(id = rep(people$id, people$years), year = sequence(people$years) - 1L)
  value <- hdl$value[match(paste(panel$id, panel$year), paste(hdl$id, hdl$year))]
  classes <- c("hdl_low", "hdl_middle", "hdl_high")
  seen <- as.character(cut(value, c(0, 42, 55, Inf), classes))
  panel$action <- factor(ifelse(is.na(value), "no_lipids", "lipids"), c("no_lipids", "lipids"))
  panel$observation <- factor(ifelse(is.na(value), "hdl_none", seen), c("hdl_none", classes))
  trajectories(panel, id = "id", time = "year", action = "action", observation = "observation")
}

diag_visits <- function() simulate(interpole_task("diag"), nsim = 100, horizon = 200, seed = 1)

# ---- methods -----------------------------------------------------------------------------------------------------

# Rules that see no patient or only the last visits, black boxes, and learned rewards. `learn(visits)`: dynamics.
other_methods <- function(states, learn, setting = NULL) {
  list(frequencies = "frequencies", visit_number = "visit_number", previous_action = "previous_action",
       logistic = "logistic", logistic_3 = function(visits) fit_baseline(visits, "logistic", last = 3), rnn = "rnn",
       iohmm_bc = function(visits) fit_iohmm_bc(visits, states, transitions = "shared"),
       joint_iohmm_bc = function(visits) {
         fit_iohmm_bc(visits, states, joint = TRUE, transitions = "shared", starts = 5, refresh = 0)
       },
       po_irl = function(visits) fit_po_irl(visits, setting, dynamics = learn(visits), refresh = 0),
       joint_po_irl = function(visits) {
         fit_po_irl(visits, setting, joint = TRUE, dynamics = learn(visits), refresh = 0)
       })
}

# The likeliest agent, under the prior, of a setting that is learned from the same visits.
mode_of <- function(visits, setting, models = NULL, prior, fixed = list(), resolution = 20) {
  ibrc_mode(visits, setting, models, prior, fixed, resolution = resolution, starts = 2, conf.level = NULL)
}

around <- function(setting) perturb_models(setting, by = 0.1, vary = "both")
bounds <- ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1))

adni_learn <- function(visits) {
  ratings <- c("cdr_normal", "cdr_questionable", "cdr_severe")
  fit_iohmm(visits, states = 3, transitions = "shared", prior = 0.5, names = c("normal", "mci", "dementia"),
            sort_by = function(seen) match(sub("_mri.*", "", seen), ratings))
}

# An MRI costs 1, being sure of the state is worth 2.5 a visit: how bounded, how optimistic?
adni_methods <- function() {
  bounded <- function(visits) {
    setting <- adni_setting(adni_learn(visits), full = 0.95)
    mode_of(visits, setting, around(setting), bounds, fixed = list(eta = 0))
  }
  c(list(ibrc = bounded), other_methods(3, adni_learn))
}

# Where nobody has stated what is wanted: what is it worth to test in each state, to somebody with alpha = 1?
worth_of_testing <- function(learn, test, no_test) {
  function(visits) {
    dynamics <- learn(visits)
    states <- dynamics$states
    costs <- matrix(0, length(states), 2, dimnames = list(states, c(no_test, test)))
    worth <- lapply(states, function(state) {
      stats::as.formula(paste0("utility(", state, ", ", test, ") ~ normal(0, 2)"), globalenv())
    })
    mode_of(visits, as_setting(dynamics, utility = costs[, dynamics$actions], discount = 0.95),
            prior = do.call(ibrc_prior, worth), fixed = list(alpha = 1))
  }
}

pbc_methods <- function() {
  learn <- function(visits) {
    classes <- c("bili_low", "bili_middle", "bili_high")
    fit_iohmm(visits, states = 2, transitions = "shared", prior = 1, names = c("mild", "advanced"),
              sort_by = function(seen) match(sub("_chol.*", "", seen), classes))
  }
  c(list(ibrc = worth_of_testing(learn, "chol", "no_chol")), other_methods(2, learn))
}

nafld_methods <- function() {
  learn <- function(visits) {
    classes <- c("hdl_low", "hdl_none", "hdl_middle", "hdl_high")
    fit_iohmm(visits, states = 3, transitions = "shared", prior = 1, names = c("low", "middle", "high"),
              sort_by = function(seen) match(seen, classes))
  }
  c(list(ibrc = worth_of_testing(learn, "lipids", "no_lipids")), other_methods(3, learn))
}

# Declaring pays 10 if right and costs 36 if wrong, as in diag_setting(). Methods that update beliefs are compared on the
# same knowledge: `ibrc` and `po_irl` are told the dynamics as they are (a patient stays as he is, the test is right 60%
# of the time), those called `_learned` learn them from the visits, as both ways of cloning do.
diag_methods <- function() {
  setting <- diag_setting(accuracy = 0.6)
  learn <- function(visits) {
    fit_iohmm(visits, states = 2, transitions = "shared", prior = 1, sort_by = "positive",
              names = c("healthy", "diseased"))
  }
  bounded <- function(visits, setting) mode_of(visits, setting, around(setting), bounds, resolution = 40)
  from_learned <- function(dynamics) {
    as_setting(dynamics, utility = setting$utility[dynamics$states, dynamics$actions], discount = setting$discount,
               stop_actions = setting$stop_actions)
  }
  others <- other_methods(2, learn, setting)
  names(others)[names(others) == "po_irl"] <- "po_irl_learned"
  c(list(ibrc = function(visits) bounded(visits, setting),
         ibrc_learned = function(visits) bounded(visits, from_learned(learn(visits)))), others,
    list(po_irl = function(visits) fit_po_irl(visits, setting, refresh = 0)))
}
