# Makes data/adni_like.rda, a synthetic cohort in the columns of ADNIMERGE. From the
# package's folder, with the package installed:
#
#   Rscript data-raw/adni_like.R
#
# No number in it comes from a patient. What is true of it is adni_like_truth().

# States, actions and observations of n patients over `horizon` visits, matrices
# [patient, visit]. Doctors act by their plans on their own beliefs.
simulate_visits <- function(truth, group, horizon) {
  setting <- truth$setting
  n <- length(group)
  draw <- function(p) 1L + rowSums(stats::runif(nrow(p)) > t(apply(p, 1, cumsum))[, -ncol(p), drop = FALSE])
  plans <- lapply(truth$agents, function(agent) {
    ibrc::plan_agent(setting, agent, truth$models, resolution = truth$resolution)
  })
  belief <- matrix(setting$start, n, length(setting$start), byrow = TRUE, dimnames = list(NULL, setting$states))
  state <- draw(belief)
  out <- list(state = matrix(0L, n, horizon), action = matrix(0L, n, horizon), seen = matrix(0L, n, horizon))
  for (visit in seq_len(horizon)) {
    action <- integer(n)
    for (level in names(plans)) {
      own <- which(group == level)
      action[own] <- draw(ibrc::policy(plans[[level]], belief[own, , drop = FALSE]))
    }
    n_states <- length(setting$states)
    state <- draw(t(vapply(seq_len(n), function(i) setting$transition[state[i], , action[i]], numeric(n_states))))
    n_seen <- length(setting$observations)
    seen <- draw(t(vapply(seq_len(n), function(i) setting$emission[state[i], , action[i]], numeric(n_seen))))
    for (level in names(plans)) {
      own <- which(group == level)
      belief[own, ] <- ibrc::update_belief(plans[[level]], belief[own, , drop = FALSE], setting$actions[action[own]],
                                           setting$observations[seen[own]])
    }
    out$state[, visit] <- state
    out$action[, visit] <- action
    out$seen[, visit] <- seen
  }
  out
}

# A number within a class: CDR-SB in steps of a half, volumes as a normal
# population has them.
rating_in <- function(class) {
  severe <- seq(3, 18, 0.5)
  ifelse(class == 1, 0, ifelse(class == 2, sample(seq(0.5, 2.5, 0.5), length(class), TRUE),
                               sample(severe, length(class), TRUE, exp(-severe / 3))))
}

volume_in <- function(class) {
  edge <- stats::pnorm(c(2500, 6642 - 1225 / 2, 6642 + 1225 / 2, 10500), 6642, 1225)
  volume <- rep(NA_real_, length(class))
  done <- which(class > 1)
  from <- edge[class[done] - 1]
  to <- edge[class[done]]
  volume[done] <- round(stats::qnorm(from + (to - from) * stats::runif(length(done)), 6642, 1225))
  volume
}

# The diagnosis on the form: mostly the state, and where it is new also the one before.
diagnosis_of <- function(state, patient) {
  names <- c("NL", "MCI", "Dementia")
  wrong <- stats::runif(length(state)) < 0.07
  noted <- ifelse(wrong, pmin(pmax(state + sample(c(-1L, 1L), length(state), TRUE), 1L), 3L), state)
  before <- c(NA, noted[-length(noted)])
  before[!duplicated(patient)] <- NA
  changed <- !is.na(before) & before != noted
  text <- ifelse(changed, paste(names[before], "to", names[noted]), names[noted])
  ifelse(stats::runif(length(text)) < 0.05, "", text)
}

# What registries look like: visits missed, ratings and genes missing, scans
# between visits, visits entered twice.
add_mess <- function(table) {
  n <- nrow(table)
  baseline <- table$VISCODE == "bl"
  missed <- stats::runif(n) < ifelse(baseline, 0.01, 0.06)
  table$CDRSB[stats::runif(n) < 0.015] <- NA
  patients <- unique(table$RID)
  untyped <- patients[stats::runif(length(patients)) < 0.05]
  table$APOE4[table$RID %in% untyped] <- NA
  between <- table[baseline & stats::runif(n) < 0.05, ]
  between <- transform(between, VISCODE = rep("m03", nrow(between)), DX = "", CDRSB = NA,
                       Hippocampus = volume_in(sample(2:4, nrow(between), TRUE)))
  table <- table[!missed, ]
  twice <- table[stats::runif(nrow(table)) < 0.008, ]
  twice$CDRSB[seq_len(nrow(twice)) %% 2 == 0] <- NA
  table <- rbind(table, between, twice)
  rownames(table) <- NULL
  table
}

make_adni_like <- function(n = 1600, seed = 20210718, truth = ibrc::adni_like_truth()) {
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  age <- round(pmin(pmax(stats::rnorm(n, 74, 7), 55), 91), 1)
  apoe4 <- sample(0:2, n, TRUE, c(0.52, 0.37, 0.11))
  sex <- sample(c("Female", "Male"), n, TRUE, c(0.45, 0.55))
  horizon <- 8
  run <- simulate_visits(truth, ifelse(age > 75, "over_75", "up_to_75"), horizon)
  visits <- sample(2:horizon, n, TRUE, c(3, 3, 3, 2, 2, 1, 1))
  at <- cbind(rep(seq_len(n), visits), sequence(visits))
  rating <- (run$seen[at] - 1L) %/% 4L + 1L
  volume <- (run$seen[at] - 1L) %% 4L + 1L
  table <- data.frame(
    RID = 900000L + at[, 1], VISCODE = ifelse(at[, 2] == 1, "bl", sprintf("m%02d", 6L * (at[, 2] - 1L))),
    DX = diagnosis_of(run$state[at], at[, 1]), CDRSB = rating_in(rating), Hippocampus = volume_in(volume),
    AGE = age[at[, 1]], APOE4 = apoe4[at[, 1]], PTGENDER = sex[at[, 1]]
  )
  add_mess(table)
}

if (sys.nframe() == 0) {
  adni_like <- make_adni_like()
  save(adni_like, file = "data/adni_like.rda", compress = "xz", version = 2)
}
